"""Gait cycles: detection from gait events or stance, spatiotemporal parameters, and time normalization of signals.

A cycle lasts from one initial contact of a foot to the next one of the same foot. Cycles are made from gait events
(`gait_cycles`), from the stance frames of a foot (`cycles_from_stance`), or from the footprints of a recorded walk
(`RecordedWalk.cycles`). `normalize_cycle` resamples a signal over one cycle, `normalize_cycles` over several.

Notation: A is the foot of the cycle, B the other one; HS is an initial contact (heel strike), TO a toe-off. The phases
end at TO_B, HS_B, TO_A and the next HS_A: double support, single support of A, double support, swing of A.
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

#: Longest stride, s; a longer interval is a pause. The slowest patients need about 2.5 s.
LONGEST_STRIDE = 3.0
#: Names of the kinds of events in messages.
EVENT_NAMES = {"initial_contact": "initial contact", "toe_off": "toe-off"}
#: Shortest stance or swing, s; shorter intervals are ignored.
SHORTEST_PHASE = 0.1
#: Toe-off on the phase-normalised scale, %: as in adults, stance takes 60 % and swing 40 %.
TOE_OFF_PERCENT = 60.0


@dataclass(frozen=True)
class GaitCycle:
    """One gait cycle, from one initial contact of a foot to its next. Times are in s.

    Attributes:
        side: foot A, to which the cycle belongs.
        initial_contact: HS_A, the beginning of the cycle.
        toe_off: TO_A.
        end: the next HS_A.
        opposite_toe_off, opposite_initial_contact: TO_B and HS_B; NaN if the other foot is unknown.

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
        """The four phases in order of time; raises a `GaitError` if the events of the other foot are unknown."""
        if not all(map(math.isfinite, self.times)):
            raise GaitError(
                f"the phases of a {self.side} cycle need the events of the other foot; pass events of both feet"
            )
        names = ("first double support", "single support", "second double support", "swing")
        return tuple(
            MotionPhase(name, a, b) for name, (a, b) in zip(names, itertools.pairwise(self.times), strict=True)
        )

    @property
    def event_percents(self) -> tuple[float, float, float, float, float]:
        """The five events in % of the cycle, from 0 to 100."""
        a, b, c, d, e = (self.percent_at(t) for t in self.times)
        return a, b, c, d, e

    @property
    def duration(self) -> float:
        """Duration from initial contact to initial contact, s."""
        return self.end - self.initial_contact

    def percent_at(self, time: float) -> float:
        """Convert a time (s) to % of the cycle: 0 at its initial contact, 100 at its end."""
        return 100.0 * (time - self.initial_contact) / self.duration

    @property
    def stance(self) -> float:
        """Stance phase of A, % of the cycle."""
        return self.percent_at(self.toe_off)

    @property
    def double_support(self) -> float:
        """Sum of both double support phases, % of the cycle; NaN if the other foot is unknown."""
        both = (self.opposite_toe_off - self.initial_contact) + (self.toe_off - self.opposite_initial_contact)
        return 100.0 * both / self.duration

    @property
    def cadence(self) -> float:
        """Cadence, steps per minute (two steps per cycle)."""
        return 120.0 / self.duration


def gait_cycles(events: Iterable[GaitEvent]) -> tuple[GaitCycle, ...]:
    """Return all complete cycles of both feet in order of time.

    A cycle is complete if between two initial contacts of A there are one toe-off of B, one initial contact of B and
    one toe-off of A, in this order. This excludes running, in which A leaves the ground before B lands.

    >>> [cycle.side for cycle in gait_cycles(events)]
    ['left', 'right', 'left']
    """
    return tuple(sorted(_find_cycles(events)[0], key=lambda cycle: cycle.initial_contact))


def best_cycle(events: Iterable[GaitEvent], first: float, last: float, side: Side | None = None) -> GaitCycle:
    """Return the complete cycle farthest from both ends of the trial, where filtering and fitting are least accurate.

        argmax over cycles of min(initial contact - first, last - end)

    Args:
        events: initial contacts and toe-offs.
        first, last: times of the first and the last frame, s.
        side: foot of the cycle; by default either.

    Raises:
        GaitError: there is no complete cycle; the message lists the missing events.
    """
    known = tuple(events)
    cycles, missing = _find_cycles(known)
    fitting = [cycle for cycle in cycles if side in (None, cycle.side)]
    if fitting:
        return max(
            fitting, key=lambda cycle: (min(cycle.initial_contact - first, last - cycle.end), -cycle.initial_contact)
        )
    phrases = tuple(phrase for foot, phrase in missing if side in (None, foot))
    of_foot = "" if side is None else f" of the {side} foot"
    raise GaitError(f"no complete gait cycle{of_foot} in {len(known)} events: {'; '.join(phrases)}", missing=phrases)


def cycles_from_stance(time: Array, stance: Mask, side: Side) -> tuple[GaitCycle, ...]:
    """Return the cycles of one foot from its stance frames, in order of time.

    Stances and swings shorter than 0.1 s are ignored. A stance that already lasts at the first frame begins no cycle.

    Args:
        time: n, s.
        stance: n, whether the foot is in stance.
        side: the foot.

    >>> cycles_from_stance(time, force > 20.0, "left")[0].duration
    1.04
    """
    edges = [0, *(np.flatnonzero(np.diff(stance.astype(np.int8))) + 1).tolist(), len(time)]
    merged: list[tuple[int, int, bool]] = []
    for begin, end in itertools.pairwise(edges):
        in_stance, inner = bool(stance[begin]), begin > 0 and end < len(time)
        if merged and (merged[-1][2] == in_stance or (inner and time[end] - time[begin] < SHORTEST_PHASE)):
            merged[-1] = merged[-1][0], end, merged[-1][2]
        else:
            merged.append((begin, end, in_stance))
    stances = [(begin, end) for begin, end, in_stance in merged if in_stance]
    return tuple(
        GaitCycle(side, float(time[begin]), float(time[lift_off]), float(time[next_contact]))
        for (begin, lift_off), (next_contact, _) in itertools.pairwise(stances)
        if begin > 0 and time[next_contact] - time[begin] < LONGEST_STRIDE
    )


class StrideLengths(NamedTuple):
    """Spatial parameters of a cycle: stride length (m), speed (m/s), step length (m, from the heel of B to that of A at
    the end of the cycle) and step width (m, lateral distance of the heels).
    """

    stride: float
    speed: float
    step: float
    width: float


def stride_lengths(
    cycle: GaitCycle, time: ArrayLike, heel: Mapping[Side, ArrayLike], direction: ArrayLike, belt: float = 0.0
) -> StrideLengths:
    """Compute stride length, speed, step length and step width of a cycle.

        stride = d·(h_A(HS_A') - h_A(HS_A)) + v_b T,   speed = stride / T,   step = d·(h_A - h_B)(HS_A')

    HS_A' is the initial contact at the end of the cycle.

    Args:
        cycle: of duration T.
        time: n, s.
        heel: h, position of the heel by side, (n, 3), m.
        direction: d, horizontal unit vector of walking, (3,).
        belt: v_b, speed of the treadmill belt, m/s.
    """
    d = np.asarray(direction, dtype=np.float64)
    opposite: Side = "left" if cycle.side == "right" else "right"
    own_heel, other_heel = (np.asarray(heel[side], dtype=np.float64) for side in (cycle.side, opposite))
    begin, end = resample(time, own_heel, [cycle.initial_contact, cycle.end])
    heel_offset = end - resample(time, other_heel, [cycle.end])[0]
    stride = float(d @ (end - begin)) + belt * cycle.duration
    across = np.array([-d[1], d[0], 0.0])
    return StrideLengths(stride, stride / cycle.duration, float(d @ heel_offset), abs(float(across @ heel_offset)))


def _find_cycles(events: Iterable[GaitEvent]) -> tuple[list[GaitCycle], list[tuple[Side, str]]]:
    """Return the complete cycles, and for each incomplete one its foot and a phrase about the missing events."""
    known = sorted(events, key=lambda event: event.time)
    cycles: list[GaitCycle] = []
    missing: list[tuple[Side, str]] = []
    sides: tuple[tuple[Side, Side], ...] = (("left", "right"), ("right", "left"))
    for a, b in sides:
        contacts = _times(known, a, "initial_contact")
        if len(contacts) < 2:
            have = "one initial contact" if contacts else "no initial contact"
            missing.append((a, f"the {a} foot has {have}, two are needed"))
        for begin, end in itertools.pairwise(contacts):
            where = f"between the initial contacts of the {a} foot at {begin:.2f} and {end:.2f} s"
            if end - begin > LONGEST_STRIDE:
                missing.append((a, f"{end - begin:.1f} s {where} are a pause"))
                continue
            inner = [(b, "toe_off"), (b, "initial_contact"), (a, "toe_off")]
            times = [[t for t in _times(known, s, kind) if begin <= t <= end] for s, kind in inner]
            wrong = [f"the {s} foot has {_count_text(len(own))} {EVENT_NAMES[kind]}"
                     for (s, kind), own in zip(inner, times, strict=True) if len(own) != 1]  # fmt: skip
            if not wrong and not times[0][0] < times[1][0] <= times[2][0]:
                wrong = ["the feet do not alternate as in walking"]
            if wrong:
                missing.append((a, f"{', '.join(wrong)} {where}"))
            else:
                cycles.append(GaitCycle(a, begin, times[2][0], end, times[0][0], times[1][0]))
    return cycles, missing


def _times(events: Sequence[GaitEvent], side: Side, kind: str) -> list[float]:
    return [event.time for event in events if event.side == side and event.kind == kind]


def _count_text(count: int) -> str:
    return "no" if count == 0 else f"more than one ({count})"


# -- Time normalization: signals over the gait cycle, from 0 to 100 % ------------------------------------------------


@dataclass(frozen=True, eq=False)
class CycleCurves:
    """Curves of several cycles or of several subjects on the same scale.

    Unknown values (NaN) are ignored in mean, minimum and maximum; the standard deviation is NaN there.

    Attributes:
        values: (curves, samples, ...), in the unit of the input.
        toe_off: mean toe-off, % of the cycle; NaN if unknown.
    """

    values: Array
    toe_off: float = math.nan

    @property
    def count(self) -> int:
        """Number of curves."""
        return len(self.values)

    @property
    def percent(self) -> Array:
        """Percent of the cycle at each sample, 0 to 100."""
        return np.linspace(0.0, 100.0, self.values.shape[1])

    @property
    def mean(self) -> Array:
        """Mean over the curves."""
        known = np.isfinite(self.values)
        total = np.where(known, self.values, 0.0).sum(axis=0)
        return np.where(known.any(axis=0), total / np.maximum(known.sum(axis=0), 1), np.nan)

    @property
    def deviation(self) -> Array:
        """Sample standard deviation over the curves (divisor n - 1); NaN for a single curve or with a NaN in any."""
        return self.values.std(axis=0, ddof=1) if self.count > 1 else np.full(self.values.shape[1:], np.nan)

    @property
    def low(self) -> Array:
        """Minimum over the curves."""
        return -_maximum(-self.values)

    @property
    def high(self) -> Array:
        """Maximum over the curves."""
        return _maximum(self.values)


def normalize_cycle(
    time: ArrayLike,
    values: ArrayLike,
    cycle: GaitCycle,
    count: int = PERCENT_SAMPLES,
    *,
    kind: Interpolation = "linear",
    toe_off: float | None = None,
) -> Array:
    """Resample values (n, ...) at equal steps of a gait cycle, from 0 to 100 %: (count, ...).

    On the plain scale ``percent = 100 (t - HS_A) / duration``. With `toe_off` the scale is phase-normalised: stance is
    stretched to end at that percent and swing takes the rest, so that the toe-offs of different walks coincide.

    Args:
        time: n, s, increasing.
        values: in any unit; gaps (NaN) remain gaps, see `resample`.
        cycle: within the range of the times.
        count: number of samples; 101 gives one per percent.
        kind: "linear", or "spline", which preserves peaks at low sampling rates.
        toe_off: percent of the scale at which toe-off is placed, for example `TOE_OFF_PERCENT`; by default not moved.

    >>> normalize_cycle(time, angles, cycle, kind="spline").shape
    (101, 12)
    """
    t, x = np.asarray(time, dtype=np.float64), np.asarray(values, dtype=np.float64)
    if t.ndim != 1 or len(t) < 2 or len(x) != len(t) or not (np.diff(t) > 0.0).all():
        raise GaitError(
            f"{len(x)} values at {t.shape} times; expected two or more, one for each time, times increasing"
        )
    begin, end = cycle.initial_contact, cycle.end
    # Event times are frame times; the tolerance absorbs rounding at the first and the last frame.
    if not t[0] - 1e-6 <= begin < end <= t[-1] + 1e-6:
        raise GaitError(
            f"gait cycle from {begin:.3f} to {end:.3f} s is outside the motion from {t[0]:.3f} to {t[-1]:.3f} s"
        )
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
    """Resample values (n, ...) over several cycles on the plain scale; arguments as in `normalize_cycle`.

    >>> normalize_cycles(recording.time, recording["q/left_knee_joint"], walk.cycles_of("left")).mean.max()
    """
    curves = [normalize_cycle(time, values, cycle, count, kind=kind) for cycle in cycles]
    normalized = np.array(curves) if curves else np.zeros((0, count, *np.asarray(values).shape[1:]))
    return CycleCurves(normalized, float(np.mean([cycle.stance for cycle in cycles])) if cycles else math.nan)


def curves_over_people(curves: ArrayLike) -> CycleCurves:
    """Collect the curves of several subjects, (subjects, 101, ...), for mean and standard deviation.

    >>> curves_over_people([[[1.0]], [[3.0]]]).mean.item()
    2.0
    """
    x = np.asarray(curves, dtype=np.float64)
    if x.ndim < 2 or not len(x):
        raise GaitError("no curves given; pass at least one subject")
    return CycleCurves(x)


def _maximum(values: Array) -> Array:
    highest = np.where(np.isfinite(values), values, -np.inf).max(axis=0, initial=-np.inf)
    return np.where(np.isfinite(highest), highest, np.nan)
