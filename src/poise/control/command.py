"""Interface of controllers and their output: `Controller`, `Command`, `TaskErrors` and `ControlStep`."""

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
    """Remaining errors of all tasks at the state that a command was computed for.

    Attributes:
        tasks: level, name, unit and labels of each task.
    """

    __slots__ = ("_columns", "_row_slices", "tasks")

    def __init__(self, tasks: Sequence[TaskLabel], row_slices: Sequence[slice], columns: Array) -> None:
        self.tasks = tasks
        self._row_slices = row_slices
        self._columns = columns

    def values(self, index: int) -> Array:
        """Return the error of one task outside its tolerance, zero inside, in the unit of the task."""
        error, low, high = self._columns[:, self._row_slices[index]]
        beyond: Array = error - np.clip(error, low, high)
        return beyond

    def stacked_values(self) -> Array:
        """Return the errors outside the tolerances for all rows of all tasks, in order."""
        error, low, high = self._columns
        beyond: Array = error - np.clip(error, low, high)
        return beyond

    def __len__(self) -> int:
        return len(self.tasks)


@dataclass(eq=False, repr=False, slots=True)
class Command:
    """Command to a plant for one period. Always finite.

    v has 6 entries of the base, then one per joint, as in pinocchio. A plant takes what it can use: `IdealPlant` the
    acceleration, else the velocity; torque motors the torque; position servos the velocity, and the position if given.

    Attributes:
        velocity: commanded v (nv).
        acceleration: commanded v̇ (nv); None from a controller at velocity order.
        torque: joint torques (nv - 6), N m; None from a kinematic controller.
        forces: expected contact forces; None from a kinematic controller.
        phase: name of the current phase of the behavior; "" if it has none.
        period: duration of the command (s).
        solution: solution of the solver from which the command was computed; None for a hold.
        fallback: "", or what replaced the strict solution and why.
        tasks: labels of the tasks, and slices of their rows.
        position: joint angles (nv - 6) at the end of the period, for position servos; None: integrate the velocity.
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

    def __repr__(self) -> str:
        values = (self.velocity, self.acceleration, self.torque, self.position)
        names = ("velocity", "acceleration", "torque", "position")
        given = [name for name, array in zip(names, values, strict=True) if array is not None]
        fallback = f", fallback {self.fallback!r}" if self.fallback else ""
        return f"Command({', '.join(given)} for {self.period:g} s{fallback})"

    @property
    def errors(self) -> TaskErrors | None:
        """Remaining errors of the tasks; None for a hold."""
        program = None if self.solution is None else self.solution.program
        return TaskErrors(*self.tasks, program.extra_columns) if isinstance(program, StackProgram) else None


class Controller(Interface):
    """Interface of controllers, which compute a command from a state once per period.

    `period` and `step` are required.

    Attributes:
        period: sampling period (s).
        behavior: the behavior; None: the controller has none.
        hierarchy: hierarchy of the last step; None before the first step, or without a behavior.
        solver: the solver; None: the controller solves no program.
        order: order of the unknowns: `poise.VELOCITY` or `poise.ACCELERATION`.

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
        """Return the command for a state, always finite. Only the first call may raise."""

    def prepare(self, state: State) -> None:
        """Do what the first steps from this state would otherwise do; called before the clock of a control loop starts.

        It never raises, and changes no command.
        """

    def update_sensors(self, readings: SensorReadings | None) -> None:
        """Receive the sensor readings; called before each step. None: the plant has no sensors."""

    def reset(self) -> None:
        """Return to the state after construction."""


@dataclass(eq=False, slots=True)
class ControlStep:
    """One tick of a control loop, as passed to listeners.

    Attributes:
        state: the measured state.
        command: the command of the controller.
        milliseconds: computation time of the command.
        readings: sensor readings of the plant; None if it has no sensors.
        servo_torques: torques of position servos at the end of the tick (nv - 6; N m, N); None if the command is a
            torque, or if the plant does not know them.
    """

    state: State
    command: Command
    milliseconds: float
    readings: SensorReadings | None = None
    servo_torques: Array | None = None
