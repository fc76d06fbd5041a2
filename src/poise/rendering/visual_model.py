"""Visual model of a robot: its meshes with their colors in a MuJoCo scene, posed for any state.

The mesh reader behind `robot.visual_geometry` drops colors, and in Collada files with several materials it mixes up
the triangles of all materials but the first. This module therefore reads Collada files again.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from weakref import WeakKeyDictionary
from xml.etree import ElementTree

import numpy as np
import pinocchio
from numpy.typing import NDArray

from poise.arrays import Array
from poise.extras import coal, mujoco
from poise.rendering.camera import FIELD_OF_VIEW
from poise.robots import Robot, State, shape_vertices

Color = tuple[float, ...]


@dataclass(frozen=True)
class MaterialMesh:
    """Triangles of one material.

    Attributes:
        points: vertices (n, 3), in the frame and the unit of the mesh file unless stated otherwise.
        faces: triangles as indices of points, (k, 3).
        color: red, green, blue, alpha from 0 to 1; None if it is a texture or missing.
    """

    points: Array
    faces: NDArray[np.int32]
    color: Color | None


class Collada:
    """Reader of a Collada file, limited to triangles and diffuse colors."""

    def __init__(self, path: str | Path) -> None:
        self._root = ElementTree.parse(path).getroot()
        for element in self._root.iter():
            element.tag = element.tag.rpartition("}")[2]  # remove the name space
        self._elements_by_id = {element.get("id"): element for element in self._root.iter() if element.get("id")}

    @cached_property
    def meshes(self) -> list[MaterialMesh]:
        """All meshes of the scene, split by material, in the frame and the unit of the file."""
        return [
            part
            for scene in self._root.iterfind("library_visual_scenes/visual_scene")
            for node in scene.iterfind("node")
            for part in self._node_meshes(node, np.eye(4))
        ]

    @property
    def unit(self) -> float:
        """Length unit of the file (m)."""
        element = self._root.find("asset/unit")
        return 1.0 if element is None else float(element.get("meter", 1.0))

    def _node_meshes(self, node: ElementTree.Element, parent_transform: Array) -> Iterator[MaterialMesh]:
        T = parent_transform @ _transform(node)
        for instance in node.iterfind("instance_geometry"):
            materials = {b.get("symbol", ""): b.get("target", "") for b in instance.iter("instance_material")}
            for mesh in self._element(instance.get("url", "")).iterfind("mesh"):
                for element in mesh:
                    if element.tag in ("triangles", "polylist", "polygons"):
                        points, faces = self._triangles(element)
                        material = element.get("material", "")
                        color = self._color(materials.get(material, f"#{material}"))
                        yield MaterialMesh(points @ T[:3, :3].T + T[:3, 3], faces, color)
        for child in node.iterfind("node"):
            yield from self._node_meshes(child, T)

    def _triangles(self, element: ElementTree.Element) -> tuple[Array, NDArray[np.int32]]:
        inputs = element.findall("input")
        stride = 1 + max(int(entry.get("offset", 0)) for entry in inputs)
        vertex = next(entry for entry in inputs if entry.get("semantic") == "VERTEX")
        position = self._element(vertex.get("source", "")).find("input[@semantic='POSITION']")
        if position is None:
            raise ValueError("vertices without positions")
        points = _numbers(self._element(position.get("source", "")).find("float_array")).reshape(-1, 3)
        lists = [_numbers(p).astype(np.int32).reshape(-1, stride) for p in element.iterfind("p")]
        corners = [entry[:, int(vertex.get("offset", 0))] for entry in lists]
        if element.tag == "polylist":
            counts = _numbers(element.find("vcount")).astype(int)
            polygons = np.split(corners[0], np.cumsum(counts)[:-1])
        elif element.tag == "triangles":
            polygons = [corner for entry in corners for corner in entry.reshape(-1, 3)]
        else:
            polygons = corners
        triangles = [(p[0], p[i], p[i + 1]) for p in polygons for i in range(1, len(p) - 1)]
        faces = np.array(triangles, dtype=np.int32).reshape(-1, 3)
        used, renumbered = np.unique(faces, return_inverse=True)
        return points[used], renumbered.reshape(-1, 3).astype(np.int32)

    def _color(self, material: str) -> Color | None:
        effect = self._element(material).find("instance_effect") if material[1:] in self._elements_by_id else None
        if effect is None:
            return None
        color = self._element(effect.get("url", "")).find("profile_COMMON/technique/*/diffuse/color")
        if color is None:
            return None
        red, green, blue = _numbers(color)[:3]
        return float(red), float(green), float(blue), 1.0

    def _element(self, url: str) -> ElementTree.Element:
        return self._elements_by_id[url.removeprefix("#")]


def _transform(node: ElementTree.Element) -> Array:
    """Return the product of the transforms of a node, (4, 4)."""
    T = np.eye(4)
    for element in node:
        local_transform = np.eye(4)
        match element.tag:
            case "matrix":
                local_transform = _numbers(element).reshape(4, 4)
            case "translate":
                local_transform[:3, 3] = _numbers(element)
            case "scale":
                local_transform[:3, :3] = np.diag(_numbers(element))
            case "rotate":
                x, y, z, degrees = _numbers(element)
                n, a = np.array([x, y, z]) / math.hypot(x, y, z), math.radians(degrees)
                N = np.array([[0.0, -n[2], n[1]], [n[2], 0.0, -n[0]], [-n[1], n[0], 0.0]])
                local_transform[:3, :3] += math.sin(a) * N + (1.0 - math.cos(a)) * N @ N
            case _:
                continue
        T = T @ local_transform
    return T


def _numbers(element: ElementTree.Element | None) -> Array:
    return np.array("" if element is None or element.text is None else element.text.split(), dtype=np.float64)


# -- Colored meshes of the shapes of a robot ------------------------------------------------------------------------


Faces = NDArray[np.int32]

#: Largest difference between the bounding boxes of the two readings of a mesh file (m).
EXTENT_TOLERANCE = 1e-4


def is_mesh(shape: pinocchio.GeometryObject) -> bool:
    """Return whether a shape is a triangle mesh rather than a simple solid."""
    return isinstance(shape.geometry, coal.BVHModelBase)


def colored_meshes(shape: pinocchio.GeometryObject) -> Iterator[MaterialMesh]:
    """Yield the mesh of a shape split by color, in the frame of the shape (m).

    Triangles are counter-clockwise seen from their visible side. A closed surface is visible from outside; an open one
    is visible from both sides, so that each of its triangles is included twice.
    """
    for part in _collada_meshes(shape) or [_uncolored_mesh(shape)]:
        points, faces = part.points, part.faces
        if np.prod(shape.meshScale) < 0.0:  # mirroring reverses the orientation of the triangles
            faces = faces[:, ::-1]
        if not _is_closed(points, faces):
            points, faces = np.vstack([points, points]), np.vstack([faces, faces[:, ::-1] + np.int32(len(points))])
        yield MaterialMesh(points, faces, part.color)


def _uncolored_mesh(shape: pinocchio.GeometryObject) -> MaterialMesh:
    mesh = shape.geometry
    triangles = (mesh.tri_indices(i) for i in range(mesh.num_tris))
    return MaterialMesh(shape_vertices(shape), np.array([(t[0], t[1], t[2]) for t in triangles], dtype=np.int32), None)


def _collada_meshes(shape: pinocchio.GeometryObject) -> list[MaterialMesh]:
    """Read the Collada file of a shape again; empty if the shape has none or its file cannot be used.

    The result is scaled (m) and its bounding box is checked against the mesh that Pinocchio loaded.
    """
    if not shape.meshPath.lower().endswith(".dae"):
        return []
    try:
        file = Collada(shape.meshPath)
        parts = [part for part in file.meshes if len(part.faces)]
    except (OSError, ElementTree.ParseError, KeyError, ValueError, StopIteration):
        return []
    if not parts:
        return []
    all_points, expected = np.vstack([part.points for part in parts]), _bounding_box(shape_vertices(shape))
    for scale in (shape.meshScale, file.unit * shape.meshScale):
        if np.abs(_bounding_box(all_points * scale) - expected).max() < EXTENT_TOLERANCE:
            return [MaterialMesh(part.points * scale, part.faces, part.color) for part in parts]
    return []


def _is_closed(points: Array, faces: Faces) -> bool:
    """Return whether a surface is closed: for more than 99 % of the edges a to b there is an edge b to a."""
    # Some files repeat a vertex for each of its triangles.
    _, merged = np.unique(points.round(6), axis=0, return_inverse=True)
    corners = merged.ravel()[faces].astype(np.int64)
    begin, end = corners.ravel(), np.roll(corners, -1, axis=1).ravel()
    return bool(np.isin(begin * len(points) + end, end * len(points) + begin).mean() > 0.99)


def _bounding_box(points: Array) -> Array:
    return np.array([points.min(axis=0), points.max(axis=0)])


# -- Visual model of a robot -----------------------------------------------------------------------------------------


#: Colors of shapes without a color: a warm light gray, and a darker gray for every second body of a chain.
DEFAULT_COLORS = ((0.88, 0.87, 0.84, 1.0), (0.66, 0.68, 0.71, 1.0))
#: Radius of the sticks that stand for a robot without shapes, per m of its height.
STICK_RADIUS = 0.02
#: World with a checkered ground (squares of 0.25 m), sky and sun. The distances znear, zfar and shadowclip are
#: multiples of the extent (m).
WORLD_XML = f"""
<mujoco>
  <statistic extent="2" center="0 0 0.7"/>
  <visual>
    <global fovy="{math.degrees(FIELD_OF_VIEW)}"/>
    <quality shadowsize="4096"/>
    <headlight ambient="0.38 0.38 0.38" diffuse="0.28 0.28 0.28" specular="0 0 0"/>
    <rgba haze="0.93 0.95 0.97 1"/>
    <map znear="0.01" zfar="50" shadowclip="2"/>
  </visual>
  <asset>
    <texture type="skybox" builtin="gradient" rgb1="0.93 0.95 0.97" rgb2="0.80 0.86 0.93" width="64" height="384"/>
    <texture name="ground" type="2d" builtin="checker" rgb1="0.86 0.88 0.90" rgb2="0.78 0.81 0.84" width="256"
      height="256"/>
    <material name="ground" texture="ground" texrepeat="2 2" texuniform="true"/>
  </asset>
  <worldbody>
    <geom type="plane" size="0 0 0.05" material="ground"/>
    <light directional="true" pos="0 0 3" dir="0 0 -1" diffuse="0.55 0.55 0.53" specular="0.15 0.15 0.15"/>
  </worldbody>
</mujoco>
"""


@dataclass(frozen=True)
class Shape:
    """Shape to draw: a mesh of the MuJoCo model or a simple solid, fixed to a joint of the robot.

    Attributes:
        type: geom type of MuJoCo.
        size: size of the geom in MuJoCo's convention (m).
        mesh: index of the mesh in the MuJoCo model; -1 for a simple solid.
        joint: index of the joint that carries the shape.
        joint_from_shape: pose of the shape in the frame of the joint; for a mesh, pose of the frame in which MuJoCo
            stores its vertices.
        corners: corners of the bounding box in the frame of the joint, 8 x 3 (m); fewer points for sticks.
        color: red, green, blue, alpha, from 0 to 1.
    """

    type: mujoco.mjtGeom
    size: tuple[float, float, float]
    mesh: int
    joint: int
    joint_from_shape: pinocchio.SE3
    corners: Array
    color: Color


@dataclass(frozen=True)
class VisualModel:
    """A robot ready to be rendered: a MuJoCo model with its meshes and the ground, and the shapes to place in it."""

    model: mujoco.MjModel
    shapes: tuple[Shape, ...]

    def shape_poses(self, state: State) -> list[tuple[Shape, pinocchio.SE3]]:
        """Return all shapes with their poses in the world."""
        data = state.robot._kinematics(state)
        return [(shape, data.oMi[shape.joint] * shape.joint_from_shape) for shape in self.shapes]

    def corners(self, state: State) -> Array:
        """Return the corners of the bounding boxes of all shapes in the world (n, 3), m, for framing."""
        data = state.robot._kinematics(state)
        return np.concatenate([[data.oMi[s.joint].act(corner) for corner in s.corners] for s in self.shapes])


_visual_models: WeakKeyDictionary[Robot, VisualModel] = WeakKeyDictionary()


def visual_model_of(robot: Robot) -> VisualModel:
    """Return the visual model of a robot; it is built on first use, which takes about a second, and then cached."""
    if robot not in _visual_models:
        _visual_models[robot] = _build_visual_model(robot)
    return _visual_models[robot]


def _build_visual_model(robot: Robot) -> VisualModel:
    world, objects = mujoco.MjSpec.from_string(WORLD_XML), list(robot.visual_geometry.geometryObjects)
    # A mesh that several shapes use is stored once.
    mesh_indices: dict[tuple[object, ...], list[tuple[int, Color | None]]] = {}
    for shape in filter(is_mesh, objects):
        if _mesh_key(shape) in mesh_indices:
            continue
        mesh_indices[_mesh_key(shape)] = []
        for part in colored_meshes(shape):
            number = sum(map(len, mesh_indices.values()))
            mesh_indices[_mesh_key(shape)].append((number, part.color))
            world.add_mesh(
                name=str(number),
                uservert=part.points.ravel(),
                userface=part.faces.ravel(),
                inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL,  # the only kind defined for open surfaces
            )
    model = world.compile()
    shapes = [
        _build_shape(robot, o, mesh, color, model)
        for o in objects
        for mesh, color in mesh_indices.get(_mesh_key(o), [(-1, None)])
    ]
    return VisualModel(model, tuple(shapes or _stick_shapes(robot)))


def _mesh_key(shape: pinocchio.GeometryObject) -> tuple[object, ...]:
    """Return a key that is equal for shapes with the same mesh."""
    return (shape.meshPath, *shape.meshScale) if is_mesh(shape) else (shape.name,)


def _build_shape(
    robot: Robot, shape: pinocchio.GeometryObject, mesh: int, color: Color | None, model: mujoco.MjModel
) -> Shape:
    points = shape_vertices(shape)
    low, high = points.min(axis=0), points.max(axis=0)
    box = np.array([[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])])
    corners = box @ shape.placement.rotation.T + shape.placement.translation
    pose, kind, size = shape.placement, *_geom_type_and_size(shape)
    if mesh >= 0:  # MuJoCo stores a mesh relative to its center and principal axes
        w, x, y, z = model.mesh_quat[mesh]
        pose = pose * pinocchio.SE3(pinocchio.Quaternion(w, x, y, z).matrix(), model.mesh_pos[mesh])
    mesh_color = tuple(float(part) for part in shape.meshColor)
    if shape.overrideMaterial and max(mesh_color[:3]) > 0.0:  # black means that the file sets no color
        color = mesh_color
    return Shape(
        kind,
        size,
        mesh,
        shape.parentJoint,
        pose,
        corners,
        color or DEFAULT_COLORS[_joint_depth(robot, shape.parentJoint) % 2],
    )


def _geom_type_and_size(shape: pinocchio.GeometryObject) -> tuple[mujoco.mjtGeom, tuple[float, float, float]]:
    """Return type and size of the MuJoCo geom of a shape; a solid that MuJoCo lacks becomes its bounding box."""
    solid, kinds = shape.geometry, mujoco.mjtGeom
    match type(solid).__name__:
        case "Sphere":
            return kinds.mjGEOM_SPHERE, (solid.radius, 0.0, 0.0)
        case "Cylinder":
            return kinds.mjGEOM_CYLINDER, (solid.radius, solid.halfLength, 0.0)
    if is_mesh(shape):
        return kinds.mjGEOM_MESH, (1.0, 1.0, 1.0)
    half = np.abs(shape_vertices(shape)).max(axis=0)
    return kinds.mjGEOM_BOX, (float(half[0]), float(half[1]), float(half[2]))


def _stick_shapes(robot: Robot) -> list[Shape]:
    """Return shapes for a robot without visual shapes: a stick from each joint to the next, a sphere on each joint."""
    model, radius, kinds = robot.model, STICK_RADIUS * robot.height, mujoco.mjtGeom
    sticks = []
    for joint in range(1, model.njoints):
        color, identity = DEFAULT_COLORS[_joint_depth(robot, joint) % 2], pinocchio.SE3.Identity()
        sticks.append(
            Shape(kinds.mjGEOM_SPHERE, (1.3 * radius, 0.0, 0.0), -1, joint, identity, np.zeros((1, 3)), color)
        )
        end = model.jointPlacements[joint].translation
        length, parent = float(np.linalg.norm(end)), model.parents[joint]
        if parent > 0 and length > radius:
            rotation = pinocchio.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), end / length).matrix()
            pose, size = pinocchio.SE3(rotation, end / 2), (radius, length / 2, 0.0)
            sticks.append(Shape(kinds.mjGEOM_CAPSULE, size, -1, parent, pose, np.array([np.zeros(3), end]), color))
    return sticks


def _joint_depth(robot: Robot, joint: int) -> int:
    """Return the number of joints between a joint and the base."""
    depth = 0
    while joint > 1:
        joint, depth = robot.model.parents[joint], depth + 1
    return depth
