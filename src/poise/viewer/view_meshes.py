"""Simplified meshes of a robot, with few enough triangles for a browser to draw at 30 Hz, cached on disk."""

from __future__ import annotations

import hashlib
import math
from collections import defaultdict
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from poise.arrays import Array
from poise.cache import Arrays, load_arrays, save_arrays
from poise.extras import fast_simplification
from poise.rendering import Mesh, shape_mesh, surface_with_normals, visual_model_of
from poise.robots import Robot

#: Largest number of triangles per mesh part (a link, or the part of a link that has one color). Without a graphics
#: card the frame rate with G1 is then 4.5 times that of full detail.
MAX_TRIANGLES = 800
#: Version of the cache. Increase it whenever the triangles of a robot or their storage format change.
CACHE_VERSION = 2


@dataclass(frozen=True, eq=False)
class MeshPart:
    """Mesh of the shapes of one color that are attached to one joint.

    Attributes:
        joint: index of the joint in the pinocchio model.
        color: red, green, blue, alpha, from 0 to 1.
        points: n x 3, in the frame of the joint (m).
        faces: k x 3, triangles as indices of points, visible from both sides. Points on a sharp edge are duplicated for
            each side, so that normals averaged over triangles do not smooth the edge.
    """

    joint: int
    color: tuple[float, float, float, float]
    points: NDArray[np.float32]
    faces: NDArray[np.uint32]


def mesh_parts(robot: Robot, max_triangles: int = MAX_TRIANGLES) -> tuple[MeshPart, ...]:
    """Return the meshes of a robot, one part for each joint and color, with at most `max_triangles` triangles each.

    They are cached on disk, see `poise.cache`: simplification takes seconds, reading takes milliseconds.

    >>> sum(len(part.faces) for part in mesh_parts(poise.load_robot("g1")))
    """
    name = _cache_name(robot, max_triangles)
    parts = _unpack(load_arrays(name) if name else None, robot)
    if parts is None:
        parts = tuple(
            MeshPart(joint, color, mesh.points.astype(np.float32), mesh.faces.astype(np.uint32))
            for joint, color, mesh in simplified_meshes(robot, max_triangles)
        )
        if name:
            save_arrays(name, _pack(parts))
    return parts


def _cache_name(robot: Robot, max_triangles: int) -> str | None:
    """Return a cache key that is equal for robots with equal shapes; None if the shapes have no key."""
    key = robot._geometry.cache_key()
    key_parts = [CACHE_VERSION, max_triangles, key, list(robot.model.names)]
    return f"shapes-{hashlib.sha256(repr(key_parts).encode()).hexdigest()[:32]}" if key else None


def _pack(parts: tuple[MeshPart, ...]) -> Arrays:
    """Concatenate all points and all faces to one array each: many small arrays take longer to read."""
    return {
        "joints": np.array([part.joint for part in parts], dtype=np.int64),
        "colors": np.array([part.color for part in parts], dtype=np.float64).reshape(-1, 4),
        "counts": np.array([(len(p.points), len(p.faces)) for p in parts], dtype=np.int64).reshape(-1, 2),
        "points": np.concatenate([np.zeros((0, 3), np.float32), *(part.points for part in parts)]),
        "faces": np.concatenate([np.zeros((0, 3), np.uint32), *(part.faces for part in parts)]),
    }


def _unpack(arrays: Arrays | None, robot: Robot) -> tuple[MeshPart, ...] | None:
    """Return the parts stored by `_pack`; None if the arrays are missing or invalid."""
    try:
        assert arrays is not None
        joints, colors, counts = (arrays[name] for name in ("joints", "colors", "counts"))
        n, m = np.cumsum(counts, axis=0)[:-1].T
        points, faces = np.split(arrays["points"], n), np.split(arrays["faces"], m)
        parts = []
        for joint, color, p, f, (points_of, faces_of) in zip(joints, colors, points, faces, counts, strict=True):
            r, g, b, a = (float(channel) for channel in color)
            assert (p.shape, f.shape) == ((points_of, 3), (faces_of, 3))
            assert (p.dtype.name, f.dtype.name) == ("float32", "uint32")
            assert 0 <= int(joint) < robot.model.njoints
            assert np.isfinite(p).all()
            assert not f.size or int(f.max()) < len(p)
            parts.append(MeshPart(int(joint), (r, g, b, a), p, f))
        return tuple(parts)
    except (AssertionError, KeyError, ValueError, TypeError, IndexError):
        return None


# -- Mesh simplification ---------------------------------------------------------------------------------------------


Color = tuple[float, float, float, float]

#: Number of triangles above that of any mesh.
NO_LIMIT = 2**31 - 1
#: Parameter `agg` of `fast_simplification`, 0 (careful) to 10. With 3, the chest of G1, reduced from 18 000 to 600
#: triangles, deviates by 2 mm on average and 15 mm at most; with the default of 7, by 6 mm and 40 mm.
AGGRESSIVENESS = 3
#: Cell sizes of vertex clustering, tried in turn (m); a pixel is 2 mm when a robot fills the view.
CLUSTER_SIZES = (0.0, 0.001, 0.002, 0.004, 0.008, 0.016, 0.032)


def simplified_meshes(robot: Robot, max_triangles: int) -> list[tuple[int, Color, Mesh]]:
    """Return joint, color and simplified mesh for each joint and color, with at most `max_triangles` each."""
    robot_figure = visual_model_of(robot)
    meshes_by_part: dict[tuple[int, Color], list[Mesh]] = defaultdict(list)
    for shape in robot_figure.shapes:
        r, g, b, a = shape.color
        meshes_by_part[shape.joint, (r, g, b, a)].append(_without_duplicates(shape_mesh(robot_figure, shape, NO_LIMIT)))
    parts = []
    for (joint, color), meshes in sorted(meshes_by_part.items(), key=lambda item: item[0]):
        limits = _triangle_budgets(meshes, max_triangles)
        parts.append((joint, color, _join([_simplify(mesh, k) for mesh, k in zip(meshes, limits, strict=True)])))
    return parts


def _without_duplicates(mesh: Mesh) -> Mesh:
    """Remove triangles with the same corners as another one: open surfaces often include their back faces."""
    _, first = np.unique(np.sort(mesh.faces, axis=1), axis=0, return_index=True)
    return Mesh(mesh.points, mesh.faces[np.sort(first)])


def _triangle_budgets(meshes: list[Mesh], max_triangles: int) -> list[int]:
    """Distribute `max_triangles` over meshes. With N_i the triangles of mesh i and w_i the square root of its area,

        n_i = min(N_i, c w_i),    sum n_i <= max_triangles

    The square root gives small meshes more detail: a head has a seventh of the area of a chest, but needs more than a
    seventh of the triangles.
    """
    limits = np.array([len(mesh.faces) for mesh in meshes])
    widths = np.array([math.sqrt(float(_areas(mesh).sum())) for mesh in meshes]) + 1e-9
    unreduced = np.zeros(len(meshes), dtype=bool)  # meshes that keep all their triangles
    while limits[unreduced].sum() + limits[~unreduced].sum() > max_triangles:
        share = max(max_triangles - int(limits[unreduced].sum()), 0) * widths / widths[~unreduced].sum()
        satisfied = ~unreduced & (limits <= share)
        if not satisfied.any():
            limits[~unreduced] = share[~unreduced].astype(limits.dtype)
            break
        unreduced |= satisfied
    return [int(limit) for limit in limits]


def _areas(mesh: Mesh) -> Array:
    a, b, c = (mesh.points[mesh.faces[:, i]] for i in range(3))
    return np.linalg.norm(np.cross(b - a, c - a), axis=1) / 2


def _simplify(mesh: Mesh, limit: int) -> Mesh:
    """Reduce a mesh to at most `limit` triangles, with most detail where it is most curved.

    A mesh of many separate pieces, such as a motor with its screws, can only be reduced that far after nearby vertices
    are merged. If that does not suffice either, the largest triangles are kept.
    """
    for cell in CLUSTER_SIZES:
        if cell > 0.0 and len(mesh.faces) > limit:
            mesh = _cluster_vertices(mesh, cell)
        if len(mesh.faces) <= limit:
            return mesh
        points, faces = mesh.points.astype(np.float32), mesh.faces.astype(np.int32)
        points, faces = fast_simplification.simplify(points, faces, target_count=limit, agg=AGGRESSIVENESS)
        mesh = Mesh(points.astype(np.float64), faces.astype(np.int64))
    largest = np.argsort(-_areas(mesh), kind="stable")[:limit]
    return Mesh(mesh.points, mesh.faces[np.sort(largest)])


def _cluster_vertices(mesh: Mesh, cell: float) -> Mesh:
    """Merge all vertices within each cell of a cubic grid of this size (m) to their mean."""
    _, cluster = np.unique(np.floor(mesh.points / cell).astype(np.int64), axis=0, return_inverse=True)
    cluster = cluster.ravel()
    count = np.bincount(cluster)
    points = np.stack([np.bincount(cluster, mesh.points[:, i]) / count for i in range(3)], axis=1)
    faces = cluster[mesh.faces]
    return _without_duplicates(Mesh(points, faces[(faces != np.roll(faces, 1, axis=1)).all(axis=1)]))


def _join(meshes: list[Mesh]) -> Mesh:
    """Join meshes to one, with points on sharp edges duplicated for each side."""
    starts = np.cumsum([0, *(len(mesh.points) for mesh in meshes)])
    faces = np.concatenate([mesh.faces + start for mesh, start in zip(meshes, starts, strict=False)])
    whole = surface_with_normals(0, (), Mesh(np.concatenate([mesh.points for mesh in meshes]), faces))
    return Mesh(whole.points, whole.faces)
