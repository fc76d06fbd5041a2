"""The shapes of a robot, with their meshes: read only when somebody wants to see or collide them."""

from __future__ import annotations

import hashlib
import re
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pinocchio

from poise.arrays import Array
from poise.errors import RobotError
from poise.robots.urdf import build_model, one_line, quiet, reduction

#: Turns a mesh with y up (as some Collada files say of themselves) so that z is up.
Y_UP = pinocchio.SE3(pinocchio.rpy.rpyToMatrix(np.pi / 2, 0.0, 0.0), np.zeros(3))
#: Points on a circle: between two of them it bulges by 1 - cos(pi / 24), 0.9 % of its radius, and a ball both ways.
AROUND = 24
#: Shapes of so many robots, drawn or colliding, are kept for the next that has the same; those of G1 take 250 MB.
KEPT = 6


@dataclass(frozen=True)
class Shapes:
    """Where the shapes are: the URDF, the directories of its packages, and the joints locked in the model.

    The text is that of which the model was built, whatever became of the file since; of a URDF that was made rather
    than read, the path is only a name.
    """

    path: Path
    packages: tuple[Path, ...]
    locked: Mapping[str, float]
    text: str

    def key(self) -> str | None:
        """The same for shapes that are the same: description, locked joints, and the meshes by size and time.

        None if a mesh is not where we look, as its reader knows more folders: nobody could tell that it changed.
        """
        facts: list[object] = [str(self.path), self.text, sorted(self.locked.items()), list(map(str, self.packages))]
        for address in self.meshes():
            stamps = [_stamp(place) for place in self._places(address)]
            if not any(stamps):
                return None
            facts.append((address, stamps))
        return hashlib.sha256(repr(facts).encode()).hexdigest()[:32]

    def meshes(self) -> list[str]:
        """Addresses of the files of meshes."""
        return sorted({mesh.get("filename", "") for mesh in ElementTree.fromstring(self.text).iter("mesh")})

    def load(self, kind: pinocchio.GeometryType) -> pinocchio.GeometryModel:
        """The visual or collision shapes, attached to the joints and frames of the robot's model.

        Meshes are shared by all robots that have the same, where each is placed is not.
        """
        key = self.key()
        if key is None:
            return self._read(kind)
        name = (key, str(kind))
        with _lock:
            shapes = _kept.get(name)
        if shapes is None:
            shapes = self._read(kind)
        with _lock:
            _kept[name] = shapes
            _kept.move_to_end(name)
            while len(_kept) > KEPT:
                _kept.popitem(last=False)
        return shapes.copy()

    def _places(self, address: str) -> list[Path]:
        """Where a mesh may lie."""
        if not address.startswith("package://"):
            return [self.path.parent / address.removeprefix("file://")]
        return [package / address.removeprefix("package://") for package in self.packages]

    def _read(self, kind: pinocchio.GeometryType) -> pinocchio.GeometryModel:
        model = build_model(self.path, self.text)
        folders = [str(folder) for folder in self.packages]
        failure = ""
        with quiet():
            try:
                shapes = pinocchio.buildGeomFromUrdfString(model, self.text, kind, package_dirs=folders)
            except Exception as error:
                failure = one_line(str(error)) or type(error).__name__
        if failure:
            mesh = re.search(r"package://\S+|\S+\.(?:stl|dae|obj|ply)\b", failure, re.IGNORECASE)
            message = (
                f"{self.path}: its shapes cannot be read: {failure}; give packages=[...], the folders of its meshes"
            )
            raise RobotError(message, file=str(self.path), element=mesh[0] if mesh else "")
        for shape in shapes.geometryObjects:
            if _has_y_up(shape.meshPath):
                shape.placement = shape.placement * Y_UP
        if self.locked:
            _, shapes = pinocchio.buildReducedModel(model, shapes, *reduction(model, self.locked))
        return shapes


_kept: OrderedDict[tuple[str, str], pinocchio.GeometryModel] = OrderedDict()
_lock = threading.Lock()


def extent(model: pinocchio.Model, q: Array, shapes: pinocchio.GeometryModel) -> tuple[float, float]:
    """Lowest and highest point of the shapes in a configuration (m); of the frames if there are no shapes."""
    data = model.createData()
    pinocchio.framesForwardKinematics(model, data, q)
    heights = [] if len(shapes.geometryObjects) else [pose.translation[2:] for pose in data.oMf]
    for shape in shapes.geometryObjects:
        pose = data.oMi[shape.parentJoint] * shape.placement
        heights.append(vertices(shape) @ pose.rotation[2] + pose.translation[2])
    every = np.concatenate(heights)
    return float(every.min()), float(every.max())


def vertices(shape: pinocchio.GeometryObject) -> Array:
    """The vertices of a mesh, or points of the surface of a simple shape, in its own frame (m).

    Of a ball or a cylinder they are on circles around z, between which it bulges by less than 2 % of its radius; of any
    other simple shape they are the corners of the box around it.
    """
    geometry = shape.geometry
    if hasattr(geometry, "vertices"):  # of coal, whose classes of meshes are many
        return np.asarray(geometry.vertices())  # the scale of the mesh is in them
    match type(geometry).__name__:
        case "Sphere":
            latitude = np.linspace(-np.pi / 2, np.pi / 2, AROUND // 2 + 1)
            return _circles(geometry.radius * np.cos(latitude), geometry.radius * np.sin(latitude))
        case "Cylinder":
            return _circles(np.full(2, geometry.radius), geometry.halfLength * np.array([-1.0, 1.0]))
    geometry.computeLocalAABB()
    low, high = geometry.aabb_local.min_, geometry.aabb_local.max_
    return np.array([[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])])


def _circles(radii: Array, heights: Array) -> Array:
    """Points on circles around z."""
    angle = np.linspace(0.0, 2.0 * np.pi, AROUND, endpoint=False)
    x, y = np.outer(radii, np.cos(angle)), np.outer(radii, np.sin(angle))
    return np.column_stack([x.ravel(), y.ravel(), np.repeat(heights, AROUND)])


def _stamp(file: Path) -> tuple[int, int] | None:
    try:
        about = file.stat()
    except (OSError, ValueError):
        return None
    return about.st_size, about.st_mtime_ns


def _has_y_up(mesh: str) -> bool:
    """Whether a Collada file says that its y axis is up; the mesh reader leaves that to us."""
    if not mesh.lower().endswith(".dae"):
        return False
    with open(mesh, encoding="utf-8", errors="replace") as file:
        found = re.search(r"<up_axis>\s*(\w+)\s*</up_axis>", file.read(65536))  # it stands in the head of the file
    return found is not None and found[1] == "Y_UP"
