"""Style measures: how a walk looks, in numbers that can be compared between walks and between robots.

They are read from the steady steps of a recording (`Walked.steady`). Notation: m is the mass, h the mean height of the
center of mass above the ground, l the length of a leg, ψ the heading, τ torques, v velocities of joints.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from poise.analysis.carriage import ahead, arm_pitch, chest_pitch, gaze_pitch, standing, standing_arm_pitch
from poise.analysis.effort import arm_torque, work
from poise.analysis.measures import MEASURES, StyleMeasures
from poise.analysis.smoothness import log_dimensionless_jerk
from poise.analysis.walking import Walked
from poise.behaviors.upright import leg_length
from poise.recording import Recording
from poise.state.balance import GRAVITY

Array = NDArray[np.float64]

#: A walk that goes less far than this (m) in its steady steps goes nowhere: its cost of transport would be noise.
SOMEWHERE = 0.05
#: Pressure that is nearer to the edge than this (m) is at it: soles of a millimetre's precision are good ones.
EDGE = 1e-3


def style_measures(walk: Walked) -> StyleMeasures:
    """Measures a walk; with less than two steps all are NaN.

    >>> style_measures(walked(recording, robot)).cadence
    120.0
    """
    if not walk.walks:
        return StyleMeasures(**dict.fromkeys(MEASURES, math.nan))
    robot, steady, speed = walk.tracks.robot, walk.steady, walk.speed
    length = _mean([step.length for step in steady])
    return StyleMeasures(
        forward=speed.forward,
        sideways=speed.sideways,
        turning=speed.turning,
        step_length=length,
        relative_step_length=length / leg_length(robot),
        step_width=_mean([step.width for step in steady]),
        step_height=_mean([step.height for step in steady]),
        cadence=60.0 / _mean([step.duration for step in steady]),
        single_support=_mean([step.single for step in steady]),
        double_support=_mean([step.double for step in steady]),
        slip=max(step.support.slip for step in steady),
        **_carriage(walk),
        arm_torque=arm_torque(walk.tracks.recording, robot, walk.window),
        **_center(walk),
        **_spin(walk),
        **_smoothness(walk),
        cost_of_transport=_cost(walk),
        **_balance(walk),
    )


def _carriage(walk: Walked) -> dict[str, float]:
    tracks, window = walk.tracks, walk.window
    sides = [hand.side for hand in tracks.robot.hands]
    arms = {side: arm_pitch(tracks, side) for side in sides}
    return {
        "chest_pitch": _mean(chest_pitch(tracks, walk.heading)[window]),
        "gaze_pitch": _mean(gaze_pitch(tracks, walk.heading)[window]),
        "arm_swing": _mean([np.ptp(arm[stride]) for arm in arms.values() for stride in walk.strides]),
        "arm_lift": _mean([_mean(arms[side][window]) - standing_arm_pitch(tracks.robot, side) for side in sides]),
    }


def _center(walk: Walked) -> dict[str, float]:
    """Height against the stance; and sway: ∫ (Rz(-ψ) dc/dt)_y dt over a stride, less the straight line to its end."""
    robot, still = walk.tracks.robot, standing(walk.tracks.robot)
    ground = min(float(still.pose(foot).translation[2]) for foot in robot.feet)
    aside = ahead(walk.tracks.center_velocity, walk.heading)[:, 1]
    ranges = []
    for stride in walk.strides:
        way = np.cumsum(aside[stride]) * walk.tracks.recording.period
        ranges.append(np.ptp(way - np.linspace(0.0, way[-1], len(way))))
    return {
        "center_height": walk.height - float(still.center_of_mass[2]) + ground,
        "sway": 0.5 * _mean(ranges),
    }


def _spin(walk: Walked) -> dict[str, float]:
    turning = walk.spin[walk.window]
    unit = walk.tracks.robot.mass * walk.height * math.sqrt(GRAVITY * walk.height)
    sizes = [math.sqrt(_mean(turning[:, k] ** 2)) for k in range(3)]
    return {f"angular_momentum_{axis}": size / unit for axis, size in zip("xyz", sizes, strict=True)}


def _smoothness(walk: Walked) -> dict[str, float]:
    tracks, h = walk.tracks, walk.tracks.recording.period
    hands = [tracks.velocity(hand) for hand in tracks.robot.hands]
    return {
        "center_smoothness": _mean([log_dimensionless_jerk(tracks.center_velocity[s], h) for s in walk.strides]),
        "hand_smoothness": _mean([log_dimensionless_jerk(hand[s], h) for hand in hands for s in walk.strides]),
    }


def _cost(walk: Walked) -> float:
    window = walk.window
    seconds = walk.tracks.recording.period * (window.stop - window.start)
    distance = math.hypot(walk.speed.forward, walk.speed.sideways) * seconds
    if not distance > SOMEWHERE:
        return math.nan
    return work(walk.tracks.recording, walk.tracks.robot, window) / (walk.tracks.robot.mass * GRAVITY * distance)


def _balance(walk: Walked) -> dict[str, float]:
    recording, window = walk.tracks.recording, walk.window
    begin, end = recording.time[window.start], recording.time[min(window.stop, len(recording) - 1)]
    time, margin = walk.pressure_margin
    inner = (time >= begin) & (time <= end) & np.isfinite(margin)
    single = inner & np.any([(time >= s.before.lift_off) & (time < s.after.touchdown) for s in walk.steady], axis=0)
    reached = walk.inside(walk.divergent, [step.after.begin for step in walk.steady])
    error = divergent_error(recording)
    far = np.zeros(0) if error is None else error[window][np.isfinite(error[window])]
    return {
        "pressure_margin": float(np.median(margin[single])) if single.any() else math.nan,
        "edge_time": _mean(margin[inner] < EDGE),
        "divergent_margin": float(np.min(reached)),
        "divergent_error": float(far.max()) if len(far) else math.nan,
    }


def divergent_error(recording: Recording) -> Array | None:
    """Distance of ξ from its plan (m), n, if the controller recorded such an error; else None."""
    for name, channel in recording.channels.items():
        if "error" in name and ("divergent" in name or "dcm" in name.lower()) and channel.unit == "m":
            values = np.asarray(channel.values, dtype=np.float64).reshape(len(recording), -1)
            return np.asarray(np.linalg.norm(values, axis=1))
    return None


def _mean(values: object) -> float:
    """Of the numbers among these; NaN if there are none."""
    array = np.asarray(values, dtype=np.float64)
    known = array[np.isfinite(array)]
    return float(known.mean()) if len(known) else math.nan
