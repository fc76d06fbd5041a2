"""Collision and visual geometry of the robot in MuJoCo: sole corners, hand balls, capsules, meshes.

A sole has four contact balls whose lowest points are the corners of its rectangle, so that the soles of plant and
controller agree, and each ball is one force cell. A hand touches objects with one ball at its frame. The capsules
around a hand collide only with the ground, so that a fallen robot does not sink in; they would touch a wall before the
ball does.

The mesh reader of `robot.visual_geometry` mixes up the triangles of Collada files with several materials; Collada
meshes are therefore drawn as their convex hulls here. `poise.report` renders all details.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pinocchio
from numpy.typing import NDArray

from poise.arrays import Array
from poise.errors import RobotError
from poise.extras import coal, mujoco, scipy
from poise.plants.engine.robot_model import quaternion
from poise.plants.environment import BALL_RADIUS
from poise.robots import Capsule, Foot, Frame, Robot, capsules, shape_vertices

#: Radius of the balls under a sole (m).
CORNER_RADIUS = 0.005
#: Bits of MuJoCo's contype and conaffinity: geoms collide if contype of one and conaffinity of the other share a bit.
GROUND_BIT, OBJECT_BIT = 1, 2
#: Friction of the robot's surfaces: negligible, so that the friction of the environment determines each contact.
ROBOT_FRICTION = (1e-5, 1e-6, 1e-6)

#: Geom groups of a viewer: visual geoms and contact geoms.
VISUAL_GROUP, CONTACT_GROUP = 1, 3


def add_contact_geometry(bodies: list[mujoco.MjsBody], robot: Robot, parts: Sequence[Frame]) -> None:
    """Add the contact balls of the parts, named ``"left_sole 0"`` to ``"left_sole 3"``, and a site at each part."""
    for part in parts:
        body, joint_from_part = bodies[part.joint], robot.model.frames[part.index].placement
        foot = isinstance(part, Foot)
        middle = part.sole.center if isinstance(part, Foot) else np.zeros(3)
        body.add_site(
            name=part.name,
            pos=joint_from_part.act(middle),
            quat=quaternion(joint_from_part.rotation),
            group=CONTACT_GROUP,
        )
        places = part.corners + np.array([0.0, 0.0, CORNER_RADIUS]) if isinstance(part, Foot) else np.zeros((1, 3))
        for i, place in enumerate(places):
            body.add_geom(
                name=f"{part.name} {i}",
                type=mujoco.mjtGeom.mjGEOM_SPHERE,
                size=[CORNER_RADIUS if foot else BALL_RADIUS, 0.0, 0.0],
                pos=joint_from_part.act(place),
                contype=0,
                conaffinity=GROUND_BIT | OBJECT_BIT,
                condim=3,
                friction=ROBOT_FRICTION,
                group=CONTACT_GROUP,
                rgba=[0.9, 0.4, 0.2, 1.0],
            )


def add_capsules(bodies: list[mujoco.MjsBody], robot: Robot, parts: Sequence[Frame]) -> tuple[str, ...]:
    """Add the capsules, named ``"capsule 0"`` and so on; return a note if the robot's shapes cannot be read."""
    try:
        robot_capsules = capsules(robot)
    except RobotError as error:
        return (f"only soles and hands collide, because the robot's shapes cannot be read: {error}",)
    feet = {part.joint for part in parts if isinstance(part, Foot)}
    others = {part.joint for part in parts} - feet
    ankles = _ankles(robot, feet)
    for i, capsule in enumerate(robot_capsules):
        if capsule.joint in feet:  # a capsule around a foot reaches below its sole
            continue
        ankle = ankles.get(capsule.joint)
        segment = (capsule.center, capsule.half_axis) if ankle is None else _trim_capsule(capsule, ankle)
        if segment is None:
            continue
        center, half_axis = segment
        length = float(np.linalg.norm(half_axis))
        collision_bits = GROUND_BIT if capsule.joint in others else GROUND_BIT | OBJECT_BIT
        bodies[capsule.joint].add_geom(
            name=f"capsule {i}",
            type=mujoco.mjtGeom.mjGEOM_CAPSULE if length > 0.0 else mujoco.mjtGeom.mjGEOM_SPHERE,
            size=[capsule.radius, length, 0.0],
            pos=center,
            quat=quaternion(_from_z(half_axis / length)) if length > 0.0 else [1.0, 0.0, 0.0, 0.0],
            contype=0,
            conaffinity=collision_bits,
            condim=3,
            friction=ROBOT_FRICTION,
            group=CONTACT_GROUP,
            rgba=[0.6, 0.65, 0.7, 1.0],
        )
    return ()


def _ankles(robot: Robot, feet: set[int]) -> dict[int, Array]:
    """Return where shin and ankle end: by joint, the position of the next joint towards the foot, in its frame (m)."""
    ends = {}
    for foot in feet:
        *_, shin, ankle, last = robot.model.supports[foot]
        ends[shin] = np.array(robot.model.jointPlacements[ankle].translation)
        ends[ankle] = np.array(robot.model.jointPlacements[last].translation)
    return ends


def _trim_capsule(capsule: Capsule, ankle: Array) -> tuple[Array, Array] | None:
    """Shorten a capsule to end at a joint, round end included; return center and half axis, or None if it vanishes.

    A capsule around a shin ends in a ball as wide as the calf, which would touch the ground although the ankle is high
    above it.
    """
    distance = float(np.linalg.norm(ankle))
    if distance <= capsule.radius:
        return None
    down = ankle / distance
    ends = [capsule.center + capsule.half_axis, capsule.center - capsule.half_axis]
    low, high = sorted(ends, key=lambda end: float(end @ down), reverse=True)
    room, along = distance - capsule.radius, float((low - high) @ down)
    if low @ down > room:
        if along <= 0.0 or high @ down >= room:
            return None
        low = high + (low - high) * (room - float(high @ down)) / along
    return 0.5 * (low + high), 0.5 * (low - high)


def _from_z(axis: Array) -> Array:
    """Return a rotation that maps z to an axis."""
    x = np.cross(axis, np.eye(3)[np.abs(axis).argmin()])
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(axis, x), axis])


# -- Visual geometry -------------------------------------------------------------------------------------------------


Faces = NDArray[np.int32]

#: Color of shapes that have none.
DEFAULT_COLOR = (0.80, 0.80, 0.78, 1.0)


def add_visuals(spec: mujoco.MjSpec, bodies: list[mujoco.MjsBody], robot: Robot) -> tuple[str, ...]:
    """Add the visual shapes; return one note for each shape that cannot be drawn."""
    try:
        shapes = list(robot.visual_geometry.geometryObjects)
    except RobotError as error:
        return (f"the robot is not drawn: {error}",)
    notes = []
    for i, shape in enumerate(shapes):
        try:
            kind, size = _geom_of(spec, shape, f"shape {i}")
        except (ValueError, scipy.spatial.QhullError, AttributeError) as error:
            notes.append(f"'{shape.name}' is not drawn: {' '.join(str(error).split())[:80] or type(error).__name__}")
            continue
        color = tuple(float(part) for part in shape.meshColor)
        bodies[shape.parentJoint].add_geom(
            type=kind,
            size=size,
            meshname=f"shape {i}" if kind == mujoco.mjtGeom.mjGEOM_MESH else "",
            pos=shape.placement.translation,
            quat=quaternion(shape.placement.rotation),
            contype=0,
            conaffinity=0,
            group=VISUAL_GROUP,
            rgba=color if max(color[:3]) > 0.0 else DEFAULT_COLOR,  # black means that no color was given
        )
    return tuple(notes)


def _geom_of(
    spec: mujoco.MjSpec, shape: pinocchio.GeometryObject, name: str
) -> tuple[mujoco.mjtGeom, tuple[float, float, float]]:
    """Return type and size of the geom; a mesh is added to the spec, a solid unknown to MuJoCo becomes its box."""
    solid, kinds = shape.geometry, mujoco.mjtGeom
    match type(solid).__name__:
        case "Sphere":
            return kinds.mjGEOM_SPHERE, (solid.radius, 0.0, 0.0)
        case "Cylinder":
            return kinds.mjGEOM_CYLINDER, (solid.radius, solid.halfLength, 0.0)
    if not isinstance(solid, coal.BVHModelBase):
        half = np.abs(shape_vertices(shape)).max(axis=0)
        return kinds.mjGEOM_BOX, (float(half[0]), float(half[1]), float(half[2]))
    points, faces = _triangles(shape)
    if len(faces) < 4:
        raise ValueError("its mesh has fewer than four triangles")
    spec.add_mesh(
        name=name,
        uservert=points.ravel(),
        userface=faces.ravel(),
        inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL,  # the only kind defined for every surface
    )
    return kinds.mjGEOM_MESH, (1.0, 1.0, 1.0)


def _triangles(shape: pinocchio.GeometryObject) -> tuple[Array, Faces]:
    points = shape_vertices(shape)
    if not np.isfinite(points).all():
        raise ValueError("its mesh is not finite")
    if shape.meshPath.lower().endswith(".dae"):
        hull = scipy.spatial.ConvexHull(points)
        outward = np.cross(
            points[hull.simplices[:, 1]] - points[hull.simplices[:, 0]],
            points[hull.simplices[:, 2]] - points[hull.simplices[:, 0]],
        )
        inverted = np.einsum("ni,ni->n", outward, hull.equations[:, :3]) < 0.0
        faces = np.where(inverted[:, None], hull.simplices[:, ::-1], hull.simplices)
        return points, faces.astype(np.int32)
    triangles = (shape.geometry.tri_indices(i) for i in range(shape.geometry.num_tris))
    faces = np.array([(t[0], t[1], t[2]) for t in triangles], dtype=np.int32).reshape(-1, 3)
    return points, faces[:, ::-1] if np.prod(shape.meshScale) < 0.0 else faces
