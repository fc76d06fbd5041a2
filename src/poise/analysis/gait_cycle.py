"""Gait cycles from gait events or recorded walks, their phases and lengths, and values normalised to the cycle.

Notation: A is the foot whose cycle it is, B the other one. The phases end at: B leaves (TO_B), B strikes (HS_B), A
leaves (TO_A), A strikes again (HS_A); so a cycle is double support, single support of A, double support, swing of A.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from poise.analysis.motion_phases import Phase
from poise.analysis.recorded_walk import Walked
from poise.arrays import Array
from poise.errors import GaitError, RecordingError
from poise.robots import Side

#: A stride that takes longer, s, is a pause: the slowest patients need about 2.5 s.
LONGEST = 3.0


class Event(Protocol):
    """Anything with a time (s), a side and a kind, "strike" or "off", such as a `GaitEvent`."""

    @property
    def time(self) -> float: ...
    @property
    def side(self) -> Side: ...
    @property
    def kind(self) -> str: ...


@dataclass(frozen=True)
class Cycle:
    """One gait cycle of the foot `side`: its five events, s, in the order in which they come.

    >>> cycle = best_cycle(events, first=0.0, last=2.5)
    >>> round(cycle.stance, 1), [phase.name for phase in cycle.phases]
    (61.2, ['first double support', 'single support', 'second double support', 'swing'])
    """

    side: Side
    strike: float
    opposite_off: float
    opposite_strike: float
    off: float
    next_strike: float

    @property
    def times(self) -> tuple[float, float, float, float, float]:
        """HS_A, TO_B, HS_B, TO_A, HS_A."""
        return self.strike, self.opposite_off, self.opposite_strike, self.off, self.next_strike

    @property
    def phases(self) -> tuple[Phase, ...]:
        """The four phases, one after the other."""
        names = ("first double support", "single support", "second double support", "swing")
        return tuple(Phase(name, a, b) for name, (a, b) in zip(names, itertools.pairwise(self.times), strict=True))

    @property
    def shares(self) -> tuple[float, float, float, float, float]:
        """The five events on the scale of the cycle, %, from 0 to 100."""
        a, b, c, d, e = (100.0 * (t - self.strike) / self.duration for t in self.times)
        return a, b, c, d, e

    @property
    def duration(self) -> float:
        """From strike to strike, s."""
        return self.next_strike - self.strike

    @property
    def stance(self) -> float:
        """Part of the cycle in which A stands, %."""
        return 100.0 * (self.off - self.strike) / self.duration

    @property
    def double_support(self) -> float:
        """Part of the cycle in which both feet stand, %: both double supports together."""
        both = (self.opposite_off - self.strike) + (self.off - self.opposite_strike)
        return 100.0 * both / self.duration

    @property
    def cadence(self) -> float:
        """Steps per minute, two to a cycle."""
        return 120.0 / self.duration


class Lengths(NamedTuple):
    """What a cycle covers: stride (m), speed (m/s), step (m, from B's heel to A's at its second strike) and width (m,
    between the lines of the heels)."""

    stride: float
    speed: float
    step: float
    width: float


def gait_cycles(events: Iterable[Event]) -> tuple[Cycle, ...]:
    """All complete cycles of both feet, in the order of time.

    Complete means that between two strikes of A there are one toe-off of B, one strike of B and one toe-off of A, in
    this order: a walk, not a run, in which A leaves before B strikes.

    >>> [cycle.side for cycle in gait_cycles(events)]
    ['left', 'right', 'left']
    """
    return tuple(sorted(_examined(events)[0], key=lambda cycle: cycle.strike))


def best_cycle(events: Iterable[Event], first: float, last: float, side: Side | None = None) -> Cycle:
    """The complete cycle that stays farthest from both ends of the file, where filters and fits are at their worst.

        argmax over cycles of min(strike - first, last - next_strike)

    Args:
        events: strikes and toe-offs.
        first, last: the times of the first and of the last frame, s.
        side: the foot whose cycle it is to be; by default any.

    Raises a `GaitError` that says what is missing if there is none.
    """
    known = tuple(events)
    found, missing = _examined(known)
    fitting = [cycle for cycle in found if side in (None, cycle.side)]
    if fitting:
        return max(fitting, key=lambda cycle: (min(cycle.strike - first, last - cycle.next_strike), -cycle.strike))
    phrases = tuple(phrase for foot, phrase in missing if side in (None, foot))
    whose = "" if side is None else f" of the {side} foot"
    raise GaitError(f"no complete gait cycle{whose} in {len(known)} events: {'; '.join(phrases)}", missing=phrases)


def lengths(
    cycle: Cycle, time: ArrayLike, heel: Mapping[Side, ArrayLike], direction: ArrayLike, belt: float = 0.0
) -> Lengths:
    """Stride, speed, step and width of a cycle.

        stride = d·(h_A(HS_A') - h_A(HS_A)) + v_b T,   speed = stride / T,   step = d·(h_A - h_B)(HS_A')

    Args:
        cycle: with T its duration.
        time: n, s.
        heel: by side, (n, 3), m.
        direction: d, horizontal unit vector of walking, (3,).
        belt: v_b, speed of a treadmill, m/s.
    """
    t, d = np.asarray(time, dtype=np.float64), np.asarray(direction, dtype=np.float64)
    begin, end = _at(t, heel[cycle.side], cycle.strike), _at(t, heel[cycle.side], cycle.next_strike)
    other = _at(t, heel["left" if cycle.side == "right" else "right"], cycle.next_strike)
    stride = float(d @ (end - begin)) + belt * cycle.duration
    across = np.array([-d[1], d[0], 0.0])
    return Lengths(stride, stride / cycle.duration, float(d @ (end - other)), abs(float(across @ (end - other))))


def _at(time: Array, points: ArrayLike, moment: float) -> Array:
    values = np.asarray(points, dtype=np.float64)
    return np.array([np.interp(moment, time, values[:, k]) for k in range(3)])


def _examined(events: Iterable[Event]) -> tuple[list[Cycle], list[tuple[Side, str]]]:
    """The complete cycles; and for each foot and pair of strikes without one, what is missing there."""
    known = sorted(events, key=lambda event: event.time)
    cycles: list[Cycle] = []
    missing: list[tuple[Side, str]] = []
    sides: tuple[tuple[Side, Side], ...] = (("left", "right"), ("right", "left"))
    for a, b in sides:
        strikes = _times(known, a, "strike")
        if len(strikes) < 2:
            have = "one strike" if strikes else "no strike"
            missing.append((a, f"the {a} foot has {have}, two are needed"))
        for begin, end in itertools.pairwise(strikes):
            where = f"between the strikes of the {a} foot at {begin:.2f} and {end:.2f} s"
            if end - begin > LONGEST:
                missing.append((a, f"{end - begin:.1f} s lie {where}, which is a pause"))
                continue
            inner = [(b, "off"), (b, "strike"), (a, "off")]
            times = [[t for t in _times(known, s, kind) if begin <= t <= end] for s, kind in inner]
            wrong = [f"the {s} foot has {_words(len(own))} {kind}" for (s, kind), own in zip(inner, times, strict=True)
                     if len(own) != 1]  # fmt: skip
            if not wrong and not times[0][0] < times[1][0] <= times[2][0]:
                wrong = ["the feet do not take turns as in a walk"]
            if wrong:
                missing.append((a, f"{', '.join(wrong)} {where}"))
            else:
                cycles.append(Cycle(a, begin, times[0][0], times[1][0], times[2][0], end))
    return cycles, missing


def _times(events: Sequence[Event], side: Side, kind: str) -> list[float]:
    return [event.time for event in events if event.side == side and event.kind == kind]


def _words(count: int) -> str:
    return "no" if count == 0 else f"more than one ({count})"


# -- Cycles: values over the gait cycle, from one touchdown of a foot to its next ------------------------------------


#: Steps of a cycle: one for each per cent, as gait laboratories have it.
COUNT = 101


class Cycles(NamedTuple):
    """Values of several strides on one scale.

    Attributes:
        share: of the cycle, %, from 0 to 100.
        values: (strides, len(share), ...), in the unit that was given.
        lift_off: where the foot leaves the ground, %, on average; NaN without strides.
    """

    share: Array
    values: Array
    lift_off: float

    @property
    def mean(self) -> Array:
        """Over the strides."""
        return np.asarray(self.values.mean(axis=0))

    @property
    def low(self) -> Array:
        """The least of all strides."""
        return np.asarray(self.values.min(axis=0))

    @property
    def high(self) -> Array:
        """The largest of all strides."""
        return np.asarray(self.values.max(axis=0))


def cycles(walk: Walked, values: ArrayLike, side: Side, count: int = COUNT) -> Cycles:
    """Values (n, ...) over the steady strides of one foot, which begin and end at its touchdowns.

    ``share = 100 (t - t_k) / (t_{k+1} - t_k)``, linearly between the samples.

    >>> cycles(walk, recording["q/left_knee_joint"], "left").mean.max()
    """
    given = np.asarray(values, dtype=np.float64)
    if len(given) != len(walk.heading):
        raise RecordingError(f"{len(given)} values for a walk of {len(walk.heading)} samples; give one for each")
    window = walk.window
    prints = [step.after for step in walk.steps if step.side == side]
    inside = [each for each in prints if window.start <= each.begin <= window.stop]
    share = np.linspace(0.0, 100.0, count)
    rows, ends = [np.zeros((0, count, *given.shape[1:]))], []
    for one, two in itertools.pairwise(inside):
        at = one.begin + share / 100.0 * (two.begin - one.begin)
        before = np.minimum(at.astype(int), len(given) - 2)
        w = (at - before).reshape(-1, *[1] * (given.ndim - 1))
        rows.append(((1.0 - w) * given[before] + w * given[before + 1])[np.newaxis])
        ends.append(100.0 * (one.end - one.begin) / (two.begin - one.begin))
    return Cycles(share, np.concatenate(rows), float(np.mean(ends)) if ends else np.nan)
