"""Everything that is simulated, put together once."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from poise.plants.actuators import PositionServos
from poise.plants.engine.body import add_bodies
from poise.plants.engine.coordinates import Coordinates
from poise.plants.engine.drives import add_motors, add_servos, servo_gains
from poise.plants.engine.holding import add_carried, carry_along
from poise.plants.engine.loads import add_loads, hang
from poise.plants.engine.looks import add_looks
from poise.plants.engine.solids import add_capsules, add_parts
from poise.plants.engine.world import add_ground, add_things, new_world
from poise.plants.scene import Scene
from poise.robots import State

Array = NDArray[np.float64]

#: Uneven ground is level under the soles of the start and so far around them (m): room for a foot to slip or to shift.
ROOM = 0.05
#: A start that reaches deeper into the ground or a thing (m) is a mistake, for contacts give way by much less.
DEEP = 0.002


@dataclass(frozen=True, eq=False)
class Built:
    """A scene in MuJoCo, placed in its start.

    Attributes:
        coordinates: where the robot's are.
        gains: stiffness and damping of the servos; None with motors.
        notes: what could not be built, one sentence each.
    """

    model: mujoco.MjModel
    data: mujoco.MjData
    coordinates: Coordinates
    gains: tuple[Array, Array] | None
    notes: tuple[str, ...]


def build(scene: Scene) -> Built:
    """Compiles a scene and puts the robot in its start."""
    start, error = scene.start, scene.model_error
    robot, grip = scene.robot, 1.0 + error.friction
    spec = new_world(scene.period)
    add_ground(spec, scene.ground, grip * scene.friction, scene.seed, _under(start))
    add_things(spec, [thing.box for thing in scene.things], scene.friction, grip)
    bodies = add_bodies(spec, robot, error)
    add_parts(bodies, robot, scene.parts)
    notes = list(add_capsules(bodies, robot, scene.parts, scene.self_collision))
    add_loads(bodies, start, scene.loads)
    if scene.carried is not None:
        add_carried(spec, start, scene.carried)
    if scene.visuals:
        notes += add_looks(spec, bodies, robot)
    gains = None
    if isinstance(scene.actuators, PositionServos):
        gains = servo_gains(scene.actuators, start)
        add_servos(spec, robot, *gains)
    else:
        add_motors(spec, robot)
    model = spec.compile()
    if scene.self_collision:
        model = _without_neighbours(spec, model, scene)
    # MuJoCo takes a center of mass within a micrometre of its joint for the joint; a wrist of iCub has one.
    model.body_sameframe[:] = mujoco.mjtSameFrame.mjSAMEFRAME_NONE
    data = mujoco.MjData(model)
    coordinates = Coordinates(robot, model)
    place(model, data, coordinates, scene)
    if data.ncon and data.contact.dist.min() < -DEEP:
        notes.append(f"the start reaches {-100 * data.contact.dist.min():.1f} cm into what it stands on, and jumps out")
    return Built(model, data, coordinates, gains, tuple(notes))


def place(model: mujoco.MjModel, data: mujoco.MjData, coordinates: Coordinates, scene: Scene) -> None:
    """Puts the robot and what it carries where the start says."""
    coordinates.write(scene.start.q, scene.start.v, data)
    hang(data, model, scene.start, scene.loads)
    if scene.carried is not None:
        carry_along(model, data, scene.start)
    mujoco.mj_forward(model, data)


def _without_neighbours(spec: mujoco.MjSpec, model: mujoco.MjModel, scene: Scene) -> mujoco.MjModel:
    """The model without collisions of bodies that touch in the start: neighbours, whose capsules overlap."""
    data = mujoco.MjData(model)
    place(model, data, Coordinates(scene.robot, model), scene)
    bodies = np.sort(model.geom_bodyid[data.contact.geom], axis=1)
    for first, second in {(int(a), int(b)) for a, b in bodies if a > 0}:
        spec.add_exclude(bodyname1=model.body(first).name, bodyname2=model.body(second).name)
    return spec.compile()


def _under(start: State) -> Array:
    """The rectangle around the soles of a start, and some room: lowest x and y, highest x and y (2 x 2, m)."""
    feet = start.robot.feet
    corners = np.array([start.pose(foot).act(corner)[:2] for foot in feet for corner in foot.corners]).reshape(-1, 2)
    if not len(corners):
        corners = start.q[None, :2]
    return np.array([corners.min(axis=0) - ROOM, corners.max(axis=0) + ROOM])
