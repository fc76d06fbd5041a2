"""Command, Errors and Step: what a controller decides, why, and when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from poise.arrays import Array
from poise.robots import State
from poise.solvers import Solution, StackProgram
from poise.state import ContactForces, Sensed
from poise.tasks import TaskLabel


class Errors:
    """How far every task is from being met, at the state that a command was computed for.

    Attributes:
        tasks: level, name, unit and labels of each.
    """

    __slots__ = ("_columns", "_places", "tasks")

    def __init__(self, tasks: Sequence[TaskLabel], places: Sequence[slice], columns: Array) -> None:
        self.tasks = tasks
        self._places = places
        self._columns = columns

    def values(self, index: int) -> Array:
        """The error of one task beyond what it allows: zero inside its interval, in its unit."""
        error, low, high = self._columns[:, self._places[index]]
        beyond: Array = error - np.clip(error, low, high)
        return beyond

    def stacked(self) -> Array:
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
    def errors(self) -> Errors | None:
        """How far the tasks are from being met; None where a fallback spoke."""
        program = None if self.solution is None else self.solution.program
        return Errors(*self.tasks, program.notes) if isinstance(program, StackProgram) else None


@dataclass(eq=False, slots=True)
class Step:
    """One tick of a control loop, as every listener receives it.

    Attributes:
        state: what was measured.
        command: what was decided.
        milliseconds: that the decision took.
        sensed: what the sensors of the plant said besides, if it has any.
    """

    state: State
    command: Command
    milliseconds: float
    sensed: Sensed | None = None
