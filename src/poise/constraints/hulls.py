"""Hulls: distances between the convex hulls of links, by coal; slower than capsules, and as slim as the meshes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import coal  # type: ignore[import-untyped]
import numpy as np
import pinocchio
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, QhullError

from poise.constraints.gaps import Gaps
from poise.constraints.nearest import Nearest
from poise.robots.capsules import Capsule
from poise.state import Snapshot, _motion  # type: ignore[attr-defined]
from poise.tasks.layout import Memory
from poise.tasks.task import Writer

Array = NDArray[np.float64]

#: Seconds that bodies are moved ahead and back to see how their gap turns: long enough that coal's tolerance does not
#: show (below 0.01 m/s²), short enough that bodies move a few millimetres at most.
STEP = 1e-3
#: What the turning of a pair may add to the drift of its gap, m/s²; that of capsules.
GREATEST_TURNING: float = _motion.GREATEST_TURNING
#: coal stops when its answer is this good, m.
TOLERANCE = 1e-8


class Meeting(NamedTuple):
    """Where two hulls are nearest: the gap (m, negative where they overlap), n from the second to the first, points."""

    gap: float
    normal: Array
    first: Array
    second: Array


class Hull:
    """The convex hull of what a capsule holds, as a shape of coal in its joint's frame; flat ones get a millimetre."""

    def __init__(self, capsule: Capsule) -> None:
        self.joint = capsule.joint
        points = capsule.points
        try:
            hull = ConvexHull(points)
        except (QhullError, ValueError):
            points = (points[:, None, :] + 5e-4 * np.vstack([np.eye(3), -np.eye(3)])).reshape(-1, 3)
            hull = ConvexHull(points)
        corners = coal.StdVec_Vec3s()
        corners.extend(list(points[hull.vertices]))
        A, B, C = points[hull.simplices.T]
        outward = np.einsum("ij,ij->i", np.cross(B - A, C - A), hull.equations[:, :3]) > 0.0
        number = np.zeros(len(points), dtype=int)
        number[hull.vertices] = np.arange(len(hull.vertices))
        turned = np.where(outward[:, None], hull.simplices, hull.simplices[:, ::-1])
        faces = coal.StdVec_Triangle()
        faces.extend([coal.Triangle(*face) for face in number[turned].tolist()])
        self.shape = coal.Convex(corners, faces)


def between(a: Hull, world_from_a: pinocchio.SE3, b: Hull, world_from_b: pinocchio.SE3) -> Meeting | None:
    """Where two hulls are nearest; None if coal cannot tell, as when they touch in a point and have no direction."""
    request, result = coal.DistanceRequest(True), coal.DistanceResult()
    request.gjk_tolerance = request.epa_tolerance = TOLERANCE
    place_a, place_b = (coal.Transform3s(pose.rotation, pose.translation) for pose in (world_from_a, world_from_b))
    try:
        gap = coal.distance(a.shape, place_a, b.shape, place_b, request, result)
    except (RuntimeError, ValueError):
        return None
    normal = -result.normal
    first, second = result.getNearestPoint1(), result.getNearestPoint2()
    known = abs(normal @ normal - 1.0) < 1e-6 and math.isfinite(gap + first.sum() + second.sum())
    return Meeting(gap, normal, first, second) if known else None


class NearestHulls(Nearest):
    """The pairs whose capsules are nearest, with the gaps of their hulls where the capsules are within reach.

    Args:
        snapshot, gaps, rows: as for `Nearest`.
        hulls: of the two bodies of each pair.
        reach: gaps of capsules up to which coal is asked, m; a hull lies inside its capsule, so none is missed.
    """

    def __init__(
        self, snapshot: Snapshot, gaps: Gaps, rows: int, hulls: Sequence[tuple[Hull, Hull]], reach: float
    ) -> None:
        super().__init__(snapshot, gaps, rows)
        self._hulls, self._reach = hulls, reach
        self._poses = snapshot.data.oMi
        self._looked: list[int] = []

    def update(self) -> None:
        super().update()
        self._looked = []
        for k in np.flatnonzero(self.gap < self._reach):
            a, b = self._hulls[self.pair[k]]
            met = between(a, self._poses[a.joint], b, self._poses[b.joint])
            if met is None:
                continue  # what is known of the capsules is on the safe side
            self.gap[k], self.normal[k], self.first[k], self.second[k] = met
            self._looked.append(int(k))

    def drift(self, out: Array) -> None:
        V_i, V_j = np.empty((self.rows, 6)), np.empty((self.rows, 6))
        self._compiled.carry(V_i, V_j, out)
        out += np.clip(self._turning(V_i, V_j), -GREATEST_TURNING, GREATEST_TURNING)

    def writers(self, memory: Memory, wanted: Array, influence: float) -> Sequence[Writer]:
        def write() -> None:
            self.update()
            memory.error[:] = self.gap
            memory.low[:] = np.where(self.gap < influence, wanted[self.pair], -np.inf)
            self.jacobian(memory.A)

        def write_drift() -> None:
            self.drift(memory.drift)

        return write, write_drift

    def _turning(self, V_i: Array, V_j: Array) -> Array:
        """d̈ while both bodies keep their twists: the difference of ḋ, STEP ahead and back; 0 where they overlap."""
        ahead, back = (self._rates(V_i, V_j, seconds) for seconds in (STEP, -STEP))
        return np.where(np.isfinite(ahead - back), ahead - back, 0.0) / (2.0 * STEP)

    def _rates(self, V_i: Array, V_j: Array, seconds: float) -> Array:
        """ḋ some seconds from now, if all bodies keep their twists; NaN where it cannot be told."""
        normal, point = np.full((self.rows, 3), np.nan), np.zeros((self.rows, 3))
        for k in self._looked:
            if self.gap[k] > 0.0:
                a, b = self._hulls[self.pair[k]]
                met = between(a, self._moved(a, V_i[k], seconds), b, self._moved(b, V_j[k], seconds))
                if met is not None and met.gap > 0.0:
                    normal[k], point[k] = met.normal, met.first
        return np.einsum("ij,ij->i", np.hstack([normal, np.cross(point, normal)]), V_i - V_j)

    def _moved(self, hull: Hull, V: Array, seconds: float) -> pinocchio.SE3:
        return pinocchio.exp6(pinocchio.Motion(seconds * V)) * self._poses[hull.joint]
