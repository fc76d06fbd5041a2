"""Distances between bodies of a robot, as capsules (compiled) or convex hulls (coal), with Jacobians and drifts.

A capsule is a segment with center c, half axis h and a radius. Between two of them, i and j, the segments are nearest
at ``p_i = c_i + s h_i`` and ``p_j = c_j + t h_j`` with s and t in [-1, 1], and the gap is

    d = |p_i - p_j| - r_i - r_j        in m, negative if they overlap

With n the unit vector from p_j to p_i, its rate is ``n · (velocity of p_i on body i - velocity of p_j on body j)``: the
rates of s and t have no effect, since d is minimal in them. Implemented in `native/motion/capsules.hpp`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pinocchio

from poise.arrays import Array
from poise.extras import coal, scipy
from poise.robots import Capsule
from poise.state import Snapshot, _motion
from poise.tasks import TaskRows, Writer


class CapsulePairs:
    """Pairs of capsules and the joints that carry them: all data that is independent of the configuration.

    Args:
        model: pinocchio model.
        capsules: all capsules of the robot.
        pairs: indices of capsules, P x 2.

    Attributes:
        joints: indices of the joints that carry a capsule of some pair.
        compiled: the pairs in compiled form.
    """

    def __init__(self, model: Any, capsules: Sequence[Capsule], pairs: Sequence[tuple[int, int]]) -> None:
        indices = sorted({index for pair in pairs for index in pair})
        used_capsules = [capsules[index] for index in indices]
        self.joints = sorted({capsule.joint for capsule in used_capsules})
        self.pair_count, self.capsule_count = len(pairs), len(used_capsules)
        first, second = np.searchsorted(indices, np.array(pairs, dtype=np.int32).reshape(-1, 2).T).astype(np.int32)
        self.compiled = _motion.CapsulePairs(
            center=np.array([capsule.center for capsule in used_capsules]).reshape(-1, 3),
            half_axis=np.array([capsule.half_axis for capsule in used_capsules]).reshape(-1, 3),
            radius=np.array([capsule.radius for capsule in used_capsules], dtype=np.float64),
            carrier=np.array([self.joints.index(capsule.joint) for capsule in used_capsules], dtype=np.int32),
            first=first,
            second=second,
        )
        self._tree = {
            "parents": np.array(model.parents, dtype=np.int32),
            "columns": np.array(model.idx_vs, dtype=np.int32),
            "counts": np.array(model.nvs, dtype=np.int32),
        }

    def tree(self, J: Array, v: Array) -> _motion.JointTree:
        """Return the tree that computes body velocities from v and the joint twists J at the world origin (6 x nv)."""
        return _motion.JointTree(J, v, **self._tree)

    def place(self, R: Sequence[Array], p: Sequence[Array]) -> Array:
        """Return center and half axis of all capsules (B x 6, m) from rotations R and positions p of their `joints`."""
        X = np.empty((self.capsule_count, 6))
        self.compiled.place(list(R), list(p), X)
        return X

    def measure(self, X: Array) -> tuple[Array, Array, Array]:
        """Return (d, s, t) of all pairs for capsules at X, as returned by `place`."""
        d, s, t = (np.empty(self.pair_count) for _ in range(3))
        self.compiled.measure(X, d, s, t)
        return d, s, t


# -- Nearest pairs ---------------------------------------------------------------------------------------------------


class NearestPairs:
    """Gaps of the K nearest pairs, bound to the memory of a snapshot; `update` computes them at the current state.

    Compiled, see `native/motion/collision.hpp`: it writes into the arrays below, which are never reallocated.

    Attributes:
        pair: index of the pair of each row; a pair keeps its row while it is among the nearest.
        gap: gap d of each row, m.
        normal: n, K x 3, from the second body to the first; always of unit length.
        first, second: nearest points, K x 3 (m): on the axes of the capsules, or on the surfaces of the hulls.

    >>> nearest = NearestPairs(snapshot, CapsulePairs(robot.model, capsules(robot), pairs), rows=64)
    >>> nearest.update()
    """

    def __init__(self, snapshot: Snapshot, pairs: CapsulePairs, rows: int) -> None:
        self.snapshot, self.rows = snapshot, rows  # keep the snapshot alive: its memory is read
        self.pair = np.zeros(rows, dtype=np.int32)
        self.gap = np.zeros(rows)
        self.normal, self.first, self.second = (np.zeros((rows, 3)) for _ in range(3))
        poses = [snapshot.data.oMi[joint] for joint in pairs.joints]
        self._compiled = _motion.GapRows(
            pairs=pairs.compiled,
            rotations=[pose.rotation for pose in poses],
            positions=[pose.translation for pose in poses],
            joints=np.array(pairs.joints, dtype=np.int32),
            tree=pairs.tree(snapshot.data.J, snapshot.v),
            pair=self.pair,
            gap=self.gap,
            normal=self.normal,
            first=self.first,
            second=self.second,
        )

    def update(self) -> None:
        """Compute the gaps at the state of the snapshot and assign rows to the nearest pairs."""
        self._compiled.update()

    def jacobian(self, out: Array) -> None:
        """Write J with ``ḋ = J v``, K x nv."""
        self._compiled.jacobian(out)

    def drift(self, out: Array) -> None:
        """Write ``J̇ v``, the accelerations of the gaps for v̇ = 0 (m/s²)."""
        self._compiled.drift(out)

    def writers(self, task_rows: TaskRows, min_gaps: Array, influence: float) -> Sequence[Writer]:
        """Return the writers of rows and drift: gaps below `influence` stay above the `min_gaps` of their pairs (m)."""
        writer = _motion.GapWriter(
            self._compiled, min_gaps, influence, task_rows.error, task_rows.low, task_rows.A, task_rows.drift
        )
        return writer.write, writer.write_drift


# -- Convex hulls of links, by coal ----------------------------------------------------------------------------------


#: Time step (s) forward and back of the finite difference of gap rates: long enough that the tolerance of coal has
#: little effect (below 0.01 m/s²), short enough that bodies move a few millimeters at most.
DIFFERENCE_STEP = 1e-3
#: Limit of the drift of a gap from the rotation of its normal, m/s²; the same as for capsules.
MAX_TURNING_DRIFT: float = _motion.MAX_TURNING_DRIFT
#: Tolerance of distances computed by coal, m.
DISTANCE_TOLERANCE = 1e-8


class ClosestPoints(NamedTuple):
    """Gap of two hulls (m, negative if they overlap), unit normal from the second to the first, and nearest points."""

    gap: float
    normal: Array
    first: Array
    second: Array


class Hull:
    """Convex hull of the shape that a capsule encloses, for coal, in the joint frame; flat hulls become 1 mm thick."""

    def __init__(self, capsule: Capsule) -> None:
        self.joint = capsule.joint
        points = capsule.points
        try:
            hull = scipy.spatial.ConvexHull(points)
        except (scipy.spatial.QhullError, ValueError):
            points = (points[:, None, :] + 5e-4 * np.vstack([np.eye(3), -np.eye(3)])).reshape(-1, 3)
            hull = scipy.spatial.ConvexHull(points)
        corners = coal.StdVec_Vec3s()
        corners.extend(list(points[hull.vertices]))
        A, B, C = points[hull.simplices.T]
        outward = np.einsum("ij,ij->i", np.cross(B - A, C - A), hull.equations[:, :3]) > 0.0
        vertex_index = np.zeros(len(points), dtype=int)
        vertex_index[hull.vertices] = np.arange(len(hull.vertices))
        oriented = np.where(outward[:, None], hull.simplices, hull.simplices[:, ::-1])
        faces = coal.StdVec_Triangle()
        faces.extend([coal.Triangle(*face) for face in vertex_index[oriented].tolist()])
        self.shape = coal.Convex(corners, faces)


def hull_distance(a: Hull, world_from_a: pinocchio.SE3, b: Hull, world_from_b: pinocchio.SE3) -> ClosestPoints | None:
    """Return gap, normal and nearest points of two hulls; None if coal fails, e.g. for a contact without a normal."""
    request, result = coal.DistanceRequest(True), coal.DistanceResult()
    request.gjk_tolerance = request.epa_tolerance = DISTANCE_TOLERANCE
    place_a, place_b = (coal.Transform3s(pose.rotation, pose.translation) for pose in (world_from_a, world_from_b))
    try:
        gap = coal.distance(a.shape, place_a, b.shape, place_b, request, result)
    except (RuntimeError, ValueError):
        return None
    normal = -result.normal
    first, second = result.getNearestPoint1(), result.getNearestPoint2()
    is_valid = abs(normal @ normal - 1.0) < 1e-6 and math.isfinite(gap + first.sum() + second.sum())
    return ClosestPoints(gap, normal, first, second) if is_valid else None


class NearestHullPairs(NearestPairs):
    """The pairs with the nearest capsules, with the gaps of their hulls if the gap of the capsules is below `reach`.

    Args:
        snapshot, pairs, rows: as for `NearestPairs`.
        hulls: the hulls of the two bodies of each pair.
        reach: gap of capsules below which the hulls are used, m; a hull lies inside its capsule, so no close pair is
            missed.
    """

    def __init__(
        self, snapshot: Snapshot, pairs: CapsulePairs, rows: int, hulls: Sequence[tuple[Hull, Hull]], reach: float
    ) -> None:
        super().__init__(snapshot, pairs, rows)
        self._hulls, self._reach = hulls, reach
        self._poses = snapshot.data.oMi
        self._hull_rows: list[int] = []

    def update(self) -> None:
        super().update()
        self._hull_rows = []
        for k in np.flatnonzero(self.gap < self._reach):
            a, b = self._hulls[self.pair[k]]
            closest = hull_distance(a, self._poses[a.joint], b, self._poses[b.joint])
            if closest is None:
                continue  # keep the gap of the capsules, which is smaller and therefore safe
            self.gap[k], self.normal[k], self.first[k], self.second[k] = closest
            self._hull_rows.append(int(k))

    def drift(self, out: Array) -> None:
        V_i, V_j = np.empty((self.rows, 6)), np.empty((self.rows, 6))
        self._compiled.body_twists(V_i, V_j, out)
        out += np.clip(self._turning_drift(V_i, V_j), -MAX_TURNING_DRIFT, MAX_TURNING_DRIFT)

    def writers(self, task_rows: TaskRows, min_gaps: Array, influence: float) -> Sequence[Writer]:
        def write() -> None:
            self.update()
            task_rows.error[:] = self.gap
            task_rows.low[:] = np.where(self.gap < influence, min_gaps[self.pair], -np.inf)
            self.jacobian(task_rows.A)

        def write_drift() -> None:
            self.drift(task_rows.drift)

        return write, write_drift

    def _turning_drift(self, V_i: Array, V_j: Array) -> Array:
        """Return d̈ (m/s²) at constant twists V of both bodies, by a central difference of ḋ; 0 if bodies overlap."""
        later, earlier = (self._gap_rates(V_i, V_j, seconds) for seconds in (DIFFERENCE_STEP, -DIFFERENCE_STEP))
        return np.where(np.isfinite(later - earlier), later - earlier, 0.0) / (2.0 * DIFFERENCE_STEP)

    def _gap_rates(self, V_i: Array, V_j: Array, seconds: float) -> Array:
        """Return ḋ (m/s) a time `seconds` from now, of either sign, at constant twists V; NaN if bodies overlap."""
        normal, point = np.full((self.rows, 3), np.nan), np.zeros((self.rows, 3))
        for k in self._hull_rows:
            if self.gap[k] > 0.0:
                a, b = self._hulls[self.pair[k]]
                closest = hull_distance(
                    a, self._pose_after(a, V_i[k], seconds), b, self._pose_after(b, V_j[k], seconds)
                )
                if closest is not None and closest.gap > 0.0:
                    normal[k], point[k] = closest.normal, closest.first
        rates: Array = np.einsum("ij,ij->i", np.hstack([normal, np.cross(point, normal)]), V_i - V_j)
        return rates

    def _pose_after(self, hull: Hull, V: Array, seconds: float) -> pinocchio.SE3:
        return pinocchio.exp6(pinocchio.Motion(seconds * V)) * self._poses[hull.joint]
