"""Surfaces of a robot's shapes as triangles with normals, few enough for a page."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from poise.exports.scene.solids import box, capsule, cylinder, sphere
from poise.report.figure import Figure, Shape

Array = NDArray[np.float64]
Faces = NDArray[np.int64]
Color = tuple[float, ...]

#: Triangles that a shape may keep: G1, which has the most, then takes 4 MB of a page and looks as in a picture.
MOST = 3000
#: Vertices nearer than this (m) are one: files often repeat a vertex for each of its triangles.
SAME = 1e-5
#: A point that simplifying moved further than this (m) from all that there were goes back to the nearest: along the
#: edges of thin plates the best point for the planes around may be centimetres away.
ASTRAY = 0.002
#: Triangles that meet at a smaller angle (rad) share a normal and look round; others form an edge.
CREASE = math.radians(35.0)


class Mesh(NamedTuple):
    """Points (m), n x 3, and triangles, m x 3, counter-clockwise from outside."""

    points: Array
    faces: Faces


@dataclass(frozen=True, eq=False)
class Surface:
    """Something to draw: points (m) with normals and triangles, in the frame of a body.

    Attributes:
        joint: number of the joint that carries it; 0 for what stands in the world.
        color: red, green, blue, alpha, from 0 to 1.
    """

    joint: int
    color: Color
    points: Array
    normals: Array
    faces: Faces


def surface(joint: int, color: Color, mesh: Mesh) -> Surface:
    """A mesh with normals; a point on an edge becomes one for each side."""
    corners = mesh.points[mesh.faces]
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    area = np.linalg.norm(across, axis=1)
    solid = area > 0.0
    faces, across, area = mesh.faces[solid], across[solid], area[solid]
    unit = across / area[:, None]
    normals = _corner_normals(faces, across, unit, len(mesh.points))
    keys = np.hstack([faces.reshape(-1, 1), np.round(127.0 * normals).astype(np.int64)])
    _, first, which = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    return Surface(joint, color, mesh.points[faces.ravel()[first]], normals[first], which.reshape(-1, 3))


def _corner_normals(faces: Faces, across: Array, unit: Array, points: int) -> Array:
    """For each corner of each triangle, the mean direction of the triangles around it that are not behind an edge."""
    vertex = faces.ravel()
    owner = np.repeat(np.arange(len(faces)), 3)
    order = np.argsort(vertex, kind="stable")
    count = np.bincount(vertex, minlength=points)
    start = np.concatenate([[0], np.cumsum(count)])[:-1]
    # Every corner meets every triangle of its vertex: corner numbers, and beside them the triangles.
    times = count[vertex]
    corner = np.repeat(np.arange(len(vertex)), times)
    within = np.arange(len(corner)) - np.repeat(np.cumsum(times) - times, times)
    other = owner[order[start[vertex[corner]] + within]]
    together = np.einsum("ij,ij->i", unit[owner[corner]], unit[other]) > math.cos(CREASE)
    total = np.zeros((len(vertex), 3))
    np.add.at(total, corner[together], across[other[together]])
    return total / np.linalg.norm(total, axis=1)[:, None]


def shape_mesh(figure: Figure, shape: Shape, most: int = MOST) -> Mesh:
    """A shape of a figure as triangles on its joint, a mesh with at most so many if it can be simplified that far."""
    kinds, (a, b, c) = mujoco.mjtGeom, shape.size
    match shape.type:
        case kinds.mjGEOM_MESH:
            mesh = _simple(_stored(figure.model, shape.mesh), most)
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


def _stored(model: mujoco.MjModel, number: int) -> Mesh:
    first, count = int(model.mesh_vertadr[number]), int(model.mesh_vertnum[number])
    begin, faces = int(model.mesh_faceadr[number]), int(model.mesh_facenum[number])
    points = np.asarray(model.mesh_vert[first : first + count], dtype=np.float64)
    return Mesh(points, np.asarray(model.mesh_face[begin : begin + faces], dtype=np.int64))


def _simple(mesh: Mesh, most: int) -> Mesh:
    """The mesh with fewer triangles where it bends least; `most`, unless it is of too many separate pieces."""
    import fast_simplification

    rounded = np.round(mesh.points / SAME).astype(np.int64)
    _, first, which = np.unique(rounded, axis=0, return_index=True, return_inverse=True)
    points, faces = mesh.points[first], which.ravel()[mesh.faces]
    faces = faces[(faces != np.roll(faces, 1, axis=1)).all(axis=1)]
    if len(faces) <= most:
        return Mesh(points, faces)
    fewer, kept = fast_simplification.simplify(points.astype(np.float32), faces.astype(np.int32), target_count=most)
    fewer = np.asarray(fewer, dtype=np.float64)
    distance, nearest = cKDTree(points).query(fewer)
    astray = distance > ASTRAY
    fewer[astray] = points[nearest[astray]]
    return Mesh(fewer, np.asarray(kept, dtype=np.int64))
