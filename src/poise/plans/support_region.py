"""Support region: where the ground can push while given feet stand, and margins of points to its edge."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from poise.arrays import Array
from poise.geometry import convex_hull, polygon
from poise.plans.footsteps import Footstep, GaitPhase
from poise.plans.gait_parameters import BodyDimensions

#: Feet at heights that differ by less are on one plane (m): their region is good to a hundredth of that.
LEVEL_TOLERANCE = 1e-4


def sole_corners(foot: Footstep, half: tuple[float, float], margin: float) -> list[tuple[float, float, float]]:
    """Of a sole, shrunk by a margin on all sides (m)."""
    shrunk = complex(half[0] - margin, half[1] - margin)
    return [(corner.real, corner.imag, foot.z) for corner in foot.corners(shrunk)]


class SupportRegion:
    """The region of one phase.

    Args:
        feet: on the ground, one or two.
        half, margin: of their soles (m).

    Attributes:
        is_level: whether all of it is at one height; else it is seen from the centre of mass, in perspective.
        ground: the height at which zero moment points are meant (m).
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
        """How far inside points are (m, n), negative outside.

        On feet of different heights the line of the force must pass through the hull of all contact points: seen from
        the centre of mass, corners are moved to the plane of the zero moment point in perspective.

        Args:
            zmp: on the plane at the height `ground` (m, n x 2).
            center: centre of mass (m, n x 3).
        """
        if self.is_level:
            return np.asarray((self._offsets - zmp @ self._normals).min(axis=1))
        c = center[:, None, :]
        scale = (c[..., 2] - self.ground) / (c[..., 2] - self._points[None, :, 2])
        projected = c[..., :2] + (self._points[None, :, :2] - c[..., :2]) * scale[..., None]
        return _margins(projected, zmp)

    @property
    def edges(self) -> tuple[Array, Array]:
        """Outward normals (k, 2) and offsets (k) of a level region: inside is ``n·z <= b``."""
        return self._normals.T, self._offsets

    def margin(self, point: Array, center: Array) -> float:
        """The same for one point."""
        return float(self.margins(np.asarray(point)[None, :2], np.asarray(center)[None])[0])


def _margins(sole_corners: Array, points: Array) -> Array:
    """Distance of points (n, 2) to the edges of the hulls of corners (n, k, 2), negative outside.

    No hull is built: of all lines through two corners those with every corner on one side are its edges.
    """
    k = sole_corners.shape[1]
    i, j = np.triu_indices(k, 1)
    edge = sole_corners[:, j] - sole_corners[:, i]
    length = np.hypot(edge[..., 0], edge[..., 1])
    normal = np.stack([edge[..., 1], -edge[..., 0]], axis=-1) / np.maximum(length, 1e-12)[..., None]
    offset = np.einsum("npk,npk->np", normal, sole_corners[:, i])
    side = np.einsum("npk,nck->npc", normal, sole_corners) - offset[..., None]
    here = np.einsum("npk,nk->np", normal, points) - offset
    outer, inner = (side <= 1e-9).all(axis=2), (side >= -1e-9).all(axis=2)
    gaps = np.where(outer, -here, np.where(inner, here, np.inf))
    gaps[length < 1e-9] = np.inf
    return np.asarray(gaps.min(axis=1))


# -- Soles in stance: where the ground can push ----------------------------------------------------------------------


#: The pressure is kept this far inside the soles: a sole is a little smaller than it looks.
USABLE_SHARE = 0.95


class StanceSoles:
    """The soles that stand in a phase: rectangles around the places of the feet.

    Args:
        body: how long and wide a sole is.
        phase: its feet do not move while it lasts.
    """

    def __init__(self, body: BodyDimensions, phase: GaitPhase) -> None:
        self.support, self.single = phase.support, phase.kind == "single"
        self.half = 0.5 * USABLE_SHARE * complex(*body.sole_size)
        sole_corners = [corner for step in phase.stance_feet for corner in step.corners(self.half)]
        self.polygon = polygon.convex_hull([(corner.real, corner.imag) for corner in sole_corners])

    def project(self, z: complex) -> complex:
        """The nearest point where the ground can push."""
        if self.single:
            heading = self.support.heading
            offset, half = (z - self.support.place) * heading.conjugate(), self.half
            x = min(max(offset.real, -half.real), half.real)
            y = min(max(offset.imag, -half.imag), half.imag)
            return self.support.place + complex(x, y) * heading
        x, y = polygon.project(self.polygon, (z.real, z.imag))
        return complex(x, y)

    def margin(self, point: complex) -> float:
        """How far inside the soles a point is (m); negative outside."""
        if self.single:
            offset = (point - self.support.place) * self.support.heading.conjugate()
            dx, dy = self.half.real - abs(offset.real), self.half.imag - abs(offset.imag)
            return min(dx, dy) if dx >= 0.0 or dy >= 0.0 else -abs(complex(dx, dy))
        return float(polygon.margin(self.polygon, (point.real, point.imag)))
