"""Spatiotemporal parameters of a fitted walk; its events and joint angles compared with those of other software.

Conventions of zero differ (a pelvis is upright in OpenSim, along its spines in Plug-in Gait and here), so that the mean
difference is told apart from what is left when it is taken off.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from poise.analysis import GaitCycle, events_from_plates, stride_lengths, walking_direction
from poise.arrays import Array
from poise.errors import PoiseError
from poise.human.gait.reference_walk import Reference
from poise.robots import SIDES, Side

if TYPE_CHECKING:
    from poise.human.files.opensim_motion import Motion
    from poise.human.fitting.body_fit import Fit
    from poise.human.trial import Plate

#: Events further apart (s) are not of the same step.
SAME = 0.15


def spatiotemporal(reference: Reference, cycle: GaitCycle) -> dict[str, float]:
    """Speed (m/s), stride and step length and width (m), cadence (steps/min), stance and double support (%)."""
    heels = reference.track("heel")
    direction = walking_direction(reference.q[:, :3], heels, reference.track("first_metatarsal"))
    found = stride_lengths(cycle, reference.time, heels, direction)
    return {
        **{name: float(value) for name, value in found._asdict().items()},
        "cadence": float(cycle.cadence),
        "stance": float(cycle.stance),
        "double_support": float(cycle.double_support),
    }


def compared_events(fit: Fit, reference: Reference) -> dict[str, Any]:
    """Our events less those that the file stores, and less those of the force plates: mean, deviation, count (ms)."""
    ours = [(event.time, event.side, event.kind) for event in reference.events]
    stored = [(event.time, event.side, event.kind) for event in fit.trial.events]
    felt = [
        (event.time, side, event.kind)
        for plate in fit.trial.plates
        if (side := nearest_foot(plate, reference)) is not None
        for event in events_from_plates(fit.time, {side: plate.force[:, 2]})
    ]
    return {
        source: {kind: _spread(ours, others, kind) for kind in ("strike", "off")}
        for source, others in (("file", stored), ("plates", felt))
        if others
    }


def nearest_foot(plate: Plate, reference: Reference) -> Side | None:
    """The foot that is nearest to the centre of pressure of a plate on average; None if nothing was on it."""
    loaded = np.flatnonzero(plate.force[:, 2] > 0.0)
    if not len(loaded):
        return None
    far = {}
    for side in SIDES:
        middle = (reference.track("heel")[side] + reference.track("first_metatarsal")[side]) / 2.0
        far[side] = float(np.mean(np.linalg.norm((plate.center - middle)[loaded, :2], axis=1)))
    return min(SIDES, key=lambda side: far[side])


def _spread(ours: Iterable[Any], others: Iterable[Any], kind: str) -> dict[str, float | int | None]:
    mine = [event for event in ours if event[2] == kind]
    found = []
    for time, side, what in others:
        near = [event[0] - time for event in mine if event[1] == side and what == kind]
        if near and abs(best := min(near, key=abs)) < SAME:
            found.append(1e3 * best)
    if not found:
        return {"mean": None, "deviation": None, "count": 0}
    return {"mean": float(np.mean(found)), "deviation": float(np.std(found)), "count": len(found)}


# -- References: angles that other software found for the same trial, beside ours ------------------------------------


#: Joints, the channels of Plug-in Gait with the column, and the coordinates of OpenSim models.
STORED = {
    "hip_flexion": ("HipAngles", 0, ("hip_flexion",)),
    "hip_adduction": ("HipAngles", 1, ("hip_adduction",)),
    "hip_rotation": ("HipAngles", 2, ("hip_rotation",)),
    "knee_flexion": ("KneeAngles", 0, ("knee_angle", "knee_flexion")),
    "ankle_dorsiflexion": ("AnkleAngles", 0, ("ankle_angle", "ankle_dorsiflexion")),
}
#: Fewest samples that tell anything.
FEWEST = 10


class Beside(NamedTuple):
    """One angle against another source, degrees: mean difference, what is left without it (rms), ranges of both."""

    joint: str
    offset: float
    rms: float
    range: float
    reference_range: float


def beside_stored(fit: Fit) -> list[Beside]:
    """Our angles against those that the C3D file stores, where it has any."""
    rows = []
    for side in SIDES:
        for joint, (channel, column, _) in STORED.items():
            values = fit.trial.angles.get(f"{side[0].upper()}{channel}")
            if values is not None:
                known = np.where((values != 0.0).any(axis=1), values[:, column], np.nan)
                rows += _beside(fit, f"{side}_{joint}", known)
    return rows


def beside_motion(fit: Fit, motion: Motion) -> list[Beside]:
    """Our angles against the coordinates of a .mot or .sto file on the same clock.

    Names are those of OpenSim's models (``hip_flexion_r``, ``knee_angle_r``, ...) or ours. A knee that is negative
    where ours bends is turned about.
    """
    values = dict(zip(motion.names, motion.values_in_degrees.T, strict=True))
    rows = []
    for side in SIDES:
        for joint, (_, _, names) in STORED.items():
            known = [f"{side}_{joint}", *(f"{name}_{side[0]}" for name in names)]
            column = next((values[name] for name in known if name in values), None)
            if column is None:
                continue
            there = np.interp(fit.time, motion.time - motion.time[0] + _begin(fit, motion), column, np.nan, np.nan)
            ours = np.degrees(fit.angles()[f"{side}_{joint}"])
            both = np.isfinite(there)
            if joint == "knee_flexion" and both.sum() > FEWEST and np.corrcoef(ours[both], there[both])[0, 1] < 0.0:
                there = -there
            rows += _beside(fit, f"{side}_{joint}", there)
    if not rows:
        raise PoiseError(f"none of the columns {', '.join(motion.names[:8])}, ... is an angle of hip, knee or ankle")
    return rows


def _begin(fit: Fit, motion: Motion) -> float:
    """Files begin together, or the motion says by its own clock how much later it begins, if that is inside."""
    begin = float(motion.time[0])
    return begin if 0.0 < begin < fit.time[-1] and motion.time[-1] <= fit.time[-1] + 1.0 / fit.trial.rate else 0.0


def _beside(fit: Fit, joint: str, reference: Array) -> list[Beside]:
    angles: Mapping[str, Array] = fit.angles()
    both = np.isfinite(reference)
    if both.sum() < FEWEST:
        return []
    ours, theirs = np.degrees(angles[joint])[both], reference[both]
    apart = ours - theirs
    return [Beside(joint, float(apart.mean()), float(apart.std()), float(np.ptp(ours)), float(np.ptp(theirs)))]
