"""The environment in MuJoCo: contact parameters, ground, objects, and the loads and the box that a robot carries.

MuJoCo's contacts are damped springs, scaled by the mass that they move: the reference motion of a contact has a time
constant and critical damping, and the impedance is the fraction of this motion that the contact reaches against the
applied forces. The values are chosen so that robots of 28 to 90 kg stand still at steps of 1 ms (measured with a
posture controller): soles sink in by 0.07 to 0.16 mm, speeds at rest are below 1e-8, and on a slope of 10 degrees a
sole creeps by 0.014 mm/s. MuJoCo's defaults (0.02 s, 0.9 to 0.95, friction as stiff as the normal direction) give
0.7 mm and 3 mm/s.

A weld of MuJoCo is a damped spring, scaled by the mass that it moves, like a contact. Its position has the same
parameters as contacts; its rotation is softer, by the square of `WELD_TORQUE_SCALE`, so that hands that turn while
they are lifted do not meet large torques.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pinocchio

from poise.arrays import Array
from poise.extras import mujoco
from poise.plants.disturbances import CarriedBox, Load
from poise.plants.engine.robot_geometry import GROUND_BIT, OBJECT_BIT, ROBOT_FRICTION, VISUAL_GROUP
from poise.plants.engine.robot_model import quaternion
from poise.plants.environment import SolidBox, Terrain
from poise.robots import GRAVITY, State

#: Time constant of a contact (s): ten simulation steps, and a tenth of the time in which a pushed robot can react.
TIME_CONSTANT = 0.01
#: Impedance of a contact, MuJoCo's solimp: the fraction of the reference acceleration that it reaches without and with
#: load, the depth of the transition (m), and the midpoint and power of the transition.
IMPEDANCE = (0.95, 0.99, 0.001, 0.5, 2.0)
#: Stiffness of friction relative to the normal direction, MuJoCo's impratio: creeping is inversely proportional to it,
#: and at rest the engine's solver takes one iteration per step with 1, 10 and 100.
FRICTION_RATIO = 100.0
#: Rolling and twisting friction (m): negligible, because a sole resists twisting with its four corners.
ROLLING = 1e-6
#: Depth below the ground plane to which the boxes of a terrain reach (m). A body in a box is pushed out through the
#: nearest face: through the bottom of a box of a few millimeters that ends on the plane, which pushes the other way, so
#: that two forces of 10 to 40 kN jam a foot. With this depth the nearest face is always the top or a side.
FOUNDATION_DEPTH = 0.5
#: Gap (m) between a box and the plane below which the box stands on the plane: the rounding of their positions.
LARGEST_GAP = 1e-6
CHECKER = "ground"


def new_world(period: float) -> mujoco.MjSpec:
    """Return an empty MuJoCo spec with the solver settings; `period` is the simulation step (s)."""
    spec = mujoco.MjSpec()
    compiler, option = spec.compiler, spec.option
    compiler.degree = compiler.autolimits = compiler.fusestatic = compiler.balanceinertia = False
    compiler.boundmass = compiler.boundinertia = 0.0
    compiler.inertiafromgeom = mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_FALSE
    option.timestep = period
    option.gravity = [0.0, 0.0, -GRAVITY]
    option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    option.impratio = FRICTION_RATIO
    option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    option.disableflags = mujoco.mjtDisableBit.mjDSBL_AUTORESET
    _add_appearance(spec)
    return spec


def _add_appearance(spec: mujoco.MjSpec) -> None:
    """Add light, sky and the texture of the ground, for rendering."""
    spec.worldbody.add_light(
        type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL, pos=[0, 0, 4], dir=[0, 0, -1], diffuse=[0.55, 0.55, 0.53]
    )
    visual = spec.visual
    visual.headlight.ambient, visual.headlight.diffuse = [0.38, 0.38, 0.38], [0.28, 0.28, 0.28]
    visual.headlight.specular, visual.quality.shadowsize = [0.0, 0.0, 0.0], 4096
    spec.stat.center, spec.stat.extent = [0.0, 0.0, 0.7], 2.0
    sky, checker = mujoco.mjtBuiltin.mjBUILTIN_GRADIENT, mujoco.mjtBuiltin.mjBUILTIN_CHECKER
    kinds, light, dark = mujoco.mjtTexture, [0.93, 0.95, 0.97], [0.80, 0.86, 0.93]
    spec.add_texture(name="sky", type=kinds.mjTEXTURE_SKYBOX, builtin=sky, rgb1=light, rgb2=dark, width=64, height=384)
    tiles = {"rgb1": [0.86, 0.88, 0.90], "rgb2": [0.76, 0.79, 0.82], "width": 128, "height": 128}
    spec.add_texture(name=CHECKER, type=kinds.mjTEXTURE_2D, builtin=checker, **tiles)
    material = spec.add_material(name=CHECKER, texrepeat=[2, 2], texuniform=True)
    textures = material.textures
    textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = CHECKER
    material.textures = textures


def add_ground(spec: mujoco.MjSpec, ground: Terrain, friction: float, seed: int, flat_region: Array) -> None:
    """Add the ground plane, named ``"ground"``, and the boxes of the terrain, named ``"ground 0"`` and so on."""
    plane = ground.plane
    spec.worldbody.add_geom(
        name="ground",
        type=mujoco.mjtGeom.mjGEOM_PLANE,
        size=[0.0, 0.0, 0.05],
        pos=plane.translation,
        quat=quaternion(plane.rotation),
        material=CHECKER,
        **_surface(friction, GROUND_BIT),
    )
    for i, box in enumerate(ground.boxes(seed, flat_region)):
        _add_box(spec, f"ground {i}", _with_foundation(box, plane), friction, GROUND_BIT, [0.80, 0.78, 0.73, 1.0])


def _with_foundation(box: SolidBox, plane: pinocchio.SE3) -> SolidBox:
    """Return a box of the ground that reaches `FOUNDATION_DEPTH` below the plane; a box above the plane as it is."""
    position, size, down = np.asarray(box.position), np.asarray(box.size), -np.asarray(box.rotation)[:, 2]
    normal = plane.rotation[:, 2]
    bottom = float(normal @ (position + 0.5 * size[2] * down - plane.translation))
    sinking = -float(normal @ down)  # depth per meter of the box
    added = (FOUNDATION_DEPTH + bottom) / sinking if sinking > 0.0 and bottom <= LARGEST_GAP else 0.0
    if added <= 0.0:
        return box
    return replace(box, position=position + 0.5 * added * down, size=size + np.array([0.0, 0.0, added]))


def add_objects(spec: mujoco.MjSpec, objects: Sequence[SolidBox], friction: float, friction_scale: float) -> None:
    """Add boxes named ``"object 0"`` and so on; friction is that of the box or `friction`, times `friction_scale`."""
    for i, box in enumerate(objects):
        mu = friction_scale * (friction if box.friction is None else box.friction)
        _add_box(spec, f"object {i}", box, mu, OBJECT_BIT, [0.72, 0.60, 0.45, 1.0])


def _add_box(spec: mujoco.MjSpec, name: str, box: SolidBox, friction: float, kind: int, color: list[float]) -> None:
    spec.worldbody.add_geom(
        name=name,
        type=mujoco.mjtGeom.mjGEOM_BOX,
        size=0.5 * np.asarray(box.size, dtype=np.float64),
        pos=np.asarray(box.position, dtype=np.float64),
        quat=quaternion(np.asarray(box.rotation, dtype=np.float64)),
        rgba=color,
        **_surface(friction, kind),
    )


def _surface(friction: float, kind: int) -> dict[str, object]:
    return {
        "contype": kind,
        "conaffinity": 0,
        "condim": 3,
        "friction": [max(friction, ROLLING), ROLLING, ROLLING],
        "solref": [TIME_CONSTANT, 1.0],
        "solimp": IMPEDANCE,
        "priority": 1,
        "group": VISUAL_GROUP,
    }


# -- Loads -----------------------------------------------------------------------------------------------------------


#: Density of a load (kg/m³), a ball, which sets its size and inertia: that of water, or a bag of tools.
LOAD_DENSITY = 1000.0
#: Damping ratio of a swinging load, due to air and the attachment of its string.
SWING_DAMPING_RATIO = 0.02


def add_loads(bodies: list[mujoco.MjsBody], start: State, loads: Sequence[Load]) -> None:
    """Add the loads, named ``"load 0"`` and so on; `hang_loads_vertically` then turns strings straight down."""
    model = start.robot.model
    for i, load in enumerate(loads):
        radius = (load.mass / LOAD_DENSITY * 3 / (4 * np.pi)) ** (1 / 3)
        place = model.frames[load.frame.index].placement.act(np.asarray(load.position, dtype=np.float64))
        body = bodies[load.frame.joint].add_body(name=_load_name(i), pos=place)
        body.mass, body.explicitinertial = load.mass, True
        body.ipos, body.inertia = [0.0, 0.0, -load.string_length], [0.4 * load.mass * radius**2] * 3
        if load.string_length > 0.0:
            swing = load.mass * (load.string_length**2 + 0.4 * radius**2)  # inertia about the upper end
            damping = 2.0 * SWING_DAMPING_RATIO * np.sqrt(load.mass * GRAVITY * load.string_length * swing)
            body.add_joint(name=_load_name(i), type=mujoco.mjtJoint.mjJNT_BALL, damping=damping)
            _add_shape(
                body, mujoco.mjtGeom.mjGEOM_CAPSULE, [0.004, load.string_length / 2, 0.0], load.string_length / 2
            )
        _add_shape(body, mujoco.mjtGeom.mjGEOM_SPHERE, [radius, 0.0, 0.0], load.string_length)


def hang_loads_vertically(data: mujoco.MjData, model: mujoco.MjModel, start: State, loads: Sequence[Load]) -> None:
    """Set the joints of hanging loads so that their strings point straight down."""
    for i, load in enumerate(loads):
        if load.string_length > 0.0:
            world_from_carrier = start.robot._kinematics(start).oMi[load.frame.joint].rotation
            index = int(model.joint(_load_name(i)).qposadr[0])
            data.qpos[index : index + 4] = quaternion(world_from_carrier.T)


def _load_name(i: int) -> str:
    return f"load {i}"


def _add_shape(body: mujoco.MjsBody, kind: mujoco.mjtGeom, size: list[float], below: float) -> None:
    body.add_geom(
        type=kind,
        size=size,
        pos=[0.0, 0.0, -below],
        contype=0,
        conaffinity=0,
        group=VISUAL_GROUP,
        rgba=[0.3, 0.35, 0.4, 1.0],
    )


# -- Carried box: a free body, welded to both hands ------------------------------------------------------------------


#: Name of the box's body, joint and geom.
CARRIED_BODY = "carried"
#: Torque scale of the weld (m). The torque on a hand that turns by 0.1 rad on a box of a tenth of its robot's mass is
#: then a quarter to two fifths of the wrist's limit: 0.24 N m on HOAP-3, 0.11 on NAO, 1.1 on G1, 2.7 on Talos. With 0.3
#: it would be twice the wrist's limit and more.
WELD_TORQUE_SCALE = 0.1
#: Index of the torque scale in the data of a weld.
TORQUE_SCALE_INDEX = 10


def add_carried_box(spec: mujoco.MjSpec, start: State, carried: CarriedBox) -> None:
    """Add the box between the hands of a start. It collides with the ground and with objects, not with the robot."""
    world_from_box, size = carried.pose_and_size(start)
    body = spec.worldbody.add_body(
        name=CARRIED_BODY, pos=world_from_box.translation, quat=quaternion(world_from_box.rotation)
    )
    body.mass, body.explicitinertial = carried.mass, True
    body.ipos, body.inertia = np.zeros(3), carried.mass / 12.0 * (size @ size - size**2)
    body.add_freejoint(name=CARRIED_BODY)
    body.add_geom(
        name=CARRIED_BODY,
        type=mujoco.mjtGeom.mjGEOM_BOX,
        size=0.5 * size,
        contype=0,
        conaffinity=GROUND_BIT | OBJECT_BIT,
        condim=3,
        friction=ROBOT_FRICTION,
        group=VISUAL_GROUP,
        rgba=[0.80, 0.55, 0.25, 1.0],
    )
    for hand in start.robot.hands:
        box_from_hand, grip = world_from_box.actInv(start.pose(hand)), f"{CARRIED_BODY} {hand.side}"
        body.add_site(name=grip, pos=box_from_hand.translation, quat=quaternion(box_from_hand.rotation))
        weld = spec.add_equality(
            type=mujoco.mjtEq.mjEQ_WELD,
            objtype=mujoco.mjtObj.mjOBJ_SITE,
            name1=hand.name,
            name2=grip,
            solref=[TIME_CONSTANT, 1.0],
            solimp=IMPEDANCE,
        )
        weld.data = np.where(np.arange(mujoco.mjNEQDATA) == TORQUE_SCALE_INDEX, WELD_TORQUE_SCALE, 0.0)


def set_box_velocity(model: mujoco.MjModel, data: mujoco.MjData, start: State) -> None:
    """Set the velocity of the box to the mean velocity of the hands."""
    robot = start.robot
    kinematics, axes = robot.model.createData(), pinocchio.LOCAL_WORLD_ALIGNED
    pinocchio.forwardKinematics(robot.model, kinematics, start.q, start.v)
    motions = [pinocchio.getFrameVelocity(robot.model, kinematics, hand.index, axes) for hand in robot.hands]
    linear, angular = np.mean([(motion.linear, motion.angular) for motion in motions], axis=0)
    index = int(model.joint(CARRIED_BODY).dofadr[0])
    world_from_box = data.qpos[box_height_index(model) + 1 :][:4]
    local_angular, inverse = np.zeros(3), np.zeros(4)
    mujoco.mju_negQuat(inverse, world_from_box)
    mujoco.mju_rotVecQuat(local_angular, angular, inverse)
    data.qvel[index : index + 3], data.qvel[index + 3 : index + 6] = linear, local_angular


def box_height_index(model: mujoco.MjModel) -> int:
    """Return the index of the box's height in qpos."""
    return int(model.joint(CARRIED_BODY).qposadr[0]) + 2


def box_support_forces(model: mujoco.MjModel, data: mujoco.MjData, start: State, carried: CarriedBox) -> Array:
    """Return the generalized forces (nv) that carry the box, half its weight at each hand: ``Σ Jᵀ (0, 0, m g / 2)``."""
    share, J = 0.5 * GRAVITY * carried.mass, np.zeros((3, model.nv))
    total = np.zeros(model.nv)
    for hand in start.robot.hands:
        mujoco.mj_jacSite(model, data, J, None, int(model.site(hand.name).id))
        total += share * J[2]
    return total
