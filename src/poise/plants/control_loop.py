"""The control loop, the interface `Plant`, and `IdealPlant`, which executes commands exactly."""

from __future__ import annotations

import math
import time
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Self

import numpy as np
import pinocchio

from poise.arrays import Array
from poise.control import Command, Controller, ControlStep
from poise.errors import PoiseError
from poise.interface import Interface
from poise.parsing import format_value
from poise.plants.environment import Terrain
from poise.plants.environment_geometry import EnvironmentGeometry
from poise.robots import Frame, Robot, State
from poise.state import SensorReadings


class Plant(Interface):
    """A robot, a simulation or a connection to one. `robot`, `state`, `apply` and `advance` are required.

    The control loop, runs, plant servers and the studio use no member besides these. No method raises. A plant is a
    context manager that closes itself.

    Attributes:
        robot: the robot model that it shares with the controller.
        start: initial state; None: the first `state()`.
        fall: time and cause of the first fall, one sentence; empty: no fall.
        notes: warnings of construction, then the first occurrence of each error, one sentence each.
        counts: number of errors by name.
        ground: terrain under the robot, for views; None: flat ground.

    >>> class Still(Plant):
    ...     def __init__(self, start: State) -> None:
    ...         self.robot, self.start = start.robot, start
    ...     def state(self) -> State:
    ...         return self.start
    ...     def apply(self, command: Command) -> None: ...
    ...     def advance(self) -> None: ...
    """

    robot: Robot
    start: State | None = None
    fall: str = ""
    notes: Sequence[str] = ()
    counts: Mapping[str, int] = MappingProxyType({})
    ground: Terrain | None = None

    @abstractmethod
    def state(self) -> State:
        """Measured state: q (m, rad), v (m/s, rad/s), time (s), contacts. Constant until the next `advance`."""

    @abstractmethod
    def apply(self, command: Command) -> None:
        """Set the command, valid until the next one."""

    @abstractmethod
    def advance(self) -> None:
        """Advance by the period of the command."""

    def readings(self) -> SensorReadings | None:
        """Sensor readings at the time of the state: forces (N, N m), IMU, encoders; None: no sensors."""
        return None

    def truth(self) -> State:
        """True state, if known; else the measured one."""
        return self.state()

    def joint_torques(self) -> Array | None:
        """Actuator torques at the end of the last step (nv - 6; N m, N); None: not measured."""
        return None

    @property
    def environment(self) -> EnvironmentGeometry:
        """Shape of the environment, for recordings and views; by default that of `ground`."""
        if self.ground is None:
            return EnvironmentGeometry()
        return EnvironmentGeometry.of(self.ground, self.start or self.state())

    @property
    def time(self) -> float:
        """Time of the motion (s)."""
        return self.state().time

    @property
    def fallen(self) -> bool:
        """True after the first fall."""
        return bool(self.fall)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.robot.name})"

    def close(self) -> None:
        """Release connections and motors; may be called twice."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def steps(controller: Controller, plant: Plant, seconds: float) -> Iterator[ControlStep]:
    """Run controller and plant for a number of seconds of motion; yield one step per sampling period.

    >>> for step in steps(controller, plant, seconds=3.0):
    ...     print(step.state.time, step.command.fallback)
    """
    if not (isinstance(seconds, (int, float)) and math.isfinite(seconds) and seconds >= 0.0):
        raise PoiseError(f"seconds is {seconds!r}; expected a number, zero or more")
    controller, plant = Controller.adapt(controller), Plant.adapt(plant)
    if plant.start is not None:  # no state is read, which may wait for the next sample
        controller.prepare(plant.start)
    for _ in range(round(seconds / controller.period)):
        yield control_step(controller, plant)


def control_step(controller: Controller, plant: Plant) -> ControlStep:
    """Run one sampling period: measure, compute the command, apply it.

    Both arguments must inherit from `Controller` and `Plant`; `steps` adapts other objects.
    """
    state, readings = plant.state(), plant.readings()
    start = time.perf_counter()
    controller.update_sensors(readings)
    command = controller.step(state)
    milliseconds = 1e3 * (time.perf_counter() - start)
    _check_command(command, controller, plant.robot)
    plant.apply(command)
    plant.advance()
    servo_torques = plant.joint_torques() if command.torque is None else None
    return ControlStep(state, command, milliseconds, readings, servo_torques)


def _check_command(command: object, controller: Controller, robot: Robot) -> None:
    """Raise an error if a controller of other origin returned no command, or one for another number of joints."""
    step = f"{type(controller).__name__}.step returned"
    if not isinstance(command, Command):
        raise PoiseError(f"{step} {format_value(command)}; expected a Command")
    nv = robot.model.nv
    for name, values, size in (
        ("velocity", command.velocity, nv),
        ("acceleration", command.acceleration, nv),
        ("torque", command.torque, nv - 6),
        ("position", command.position, nv - 6),
    ):
        if values is not None and np.shape(values) != (size,):
            raise PoiseError(f"{step} a {name} of shape {np.shape(values)}; expected {size} numbers for {robot.name}")


# -- IdealPlant ------------------------------------------------------------------------------------------------------


class IdealPlant(Plant):
    """Kinematic plant that integrates commands exactly: no mass, no contact forces, no delay.

    A commanded velocity is reached immediately and held for the period; an acceleration is constant over the period.
    The rotation of the base is integrated exactly. Contacts are those of the start; `stand_on` changes them.

    Args:
        start: initial state.
        environment: shape of the world that the behavior knows, for recordings and views; None: flat ground.

    >>> plant = poise.IdealPlant(robot.stance("standing"))
    """

    def __init__(self, start: State, environment: EnvironmentGeometry | None = None) -> None:
        if not isinstance(start, State):
            raise PoiseError(
                f"IdealPlant starts from {format_value(start)}; expected a State, e.g. robot.stance('standing')"
            )
        self.robot, self.start = start.robot, start
        self._environment = environment or EnvironmentGeometry()
        self._state = start
        self._clock_start, self._ticks, self._period = start.time, 0, 0.0
        self._command: Command | None = None

    def state(self) -> State:
        """Return the current state."""
        return self._state

    @property
    def environment(self) -> EnvironmentGeometry:
        """Shape of the world, for recordings and views; it does not act on the robot."""
        return self._environment

    def stand_on(self, contacts: tuple[Frame, ...]) -> None:
        """Set the parts in contact from now on."""
        self._state = self._state.replace(contacts=contacts)

    def apply(self, command: Command) -> None:
        """Set the command, valid until the next one."""
        self._command = command

    def advance(self) -> None:
        """Advance by the period of the command."""
        command, state = self._command, self._state
        if command is None:
            return
        period, velocity = command.period, command.velocity
        if command.acceleration is None:
            step = period * velocity
        else:
            velocity = state.v + period * command.acceleration
            step = (0.5 * period) * (state.v + velocity)
        robot = state.robot
        q = pinocchio.integrate(robot.model, state.q, step)
        # A command never changes its velocity, so the state may share the array.
        self._state = State._unchecked(robot, q, velocity, self._next_time(period), state.contacts)

    def _next_time(self, period: float) -> float:
        """Return the time after one more period; equal periods are counted, not summed, to avoid rounding drift."""
        if period != self._period:
            self._clock_start, self._ticks, self._period = self._state.time, 0, period
        self._ticks += 1
        return self._clock_start + self._ticks * period
