"""Measures of a walk: spatiotemporal, posture, effort, smoothness and balance, with their units and meanings.

They are computed from the steady steps of a recording (`RecordedWalk.steady_steps`). Notation: m is the mass, h the
mean height of the center of mass above the ground, l the leg length, ψ the heading, τ and v joint torques and rates.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from poise.analysis.body_trajectories import (
    arm_pitch,
    chest_pitch,
    gaze_pitch,
    in_heading_axes,
    standing_arm_pitch,
    standing_state,
    true_state,
)
from poise.analysis.recorded_walk import RecordedWalk
from poise.analysis.signals import log_dimensionless_jerk
from poise.arrays import Array
from poise.recording import Recording
from poise.robots import GRAVITY, Robot, leg_length, limbs


class MeasureDefinition(NamedTuple):
    """Definition of a measure of a walk.

    Attributes:
        unit: unit of the measure; "share" is dimensionless, 1 being the whole.
        description: one phrase.
        has_ratio: whether the ratio of this measure between two walks is meaningful.
    """

    unit: str
    description: str
    has_ratio: bool = True


@dataclass(frozen=True)
class StyleMeasures:
    """Measures of a walk; `STYLE_MEASURES` has unit and meaning of each. An undefined measure is NaN.

    >>> relaxed.arm_swing / neutral.arm_swing
    >>> for name, measure in STYLE_MEASURES.items():
    ...     print(name, getattr(neutral, name), measure.unit, measure.description)
    """

    forward: float
    sideways: float
    turning: float
    step_length: float
    relative_step_length: float
    step_width: float
    step_height: float
    cadence: float
    single_support: float
    double_support: float
    slip: float
    chest_pitch: float
    gaze_pitch: float
    arm_swing: float
    arm_lift: float
    arm_torque: float
    center_of_mass_height: float
    sway: float
    angular_momentum_x: float
    angular_momentum_y: float
    angular_momentum_z: float
    center_of_mass_smoothness: float
    hand_smoothness: float
    cost_of_transport: float
    center_of_pressure_margin: float
    edge_time: float
    dcm_margin: float
    dcm_error: float


STYLE_MEASURES: dict[str, MeasureDefinition] = {
    "forward": MeasureDefinition("m/s", "mean speed along the heading"),
    "sideways": MeasureDefinition("m/s", "mean speed to the left of the heading", False),
    "turning": MeasureDefinition("rad/s", "mean rate of the heading, positive to the left", False),
    "step_length": MeasureDefinition("m", "distance of a foot in front of the other at touchdown"),
    "relative_step_length": MeasureDefinition("leg lengths", "step length as a share of the leg length"),
    "step_width": MeasureDefinition("m", "lateral distance of the sole centers at touchdown"),
    "step_height": MeasureDefinition("m", "rise of the sole center during swing"),
    "cadence": MeasureDefinition("steps/min", "number of steps per minute"),
    "single_support": MeasureDefinition("s", "duration of single support per step"),
    "double_support": MeasureDefinition("s", "duration of double support per step"),
    "slip": MeasureDefinition("m", "largest sliding distance of a stance foot"),
    "chest_pitch": MeasureDefinition("deg", "mean forward lean of the chest relative to standing", False),
    "gaze_pitch": MeasureDefinition("deg", "mean downward pitch of the gaze relative to standing", False),
    "arm_swing": MeasureDefinition("deg", "range of the angle of the shoulder-hand line relative to the chest"),
    "arm_lift": MeasureDefinition("deg", "mean forward angle of the shoulder-hand line relative to standing", False),
    "arm_torque": MeasureDefinition("share", "root mean square torque of the arms relative to the limits"),
    "center_of_mass_height": MeasureDefinition("m", "mean height of the center of mass relative to standing", False),
    "sway": MeasureDefinition("m", "lateral amplitude of the center of mass, half its range"),
    "angular_momentum_x": MeasureDefinition(
        "share", "root mean square about the forward axis through the CoM, relative to m h √(g h)"
    ),
    "angular_momentum_y": MeasureDefinition(
        "share", "root mean square about the lateral axis through the CoM, relative to m h √(g h)"
    ),
    "angular_momentum_z": MeasureDefinition(
        "share", "root mean square about the vertical axis through the CoM, relative to m h √(g h)"
    ),
    "center_of_mass_smoothness": MeasureDefinition(
        "", "log dimensionless jerk of the center of mass per stride; higher is smoother", False
    ),
    "hand_smoothness": MeasureDefinition(
        "", "log dimensionless jerk of the hands per stride; higher is smoother", False
    ),
    "cost_of_transport": MeasureDefinition("", "∫ Σ |τ v| dt / (m g distance): mechanical work of the joints"),
    "center_of_pressure_margin": MeasureDefinition(
        "m", "median distance of the CoP inside the sole in single support", False
    ),
    "edge_time": MeasureDefinition(
        "share", "share of time with the CoP less than 1 mm from an edge of the support polygon"
    ),
    "dcm_margin": MeasureDefinition("m", "smallest distance of the DCM inside the support polygon at touchdown", False),
    "dcm_error": MeasureDefinition(
        "m", "largest distance of the DCM from its reference, if the controller recorded it"
    ),
}

# -- Effort ----------------------------------------------------------------------------------------------------------


def torque_shares(recording: Recording, robot: Robot) -> tuple[tuple[str, ...], Array]:
    """Return the names of the joints with torques, and ``τ / limit`` of each, (n, joints); empty without torques."""
    names, torque, _ = _joint_efforts(recording, robot)
    limits = np.array([robot.limits.torque[robot.joint(name).v - 6] for name in names])
    return names, torque / limits


def arm_torque(recording: Recording, robot: Robot, samples: slice) -> float:
    """Root mean square of ``τ / limit`` over time and over the joints of both arms; NaN without torques or arms."""
    names, shares = torque_shares(recording, robot)
    arms = {joint for limb in limbs(robot) if limb.name.endswith(" arm") for joint in limb.joints}
    squares = shares[samples, [k for k, name in enumerate(names) if name in arms]] ** 2
    known = squares[np.isfinite(squares)]
    return float(np.sqrt(known.mean())) if len(known) else math.nan


def joint_work(recording: Recording, robot: Robot, samples: slice) -> float:
    """Absolute mechanical work of the joints, ``∫ Σ |τ v| dt``, J: braking is not recovered. NaN without torques."""
    names, torque, rate = _joint_efforts(recording, robot)
    power = np.abs(torque[samples] * rate[samples]).sum(axis=1)
    known = power[np.isfinite(power)]
    if not names or not len(known):
        return math.nan
    return float(known.mean() * recording.period * len(power))


def _joint_efforts(recording: Recording, robot: Robot) -> tuple[tuple[str, ...], Array, Array]:
    """Return the names of joints with torques, their torques (N m) and their velocities (rad/s), (n, joints)."""
    if "command/torque" not in recording:
        return (), np.zeros((recording.samples, 0)), np.zeros((recording.samples, 0))
    known = {joint.name: joint.v for joint in robot.joints}
    labels = recording.labels["command/torque"]
    names = tuple(name for name in labels if name in known)
    torque = recording["command/torque"][:, [labels.index(name) for name in names]]
    return names, torque, true_state(recording, "v")[:, [known[name] for name in names]]


# -- Style measures --------------------------------------------------------------------------------------------------


#: Distance (m) over the steady steps below which no cost of transport is computed, because it would be noise.
MIN_DISTANCE = 0.05
#: Distance (m) from the edge of the support polygon below which the CoP is at the edge: soles are made to about 1 mm.
EDGE_DISTANCE = 1e-3


def style_measures(walk: RecordedWalk) -> StyleMeasures:
    """Compute the measures of a walk; with fewer than two steps all are NaN.

    >>> style_measures(analyze_walk(recording, robot)).cadence
    120.0
    """
    if not walk.is_walk:
        return StyleMeasures(**dict.fromkeys(STYLE_MEASURES, math.nan))
    robot, steady_steps, speed = walk.tracks.robot, walk.steady_steps, walk.speed
    length = _mean([step.length for step in steady_steps])
    return StyleMeasures(
        forward=speed.forward,
        sideways=speed.sideways,
        turning=speed.turning,
        step_length=length,
        relative_step_length=length / leg_length(robot),
        step_width=_mean([step.width for step in steady_steps]),
        step_height=_mean([step.height for step in steady_steps]),
        cadence=60.0 / _mean([step.duration for step in steady_steps]),
        single_support=_mean([step.single for step in steady_steps]),
        double_support=_mean([step.double for step in steady_steps]),
        slip=max(step.support.slip for step in steady_steps),
        **_posture(walk),
        arm_torque=arm_torque(walk.tracks.recording, robot, walk.window),
        **_center(walk),
        **_angular_momentum(walk),
        **_smoothness(walk),
        cost_of_transport=_cost_of_transport(walk),
        **_balance(walk),
    )


def _posture(walk: RecordedWalk) -> dict[str, float]:
    tracks, window = walk.tracks, walk.window
    sides = [hand.side for hand in tracks.robot.hands]
    arms = {side: arm_pitch(tracks, side) for side in sides}
    return {
        "chest_pitch": _mean(chest_pitch(tracks, walk.heading)[window]),
        "gaze_pitch": _mean(gaze_pitch(tracks, walk.heading)[window]),
        "arm_swing": _mean([np.ptp(arm[stride]) for arm in arms.values() for stride in walk.stride_samples]),
        "arm_lift": _mean([_mean(arms[side][window]) - standing_arm_pitch(tracks.robot, side) for side in sides]),
    }


def _center(walk: RecordedWalk) -> dict[str, float]:
    """Height relative to the stance; sway: ∫ (Rz(-ψ) dc/dt)_y dt over a stride, minus the line between its ends."""
    robot, stance = walk.tracks.robot, standing_state(walk.tracks.robot)
    ground = min(float(stance.pose(foot).translation[2]) for foot in robot.feet)
    sideways_velocity = in_heading_axes(walk.tracks.center_of_mass_velocity, walk.heading)[:, 1]
    ranges = []
    for stride in walk.stride_samples:
        sway = np.cumsum(sideways_velocity[stride]) * walk.tracks.recording.period
        ranges.append(np.ptp(sway - np.linspace(0.0, sway[-1], len(sway))))
    return {
        "center_of_mass_height": walk.height - float(stance.center_of_mass[2]) + ground,
        "sway": 0.5 * _mean(ranges),
    }


def _angular_momentum(walk: RecordedWalk) -> dict[str, float]:
    turning = walk.angular_momentum[walk.window]
    unit = walk.tracks.robot.mass * walk.height * math.sqrt(GRAVITY * walk.height)
    sizes = [math.sqrt(_mean(turning[:, k] ** 2)) for k in range(3)]
    return {f"angular_momentum_{axis}": size / unit for axis, size in zip("xyz", sizes, strict=True)}


def _smoothness(walk: RecordedWalk) -> dict[str, float]:
    tracks, h = walk.tracks, walk.tracks.recording.period
    hands = [tracks.velocity(hand) for hand in tracks.robot.hands]
    return {
        "center_of_mass_smoothness": _mean(
            [log_dimensionless_jerk(tracks.center_of_mass_velocity[s], h) for s in walk.stride_samples]
        ),
        "hand_smoothness": _mean([log_dimensionless_jerk(hand[s], h) for hand in hands for s in walk.stride_samples]),
    }


def _cost_of_transport(walk: RecordedWalk) -> float:
    window = walk.window
    seconds = walk.tracks.recording.period * (window.stop - window.start)
    distance = math.hypot(walk.speed.forward, walk.speed.sideways) * seconds
    if not distance > MIN_DISTANCE:
        return math.nan
    return joint_work(walk.tracks.recording, walk.tracks.robot, window) / (walk.tracks.robot.mass * GRAVITY * distance)


def _balance(walk: RecordedWalk) -> dict[str, float]:
    recording, window = walk.tracks.recording, walk.window
    begin, end = recording.time[window.start], recording.time[min(window.stop, recording.samples - 1)]
    time, margin = walk.pressure_margin
    inner = (time >= begin) & (time <= end) & np.isfinite(margin)
    single = inner & np.any(
        [(time >= s.before.lift_off) & (time < s.after.touchdown) for s in walk.steady_steps], axis=0
    )
    touchdown_margins = walk.support_margins(walk.dcm, [step.after.begin for step in walk.steady_steps])
    error = dcm_error(recording)
    known_errors = np.zeros(0) if error is None else error[window][np.isfinite(error[window])]
    return {
        "center_of_pressure_margin": float(np.median(margin[single])) if single.any() else math.nan,
        "edge_time": _mean(margin[inner] < EDGE_DISTANCE),
        "dcm_margin": float(np.min(touchdown_margins)),
        "dcm_error": float(known_errors.max()) if len(known_errors) else math.nan,
    }


def dcm_error(recording: Recording) -> Array | None:
    """Return the distance of the DCM ξ from its reference (m), n, if the controller recorded it; else None."""
    for name, channel in recording.channels.items():
        if "error" in name and ("divergent" in name or "dcm" in name.lower()) and channel.unit == "m":
            values = np.asarray(channel.values, dtype=np.float64).reshape(recording.samples, -1)
            return np.asarray(np.linalg.norm(values, axis=1))
    return None


def _mean(values: object) -> float:
    """Return the mean of the finite values; NaN if there are none."""
    array = np.asarray(values, dtype=np.float64)
    known = array[np.isfinite(array)]
    return float(known.mean()) if len(known) else math.nan
