"""A scene compiled for MuJoCo, put to rest on its contacts, stepped with its pushes, and sampled.

A contact of MuJoCo carries only what it is pressed for: soles that just touch the ground carry nothing, and a robot
that starts so falls a tenth of a millimetre with a jolt. So a robot that starts at rest is pressed into the ground by
the depth d at which its contacts, held still, carry its weight,

    |N(d)| = weight · N_z / |N|,

with N the sum of their normal forces: on a floor the weight, on a slope its part across the slope. These forces are
also what its sensors say before anything has moved.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from poise.arrays import Array
from poise.extras import mujoco
from poise.plants.disturbances import Push
from poise.plants.engine.contact_sensors import Feelers, Sample, Touch, check_rows
from poise.plants.engine.robot_geometry import add_capsules, add_looks, add_parts
from poise.plants.engine.robot_model import Coordinates, add_bodies, add_motors, add_servos, servo_gains
from poise.plants.engine.world import (
    add_carried,
    add_ground,
    add_loads,
    add_things,
    bearing,
    carry_along,
    hang,
    height_of,
    new_world,
)
from poise.plants.simulation_setup import PositionServos, Scene
from poise.robots import GRAVITY, Robot, State

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


# -- A robot at rest on its contacts before the first step -----------------------------------------------------------


#: Deeper than this (m) no start is pressed: ten times what the heaviest library robot needs.
DEEPEST = 0.002
#: Halvings of that depth: to a nanometre.
HALVINGS = 21


def press(model: mujoco.MjModel, data: mujoco.MjData, weight: float, others: Sequence[int] = ()) -> bool:
    """Lowers the base by what its contacts give way, and leaves their forces in `data`.

    `others` are coordinates that sink with the base: heights of what is carried.

    Returns False, and changes nothing, if the contacts do not carry the robot: it starts in the air.
    """
    heights = [2, *others]
    height = data.qpos[heights]

    def carried(depth: float) -> bool:
        data.qpos[heights] = height - depth
        return _carried(model, data, weight)

    if not carried(DEEPEST) or carried(0.0):
        data.qpos[heights] = height
        mujoco.mj_forward(model, data)
        return False
    low, high = 0.0, DEEPEST
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if carried(middle) else (middle, high)
    carried(high)
    return True


def _carried(model: mujoco.MjModel, data: mujoco.MjData, weight: float) -> bool:
    """Whether the contacts of a robot that is held still carry its weight."""
    mujoco.mj_forward(model, data)
    data.qacc[:] = 0.0
    mujoco.mj_inverse(model, data)
    place, ground = data.contact.efc_address, model.geom_bodyid.take(data.contact.geom[:, 0]) == 0
    normal = np.where(ground, 1.0, -1.0)[:, None] * data.contact.frame[:, :3]
    N = (data.efc_force.take(np.maximum(place, 0), mode="clip") * (place >= 0)) @ normal if data.nefc else np.zeros(3)
    return bool(N[2] > 0.0 and weight * N[2] <= N @ N)


# -- Pushes as forces of MuJoCo --------------------------------------------------------------------------------------


class Pushing:
    """Applies pushes for the time that they last within each step, so that their impulse is exact.

    A force F at a point p of a body is, for MuJoCo, F at the body's center of mass c and a moment ``(p - c) x F``.
    """

    def __init__(self, robot: Robot, model: mujoco.MjModel, data: mujoco.MjData, pushes: Sequence[Push]) -> None:
        self._robot, self._model, self._data, self._applied = robot, model, data, data.xfrc_applied
        self._pushes: list[tuple[Push, int, NDArray[np.float64] | None]] = []
        self.end = -np.inf
        self._acting = False
        for push in pushes:
            self.add(push)

    def add(self, push: Push, now: float = -np.inf) -> None:
        """One push more; those that were over by now are forgotten."""
        self._pushes = [known for known in self._pushes if known[0].time + known[0].duration >= now]
        joint = 1 if push.frame is None else push.frame.joint
        place = None if push.frame is None else self._robot.model.frames[push.frame.index].placement.translation.copy()
        self._pushes.append((push, int(self._model.body(self._robot.model.names[joint]).id), place))
        self.end = max(self.end, push.time + push.duration)

    def step(self, begin: float, end: float) -> None:
        """One step of the simulation, with what pushes in it."""
        if begin >= self.end and not self._acting:
            mujoco.mj_step(self._model, self._data)
            return
        mujoco.mj_step1(self._model, self._data)  # where all bodies are now
        self._applied[:] = 0.0
        self._acting = False
        for push, body, place in self._pushes:
            share = push.share(begin, end)
            if share > 0.0:
                self._acting = True
                F = share * np.asarray(push.force, dtype=np.float64)
                self._applied[body, :3] += F
                if place is not None:
                    p = self._data.xpos[body] + self._data.xmat[body].reshape(3, 3) @ place
                    self._applied[body, 3:] += np.cross(p - self._data.xipos[body], F)
        mujoco.mj_step2(self._model, self._data)


# -- Clock: a controller and a simulation that tick at their own rates -----------------------------------------------


class Clock:
    """Counts steps of a simulation so that they keep up with the periods of a controller.

    The time of the simulation is ``begin + steps · period``, counted and never summed up. After n periods T of the
    controller it has made ``floor(n T / period)`` steps: where the ratio is no whole number, it takes a step more now
    and then, and is never more than one step behind.

    Args:
        begin: s.
        period: of the simulation (s).
    """

    def __init__(self, begin: float, period: float) -> None:
        self.begin, self.period, self.steps = begin, period, 0
        self._from, self._ticks, self._tick = 0.0, 0, period

    @property
    def time(self) -> float:
        """s."""
        return self.begin + self.steps * self.period

    def due(self, tick: Any) -> int:
        """How many steps to make for one more period of the controller (s); the last good one if it is none."""
        good = isinstance(tick, (int, float)) and 0.0 < tick < math.inf
        if good and tick != self._tick:
            self._from, self._ticks, self._tick = self._from + self._ticks * self._tick, 0, float(tick)
        self._ticks += 1
        passed = self._from + self._ticks * self._tick
        # A millionth of a step: more than rounding of a day, and far less than a step.
        return max(math.floor(passed / self.period + 1e-6) - self.steps, 0)


# -- Simulation ------------------------------------------------------------------------------------------------------


#: A joint that turns at a million rad/s, or a base as fast (m/s), is no motion but a simulation that has failed.
FASTEST = 1e6


class Drive(Protocol):
    """What moves the joints."""

    def move(self, period: float) -> None:
        """Gets ready for one step of the simulation."""


class Simulation:
    """Steps a scene, and keeps samples for as long as its sensors are late.

    Attributes:
        clock: its time.
        failure: "" or why it failed; from then on nothing moves but the time.
    """

    def __init__(self, scene: Scene, built: Built) -> None:
        self.model, self.data, self.clock, self.failure = (
            built.model,
            built.data,
            Clock(scene.start.time, scene.period),
            "",
        )
        self._coordinates = built.coordinates
        self._qpos, self._qvel = self.data.qpos, self.data.qvel
        check_rows(self.model)
        self._pushing = Pushing(scene.robot, self.model, self.data, scene.pushes)
        self._feelers = Feelers(scene.robot, self.model, scene.parts)
        for warning in self.data.warning:  # MuJoCo prints each the first time; failures are ours to tell
            warning.number = 1
        #: Torques that hold the robot still in its start; zeros if nothing does.
        self.holding: Array = np.zeros(len(built.coordinates.angles))
        weight, rests = GRAVITY * float(self.model.body_mass.sum()), not scene.start.v.any()
        carried = () if scene.carried is None else (height_of(self.model),)
        if rests and scene.start.contacts and press(self.model, self.data, weight, carried):
            self.holding = self.data.qfrc_inverse.take(built.coordinates.rates)
            if scene.carried is not None:
                borne = bearing(self.model, self.data, scene.start, scene.carried)
                self.holding += borne.take(built.coordinates.rates)
        self._good = self._qpos.copy(), self._qvel.copy()
        self._late = scene.delay
        self._last: Sample | None = None
        self._past: deque[Sample] = deque([self.sample()], maxlen=self._late + 1)

    def sample(self) -> Sample:
        """How it is now, with the forces of the step that led here."""
        if self._last is None:
            places, data = self._coordinates, self.data
            q, v = places.configuration(self._qpos), places.velocity(self._qpos, self._qvel)
            self._last = Sample(q, v, data.qacc[:3].copy(), Touch(self._feelers, data))
        return self._last

    def late_sample(self) -> Sample:
        """How it was when the sensors looked; the start, as long as they have seen nothing else."""
        return self._past[0] if self._late else self.sample()

    def run(self, period: float, drive: Drive) -> None:
        """Lets a period of the controller pass."""
        clock, count = self.clock, self.clock.due(period)
        self._last = None
        if self.failure:
            clock.steps += count
            return
        np.copyto(self._good[0], self._qpos)
        np.copyto(self._good[1], self._qvel)
        for _ in range(count):
            drive.move(clock.period)
            self._pushing.step(clock.time, clock.time + clock.period)
            clock.steps += 1
            if self._late:
                self._last = None
                self._past.append(self.sample())
        self.data.time = clock.time
        if not self._qvel.dot(self._qvel) < FASTEST**2 or not math.isfinite(self._qpos.dot(self._qpos)):
            self._freeze()

    def push(self, push: Push) -> None:
        """Something pushes, from its time on."""
        self._pushing.add(push, self.clock.time)

    def _freeze(self) -> None:
        """Goes back to before the last command, at rest, and stays there."""
        self.failure = f"the simulation failed at {self.clock.time:.3f} s and is frozen there; try a shorter period"
        data = self.data
        self._qpos[:], self._qvel[:] = self._good[0], 0.0
        for array in (data.ctrl, data.xfrc_applied, data.qacc_warmstart):
            array[:] = 0.0
        mujoco.mj_forward(self.model, data)
        self._last = None
        self._past.extend([self.sample()] * (self._late + 1))
