"""Support region of the feet on the ground, and margins of points to its edge.

`SupportRegion` handles feet at different heights and many points at once. `StanceSoles` is the version for level ground
and one gait phase, with points as complex numbers x + i y (m).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from poise.arrays import Array
from poise.geometry import convex_hull, polygon
from poise.plans.footsteps import Footstep, GaitPhase
from poise.plans.gait_parameters import BodyDimensions

#: Largest height difference of feet (m) that are treated as level; the error of the region is a hundredth of that.
LEVEL_TOLERANCE = 1e-4


def sole_corners(foot: Footstep, half: tuple[float, float], margin: float) -> list[tuple[float, float, float]]:
    """Return the corners in the world (m) of a sole of half length and half width `half`, shrunk by `margin` (m)."""
    shrunk = complex(half[0] - margin, half[1] - margin)
    return [(corner.real, corner.imag, foot.z) for corner in foot.corners(shrunk)]


class SupportRegion:
    """Support region of one or two feet on the ground.

    Args:
        feet: feet on the ground.
        half, margin: half length and half width of a sole, and margin by which it is shrunk (m).

    Attributes:
        is_level: whether all feet are at one height; if not, the region is projected from the center of mass (CoM).
        ground: height of the plane of the zero moment point (ZMP), that of the first foot (m).
        polygon: convex hull of the corners seen from above (m, k x 2).
    """

    __slots__ = ("_normals", "_offsets", "_points", "ground", "is_level", "polygon")

    def __init__(self, feet: Sequence[Footstep], half: tuple[float, float], margin: float) -> None:
        points = [corner for foot in feet for corner in sole_corners(foot, half, margin)]
        self.ground = feet[0].z
        self.is_level = all(abs(foot.z - self.ground) < LEVEL_TOLERANCE for foot in feet)
        self._points = np.array(points)
        self.polygon = convex_hull([(x, y) for x, y, _ in points])
        edges = np.roll(self.polygon, -1, axis=0) - self.polygon
        self._normals = np.stack([edges[:, 1], -edges[:, 0]]) / np.hypot(edges[:, 0], edges[:, 1])
        self._offsets = np.einsum("ik,ki->i", self.polygon, self._normals)

    def margins(self, zmp: Array, center: Array) -> Array:
        """Return the distances of points inside the nearest edge line of the region (m, n), negative outside.

        With feet at different heights, the line of the contact force must pass through the hull of all contact points:
        the corners are projected from the CoM onto the plane of the ZMP.

        Args:
            zmp: points on the plane at the height `ground` (m, n x 2).
            center: CoM for each point (m, n x 3).
        """
        if self.is_level:
            return np.asarray((self._offsets - zmp @ self._normals).min(axis=1))
        c = center[:, None, :]
        scale = (c[..., 2] - self.ground) / (c[..., 2] - self._points[None, :, 2])
        projected = c[..., :2] + (self._points[None, :, :2] - c[..., :2]) * scale[..., None]
        return _margins(projected, zmp)

    @property
    def edges(self) -> tuple[Array, Array]:
        """Outward normals n (k, 2) and offsets b (k) of the edges of a level region: inside is ``n·z <= b``."""
        return self._normals.T, self._offsets

    def margin(self, point: Array, center: Array) -> float:
        """Return the margin of one point (m), see `margins`."""
        return float(self.margins(np.asarray(point)[None, :2], np.asarray(center)[None])[0])


def _margins(sole_corners: Array, points: Array) -> Array:
    """Return the distances of points (n, 2) to the edges of the hulls of corners (n, k, 2), negative outside.

    No hull is built: its edges are those lines through two corners that have all corners on one side.
    """
    k = sole_corners.shape[1]
    i, j = np.triu_indices(k, 1)
    edge = sole_corners[:, j] - sole_corners[:, i]
    length = np.hypot(edge[..., 0], edge[..., 1])
    normal = np.stack([edge[..., 1], -edge[..., 0]], axis=-1) / np.maximum(length, 1e-12)[..., None]
    offset = np.einsum("npk,npk->np", normal, sole_corners[:, i])
    side = np.einsum("npk,nck->npc", normal, sole_corners) - offset[..., None]
    height = np.einsum("npk,nk->np", normal, points) - offset  # of each point over each line
    outer, inner = (side <= 1e-9).all(axis=2), (side >= -1e-9).all(axis=2)
    gaps = np.where(outer, -height, np.where(inner, height, np.inf))
    gaps[length < 1e-9] = np.inf
    return np.asarray(gaps.min(axis=1))


# -- Soles in stance -------------------------------------------------------------------------------------------------


#: Share of the distance at which the ankle can hold the weight that is used in single support: the robot also brakes.
ANKLE_STRENGTH_SHARE = 0.9
#: Fraction of the length and width of a sole that is used: the effective contact area is smaller than the sole.
USABLE_SHARE = 0.95


class StanceSoles:
    """Support polygon of a gait phase, from rectangular soles reduced to `USABLE_SHARE` of their size.

    Args:
        body: dimensions of the robot, with the size of its soles.
        phase: current phase, whose feet on the ground do not move.
    """

    def __init__(self, body: BodyDimensions, phase: GaitPhase) -> None:
        self.support, self.single = phase.support, phase.kind == "single"
        self.half = 0.5 * USABLE_SHARE * complex(*body.sole_size)
        behind, ahead = (ANKLE_STRENGTH_SHARE * distance for distance in body.ankle_range)
        self._behind, self._ahead = -min(behind, self.half.real), min(ahead, self.half.real)
        sole_corners = [corner for step in phase.stance_feet for corner in step.corners(self.half)]
        self.polygon = polygon.convex_hull([(corner.real, corner.imag) for corner in sole_corners])

    def project(self, z: complex) -> complex:
        """Return the point of the support polygon nearest to `z` (m)."""
        if self.single:
            heading = self.support.heading
            offset, half = (z - self.support.place) * heading.conjugate(), self.half
            x = min(max(offset.real, self._behind), self._ahead)
            y = min(max(offset.imag, -half.imag), half.imag)
            return self.support.place + complex(x, y) * heading
        x, y = polygon.project(self.polygon, (z.real, z.imag))
        return complex(x, y)

    def margin(self, point: complex) -> float:
        """Return the distance of a point from the edge of the support polygon (m); negative outside."""
        if self.single:
            offset = (point - self.support.place) * self.support.heading.conjugate()
            dx, dy = self.half.real - abs(offset.real), self.half.imag - abs(offset.imag)
            return min(dx, dy) if dx >= 0.0 or dy >= 0.0 else -abs(complex(dx, dy))
        return float(polygon.margin(self.polygon, (point.real, point.imag)))
