"""Loads as bodies of MuJoCo: fixed to what carries them, or on a string."""

from __future__ import annotations

from collections.abc import Sequence

import mujoco
import numpy as np

from poise.plants.disturbances import Load
from poise.plants.engine.body import quaternion
from poise.plants.engine.solids import SEEN
from poise.robots import State

#: A load is a ball of this density (kg/m³), which sets its size and inertia: water, or a bag of tools.
DENSITY = 1000.0
#: Swinging dies out: this share of what would just stop it from swinging, as air and the knot do.
DAMPING = 0.02


def add_loads(bodies: list[mujoco.MjsBody], start: State, loads: Sequence[Load]) -> None:
    """Adds the loads, called ``"load 0"`` and so on; strings hang straight down at first (see `hang`)."""
    model = start.robot.model
    for i, load in enumerate(loads):
        radius = (load.mass / DENSITY * 3 / (4 * np.pi)) ** (1 / 3)
        place = model.frames[load.frame.index].placement.act(np.asarray(load.position, dtype=np.float64))
        body = bodies[load.frame.joint].add_body(name=_name(i), pos=place)
        body.mass, body.explicitinertial = load.mass, True
        body.ipos, body.inertia = [0.0, 0.0, -load.string], [0.4 * load.mass * radius**2] * 3
        if load.string > 0.0:
            swing = load.mass * (load.string**2 + 0.4 * radius**2)  # inertia about the knot
            damping = 2.0 * DAMPING * np.sqrt(load.mass * 9.81 * load.string * swing)
            body.add_joint(name=_name(i), type=mujoco.mjtJoint.mjJNT_BALL, damping=damping)
            _add_shape(body, mujoco.mjtGeom.mjGEOM_CAPSULE, [0.004, load.string / 2, 0.0], load.string / 2)
        _add_shape(body, mujoco.mjtGeom.mjGEOM_SPHERE, [radius, 0.0, 0.0], load.string)


def hang(data: mujoco.MjData, model: mujoco.MjModel, start: State, loads: Sequence[Load]) -> None:
    """Turns the strings straight down."""
    for i, load in enumerate(loads):
        if load.string > 0.0:
            world_from_carrier = start.robot._placed(start).oMi[load.frame.joint].rotation
            at = int(model.joint(_name(i)).qposadr[0])
            data.qpos[at : at + 4] = quaternion(world_from_carrier.T)


def _name(i: int) -> str:
    return f"load {i}"


def _add_shape(body: mujoco.MjsBody, kind: mujoco.mjtGeom, size: list[float], below: float) -> None:
    body.add_geom(
        type=kind, size=size, pos=[0.0, 0.0, -below], contype=0, conaffinity=0, group=SEEN, rgba=[0.3, 0.35, 0.4, 1.0]
    )
