"""A carried box in MuJoCo: a free body, welded to both hands.

A weld of MuJoCo is a damped spring, scaled by the mass that it moves, as contacts are (see `world`). Its points hold as
those do; its turn is softer, with the square of `GRIP`, so that hands that turn as they are lifted are not wrenched.
"""

from __future__ import annotations

import mujoco
import numpy as np
import pinocchio
from numpy.typing import NDArray

from poise.plants.carried import Carried
from poise.plants.engine.body import quaternion
from poise.plants.engine.solids import GROUND, SEEN, SMOOTH, THING
from poise.plants.engine.world import IMPEDANCE, TIME_CONSTANT
from poise.robots import State

Array = NDArray[np.float64]

#: What the body, its joint and its geom are called.
NAME = "carried"
#: Scale of the turn (m). A hand that turns by 0.1 rad on a box of a tenth of its robot's mass then feels a quarter to
#: two fifths of what its wrist can give: 0.24 N m on HOAP-3, 0.11 on NAO, 1.1 on G1, 2.7 on Talos. With 0.3 it would be
#: twice what the wrist has and more.
GRIP = 0.1
#: Where a weld has this scale among its numbers.
TORQUE_SCALE = 10


def add_carried(spec: mujoco.MjSpec, start: State, carried: Carried) -> None:
    """Adds the box where the hands of a start hold it. It touches the ground and things, not the robot."""
    world_from_box, size = carried.held(start)
    body = spec.worldbody.add_body(name=NAME, pos=world_from_box.translation, quat=quaternion(world_from_box.rotation))
    body.mass, body.explicitinertial = carried.mass, True
    body.ipos, body.inertia = np.zeros(3), carried.mass / 12.0 * (size @ size - size**2)
    body.add_freejoint(name=NAME)
    body.add_geom(
        name=NAME,
        type=mujoco.mjtGeom.mjGEOM_BOX,
        size=0.5 * size,
        contype=0,
        conaffinity=GROUND | THING,
        condim=3,
        friction=SMOOTH,
        group=SEEN,
        rgba=[0.80, 0.55, 0.25, 1.0],
    )
    for hand in start.robot.hands:
        box_from_hand, grip = world_from_box.actInv(start.pose(hand)), f"{NAME} {hand.side}"
        body.add_site(name=grip, pos=box_from_hand.translation, quat=quaternion(box_from_hand.rotation))
        weld = spec.add_equality(
            type=mujoco.mjtEq.mjEQ_WELD,
            objtype=mujoco.mjtObj.mjOBJ_SITE,
            name1=hand.name,
            name2=grip,
            solref=[TIME_CONSTANT, 1.0],
            solimp=IMPEDANCE,
        )
        weld.data = np.where(np.arange(mujoco.mjNEQDATA) == TORQUE_SCALE, GRIP, 0.0)


def carry_along(model: mujoco.MjModel, data: mujoco.MjData, start: State) -> None:
    """Gives the box the velocity of the hands: the mean of both."""
    robot = start.robot
    kinematics, axes = robot.model.createData(), pinocchio.LOCAL_WORLD_ALIGNED
    pinocchio.forwardKinematics(robot.model, kinematics, start.q, start.v)
    motions = [pinocchio.getFrameVelocity(robot.model, kinematics, hand.index, axes) for hand in robot.hands]
    linear, angular = np.mean([(motion.linear, motion.angular) for motion in motions], axis=0)
    at = int(model.joint(NAME).dofadr[0])
    world_from_box = data.qpos[height_of(model) + 1 :][:4]
    turned, back = np.zeros(3), np.zeros(4)
    mujoco.mju_negQuat(back, world_from_box)
    mujoco.mju_rotVecQuat(turned, angular, back)
    data.qvel[at : at + 3], data.qvel[at + 3 : at + 6] = linear, turned


def height_of(model: mujoco.MjModel) -> int:
    """Where the height of the box stands among the coordinates."""
    return int(model.joint(NAME).qposadr[0]) + 2


def bearing(model: mujoco.MjModel, data: mujoco.MjData, start: State, carried: Carried) -> Array:
    """Generalised forces that bear the box, half of its weight at each hand: ``Σ Jᵀ (0, 0, m g / 2)``."""
    share, J = 0.5 * 9.81 * carried.mass, np.zeros((3, model.nv))
    total = np.zeros(model.nv)
    for hand in start.robot.hands:
        mujoco.mj_jacSite(model, data, J, None, int(model.site(hand.name).id))
        total += share * J[2]
    return total
