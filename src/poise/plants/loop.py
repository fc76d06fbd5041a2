"""The control loop: measure, decide, act; whoever listens receives each step."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from typing import Protocol

from poise.control import Command, Step
from poise.errors import PoiseError
from poise.robots import Robot, State


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
