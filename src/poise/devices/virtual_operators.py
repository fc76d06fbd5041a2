"""The interface `Device`, and programs in place of an operator: scripted, random, or guiding the robot to goals.

A `Script` gives commands at fixed times. A `GoalOperator` closes the loop: it observes the navigation points before
each motion segment, and commands full deflection while the goal is far and less when it is near, as a person would.
"""

from __future__ import annotations

import cmath
import json
import math
from abc import abstractmethod
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from poise.arrays import Array
from poise.errors import UsageError, suggestion
from poise.interface import Interface
from poise.parsing import format_value, is_number
from poise.plans import (
    COMMAND_AXES,
    GUIDING_MODES,
    Footstep,
    GuidingMode,
    HandPoint,
    NavigationPoints,
    OperatorCommand,
    Workspace,
    guiding_mode,
    make_command,
)
from poise.robots import Side, other_side


class Device(Interface):
    """An input device, or a program in its place. Only `read` is required.

    Attributes:
        seconds: duration of its input (s); None: unlimited.
        finished: True when all goals are reached and the run may end.

    >>> stick = device.read(time=1.5)
    """

    seconds: float | None = None
    finished: bool = False

    @abstractmethod
    def read(self, time: float) -> OperatorCommand:
        """Return the command at a time of the motion (s). Always finite; never raises, and never waits."""

    def observe(self, points: NavigationPoints) -> None:
        """Receive the current navigation points (m, rad); called before each `read`."""


# -- Script ----------------------------------------------------------------------------------------------------------


_ENTRY_EXAMPLE = '{"time": 0, "mode": "trunk", "input": [1, 0, 0, 0, 0, 0]}'
_ENTRY_KEYS = ("time", "mode", "input", "lift")


@dataclass(frozen=True)
class ScriptEntry:
    """A command that is valid from a time (s) on."""

    time: float
    command: OperatorCommand


class Script(Device):
    """Commands at given times, each valid until the next; before the first entry all axes are zero, in its mode.

    Args:
        entries: at least one entry, in the order of time; or mappings as in a file, see `load`.

    Attributes:
        seconds: time of the last entry (s).

    >>> forward, rest = OperatorCommand("trunk", (1, 0, 0, 0, 0, 0)), OperatorCommand("trunk")
    >>> script = Script([ScriptEntry(0.0, forward), ScriptEntry(4.0, rest)])
    >>> script.read(3.9).axes[0]
    1.0
    """

    def __init__(self, entries: Sequence[ScriptEntry | Mapping[str, Any]]) -> None:
        self.entries = tuple([_parse_entry(index, entry) for index, entry in enumerate(entries)])
        if not self.entries:
            raise UsageError("a script needs at least one entry; expected e.g. [" + _ENTRY_EXAMPLE + "]")
        self._times = [entry.time for entry in self.entries]
        for index, time in enumerate(self._times):
            if not math.isfinite(time) or time < 0.0:
                raise UsageError(f"entry {index}: time is {time!r}; expected seconds, zero or more")
            if index and time <= self._times[index - 1]:
                before = self._times[index - 1]
                raise UsageError(f"entry {index}: time {time:g} s is not after {before:g} s; order entries by time")
        self._initial = OperatorCommand(self.entries[0].command.mode)
        self.seconds: float = self._times[-1]

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Script:
        """Read a JSON list of ``{"time": s, "mode": name, "input": [6 numbers]}``, each with an optional ``"lift"``.

        Raises:
            UsageError: if the file or an entry is invalid; the message has the file and the index of the entry, from 0.

        >>> Script.load("down_the_stairs.json").seconds
        """
        name = fspath(path)
        try:
            value = json.loads(Path(path).read_text(encoding="utf-8"))
        except OSError as error:
            raise UsageError(f"script '{name}' cannot be read: {error.strerror or error}") from None
        except (ValueError, RecursionError) as error:
            raise UsageError(f"script '{name}' is not JSON ({error}); expected e.g. [{_ENTRY_EXAMPLE}]") from None
        if not isinstance(value, list):
            raise UsageError(f"script '{name}' is not a list of entries; expected e.g. [{_ENTRY_EXAMPLE}]")
        try:
            return cls(value)
        except UsageError as error:
            raise UsageError(f"script '{name}': {error}") from None

    def read(self, time: float) -> OperatorCommand:
        """Return the command of the entry that is valid at a time (s)."""
        index = 0 if math.isnan(time) else bisect_right(self._times, time)
        return self.entries[index - 1].command if index else self._initial


def _parse_entry(index: int, value: Any) -> ScriptEntry:
    if isinstance(value, ScriptEntry):
        return value
    if not isinstance(value, Mapping):
        raise UsageError(f"entry {index} is {format_value(value)}; expected e.g. {_ENTRY_EXAMPLE}")
    missing = [key for key in _ENTRY_KEYS[:3] if key not in value]
    if missing:
        raise UsageError(f'entry {index} has no "{missing[0]}"; expected e.g. {_ENTRY_EXAMPLE}')
    unknown = [str(key) for key in value if key not in _ENTRY_KEYS]
    if unknown:
        raise UsageError(f'entry {index} has an unknown key "{unknown[0]}"; {suggestion(unknown[0], _ENTRY_KEYS)}')
    time, mode, axes, lift = value["time"], value["mode"], value["input"], value.get("lift", 0.5)
    if not is_number(time):
        raise UsageError(f"entry {index}: time is {format_value(time)}; expected seconds, zero or more")
    if not isinstance(axes, (list, tuple)) or len(axes) != len(COMMAND_AXES) or not all(map(is_number, axes)):
        expected = f"expected {len(COMMAND_AXES)} numbers ({', '.join(COMMAND_AXES)})"
        raise UsageError(f"entry {index}: input is {format_value(axes)}; {expected}")
    if not is_number(lift):
        raise UsageError(f"entry {index}: lift is {format_value(lift)}; expected a number from 0 to 1")
    try:
        return ScriptEntry(float(time), make_command(mode, axes, lift))
    except UsageError as error:
        raise UsageError(f"entry {index}: {error}") from None


# -- RandomDevice ----------------------------------------------------------------------------------------------------


#: Number of slots whose modes are drawn together, so that the modes at any time take few random numbers.
MODE_BLOCK = 64
#: Longest duration of a mode in slots.
MAX_MODE_SLOTS = 7
#: Fraction of the slots with a guided foot in which it is lifted.
LIFT_SHARE = 0.35
#: Identifiers of the random streams of axes and of modes.
_AXES_STREAM, _MODES_STREAM = 0, 1
#: Longest time (s), thirty years; slot numbers are still exact there.
_MAX_TIME = 1e9


class RandomDevice(Device):
    """Random commands: a new command in every time slot, and a new mode after one to seven slots.

    The command depends only on seed and time. The six axes of a slot are drawn uniformly from -1 to 1 with probability
    `uniform`; otherwise each is -1 or 1 (bang-bang). A guided foot is lifted in 35 % of the slots; in half of the
    others it keeps its height, in the other half it is put down. The lift is uniformly distributed.

    Args:
        seed: an integer, zero or more.
        slot: duration of a command (s); 0.5 is the default length of a motion segment.
        uniform: fraction of the slots that are not bang-bang.
        modes: guiding modes to choose from.

    >>> RandomDevice(seed=7).read(12.3) == RandomDevice(seed=7).read(12.4)
    True
    """

    def __init__(
        self, seed: int = 0, slot: float = 0.5, uniform: float = 0.7, modes: tuple[GuidingMode, ...] = GUIDING_MODES
    ) -> None:
        if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
            raise UsageError(f"seed is {seed!r}; expected a whole number, zero or more")
        if not (isinstance(slot, (int, float)) and math.isfinite(slot) and slot > 0.0):
            raise UsageError(f"slot is {slot!r}; expected a positive number of seconds")
        if not (isinstance(uniform, (int, float)) and 0.0 <= uniform <= 1.0):
            raise UsageError(f"uniform is {uniform!r}; expected a fraction from 0 to 1")
        if not modes or any(mode not in GUIDING_MODES for mode in modes):
            raise UsageError(f"modes is {modes!r}; expected some of {', '.join(GUIDING_MODES)}")
        self.seed, self.slot, self.uniform, self.modes = seed, float(slot), float(uniform), tuple(modes)

    def read(self, time: float) -> OperatorCommand:
        """Return the command of the slot that contains a time (s)."""
        time = min(max(time, 0.0), _MAX_TIME) if not math.isnan(time) else 0.0
        return _draw_command(self.seed, int(time // self.slot), self.uniform, self.modes)


@lru_cache(maxsize=256)  # a control loop reads the same slot many times
def _draw_command(seed: int, slot: int, uniform: float, modes: tuple[GuidingMode, ...]) -> OperatorCommand:
    random = np.random.default_rng([seed, _AXES_STREAM, slot])
    mode = _modes(seed, slot // MODE_BLOCK, modes)[slot % MODE_BLOCK]
    axes = random.uniform(-1.0, 1.0, len(COMMAND_AXES))
    if random.random() >= uniform:
        axes = np.where(axes < 0.0, -1.0, 1.0)
    chance, lift = random.random(2)
    if mode.endswith("foot"):
        up = abs(axes[COMMAND_AXES.index("up")])
        down_or_level = -up if chance < 0.5 * (1.0 + LIFT_SHARE) else 0.0
        axes[COMMAND_AXES.index("up")] = up if chance < LIFT_SHARE else down_or_level
    return OperatorCommand(mode, tuple(axes.tolist()), float(lift))


@lru_cache(maxsize=256)
def _modes(seed: int, block: int, modes: tuple[GuidingMode, ...]) -> tuple[GuidingMode, ...]:
    """Return the modes of a block of `MODE_BLOCK` slots, one per slot."""
    random = np.random.default_rng([seed, _MODES_STREAM, block])
    sequence: list[GuidingMode] = []
    while len(sequence) < MODE_BLOCK:
        sequence += [modes[int(random.integers(len(modes)))]] * int(random.integers(1, MAX_MODE_SLOTS + 1))
    return tuple(sequence[:MODE_BLOCK])


# -- GoalOperator ----------------------------------------------------------------------------------------------------


#: Tolerance of a foot at its goal, as a fraction of the leg length: 3 mm on a robot of 58 cm.
FOOT_TOLERANCE = 0.012
#: Tolerance of a lifted foot above its goal, as a fraction of the leg length; the rest is corrected during landing.
HOVER_TOLERANCE = 0.03
#: Tolerance of the trunk at its goal, as a fraction of the leg length and as an angle (rad): about the accuracy of the
#: feet.
TRUNK_TOLERANCE, YAW_TOLERANCE = 0.12, 0.06
#: Tolerance of a hand at its goal, as a fraction of the leg length: 3 mm on a robot of 58 cm.
HAND_TOLERANCE = 0.012
#: Largest turn towards a trunk goal (rad), and the distance, as a fraction of the leg length, below which the trunk
#: turns to the yaw of the goal.
MAX_TURN, TURN_DISTANCE = 0.3, 0.8


class GuidanceGoal(Protocol):
    """A goal that is reached by guiding one navigation point."""

    def command(self, points: NavigationPoints, workspace: Workspace) -> OperatorCommand | None:
        """Return the command for the current navigation points; None if the goal is reached."""


@dataclass(frozen=True)
class FootGoal:
    """Lift a foot, move it through the air, and put it down ([Sugihara2008], section V: one-foot standing).

    Args:
        side: side of the foot.
        x, y: goal of the middle of its sole in the world (m).
        yaw: desired yaw of the foot (rad); it is commanded, but the goal counts as reached with any yaw.
    """

    side: Side
    x: float
    y: float
    yaw: float = 0.0

    def command(self, points: NavigationPoints, workspace: Workspace) -> OperatorCommand | None:
        foot, stance = points.feet[self.side], points.feet[other_side(self.side)]
        error = (complex(self.x, self.y) - foot.place) * stance.heading.conjugate()
        turn = (self.yaw - foot.yaw) / workspace.foot_turn
        along, across = error.real / workspace.foot_displacement[0], error.imag / workspace.foot_displacement[1]
        if points.lifted == self.side:
            hovers = abs(error) < HOVER_TOLERANCE * workspace.leg
            return OperatorCommand(
                guiding_mode(f"{self.side} foot"), (along, across, -1.0 if hovers else 0.0, 0.0, 0.0, turn)
            )
        if abs(error) < FOOT_TOLERANCE * workspace.leg:
            return None
        return OperatorCommand(guiding_mode(f"{self.side} foot"), (0.0, 0.0, 1.0, 0.0, 0.0, 0.0))


@dataclass(frozen=True)
class TrunkGoal:
    """Guide the trunk to a place; the feet follow automatically.

    The goal is reached when the middle of the feet is near x, y and the trunk has the desired yaw. The center of mass
    is not used, because it sways with every step.

    Args:
        x, y, yaw: goal in the world (m, rad).
    """

    x: float
    y: float
    yaw: float = 0.0

    def command(self, points: NavigationPoints, workspace: Workspace) -> OperatorCommand | None:

        feet: tuple[Footstep, ...] = tuple(points.feet.values())
        error = complex(self.x, self.y) - sum((foot.place for foot in feet), 0j) / len(feet)
        heading = float(points.attitude[2])
        yaw_target = self.yaw
        if abs(error) > TURN_DISTANCE * workspace.leg:
            yaw_target += max(-MAX_TURN, min(MAX_TURN, cmath.phase(error * cmath.exp(-1j * self.yaw))))
        elif (
            abs(error) < TRUNK_TOLERANCE * workspace.leg
            and abs(self.yaw - heading) < YAW_TOLERANCE
            and points.lifted is None
        ):
            return None
        error *= cmath.exp(-1j * heading)
        axes = (
            error.real / workspace.trunk_displacement[0],
            error.imag / workspace.trunk_displacement[1],
            0.0,
            0.0,
            0.0,
        )
        return OperatorCommand("trunk", (*axes, (yaw_target - heading) / workspace.trunk_turn[2]))


@dataclass(frozen=True)
class HandGoal:
    """Guide a hand to a place; the body follows, with a step if necessary.

    Args:
        side: side of the hand.
        x, y, z: goal of the hand in the world (m).
    """

    side: Side
    x: float
    y: float
    z: float

    def command(self, points: NavigationPoints, workspace: Workspace) -> OperatorCommand | None:
        x, y, z = points.hand_position(self.side).tolist()
        error = complex(self.x - x, self.y - y) * cmath.exp(-1j * float(points.attitude[2]))
        if math.hypot(abs(error), self.z - z) < HAND_TOLERANCE * workspace.leg:
            return None
        reach = workspace.hand_displacement
        return OperatorCommand(
            guiding_mode(f"{self.side} hand"),
            (error.real / reach, error.imag / reach, (self.z - z) / reach, 0.0, 0.0, 0.0),
        )


class GoalOperator(Device):
    """Operator that pursues goals, one after the other, by observing and guiding the robot.

    Args:
        goals: goals in their order.
        workspace: workspace of the robot: the displacements that correspond to full deflection.
        seconds: longest duration of its input (s).
        hand_positions: returns the measured positions of the hands in the world, by side (m, 3); None: use the
            navigation points, which are the commanded positions.

    Attributes:
        finished: whether all goals are reached, and the robot had the time of one segment to come to rest.
        current: index of the current goal.

    >>> operator = GoalOperator([TrunkGoal(1.0, 0.0), HandGoal("left", 1.3, 0.2, 0.9)], Workspace.of(robot))
    >>> navigate = Navigate(robot, operator)
    """

    def __init__(
        self,
        goals: Sequence[GuidanceGoal],
        workspace: Workspace,
        seconds: float = 60.0,
        hand_positions: Callable[[], Mapping[Side, Array]] | None = None,
    ) -> None:
        self.goals, self.workspace, self.seconds, self.hand_positions = tuple(goals), workspace, seconds, hand_positions
        self.current, self.finished = 0, False
        self._points: NavigationPoints | None = None
        self._last = OperatorCommand()

    def observe(self, points: NavigationPoints) -> None:
        """Store the navigation points, with the measured positions of the hands if available."""
        if self.hand_positions is not None:
            trunk_from_world, center = points.trunk.T, points.center
            hands = {
                side: HandPoint(trunk_from_world @ (position - center), points.hands[side].attitude)
                for side, position in self.hand_positions().items()
            }
            points = points.replace(hands={**points.hands, **hands})
        self._points = points

    def read(self, time: float) -> OperatorCommand:
        """Return the command for the current goal; zero axes in the last mode if all goals are reached."""
        if self._points is None:
            return self._last
        while self.current < len(self.goals):
            stick = self.goals[self.current].command(self._points, self.workspace)
            if stick is not None:
                self._last = stick
                return stick
            self.current += 1
        self.finished = self._last.is_zero
        self._last = OperatorCommand(self._last.mode)
        return self._last
