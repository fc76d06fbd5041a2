"""Trajectories of feet, hands, trunk and center of mass in a recording, and posture angles computed from them.

Posture angles are in the sagittal plane, in degrees, relative to the stance "standing" or to the vertical. Directions d
(3) are expressed in axes that rotate with the heading ψ: x forward, y to the left, z up. Notation: R(t) is
``world_from_part``, R_0 is the same in the stance, so ``R(t) R_0ᵀ`` is the rotation of the part away from the stance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pinocchio
from numpy.typing import NDArray

from poise.analysis.contact_quality import polygon_margins
from poise.arrays import Array
from poise.errors import RecordingError
from poise.geometry import convex_hull
from poise.plants import FALLEN_HEIGHT, FALLEN_TILT
from poise.recording import CoordinateLabels, Recording
from poise.robots import Foot, Frame, Robot, Side, State, contact_points, limbs
from poise.state import zmp


@dataclass(frozen=True, eq=False)
class BodyTrajectories:
    """Trajectories computed from the n states of a recording; NaN for samples with invalid states.

    If the recording has true states (from simulation) they are used rather than the measured or estimated ones.

    Attributes:
        recording, robot: the motion and its robot.
        parts: feet and hands, left first, then the extra frames.
        positions, velocities: of these parts in the world frame, (n, parts, 3), m and m/s.
        rotations: ``world_from_part``, (n, parts, 3, 3).
        center_of_mass: (n, 3), m.
        momentum: linear and about the center of mass, (n, 6), kg m/s and kg m²/s, in world axes.

    >>> tracks = compute_trajectories(recording, robot)
    >>> tracks.velocity(robot.hand("left")).shape
    (600, 3)
    """

    recording: Recording
    robot: Robot
    parts: tuple[Frame, ...]
    positions: Array
    velocities: Array
    rotations: Array
    center_of_mass: Array
    momentum: Array

    def velocity(self, part: Frame) -> Array:
        """Return the velocity of a part in the world frame, (n, 3), m/s."""
        return self.velocities[:, self.parts.index(part)]

    @property
    def center_of_mass_velocity(self) -> Array:
        """Velocity of the center of mass, (n, 3), m/s."""
        return self.momentum[:, :3] / self.robot.mass

    @cached_property
    def ground_height(self) -> Array:
        """Height of the ground, n, m: that of the lowest foot in contact, or of the lowest foot if none is."""
        feet = [k for k, part in enumerate(self.parts) if isinstance(part, Foot)]
        if not feet:
            return np.zeros(self.recording.samples)
        heights = self.positions[:, feet, 2]
        standing = np.where(self._contact_mask[:, feet], heights, np.nan)
        return np.where(np.isnan(standing).all(axis=1), _row_minimum(heights), _row_minimum(standing))

    @cached_property
    def zmp(self) -> Array:
        """Zero-moment point (ZMP) that the motion requires, (n, 2), m, by finite differences of the momentum.

        For a purely kinematic motion this is where the ground reaction force would have to act.
        """
        n = self.recording.samples
        if n < 3 or not self.recording.period > 0.0:
            return np.full((n, 2), np.nan)
        above = self.center_of_mass - np.column_stack([np.zeros((n, 2)), self.ground_height])
        return zmp_from_momentum(above, self.momentum, self.recording.period, self.robot.mass)

    def support(self, sample: int) -> Array:
        """Return the support polygon of one sample, (k, 2), m.

        It is the hull of the sole corners of the feet in contact and of the origins of other parts in contact.
        """
        points = [np.zeros((0, 2))]
        for k in np.flatnonzero(self._contact_mask[sample]):
            points.append(contact_points(self.parts[k], self.rotations[sample, k], self.positions[sample, k])[:, :2])
        stacked = np.vstack(points)
        return convex_hull(stacked[np.isfinite(stacked).all(axis=1)])

    def margins(self, points: Array, samples: Sequence[int]) -> Array:
        """Return how far points are inside the support polygon at some samples, m; negative outside.

        `points` has one row per sample of the recording, (n, 2), m, world frame.
        """
        return support_margins(self.support, points, samples)

    @cached_property
    def _contact_mask(self) -> NDArray[np.bool_]:
        """Whether each part is in contact at each sample, (n, parts)."""
        texts = self.recording["contacts"] if "contacts" in self.recording else [""] * self.recording.samples
        known = {text: [part.name in str(text).split(", ") for part in self.parts] for text in set(texts)}
        return np.array([known[text] for text in texts], dtype=bool).reshape(len(texts), len(self.parts))


def support_margins(support: Callable[[int], Array], points: Array, samples: Sequence[int]) -> Array:
    """Return how far points are inside a support polygon at some samples, m; negative outside.

    NaN for a sample without a polygon of at least three corners.

    Args:
        support: function from a sample to its support polygon, (k, 2), m.
        points: one per sample of the recording, (n, 2), m.
        samples: indices of the samples.
    """
    return polygon_margins(points[list(samples)].reshape(-1, 2), [support(i) for i in samples], corners=3)


def zmp_from_momentum(center: Array, momentum: Array, period: float, mass: float, ground: float = 0.0) -> Array:
    """Compute the zero-moment point of n samples, (n, 2), m, by finite differences of the momentum.

    Args:
        center: center of mass, (n, 3), m.
        momentum: linear and about the center of mass, (n, 6), kg m/s and kg m²/s.
        period: sampling period, s.
        mass: of the whole body, kg.
        ground: height of the ground, m.
    """
    rate = np.gradient(momentum, period, axis=0)
    return zmp(center, rate[:, :3] / mass, rate[:, 3:], mass, ground)


def compute_trajectories(recording: Recording, robot: Robot, extra_frames: Sequence[Frame] = ()) -> BodyTrajectories:
    """Compute trajectories of feet, hands and extra frames by forward kinematics; about 20 microseconds per sample."""
    if recording.labels["q"] != CoordinateLabels.of(robot).q_labels:
        name = recording.provenance.get("robot", "?")
        raise RecordingError(
            f"the recording is of {name!r}, whose joints are not those of {robot.name!r}; pass its robot"
        )
    parts: tuple[Frame, ...] = (*robot.feet, *robot.hands, *extra_frames)
    n, k = recording.samples, len(parts)
    tracks = BodyTrajectories(
        recording, robot, parts, np.empty((n, k, 3)), np.empty((n, k, 3)), np.empty((n, k, 3, 3)),
        np.empty((n, 3)), np.empty((n, 6)),
    )  # fmt: skip
    model, data = robot.model, robot.model.createData()
    axes = pinocchio.ReferenceFrame.LOCAL_WORLD_ALIGNED
    frames = [part.index for part in parts]
    states = (_with_unmeasured_joints(recording, true_state(recording, name)) for name in ("q", "v"))
    for i, (q, v) in enumerate(zip(*states, strict=True)):
        pinocchio.computeCentroidalMomentum(model, data, q, v)
        tracks.center_of_mass[i], tracks.momentum[i] = data.com[0], data.hg.vector
        for j, frame in enumerate(frames):
            pose = pinocchio.updateFramePlacement(model, data, frame)
            tracks.positions[i, j], tracks.rotations[i, j] = pose.translation, pose.rotation
            tracks.velocities[i, j] = pinocchio.getFrameVelocity(model, data, frame, axes).linear
    return tracks


def _with_unmeasured_joints(recording: Recording, values: Array) -> Array:
    """Return values with joints at rest that were never measured, for example toes, if the center of mass was."""
    never = np.isnan(values).all(axis=0)
    return np.where(never, 0.0, values) if never.any() and "center_of_mass" in recording else values


def true_state(recording: Recording, name: str) -> Array:
    """Return the channel "q" or "v" of the true state if it was recorded, else of the measured state, (n, columns)."""
    measured = np.asarray(recording[name])
    if f"true/{name}" not in recording or recording.labels[f"true/{name}"] != recording.labels[name]:
        return measured
    true_values = recording[f"true/{name}"]
    return np.where(np.isfinite(true_values), true_values, measured)


def _row_minimum(heights: Array) -> Array:
    """Return the smallest value of each row, ignoring NaN; NaN for rows without a value."""
    least = np.where(np.isnan(heights), np.inf, heights).min(axis=1, initial=np.inf)
    return np.where(np.isfinite(least), least, np.nan)


# -- Posture measures: angles of chest, gaze and arms over time ------------------------------------------------------


class PostureFrames(NamedTuple):
    """Frames needed for posture measures: chest (or base), shoulders by side, head (gaze) if the robot has one."""

    chest: Frame
    shoulders: dict[Side, Frame]
    gaze: Frame | None

    @property
    def frames(self) -> tuple[Frame, ...]:
        """All of these frames, as extra frames of `compute_trajectories`."""
        return (self.chest, *self.shoulders.values(), *([] if self.gaze is None else [self.gaze]))


def posture_frames(robot: Robot) -> PostureFrames:
    """Return the frames needed for posture measures; a shoulder is the first joint of an arm.

    >>> tracks = compute_trajectories(recording, robot, posture_frames(robot).frames)
    """
    arms = {limb.name: limb.joints for limb in limbs(robot)}
    names = {hand.side: arms.get(f"{hand.side} arm", ()) for hand in robot.hands}
    shoulders = {side: robot.frame(joints[0]) for side, joints in names.items() if joints}
    return PostureFrames(robot.chest or robot.frame("root_joint"), shoulders, robot.head)


def standing_state(robot: Robot) -> State:
    """Return the reference of posture measures: the stance "standing", or the rest posture if there is none."""
    return robot.stance("standing") if "standing" in robot.stances else State(robot, robot.rest)


def chest_pitch(tracks: BodyTrajectories, heading: Array) -> Array:
    """Compute the forward lean of the chest, n, degrees.

    With u = R R_0ᵀ e_z in heading axes, which is vertical in the stance: ``atan2(u_x, u_z)``.
    """
    chest = posture_frames(tracks.robot).chest
    up = _rotations(tracks, chest) @ (standing_state(tracks.robot).pose(chest).rotation.T @ np.array([0.0, 0.0, 1.0]))
    x, _, z = in_heading_axes(up, heading).T
    return np.degrees(np.arctan2(x, z))


def gaze_pitch(tracks: BodyTrajectories, heading: Array) -> Array:
    """Compute how far the gaze points down relative to the stance, n, degrees; NaN for a robot without a head.

    With d the direction of the gaze in heading axes: ``atan2(-d_z, d_x)``, minus the same angle in the stance.
    """
    gaze = tracks.robot.head
    if gaze is None:
        return np.full(len(heading), np.nan)
    x, _, z = in_heading_axes(_rotations(tracks, gaze) @ np.array(gaze.axis), heading).T
    standing_direction = standing_state(tracks.robot).pose(gaze).rotation @ np.array(gaze.axis)
    pitch = np.arctan2(-z, x) - np.arctan2(-standing_direction[2], standing_direction[0])
    return np.degrees(np.remainder(pitch + np.pi, 2.0 * np.pi) - np.pi)


def arm_pitch(tracks: BodyTrajectories, side: Side) -> Array:
    """Compute the pitch of an arm relative to the chest, n, degrees; 0 hanging down, 90 pointing forward.

    With l from the shoulder to the hand and ``l' = R_0 Rᵀ l``, that is l in axes that rotate with the chest:
    ``atan2(l'_x, -l'_z)``, unwrapped. NaN if the robot has no such arm.
    """
    frames = posture_frames(tracks.robot)
    if side not in frames.shoulders:
        return np.full(tracks.recording.samples, np.nan)
    hand, shoulder = tracks.parts.index(tracks.robot.hand(side)), tracks.parts.index(frames.shoulders[side])
    line = tracks.positions[:, hand] - tracks.positions[:, shoulder]
    stance = standing_state(tracks.robot).pose(frames.chest).rotation
    chest_line = np.einsum("nji,nj->ni", _rotations(tracks, frames.chest), line) @ stance.T
    angle = np.arctan2(chest_line[:, 0], -chest_line[:, 2])
    known = np.isfinite(angle)
    angle[known] = np.unwrap(angle[known])
    return np.degrees(angle)


def standing_arm_pitch(robot: Robot, side: Side) -> float:
    """Return `arm_pitch` in the stance, degrees; NaN if the robot has no such arm."""
    frames = posture_frames(robot)
    if side not in frames.shoulders:
        return float("nan")
    stance = standing_state(robot)
    line = stance.pose(robot.hand(side)).translation - stance.pose(frames.shoulders[side]).translation
    return float(np.degrees(np.arctan2(line[0], -line[2])))


def first_fallen_sample(tracks: BodyTrajectories) -> int:
    """Return the first sample at which the robot has fallen; the number of samples if it never falls.

    Recordings of a plant have the time of its fall in their provenance. In others, contacts of the body with the ground
    are unknown; there a fall is a chest tilted by more than 60 degrees, or a center of mass whose height above the
    lowest foot is less than half of that in the stance, from which the robot does not recover: it begins with the first
    sample after which this is so until the end. A robot that bends down to the floor and rises again has not fallen.
    """
    if "fall" in tracks.recording.provenance:
        fall = tracks.recording.provenance["fall"]
        return tracks.recording.samples if not fall else int(np.searchsorted(tracks.recording.time, fall["time"]))
    chest, stance = posture_frames(tracks.robot).chest, standing_state(tracks.robot)
    up = (_rotations(tracks, chest) @ stance.pose(chest).rotation.T)[:, 2, 2]
    soles = [float(stance.pose(foot).translation[2]) for foot in tracks.robot.feet]
    height = float(stance.center_of_mass[2]) - min(soles, default=0.0)
    low = tracks.center_of_mass[:, 2] - tracks.ground_height < FALLEN_HEIGHT * height
    tilted = up < np.cos(np.radians(FALLEN_TILT))
    recovered = np.flatnonzero(~(tilted | low) & np.isfinite(up) & np.isfinite(tracks.center_of_mass[:, 2]))
    after = int(recovered[-1]) + 1 if len(recovered) else 0
    fallen = after + np.flatnonzero((tilted | low)[after:])
    return int(fallen[0]) if len(fallen) else tracks.recording.samples


def in_heading_axes(vectors: Array, heading: Array) -> Array:
    """Rotate world vectors (n, 3) into axes that turn with the heading (n, rad): ``Rz(-ψ) d``."""
    c, s = np.cos(heading), np.sin(heading)
    x, y, z = vectors.T
    return np.stack([c * x + s * y, c * y - s * x, z], axis=1)


def _rotations(tracks: BodyTrajectories, frame: Frame) -> Array:
    return tracks.rotations[:, tracks.parts.index(frame)]
