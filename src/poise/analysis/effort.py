"""Effort: what torques cost, as a share of what joints can give and as work."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from poise.analysis.tracks import true
from poise.recording import Recording
from poise.robots import Robot
from poise.robots.limbs import limbs

Array = NDArray[np.float64]


def torque_shares(recording: Recording, robot: Robot) -> tuple[tuple[str, ...], Array]:
    """Names of the joints with torques, and ``τ / limit`` of each, (n, joints); empty where none were recorded."""
    names, torque, _ = _driven(recording, robot)
    limits = np.array([robot.limits.torque[robot.joint(name).v - 6] for name in names])
    return names, torque / limits


def arm_torque(recording: Recording, robot: Robot, samples: slice) -> float:
    """Root mean square over time and over the joints of both arms of ``τ / limit``; NaN without torques or arms."""
    names, shares = torque_shares(recording, robot)
    arms = {joint for limb in limbs(robot) if limb.name.endswith(" arm") for joint in limb.joints}
    squares = shares[samples, [k for k, name in enumerate(names) if name in arms]] ** 2
    known = squares[np.isfinite(squares)]
    return float(np.sqrt(known.mean())) if len(known) else math.nan


def work(recording: Recording, robot: Robot, samples: slice) -> float:
    """What the joints do and undo, ``∫ Σ |τ v| dt``, J: no joint gives back what it brakes. NaN without torques."""
    names, torque, rate = _driven(recording, robot)
    power = np.abs(torque[samples] * rate[samples]).sum(axis=1)
    known = power[np.isfinite(power)]
    if not names or not len(known):
        return math.nan
    return float(known.mean() * recording.period * len(power))


def _driven(recording: Recording, robot: Robot) -> tuple[tuple[str, ...], Array, Array]:
    """Joints with torques: their names, the torques (N m) and the rates of the joints (rad/s), (n, joints)."""
    if "command/torque" not in recording:
        return (), np.zeros((len(recording), 0)), np.zeros((len(recording), 0))
    known = {joint.name: joint.v for joint in robot.joints}
    labels = recording.labels["command/torque"]
    names = tuple(name for name in labels if name in known)
    torque = recording["command/torque"][:, [labels.index(name) for name in names]]
    return names, torque, true(recording, "v")[:, [known[name] for name in names]]
