"""Controller, and what it decides, why, and when: Command, Errors and Step."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from poise.arrays import Array
from poise.hierarchy import Behavior, Hierarchy
from poise.interface import Interface
from poise.robots import State
from poise.solvers import Solution, Solver, StackProgram
from poise.state import ContactForces, SensorReadings
from poise.tasks import VELOCITY, TaskLabel


class TaskErrors:
    """How far every task is from being met, at the state that a command was computed for.

    Attributes:
        tasks: level, name, unit and labels of each.
    """

    __slots__ = ("_columns", "_row_slices", "tasks")

    def __init__(self, tasks: Sequence[TaskLabel], row_slices: Sequence[slice], columns: Array) -> None:
        self.tasks = tasks
        self._row_slices = row_slices
        self._columns = columns

    def values(self, index: int) -> Array:
        """The error of one task beyond what it allows: zero inside its interval, in its unit."""
        error, low, high = self._columns[:, self._row_slices[index]]
        beyond: Array = error - np.clip(error, low, high)
        return beyond

    def stacked_values(self) -> Array:
        """The same for all rows of all tasks, in order."""
        error, low, high = self._columns
        beyond: Array = error - np.clip(error, low, high)
        return beyond

    def __len__(self) -> int:
        return len(self.tasks)


@dataclass(eq=False, slots=True)
class Command:
    """What goes to the plant for one period. Always finite.

    Attributes:
        velocity: v to take (nv).
        acceleration: v̇ (nv); None from a controller that works with velocities only.
        torque: joint torques (nv - 6), N m; None from a kinematic controller.
        forces: that the world is expected to answer with; None from a kinematic controller.
        phase: of the behavior, if it names any.
        period: seconds that it holds.
        solution: the answer of the solver that justifies it; None where a fallback spoke.
        fallback: "" or the name of what replaced the solution, and why.
        tasks: labels and places of the tasks that were asked.
        position: angles of the joints (nv - 6) at the end of the period, for servos; None: they follow the velocity.
    """

    velocity: Array
    acceleration: Array | None
    torque: Array | None
    period: float
    solution: Solution | None = None
    fallback: str = ""
    tasks: tuple[Sequence[TaskLabel], Sequence[slice]] = ((), ())
    forces: ContactForces | None = None
    phase: str = ""
    position: Array | None = None

    @property
    def errors(self) -> TaskErrors | None:
        """How far the tasks are from being met; None where a fallback spoke."""
        program = None if self.solution is None else self.solution.program
        return TaskErrors(*self.tasks, program.extra_columns) if isinstance(program, StackProgram) else None


class Controller(Interface):
    """From a state to a command, once per period. `period` and `step` are required.

    Attributes:
        period: time between two steps (s).
        behavior: None: the controller has no behavior.
        hierarchy: of the last step; None before the first step, or without a behavior.
        solver: None: the controller solves no program.
        order: of the unknowns: `poise.VELOCITY` or `poise.ACCELERATION`.

    >>> class Still(Controller):
    ...     period = 0.005
    ...     def step(self, state: State) -> Command:
    ...         return Command(np.zeros(robot.model.nv), None, None, self.period)
    """

    period: float
    behavior: Behavior | None = None
    hierarchy: Hierarchy | None = None
    solver: Solver | None = None
    order: int = VELOCITY

    @abstractmethod
    def step(self, state: State) -> Command:
        """The command for a state, always finite. Raises at the first call at most."""

    def update_sensors(self, readings: SensorReadings | None) -> None:
        """Sensor readings, passed before each step; None: the plant has no sensors."""

    def reset(self) -> None:
        """Return to the state after construction."""


@dataclass(eq=False, slots=True)
class ControlStep:
    """One tick of a control loop, as every listener receives it.

    Attributes:
        state: what was measured.
        command: what was decided.
        milliseconds: that the decision took.
        readings: what the sensors of the plant said besides, if it has any.
    """

    state: State
    command: Command
    milliseconds: float
    readings: SensorReadings | None = None
