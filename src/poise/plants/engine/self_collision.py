"""Collisions between bodies of the robot in MuJoCo: convex hulls of its links, in pairs that can collide.

The capsules that touch the environment are too wide for this: capsules around two feet side by side overlap. The pairs
are those of `poise.constraints.collision_pairs`, without neighbors in the kinematic tree, whose shapes overlap in
every posture, and without pairs that touch in the stance.
"""

from __future__ import annotations

import numpy as np

from poise.constraints import collision_pairs
from poise.errors import RobotError
from poise.extras import mujoco
from poise.plants.engine.robot_geometry import CONTACT_GROUP
from poise.plants.engine.world import IMPEDANCE, ROLLING, TIME_CONSTANT
from poise.robots import Robot, capsules

#: Friction between two bodies of a robot: smooth plastic or painted metal.
BODY_FRICTION = 0.3
#: Largest number of vertices of a hull: a sphere with as many deviates by 3 % of its radius.
MAX_HULL_VERTICES = 64


def add_self_collision(spec: mujoco.MjSpec, bodies: list[mujoco.MjsBody], robot: Robot) -> tuple[str, ...]:
    """Add the hulls, named ``"hull 0"`` and so on, and their pairs; return a note if the shapes cannot be read."""
    try:
        pairs, shapes = collision_pairs(robot).pairs, capsules(robot)
    except RobotError as error:
        return (f"bodies of the robot do not collide with each other, because its shapes cannot be read: {error}",)
    for index in sorted({index for pair in pairs for index in pair}):
        shape, name = shapes[index], f"hull {index}"
        spec.add_mesh(
            name=name,
            uservert=np.asarray(shape.points).ravel(),
            maxhullvert=MAX_HULL_VERTICES,
            inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_CONVEX,
        )
        bodies[shape.joint].add_geom(
            name=name,
            type=mujoco.mjtGeom.mjGEOM_MESH,
            meshname=name,
            contype=0,
            conaffinity=0,
            group=CONTACT_GROUP + 1,
            rgba=[0.5, 0.6, 0.5, 1.0],
        )
    for first, second in pairs:
        spec.add_pair(
            name=_pair_name(first, second),
            geomname1=f"hull {first}",
            geomname2=f"hull {second}",
            condim=3,
            friction=[BODY_FRICTION, BODY_FRICTION, ROLLING, ROLLING, ROLLING],
            solref=[TIME_CONSTANT, 1.0],
            solimp=IMPEDANCE,
        )
    return ()


def remove_touching_pairs(spec: mujoco.MjSpec, model: mujoco.MjModel, data: mujoco.MjData) -> tuple[str, ...]:
    """Remove the pairs that touch at the start, which would push the robot; return one note that names their bodies."""
    names = []
    for first, second in data.contact.geom.tolist():
        bodies = model.geom_bodyid[[first, second]].tolist()
        if 0 in bodies or not model.geom(first).name.startswith("hull "):
            continue
        pair = spec.pair(_pair_name(*sorted(int(model.geom(geom).name.split()[1]) for geom in (first, second))))
        if pair is not None:
            spec.delete(pair)
            names.append(" and ".join(model.body(body).name for body in bodies))
    return (f"these bodies touch at the start and do not collide: {', '.join(names)}",) if names else ()


def _pair_name(first: int, second: int) -> str:
    return f"hulls {first} {second}"
