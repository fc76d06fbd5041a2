"""Tracks: how the parts of a robot and its center of mass went through the world, from a recording."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pinocchio
from numpy.typing import NDArray

from poise.errors import RecordingError
from poise.geometry.polygon import convex_hull, margin
from poise.recording import Recording
from poise.recording.body import Body
from poise.robots import Foot, Frame, Robot
from poise.state.balance import zmp

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Tracks:
    """What follows from the states of a recording, for n samples; those that went astray are NaN.

    Where the true state was recorded it is the one that counts: a track is what happened, not what was believed.

    Attributes:
        recording, robot: whose motion it is.
        parts: feet and hands, left first, then those that were asked for besides.
        positions, velocities: of these parts in the world, (n, parts, 3), m and m/s.
        rotations: ``world_from_part``, (n, parts, 3, 3).
        center: of mass, (n, 3), m.
        momentum: linear and about the center of mass, (n, 6), kg m/s and kg m²/s, in world axes.

    >>> tracks = tracked(recording, robot)
    >>> tracks.velocity(robot.hand("left")).shape
    (600, 3)
    """

    recording: Recording
    robot: Robot
    parts: tuple[Frame, ...]
    positions: Array
    velocities: Array
    rotations: Array
    center: Array
    momentum: Array

    def velocity(self, part: Frame) -> Array:
        """Velocity of a part in the world, (n, 3), m/s."""
        return self.velocities[:, self.parts.index(part)]

    @property
    def center_velocity(self) -> Array:
        """Velocity of the center of mass, (n, 3), m/s."""
        return self.momentum[:, :3] / self.robot.mass

    @cached_property
    def ground(self) -> Array:
        """Height of the ground, n, m: that of the lowest foot that stands, or of the lowest foot."""
        feet = [k for k, part in enumerate(self.parts) if isinstance(part, Foot)]
        if not feet:
            return np.zeros(len(self.recording))
        heights = self.positions[:, feet, 2]
        standing = np.where(self._touching[:, feet], heights, np.nan)
        return np.where(np.isnan(standing).all(axis=1), _lowest(heights), _lowest(standing))

    @cached_property
    def zmp(self) -> Array:
        """Zero-moment point that the motion needs, (n, 2), m, by differences of the momentum between samples.

        Of a motion without physics it tells where the ground would have to push.
        """
        n = len(self.recording)
        if n < 3 or not self.recording.period > 0.0:
            return np.full((n, 2), np.nan)
        rate = np.gradient(self.momentum, self.recording.period, axis=0)
        above = self.center - np.column_stack([np.zeros((n, 2)), self.ground])
        return zmp(above, rate[:, :3] / self.robot.mass, rate[:, 3:], self.robot.mass)

    def support(self, sample: int) -> Array:
        """Support polygon of one sample, (k, 2), m: soles with their corners, other contacts with their origin."""
        points = [np.zeros((0, 2))]
        for k in np.flatnonzero(self._touching[sample]):
            part = self.parts[k]
            corners = part.corners if isinstance(part, Foot) else np.zeros((1, 3))
            points.append((corners @ self.rotations[sample, k].T + self.positions[sample, k])[:, :2])
        stacked = np.vstack(points)
        return convex_hull(stacked[np.isfinite(stacked).all(axis=1)])

    def margins(self, points: Array, samples: Sequence[int]) -> Array:
        """How far points (n, 2) are inside the support polygon at some samples, m; negative outside, NaN without."""
        return inside(self.support, points, samples)

    @cached_property
    def _touching(self) -> NDArray[np.bool_]:
        """Which part stands on something at which sample, (n, parts)."""
        texts = self.recording["contacts"] if "contacts" in self.recording else [""] * len(self.recording)
        known = {text: [part.name in str(text).split(", ") for part in self.parts] for text in set(texts)}
        return np.array([known[text] for text in texts], dtype=bool).reshape(len(texts), len(self.parts))


def inside(support: Callable[[int], Array], points: Array, samples: Sequence[int]) -> Array:
    """How far points (n, 2) are inside a support polygon at some samples, m; negative outside, NaN without."""
    found = []
    for i in samples:
        polygon = support(i)
        known = len(polygon) > 2 and np.isfinite(points[i]).all()
        found.append(float(margin(polygon, points[i])) if known else np.nan)
    return np.array(found)


def tracked(recording: Recording, robot: Robot, more: Sequence[Frame] = ()) -> Tracks:
    """Follows feet, hands and more frames of a robot through a recording: some 20 microseconds a sample."""
    if recording.labels["q"] != Body.of(robot).q_labels:
        name = recording.provenance.get("robot", "?")
        raise RecordingError(f"the recording is of {name!r}, whose joints are not those of {robot.name!r}; give it")
    parts: tuple[Frame, ...] = (*robot.feet, *robot.hands, *more)
    n, k = len(recording), len(parts)
    tracks = Tracks(
        recording, robot, parts, np.empty((n, k, 3)), np.empty((n, k, 3)), np.empty((n, k, 3, 3)),
        np.empty((n, 3)), np.empty((n, 6)),
    )  # fmt: skip
    model, data = robot.model, robot.model.createData()
    axes = pinocchio.ReferenceFrame.LOCAL_WORLD_ALIGNED
    frames = [part.index for part in parts]
    for i, (q, v) in enumerate(zip(true(recording, "q"), true(recording, "v"), strict=True)):
        pinocchio.computeCentroidalMomentum(model, data, q, v)
        tracks.center[i], tracks.momentum[i] = data.com[0], data.hg.vector
        for j, frame in enumerate(frames):
            pose = pinocchio.updateFramePlacement(model, data, frame)
            tracks.positions[i, j], tracks.rotations[i, j] = pose.translation, pose.rotation
            tracks.velocities[i, j] = pinocchio.getFrameVelocity(model, data, frame, axes).linear
    return tracks


def true(recording: Recording, name: str) -> Array:
    """The true states ("q" or "v") where they were recorded, else the measured ones."""
    measured = np.asarray(recording[name])
    if f"true/{name}" not in recording:
        return measured
    truth = recording[f"true/{name}"]
    return np.where(np.isnan(truth), measured, truth)


def _lowest(heights: Array) -> Array:
    """The smallest number of each row; NaN where there is none."""
    least = np.where(np.isnan(heights), np.inf, heights).min(axis=1, initial=np.inf)
    return np.where(np.isfinite(least), least, np.nan)
