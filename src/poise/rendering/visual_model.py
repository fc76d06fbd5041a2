"""Visual model of a robot: a MuJoCo scene with its meshes, and their poses for any state."""

from __future__ import annotations

import math
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
import pinocchio

from poise.arrays import Array
from poise.extras import mujoco
from poise.rendering.camera import FIELD_OF_VIEW
from poise.rendering.collada import Color, is_mesh, surfaces
from poise.robots import Robot, State, vertices

#: For shapes without a colour of their own: a warm light grey, and a darker one for every other body of a chain.
PLAIN = ((0.88, 0.87, 0.84, 1.0), (0.66, 0.68, 0.71, 1.0))
#: Thickness of the sticks of a robot without shapes, per m of its height.
STICK = 0.02
#: Ground in squares of 0.25 m, sky and sun. Distances of clipping, haze and shadows are multiples of the extent (m).
WORLD = f"""
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
    """One thing to draw: a mesh of the model (`mesh` is its number) or a simple solid, on a joint of the robot.

    Attributes:
        type: kind of geom of MuJoCo.
        size: of the geom, as MuJoCo has it (m).
        joint: number of the joint that carries it.
        joint_from_shape: its pose on the joint, for a mesh that of the frame in which the renderer stores it.
        corners: of the box around it, in the joint's frame, 8 x 3 (m).
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
class Figure:
    """A robot ready to be drawn: a world of MuJoCo with its meshes and the ground, and what to place in it."""

    model: mujoco.MjModel
    shapes: tuple[Shape, ...]

    def placed(self, state: State) -> list[tuple[Shape, pinocchio.SE3]]:
        """All shapes with their poses in the world."""
        data = state.robot._placed(state)
        return [(shape, data.oMi[shape.joint] * shape.joint_from_shape) for shape in self.shapes]

    def corners(self, state: State) -> Array:
        """Corners of the boxes around all shapes in the world (n, 3), for framing."""
        data = state.robot._placed(state)
        return np.concatenate([[data.oMi[s.joint].act(corner) for corner in s.corners] for s in self.shapes])


_figures: WeakKeyDictionary[Robot, Figure] = WeakKeyDictionary()


def figure(robot: Robot) -> Figure:
    """The figure of a robot, made when first asked for, which takes a second or so."""
    if robot not in _figures:
        _figures[robot] = _figure(robot)
    return _figures[robot]


def _figure(robot: Robot) -> Figure:
    world, objects = mujoco.MjSpec.from_string(WORLD), list(robot.visual_geometry.geometryObjects)
    stored: dict[tuple[object, ...], list[tuple[int, Color | None]]] = {}  # meshes used twice are stored once
    for shape in filter(is_mesh, objects):
        if _key(shape) in stored:
            continue
        stored[_key(shape)] = []
        for part in surfaces(shape):
            number = sum(map(len, stored.values()))
            stored[_key(shape)].append((number, part.color))
            world.add_mesh(
                name=str(number),
                uservert=part.points.ravel(),
                userface=part.faces.ravel(),
                inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL,  # the only kind that any surface has
            )
    model = world.compile()
    shapes = [
        _shape(robot, o, mesh, color, model) for o in objects for mesh, color in stored.get(_key(o), [(-1, None)])
    ]
    return Figure(model, tuple(shapes or _sticks(robot)))


def _key(shape: pinocchio.GeometryObject) -> tuple[object, ...]:
    """The same for shapes with the same mesh."""
    return (shape.meshPath, *shape.meshScale) if is_mesh(shape) else (shape.name,)


def _shape(
    robot: Robot, shape: pinocchio.GeometryObject, mesh: int, color: Color | None, model: mujoco.MjModel
) -> Shape:
    points = vertices(shape)
    low, high = points.min(axis=0), points.max(axis=0)
    box = np.array([[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])])
    corners = box @ shape.placement.rotation.T + shape.placement.translation
    pose, kind, size = shape.placement, *_solid(shape)
    if mesh >= 0:  # MuJoCo moves a mesh to its own middle and axes
        w, x, y, z = model.mesh_quat[mesh]
        pose = pose * pinocchio.SE3(pinocchio.Quaternion(w, x, y, z).matrix(), model.mesh_pos[mesh])
    given = tuple(float(part) for part in shape.meshColor)
    if shape.overrideMaterial and max(given[:3]) > 0.0:  # black says that nobody chose
        color = given
    return Shape(
        kind, size, mesh, shape.parentJoint, pose, corners, color or PLAIN[_depth(robot, shape.parentJoint) % 2]
    )


def _solid(shape: pinocchio.GeometryObject) -> tuple[mujoco.mjtGeom, tuple[float, float, float]]:
    """Kind and size of the geom that a shape becomes; a solid that MuJoCo lacks becomes the box around it."""
    solid, kinds = shape.geometry, mujoco.mjtGeom
    match type(solid).__name__:
        case "Sphere":
            return kinds.mjGEOM_SPHERE, (solid.radius, 0.0, 0.0)
        case "Cylinder":
            return kinds.mjGEOM_CYLINDER, (solid.radius, solid.halfLength, 0.0)
    if is_mesh(shape):
        return kinds.mjGEOM_MESH, (1.0, 1.0, 1.0)
    half = np.abs(vertices(shape)).max(axis=0)
    return kinds.mjGEOM_BOX, (float(half[0]), float(half[1]), float(half[2]))


def _sticks(robot: Robot) -> list[Shape]:
    """For a robot without shapes: a stick from each joint to the next, and a ball on each joint."""
    model, radius, kinds = robot.model, STICK * robot.height, mujoco.mjtGeom
    sticks = []
    for joint in range(1, model.njoints):
        color, still = PLAIN[_depth(robot, joint) % 2], pinocchio.SE3.Identity()
        sticks.append(Shape(kinds.mjGEOM_SPHERE, (1.3 * radius, 0.0, 0.0), -1, joint, still, np.zeros((1, 3)), color))
        end = model.jointPlacements[joint].translation
        length, parent = float(np.linalg.norm(end)), model.parents[joint]
        if parent > 0 and length > radius:
            turn = pinocchio.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), end / length).matrix()
            pose, size = pinocchio.SE3(turn, end / 2), (radius, length / 2, 0.0)
            sticks.append(Shape(kinds.mjGEOM_CAPSULE, size, -1, parent, pose, np.array([np.zeros(3), end]), color))
    return sticks


def _depth(robot: Robot, joint: int) -> int:
    """How many joints are between a joint and the base."""
    depth = 0
    while joint > 1:
        joint, depth = robot.model.parents[joint], depth + 1
    return depth
