"""Layout: which numbers a step has, how they are called, and where they stand in a block of samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from poise.recording.body import Body
from poise.recording.channel import Header, different, joined_units, plain
from poise.recording.sensors import Sensors, misjudged
from poise.recording.wrenches import Wrenches
from poise.solvers import Program

if TYPE_CHECKING:
    from poise.control import Command, Errors, Step

#: Columns of the single numbers that every step has.
TIME, CONTROL, SOLVER, ITERATIONS = range(4)
_SINGLE = (("time", "s"), ("control/milliseconds", "ms"), ("solver/milliseconds", "ms"), ("solver/iterations", ""))


class LevelRows(NamedTuple):
    """Where the rows of a level stand among all, and its channels."""

    span: slice
    slack: Header
    held: Header
    active: Header


class Layout:
    """Names and places of all that is recorded of a step, as long as the hierarchy does not change.

    The numbers of a step stand in one line of a matrix, in the columns that `numbers` names; `commands`, `tasks`,
    `levels`, `forces` and `sensors` say where the parts that may be missing are. `fits` tells whether another step has
    the same parts.

    Args:
        body: labels of q and v.
        step: the first one of its kind.
        before: the layout of the steps before it; contacts, sensors and phases that these had keep their place.
    """

    def __init__(self, body: Body, step: Step, before: Layout | None = None) -> None:
        self.body = body
        self.numbers: list[tuple[Header, slice]] = []
        self.width = 0
        for name, unit in _SINGLE:
            self._take(Header(name, "number", (), (unit,)))
        self.q = self._take(Header("q", "number", body.q_labels, body.q_units))
        self.v = self._take(Header("v", "number", body.v_labels, body.rates("/s")))
        self.center_of_mass = self._take(Header("center_of_mass", "number", ("x", "y", "z"), ("m",) * 3))
        self.commands = self._take_commands(step.command)
        self._names: tuple[object, ...] | None = None
        self._begin: list[int] | None = None
        self._tasks: Sequence[object] | None = None
        self.stacked = hasattr(step.command.errors, "stacked")
        self.tasks: list[tuple[int, slice]] = []
        self.norms: list[tuple[Header, slice]] = []
        self.levels: list[LevelRows] = []
        self.rows = 0
        first = self.width
        if step.command.errors is not None:
            self._take_tasks(step.command.errors)
        self.errors = slice(first, self.width)
        if step.command.solution is not None:
            self._take_levels(step.command.solution.program)
        self.forces: Wrenches | None = self._take_forces(step, None if before is None else before.forces)
        self.sensors: Sensors | None = self._take_sensors(step, None if before is None else before.sensors)
        self.phased: bool = bool(step.command.phase) or (before is not None and before.phased)

    def fits(self, step: Step) -> bool:
        """Whether all that this step has stands in this layout; what it has not is then absent."""
        command, sensed = step.command, step.sensed
        if command.forces is not None and (self.forces is None or not self.forces.fits(command.forces)):
            return False
        if sensed is not None and (self.sensors is None or not self.sensors.fits(sensed, step.state)):
            return False
        if command.phase and not self.phased:
            return False
        return self._fits_hierarchy(command)

    def _fits_hierarchy(self, command: Command) -> bool:
        errors, solution = command.errors, command.solution
        if errors is not None and errors.tasks is not self._tasks:
            if errors.tasks != self._tasks:
                return False
            self._tasks = errors.tasks
        # Programs written into the same memory share the list that tells where their levels begin.
        if solution is not None and solution.program.level_begin is not self._begin:
            if _names(solution.program) != self._names:
                return False
            self._begin = solution.program.level_begin
        given = (command.velocity, command.acceleration, command.torque)
        return all(values is None or span is not None for values, span in zip(given, self.commands, strict=True))

    def _take(self, header: Header) -> slice:
        span = slice(self.width, self.width + max(len(header.labels), 1))
        self.numbers.append((header, span))
        self.width = span.stop
        return span

    def _take_commands(self, command: Command) -> tuple[slice | None, slice | None, slice | None]:
        body = self.body
        velocity = Header("command/velocity", "number", body.v_labels, body.rates("/s"))
        acceleration = Header("command/acceleration", "number", body.v_labels, body.rates("/s^2"))
        efforts = ((), ()) if command.torque is None else body.efforts(len(command.torque))
        return (
            None if command.velocity is None else self._take(velocity),
            None if command.acceleration is None else self._take(acceleration),
            None if command.torque is None else self._take(Header("command/torque", "number", *efforts)),
        )

    def _take_forces(self, step: Step, before: Wrenches | None) -> Wrenches | None:
        forces = step.command.forces
        if forces is None and before is None:
            return None
        names = () if forces is None else forces.names
        return Wrenches(self._take, ("force", "force_point"), names, before)

    def _take_sensors(self, step: Step, before: Sensors | None) -> Sensors | None:
        sensed = step.sensed
        if sensed is None and before is None:
            return None
        truth = sensed is not None and misjudged(sensed, step.state)
        return Sensors(self._take, self.body, sensed, truth, before)

    def _take_tasks(self, errors: Errors) -> None:
        self._tasks = errors.tasks
        names = different(f"{_level(level)}/{plain(task)}" for level, task, *_ in errors.tasks)
        for i, (name, (_, _, unit, labels)) in enumerate(zip(names, errors.tasks, strict=True)):
            words = _words(labels, int(np.size(errors.values(i))))
            if words:
                span = self._take(Header(f"error/{name}", "number", words, (plain(unit),) * len(words)))
                self.tasks.append((i, span))
                self.norms.append((Header(f"error_norm/{name}", "number", (), (plain(unit),)), span))

    def _take_levels(self, program: Program) -> None:
        self._names = _names(program)
        self._begin = program.level_begin
        self.rows = program.rows
        for k, name in enumerate(different(_level(name) for name in program.names)):
            blocks = [rows for rows in program.levels[k] if len(rows)]
            if not blocks:  # nothing is asked for at this level for now: absent, like a task that is gone
                continue
            labels = different(plain(rows.label(i)) for rows in blocks for i in range(len(rows)))
            unit = joined_units(plain(rows.unit) for rows in blocks)
            self.levels.append(
                LevelRows(
                    span=program.slice(k),
                    slack=Header(f"slack/{name}", "number", (), (unit,)),
                    held=Header(f"active_count/{name}", "number", (), ("",)),
                    active=Header(f"active/{name}", "code", labels, ("",) * len(labels)),
                )
            )


def _names(program: Program) -> tuple[object, ...]:
    """All that the channels of a program are named after; two programs of equal names have the same channels."""
    rows = [(rows.name, rows.unit, rows.labels) for level in program.levels for rows in level]
    return (program.names, program.level_begin, rows)


def _level(name: str) -> str:
    """The name of a level inside that of a channel, where a slash would end it."""
    return plain(name).replace("/", "|")


def _words(labels: Sequence[str] | None, size: int) -> tuple[str, ...]:
    """One different word per row."""
    words = tuple(map(plain, labels or ()))
    return different(words) if len(words) == size else tuple(str(i) for i in range(size))
