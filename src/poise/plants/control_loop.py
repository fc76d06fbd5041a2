"""The control loop, the interfaces of plants and controllers, and IdealPlant, which executes commands exactly."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from typing import Protocol

import pinocchio

from poise.control import Command, Step
from poise.errors import PoiseError
from poise.robots import Frame, Robot, State
from poise.tasks import shown


class Plant(Protocol):
    """Something that moves."""

    @property
    def robot(self) -> Robot: ...

    def state(self) -> State: ...

    def apply(self, command: Command) -> None: ...

    def advance(self) -> None: ...


class Controller(Protocol):
    """Something that decides."""

    @property
    def period(self) -> float: ...

    def step(self, state: State) -> Command: ...


def steps(controller: Controller, plant: Plant, seconds: float) -> Iterator[Step]:
    """Runs controller and plant for some seconds of motion, one step per period.

    >>> for step in steps(controller, plant, seconds=3.0):
    ...     print(step.state.time, step.command.fallback)
    """
    if not (isinstance(seconds, (int, float)) and math.isfinite(seconds) and seconds >= 0.0):
        raise PoiseError(f"seconds is {seconds!r}; expected a number, zero or more")
    for _ in range(round(seconds / controller.period)):
        yield stepped(controller, plant)


def stepped(controller: Controller, plant: Plant) -> Step:
    """One period: measure, decide, act."""
    state = plant.state()
    sense = getattr(plant, "sensed", None)
    sensed = None if sense is None else sense()
    feel = getattr(controller, "feel", None)
    start = time.perf_counter()
    if feel is not None:
        feel(sensed)
    command = controller.step(state)
    milliseconds = 1e3 * (time.perf_counter() - start)
    plant.apply(command)
    plant.advance()
    return Step(state, command, milliseconds, sensed)


# -- IdealPlant: a robot that does exactly what it is told -----------------------------------------------------------


class IdealPlant:
    """Integrates commands: no mass, no contact, no delay.

    Velocities are taken at once and held for the period; accelerations are constant over it. Both are exact on the
    base's rotation. Contacts stay those of the start; `State.contacts` may be changed with `stand_on`.

    >>> plant = poise.IdealPlant(robot.stance("standing"))
    """

    def __init__(self, start: State) -> None:
        if not isinstance(start, State):
            raise PoiseError(f"IdealPlant starts from {shown(start)}; expected a State, e.g. robot.stance('standing')")
        self._state = start
        self._begin, self._ticks, self._period = start.time, 0, 0.0
        self._command: Command | None = None

    @property
    def robot(self) -> Robot:
        return self._state.robot

    def state(self) -> State:
        """Where the robot is now."""
        return self._state

    def stand_on(self, contacts: tuple[Frame, ...]) -> None:
        """From now on the robot stands on these parts."""
        self._state = self._state.replace(contacts=contacts)

    def apply(self, command: Command) -> None:
        """What to do until the next command."""
        self._command = command

    def advance(self) -> None:
        """Lets the command's period pass."""
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
        # The command keeps its velocity for good, so the state may share it.
        self._state = State._trusted(robot, q, velocity, self._clock(period), state.contacts)

    def _clock(self, period: float) -> float:
        """Time after one more period: counted, not summed, as long as periods are equal."""
        if period != self._period:
            self._begin, self._ticks, self._period = self._state.time, 0, period
        self._ticks += 1
        return self._begin + self._ticks * period
