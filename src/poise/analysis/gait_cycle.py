"""Gait cycles and time normalisation: one `GaitCycle`, and one way to resample a signal over it.

A cycle lasts from one initial contact of a foot to its next. Cycles are made from gait events (`gait_cycles`), from the
frames at which a foot stands (`cycles_from_stance`), or from the footprints of a recorded walk (`RecordedWalk.cycles`).
`normalize_cycle` resamples a signal over one cycle, `normalize_cycles` over several.

Notation: A is the foot whose cycle it is, B the other one; HS is an initial contact (heel strike), TO a toe-off. The
phases end at TO_B, HS_B, TO_A and the next HS_A: double support, single support of A, double support, swing of A.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from poise.analysis.gait_events import GaitEvent
from poise.analysis.motion_phases import MotionPhase
from poise.analysis.signals import PERCENT_SAMPLES, Interpolation, resample
from poise.arrays import Array, Mask
from poise.errors import GaitError
from poise.robots import Side

#: A stride that takes longer, s, is a pause: the slowest patients need about 2.5 s.
LONGEST_STRIDE = 3.0
#: A stance or a swing that is shorter, s, is none: no step is so short.
SHORTEST_PHASE = 0.1
#: Where the foot leaves the ground on the scale of phases, %: as in adults, stance takes 60 % and swing 40 %.
TOE_OFF_PERCENT = 60.0


@dataclass(frozen=True)
class GaitCycle:
    """One gait cycle, from one initial contact of a foot to its next. Times are in s.

    Attributes:
        side: foot A, whose cycle it is.
        initial_contact: HS_A, at which the cycle begins.
        toe_off: TO_A.
        end: the next HS_A.
        opposite_toe_off, opposite_initial_contact: TO_B and HS_B; NaN where nothing is known of the other foot.

    >>> cycle = best_cycle(events, first=0.0, last=2.5)
    >>> round(cycle.stance, 1), [phase.name for phase in cycle.phases]
    (61.2, ['first double support', 'single support', 'second double support', 'swing'])
    """

    side: Side
    initial_contact: float
    toe_off: float
    end: float
    opposite_toe_off: float = math.nan
    opposite_initial_contact: float = math.nan

    @property
    def times(self) -> tuple[float, float, float, float, float]:
        """HS_A, TO_B, HS_B, TO_A and the next HS_A, s."""
        return self.initial_contact, self.opposite_toe_off, self.opposite_initial_contact, self.toe_off, self.end

    @property
    def phases(self) -> tuple[MotionPhase, ...]:
        """The four phases, one after the other."""
        if not all(map(math.isfinite, self.times)):
            raise GaitError(f"the phases of a {self.side} cycle need the events of the other foot; give both feet")
        names = ("first double support", "single support", "second double support", "swing")
        return tuple(
            MotionPhase(name, a, b) for name, (a, b) in zip(names, itertools.pairwise(self.times), strict=True)
        )

    @property
    def event_percents(self) -> tuple[float, float, float, float, float]:
        """The five events on the scale of the cycle, %, from 0 to 100."""
        a, b, c, d, e = (self.percent_at(t) for t in self.times)
        return a, b, c, d, e

    @property
    def duration(self) -> float:
        """From initial contact to initial contact, s."""
        return self.end - self.initial_contact

    def percent_at(self, time: float) -> float:
        """A time (s) on the scale of the cycle, %: 0 at its initial contact, 100 at its end."""
        return 100.0 * (time - self.initial_contact) / self.duration

    @property
    def stance(self) -> float:
        """Part of the cycle in which A stands, %."""
        return self.percent_at(self.toe_off)

    @property
    def double_support(self) -> float:
        """Part of the cycle in which both feet stand, %: both double supports together. NaN without the other foot."""
        both = (self.opposite_toe_off - self.initial_contact) + (self.toe_off - self.opposite_initial_contact)
        return 100.0 * both / self.duration

    @property
    def cadence(self) -> float:
        """Steps per minute, two to a cycle."""
        return 120.0 / self.duration


def gait_cycles(events: Iterable[GaitEvent]) -> tuple[GaitCycle, ...]:
    """All complete cycles of both feet, in the order of time.

    Complete means that between two strikes of A there are one toe-off of B, one strike of B and one toe-off of A, in
    this order: a walk, not a run, in which A leaves before B strikes.

    >>> [cycle.side for cycle in gait_cycles(events)]
    ['left', 'right', 'left']
    """
    return tuple(sorted(_find_cycles(events)[0], key=lambda cycle: cycle.initial_contact))


def best_cycle(events: Iterable[GaitEvent], first: float, last: float, side: Side | None = None) -> GaitCycle:
    """The complete cycle that stays farthest from both ends of the file, where filters and fits are at their worst.

        argmax over cycles of min(initial contact - first, last - end)

    Args:
        events: strikes and toe-offs.
        first, last: the times of the first and of the last frame, s.
        side: the foot whose cycle it is to be; by default any.

    Raises a `GaitError` that says what is missing if there is none.
    """
    known = tuple(events)
    found, missing = _find_cycles(known)
    fitting = [cycle for cycle in found if side in (None, cycle.side)]
    if fitting:
        return max(
            fitting, key=lambda cycle: (min(cycle.initial_contact - first, last - cycle.end), -cycle.initial_contact)
        )
    phrases = tuple(phrase for foot, phrase in missing if side in (None, foot))
    of_foot = "" if side is None else f" of the {side} foot"
    raise GaitError(f"no complete gait cycle{of_foot} in {len(known)} events: {'; '.join(phrases)}", missing=phrases)


def cycles_from_stance(time: Array, stance: Mask, side: Side) -> tuple[GaitCycle, ...]:
    """Cycles of one foot from the frames at which it stands, in the order of time.

    A stance or a swing below 0.1 s does not count. A stance that lasts since the first frame begins no cycle.

    Args:
        time: n, s.
        stance: n, whether the foot stands.
        side: which foot.

    >>> cycles_from_stance(time, force > 20.0, "left")[0].duration
    1.04
    """
    edges = [0, *(np.flatnonzero(np.diff(stance.astype(np.int8))) + 1).tolist(), len(time)]
    merged: list[tuple[int, int, bool]] = []
    for begin, end in itertools.pairwise(edges):
        on, inner = bool(stance[begin]), begin > 0 and end < len(time)
        if merged and (merged[-1][2] == on or (inner and time[end] - time[begin] < SHORTEST_PHASE)):
            merged[-1] = merged[-1][0], end, merged[-1][2]
        else:
            merged.append((begin, end, on))
    stances = [(begin, end) for begin, end, on in merged if on]
    return tuple(
        GaitCycle(side, float(time[begin]), float(time[off]), float(time[again]))
        for (begin, off), (again, _) in itertools.pairwise(stances)
        if begin > 0 and time[again] - time[begin] < LONGEST_STRIDE
    )


class StrideLengths(NamedTuple):
    """What a cycle covers: stride (m), speed (m/s), step (m, from B's heel to A's at its second strike) and width (m,
    between the lines of the heels)."""

    stride: float
    speed: float
    step: float
    width: float


def stride_lengths(
    cycle: GaitCycle, time: ArrayLike, heel: Mapping[Side, ArrayLike], direction: ArrayLike, belt: float = 0.0
) -> StrideLengths:
    """Stride, speed, step and width of a cycle.

        stride = d·(h_A(HS_A') - h_A(HS_A)) + v_b T,   speed = stride / T,   step = d·(h_A - h_B)(HS_A')

    Args:
        cycle: with T its duration.
        time: n, s.
        heel: by side, (n, 3), m.
        direction: d, horizontal unit vector of walking, (3,).
        belt: v_b, speed of a treadmill, m/s.
    """
    d = np.asarray(direction, dtype=np.float64)
    opposite: Side = "left" if cycle.side == "right" else "right"
    own, other = (np.asarray(heel[side], dtype=np.float64) for side in (cycle.side, opposite))
    begin, end = resample(time, own, [cycle.initial_contact, cycle.end])
    apart = end - resample(time, other, [cycle.end])[0]
    stride = float(d @ (end - begin)) + belt * cycle.duration
    across = np.array([-d[1], d[0], 0.0])
    return StrideLengths(stride, stride / cycle.duration, float(d @ apart), abs(float(across @ apart)))


def _find_cycles(events: Iterable[GaitEvent]) -> tuple[list[GaitCycle], list[tuple[Side, str]]]:
    """The complete cycles; and for each foot and pair of strikes without one, what is missing there."""
    known = sorted(events, key=lambda event: event.time)
    cycles: list[GaitCycle] = []
    missing: list[tuple[Side, str]] = []
    sides: tuple[tuple[Side, Side], ...] = (("left", "right"), ("right", "left"))
    for a, b in sides:
        contacts = _times(known, a, "strike")
        if len(contacts) < 2:
            have = "one strike" if contacts else "no strike"
            missing.append((a, f"the {a} foot has {have}, two are needed"))
        for begin, end in itertools.pairwise(contacts):
            where = f"between the strikes of the {a} foot at {begin:.2f} and {end:.2f} s"
            if end - begin > LONGEST_STRIDE:
                missing.append((a, f"{end - begin:.1f} s lie {where}, which is a pause"))
                continue
            inner = [(b, "off"), (b, "strike"), (a, "off")]
            times = [[t for t in _times(known, s, kind) if begin <= t <= end] for s, kind in inner]
            wrong = [f"the {s} foot has {_count_text(len(own))} {kind}"
                     for (s, kind), own in zip(inner, times, strict=True) if len(own) != 1]  # fmt: skip
            if not wrong and not times[0][0] < times[1][0] <= times[2][0]:
                wrong = ["the feet do not take turns as in a walk"]
            if wrong:
                missing.append((a, f"{', '.join(wrong)} {where}"))
            else:
                cycles.append(GaitCycle(a, begin, times[2][0], end, times[0][0], times[1][0]))
    return cycles, missing


def _times(events: Sequence[GaitEvent], side: Side, kind: str) -> list[float]:
    return [event.time for event in events if event.side == side and event.kind == kind]


def _count_text(count: int) -> str:
    return "no" if count == 0 else f"more than one ({count})"


# -- Time normalisation: signals over the gait cycle, from 0 to 100 % ------------------------------------------------


@dataclass(frozen=True, eq=False)
class CycleCurves:
    """Curves of several cycles, or of several people, on one scale. What is not known (NaN) does not count.

    Attributes:
        values: (curves, samples, ...), in the unit that was given.
        toe_off: where the foot leaves the ground, %, on average; NaN where that is not known.
    """

    values: Array
    toe_off: float = math.nan

    @property
    def count(self) -> int:
        """How many curves."""
        return len(self.values)

    @property
    def percent(self) -> Array:
        """Of the cycle, %, from 0 to 100, one for each sample."""
        return np.linspace(0.0, 100.0, self.values.shape[1])

    @property
    def mean(self) -> Array:
        """Over the curves."""
        known = np.isfinite(self.values)
        total = np.where(known, self.values, 0.0).sum(axis=0)
        return np.where(known.any(axis=0), total / np.maximum(known.sum(axis=0), 1), np.nan)

    @property
    def deviation(self) -> Array:
        """Standard deviation over the curves (n - 1); NaN of one alone."""
        return self.values.std(axis=0, ddof=1) if self.count > 1 else np.full(self.values.shape[1:], np.nan)

    @property
    def low(self) -> Array:
        """The least of all curves."""
        return -_highest(-self.values)

    @property
    def high(self) -> Array:
        """The largest of all curves."""
        return _highest(self.values)


def normalize_cycle(
    time: ArrayLike,
    values: ArrayLike,
    cycle: GaitCycle,
    count: int = PERCENT_SAMPLES,
    *,
    kind: Interpolation = "linear",
    toe_off: float | None = None,
) -> Array:
    """Values (n, ...) at equal steps of the cycle, from 0 to 100 %: (count, ...).

    On the plain scale ``share = 100 (t - HS_A) / duration``. On the scale of phases, with `toe_off`, stance takes the
    scale up to there and swing the rest, so that the toe-offs of bodies that stand for different times coincide.

    Args:
        time: n, s, rising.
        values: in any unit; NaN in gaps, which stay, see `resample`.
        cycle: within the time.
        count: how many steps; 101 are per cent.
        kind: "linear", or "spline", which keeps peaks of signals with few samples a second.
        toe_off: where the foot is to leave the ground, %, such as `TOE_OFF_PERCENT`; by default where it does.

    >>> normalize_cycle(time, angles, cycle, kind="spline").shape
    (101, 12)
    """
    t, x = np.asarray(time, dtype=np.float64), np.asarray(values, dtype=np.float64)
    if t.ndim != 1 or len(t) < 2 or len(x) != len(t) or not (np.diff(t) > 0.0).all():
        raise GaitError(f"{len(x)} values at {t.shape} times; give two or more, one for each time, times rising")
    begin, end = cycle.initial_contact, cycle.end
    # Events are frames: what lies outside by rounding is the first or the last frame.
    if not t[0] - 1e-6 <= begin < end <= t[-1] + 1e-6:
        raise GaitError(f"the cycle is from {begin:.3f} to {end:.3f} s, the motion from {t[0]:.3f} to {t[-1]:.3f} s")
    sample_times = np.linspace(begin, end, count)
    if toe_off is not None:
        sample_times = np.interp(np.linspace(0.0, 100.0, count), [0.0, toe_off, 100.0], [begin, cycle.toe_off, end])
    return np.asarray(resample(t, x, sample_times, kind))


def normalize_cycles(
    time: ArrayLike,
    values: ArrayLike,
    cycles: Sequence[GaitCycle],
    count: int = PERCENT_SAMPLES,
    *,
    kind: Interpolation = "linear",
) -> CycleCurves:
    """Values (n, ...) over each of several cycles on the plain scale; arguments as of `normalize_cycle`.

    >>> normalize_cycles(recording.time, recording["q/left_knee_joint"], walk.cycles_of("left")).mean.max()
    """
    curves = [normalize_cycle(time, values, cycle, count, kind=kind) for cycle in cycles]
    found = np.array(curves) if curves else np.zeros((0, count, *np.asarray(values).shape[1:]))
    return CycleCurves(found, float(np.mean([cycle.stance for cycle in cycles])) if cycles else math.nan)


def curves_over_people(curves: ArrayLike) -> CycleCurves:
    """Curves of several people, (people, 101, ...), with their mean and their standard deviation.

    >>> curves_over_people([[[1.0]], [[3.0]]]).mean.item()
    2.0
    """
    x = np.asarray(curves, dtype=np.float64)
    if x.ndim < 2 or not len(x):
        raise GaitError("no curves given; pass those of one person or more")
    return CycleCurves(x)


def _highest(values: Array) -> Array:
    highest = np.where(np.isfinite(values), values, -np.inf).max(axis=0, initial=-np.inf)
    return np.where(np.isfinite(highest), highest, np.nan)
