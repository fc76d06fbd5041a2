"""Samples of control steps in preallocated memory: which numbers a step has, and a block of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from poise.recording.channel import ABSENT, Channel, Header, Keys, Kind, Values, different, joined_units, plain
from poise.recording.force_columns import Sensors, Wrenches, misjudged
from poise.recording.provenance import Body
from poise.solvers import LOWER, UPPER, Program

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

    The numbers of a step stand in one line of a matrix, in the columns that `numbers` names; `commands`, `errors`,
    `levels`, `forces` and `sensors` say where the parts that may be missing are. `fits` tells whether another step has
    the same parts.

    Args:
        body: labels of q and v.
        step: the first one of its kind.
        before: the layout of the steps before it; contacts, sensors and phases that these had keep their place, and
            all channels their keys.
    """

    def __init__(self, body: Body, step: Step, before: Layout | None = None) -> None:
        self.body = body
        self._keys: Keys = Keys() if before is None else before._keys
        self.numbers: list[tuple[Header, slice]] = []
        self.width = 0
        for name, unit in _SINGLE:
            self._take(name, (), (unit,))
        self.q = self._take("q", body.q_labels, body.q_units)
        self.v = self._take("v", body.v_labels, body.rates("/s"))
        self.center_of_mass = self._take("center_of_mass", ("x", "y", "z"), ("m",) * 3)
        self.commands = self._take_commands(step.command)
        self._names: tuple[object, ...] | None = None
        self._begin: list[int] | None = None
        self._tasks: Sequence[object] | None = None
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

    def _header(self, label: str, kind: Kind, labels: tuple[str, ...], units: tuple[str, ...]) -> Header:
        return Header(self._keys[label], kind, labels, units, label)

    def _take(self, label: str, labels: tuple[str, ...], units: tuple[str, ...]) -> slice:
        span = slice(self.width, self.width + max(len(labels), 1))
        self.numbers.append((self._header(label, "number", labels, units), span))
        self.width = span.stop
        return span

    def _take_commands(self, command: Command) -> tuple[slice | None, slice | None, slice | None]:
        body = self.body
        velocity = ("command/velocity", body.v_labels, body.rates("/s"))
        acceleration = ("command/acceleration", body.v_labels, body.rates("/s^2"))
        efforts = ((), ()) if command.torque is None else body.efforts(len(command.torque))
        return (
            None if command.velocity is None else self._take(*velocity),
            None if command.acceleration is None else self._take(*acceleration),
            None if command.torque is None else self._take("command/torque", *efforts),
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
                span = self._take(f"error/{name}", words, (plain(unit),) * len(words))
                self.norms.append((self._header(f"error_norm/{name}", "number", (), (plain(unit),)), span))

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
                    slack=self._header(f"slack/{name}", "number", (), (unit,)),
                    held=self._header(f"active_count/{name}", "number", (), ("",)),
                    active=self._header(f"active/{name}", "code", labels, ("",) * len(labels)),
                )
            )


def _names(program: Program) -> tuple[object, ...]:
    """All that the channels of a program are named after; two programs of equal names have the same channels."""
    rows = [(rows.name, rows.unit, rows.labels) for level in program.levels for rows in level]
    return (program.names, program.level_begin, rows)


def _level(name: str) -> str:
    """The name of a level inside the label of a channel, where a slash would end it."""
    return plain(name).replace("/", "|")


def _words(labels: Sequence[str] | None, size: int) -> tuple[str, ...]:
    """One different word per row."""
    words = tuple(map(plain, labels or ()))
    return different(words) if len(words) == size else tuple(str(i) for i in range(size))


# -- Block -----------------------------------------------------------------------------------------------------------


#: Samples in a block: a quarter of a second at 500 Hz, and some 300 kB for a humanoid.
CAPACITY = 128

_PRESSURE = Header.of("center_of_pressure", "number", ("x", "y"), ("m", "m"))
_PHASE = Header.of("phase", "text")
_NONFINITE = Header.of("command/nonfinite", "number")
_MARGIN, _NEAREST = "joint_limit/margin", Header.of("joint_limit/nearest", "text")
_TEXTS = tuple(Header.of(key, "text") for key in ("solver/status", "control/fallback", "contacts"))


class Block:
    """Up to `CAPACITY` samples of one layout.

    `add` only copies numbers into place; norms, largest slacks, margins and centers of pressure are taken when the
    block is turned into channels, for all of its samples at once.
    """

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.filled = 0
        self._numbers = np.empty((CAPACITY, layout.width))
        self._given = np.empty((CAPACITY, len(layout.commands)), dtype=bool)
        self._forces = np.zeros(CAPACITY)  # how many numbers the commanded forces have
        self._slack = np.empty((CAPACITY, layout.rows))
        self._sides = np.empty((CAPACITY, layout.rows), dtype=np.int8)
        self._status: list[str] = [""] * CAPACITY
        self._fallback: list[str] = [""] * CAPACITY
        self._contacts: list[str] = [""] * CAPACITY
        self._phase: list[str] = [""] * CAPACITY

    def add(self, step: Step, contacts: str) -> None:
        """Copies a step that fits the layout; it counts once all of it is in place."""
        state, command, layout, i = step.state, step.command, self.layout, self.filled
        line = self._numbers[i]
        line[TIME], line[CONTROL] = state.time, step.milliseconds
        line[layout.q], line[layout.v] = state.q, state.v
        line[layout.center_of_mass] = state.center_of_mass
        given = (command.velocity, command.acceleration, command.torque)
        for k, span in enumerate(layout.commands):
            values = given[k]
            self._given[i, k] = values is not None
            if span is not None:
                line[span] = np.nan if values is None else values
        errors, solution = command.errors, command.solution
        if errors is None:
            line[layout.errors] = np.nan
        else:
            line[layout.errors] = errors.stacked()
        if solution is None:
            line[SOLVER] = line[ITERATIONS] = self._slack[i] = np.nan
            self._sides[i] = ABSENT
        else:
            line[SOLVER], line[ITERATIONS] = solution.milliseconds, solution.iterations
            if layout.rows:
                self._slack[i] = solution.program.slack(solution.x)
                self._sides[i] = solution.sides
        if layout.forces is not None:
            self._forces[i] = layout.forces.write(line, command.forces)
        if layout.sensors is not None:
            layout.sensors.write(line, step.sensed)
        if layout.phased:
            self._phase[i] = plain(command.phase)
        self._status[i] = "" if solution is None else solution.status
        self._fallback[i], self._contacts[i] = plain(command.fallback or ""), contacts
        self.filled = i + 1

    def channels(self) -> tuple[Channel, ...]:
        """The samples so far."""
        with np.errstate(all="ignore"):  # a robot that went astray is recorded as it is
            return self._channels()

    def _channels(self) -> tuple[Channel, ...]:
        n, layout = self.filled, self.layout
        numbers = self._numbers[:n]
        channels = [_channel(header, numbers[:, span]) for header, span in layout.numbers]
        channels += [_channel(header, np.linalg.norm(numbers[:, span], axis=1)) for header, span in layout.norms]
        channels += self._level_channels(n, ~np.isnan(numbers[:, ITERATIONS]))
        channels += self._joint_channels(numbers[:, layout.q])
        wrong = np.zeros(n)
        for k, span in enumerate(layout.commands):
            if span is not None:
                wrong += np.where(self._given[:n, k], (~np.isfinite(numbers[:, span])).sum(axis=1), 0)
        if layout.forces is not None:  # contacts that do not touch are NaN and not wrong
            wrong += self._forces[:n] - np.isfinite(numbers[:, layout.forces.wrenches]).sum(axis=1)
        channels.append(_channel(_NONFINITE, wrong))
        if layout.sensors is not None:
            pressure = layout.sensors.forces.center_of_pressure(numbers, layout.body.weight)
            channels.append(_channel(_PRESSURE, pressure))
        texts = [*zip(_TEXTS, (self._status, self._fallback, self._contacts), strict=True)]
        for header, words in [*texts, (_PHASE, self._phase)] if layout.phased else texts:
            channels.append(_channel(header, np.array(words[:n], dtype=object)))
        return tuple(channels)

    def _level_channels(self, n: int, solved: Values) -> list[Channel]:
        channels = []
        sides, slack = self._sides[:n], np.abs(self._slack[:n])
        bound = (sides == LOWER) | (sides == UPPER)
        for level in self.layout.levels:
            worst = slack[:, level.span].max(axis=1, initial=0.0)
            channels.append(_channel(level.slack, np.where(solved, worst, np.nan)))
            channels.append(_channel(level.held, np.where(solved, bound[:, level.span].sum(axis=1), np.nan)))
            channels.append(_channel(level.active, sides[:, level.span]))
        return channels

    def _joint_channels(self, q: Values) -> list[Channel]:
        body = self.layout.body
        if not body.joints:
            return []
        angles = q[:, body.joint_q]
        below, above = angles - body.lower, body.upper - angles
        margin = np.minimum(below, above)
        every, nearest = np.arange(len(q)), margin.argmin(axis=1)
        side = np.where(below[every, nearest] < above[every, nearest], "lower", "upper")
        words = [f"{body.joints[k]} {which}" for k, which in zip(nearest, side, strict=True)]
        unit = joined_units(body.joint_units)
        return [
            _channel(Header.of(_MARGIN, "number", (), (unit,)), margin[every, nearest]),
            _channel(_NEAREST, np.array(words, dtype=object)),
        ]


def _channel(header: Header, values: Values) -> Channel:
    """A channel with its own copy of the values, n if there are no labels and n x k otherwise."""
    shape = (len(values), len(header.labels)) if header.labels else (len(values),)
    return Channel._of(header, np.array(values, order="C").reshape(shape))
