"""Capsules fitted around the links of a robot, for collision distances that are cheap to compute and smooth."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from weakref import WeakKeyDictionary

import numpy as np
import pinocchio

from poise.arrays import Array
from poise.cache import Arrays, load_arrays, save_arrays
from poise.errors import RobotError
from poise.extras import scipy
from poise.robots.robot import Robot
from poise.robots.urdf import shape_vertices

#: Increase it if the same shapes give other capsules, or if the storage format changes.
CACHE_VERSION = 1
#: Number of robots with different shapes whose capsules are kept in memory.
CACHE_SIZE = 32


@dataclass(frozen=True, eq=False)
class Capsule:
    """Capsule (all points within a radius of a line segment) that encloses one or more links moved by one joint.

    Attributes:
        links: names of the enclosed links, the bulkiest first.
        joint: number of the joint that carries them.
        center: middle of the segment, in the joint's frame (m).
        half_axis: vector from the middle to one end of the segment, in the joint's frame (m); zero for a ball.
        radius: radius (m).
        points: vertices of the convex hull of the shapes, in the joint's frame (k x 3, m); all inside the capsule.
    """

    links: tuple[str, ...]
    joint: int
    center: Array
    half_axis: Array
    radius: float
    points: Array

    @property
    def name(self) -> str:
        """Name of its bulkiest link."""
        return self.links[0]

    @property
    def volume(self) -> float:
        """Volume (m³)."""
        return _volume(2.0 * float(np.linalg.norm(self.half_axis)), self.radius)

    def depth(self, points: Array) -> Array:
        """Return the depth of points (k x 3, m, in the joint's frame) below the surface (m); negative outside."""
        from_center = points - self.center
        squared = float(self.half_axis @ self.half_axis)
        along = np.clip(from_center @ self.half_axis / squared, -1.0, 1.0) if squared else np.zeros(len(points))
        distance: Array = np.linalg.norm(from_center - along[:, None] * self.half_axis, axis=1)
        return self.radius - distance


def capsules(robot: Robot) -> tuple[Capsule, ...]:
    """Return capsules around all links of a robot, in the order of its joints; the first call takes about a second.

    A link is represented by its collision shapes, or by its visual shapes if it has none (the hands of G1). Links that
    move together share a capsule if that is not bulkier than one capsule for each. Robots with the same shapes share
    their capsules, and capsules around meshes are cached on disk, see `poise.cache`.

    >>> [(capsule.name, capsule.radius) for capsule in capsules(poise.load_robot("g1"))]
    """
    if robot not in _capsules_by_robot:
        key = robot._geometry.cache_key()
        _capsules_by_robot[robot] = (
            _fit_capsules(robot) if key is None else _cached_capsules(f"capsules-{CACHE_VERSION}-{key}", robot)
        )
    return _capsules_by_robot[robot]


_capsules_by_robot: WeakKeyDictionary[Robot, tuple[Capsule, ...]] = WeakKeyDictionary()
_recent_capsules: OrderedDict[str, tuple[Capsule, ...]] = OrderedDict()


def _cached_capsules(key: str, robot: Robot) -> tuple[Capsule, ...]:
    """Return capsules from memory or from the disk cache, or else fit new ones.

    Only capsules around meshes are cached on disk, because meshes take long to read.
    """
    meshes = bool(robot._geometry.mesh_addresses())
    result = _recent_capsules.get(key) or _from_arrays(load_arrays(key) if meshes else None, robot)
    if result is None:
        result = _fit_capsules(robot)
        if meshes:
            save_arrays(key, _to_arrays(result))
    _recent_capsules[key] = result
    while len(_recent_capsules) > CACHE_SIZE:
        _recent_capsules.popitem(last=False)
    return result


def _fit_capsules(robot: Robot) -> tuple[Capsule, ...]:
    bodies: dict[int, list[tuple[tuple[str, ...], Array]]] = {}
    for frame, points in _link_points(robot).items():
        joint = int(robot.model.frames[frame].parentJoint)
        bodies.setdefault(joint, []).append(((robot.model.frames[frame].name,), points))
    parts = [(joint, *part) for joint in sorted(bodies) for part in _merge_links(bodies[joint])]
    return tuple(Capsule(links, joint, *fit_capsule(points), points) for joint, links, points in parts)


def _to_arrays(capsules: tuple[Capsule, ...]) -> Arrays:
    return {
        "links": np.array([link for capsule in capsules for link in capsule.links], dtype=np.str_),
        "joints": np.array([capsule.joint for capsule in capsules], dtype=np.int64),
        "counts": np.array([(len(c.links), len(c.points)) for c in capsules], dtype=np.int64).reshape(-1, 2),
        "solids": np.array([(*c.center, *c.half_axis, c.radius) for c in capsules]).reshape(-1, 7),
        "points": np.concatenate([np.zeros((0, 3)), *(capsule.points for capsule in capsules)]),
    }


def _from_arrays(arrays: Arrays | None, robot: Robot) -> tuple[Capsule, ...] | None:
    """Rebuild capsules from stored arrays; None if there are none or they are not in the format of `_to_arrays`."""
    try:
        assert arrays is not None
        solids, points = arrays["solids"], arrays["points"]
        assert solids.dtype == points.dtype == np.float64
        assert np.isfinite(solids).all()
        assert np.isfinite(points).all()
        names, counts = [str(link) for link in arrays["links"]], arrays["counts"]
        assert set(names) <= set(robot.frames)
        assert (len(names), len(points)) == tuple(counts.sum(axis=0))
        capsules, link, point = [], 0, 0
        for joint, (links_of, points_of), solid in zip(arrays["joints"], counts, solids, strict=True):
            assert 0 <= joint < robot.model.njoints
            links, corners = tuple(names[link : link + links_of]), points[point : point + points_of].reshape(-1, 3)
            capsules.append(Capsule(links, int(joint), solid[:3], solid[3:6], float(solid[6]), corners))
            link, point = link + links_of, point + points_of
        return tuple(capsules)
    except (AssertionError, KeyError, ValueError, TypeError, IndexError):
        return None


def fit_capsule(points: Array) -> tuple[Array, Array, float]:
    """Fit a capsule of nearly minimal volume around points (k x 3, m); return its center, half axis and radius (m).

    The search starts from the coordinate axes and the principal axes of the points, and refines direction and position
    of the two axes with the smallest volume by a derivative-free search (the volume is not differentiable). The radius
    is enlarged by 1e-12 of itself, so that every point is inside despite rounding.
    """
    best = min(
        (_refine_axis(points, *start) for start in _initial_axes(points)[:2]), key=lambda candidate: candidate[0]
    )
    _, axis, anchor = best
    low, high, radius = _enclosing_ends(points, axis, anchor)
    return anchor + 0.5 * (low + high) * axis, 0.5 * (high - low) * axis, radius * (1.0 + 1e-12)


def _link_points(robot: Robot) -> dict[int, Array]:
    """Return the vertices of the convex hull of each link with shapes, in its joint's frame, by the link's frame id."""
    links: dict[int, Array] = {}
    for shapes in _shape_sources(robot):
        parts_by_frame: dict[int, list[Array]] = {}
        for shape in shapes:
            if shape.parentFrame not in links:
                pose: pinocchio.SE3 = shape.placement
                parts_by_frame.setdefault(shape.parentFrame, []).append(
                    shape_vertices(shape) @ pose.rotation.T + pose.translation
                )
        links.update({frame: hull_vertices(np.vstack(parts)) for frame, parts in parts_by_frame.items()})
    return links


def _shape_sources(robot: Robot) -> Iterable[Sequence[pinocchio.GeometryObject]]:
    """Yield the collision shapes, then the visual shapes; skip one kind if its meshes cannot be read, but not both."""
    failed = 0
    for kind in ("collision_geometry", "visual_geometry"):
        try:
            yield getattr(robot, kind).geometryObjects
        except RobotError:
            failed += 1
            if failed == 2:
                raise


def hull_vertices(points: Array) -> Array:
    """Return the points that are vertices of their convex hull; all points if they lie in a plane."""
    try:
        corners: Array = points[scipy.spatial.ConvexHull(points).vertices]
        return corners
    except (scipy.spatial.QhullError, ValueError):
        return points


def _merge_links(parts: list[tuple[tuple[str, ...], Array]]) -> list[tuple[tuple[str, ...], Array]]:
    """Merge parts of one body as long as a common capsule of two parts is no bulkier than their two capsules."""
    merged = [(links, points, _initial_axes(points)[0][0]) for links, points in parts]
    while len(merged) > 1:
        unions = []
        for a, b in combinations(sorted(merged, key=lambda part: -part[2]), 2):
            points = np.vstack([a[1], b[1]])
            volume = _initial_axes(points)[0][0]
            unions.append((volume / (a[2] + b[2]), a, b, points, volume))
        ratio, a, b, points, volume = min(unions, key=lambda union: union[0])
        if ratio > 1.0:
            break
        merged = [part for part in merged if part is not a and part is not b]
        merged.append(((*a[0], *b[0]), hull_vertices(points), volume))
    return [(links, points) for links, points, _ in merged]


def _initial_axes(points: Array) -> list[tuple[float, Array, Array]]:
    """Return (volume, axis, point on the axis) of capsules along six axes, the smallest volume first."""
    axes = [*np.eye(3), *np.linalg.svd(points - points.mean(axis=0), full_matrices=False)[2]]
    starts = []
    for axis in axes:
        orthogonal = _orthogonal_axes(axis)
        projected = points @ orthogonal
        anchor = orthogonal @ (0.5 * (projected.min(axis=0) + projected.max(axis=0)))
        low, high, radius = _enclosing_ends(points, axis, anchor)
        starts.append((_volume(high - low, radius), axis, anchor))
    return sorted(starts, key=lambda start: start[0])


def _refine_axis(points: Array, volume: float, axis: Array, anchor: Array) -> tuple[float, Array, Array]:
    if volume < 1e-12:  # m³, a cube with sides of 0.1 mm: the points lie on a line
        return volume, axis, anchor
    orthogonal = _orthogonal_axes(axis)
    size = np.ptp(points, axis=0).max()

    def line(x: Array) -> tuple[Array, Array]:
        tilted = axis + orthogonal @ x[:2]
        return tilted / np.linalg.norm(tilted), anchor + size * (orthogonal @ x[2:])

    def relative_volume(x: Array) -> float:
        low, high, radius = _enclosing_ends(points, *line(x))
        return _volume(high - low, radius) / volume

    corners = np.vstack([np.zeros(4), 0.1 * np.eye(4)])  # tilts of 6 degrees, shifts of a tenth of the size
    options = {"initial_simplex": corners, "maxfev": 250, "xatol": 1e-3, "fatol": 1e-3}  # 0.1 % is accurate enough
    optimum = scipy.optimize.minimize(relative_volume, np.zeros(4), method="Nelder-Mead", options=options)
    return (optimum.fun * volume, *line(optimum.x)) if optimum.fun < 1.0 else (volume, axis, anchor)


def _enclosing_ends(points: Array, axis: Array, anchor: Array) -> tuple[float, float, float]:
    """Return both ends (m along the axis, from the anchor) and the radius of the shortest capsule around all points.

    The radius r is the largest distance x of a point from the axis. A point at height z is inside if the upper end is
    at ``z - √(r² - x²)`` or above and the lower end is at ``z + √(r² - x²)`` or below.
    """
    from_anchor = points - anchor
    z = from_anchor @ axis
    squared = np.maximum(np.einsum("ij,ij->i", from_anchor, from_anchor) - z * z, 0.0)
    greatest = squared.max()
    reach = np.sqrt(greatest - squared)
    low, high = float((z + reach).min()), float((z - reach).max())
    if low > high:  # one ball encloses all points
        low = high = 0.5 * (low + high)
    return low, high, float(np.sqrt(greatest))


def _orthogonal_axes(axis: Array) -> Array:
    """Return two unit vectors orthogonal to an axis and to each other, as columns (3 x 2)."""
    return np.linalg.svd(axis[None])[2][1:].T


def _volume(length: float, radius: float) -> float:
    return np.pi * radius**2 * (length + 4.0 / 3.0 * radius)
