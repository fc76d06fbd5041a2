"""The Device interface, and operators that are programs: scripted, random, or guiding the robot to goals.

Where a `Script` says what the hands of an operator do whatever happens, a pilot is told what they are after. It sees
where the navigation points are before each motion segment, and gives the stick that a person would: full as long as the
place is far, less when it is near.
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
from poise.errors import UsageError
from poise.interface import Interface
from poise.parsing import brief, is_number
from poise.plans import AXES, MODES, Footstep, HandPoint, Mode, Points, Stick, Workspace, mode_named, stick_of
from poise.robots import Side, other_side


class Device(Interface):
    """An input device, or a program in its place. Only `read` is required.

    Attributes:
        seconds: duration of its input (s); None: unlimited.
        done: True when all goals are reached and the run may end.

    >>> stick = device.read(time=1.5)
    """

    seconds: float | None = None
    done: bool = False

    @abstractmethod
    def read(self, time: float) -> Stick:
        """What is asked for at a time of the motion (s). Always finite; never raises, and never waits."""

    def see(self, points: Points) -> None:
        """The current navigation points (m, rad), passed before each `read`."""


# -- Script: what an operator would do, written down -----------------------------------------------------------------


_EXAMPLE = '{"time": 0, "mode": "trunk", "input": [1, 0, 0, 0, 0, 0]}'
_KEYS = ("time", "mode", "input", "lift")


@dataclass(frozen=True)
class Entry:
    """From a time on (s), this stick."""

    time: float
    stick: Stick


class Script(Device):
    """Entries, each held until the next; before the first the stick is centred, in the mode of the first.

    Args:
        entries: in the order of their times, at least one; or the same as a file has them.

    Attributes:
        seconds: when the last entry begins (s).

    >>> script = Script([Entry(0.0, Stick("trunk", (1, 0, 0, 0, 0, 0))), Entry(4.0, Stick("trunk"))])
    >>> script.read(3.9).axes[0]
    1.0
    """

    def __init__(self, entries: Sequence[Entry | Mapping[str, Any]]) -> None:
        self.entries = tuple([_entry(place, entry) for place, entry in enumerate(entries)])
        if not self.entries:
            raise UsageError("a script needs at least one entry; expected e.g. [" + _EXAMPLE + "]")
        self._times = [entry.time for entry in self.entries]
        for place, time in enumerate(self._times):
            if not math.isfinite(time) or time < 0.0:
                raise UsageError(f"entry {place}: time is {time!r}; expected seconds, zero or more")
            if place and time <= self._times[place - 1]:
                before = self._times[place - 1]
                raise UsageError(f"entry {place}: time {time:g} s is not after {before:g} s; order entries by time")
        self._before = Stick(self.entries[0].stick.mode)
        self.seconds: float = self._times[-1]

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Script:
        """Reads a JSON list of ``{"time": s, "mode": name, "input": [6 numbers]}``, each with a ``"lift"`` if wanted.

        Raises:
            UsageError: one line that names the file and the entry, counted from 0.

        >>> Script.load("down_the_stairs.json").seconds
        """
        name = fspath(path)
        try:
            given = json.loads(Path(path).read_text(encoding="utf-8"))
        except OSError as error:
            raise UsageError(f"script '{name}' cannot be read: {error.strerror or error}") from None
        except (ValueError, RecursionError) as error:
            raise UsageError(f"script '{name}' is not JSON ({error}); expected e.g. [{_EXAMPLE}]") from None
        if not isinstance(given, list):
            raise UsageError(f"script '{name}' is no list of entries; expected e.g. [{_EXAMPLE}]")
        try:
            return cls(given)
        except UsageError as error:
            raise UsageError(f"script '{name}': {error}") from None

    def read(self, time: float) -> Stick:
        """The stick of the entry that holds at a time (s)."""
        place = 0 if math.isnan(time) else bisect_right(self._times, time)
        return self.entries[place - 1].stick if place else self._before


def _entry(place: int, given: Any) -> Entry:
    if isinstance(given, Entry):
        return given
    if not isinstance(given, Mapping):
        raise UsageError(f"entry {place} is {brief(given)}; expected e.g. {_EXAMPLE}")
    missing = [key for key in _KEYS[:3] if key not in given]
    if missing:
        raise UsageError(f'entry {place} has no "{missing[0]}"; expected e.g. {_EXAMPLE}')
    strange = [str(key) for key in given if key not in _KEYS]
    if strange:
        raise UsageError(f'entry {place} has a "{strange[0]}", which nothing reads; expected {", ".join(_KEYS)}')
    time, mode, axes, lift = given["time"], given["mode"], given["input"], given.get("lift", 0.5)
    if not is_number(time):
        raise UsageError(f"entry {place}: time is {brief(time)}; expected seconds, zero or more")
    if not isinstance(axes, (list, tuple)) or len(axes) != len(AXES) or not all(map(is_number, axes)):
        expected = f"expected {len(AXES)} numbers ({', '.join(AXES)})"
        raise UsageError(f"entry {place}: input is {brief(axes)}; {expected}")
    if not is_number(lift):
        raise UsageError(f"entry {place}: lift is {brief(lift)}; expected a share from 0 to 1")
    try:
        return Entry(float(time), stick_of(mode, axes, lift))
    except UsageError as error:
        raise UsageError(f"entry {place}: {error}") from None


# -- RandomStick: any command at any time ----------------------------------------------------------------------------


#: Modes are drawn for so many slots at once, so that no time is far from where drawing begins.
BLOCK = 64
#: Longest that a mode is kept, in slots.
LONGEST = 7
#: Of the slots in which a foot is guided, the share in which it is lifted.
LIFTED = 0.35
#: What tells the numbers of axes from those of modes.
_AXES, _MODES = 0, 1
#: No motion lasts longer (s), thirty years; whole slots are then still told apart.
_LATEST = 1e9


class RandomStick(Device):
    """A hand that does not care: a new stick every slot, in a new mode every one to seven slots.

    What it says is a function of seed and time alone. In a slot the six axes are, with probability `uniform`, drawn
    uniformly from -1 to 1, else each is -1 or 1 (bang-bang). While a foot is guided it is lifted in 35 % of the slots;
    in the others it is moved as it is or put down, in equal shares. The lift is uniform.

    Args:
        seed: a whole number, zero or more.
        slot: how long a stick is held (s); 0.5 is the usual length of a motion segment.
        uniform: share of the slots that are not bang-bang.
        modes: to choose from.

    >>> RandomStick(seed=7).read(12.3) == RandomStick(seed=7).read(12.4)
    True
    """

    def __init__(self, seed: int = 0, slot: float = 0.5, uniform: float = 0.7, modes: tuple[Mode, ...] = MODES) -> None:
        if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
            raise UsageError(f"seed is {seed!r}; expected a whole number, zero or more")
        if not (isinstance(slot, (int, float)) and math.isfinite(slot) and slot > 0.0):
            raise UsageError(f"slot is {slot!r}; expected positive seconds")
        if not (isinstance(uniform, (int, float)) and 0.0 <= uniform <= 1.0):
            raise UsageError(f"uniform is {uniform!r}; expected a share from 0 to 1")
        if not modes or any(mode not in MODES for mode in modes):
            raise UsageError(f"modes is {modes!r}; expected some of {', '.join(MODES)}")
        self.seed, self.slot, self.uniform, self.modes = seed, float(slot), float(uniform), tuple(modes)

    def read(self, time: float) -> Stick:
        """The stick of the slot that a time (s) lies in."""
        time = min(max(time, 0.0), _LATEST) if not math.isnan(time) else 0.0
        return _drawn(self.seed, int(time // self.slot), self.uniform, self.modes)


@lru_cache(maxsize=256)  # a loop asks the same slot many times
def _drawn(seed: int, slot: int, uniform: float, modes: tuple[Mode, ...]) -> Stick:
    random = np.random.default_rng([seed, _AXES, slot])
    mode = _modes(seed, slot // BLOCK, modes)[slot % BLOCK]
    axes = random.uniform(-1.0, 1.0, len(AXES))
    if random.random() >= uniform:
        axes = np.where(axes < 0.0, -1.0, 1.0)
    chance, lift = random.random(2)
    if mode.endswith("foot"):
        up = abs(axes[AXES.index("up")])
        lands = -up if chance < 0.5 * (1.0 + LIFTED) else 0.0
        axes[AXES.index("up")] = up if chance < LIFTED else lands
    return Stick(mode, tuple(axes.tolist()), float(lift))


@lru_cache(maxsize=256)
def _modes(seed: int, block: int, modes: tuple[Mode, ...]) -> tuple[Mode, ...]:
    """The modes of a block of slots."""
    random = np.random.default_rng([seed, _MODES, block])
    found: list[Mode] = []
    while len(found) < BLOCK:
        found += [modes[int(random.integers(len(modes)))]] * int(random.integers(1, LONGEST + 1))
    return tuple(found[:BLOCK])


# -- Pilot -----------------------------------------------------------------------------------------------------------


#: A foot is where it should be within this share of the leg: 3 mm on a robot of 58 cm.
THERE = 0.012
#: A foot that hangs over its place is within this share; what is left is made up for while it lands.
ABOVE = 0.03
#: The trunk is where it should be within this share of the leg, and this angle (rad): feet stand about as exactly.
NEAR, STRAIGHT = 0.12, 0.06
#: A hand is where it should be within this share of the leg: 3 mm on a robot of 58 cm.
TOUCHING = 0.012
#: An operator turns where the way leads, by no more than this (rad), until it is as near as this share of the leg.
TURN, HEADING = 0.3, 0.8


class Errand(Protocol):
    """One thing to be done by guiding one point."""

    def stick(self, points: Points, workspace: Workspace) -> Stick | None:
        """What to say when the points are seen like this; None when it is done."""


@dataclass(frozen=True)
class FootTo:
    """A foot is lifted, moved through the air, and put down ([Sugihara2008], section V: one-foot standing).

    Args:
        side: which foot.
        x, y, yaw: of the middle of its sole (m, rad).
    """

    side: Side
    x: float
    y: float
    yaw: float = 0.0

    def stick(self, points: Points, workspace: Workspace) -> Stick | None:
        foot, stance = points.feet[self.side], points.feet[other_side(self.side)]
        off = (complex(self.x, self.y) - foot.place) * stance.heading.conjugate()
        turn = (self.yaw - foot.yaw) / workspace.foot_turn
        along, across = off.real / workspace.foot[0], off.imag / workspace.foot[1]
        if points.lifted == self.side:
            hangs = abs(off) < ABOVE * workspace.leg
            return Stick(mode_named(f"{self.side} foot"), (along, across, -1.0 if hangs else 0.0, 0.0, 0.0, turn))
        if abs(off) < THERE * workspace.leg:
            return None
        return Stick(mode_named(f"{self.side} foot"), (0.0, 0.0, 1.0, 0.0, 0.0, 0.0))


@dataclass(frozen=True)
class TrunkTo:
    """The trunk is guided to a place; the feet follow by themselves.

    Args:
        x, y, yaw: of the trunk (m, rad).
    """

    x: float
    y: float
    yaw: float = 0.0

    def stick(self, points: Points, workspace: Workspace) -> Stick | None:
        # The middle of the feet is what has arrived: the centre of mass sways.
        feet: tuple[Footstep, ...] = tuple(points.feet.values())
        off = complex(self.x, self.y) - sum((foot.place for foot in feet), 0j) / len(feet)
        heading = float(points.attitude[2])
        wanted = self.yaw
        if abs(off) > HEADING * workspace.leg:
            wanted += max(-TURN, min(TURN, cmath.phase(off * cmath.exp(-1j * self.yaw))))
        elif abs(off) < NEAR * workspace.leg and abs(self.yaw - heading) < STRAIGHT and points.lifted is None:
            return None
        off *= cmath.exp(-1j * heading)
        axes = (off.real / workspace.trunk[0], off.imag / workspace.trunk[1], 0.0, 0.0, 0.0)
        return Stick("trunk", (*axes, (wanted - heading) / workspace.trunk_turn[2]))


@dataclass(frozen=True)
class HandTo:
    """A hand is guided to a place; the body follows, with a step if it must.

    Args:
        side: which hand.
        x, y, z: its place (m).
    """

    side: Side
    x: float
    y: float
    z: float

    def stick(self, points: Points, workspace: Workspace) -> Stick | None:
        x, y, z = points.hand(self.side).tolist()
        off = complex(self.x - x, self.y - y) * cmath.exp(-1j * float(points.attitude[2]))
        if math.hypot(abs(off), self.z - z) < TOUCHING * workspace.leg:
            return None
        far = workspace.hand
        return Stick(
            mode_named(f"{self.side} hand"), (off.real / far, off.imag / far, (self.z - z) / far, 0.0, 0.0, 0.0)
        )


class Pilot(Device):
    """Runs errands, one after the other, by guiding the robot that it sees.

    Args:
        errands: in their order.
        workspace: of the robot: what a full stick is worth.
        seconds: for which it is patient.
        eyes: where the hands really are in the world, by side (m, 3), for who looks at the robot itself; None: as the
            navigation points have them, which is where they are led.

    Attributes:
        done: whether all is done, and the robot had a segment's time to come to rest.
        at: number of the errand that it is at.

    >>> pilot = Pilot([TrunkTo(1.0, 0.0), HandTo("left", 1.3, 0.2, 0.9)], Workspace.of(robot))
    >>> navigate = Navigate(robot, pilot)
    """

    def __init__(
        self,
        errands: Sequence[Errand],
        workspace: Workspace,
        seconds: float = 60.0,
        eyes: Callable[[], Mapping[Side, Array]] | None = None,
    ) -> None:
        self.errands, self.workspace, self.seconds, self.eyes = tuple(errands), workspace, seconds, eyes
        self.at, self.done = 0, False
        self._points: Points | None = None
        self._last = Stick()

    def see(self, points: Points) -> None:
        """Looks at the robot."""
        if self.eyes is not None:
            back, center = points.trunk.T, points.center
            hands = {
                side: HandPoint(back @ (place - center), points.hands[side].attitude)
                for side, place in self.eyes().items()
            }
            points = points.replace(hands={**points.hands, **hands})
        self._points = points

    def read(self, time: float) -> Stick:
        """The stick for the errand that it is at; centred, in the last mode, when all is done."""
        if self._points is None:
            return self._last
        while self.at < len(self.errands):
            stick = self.errands[self.at].stick(self._points, self.workspace)
            if stick is not None:
                self._last = stick
                return stick
            self.at += 1
        self.done = self._last.still
        self._last = Stick(self._last.mode)
        return self._last
