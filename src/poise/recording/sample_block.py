"""Storage of control steps in preallocated arrays: `SampleLayout` assigns columns, `SampleBlock` holds the samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from poise.recording.channel import (
    ABSENT_CODE,
    Channel,
    ChannelHeader,
    ChannelKeys,
    ChannelKind,
    Values,
    join_units,
    make_unique,
    printable,
)
from poise.recording.force_columns import SensorColumns, WrenchColumns, differs_from_truth
from poise.recording.provenance import CoordinateLabels
from poise.solvers import LOWER, UPPER, Program

if TYPE_CHECKING:
    from poise.control import Command, ControlStep, TaskErrors

#: Columns of the scalars of every step.
TIME, CONTROL, SOLVER, ITERATIONS = range(4)
_SCALARS = (("time", "s"), ("control/milliseconds", "ms"), ("solver/milliseconds", "ms"), ("solver/iterations", ""))


class LevelChannels(NamedTuple):
    """Rows of a level within the program, and the headers of its channels."""

    span: slice
    slack: ChannelHeader
    active_count: ChannelHeader
    active: ChannelHeader


class SampleLayout:
    """Names and columns of all recorded values of a step, valid as long as the hierarchy does not change.

    The numbers of a step are one row of a matrix, with the columns listed in `numbers`; `commands`, `errors`, `levels`,
    `forces`, `sensors` and `servo_torques` are the columns of optional values. `fits` tells whether another step has
    the same layout.

    Args:
        coordinates: labels of q and v.
        step: the first step with this layout.
        previous: layout of the preceding steps; their contacts, sensors and phases keep columns here, and all channels
            keep their keys.
    """

    def __init__(self, coordinates: CoordinateLabels, step: ControlStep, previous: SampleLayout | None = None) -> None:
        self.coordinates = coordinates
        self._keys: ChannelKeys = ChannelKeys() if previous is None else previous._keys
        self.numbers: list[tuple[ChannelHeader, slice]] = []
        self.width = 0
        for name, unit in _SCALARS:
            self._reserve(name, (), (unit,))
        self.q = self._reserve("q", coordinates.q_labels, coordinates.q_units)
        self.v = self._reserve("v", coordinates.v_labels, coordinates.rate_units("/s"))
        self.center_of_mass = self._reserve("center_of_mass", ("x", "y", "z"), ("m",) * 3)
        self.commands = self._reserve_commands(step.command)
        self._names: tuple[object, ...] | None = None
        self._begin: list[int] | None = None
        self._tasks: Sequence[object] | None = None
        self.norms: list[tuple[ChannelHeader, slice]] = []
        self.levels: list[LevelChannels] = []
        self.rows = 0
        first = self.width
        if step.command.errors is not None:
            self._reserve_tasks(step.command.errors)
        self.errors = slice(first, self.width)
        if step.command.solution is not None:
            self._reserve_levels(step.command.solution.program)
        self.forces: WrenchColumns | None = self._reserve_forces(step, None if previous is None else previous.forces)
        self.sensors: SensorColumns | None = self._reserve_sensors(step, None if previous is None else previous.sensors)
        self.servo_torques: slice | None = self._reserve_servo_torques(step, previous)
        self.has_phase: bool = bool(step.command.phase) or (previous is not None and previous.has_phase)

    def fits(self, step: ControlStep) -> bool:
        """Return whether this layout has columns for all values of a step; values that the step lacks are absent."""
        command, readings = step.command, step.readings
        if command.forces is not None and (self.forces is None or not self.forces.fits(command.forces)):
            return False
        if readings is not None and (self.sensors is None or not self.sensors.fits(readings, step.state)):
            return False
        if self.servo_torques is None and self.has_servo_torques(step):
            return False
        if command.phase and not self.has_phase:
            return False
        return self._fits_hierarchy(command)

    def has_servo_torques(self, step: ControlStep) -> bool:
        """Return whether a step has one servo torque per joint; a plant of the user may report others."""
        torques, count = step.servo_torques, len(self.coordinates.joints)
        return torques is not None and count > 0 and np.shape(torques) == (count,)

    def _fits_hierarchy(self, command: Command) -> bool:
        errors, solution = command.errors, command.solution
        if errors is not None and errors.tasks is not self._tasks:
            if errors.tasks != self._tasks:
                return False
            self._tasks = errors.tasks
        # Programs in the same memory share the list of first rows of their levels.
        if solution is not None and solution.program.level_begin is not self._begin:
            if _names(solution.program) != self._names:
                return False
            self._begin = solution.program.level_begin
        commands = (command.velocity, command.acceleration, command.torque)
        return all(values is None or span is not None for values, span in zip(commands, self.commands, strict=True))

    def _header(self, label: str, kind: ChannelKind, labels: tuple[str, ...], units: tuple[str, ...]) -> ChannelHeader:
        return ChannelHeader(self._keys[label], kind, labels, units, label)

    def _reserve(self, label: str, labels: tuple[str, ...], units: tuple[str, ...]) -> slice:
        span = slice(self.width, self.width + max(len(labels), 1))
        self.numbers.append((self._header(label, "number", labels, units), span))
        self.width = span.stop
        return span

    def _reserve_commands(self, command: Command) -> tuple[slice | None, slice | None, slice | None]:
        coordinates = self.coordinates
        velocity = ("command/velocity", coordinates.v_labels, coordinates.rate_units("/s"))
        acceleration = ("command/acceleration", coordinates.v_labels, coordinates.rate_units("/s^2"))
        efforts = ((), ()) if command.torque is None else coordinates.effort_labels(len(command.torque))
        return (
            None if command.velocity is None else self._reserve(*velocity),
            None if command.acceleration is None else self._reserve(*acceleration),
            None if command.torque is None else self._reserve("command/torque", *efforts),
        )

    def _reserve_forces(self, step: ControlStep, previous: WrenchColumns | None) -> WrenchColumns | None:
        forces = step.command.forces
        if forces is None and previous is None:
            return None
        names = () if forces is None else forces.names
        return WrenchColumns(self._reserve, ("force", "contact_point"), names, previous)

    def _reserve_sensors(self, step: ControlStep, previous: SensorColumns | None) -> SensorColumns | None:
        readings = step.readings
        if readings is None and previous is None:
            return None
        truth = readings is not None and differs_from_truth(readings, step.state)
        return SensorColumns(self._reserve, self.coordinates, readings, truth, previous)

    def _reserve_servo_torques(self, step: ControlStep, previous: SampleLayout | None) -> slice | None:
        if not self.has_servo_torques(step) and (previous is None or previous.servo_torques is None):
            return None
        return self._reserve("measured/torque", *self.coordinates.effort_labels(len(self.coordinates.joints)))

    def _reserve_tasks(self, errors: TaskErrors) -> None:
        self._tasks = errors.tasks
        names = make_unique(f"{_level_label(level)}/{printable(task)}" for level, task, *_ in errors.tasks)
        for i, (name, (_, _, unit, labels)) in enumerate(zip(names, errors.tasks, strict=True)):
            row_labels = _row_labels(labels, int(np.size(errors.values(i))))
            if row_labels:
                span = self._reserve(f"error/{name}", row_labels, (printable(unit),) * len(row_labels))
                self.norms.append((self._header(f"error_norm/{name}", "number", (), (printable(unit),)), span))

    def _reserve_levels(self, program: Program) -> None:
        self._names = _names(program)
        self._begin = program.level_begin
        self.rows = program.rows
        for k, name in enumerate(make_unique(_level_label(name) for name in program.names)):
            blocks = [rows for rows in program.levels[k] if len(rows)]
            if not blocks:  # a level without rows at this time is absent, like a task that was removed
                continue
            labels = make_unique(printable(rows.label(i)) for rows in blocks for i in range(len(rows)))
            unit = join_units(printable(rows.unit) for rows in blocks)
            self.levels.append(
                LevelChannels(
                    span=program.slice(k),
                    slack=self._header(f"slack/{name}", "number", (), (unit,)),
                    active_count=self._header(f"active_count/{name}", "number", (), ("",)),
                    active=self._header(f"active/{name}", "code", labels, ("",) * len(labels)),
                )
            )


def _names(program: Program) -> tuple[object, ...]:
    """Return all names used for the channels of a program; programs with equal names have the same channels."""
    rows = [(rows.name, rows.unit, rows.labels) for level in program.levels for rows in level]
    return (program.names, program.level_begin, rows)


def _level_label(name: str) -> str:
    """Return the name of a level for use in the label of a channel, with slashes replaced, as they separate names."""
    return printable(name).replace("/", "|")


def _row_labels(labels: Sequence[str] | None, size: int) -> tuple[str, ...]:
    """Return one unique label per row; row numbers if the labels do not fit."""
    texts = tuple(map(printable, labels or ()))
    return make_unique(texts) if len(texts) == size else tuple(str(i) for i in range(size))


# -- Block -----------------------------------------------------------------------------------------------------------


#: Samples in a block: a quarter of a second at 500 Hz, about 300 kB for a humanoid.
BLOCK_CAPACITY = 128

_PRESSURE_HEADER = ChannelHeader.of("center_of_pressure", "number", ("x", "y"), ("m", "m"))
_PHASE_HEADER = ChannelHeader.of("phase", "text")
_NONFINITE_HEADER = ChannelHeader.of("command/nonfinite", "number")
_MARGIN, _NEAREST = "joint_limit/margin", ChannelHeader.of("joint_limit/nearest", "text")
_TEXT_HEADERS = tuple(ChannelHeader.of(key, "text") for key in ("solver/status", "control/fallback", "contacts"))


class SampleBlock:
    """Up to `BLOCK_CAPACITY` samples of one layout.

    `add` only copies numbers; norms, largest slacks, margins and centers of pressure are computed in `channels`, for
    all samples at once.
    """

    def __init__(self, layout: SampleLayout) -> None:
        self.layout = layout
        self.count = 0
        self._numbers = np.empty((BLOCK_CAPACITY, layout.width))
        self._has_command = np.empty((BLOCK_CAPACITY, len(layout.commands)), dtype=bool)
        self._forces = np.zeros(BLOCK_CAPACITY)  # number of components of the commanded forces
        self._slack = np.empty((BLOCK_CAPACITY, layout.rows))
        self._sides = np.empty((BLOCK_CAPACITY, layout.rows), dtype=np.int8)
        self._status: list[str] = [""] * BLOCK_CAPACITY
        self._fallback: list[str] = [""] * BLOCK_CAPACITY
        self._contacts: list[str] = [""] * BLOCK_CAPACITY
        self._phase: list[str] = [""] * BLOCK_CAPACITY

    def add(self, step: ControlStep, contacts: str) -> None:
        """Copy a step that fits the layout; `count` increases only after all values are copied."""
        state, command, layout, i = step.state, step.command, self.layout, self.count
        row = self._numbers[i]
        row[TIME], row[CONTROL] = state.time, step.milliseconds
        row[layout.q], row[layout.v] = state.q, state.v
        row[layout.center_of_mass] = state.center_of_mass
        commands = (command.velocity, command.acceleration, command.torque)
        for k, span in enumerate(layout.commands):
            values = commands[k]
            self._has_command[i, k] = values is not None
            if span is not None:
                row[span] = np.nan if values is None else values
        errors, solution = command.errors, command.solution
        if errors is None:
            row[layout.errors] = np.nan
        else:
            row[layout.errors] = errors.stacked_values()
        if solution is None:
            row[SOLVER] = row[ITERATIONS] = self._slack[i] = np.nan
            self._sides[i] = ABSENT_CODE
        else:
            row[SOLVER], row[ITERATIONS] = solution.milliseconds, solution.iterations
            if layout.rows:
                program = solution.program
                np.multiply(program.slack(solution.x), program.weight > 0.0, out=self._slack[i])  # 0: a disabled row
                self._sides[i] = solution.sides
        if layout.forces is not None:
            self._forces[i] = layout.forces.write(row, command.forces)
        if layout.sensors is not None:
            layout.sensors.write(row, step.readings)
        if layout.servo_torques is not None:
            row[layout.servo_torques] = step.servo_torques if layout.has_servo_torques(step) else np.nan
        if layout.has_phase:
            self._phase[i] = printable(command.phase)
        self._status[i] = "" if solution is None else solution.status
        self._fallback[i], self._contacts[i] = printable(command.fallback or ""), contacts
        self.count = i + 1

    def channels(self) -> tuple[Channel, ...]:
        """Return the samples so far as channels."""
        with np.errstate(all="ignore"):  # a diverging robot is recorded without warnings
            return self._channels()

    def _channels(self) -> tuple[Channel, ...]:
        n, layout = self.count, self.layout
        numbers = self._numbers[:n]
        channels = [_channel(header, numbers[:, span]) for header, span in layout.numbers]
        channels += [_channel(header, np.linalg.norm(numbers[:, span], axis=1)) for header, span in layout.norms]
        channels += self._level_channels(n, ~np.isnan(numbers[:, ITERATIONS]))
        channels += self._joint_channels(numbers[:, layout.q])
        nonfinite = np.zeros(n)
        for k, span in enumerate(layout.commands):
            if span is not None:
                nonfinite += np.where(self._has_command[:n, k], (~np.isfinite(numbers[:, span])).sum(axis=1), 0)
        if layout.forces is not None:  # NaN of open contacts is not an error
            nonfinite += self._forces[:n] - np.isfinite(numbers[:, layout.forces.wrenches]).sum(axis=1)
        channels.append(_channel(_NONFINITE_HEADER, nonfinite))
        if layout.sensors is not None:
            pressure = layout.sensors.forces.center_of_pressure(numbers, layout.coordinates.weight)
            channels.append(_channel(_PRESSURE_HEADER, pressure))
        texts = [*zip(_TEXT_HEADERS, (self._status, self._fallback, self._contacts), strict=True)]
        for header, values in [*texts, (_PHASE_HEADER, self._phase)] if layout.has_phase else texts:
            channels.append(_channel(header, np.array(values[:n], dtype=object)))
        return tuple(channels)

    def _level_channels(self, n: int, solved: Values) -> list[Channel]:
        channels = []
        sides, slack = self._sides[:n], np.abs(self._slack[:n])
        bound = (sides == LOWER) | (sides == UPPER)
        for level in self.layout.levels:
            worst = slack[:, level.span].max(axis=1, initial=0.0)
            channels.append(_channel(level.slack, np.where(solved, worst, np.nan)))
            channels.append(_channel(level.active_count, np.where(solved, bound[:, level.span].sum(axis=1), np.nan)))
            channels.append(_channel(level.active, sides[:, level.span]))
        return channels

    def _joint_channels(self, q: Values) -> list[Channel]:
        coordinates = self.layout.coordinates
        if not coordinates.joints:
            return []
        angles = q[:, coordinates.joint_q]
        below, above = angles - coordinates.lower, coordinates.upper - angles
        margin = np.minimum(below, above)
        samples, nearest = np.arange(len(q)), margin.argmin(axis=1)
        side = np.where(below[samples, nearest] < above[samples, nearest], "lower", "upper")
        joint_limits = [f"{coordinates.joints[k]} {which}" for k, which in zip(nearest, side, strict=True)]
        unit = join_units(coordinates.joint_units)
        return [
            _channel(ChannelHeader.of(_MARGIN, "number", (), (unit,)), margin[samples, nearest]),
            _channel(_NEAREST, np.array(joint_limits, dtype=object)),
        ]


def _channel(header: ChannelHeader, values: Values) -> Channel:
    """Build a channel with a copy of the values: n without labels, n x k with k labels."""
    shape = (len(values), len(header.labels)) if header.labels else (len(values),)
    return Channel._unchecked(header, np.array(values, order="C").reshape(shape))
