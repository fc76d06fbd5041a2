"""Limb torques: what legs, trunk, head and arms do, per kg of the body, in all and phase by phase."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from poise.analysis.normalising import Normalised
from poise.analysis.phases import Phase
from poise.analysis.smoothness import peak, peak_rate, root_mean_square, torque_arc_length
from poise.recording import Recording
from poise.robots import Robot
from poise.robots.limbs import limbs


class LimbTorques(NamedTuple):
    """Torques of the joints of a limb together: root mean square and largest (N m per kg), largest rate (N m per kg and
    s), and `torque_arc_length`, which is closer to zero where they change more evenly."""

    limb: str
    effort: float
    peak: float
    peak_rate: float
    arc: float


class PhaseEffort(NamedTuple):
    """Root mean square torque of a limb in a phase, N m per kg, of both; NaN without torques."""

    phase: str
    limb: str
    one: float
    two: float


def limb_torques(recording: Recording, robot: Robot) -> tuple[LimbTorques, ...]:
    """Torques by limb, per kg of the body; empty if none were recorded.

    >>> {own.limb: own.effort for own in limb_torques(recording, robot)}["left leg"]
    """
    if "command/torque" not in recording:
        return ()
    labels, h = recording.labels["command/torque"], recording.period
    found = []
    for limb in limbs(robot):
        columns = [labels.index(name) for name in limb.joints if name in labels]
        torque = recording["command/torque"][:, columns] / robot.mass
        if columns and np.isfinite(torque).any():
            sizes = root_mean_square(torque), peak(torque).value, peak_rate(torque, h).value
            found.append(LimbTorques(limb.name, *sizes, torque_arc_length(torque, h)))
    return tuple(found)


def phase_efforts(scaled: Sequence[Normalised], bodies: Sequence[Robot]) -> tuple[PhaseEffort, ...]:
    """Of two recordings on one scale, by phase and limb; limbs that both bodies have."""
    names = [limb.name for limb in limbs(bodies[0]) if limb.name in [each.name for each in limbs(bodies[1])]]
    found = []
    for part in scaled[0].phases or (Phase("motion", 0.0, 100.0),):
        inside = (scaled[0].share >= part.begin) & (scaled[0].share <= part.end)
        for name in names:
            sizes = []
            for own, body in zip(scaled, bodies, strict=True):
                joints = next(limb.joints for limb in limbs(body) if limb.name == name)
                labels = own.recording.labels["command/torque"] if "command/torque" in own.recording else ()
                columns = [labels.index(joint) for joint in joints if joint in labels]
                torque = own["command/torque"][inside][:, columns] if columns else np.full((1, 1), np.nan)
                sizes.append(root_mean_square(torque) / body.mass)
            found.append(PhaseEffort(part.name, name, *sizes))
    return tuple(found)
