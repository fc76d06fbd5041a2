"""Comparison of two recordings of one task, phase by phase: posture, range of motion and torques of each limb.

[Saab2012] compared a purely kinematic motion with a dynamic one: height of the left foot, head rotation, position of
the hands, knee flexion and trunk lean at the end of each phase, then the torques of each limb and their smoothness.
`compare_recordings` computes these quantities. Both recordings are put on one scale by `align_recordings`, so that
their phases coincide whatever their durations.

[Saab2012] L. Saab, N. Mansard, P. Souères, J.-Y. Fourquet, M. Sreenivasa, Y. Nakamura. *Whole-body torques for
generating complex movements in humans and humanoids.* SYROCO, 2012.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from poise.analysis.anatomy import anatomical_joints
from poise.analysis.body_trajectories import (
    BodyTrajectories,
    compute_trajectories,
    in_heading_axes,
    posture_frames,
    standing_state,
    true_state,
)
from poise.analysis.motion_phases import MotionPhase, NormalizedRecording, align_recordings
from poise.analysis.signals import peak, peak_rate, root_mean_square, torque_arc_length
from poise.analysis.step_detection import foot_trajectories
from poise.arrays import Array
from poise.errors import RecordingError
from poise.files import json_ready
from poise.recording import Recording, robot_from_provenance
from poise.robots import Frame, Robot, limbs


class LimbTorques(NamedTuple):
    """Torques of all joints of a limb, per kg of body mass.

    Attributes:
        limb: for example "left leg".
        effort: root mean square over time of the norm over the joints, N m/kg.
        peak: largest magnitude of any joint, N m/kg.
        peak_rate: largest rate of change of any joint, N m/(kg s).
        arc_length: `torque_arc_length`, which is closer to zero for smoother torques.
    """

    limb: str
    effort: float
    peak: float
    peak_rate: float
    arc_length: float


class PhaseEffort(NamedTuple):
    """Root mean square torque of a limb in a phase, N m per kg, in both recordings; NaN without torques."""

    phase: str
    limb: str
    first: float
    second: float


def limb_torques(recording: Recording, robot: Robot) -> tuple[LimbTorques, ...]:
    """Compute the torques of each limb per kg of body mass; empty if no torques were recorded.

    >>> {each.limb: each.effort for each in limb_torques(recording, robot)}["left leg"]
    """
    if "command/torque" not in recording:
        return ()
    labels, h = recording.labels["command/torque"], recording.period
    torques = []
    for limb in limbs(robot):
        columns = [labels.index(name) for name in limb.joints if name in labels]
        torque = recording["command/torque"][:, columns] / robot.mass
        if columns and np.isfinite(torque).any():
            sizes = root_mean_square(torque), peak(torque).value, peak_rate(torque, h).value
            torques.append(LimbTorques(limb.name, *sizes, torque_arc_length(torque, h)))
    return tuple(torques)


def phase_efforts(normalized: Sequence[NormalizedRecording], robots: Sequence[Robot]) -> tuple[PhaseEffort, ...]:
    """Compute the efforts of two aligned recordings by phase and limb, for the limbs that both robots have."""
    names = [limb.name for limb in limbs(robots[0]) if limb.name in [each.name for each in limbs(robots[1])]]
    efforts = []
    for part in normalized[0].phases or (MotionPhase("motion", 0.0, 100.0),):
        inside = (normalized[0].percent >= part.begin) & (normalized[0].percent <= part.end)
        for name in names:
            sizes = []
            for motion, robot in zip(normalized, robots, strict=True):
                joints = next(limb.joints for limb in limbs(robot) if limb.name == name)
                labels = motion.recording.labels["command/torque"] if "command/torque" in motion.recording else ()
                columns = [labels.index(joint) for joint in joints if joint in labels]
                torque = motion["command/torque"][inside][:, columns] if columns else np.full((1, 1), np.nan)
                sizes.append(root_mean_square(torque) / robot.mass)
            efforts.append(PhaseEffort(part.name, name, *sizes))
    return tuple(efforts)


# -- Comparison --------------------------------------------------------------------------------------------------------


class PhaseCurve(NamedTuple):
    """One quantity of both motions on the common scale: name, unit, and values (steps of `percent`) of both."""

    quantity: str
    unit: str
    first: Array
    second: Array


class PhaseEnd(NamedTuple):
    """One quantity at the end of a phase: phase, name, unit, and values of both."""

    phase: str
    quantity: str
    unit: str
    first: float
    second: float


@dataclass(frozen=True, eq=False)
class RecordingComparison:
    """Comparison of two motions of one task.

    Attributes:
        percent: progress, %, from 0 to 100; aligned phase by phase if both have the same phases.
        phases: on that scale.
        curves: heights of feet and hands above the ground, knee flexion, trunk lean, and rotation of the head relative
            to the trunk.
        distance: root mean square difference of the joint angles at each step, rad; NaN for different robots.
        ranges: range of motion of each common joint, degrees, for both.
        torques: of each limb, for both; empty for a motion without torques.
        efforts: of each limb in each phase, for both.
        names: labels of both in tables.

    >>> comparison = compare_recordings(kinematic, dynamic)
    >>> [(row.phase, row.quantity, round(row.first - row.second, 3)) for row in comparison.phase_ends]
    """

    percent: Array
    phases: tuple[MotionPhase, ...]
    curves: tuple[PhaseCurve, ...]
    distance: Array
    ranges: dict[str, tuple[float, float]]
    torques: tuple[tuple[LimbTorques, ...], tuple[LimbTorques, ...]]
    efforts: tuple[PhaseEffort, ...]
    names: tuple[str, str] = ("first", "second")

    def __str__(self) -> str:
        return self.text()

    def curve(self, quantity: str) -> PhaseCurve:
        """Return a curve by name: ``comparison.curve("left foot height")``."""
        for curve in self.curves:
            if curve.quantity == quantity:
                return curve
        raise RecordingError(f"no curve {quantity!r}; available: {', '.join(own.quantity for own in self.curves)}")

    @property
    def phase_ends(self) -> tuple[PhaseEnd, ...]:
        """Values of all curves at the end of each phase, or of the whole motion if it has no phases."""
        parts = self.phases or (MotionPhase("motion", 0.0, 100.0),)
        ends = []
        for part in parts:
            k = int(np.searchsorted(self.percent, part.end - 1e-9))
            k = min(k, len(self.percent) - 1)
            ends += [
                PhaseEnd(part.name, c.quantity, c.unit, float(c.first[k]), float(c.second[k])) for c in self.curves
            ]
        return tuple(ends)

    def distances(self) -> dict[str, float]:
        """Return the root mean square of `distance` in each phase, rad."""
        parts = self.phases or (MotionPhase("motion", 0.0, 100.0),)
        inside = [(self.percent >= part.begin) & (self.percent <= part.end) for part in parts]
        return {f"{k + 1} {p.name}": _rms(self.distance[i]) for k, (p, i) in enumerate(zip(parts, inside, strict=True))}

    def summary(self) -> dict[str, Any]:
        """Return plain values for JSON: posture distance, values at the end of each phase, torques by limb."""
        return json_ready(
            {
                "names": list(self.names),
                "posture_distance_rad": self.distances(),
                "phase_ends": [phase_end._asdict() for phase_end in self.phase_ends],
                "torques": [{own.limb: own._asdict() for own in each} for each in self.torques],
            }
        )

    def text(self) -> str:
        """Return a table of the values at the end of each phase, with the posture distance, as text."""
        first, second = self.names
        lines = [f"{'at the end of':<24} {'quantity':<26} {first[:12]:>12} {second[:12]:>12} {'difference':>11}"]
        for row in self.phase_ends:
            numbers = f"{row.first:>12.3f} {row.second:>12.3f} {row.first - row.second:>+11.3f}"
            lines.append(f"{row.phase:<24} {row.quantity:<26} {numbers} {row.unit}")
        distances = ", ".join(f"{name}: {value:.3f}" for name, value in self.distances().items())
        return "\n".join([*lines, f"posture distance, rms (rad): {distances}"])


def compare_recordings(
    first: Recording,
    second: Recording,
    robot: Robot | None = None,
    other_robot: Robot | None = None,
    names: tuple[str, str] = ("first", "second"),
) -> RecordingComparison:
    """Compare two recordings of the same task, of the same robot or of two different ones.

    Args:
        first, second: the recordings.
        robot: robot of `first`; by default the one named in the recording.
        other_robot: robot of `second`; by default `robot` if given, else the one named in the recording.
        names: labels of both in tables.
    """
    robots = (_resolve_robot(first, robot), _resolve_robot(second, other_robot or robot))
    normalized = align_recordings([first, second])
    tracks = [
        compute_trajectories(rec, robot, posture_frames(robot).frames)
        for rec, robot in zip((first, second), robots, strict=True)
    ]
    quantities = [_curves(track) for track in tracks]
    shared = [name for name in quantities[0] if name in quantities[1]]
    curves = tuple(
        PhaseCurve(
            name, quantities[0][name][0], *(np.asarray(normalized[k].at(quantities[k][name][1])) for k in (0, 1))
        )
        for name in shared
    )
    return RecordingComparison(
        normalized[0].percent,
        normalized[0].phases,
        curves,
        _distance(normalized, robots),
        _ranges((first, second), robots),
        (limb_torques(first, robots[0]), limb_torques(second, robots[1])),
        phase_efforts(normalized, robots),
        names,
    )


def _curves(tracks: BodyTrajectories) -> dict[str, tuple[str, Array]]:
    """Compute the curves of one motion: unit and values (n) by name."""
    robot, recording = tracks.robot, tracks.recording
    feet = foot_trajectories(tracks)
    floor = float(np.nanmin([trajectory.sole[0, 2] for trajectory in feet])) if feet else 0.0
    psi = np.full(recording.samples, float(np.mean([trajectory.yaw[0] for trajectory in feet])) if feet else 0.0)
    curves: dict[str, tuple[str, Array]] = {}
    for trajectory in feet:
        curves[f"{trajectory.foot.side} foot height"] = "m", trajectory.sole[:, 2] - floor
    for hand in robot.hands:
        curves[f"{hand.side} hand height"] = "m", tracks.positions[:, tracks.parts.index(hand), 2] - floor
    q = true_state(recording, "q")
    for anatomical in anatomical_joints(robot):
        if anatomical.degree_of_freedom == "knee flexion":
            curves[f"{anatomical.side} knee flexion"] = (
                "degrees",
                np.degrees(anatomical.sign * q[:, anatomical.joint.q]),
            )
    chest = posture_frames(robot).chest
    up = in_heading_axes(_rotation_from_stance(tracks, chest) @ np.array([0.0, 0.0, 1.0]), psi)
    curves["trunk forward"] = "degrees", np.degrees(np.arctan2(up[:, 0], up[:, 2]))
    curves["trunk to the left"] = "degrees", np.degrees(np.arctan2(up[:, 1], up[:, 2]))
    if robot.head is not None:
        turn = np.einsum(
            "nji,njk->nik", _rotation_from_stance(tracks, chest), _rotation_from_stance(tracks, robot.head)
        )
        cosine = (np.trace(turn, axis1=1, axis2=2) - 1.0) / 2.0
        curves["head turn"] = "degrees", np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0)))
    return curves


def _rotation_from_stance(tracks: BodyTrajectories, frame: Frame) -> Array:
    """Return the rotation of a frame relative to the stance, (n, 3, 3)."""
    stance_rotation = standing_state(tracks.robot).pose(frame).rotation
    return np.asarray(tracks.rotations[:, tracks.parts.index(frame)] @ stance_rotation.T)


def _distance(normalized: Sequence[NormalizedRecording], robots: Sequence[Robot]) -> Array:
    first, second = robots
    if [joint.name for joint in first.joints] != [joint.name for joint in second.joints]:
        return np.full(len(normalized[0].percent), np.nan)
    a, b = (np.asarray(own.at(true_state(own.recording, "q")[:, 7:])) for own in normalized)
    return np.asarray(np.sqrt(np.mean((a - b) ** 2, axis=1)))


def _ranges(recordings: Sequence[Recording], robots: Sequence[Robot]) -> dict[str, tuple[float, float]]:
    """Compute ranges of motion of common joints, degrees: matched by name for the same robot, else by anatomy."""
    ranges = []
    same_robot = [joint.name for joint in robots[0].joints] == [joint.name for joint in robots[1].joints]
    for recording, robot in zip(recordings, robots, strict=True):
        q = true_state(recording, "q")
        if same_robot:
            columns = {joint.name: joint.q for joint in robot.joints}
        else:
            columns = {f"{t.side or ''} {t.degree_of_freedom}".strip(): t.joint.q for t in anatomical_joints(robot)}
        ranges.append({name: float(np.degrees(np.ptp(q[:, column]))) for name, column in columns.items()})
    return {name: (size, ranges[1][name]) for name, size in ranges[0].items() if name in ranges[1]}


def _resolve_robot(recording: Recording, robot: Robot | None) -> Robot:
    resolved = robot or recording.robot or robot_from_provenance(recording.provenance)
    if isinstance(resolved, str):
        raise RecordingError(f"robot of the recording is unknown: {resolved}; pass the robot")
    return resolved


def _rms(values: Array) -> float:
    known = values[np.isfinite(values)]
    return float(np.sqrt(np.mean(known**2))) if len(known) else math.nan
