"""Visual meshes with their colours, read from Collada files where Pinocchio drops the materials.

The reader behind `robot.visual_geometry` keeps no colours, and where a body is made of several materials it mixes up
the triangles of all but the first. For pictures such files are read again here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pinocchio
from numpy.typing import NDArray

from poise.arrays import Array
from poise.robots import vertices

Color = tuple[float, ...]


@dataclass(frozen=True)
class Part:
    """The triangles of one material.

    Attributes:
        points: vertices in the frame of the file, (n, 3), in its unit.
        faces: triangles, (m, 3).
        color: red, green, blue, alpha from 0 to 1; none if it is a texture or missing.
    """

    points: Array
    faces: NDArray[np.int32]
    color: Color | None


class Collada:
    """A Collada file: only what a picture needs of it."""

    def __init__(self, path: str | Path) -> None:
        self._root = ElementTree.parse(path).getroot()
        for element in self._root.iter():
            element.tag = element.tag.rpartition("}")[2]  # without the name space
        self._named = {element.get("id"): element for element in self._root.iter() if element.get("id")}

    @cached_property
    def parts(self) -> list[Part]:
        """All bodies of the scene, in pieces of one material each."""
        return [
            part
            for scene in self._root.iterfind("library_visual_scenes/visual_scene")
            for node in scene.iterfind("node")
            for part in self._in_node(node, np.eye(4))
        ]

    @property
    def unit(self) -> float:
        """Length of the file's unit (m)."""
        given = self._root.find("asset/unit")
        return 1.0 if given is None else float(given.get("meter", 1.0))

    def _in_node(self, node: ElementTree.Element, above: Array) -> Iterator[Part]:
        T = above @ _transform(node)
        for instance in node.iterfind("instance_geometry"):
            bound = {b.get("symbol", ""): b.get("target", "") for b in instance.iter("instance_material")}
            for mesh in self._at(instance.get("url", "")).iterfind("mesh"):
                for element in mesh:
                    if element.tag in ("triangles", "polylist", "polygons"):
                        points, faces = self._triangles(element)
                        material = element.get("material", "")
                        color = self._color(bound.get(material, f"#{material}"))
                        yield Part(points @ T[:3, :3].T + T[:3, 3], faces, color)
        for child in node.iterfind("node"):
            yield from self._in_node(child, T)

    def _triangles(self, element: ElementTree.Element) -> tuple[Array, NDArray[np.int32]]:
        inputs = element.findall("input")
        stride = 1 + max(int(one.get("offset", 0)) for one in inputs)
        vertex = next(one for one in inputs if one.get("semantic") == "VERTEX")
        position = self._at(vertex.get("source", "")).find("input[@semantic='POSITION']")
        if position is None:
            raise ValueError("vertices without positions")
        points = _numbers(self._at(position.get("source", "")).find("float_array")).reshape(-1, 3)
        lists = [_numbers(p).astype(np.int32).reshape(-1, stride) for p in element.iterfind("p")]
        corners = [one[:, int(vertex.get("offset", 0))] for one in lists]
        if element.tag == "polylist":
            counts = _numbers(element.find("vcount")).astype(int)
            polygons = np.split(corners[0], np.cumsum(counts)[:-1])
        elif element.tag == "triangles":
            polygons = [corner for one in corners for corner in one.reshape(-1, 3)]
        else:
            polygons = corners
        fans = [(p[0], p[i], p[i + 1]) for p in polygons for i in range(1, len(p) - 1)]
        faces = np.array(fans, dtype=np.int32).reshape(-1, 3)
        used, renamed = np.unique(faces, return_inverse=True)
        return points[used], renamed.reshape(-1, 3).astype(np.int32)

    def _color(self, material: str) -> Color | None:
        effect = self._at(material).find("instance_effect") if material[1:] in self._named else None
        if effect is None:
            return None
        color = self._at(effect.get("url", "")).find("profile_COMMON/technique/*/diffuse/color")
        if color is None:
            return None
        red, green, blue = _numbers(color)[:3]
        return float(red), float(green), float(blue), 1.0

    def _at(self, address: str) -> ElementTree.Element:
        return self._named[address.removeprefix("#")]


def _transform(node: ElementTree.Element) -> Array:
    """Product of the transformations that a node lists, (4, 4)."""
    T = np.eye(4)
    for element in node:
        step = np.eye(4)
        match element.tag:
            case "matrix":
                step = _numbers(element).reshape(4, 4)
            case "translate":
                step[:3, 3] = _numbers(element)
            case "scale":
                step[:3, :3] = np.diag(_numbers(element))
            case "rotate":
                x, y, z, degrees = _numbers(element)
                n, a = np.array([x, y, z]) / math.hypot(x, y, z), math.radians(degrees)
                N = np.array([[0.0, -n[2], n[1]], [n[2], 0.0, -n[0]], [-n[1], n[0], 0.0]])
                step[:3, :3] += math.sin(a) * N + (1.0 - math.cos(a)) * N @ N
            case _:
                continue
        T = T @ step
    return T


def _numbers(element: ElementTree.Element | None) -> Array:
    return np.array("" if element is None or element.text is None else element.text.split(), dtype=np.float64)


# -- The meshes of a robot's shapes as surfaces that can be drawn ----------------------------------------------------


Faces = NDArray[np.int32]

#: A file that is read again must have the extent it had before, to a hair (m).
HAIR = 1e-4


def is_mesh(shape: pinocchio.GeometryObject) -> bool:
    """Whether a shape is made of triangles, and no simple solid."""
    return hasattr(shape.geometry, "tri_indices")  # of coal, whose classes of meshes are many


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
    """A Collada file read again, see `poise.rendering.collada`; nothing if it is none or is not understood."""
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
