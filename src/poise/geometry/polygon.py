"""Convex polygons in the plane, and convex regions that are known only by their support points.

A polygon is an array (k, 2) of its vertices in meters, counterclockwise, as `convex_hull` returns them. It may be a
segment (2 vertices), a point (1) or empty (0), and vertices may coincide or be collinear, so that a robot on one toe or
in the air is no error. `margin` and `project` rely on the order of the vertices; the other functions take the hull of
their argument. Support polygons have about eight vertices, for which loops over plain floats are several times faster
than numpy.

`approximate_region` finds a region from a function that returns its farthest point in a direction, such as the
projection of a high-dimensional polytope, for which each support point costs a linear program. The hull of the support
points lies inside the region, and the region lies inside the half planes that end at them [Bretl2008].
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

#: A vertex that protrudes by less than this fraction of the size of the polygon is dropped. 1e-12 is far below the
#: accuracy of any foot or measurement and far above the rounding errors of collinear points.
FLATNESS = 1e-12
#: Rounding error of coordinates relative to their size, which matters far from the origin: 8 units in the last place.
_ROUNDING = 8.0 * 2.0**-52


def convex_hull(points: ArrayLike) -> Array:
    """Return the vertices of the convex hull of points (n, 2), counterclockwise, the leftmost first.

    Andrew's monotone chain. Neither duplicates nor points on an edge (up to `FLATNESS`) are vertices, so collinear
    points give a segment of 2 vertices. Points with a coordinate that is not finite are ignored.

    >>> convex_hull([[0, 0], [1, 0], [0.5, 0.2], [1, 1], [0, 1], [0, 0]])
    array([[0., 0.],
           [1., 0.],
           [1., 1.],
           [0., 1.]])
    """
    values = sorted({(x, y) for x, y in _check_points(points).tolist() if math.isfinite(x) and math.isfinite(y)})
    if len(values) > 1:
        values = _without_flat_vertices([*_half_hull(values), *_half_hull(values[::-1])])
        first = values.index(min(values))  # the leftmost may have been dropped as flat
        values = values[first:] + values[:first]
    return np.array(values, dtype=np.float64).reshape(-1, 2)


def centroid(polygon: ArrayLike) -> Array:
    """Return the centroid of the area (2,); the middle of a segment, the point itself, the origin for no vertices.

        c = sum of area_i c_i / sum of area_i,   over the triangles i that fan out from the first vertex

    >>> centroid([[0, 0], [2, 0], [2, 1], [0, 1]])
    array([1. , 0.5])
    """
    hull = convex_hull(polygon)
    if len(hull) < 3:
        return hull.mean(axis=0) if len(hull) else np.zeros(2)
    edges = hull[1:] - hull[0]
    first, second = edges[:-1], edges[1:]
    # Clip negative areas that come from rounding, so that c stays inside even a very thin polygon.
    area = np.maximum(first[:, 0] * second[:, 1] - first[:, 1] * second[:, 0], 0.0)
    return np.asarray(hull[0] + area @ (first + second) / (3.0 * area.sum()))


def half_planes(polygon: ArrayLike) -> tuple[Array, Array]:
    """Return the polygon as inequalities: ``(A, b)`` with unit outward normals, such that x is inside if

        A x <= b

    and ``b - A x`` is the distance (m) of x to each edge. The rows are in counterclockwise order. A segment has four
    rows, an opposite pair that keeps x on its line and one at either end; a point has two opposite pairs. A corner
    sharper than 16 degrees has an extra row across its tip, since its edges alone, within the tolerance of a solver,
    would allow points far beyond it. An empty polygon gives no rows, which allows every x: if support is required,
    check ``len(polygon)`` first.

    >>> A, b = half_planes([[0, 0], [2, 0], [2, 1], [0, 1]])
    >>> bool((A @ [1.0, 0.5] <= b).all()), bool((A @ [3.0, 0.5] <= b).all())
    (True, False)
    """
    hull = convex_hull(polygon)
    if len(hull) > 2:
        A = _outward_normals(hull)
        normal_sums = A[np.arange(-1, len(A) - 1)] + A
        # |m + n|² = 2 - 2 cos(angle of the corner)
        tips = np.flatnonzero((normal_sums * normal_sums).sum(axis=1) < 0.08)
        if len(tips):
            A = np.insert(A, tips, normal_sums[tips] / np.linalg.norm(normal_sums[tips], axis=1, keepdims=True), axis=0)
    elif len(hull) == 2:
        x, y = (hull[1] - hull[0]) / math.dist(*hull.tolist())
        A = np.array([[y, -x], [x, y], [-y, x], [-x, -y]])
    else:
        A = np.array([[0.0, -1.0], [1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]][: 4 * len(hull)]).reshape(-1, 2)
    # b from the farthest vertex along each normal, so that rounding cannot put a vertex outside its own polygon.
    return A, (A @ hull.T).max(axis=1, initial=-np.inf)


def margin(polygon: ArrayLike, point: ArrayLike) -> float | Array:
    """Return the signed distance (m) of a point to the boundary, positive inside and negative outside.

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
    """Return the point of the polygon nearest to a given point, which is the point itself if it is inside.

    A point (2,) gives (2,), points (m, 2) give (m, 2). With an empty polygon the point is returned unchanged.

    >>> project([[0, 0], [2, 0], [2, 1], [0, 1]], [3, 0.5])
    array([2. , 0.5])
    """
    vertices = _check_points(polygon).tolist()
    array = np.asarray(point, dtype=np.float64)
    if array.shape == (2,):
        return np.array(_margin_and_nearest(vertices, *array.tolist())[1])
    return np.array([_margin_and_nearest(vertices, x, y)[1] for x, y in _check_points(array).tolist()]).reshape(-1, 2)


def shrink(polygon: ArrayLike, by: float) -> Array:
    """Return the polygon of all points at least ``by`` (m) inside the boundary:

        {x : margin(x) >= min(by, inradius)}

    It is empty only for an empty polygon: if ``by`` exceeds `inradius`, the innermost points are left, a single point
    or a segment. To detect this, compare ``by`` with ``inradius(polygon)``.

    >>> shrink([[0, 0], [4, 0], [4, 2], [0, 2]], 0.5).tolist()
    [[0.5, 0.5], [3.5, 0.5], [3.5, 1.5], [0.5, 1.5]]
    """
    if not by >= 0.0:
        raise GeometryError(f"cannot shrink a polygon by {by}; give a distance in meters that is not negative")
    return _erode(polygon, by)[0]


def inradius(polygon: ArrayLike) -> float:
    """Return the radius (m) of the largest inscribed circle, the largest `margin` of any point; -inf if empty.

    >>> inradius([[0, 0], [4, 0], [4, 2], [0, 2]])
    1.0
    """
    return _erode(polygon, math.inf)[1] if len(_check_points(polygon)) else -math.inf


def clip(polygon: ArrayLike, A: ArrayLike, b: ArrayLike) -> Array:
    """Return the part of the polygon where ``A x <= b`` holds for all rows; empty if there is none.

    Sutherland-Hodgman clipping: each row in turn cuts off the part beyond it. The tolerance, `FLATNESS`, prevents
    rounding from cutting a segment at a row along it.

    >>> clip([[0, 0], [2, 0], [2, 1], [0, 1]], [[1, 0]], [0.5]).tolist()
    [[0.0, 0.0], [0.5, 0.0], [0.5, 1.0], [0.0, 1.0]]
    """
    hull = convex_hull(polygon)
    tolerance = _tolerance(hull.tolist())
    for row, bound in zip(_check_points(A).tolist(), np.atleast_1d(b).tolist(), strict=True):
        vertices = hull.tolist()
        excesses = (hull @ row - bound).tolist()
        threshold = tolerance * math.hypot(*row)
        corners = []
        for i, (vertex, excess) in enumerate(zip(vertices, excesses, strict=True)):
            previous, previous_excess = vertices[i - 1], excesses[i - 1]
            if (excess > threshold) != (previous_excess > threshold):
                t = min(max(excess / (excess - previous_excess), 0.0), 1.0)
                corners.append([vertex[k] + t * (previous[k] - vertex[k]) for k in (0, 1)])
            if not excess > threshold:
                corners.append(vertex)
        hull = convex_hull(corners)
    return hull


def _check_points(points: ArrayLike) -> Array:
    array = np.asarray(points, dtype=np.float64)
    if array.ndim == 2 and array.shape[1] == 2:
        return array
    if array.shape == (0,):
        return array.reshape(0, 2)
    raise GeometryError(f"points in the plane have shape (n, 2); got {array.shape}")


def _half_hull(values: list[_Point]) -> list[_Point]:
    """Return the lower (or upper) half of the hull of sorted points, without its last point; it only turns left."""
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
    """Drop the vertices that protrude from the segment between their neighbors by no more than `FLATNESS`."""
    if len(hull) < 2:
        return hull
    tolerance = _tolerance(hull)
    corners: list[_Point] = []
    for i, vertex in enumerate(hull):
        previous = corners[-1] if corners else hull[-1]
        following = hull[i + 1] if i + 1 < len(hull) else corners[0] if corners else vertex
        if _distance(vertex, previous, following) > tolerance:
            corners.append(vertex)
    if len(corners) == len(hull):
        return corners
    return _without_flat_vertices(corners) if corners else hull[:1]


def _tolerance(vertices: Sequence[Sequence[float]]) -> float:
    """Return the distance (m) that is negligible in a polygon of this size at this distance from the origin."""
    if not vertices:
        return 0.0
    xs, ys = zip(*vertices, strict=True)
    return float(FLATNESS * max(max(xs) - min(xs), max(ys) - min(ys)) + _ROUNDING * max(map(abs, (*xs, *ys))))


def _distance(point: _Point, a: _Point, b: _Point) -> float:
    """Return the distance of a point to the segment from a to b."""
    x, y = point
    dx, dy = b[0] - a[0], b[1] - a[1]
    px, py = x - a[0], y - a[1]
    squared = dx * dx + dy * dy
    fraction = min(max((px * dx + py * dy) / squared, 0.0), 1.0) if squared > 0.0 else 0.0
    return math.hypot(px - fraction * dx, py - fraction * dy)


def _margin_and_nearest(vertices: list[list[float]], x: float, y: float) -> tuple[float, tuple[float, float]]:
    """Return the margin of (x, y) and the point of the polygon nearest to it."""
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
    # Inside, the lowest height over an edge is the distance to the boundary. Outside, one height is negative, or zero
    # up to rounding in a polygon without area. The threshold of half the distance is robust to rounding in both cases.
    if proper and 2.0 * lowest > least:
        return least, (x, y)
    return 0.0 - least, nearest


def _outward_normals(hull: Array) -> Array:
    """Return the outward unit normals of the edges that begin at each vertex."""
    vertices = hull.tolist()
    rows = []
    for (ax, ay), (bx, by) in zip(vertices, [*vertices[1:], vertices[0]], strict=True):
        length = math.hypot(bx - ax, by - ay)
        rows.append(((by - ay) / length, (ax - bx) / length))
    return np.array(rows)


def _erode(polygon: ArrayLike, by: float) -> tuple[Array, float]:
    """Move all edges inward by a distance, or until no area is left; return the polygon and the distance moved.

    A vertex between edges with unit normals m and n moves along w = 2 (m + n) / |m + n|², which has mᵀw = nᵀw = 1.
    Every edge shortens at a constant rate until one has no length left; the erosion then continues without that edge.
    """
    hull, eroded = convex_hull(polygon), 0.0
    while len(hull) > 2 and eroded < by:
        after = _outward_normals(hull)
        normal_sums = np.roll(after, 1, axis=0) + after
        w = 2.0 * normal_sums / (normal_sums * normal_sums).sum(axis=1)[:, np.newaxis]
        edges = np.roll(hull, -1, axis=0) - hull
        lengths = np.hypot(edges[:, 0], edges[:, 1])
        rates = ((np.roll(w, -1, axis=0) - w) * edges).sum(axis=1) / lengths
        times = np.divide(lengths, rates, out=np.full(len(hull), np.inf), where=rates > 0.0)
        first = int(times.argmin())
        step = float(min(by - eroded, times[first]))
        new_hull = hull - step * w
        hull = convex_hull(new_hull if step < times[first] else np.delete(new_hull, first, axis=0))
        eroded += step
    return hull, eroded


# -- Convex regions known by their support points --------------------------------------------------------------------


#: Default distance (m) between inner and outer polygon: a tenth of a millimeter, below the accuracy of any sole.
TOLERANCE = 1e-4


@dataclass(frozen=True, eq=False, slots=True)
class Region:
    """A convex region between two polygons, ``inner ⊆ region ⊆ outer``; both are empty if the region is.

    Attributes:
        inner: vertices (k, 2) of a polygon inside the region, counterclockwise; the safe choice.
        outer: vertices of a polygon around the region.
        queries: number of directions that were queried.
    """

    inner: Array
    outer: Array
    queries: int

    @property
    def gap(self) -> float:
        """Largest distance (m) from the inner to the outer polygon, a bound on the error of either."""
        return max((-float(margin(self.inner, vertex)) for vertex in self.outer), default=0.0)


def approximate_region(
    support_point: Callable[[Array], ArrayLike | None],
    bounding_polygon: ArrayLike,
    tolerance: float = TOLERANCE,
    max_queries: int = 200,
) -> Region:
    """Approximate a convex region from its support points: first along ±x and ±y, then normal to each edge found.

    For unit directions d_i with support points x_i the region S obeys

        hull of x_i  ⊆  S  ⊆  {x : d_iᵀx <= d_iᵀx_i for all i}

    An edge is final when the region reaches less than ``tolerance`` beyond it. A region that is itself a polygon is
    found exactly: every query gives a new vertex or makes an edge final.

    Args:
        support_point: maps a unit direction (2,) to the point (2,) of the region farthest along it; None if the region
            is empty.
        bounding_polygon: a polygon that contains the region, from which the outer one is cut.
        tolerance: distance (m) that the region may reach beyond an inner edge.
        max_queries: largest number of queries; the remaining error is in `Region.gap`.

    >>> disc = approximate_region(lambda d: d, bounding_polygon=[[-2, -2], [2, -2], [2, 2], [-2, 2]], tolerance=0.01)
    >>> len(disc.inner), disc.gap < 0.01
    (32, True)
    """
    if not tolerance > 0.0:
        raise GeometryError(f"the tolerance of a region is {tolerance}; give a distance in meters above zero")
    support_values: dict[tuple[float, float], float] = {}  # how far the region reaches along each direction
    vertices: list[Array] = []
    directions = [(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)]
    inner = np.empty((0, 2))
    while directions and len(support_values) < max_queries:
        for direction in directions[: max_queries - len(support_values)]:
            d = np.array(direction)
            answer = support_point(d)
            support_values[direction] = math.inf if answer is None else float(d @ answer)
            if answer is not None and support_values[direction] > (inner @ d).max(initial=-np.inf) + tolerance:
                vertices.append(np.asarray(answer, dtype=np.float64))
        inner = convex_hull(vertices)
        directions = [(x, y) for x, y in half_planes(inner)[0].tolist() if (x, y) not in support_values]
    if not len(inner):
        return Region(inner, inner, len(support_values))
    finite = {direction: reach for direction, reach in support_values.items() if reach < math.inf}
    A, b = np.array(list(finite)), np.array(list(finite.values()))
    # Support points are only as exact as their linear program: do not let one query cut off a point found by another.
    return Region(inner, convex_hull([*clip(bounding_polygon, A, b), *inner]), len(support_values))
