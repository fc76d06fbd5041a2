"""Figures of quality of any motion, and the bounds beyond which a run warns or fails although the robot did not fall.

`QUALITY_FIGURES` declares each figure once: unit, description, and its bounds by kind of motion. A figure that does not
apply, like the swing of arms that a robot does not have, is None.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from poise.analysis.body_trajectories import in_heading_axes, true_state
from poise.analysis.motion_quality import SATURATED
from poise.analysis.recorded_walk import MARGIN_INTERVAL, RecordedWalk
from poise.analysis.signals import true_intervals
from poise.analysis.walk_measures import EDGE_DISTANCE, style_measures, torque_shares
from poise.arrays import Array
from poise.constraints import body_overlap
from poise.extras import scipy
from poise.files import json_ready
from poise.plants import Push
from poise.recording import Overruns, Recording
from poise.robots import Robot, leg_length, limbs

#: Arm swing (deg) below which the direction of the swing is not assessed: the hands move by about 2 cm.
MIN_ARM_SWING = 3.0
#: Interval (s) at which postures are checked for overlapping bodies: an arm moves by about 2 cm in this time.
OVERLAP_INTERVAL = 0.04
#: Time after a push (s) in which the center of pressure of a standing robot may be at an edge.
PUSH_RECOVERY_TIME = 1.0
#: Largest number of digits by which a message is made longer.
MAX_EXTRA_DIGITS = 4


class Bound(NamedTuple):
    """Largest value of a figure without a warning, and largest value of a motion that succeeds."""

    warning: float
    failure: float = math.inf


class QualityFigure(NamedTuple):
    """Definition of a figure of quality.

    Attributes:
        unit: unit of the figure; "share" is dimensionless, 1 being the whole.
        description: what the figure measures.
        bounds: bounds by kind of motion: ``"walk"``, ``"stand"`` (also squats), or ``"any"``.
        message: warning, with the value as ``{value}`` and the bound as ``{bound}``.
        scale: factor from the figure to the numbers in the message.
        reproducible: whether it is the same in every repetition; computing times are not.
    """

    unit: str
    description: str
    bounds: Mapping[str, Bound]
    message: str = ""
    scale: float = 1.0
    reproducible: bool = True


#: Ranges of the pelvis of people at their usual speed are about 4 degrees of tilt, 10 of obliquity and 10 of rotation
#: (Perry and Burnfield 2010); a warning comes at about twice that, a failure where the motion is no longer a walk.
QUALITY_FIGURES: dict[str, QualityFigure] = {
    "pelvis_pitch_deg": QualityFigure(
        "deg",
        "range of the pitch of the base within a stride, median over strides",
        {"walk": Bound(10.0, 40.0)},
        "the pelvis pitches by {value:.0f} degrees in each stride (at most {bound:.0f})",
    ),
    "pelvis_roll_deg": QualityFigure(
        "deg",
        "range of the roll of the base within a stride, median over strides",
        {"walk": Bound(15.0, 40.0)},
        "the pelvis rolls by {value:.0f} degrees in each stride (at most {bound:.0f})",
    ),
    "pelvis_yaw_deg": QualityFigure(
        "deg",
        "range of the yaw of the base within a stride, without its trend, median over strides",
        {"walk": Bound(20.0, 40.0)},
        "the pelvis yaws by {value:.0f} degrees in each stride (at most {bound:.0f})",
    ),
    "arm_swing_deg": QualityFigure(
        "deg",
        "range of the angle of the shoulder-hand line relative to the chest",
        {"walk": Bound(90.0)},
        "the arms swing by {value:.0f} degrees (at most {bound:.0f})",
    ),
    "hand_correlation": QualityFigure(
        "",
        "correlation of the fore-aft positions of the two hands; in people about -1",
        {"walk": Bound(0.0)},
        "both arms swing forward together: the correlation of the hands is {value:+.2f} (in people about -1)",
    ),
    "hand_foot_correlation": QualityFigure(
        "",
        "correlation of the fore-aft positions of hand and foot of one side; in people about -1",
        {"walk": Bound(0.0)},
        "each arm swings with the leg of its side: their correlation is {value:+.2f} (in people about -1)",
    ),
    "step_asymmetry": QualityFigure(
        "share",
        "difference of left and right steps: of durations relative to their mean, or of lengths in leg lengths",
        {"walk": Bound(0.1)},
        "left and right steps differ by {value:.0f} % (at most {bound:.0f} %)",
        100.0,
    ),
    "slip_m": QualityFigure(
        "m",
        "largest distance that a stance foot slides",
        {"walk": Bound(0.01), "stand": Bound(0.01)},
        "a foot slips by {value:.0f} mm (at most {bound:.0f})",
        1e3,
    ),
    "edge_time": QualityFigure(
        "share",
        "share of time with the center of pressure less than 1 mm from an edge of the support polygon",
        {"walk": Bound(0.2), "stand": Bound(0.1, 0.25)},
        "the center of pressure (ZMP) is at an edge of the soles for {value:.0f} % of the time (at most {bound:.0f} %)",
        100.0,
    ),
    "arm_deviation_deg": QualityFigure(
        "deg",
        "largest difference of an arm joint at the end from just before the first push",
        {"stand": Bound(20.0)},
        "an arm joint is {value:.0f} degrees from where it was before the push (at most {bound:.0f})",
    ),
    "saturated_share": QualityFigure(
        "share",
        "share of ticks with at least one motor at its torque limit",
        {"any": Bound(0.1)},
        "a motor is at its torque limit for {value:.0f} % of the time (at most {bound:.0f} %)",
        100.0,
    ),
    "torque_jump": QualityFigure(
        "share",
        "largest change of a joint torque from one control step to the next, as a share of its limit",
        {"walk": Bound(1.0)},  # more than the limit is possible only with a change of sign
        "a joint torque jumps by {value:.0f} % of its limit in one control step (at most {bound:.0f} %)",
        100.0,
    ),
    "body_overlap_m": QualityFigure(
        "m",
        "largest overlap of two bodies of the robot",
        {"any": Bound(0.002)},
        "two bodies of the robot overlap by {value:.0f} mm (at most {bound:.0f})",
        1e3,
    ),
    "overrun_ticks": QualityFigure(
        "",
        "number of control steps that took longer than the control period",
        {},
        reproducible=False,
    ),
    "overrun_share": QualityFigure(
        "share",
        "share of these steps, without the first step of each phase, which prepares its tasks",
        {"any": Bound(0.01)},
        "{value:.0f} % of the control steps took longer than the control period (at most {bound:.0f} %)",
        100.0,
        reproducible=False,
    ),
    "overrun_streak": QualityFigure(
        "",
        "largest number of such steps in succession, without the first step of each phase",
        {"any": Bound(5.0)},
        "{value:.0f} control steps in succession took longer than the control period (at most {bound:.0f})",
        reproducible=False,
    ),
}


def quality_figures(recording: Recording, robot: Robot, walk: RecordedWalk) -> dict[str, float | None]:
    """Compute all figures of quality of a motion, by name; None where a figure does not apply.

    Args:
        recording, robot: the motion and its robot.
        walk: steps and trajectories of the recording, from `analyze_walk`.

    >>> quality_figures(recording, robot, analyze_walk(recording, robot))["pelvis_yaw_deg"]
    7.3
    """
    fell = math.isfinite(walk.fall_time)
    by_kind = {} if fell else _walking_figures(walk) if walk.is_walk else {"edge_time": _standing_edge_time(walk)}
    late = recording.overruns()
    every = max(round(OVERLAP_INTERVAL / recording.period), 1) if recording.period > 0.0 else 1
    postures = true_state(recording, "q")[::every]
    figures = {
        **by_kind,
        "slip_m": max((each.slip for each in walk.footprints if math.isfinite(each.slip)), default=None),
        "arm_deviation_deg": _arm_deviation(recording, robot),
        "saturated_share": _saturated_share(recording, robot),
        "torque_jump": _torque_jump(recording, robot),
        "body_overlap_m": body_overlap(robot, postures[np.isfinite(postures).all(axis=1)]),
        **({} if late is None else _overrun_figures(recording, late)),
    }
    return {name: json_ready(figures.get(name)) for name in QUALITY_FIGURES}


def quality_messages(figures: Mapping[str, float | None], motion: str, failures: bool = False) -> dict[str, str]:
    """Return a sentence about each figure that exceeds its bound, by name of the figure.

    Args:
        figures: figures by name, from `quality_figures`.
        motion: kind of motion whose bounds apply, ``"walk"`` or ``"stand"``; others have only those of any motion.
        failures: whether to return reasons for failure instead of warnings.
    """
    messages = {}
    for name, figure in QUALITY_FIGURES.items():
        value, bound = figures.get(name), figure.bounds.get(motion, figure.bounds.get("any"))
        if value is None or bound is None:
            continue
        limit = bound.failure if failures else bound.warning
        if value > limit:
            messages[name] = _message(figure.message, figure.scale * value, figure.scale * limit)
    return messages


def _message(template: str, value: float, bound: float) -> str:
    """Format a message, with as many more digits as it takes to tell the value from the bound."""
    for _ in range(MAX_EXTRA_DIGITS):
        if "{bound" not in template or template.format(value=value, bound=bound) != template.format(
            value=bound, bound=bound
        ):
            break
        template = re.sub(r"\.(\d)f", lambda match: f".{int(match[1]) + 1}f", template)
    return template.format(value=value, bound=bound)


def _walking_figures(walk: RecordedWalk) -> dict[str, float]:
    measures = style_measures(walk)
    return {
        **_pelvis_ranges(walk),
        "arm_swing_deg": measures.arm_swing,
        **_arm_correlations(walk, measures.arm_swing),
        "step_asymmetry": _step_asymmetry(walk),
        "edge_time": measures.edge_time,
    }


def _pelvis_ranges(walk: RecordedWalk) -> dict[str, float]:
    """Ranges of the angles of the base within a stride, the yaw without its trend.

    With R the rotation of the base and R_0 that in the stance, ``R R_0ᵀ = Rz(yaw) Ry(pitch) Rx(roll)``.
    """
    robot = walk.tracks.robot
    upright = robot.stance("standing").pose(robot.frame("root_joint")).rotation
    rotation = scipy.spatial.transform.Rotation
    turned = rotation.from_quat(true_state(walk.tracks.recording, "q")[walk.window, 3:7]).as_matrix() @ upright.T
    angles = np.unwrap(rotation.from_matrix(turned).as_euler("ZYX"), axis=0)
    ranges = []
    for stride in walk.stride_samples:
        own = angles[stride.start - walk.window.start : stride.stop - walk.window.start]
        trend = np.linspace(own[0, 0], own[-1, 0], len(own))
        ranges.append([np.ptp(own[:, 0] - trend), np.ptp(own[:, 1]), np.ptp(own[:, 2])])
    yaw, pitch, roll = np.degrees(np.median(ranges, axis=0)).tolist()
    return {"pelvis_pitch_deg": pitch, "pelvis_roll_deg": roll, "pelvis_yaw_deg": yaw}


def _arm_correlations(walk: RecordedWalk, arm_swing: float) -> dict[str, float]:
    """Correlations of fore-aft positions relative to the base: of both hands, and of hand and foot of each side."""
    tracks, window, robot = walk.tracks, walk.window, walk.tracks.robot
    holds_box = bool(tracks.recording.provenance.get("carried_mass"))
    if not arm_swing > MIN_ARM_SWING or len(robot.hands) < 2 or holds_box:
        return {}
    base = true_state(tracks.recording, "q")[window, :3]
    forward = {
        part: in_heading_axes(tracks.positions[window, tracks.parts.index(part)] - base, walk.heading[window])[:, 0]
        for part in (*robot.feet, *robot.hands)
    }
    left, right = (forward[robot.hand(side)] for side in ("left", "right"))
    sides = [_correlation(forward[hand], forward[robot.foot(hand.side)]) for hand in robot.hands]
    return {"hand_correlation": _correlation(left, right), "hand_foot_correlation": float(np.mean(sides))}


def _correlation(first: Array, second: Array) -> float:
    known = np.isfinite(first) & np.isfinite(second)
    if known.sum() < 3 or np.std(first[known]) == 0.0 or np.std(second[known]) == 0.0:
        return math.nan
    return float(np.corrcoef(first[known], second[known])[0, 1])


def _step_asymmetry(walk: RecordedWalk) -> float:
    by_side = [[step for step in walk.steady_steps if step.side == side] for side in ("left", "right")]
    durations = [[step.duration for step in side if math.isfinite(step.duration)] for side in by_side]
    if not all(durations):
        return math.nan
    left_time, right_time = (float(np.mean(side)) for side in durations)
    left, right = (float(np.mean([step.length for step in side])) for side in by_side)
    length_difference = abs(left - right) / leg_length(walk.tracks.robot)
    return max(2.0 * abs(left_time - right_time) / (left_time + right_time), length_difference)


def _push_times(recording: Recording) -> list[tuple[float, float]]:
    """Return start and end of each push (s)."""
    texts = recording.provenance.get("push") or ()
    pushes = [Push.parse(str(text)) for text in ([texts] if isinstance(texts, str) else texts)]
    return sorted((push.time, push.time + push.duration) for push in pushes)


def _standing_edge_time(walk: RecordedWalk) -> float:
    """Return the share of time with the center of pressure at an edge, without pushes and the recovery from them."""
    recording = walk.tracks.recording
    if "center_of_pressure" not in recording or not recording.period > 0.0:
        return math.nan
    stride = max(round(MARGIN_INTERVAL / recording.period), 1)
    samples = np.arange(0, recording.samples, stride)
    for begin, end in _push_times(recording):
        time = recording.time[samples]
        samples = samples[(time < begin) | (time > end + PUSH_RECOVERY_TIME)]
    margins = walk.tracks.margins(recording["center_of_pressure"], samples.tolist())
    known = margins[np.isfinite(margins)]
    return float(np.mean(known < EDGE_DISTANCE)) if len(known) else math.nan


def _arm_deviation(recording: Recording, robot: Robot) -> float:
    """Return the largest difference (deg) of an arm joint between the last sample before the first push and the end.

    Joints that drift to the middle of their ranges for comfort, as on servos, may be anywhere on the way there.
    """
    pushes = _push_times(recording)
    if not pushes or not len(recording.time) or recording.time[-1] < pushes[0][0]:
        return math.nan
    before = max(int(np.searchsorted(recording.time, pushes[0][0])) - 1, 0)
    joints = [robot.joint(name) for limb in limbs(robot) if limb.name.endswith(" arm") for name in limb.joints]
    if not joints:
        return math.nan
    q = true_state(recording, "q")[:, [joint.q for joint in joints]]
    low = high = q[before]
    regulation = recording.provenance.get("regulation")
    if isinstance(regulation, Mapping) and regulation.get("comfort_posture") == "middle":
        middle = 0.5 * (robot.limits.lower + robot.limits.upper)[[joint.v - 6 for joint in joints]]
        low, high = np.minimum(low, middle), np.maximum(high, middle)
    return math.degrees(float(np.maximum(low - q[-1], q[-1] - high).max(initial=0.0)))


def _saturated_share(recording: Recording, robot: Robot) -> float:
    if "command/torque" not in recording:
        return math.nan
    _, shares = torque_shares(recording, robot)
    return float(np.mean((np.abs(shares) >= SATURATED).any(axis=1))) if len(shares) else math.nan


def _torque_jump(recording: Recording, robot: Robot) -> float:
    if "command/torque" not in recording:
        return math.nan
    jumps = np.abs(np.diff(torque_shares(recording, robot)[1], axis=0))
    known = jumps[np.isfinite(jumps)]
    return float(known.max()) if len(known) else math.nan


def _overrun_figures(recording: Recording, late: Overruns) -> dict[str, float]:
    times = recording["control/milliseconds"]
    counted = np.isfinite(times)
    phases = recording["phase"] if "phase" in recording else np.full(len(times), "")
    counted[[0, *np.unique(phases, return_index=True)[1]]] = False
    slow = counted & (times > late.period_ms)
    longest = max((end - begin for begin, end in true_intervals(slow)), default=0)
    share = float(slow.sum() / counted.sum()) if counted.any() else math.nan
    return {"overrun_ticks": float(late.ticks), "overrun_share": share, "overrun_streak": float(longest)}
