"""Collada meshes with their colours.

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
from numpy.typing import NDArray

Array = NDArray[np.float64]
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
