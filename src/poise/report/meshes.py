"""The meshes of a robot's shapes as surfaces that can be drawn."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree import ElementTree

import numpy as np
import pinocchio
from numpy.typing import NDArray

from poise.report.collada import Collada, Part
from poise.robots.shapes import vertices

Array = NDArray[np.float64]
Faces = NDArray[np.int32]

#: A file that is read again must have the extent it had before, to a hair (m).
HAIR = 1e-4


def is_mesh(shape: pinocchio.GeometryObject) -> bool:
    """Whether a shape is made of triangles, and no simple solid."""
    return hasattr(shape.geometry, "tri_indices")


def surfaces(shape: pinocchio.GeometryObject) -> Iterator[Part]:
    """The mesh of a shape in pieces of one colour, in the frame of the shape (m).

    Triangles run counter-clockwise seen from where they are to be seen: a closed surface from outside, an open one from
    both sides, so that its triangles are there twice.
    """
    for part in _coloured(shape) or [_plain(shape)]:
        points, faces = part.points, part.faces
        if np.prod(shape.meshScale) < 0.0:  # a mirror turns them inside out
            faces = faces[:, ::-1]
        if not _is_closed(points, faces):
            points, faces = np.vstack([points, points]), np.vstack([faces, faces[:, ::-1] + np.int32(len(points))])
        yield Part(points, faces, part.color)


def _plain(shape: pinocchio.GeometryObject) -> Part:
    mesh = shape.geometry
    triangles = (mesh.tri_indices(i) for i in range(mesh.num_tris))
    return Part(vertices(shape), np.array([(t[0], t[1], t[2]) for t in triangles], dtype=np.int32), None)


def _coloured(shape: pinocchio.GeometryObject) -> list[Part]:
    """A Collada file read again, see `poise.report.collada`; nothing if it is none or is not understood."""
    if not shape.meshPath.lower().endswith(".dae"):
        return []
    try:
        file = Collada(shape.meshPath)
        parts = [part for part in file.parts if len(part.faces)]
    except (OSError, ElementTree.ParseError, KeyError, ValueError, StopIteration):
        return []
    if not parts:
        return []
    every, expected = np.vstack([part.points for part in parts]), _extent(vertices(shape))
    for scale in (shape.meshScale, file.unit * shape.meshScale):
        if np.abs(_extent(every * scale) - expected).max() < HAIR:
            return [Part(part.points * scale, part.faces, part.color) for part in parts]
    return []


def _is_closed(points: Array, faces: Faces) -> bool:
    """Whether, but for one in a hundred, an edge a to b of a triangle is an edge b to a of another."""
    _, merged = np.unique(points.round(6), axis=0, return_inverse=True)  # some files repeat a vertex for each triangle
    corners = merged.ravel()[faces].astype(np.int64)
    begin, end = corners.ravel(), np.roll(corners, -1, axis=1).ravel()
    return bool(np.isin(begin * len(points) + end, end * len(points) + begin).mean() > 0.99)


def _extent(points: Array) -> Array:
    return np.array([points.min(axis=0), points.max(axis=0)])
