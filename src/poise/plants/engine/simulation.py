"""MuJoCo simulation: compiles a scene, settles the robot on its contacts, steps it with pushes, and samples it.

The force of a MuJoCo contact grows with its penetration: soles that just touch the ground carry nothing, and a robot
that starts like this falls a tenth of a millimeter with a jolt. So a robot that starts at rest is lowered into the
ground by the depth d at which its contacts, at zero acceleration, carry its weight,

    |N(d)| = weight · N_z / |N|,

with N the sum of their normal forces: on a floor the weight, on a slope its component normal to the slope. These forces
are also the sensor readings before the first step.
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
from poise.plants.engine.contact_sensors import ContactMap, ContactReadings, TrueSample, check_contact_dimension
from poise.plants.engine.robot_geometry import add_capsules, add_contact_geometry, add_visuals
from poise.plants.engine.robot_model import CoordinateMap, add_bodies, add_motors, add_servos, servo_gains
from poise.plants.engine.self_collision import add_self_collision, remove_touching_pairs
from poise.plants.engine.world import (
    add_carried_box,
    add_ground,
    add_loads,
    add_objects,
    box_height_index,
    box_support_forces,
    hang_loads_vertically,
    new_world,
    set_box_velocity,
)
from poise.plants.environment_geometry import sole_rectangle
from poise.plants.simulation_setup import PositionServos, SimulationSetup
from poise.robots import GRAVITY, Robot

#: Penetration of the start into ground or objects above which a note is given (m); contacts sink in by much less.
MAX_PENETRATION = 0.002


@dataclass(frozen=True, eq=False)
class CompiledScene:
    """A scene in MuJoCo, in its start configuration.

    Attributes:
        coordinates: indices of the robot's coordinates.
        gains: stiffness and damping of the servos; None with motors.
        notes: parts that could not be built, one sentence each.
    """

    model: mujoco.MjModel
    data: mujoco.MjData
    coordinates: CoordinateMap
    gains: tuple[Array, Array] | None
    notes: tuple[str, ...]


def compile_scene(setup: SimulationSetup) -> CompiledScene:
    """Compile a scene and set the robot to its start."""
    start, error = setup.start, setup.model_error
    robot, friction_scale = setup.robot, 1.0 + error.friction
    spec = new_world(setup.period)
    add_ground(spec, setup.ground, friction_scale * setup.friction, setup.seed, sole_rectangle(start))
    add_objects(spec, [obstacle.box for obstacle in setup.objects], setup.friction, friction_scale)
    bodies = add_bodies(spec, robot, error)
    add_contact_geometry(bodies, robot, setup.parts)
    notes = list(add_capsules(bodies, robot, setup.parts))
    if setup.self_collision:
        notes += add_self_collision(spec, bodies, robot)
    add_loads(bodies, start, setup.loads)
    if setup.carried_box is not None:
        add_carried_box(spec, start, setup.carried_box)
    if setup.visuals:
        notes += add_visuals(spec, bodies, robot)
    gains = None
    if isinstance(setup.actuators, PositionServos):
        gains = servo_gains(setup.actuators, start)
        add_servos(spec, robot, *gains)
    else:
        add_motors(spec, robot, limits_force=setup.speed_limits)
    model = spec.compile()
    if setup.self_collision:
        start_data = mujoco.MjData(model)
        set_start(model, start_data, CoordinateMap(robot, model), setup)
        touching = remove_touching_pairs(spec, model, start_data)
        if touching:
            notes += touching
            model = spec.compile()
    # MuJoCo treats a center of mass within a micrometer of its joint as equal to the joint, e.g. in a wrist of iCub.
    model.body_sameframe[:] = mujoco.mjtSameFrame.mjSAMEFRAME_NONE
    data = mujoco.MjData(model)
    coordinates = CoordinateMap(robot, model)
    set_start(model, data, coordinates, setup)
    if data.ncon and data.contact.dist.min() < -MAX_PENETRATION:
        depth = -100 * data.contact.dist.min()
        notes.append(f"the start penetrates ground or objects by {depth:.1f} cm; the contacts push the robot out")
    return CompiledScene(model, data, coordinates, gains, tuple(notes))


def set_start(model: mujoco.MjModel, data: mujoco.MjData, coordinates: CoordinateMap, setup: SimulationSetup) -> None:
    """Set the robot, its loads and its box to the start state."""
    coordinates.write(setup.start.q, setup.start.v, data)
    hang_loads_vertically(data, model, setup.start, setup.loads)
    if setup.carried_box is not None:
        set_box_velocity(model, data, setup.start)
    mujoco.mj_forward(model, data)


# -- Settling on contacts before the first step ----------------------------------------------------------------------


#: Largest depth by which a start is lowered (m): ten times what the heaviest library robot needs.
MAX_DEPTH = 0.002
#: Number of bisection steps: the depth is found to a nanometer.
BISECTION_STEPS = 21


def settle_on_contacts(
    model: mujoco.MjModel, data: mujoco.MjData, weight: float, other_heights: Sequence[int] = ()
) -> bool:
    """Lower the base until its contacts carry the weight (N); their forces are then in `data`.

    `other_heights` are indices in qpos that are lowered with the base: the height of a carried box.

    Returns False, and changes nothing, if the contacts do not carry the robot, e.g. because it starts in the air.
    """
    heights = [2, *other_heights]
    height = data.qpos[heights]

    def is_carried(depth: float) -> bool:
        data.qpos[heights] = height - depth
        return _contacts_carry(model, data, weight)

    if not is_carried(MAX_DEPTH) or is_carried(0.0):
        data.qpos[heights] = height
        mujoco.mj_forward(model, data)
        return False
    low, high = 0.0, MAX_DEPTH
    for _ in range(BISECTION_STEPS):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if is_carried(middle) else (middle, high)
    is_carried(high)
    return True


def _contacts_carry(model: mujoco.MjModel, data: mujoco.MjData, weight: float) -> bool:
    """Return whether the contacts of a robot at zero acceleration carry its weight (N)."""
    mujoco.mj_forward(model, data)
    data.qacc[:] = 0.0
    mujoco.mj_inverse(model, data)
    place, ground = data.contact.efc_address, model.geom_bodyid.take(data.contact.geom[:, 0]) == 0
    normal = np.where(ground, 1.0, -1.0)[:, None] * data.contact.frame[:, :3]
    N = (data.efc_force.take(np.maximum(place, 0), mode="clip") * (place >= 0)) @ normal if data.nefc else np.zeros(3)
    return bool(N[2] > 0.0 and weight * N[2] <= N @ N)


# -- Pushes ----------------------------------------------------------------------------------------------------------


class PushForces:
    """Applies pushes, scaled by the fraction of each step in which they act, so that their impulse is exact.

    MuJoCo represents a force F at a point p of a body as F at its center of mass c and a moment ``(p - c) x F``.
    """

    def __init__(self, robot: Robot, model: mujoco.MjModel, data: mujoco.MjData, pushes: Sequence[Push]) -> None:
        self._robot, self._model, self._data, self._applied = robot, model, data, data.xfrc_applied
        self._pushes: list[tuple[Push, int, NDArray[np.float64] | None]] = []
        self.end = -np.inf
        self._acting = False
        for push in pushes:
            self.add(push)

    def add(self, push: Push, now: float = -np.inf) -> None:
        """Add a push; pushes that ended before `now` (s) are removed."""
        self._pushes = [entry for entry in self._pushes if entry[0].time + entry[0].duration >= now]
        joint = 1 if push.frame is None else push.frame.joint
        place = None if push.frame is None else self._robot.model.frames[push.frame.index].placement.translation.copy()
        self._pushes.append((push, int(self._model.body(self._robot.model.names[joint]).id), place))
        self.end = max(self.end, push.time + push.duration)

    def step(self, begin: float, end: float) -> None:
        """Run one step of the simulation from begin to end (s), with the pushes active in it."""
        if begin >= self.end and not self._acting:
            mujoco.mj_step(self._model, self._data)
            return
        mujoco.mj_step1(self._model, self._data)  # updates the positions of all bodies
        self._applied[:] = 0.0
        self._acting = False
        for push, body, place in self._pushes:
            share = push.active_fraction(begin, end)
            if share > 0.0:
                self._acting = True
                F = share * np.asarray(push.force, dtype=np.float64)
                self._applied[body, :3] += F
                if place is not None:
                    p = self._data.xpos[body] + self._data.xmat[body].reshape(3, 3) @ place
                    self._applied[body, 3:] += np.cross(p - self._data.xipos[body], F)
        mujoco.mj_step2(self._model, self._data)


# -- Clock: periods of the controller in steps of the simulation -----------------------------------------------------


class SimulationClock:
    """Counts the simulation steps that are due for each period of the controller.

    The time of the simulation is ``begin + steps · period``, counted and never summed. After n periods T of the
    controller it has made ``floor(n T / period)`` steps: if the ratio is not an integer, it makes an additional step
    now and then, and is never more than one step behind.

    Args:
        begin: start time (s).
        period: step of the simulation (s).
    """

    def __init__(self, begin: float, period: float) -> None:
        self.begin, self.period, self.steps = begin, period, 0
        self._earlier_seconds, self._ticks, self._tick = 0.0, 0, period  # seconds before the controller period changed

    @property
    def time(self) -> float:
        """Time of the simulation (s)."""
        return self.begin + self.steps * self.period

    def steps_due(self, tick: Any) -> int:
        """Return the number of steps for one more controller period (s); an invalid period is replaced by the last."""
        is_valid = isinstance(tick, (int, float)) and 0.0 < tick < math.inf
        if is_valid and tick != self._tick:
            self._earlier_seconds += self._ticks * self._tick
            self._ticks, self._tick = 0, float(tick)
        self._ticks += 1
        seconds = self._earlier_seconds + self._ticks * self._tick
        # The tolerance of a millionth of a step is above the rounding of a day of motion.
        return max(math.floor(seconds / self.period + 1e-6) - self.steps, 0)


# -- Simulation ------------------------------------------------------------------------------------------------------


#: Speed (rad/s, m/s) above which the simulation counts as failed.
MAX_SPEED = 1e6


class Drive(Protocol):
    """Actuators of the joints."""

    def update(self, period: float) -> None:
        """Prepare one step of the simulation (s)."""


class MujocoSimulation:
    """Steps a scene, and stores samples for the delay of its sensors.

    Attributes:
        clock: the simulation's clock.
        failure: why the simulation failed, or ""; after a failure only the time advances.
    """

    def __init__(self, setup: SimulationSetup, scene: CompiledScene) -> None:
        self.model, self.data, self.clock, self.failure = (
            scene.model,
            scene.data,
            SimulationClock(setup.start.time, setup.period),
            "",
        )
        self._coordinates = scene.coordinates
        self._qpos, self._qvel = self.data.qpos, self.data.qvel
        check_contact_dimension(self.model)
        self._push_forces = PushForces(setup.robot, self.model, self.data, setup.pushes)
        self._contact_map = ContactMap(setup.robot, self.model, setup.parts)
        for warning in self.data.warning:  # MuJoCo prints each warning only the first time; this suppresses it
            warning.number = 1
        #: Torques that hold the robot in its start (N m); zeros if it is not settled on contacts.
        self.holding_torque: Array = np.zeros(len(scene.coordinates.angles))
        weight, at_rest = GRAVITY * float(self.model.body_mass.sum()), not setup.start.v.any()
        carried = () if setup.carried_box is None else (box_height_index(self.model),)
        if at_rest and setup.start.contacts and settle_on_contacts(self.model, self.data, weight, carried):
            self.holding_torque = self.data.qfrc_inverse.take(scene.coordinates.rates)
            if setup.carried_box is not None:
                support = box_support_forces(self.model, self.data, setup.start, setup.carried_box)
                self.holding_torque += support.take(scene.coordinates.rates)
        self._last_good_state = self._qpos.copy(), self._qvel.copy()
        self._delay_steps = setup.delay_steps
        self._last: TrueSample | None = None
        self._history: deque[TrueSample] = deque([self.sample()], maxlen=self._delay_steps + 1)

    def sample(self) -> TrueSample:
        """Return the current true values, with the contact forces of the last step."""
        if self._last is None:
            places, data = self._coordinates, self.data
            q, v = places.configuration(self._qpos), places.velocity(self._qpos, self._qvel)
            self._last = TrueSample(q, v, data.qacc[:3].copy(), ContactReadings(self._contact_map, data))
        return self._last

    def delayed_sample(self) -> TrueSample:
        """Return the true values at the time of measurement, earlier by the sensor delay; initially the start."""
        return self._history[0] if self._delay_steps else self.sample()

    def run(self, period: float, drive: Drive) -> None:
        """Run the simulation for one controller period (s)."""
        clock, count = self.clock, self.clock.steps_due(period)
        self._last = None
        if self.failure:
            clock.steps += count
            return
        np.copyto(self._last_good_state[0], self._qpos)
        np.copyto(self._last_good_state[1], self._qvel)
        for _ in range(count):
            drive.update(clock.period)
            self._push_forces.step(clock.time, clock.time + clock.period)
            clock.steps += 1
            if self._delay_steps:
                self._last = None
                self._history.append(self.sample())
        self.data.time = clock.time
        if not self._qvel.dot(self._qvel) < MAX_SPEED**2 or not math.isfinite(self._qpos.dot(self._qpos)):
            self._freeze()

    def push(self, push: Push) -> None:
        """Add a push during the simulation."""
        self._push_forces.add(push, self.clock.time)

    def _freeze(self) -> None:
        """Restore the configuration before the last command at zero velocity, and stop the simulation there."""
        self.failure = f"the simulation failed at {self.clock.time:.3f} s and the robot is frozen; try a shorter period"
        data = self.data
        self._qpos[:], self._qvel[:] = self._last_good_state[0], 0.0
        for array in (data.ctrl, data.xfrc_applied, data.qacc_warmstart):
            array[:] = 0.0
        mujoco.mj_forward(self.model, data)
        self._last = None
        self._history.extend([self.sample()] * (self._delay_steps + 1))
