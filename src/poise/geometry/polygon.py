"""Convex polygons in the plane, and regions that are known by their support in any direction.

A polygon is an array (k, 2) of its vertices in metres, counterclockwise, as `convex_hull` returns them. It may be a
segment (2 vertices), a point (1) or empty (0), and vertices may coincide or stand in line: a robot on one toe or in the
air is no error. `margin` and `project` trust the order of the vertices; the others take the hull of what they get.

Polygons of feet have about eight vertices, for which loops over plain floats are several times faster than numpy.

Such is the shadow of a body of many dimensions, where each answer costs a linear programme. Answers are points of the
region, so their hull lies inside it; and nothing lies beyond them, so the region lies inside half planes [Bretl2008].
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from poise.arrays import Array
from poise.errors import GeometryError

_Point = tuple[float, float]

#: Vertices that stand out by less than this fraction of the polygon's size are not vertices: 1e-12 is far below what
#: any foot or measurement means, and far above what rounding does to points that stand in line.
FLATNESS = 1e-12
#: Far from the origin the coordinates themselves are known to some units in the last place only: 8 of them.
_ROUNDING = 8.0 * 2.0**-52


def convex_hull(points: ArrayLike) -> Array:
    """Vertices of the smallest convex polygon around the points (n, 2), counterclockwise, the leftmost first.

    Andrew's monotone chain. Neither duplicates nor points on an edge (up to `FLATNESS`) are vertices, so points in
    line give a segment of 2. A point with a coordinate that is not finite supports nothing and is left out.

    >>> convex_hull([[0, 0], [1, 0], [0.5, 0.2], [1, 1], [0, 1], [0, 0]])
    array([[0., 0.],
           [1., 0.],
           [1., 1.],
           [0., 1.]])
    """
    values = sorted({(x, y) for x, y in _check_points(points).tolist() if math.isfinite(x) and math.isfinite(y)})
    if len(values) > 1:
        values = _without_flat_vertices([*_half_hull(values), *_half_hull(values[::-1])])
        first = values.index(min(values))  # the leftmost may have been a flat one
        values = values[first:] + values[:first]
    return np.array(values, dtype=np.float64).reshape(-1, 2)


def centroid(polygon: ArrayLike) -> Array:
    """Centre of area (2,); of a segment its middle, of a point the point, of an empty polygon the origin.

        c = sum of area_i c_i / sum of area_i,   over the triangles i that fan out from the first vertex

    >>> centroid([[0, 0], [2, 0], [2, 1], [0, 1]])
    array([1. , 0.5])
    """
    hull = convex_hull(polygon)
    if len(hull) < 3:
        return hull.mean(axis=0) if len(hull) else np.zeros(2)
    edges = hull[1:] - hull[0]
    first, second = edges[:-1], edges[1:]
    # Rounding must not make an area negative: c stays inside however thin the polygon is.
    area = np.maximum(first[:, 0] * second[:, 1] - first[:, 1] * second[:, 0], 0.0)
    return np.asarray(hull[0] + area @ (first + second) / (3.0 * area.sum()))


def half_planes(polygon: ArrayLike) -> tuple[Array, Array]:
    """The polygon as inequalities: ``(A, b)`` with unit outward normals, such that x is inside where

        A x <= b

    and ``b - A x`` is the distance (m) of x to each edge. The rows go around counterclockwise. A segment has four rows,
    an opposite pair that holds x on its line and one at either end; a point has two opposite pairs. A corner sharper
    than 16 degrees has a row across its tip, for solvers whose tolerance would miss where its edges meet. Only an
    empty polygon gives no rows, which allows everything: whoever needs support asks ``len(polygon)`` first.

    >>> A, b = half_planes([[0, 0], [2, 0], [2, 1], [0, 1]])
    >>> bool((A @ [1.0, 0.5] <= b).all()), bool((A @ [3.0, 0.5] <= b).all())
    (True, False)
    """
    hull = convex_hull(polygon)
    if len(hull) > 2:
        A = _outward_normals(hull)
        both = A[np.arange(-1, len(A) - 1)] + A
        tips = np.flatnonzero((both * both).sum(axis=1) < 0.08)  # |m + n|² = 2 - 2 cos(angle of the corner)
        if len(tips):
            A = np.insert(A, tips, both[tips] / np.linalg.norm(both[tips], axis=1, keepdims=True), axis=0)
    elif len(hull) == 2:
        x, y = (hull[1] - hull[0]) / math.dist(*hull.tolist())
        A = np.array([[y, -x], [x, y], [-y, x], [-x, -y]])
    else:
        A = np.array([[0.0, -1.0], [1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]][: 4 * len(hull)]).reshape(-1, 2)
    # The farthest vertex along each normal: rounding cannot put a vertex outside its own polygon.
    return A, (A @ hull.T).max(axis=1, initial=-np.inf)


def margin(polygon: ArrayLike, point: ArrayLike) -> float | Array:
    """Distance (m) of a point to the boundary, positive inside and negative outside.

        margin(x) = min over i of (b - A x)_i      inside
        margin(x) = -min over y in polygon |x - y|   outside

    A point (2,) gives a float, points (m, 2) give m values. It is never positive for a segment or a point, and minus
    infinity for an empty polygon or a point that is not finite. About 5 microseconds for eight vertices.

    >>> margin([[0, 0], [2, 0], [2, 1], [0, 1]], [[1, 0.4], [2, 1], [5, 5]])
    array([ 0.4,  0. , -5. ])
    """
    vertices = _check_points(polygon).tolist()
    array = np.asarray(point, dtype=np.float64)
    if array.shape == (2,):
        return _margin_and_nearest(vertices, *array.tolist())[0]
    return np.array(
        [_margin_and_nearest(vertices, x, y)[0] for x, y in _check_points(array).tolist()], dtype=np.float64
    )


def project(polygon: ArrayLike, point: ArrayLike) -> Array:
    """The point of the polygon that is nearest to the given one: itself if that is inside.

    A point (2,) gives (2,), points (m, 2) give (m, 2). With an empty polygon a point stays where it is.

    >>> project([[0, 0], [2, 0], [2, 1], [0, 1]], [3, 0.5])
    array([2. , 0.5])
    """
    vertices = _check_points(polygon).tolist()
    array = np.asarray(point, dtype=np.float64)
    if array.shape == (2,):
        return np.array(_margin_and_nearest(vertices, *array.tolist())[1])
    return np.array([_margin_and_nearest(vertices, x, y)[1] for x, y in _check_points(array).tolist()]).reshape(-1, 2)


def shrink(polygon: ArrayLike, by: float) -> Array:
    """The points that keep a distance ``by`` (m) from the boundary, as a polygon:

        {x : margin(x) >= min(by, inradius)}

    A polygon does not vanish: beyond its `inradius` what is left are its innermost points, a single one or a segment.
    To find out, compare ``by`` with ``inradius(polygon)``.

    >>> shrink([[0, 0], [4, 0], [4, 2], [0, 2]], 0.5).tolist()
    [[0.5, 0.5], [3.5, 0.5], [3.5, 1.5], [0.5, 1.5]]
    """
    if not by >= 0.0:
        raise GeometryError(f"a polygon was to shrink by {by}; give a distance in metres that is not negative")
    return _erode(polygon, by)[0]


def inradius(polygon: ArrayLike) -> float:
    """Greatest margin (m) that any point has: the radius of the largest circle inside; minus infinity if empty.

    >>> inradius([[0, 0], [4, 0], [4, 2], [0, 2]])
    1.0
    """
    return _erode(polygon, math.inf)[1] if len(_check_points(polygon)) else -math.inf


def clip(polygon: ArrayLike, A: ArrayLike, b: ArrayLike) -> Array:
    """The part of the polygon on which ``A x <= b`` holds for all rows; empty if there is none.

    Sutherland and Hodgman's way: one row after the other cuts off what lies beyond it by more than `FLATNESS`; a row
    along a segment does not tear it apart for rounding.

    >>> clip([[0, 0], [2, 0], [2, 1], [0, 1]], [[1, 0]], [0.5]).tolist()
    [[0.0, 0.0], [0.5, 0.0], [0.5, 1.0], [0.0, 1.0]]
    """
    hull = convex_hull(polygon)
    tolerance = _tolerance(hull.tolist())
    for row, bound in zip(_check_points(A).tolist(), np.atleast_1d(b).tolist(), strict=True):
        vertices = hull.tolist()
        beyond = (hull @ row - bound).tolist()
        least = tolerance * math.hypot(*row)
        kept = []
        for i, (vertex, excess) in enumerate(zip(vertices, beyond, strict=True)):
            before, other = vertices[i - 1], beyond[i - 1]
            if (excess > least) != (other > least):
                t = min(max(excess / (excess - other), 0.0), 1.0)
                kept.append([vertex[k] + t * (before[k] - vertex[k]) for k in (0, 1)])
            if not excess > least:
                kept.append(vertex)
        hull = convex_hull(kept)
    return hull


def _check_points(points: ArrayLike) -> Array:
    array = np.asarray(points, dtype=np.float64)
    if array.ndim == 2 and array.shape[1] == 2:
        return array
    if array.shape == (0,):
        return array.reshape(0, 2)
    raise GeometryError(f"points in the plane have shape (n, 2); got {array.shape}")


def _half_hull(values: list[_Point]) -> list[_Point]:
    """Half of the hull of sorted points, without its last point: a path that only turns left."""
    path: list[_Point] = []
    for x, y in values:
        while len(path) > 1:
            (ax, ay), (bx, by) = path[-2:]
            if (bx - ax) * (y - ay) - (by - ay) * (x - ax) > 0.0:
                break
            path.pop()
        path.append((x, y))
    return path[:-1]


def _without_flat_vertices(hull: list[_Point]) -> list[_Point]:
    """Drop the vertices that stand out from the segment between their neighbours by no more than `FLATNESS`."""
    if len(hull) < 2:
        return hull
    tolerance = _tolerance(hull)
    kept: list[_Point] = []
    for i, vertex in enumerate(hull):
        before = kept[-1] if kept else hull[-1]
        after = hull[i + 1] if i + 1 < len(hull) else kept[0] if kept else vertex
        if _distance(vertex, before, after) > tolerance:
            kept.append(vertex)
    if len(kept) == len(hull):
        return kept
    return _without_flat_vertices(kept) if kept else hull[:1]


def _tolerance(vertices: Sequence[Sequence[float]]) -> float:
    """Distance (m) that means nothing in a polygon of this size at this place."""
    if not vertices:
        return 0.0
    xs, ys = zip(*vertices, strict=True)
    return float(FLATNESS * max(max(xs) - min(xs), max(ys) - min(ys)) + _ROUNDING * max(map(abs, (*xs, *ys))))


def _distance(point: _Point, a: _Point, b: _Point) -> float:
    """Distance of a point to the segment from a to b."""
    x, y = point
    dx, dy = b[0] - a[0], b[1] - a[1]
    px, py = x - a[0], y - a[1]
    squared = dx * dx + dy * dy
    fraction = min(max((px * dx + py * dy) / squared, 0.0), 1.0) if squared > 0.0 else 0.0
    return math.hypot(px - fraction * dx, py - fraction * dy)


def _margin_and_nearest(vertices: list[list[float]], x: float, y: float) -> tuple[float, tuple[float, float]]:
    """Margin of (x, y) and the point of the polygon nearest to it."""
    least, lowest, proper, nearest = math.inf, math.inf, False, (x, y)
    ax, ay = vertices[-1] if vertices else (x, y)
    for bx, by in vertices:
        dx, dy, px, py = bx - ax, by - ay, x - ax, y - ay
        squared = dx * dx + dy * dy
        fraction = 0.0
        if squared > 0.0:
            fraction = (px * dx + py * dy) / squared
            fraction = 0.0 if fraction < 0.0 else 1.0 if fraction > 1.0 else fraction
            height = (dx * py - dy * px) / math.sqrt(squared)  # over the edge's line, positive on the inner side
            if height < lowest:
                lowest = height
            proper = True
        qx, qy = ax + fraction * dx, ay + fraction * dy
        distance = math.hypot(x - qx, y - qy)
        if distance < least:
            least, nearest = distance, (qx, qy)
        ax, ay = bx, by
    # Inside, the lowest height over a line is the distance to the boundary. Outside, one is negative, or zero up to
    # rounding in a polygon without area; half the distance tells the cases apart whatever the rounding.
    if proper and 2.0 * lowest > least:
        return least, (x, y)
    return 0.0 - least, nearest


def _outward_normals(hull: Array) -> Array:
    """Unit normals of the edges that begin at each vertex."""
    vertices = hull.tolist()
    rows = []
    for (ax, ay), (bx, by) in zip(vertices, [*vertices[1:], vertices[0]], strict=True):
        length = math.hypot(bx - ax, by - ay)
        rows.append(((by - ay) / length, (ax - bx) / length))
    return np.array(rows)


def _erode(polygon: ArrayLike, by: float) -> tuple[Array, float]:
    """Move all edges inward by a distance, or as far as something is left; also returns how far.

    A vertex between edges with unit normals m and n moves along w = 2 (m + n) / |m + n|², which has mᵀw = nᵀw = 1.
    Every edge shortens at a constant rate until one has no length left; from there the same goes on without it.
    """
    hull, eroded = convex_hull(polygon), 0.0
    while len(hull) > 2 and eroded < by:
        after = _outward_normals(hull)
        both = np.roll(after, 1, axis=0) + after
        w = 2.0 * both / (both * both).sum(axis=1)[:, np.newaxis]
        edges = np.roll(hull, -1, axis=0) - hull
        lengths = np.hypot(edges[:, 0], edges[:, 1])
        rates = ((np.roll(w, -1, axis=0) - w) * edges).sum(axis=1) / lengths
        times = np.divide(lengths, rates, out=np.full(len(hull), np.inf), where=rates > 0.0)
        first = int(times.argmin())
        step = float(min(by - eroded, times[first]))
        moved = hull - step * w
        hull = convex_hull(moved if step < times[first] else np.delete(moved, first, axis=0))
        eroded += step
    return hull, eroded


# -- A convex region of the plane that answers one question only -----------------------------------------------------


#: How far apart (m) the inner and outer polygon may stay: a tenth of a millimetre is below what any sole means.
TOLERANCE = 1e-4


@dataclass(frozen=True, eq=False, slots=True)
class Region:
    """A convex region between two polygons, ``inner ⊆ region ⊆ outer``; both empty where there is none.

    Attributes:
        inner: vertices (k, 2) of a polygon inside the region, counterclockwise; the one to rely on.
        outer: vertices of a polygon around it.
        queries: how many directions were asked for.
    """

    inner: Array
    outer: Array
    queries: int

    @property
    def gap(self) -> float:
        """Largest distance (m) from the inner to the outer polygon: how much is unknown about the region."""
        return max((-float(margin(self.inner, vertex)) for vertex in self.outer), default=0.0)


def approximate_region(
    support_point: Callable[[Array], ArrayLike | None],
    bounding_polygon: ArrayLike,
    tolerance: float = TOLERANCE,
    max_queries: int = 200,
) -> Region:
    """Find a convex region by asking for its farthest points, first all around, then beyond each edge found.

    For unit directions d_i with answers x_i the region S obeys

        hull of x_i  ⊆  S  ⊆  {x : d_iᵀx <= d_iᵀx_i for all i}

    An edge is settled when the region reaches less than ``tolerance`` beyond it. A region that is itself a polygon is
    found exactly: every question gives a vertex that was not known, or settles an edge.

    Args:
        support_point: from a unit direction (2,) to the point (2,) of the region farthest along it; None if empty.
        bounding_polygon: a polygon that contains the region, from which the outer one is cut.
        tolerance: m.
        max_queries: at most so many are asked; what is not settled then shows in `Region.gap`.

    >>> disc = approximate_region(lambda d: d, bounding_polygon=[[-2, -2], [2, -2], [2, 2], [-2, 2]], tolerance=0.01)
    >>> len(disc.inner), disc.gap < 0.01
    (32, True)
    """
    if not tolerance > 0.0:
        raise GeometryError(f"the tolerance of a region is {tolerance}; give a distance in metres above zero")
    support_values: dict[tuple[float, float], float] = {}  # how far the region reaches along each direction
    vertices: list[Array] = []
    waiting = [(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)]
    inner = np.empty((0, 2))
    while waiting and len(support_values) < max_queries:
        for direction in waiting[: max_queries - len(support_values)]:
            d = np.array(direction)
            answer = support_point(d)
            support_values[direction] = math.inf if answer is None else float(d @ answer)
            if answer is not None and support_values[direction] > (inner @ d).max(initial=-np.inf) + tolerance:
                vertices.append(np.asarray(answer, dtype=np.float64))
        inner = convex_hull(vertices)
        waiting = [(x, y) for x, y in half_planes(inner)[0].tolist() if (x, y) not in support_values]
    if not len(inner):
        return Region(inner, inner, len(support_values))
    known = {direction: reach for direction, reach in support_values.items() if reach < math.inf}
    A, b = np.array(list(known)), np.array(list(known.values()))
    # Answers are as exact as their programme: what one has shown to exist, another must not cut off.
    return Region(inner, convex_hull([*clip(bounding_polygon, A, b), *inner]), len(support_values))
