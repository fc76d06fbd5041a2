"""Contact quality of a motion: support polygon, margin of the ZMP, ground penetration, foot sliding.

Agreement of ranges of motion is a weak criterion of a gait, because curves interpolated between a few postures also
reproduce them. These measures check physical consistency. An undefined measure, for example of zero frames, is NaN and
not an error.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from poise.analysis.signals import true_intervals
from poise.arrays import Array
from poise.errors import GaitError
from poise.geometry import convex_hull, margin


class PenetrationDepth(NamedTuple):
    """Penetration of the ground: largest depth (m), mean over time of the deepest point (m), share of time (0 to 1)."""

    worst: float
    mean: float
    share: float


class TrajectoryDistance(NamedTuple):
    """Distance between two trajectories, m: root mean square over time, and maximum."""

    root_mean_square: float
    worst: float


def support_polygons(points: ArrayLike, touching: ArrayLike) -> list[Array]:
    """Compute the convex hull of the points in contact, one polygon (k, 2) per frame; empty in flight.

    Args:
        points: (n, points, 2 or 3), m, for example the corners of both soles.
        touching: (n, points), bool, whether each point touches the ground.
    """
    p, contact = np.asarray(points, dtype=np.float64), np.asarray(touching, dtype=bool)
    if p.ndim != 3 or p.shape[2] not in (2, 3) or contact.shape != p.shape[:2]:
        raise GaitError(
            f"points of shape {p.shape} and touching of shape {contact.shape}; expected (n, points, 3) and (n, points)"
        )
    return [convex_hull(frame_points[mask, :2]) for frame_points, mask in zip(p, contact, strict=True)]


def polygon_margins(points: ArrayLike, polygons: Sequence[ArrayLike], corners: int = 1) -> Array:
    """Compute how far a point, for example the ZMP, is inside the polygon of its frame, n, m; negative outside.

    NaN for frames without a polygon or without a point.

    Args:
        points: (n, 2 or more), m; only x and y are used.
        polygons: n polygons (k, 2), m.
        corners: smallest number of corners of a valid polygon; 3 excludes point and line contacts.

    >>> polygon_margins([[0.5, 0.4], [3.0, 0.5]], [square, square])
    array([ 0.4, -2. ])
    """
    p = np.asarray(points, dtype=np.float64)
    if p.ndim != 2 or p.shape[1] < 2 or len(p) != len(polygons):
        raise GaitError(
            f"points of shape {p.shape} for {len(polygons)} polygons; expected (n, 2) and one polygon for each"
        )
    margins = np.full(len(p), np.nan)
    for i, (point, hull) in enumerate(zip(p[:, :2], polygons, strict=True)):
        if len(np.asarray(hull)) >= corners and np.isfinite(point).all():
            margins[i] = float(margin(hull, point))
    return margins


def share_inside(points: ArrayLike, polygons: Sequence[ArrayLike], tolerance: float = 0.0) -> float:
    """Return the share of time (0 to 1) in which a point is inside its polygon, or outside by at most a tolerance (m).

    Frames without a polygon or without a point are ignored.
    """
    known = polygon_margins(points, polygons)
    known = known[np.isfinite(known)]
    return float(np.mean(known >= -tolerance)) if len(known) else math.nan


def ground_penetration(heights: ArrayLike, ground: ArrayLike = 0.0) -> PenetrationDepth:
    """Measure how far points under the feet are below the ground.

        depth(t) = max over points of max(0, z_ground - z(t))

    Args:
        heights: (n,) or (n, points), m.
        ground: height of the ground, m, one number or one per point, because the soles of a scaled model may be a few
            millimeters off the floor.
    """
    z = np.asarray(heights, dtype=np.float64)
    z = z[:, np.newaxis] if z.ndim == 1 else z
    depth = np.maximum(np.asarray(ground, dtype=np.float64) - z, 0.0)
    depth = depth[np.isfinite(depth).all(axis=1)]
    if not depth.size:
        return PenetrationDepth(math.nan, math.nan, math.nan)
    deepest = depth.max(axis=1)
    return PenetrationDepth(float(deepest.max()), float(deepest.mean()), float(np.mean(deepest > 0.0)))


def sliding_distance(positions: ArrayLike, standing: ArrayLike) -> float:
    """Return the largest distance that a stance point slides along the ground, m; NaN without a stance.

        slide of one stance = max over t of |p_xy(t) - p_xy(begin of the stance)|

    Args:
        positions: (n, 2 or 3), m.
        standing: n, bool, whether the point is in stance.

    >>> sliding_distance([[0.0, 0.0], [0.003, 0.004], [0.9, 0.0]], [True, True, False])
    0.005
    """
    p, stance = np.asarray(positions, dtype=np.float64)[:, :2], np.asarray(standing, dtype=bool)
    if stance.shape != (len(p),):
        raise GaitError(f"standing of shape {stance.shape} for {len(p)} positions; expected one for each")
    slides = [
        float(np.nanmax(np.hypot(*(p[begin:end] - p[begin]).T)))
        for begin, end in true_intervals(stance)
        if np.isfinite(p[begin]).all()
    ]
    return max(slides) if slides else math.nan


def trajectory_distance(track: ArrayLike, reference: ArrayLike) -> TrajectoryDistance:
    """Measure the distance of a trajectory from a reference, for example heels (n, 2) or centers of mass (n, 3), m.

    root mean square = sqrt(mean over t of |x - x_ref|²)
    """
    x, y = np.asarray(track, dtype=np.float64), np.asarray(reference, dtype=np.float64)
    if x.shape != y.shape:
        raise GaitError(f"trajectories of shapes {x.shape} and {y.shape}; expected the same shape")
    squares = np.sum((x - y) ** 2, axis=tuple(range(1, x.ndim)))
    squares = squares[np.isfinite(squares)]
    if not len(squares):
        return TrajectoryDistance(math.nan, math.nan)
    return TrajectoryDistance(float(np.sqrt(squares.mean())), float(np.sqrt(squares.max())))
