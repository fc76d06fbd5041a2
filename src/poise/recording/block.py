"""Block: some samples in a row, in memory that is set aside beforehand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from poise.recording.channel import ABSENT, Channel, Header, Values, joined_units, plain
from poise.recording.layout import CONTROL, ITERATIONS, SOLVER, TIME, Layout
from poise.solvers import LOWER, UPPER

if TYPE_CHECKING:
    from poise.control import Step

#: Samples in a block: a quarter of a second at 500 Hz, and some 300 kB for a humanoid.
CAPACITY = 128

_PRESSURE = Header("center_of_pressure", "number", ("x", "y"), ("m", "m"))
_PHASE = Header("phase", "text", (), ("",))
_NONFINITE = Header("command/nonfinite", "number", (), ("",))
_MARGIN, _NEAREST = "joint_limit/margin", Header("joint_limit/nearest", "text", (), ("",))
_TEXTS = tuple(Header(name, "text", (), ("",)) for name in ("solver/status", "control/fallback", "contacts"))


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
        elif layout.stacked:
            line[layout.errors] = errors.stacked()  # type: ignore[attr-defined]
        else:
            for task, span in layout.tasks:
                line[span] = errors.values(task)
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
            _channel(Header(_MARGIN, "number", (), (unit,)), margin[every, nearest]),
            _channel(_NEAREST, np.array(words, dtype=object)),
        ]


def _channel(header: Header, values: Values) -> Channel:
    """A channel with its own copy of the values, n if there are no labels and n x k otherwise."""
    shape = (len(values), len(header.labels)) if header.labels else (len(values),)
    return Channel._of(header, np.array(values, order="C").reshape(shape))
