"""Measures of how natural a gait is: flexion of the knees in stance and swing, and jerk of the center of mass."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from poise.analysis.body_trajectories import true_state
from poise.analysis.recorded_walk import RecordedWalk
from poise.analysis.signals import low_pass
from poise.arrays import Array
from poise.robots import SIDES, Side, knee_joint

#: Cut-off frequency (Hz) of the acceleration of the center of mass before its jerk is computed: a person feels and sees
#: nothing above it, and impacts of the soles would dominate.
JERK_CUTOFF = 20.0
#: Part of a single support, as fractions of it, that is mid-stance.
MID_STANCE = (0.35, 0.65)


class KneeFlexion(NamedTuple):
    """Flexion of the knees over the steady steps, mean over steps, deg; zero for a straight leg.

    Attributes:
        stance_least: least flexion of the supporting leg in single support.
        mid_stance: mean flexion of the supporting leg in the middle of single support.
        stance_range: largest minus least flexion of the supporting leg in single support.
        swing_largest: largest flexion of the swinging leg.
    """

    stance_least: float
    mid_stance: float
    stance_range: float
    swing_largest: float


def knee_flexion(walk: RecordedWalk, side: Side) -> Array:
    """Return the flexion of a knee over time, n, rad: the angle from a straight leg."""
    joint = knee_joint(walk.tracks.robot, side)
    return np.abs(true_state(walk.tracks.recording, "q")[:, joint.q])


def knee_measures(walk: RecordedWalk) -> KneeFlexion:
    """Measure the flexion of supporting and swinging knees; NaN without steps.

    >>> knee_measures(analyze_walk(recording, robot)).mid_stance
    24.1
    """
    angles = {side: np.degrees(knee_flexion(walk, side)) for side in SIDES}
    rows = []
    for step in walk.steady_steps:
        begin, end = step.before.end, step.after.begin
        swing = angles[step.side][begin:end]
        stance = angles[SIDES[1 - SIDES.index(step.side)]][begin:end]
        middle = stance[round(MID_STANCE[0] * len(stance)) : round(MID_STANCE[1] * len(stance))]
        if len(middle):
            rows.append((stance.min(), middle.mean(), np.ptp(stance), swing.max()))
    if not rows:
        return KneeFlexion(*[math.nan] * 4)
    return KneeFlexion(*np.mean(rows, axis=0).tolist())


def center_of_mass_jerk(walk: RecordedWalk) -> float:
    """Return the root mean square jerk of the center of mass over the steady steps, below 20 Hz, m/s³."""
    period = walk.tracks.recording.period
    if not period > 0.0:
        return math.nan
    velocity = walk.tracks.center_of_mass_velocity
    acceleration = low_pass(np.gradient(velocity, period, axis=0), 1.0 / period, JERK_CUTOFF)
    jerk = np.gradient(acceleration, period, axis=0)[walk.window]
    return float(np.sqrt(np.mean(np.sum(jerk**2, axis=1))))
