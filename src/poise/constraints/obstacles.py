"""Obstacles in the world, also moving ones: the constraint `ObstacleDistance`, with distances by coal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio
from numpy.typing import ArrayLike

from poise.arrays import Array
from poise.constraints.collision import capsule_indices
from poise.constraints.distances import DISTANCE_TOLERANCE, MAX_TURNING_DRIFT
from poise.errors import TaskError
from poise.extras import coal
from poise.parsing import format_value
from poise.robots import Capsule, Frame, Robot, capsules
from poise.state import Snapshot
from poise.tasks import (
    Decay,
    MotionTask,
    TaskDynamics,
    check_task_number,
    check_task_positive,
    check_task_vector,
)

#: Gap of rows without a pair (m): farther away than anything that matters.
NO_PAIR = 100.0


class Obstacle:
    """A box, ball or capsule in the world, at rest or moved by the caller.

    Make one with `box`, `ball` or `capsule`.

    Attributes:
        name: name in explanations.
        pose: world_from_obstacle; `twist`: its velocity in world axes, linear part at its origin first (m/s, rad/s).

    >>> door = Obstacle.box((0.04, 0.8, 2.0), pinocchio.SE3(np.eye(3), np.array([1.0, 0.0, 1.0])), name="door")
    >>> door.move(pose, twist)  # at every tick
    """

    def __init__(self, shape: Any, radius: float, pose: Any, name: str) -> None:
        self.shape, self.radius, self.name = shape, radius, name
        self.pose, self.twist = pinocchio.SE3.Identity(), np.zeros(6)
        self.move(pose)

    @classmethod
    def box(cls, size: ArrayLike, pose: Any, name: str = "box") -> Obstacle:
        """Return a box with edges of these lengths (m, 3), its center at the pose."""
        edges = check_task_vector(size, 3, "size", name)
        if not (edges > 0.0).all():
            raise TaskError(f"{name}: size is {format_value(size)}; expected three positive lengths in m", name)
        return cls(coal.Box(*edges), 0.5 * float(np.linalg.norm(edges)), pose, name)

    @classmethod
    def ball(cls, radius: float, pose: Any, name: str = "ball") -> Obstacle:
        """Return a ball of this radius (m), its center at the pose or point."""
        return cls(coal.Sphere(check_task_positive(radius, "radius", name)), float(radius), pose, name)

    @classmethod
    def capsule(cls, radius: float, length: float, pose: Any, name: str = "capsule") -> Obstacle:
        """Return all points within a radius (m) of a segment of a length (m) along z, its middle at the pose."""
        radius, length = check_task_positive(radius, "radius", name), check_task_positive(length, "length", name)
        return cls(coal.Capsule(radius, length), radius + 0.5 * length, pose, name)

    def move(self, pose: Any, twist: ArrayLike | None = None) -> None:
        """Set pose (or point, m) and velocity; without a twist it is at rest."""
        if not isinstance(pose, pinocchio.SE3):
            point = check_task_vector(pose, 3, "pose", self.name)
            pose = pinocchio.SE3(self.pose.rotation, point)
        if not np.isfinite(pose.homogeneous).all():
            raise TaskError(f"{self.name}: its pose has NaN or infinite entries; give a finite pose", self.name)
        self.pose = pose
        self.twist = np.zeros(6) if twist is None else check_task_vector(twist, 6, "twist", self.name)

    def __repr__(self) -> str:
        return f"Obstacle({self.name})"


@dataclass(frozen=True, eq=False)
class _Gaps:
    """Gaps of the nearest pairs at one state: d, n (from the obstacle to the body), points, bodies and obstacles."""

    gap: Array
    normal: Array
    point: Array
    pairs: tuple[tuple[int, int], ...]


class ObstacleDistance(MotionTask):
    """Keep bodies of the robot at a distance from obstacles, which may move.

    The error of a row is the gap d between a body, as the capsule around its shape, and an obstacle (m, negative if
    they overlap). It stays above `distance` and, with g the gain of the task dynamics, shrinks no faster than
    ``ḋ >= -g (d - distance)``. With n the unit vector from the obstacle to the nearest point p of the body::

        ḋ = n · (velocity of p on the body - velocity of the obstacle there)

    The velocity of the obstacle is the rate of the target. The drift is a central difference along the motion.

    Args:
        robot: robot with shapes.
        obstacles: boxes, balls and capsules.
        distance: smallest gap (m).
        links: bodies that keep it, as links, frames or their names; None: all.
        rows: largest number of pairs of a body and an obstacle, the nearest ones.
        dynamics: task dynamics of the approach.

    >>> always = [constraints.ObstacleDistance(robot, [Obstacle.ball(0.1, (0.5, 0.2, 1.0))], distance=0.03)]
    """

    unit = "m"
    curvature = 0.0

    def __init__(
        self,
        robot: Robot,
        obstacles: Sequence[Obstacle],
        distance: float = 0.02,
        links: Sequence[Any] | None = None,
        rows: int = 8,
        weight: ArrayLike = 1.0,
        dynamics: TaskDynamics | None = None,
        name: str = "obstacle distance",
    ) -> None:
        self.distance = check_task_number(distance, "distance", name)
        self.obstacles = tuple(obstacles)
        if not self.obstacles or not all(isinstance(each, Obstacle) for each in self.obstacles):
            raise TaskError(f"{name}: obstacles is {format_value(obstacles)}; expected [Obstacle.box(...), ...]", name)
        if isinstance(rows, bool) or not isinstance(rows, int) or rows < 1:
            raise TaskError(f"{name}: rows is {format_value(rows)}; expected a positive whole number", name)
        bodies = capsules(robot)
        chosen: Sequence[int] = range(len(bodies))
        if links is not None:
            chosen = sorted({index for link in links for index in capsule_indices(robot, link, name)})
        self.bodies: tuple[Capsule, ...] = tuple(bodies[index] for index in chosen)
        self.row_count = min(rows, len(self.bodies) * len(self.obstacles))
        super().__init__(name, weight, (self.distance, np.inf), dynamics or Decay(10.0), self.row_count)
        self.robot: Robot = robot
        self._frames: tuple[Frame, ...] = tuple(robot.frame(body.name) for body in self.bodies)
        self._shapes = [coal.Capsule(body.radius, 2.0 * float(np.linalg.norm(body.half_axis))) for body in self.bodies]
        self._joint_from_shape = [pinocchio.SE3(_rotation_to(body.half_axis), body.center) for body in self.bodies]
        self._reach = np.array([body.radius + np.linalg.norm(body.half_axis) for body in self.bodies])
        self._request = coal.DistanceRequest(True)
        self._request.gjk_tolerance = self._request.epa_tolerance = DISTANCE_TOLERANCE
        self._last: tuple[Any, tuple[Any, ...], _Gaps] | None = None

    def labels(self, robot: Robot) -> tuple[str, ...]:
        if robot.name != self.robot.name:
            raise TaskError(
                f"{self.name}: made for {self.robot.name}, not for {robot.name}; build a new one", self.name
            )
        if self.row_count == len(self.bodies) * len(self.obstacles):
            return tuple(f"{body.name} - {each.name}" for body in self.bodies for each in self.obstacles)
        return tuple(f"near pair {i}" for i in range(self.row_count))

    def frames(self) -> tuple[Frame, ...]:
        return self._frames

    # -- error and rows --------------------------------------------------------------------------------------------

    def value(self, snapshot: Snapshot) -> Array:
        return self._gaps(snapshot).gap

    def jacobian(self, snapshot: Snapshot) -> Array:
        return self._rows(snapshot, self._gaps(snapshot))

    def _rows(self, snapshot: Snapshot, gaps: _Gaps) -> Array:
        J = np.zeros((self.row_count, snapshot.model.nv))
        for row, (body, _) in enumerate(gaps.pairs):
            frame = self._frames[body]
            full, arm = snapshot.jacobian(frame), gaps.point[row] - snapshot.position(frame)
            n = gaps.normal[row]
            J[row] = n @ full[:3] + np.cross(arm, n) @ full[3:]
        return J

    def drift(self, snapshot: Snapshot) -> Array:
        gaps, carried = self._gaps(snapshot), np.zeros(self.row_count)
        for row, (body, _) in enumerate(gaps.pairs):
            frame = self._frames[body]
            acceleration, w = snapshot.drift(frame), snapshot.velocity(frame)[3:]
            arm = gaps.point[row] - snapshot.position(frame)
            carried[row] = gaps.normal[row] @ (
                acceleration[:3] + np.cross(acceleration[3:], arm) + np.cross(w, np.cross(w, arm))
            )
        later, earlier, seconds = snapshot.stencil()
        after, before = (self._rows(side, self._measure(side, gaps.pairs)) @ side.v for side in (later, earlier))
        turning: Array = np.clip((after - before) / seconds - carried, -MAX_TURNING_DRIFT, MAX_TURNING_DRIFT)
        return carried + turning

    def target_rate(self, time: float) -> Array | None:
        """Return the rate of each gap that the motion of its obstacle alone takes away (m/s)."""
        rates = np.zeros(self.row_count)
        if self._last is not None:
            gaps = self._last[2]
            for row, (_, index) in enumerate(gaps.pairs):
                obstacle = self.obstacles[index]
                arm = gaps.point[row] - gaps.gap[row] * gaps.normal[row] - obstacle.pose.translation
                rates[row] = gaps.normal[row] @ (obstacle.twist[:3] + np.cross(obstacle.twist[3:], arm))
        return rates

    def gaps(self, snapshot: Snapshot) -> dict[tuple[str, str], float]:
        """Return the nearest pairs of a link and an obstacle with their gaps (m)."""
        gaps = self._gaps(snapshot)
        named = ((self.bodies[body].name, self.obstacles[index].name) for body, index in gaps.pairs)
        return dict(zip(named, gaps.gap.tolist(), strict=False))

    def _gaps(self, snapshot: Snapshot) -> _Gaps:
        """Return the gaps of the nearest pairs, measured once per state."""
        places = tuple(each.pose for each in self.obstacles)
        if self._last is None or self._last[0] is not snapshot.state or self._last[1] != places or not snapshot.state:
            self._last = (snapshot.state, places, self._measure(snapshot))
        return self._last[2]

    def _measure(self, snapshot: Snapshot, pairs: tuple[tuple[int, int], ...] | None = None) -> _Gaps:
        """Measure the gaps of some pairs of a body and an obstacle; None: the nearest ones."""
        world_from_shape = [
            snapshot.pose(frame) * snapshot.model.frames[frame.index].placement.inverse() * joint_from_shape
            for frame, joint_from_shape in zip(self._frames, self._joint_from_shape, strict=True)
        ]
        pairs = self._nearest(world_from_shape) if pairs is None else pairs
        gap = np.full(self.row_count, NO_PAIR)
        normal, point = np.tile([0.0, 0.0, 1.0], (self.row_count, 1)), np.zeros((self.row_count, 3))
        for row, (body, index) in enumerate(pairs):
            measured = self._distance(body, world_from_shape[body], self.obstacles[index])
            if measured is not None:
                gap[row], normal[row], point[row] = measured
        return _Gaps(gap, normal, point, pairs)

    def _nearest(self, world_from_shape: Sequence[pinocchio.SE3]) -> tuple[tuple[int, int], ...]:
        """Return the pairs of a body and an obstacle whose enclosing balls are nearest, in a fixed order."""
        centers = np.array([pose.translation for pose in world_from_shape])
        others = np.array([each.pose.translation for each in self.obstacles])
        radii = np.array([each.radius for each in self.obstacles])
        apart = np.linalg.norm(centers[:, None] - others, axis=2) - self._reach[:, None] - radii
        nearest = np.sort(np.argsort(apart, axis=None, kind="stable")[: self.row_count])
        return tuple(divmod(flat, len(self.obstacles)) for flat in nearest.tolist())

    def _distance(self, body: int, pose: pinocchio.SE3, obstacle: Obstacle) -> tuple[float, Array, Array] | None:
        """Return gap, normal and nearest point on the body; None if coal fails."""
        result = coal.DistanceResult()
        place, other = (coal.Transform3s(each.rotation, each.translation) for each in (pose, obstacle.pose))
        try:
            gap = float(coal.distance(self._shapes[body], place, obstacle.shape, other, self._request, result))
        except (RuntimeError, ValueError):
            return None
        normal, point = -np.array(result.normal), np.array(result.getNearestPoint1())
        valid = abs(normal @ normal - 1.0) < 1e-6 and math.isfinite(gap + point.sum())
        return (gap, normal, point) if valid else None


def _rotation_to(axis: Array) -> Array:
    """Return a rotation that turns z into a direction."""
    if not axis.any():
        return np.eye(3)
    turn = pinocchio.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), axis / np.linalg.norm(axis))
    return np.asarray(turn.toRotationMatrix())
