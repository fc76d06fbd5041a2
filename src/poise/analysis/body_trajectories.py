"""Trajectories of feet, hands, trunk and center of mass in a recording, and posture angles computed from them.

Angles are those of the sagittal plane, in degrees, and zero or as they are in the stance "standing". A direction d (3)
is seen in axes that turn with the heading ψ, x forward, y to the left, z up. Notation: R(t) is ``world_from_part``, R_0
the same in the stance, and ``R(t) R_0ᵀ`` therefore how far the part is turned from it.
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
from poise.robots import Foot, Frame, Robot, Side, State, limbs
from poise.state import zmp


@dataclass(frozen=True, eq=False)
class BodyTrajectories:
    """What follows from the states of a recording, for n samples; those that went astray are NaN.

    Where the true state was recorded it is the one that counts: a track is what happened, not what was believed.

    Attributes:
        recording, robot: whose motion it is.
        parts: feet and hands, left first, then those that were asked for besides.
        positions, velocities: of these parts in the world, (n, parts, 3), m and m/s.
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
        """Velocity of a part in the world, (n, 3), m/s."""
        return self.velocities[:, self.parts.index(part)]

    @property
    def center_of_mass_velocity(self) -> Array:
        """Velocity of the center of mass, (n, 3), m/s."""
        return self.momentum[:, :3] / self.robot.mass

    @cached_property
    def ground_height(self) -> Array:
        """Height of the ground, n, m: that of the lowest foot that stands, or of the lowest foot."""
        feet = [k for k, part in enumerate(self.parts) if isinstance(part, Foot)]
        if not feet:
            return np.zeros(len(self.recording))
        heights = self.positions[:, feet, 2]
        standing = np.where(self._contact_mask[:, feet], heights, np.nan)
        return np.where(np.isnan(standing).all(axis=1), _lowest(heights), _lowest(standing))

    @cached_property
    def zmp(self) -> Array:
        """Zero-moment point that the motion needs, (n, 2), m, by differences of the momentum between samples.

        Of a motion without physics it tells where the ground would have to push.
        """
        n = len(self.recording)
        if n < 3 or not self.recording.period > 0.0:
            return np.full((n, 2), np.nan)
        above = self.center_of_mass - np.column_stack([np.zeros((n, 2)), self.ground_height])
        return zmp_from_momentum(above, self.momentum, self.recording.period, self.robot.mass)

    def support(self, sample: int) -> Array:
        """Support polygon of one sample, (k, 2), m: soles with their corners, other contacts with their origin."""
        points = [np.zeros((0, 2))]
        for k in np.flatnonzero(self._contact_mask[sample]):
            part = self.parts[k]
            corners = part.corners if isinstance(part, Foot) else np.zeros((1, 3))
            points.append((corners @ self.rotations[sample, k].T + self.positions[sample, k])[:, :2])
        stacked = np.vstack(points)
        return convex_hull(stacked[np.isfinite(stacked).all(axis=1)])

    def margins(self, points: Array, samples: Sequence[int]) -> Array:
        """How far points (n, 2) are inside the support polygon at some samples, m; negative outside, NaN without."""
        return support_margins(self.support, points, samples)

    @cached_property
    def _contact_mask(self) -> NDArray[np.bool_]:
        """Which part stands on something at which sample, (n, parts)."""
        texts = self.recording["contacts"] if "contacts" in self.recording else [""] * len(self.recording)
        known = {text: [part.name in str(text).split(", ") for part in self.parts] for text in set(texts)}
        return np.array([known[text] for text in texts], dtype=bool).reshape(len(texts), len(self.parts))


def support_margins(support: Callable[[int], Array], points: Array, samples: Sequence[int]) -> Array:
    """How far points (n, 2) are inside a support polygon at some samples, m; negative outside, NaN without."""
    return polygon_margins(points[list(samples)].reshape(-1, 2), [support(i) for i in samples], corners=3)


def zmp_from_momentum(center: Array, momentum: Array, period: float, mass: float, ground: float = 0.0) -> Array:
    """Zero-moment point of n samples, (n, 2), m, by differences of the momentum between samples.

    Args:
        center: of mass, (n, 3), m.
        momentum: linear and about the center of mass, (n, 6), kg m/s and kg m²/s.
        period: between samples, s.
        mass: kg.
        ground: height of the ground, m.
    """
    rate = np.gradient(momentum, period, axis=0)
    return zmp(center, rate[:, :3] / mass, rate[:, 3:], mass, ground)


def compute_trajectories(recording: Recording, robot: Robot, extra_frames: Sequence[Frame] = ()) -> BodyTrajectories:
    """Follows feet, hands and more frames of a robot through a recording: some 20 microseconds a sample."""
    if recording.labels["q"] != CoordinateLabels.of(robot).q_labels:
        name = recording.provenance.get("robot", "?")
        raise RecordingError(f"the recording is of {name!r}, whose joints are not those of {robot.name!r}; give it")
    parts: tuple[Frame, ...] = (*robot.feet, *robot.hands, *extra_frames)
    n, k = len(recording), len(parts)
    tracks = BodyTrajectories(
        recording, robot, parts, np.empty((n, k, 3)), np.empty((n, k, 3)), np.empty((n, k, 3, 3)),
        np.empty((n, 3)), np.empty((n, 6)),
    )  # fmt: skip
    model, data = robot.model, robot.model.createData()
    axes = pinocchio.ReferenceFrame.LOCAL_WORLD_ALIGNED
    frames = [part.index for part in parts]
    for i, (q, v) in enumerate(zip(true_state(recording, "q"), true_state(recording, "v"), strict=True)):
        pinocchio.computeCentroidalMomentum(model, data, q, v)
        tracks.center_of_mass[i], tracks.momentum[i] = data.com[0], data.hg.vector
        for j, frame in enumerate(frames):
            pose = pinocchio.updateFramePlacement(model, data, frame)
            tracks.positions[i, j], tracks.rotations[i, j] = pose.translation, pose.rotation
            tracks.velocities[i, j] = pinocchio.getFrameVelocity(model, data, frame, axes).linear
    return tracks


def true_state(recording: Recording, name: str) -> Array:
    """The true states ("q" or "v"), (n, numbers), where they were recorded, else the measured ones."""
    measured = np.asarray(recording[name])
    if f"true/{name}" not in recording or recording.labels[f"true/{name}"] != recording.labels[name]:
        return measured
    true_values = recording[f"true/{name}"]
    return np.where(np.isfinite(true_values), true_values, measured)


def _lowest(heights: Array) -> Array:
    """The smallest number of each row; NaN where there is none."""
    least = np.where(np.isnan(heights), np.inf, heights).min(axis=1, initial=np.inf)
    return np.where(np.isfinite(least), least, np.nan)


# -- Posture measures: angles of chest, gaze and arms over time ------------------------------------------------------


class PostureFrames(NamedTuple):
    """Frames that posture measures are read from: chest (or base), the shoulders by side, the gaze if there is one."""

    chest: Frame
    shoulders: dict[Side, Frame]
    gaze: Frame | None

    @property
    def frames(self) -> tuple[Frame, ...]:
        """All of them, to be followed with `compute_trajectories`."""
        return (self.chest, *self.shoulders.values(), *([] if self.gaze is None else [self.gaze]))


def posture_frames(robot: Robot) -> PostureFrames:
    """The frames of posture measures: a shoulder is the first joint of an arm.

    >>> tracks = compute_trajectories(recording, robot, posture_frames(robot).frames)
    """
    arms = {limb.name: limb.joints for limb in limbs(robot)}
    names = {hand.side: arms.get(f"{hand.side} arm", ()) for hand in robot.hands}
    shoulders = {side: robot.frame(joints[0]) for side, joints in names.items() if joints}
    return PostureFrames(robot.chest or robot.frame("root_joint"), shoulders, robot.head)


def standing_state(robot: Robot) -> State:
    """The stance that posture is measured from: "standing", or the posture at rest of a robot that has none."""
    return robot.stance("standing") if "standing" in robot.stances else State(robot, robot.rest)


def chest_pitch(tracks: BodyTrajectories, heading: Array) -> Array:
    """How far the chest leans forward, n, degrees.

    With u = R R_0ᵀ e_z in heading axes, which is vertical in the stance: ``atan2(u_x, u_z)``.
    """
    chest = posture_frames(tracks.robot).chest
    up = _rotations(tracks, chest) @ (standing_state(tracks.robot).pose(chest).rotation.T @ np.array([0.0, 0.0, 1.0]))
    x, _, z = in_heading_axes(up, heading).T
    return np.degrees(np.arctan2(x, z))


def gaze_pitch(tracks: BodyTrajectories, heading: Array) -> Array:
    """How much further down than in the stance the robot looks, n, degrees; NaN without a gaze.

    With d the direction of the gaze in heading axes: ``atan2(-d_z, d_x)``, less the same in the stance.
    """
    gaze = tracks.robot.head
    if gaze is None:
        return np.full(len(heading), np.nan)
    x, _, z = in_heading_axes(_rotations(tracks, gaze) @ np.array(gaze.axis), heading).T
    before = standing_state(tracks.robot).pose(gaze).rotation @ np.array(gaze.axis)
    turn = np.arctan2(-z, x) - np.arctan2(-before[2], before[0])
    return np.degrees(np.remainder(turn + np.pi, 2.0 * np.pi) - np.pi)


def arm_pitch(tracks: BodyTrajectories, side: Side) -> Array:
    """How far forward of the chest's own vertical an arm is, n, degrees; 0 hangs down, 90 points forward.

    With l from the shoulder to the hand and ``l' = R_0 Rᵀ l``, that is l in axes that turn with the chest:
    ``atan2(l'_x, -l'_z)``, unwrapped.
    """
    frames = posture_frames(tracks.robot)
    if side not in frames.shoulders:
        return np.full(len(tracks.recording), np.nan)
    hand, shoulder = tracks.parts.index(tracks.robot.hand(side)), tracks.parts.index(frames.shoulders[side])
    line = tracks.positions[:, hand] - tracks.positions[:, shoulder]
    stance = standing_state(tracks.robot).pose(frames.chest).rotation
    own = np.einsum("nji,nj->ni", _rotations(tracks, frames.chest), line) @ stance.T
    angle = np.arctan2(own[:, 0], -own[:, 2])
    known = np.isfinite(angle)
    angle[known] = np.unwrap(angle[known])
    return np.degrees(angle)


def standing_arm_pitch(robot: Robot, side: Side) -> float:
    """`arm_pitch` in the stance, degrees; NaN without that arm."""
    frames = posture_frames(robot)
    if side not in frames.shoulders:
        return float("nan")
    stance = standing_state(robot)
    line = stance.pose(robot.hand(side)).translation - stance.pose(frames.shoulders[side]).translation
    return float(np.degrees(np.arctan2(line[0], -line[2])))


def first_fallen_sample(tracks: BodyTrajectories) -> int:
    """The first sample at which the robot has fallen; the number of samples if it never does.

    As in `poise.plants`: its chest is tilted by more than 60 degrees, or its center of mass is lower above the lowest
    foot than half of its height in the stance.
    """
    chest, stance = posture_frames(tracks.robot).chest, standing_state(tracks.robot)
    up = (_rotations(tracks, chest) @ stance.pose(chest).rotation.T)[:, 2, 2]
    soles = [float(stance.pose(foot).translation[2]) for foot in tracks.robot.feet]
    height = float(stance.center_of_mass[2]) - min(soles, default=0.0)
    low = tracks.center_of_mass[:, 2] - tracks.ground_height < FALLEN_HEIGHT * height
    down = np.flatnonzero((up < np.cos(np.radians(FALLEN_TILT))) | low)
    return int(down[0]) if len(down) else len(tracks.recording)


def in_heading_axes(vectors: Array, heading: Array) -> Array:
    """World vectors (n, 3) in axes that turn with the heading (n, rad): ``Rz(-ψ) d``."""
    c, s = np.cos(heading), np.sin(heading)
    x, y, z = vectors.T
    return np.stack([c * x + s * y, c * y - s * x, z], axis=1)


def _rotations(tracks: BodyTrajectories, frame: Frame) -> Array:
    return tracks.rotations[:, tracks.parts.index(frame)]
