"""Triangle meshes with normals for browsers: simple solids and the shapes of a robot."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from poise.arrays import Array
from poise.extras import fast_simplification, mujoco, scipy
from poise.rendering.visual_model import Shape, VisualModel

Faces = NDArray[np.int64]
Solid = tuple[Array, Faces]

#: Points on a circle: at 15 degrees per edge it looks round.
CIRCLE_POINTS = 24


def box(half_lengths: tuple[float, float, float]) -> Solid:
    """Return a box centered at the origin, with half lengths along x, y and z (m)."""
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=np.float64)
    squares = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    faces = [face for a, b, c, d in squares for face in ((a, b, c), (a, c, d))]
    return corners * np.array(half_lengths), np.array(faces, dtype=np.int64)


def sphere(radius: float) -> Solid:
    """Return a sphere centered at the origin (m)."""
    angles = np.linspace(-np.pi / 2, np.pi / 2, CIRCLE_POINTS // 2 + 1)
    return _revolve(radius * np.cos(angles), radius * np.sin(angles))


def cylinder(radius: float, half_length: float) -> Solid:
    """Return a closed cylinder along z, centered at the origin (m)."""
    return _revolve(
        np.array([0.0, radius, radius, 0.0]), np.array([-half_length, -half_length, half_length, half_length])
    )


def capsule(radius: float, half_length: float) -> Solid:
    """Return a cylinder along z with a hemisphere at each end (m); ``half_length`` is that of the cylinder alone."""
    low = np.linspace(-np.pi / 2, 0.0, CIRCLE_POINTS // 4 + 1)
    r = radius * np.concatenate([np.cos(low), np.cos(low[::-1])])
    z = np.concatenate([-half_length + radius * np.sin(low), half_length - radius * np.sin(low[::-1])])
    return _revolve(r, z)


def _revolve(r: Array, z: Array) -> Solid:
    """Return the surface of revolution about z of a profile (r, z), given from bottom to top."""
    angle = np.linspace(0.0, 2.0 * np.pi, CIRCLE_POINTS, endpoint=False)
    points = np.stack(
        [np.outer(r, np.cos(angle)), np.outer(r, np.sin(angle)), np.repeat(z[:, None], CIRCLE_POINTS, axis=1)], axis=-1
    )
    faces = []
    for i in range(len(r) - 1):
        for j in range(CIRCLE_POINTS):
            a, b = i * CIRCLE_POINTS + j, i * CIRCLE_POINTS + (j + 1) % CIRCLE_POINTS
            faces += [(a, b, b + CIRCLE_POINTS), (a, b + CIRCLE_POINTS, a + CIRCLE_POINTS)]
    return points.reshape(-1, 3), np.array(faces, dtype=np.int64)


# -- Surfaces of the shapes of a robot -------------------------------------------------------------------------------


Color = tuple[float, ...]

#: Largest number of triangles per shape: G1, the robot with the most, takes 4 MB of a page and looks as in a picture.
MAX_TRIANGLES = 3000
#: Vertices closer than this (m) are merged: mesh files often repeat a vertex for each of its triangles.
MERGE_DISTANCE = 1e-5
#: A vertex that simplification places further than this (m) from all original vertices is moved back to the nearest
#: one: on edges of thin plates, the optimal vertex for the adjacent planes may be centimeters away.
MAX_DISPLACEMENT = 0.002
#: Triangles that meet at a smaller angle (rad) share a normal and look smooth; others form a sharp edge.
CREASE_ANGLE = math.radians(35.0)


class Mesh(NamedTuple):
    """Triangle mesh: points (n x 3, m), and triangles as indices of points (k x 3), counter-clockwise from outside."""

    points: Array
    faces: Faces


@dataclass(frozen=True, eq=False)
class Surface:
    """Triangle mesh with normals and a color, fixed to a joint of the robot or to the world.

    Points (m) and normals are in the frame of the joint.

    Attributes:
        joint: index of the joint that carries the surface; 0 for surfaces fixed to the world.
        color: red, green, blue, alpha, from 0 to 1.
    """

    joint: int
    color: Color
    points: Array
    normals: Array
    faces: Faces


def surface_with_normals(joint: int, color: Color, mesh: Mesh) -> Surface:
    """Add normals to a mesh; a point on a sharp edge is repeated, with one normal for each side."""
    corners = mesh.points[mesh.faces]
    area_vectors = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    area = np.linalg.norm(area_vectors, axis=1)
    nonzero = area > 0.0
    faces, area_vectors, area = mesh.faces[nonzero], area_vectors[nonzero], area[nonzero]
    unit_normals = area_vectors / area[:, None]
    normals = _corner_normals(faces, area_vectors, unit_normals, len(mesh.points))
    keys = np.hstack([faces.reshape(-1, 1), np.round(127.0 * normals).astype(np.int64)])
    _, first, inverse = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    return Surface(joint, color, mesh.points[faces.ravel()[first]], normals[first], inverse.reshape(-1, 3))


def _corner_normals(faces: Faces, area_vectors: Array, unit_normals: Array, points: int) -> Array:
    """Return a unit normal for each corner of each of the k triangles, in the order of the faces (3 k x 3).

    It is the area-weighted mean normal of the triangles at that vertex which no sharp edge separates from this one.
    """
    vertex = faces.ravel()
    triangle = np.repeat(np.arange(len(faces)), 3)
    order = np.argsort(vertex, kind="stable")
    count = np.bincount(vertex, minlength=points)
    start = np.concatenate([[0], np.cumsum(count)])[:-1]
    # Pair every corner with every triangle at its vertex: `corner` holds the corners, `adjacent` the triangles.
    repeats = count[vertex]
    corner = np.repeat(np.arange(len(vertex)), repeats)
    offset = np.arange(len(corner)) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    adjacent = triangle[order[start[vertex[corner]] + offset]]
    is_smooth = np.einsum("ij,ij->i", unit_normals[triangle[corner]], unit_normals[adjacent]) > math.cos(CREASE_ANGLE)
    total = np.zeros((len(vertex), 3))
    np.add.at(total, corner[is_smooth], area_vectors[adjacent[is_smooth]])
    return total / np.linalg.norm(total, axis=1)[:, None]


def shape_mesh(model: VisualModel, shape: Shape, max_triangles: int = MAX_TRIANGLES) -> Mesh:
    """Return a shape of a robot as triangles in the frame of its joint.

    A mesh is simplified to at most ``max_triangles``, unless it has too many separate pieces.
    """
    kinds, (a, b, c) = mujoco.mjtGeom, shape.size
    match shape.type:
        case kinds.mjGEOM_MESH:
            mesh = _simplify(_mujoco_mesh(model.model, shape.mesh), max_triangles)
        case kinds.mjGEOM_SPHERE:
            mesh = Mesh(*sphere(a))
        case kinds.mjGEOM_CYLINDER:
            mesh = Mesh(*cylinder(a, b))
        case kinds.mjGEOM_CAPSULE:
            mesh = Mesh(*capsule(a, b))
        case _:
            mesh = Mesh(*box((a, b, c)))
    pose = shape.joint_from_shape
    return Mesh(mesh.points @ pose.rotation.T + pose.translation, mesh.faces)


def _mujoco_mesh(model: mujoco.MjModel, number: int) -> Mesh:
    first, count = int(model.mesh_vertadr[number]), int(model.mesh_vertnum[number])
    begin, faces = int(model.mesh_faceadr[number]), int(model.mesh_facenum[number])
    points = np.asarray(model.mesh_vert[first : first + count], dtype=np.float64)
    return Mesh(points, np.asarray(model.mesh_face[begin : begin + faces], dtype=np.int64))


def _simplify(mesh: Mesh, max_triangles: int) -> Mesh:
    """Simplify a mesh where its curvature is smallest, to ``max_triangles`` unless it has too many separate pieces."""
    rounded = np.round(mesh.points / MERGE_DISTANCE).astype(np.int64)
    _, first, inverse = np.unique(rounded, axis=0, return_index=True, return_inverse=True)
    points, faces = mesh.points[first], inverse.ravel()[mesh.faces]
    faces = faces[(faces != np.roll(faces, 1, axis=1)).all(axis=1)]
    if len(faces) <= max_triangles:
        return Mesh(points, faces)
    simplified, simplified_faces = fast_simplification.simplify(
        points.astype(np.float32), faces.astype(np.int32), target_count=max_triangles
    )
    simplified = np.asarray(simplified, dtype=np.float64)
    distance, nearest = scipy.spatial.cKDTree(points).query(simplified)
    displaced = distance > MAX_DISPLACEMENT
    simplified[displaced] = points[nearest[displaced]]
    return Mesh(simplified, np.asarray(simplified_faces, dtype=np.int64))
