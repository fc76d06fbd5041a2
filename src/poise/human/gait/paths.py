"""Paths: what the posture is to be between two keys; targets of `poise.tasks.Configuration`."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.geometry.curves import Quintic
from poise.human.gait.curve import Curve, continuous, motion_of, rates_of
from poise.human.gait.keys import Key
from poise.tasks import Target

Array = NDArray[np.float64]


class Timetable:
    """Which key comes next at a time: the phases from one key to the next."""

    def __init__(self, keys: Sequence[Key]) -> None:
        self.times = tuple(key.time for key in keys)
        self.ends = tuple(keys[1:])

    def phase(self, time: float) -> int:
        """The number of the phase; the first before all, the last after all."""
        # A tick that rounding puts a nanosecond before the end of a phase belongs to the next one.
        return min(max(bisect_right(self.times, time + 1e-9) - 1, 0), len(self.ends) - 1)

    def left(self, time: float) -> float:
        """Seconds until the phase ends; negative after the last one."""
        return self.ends[self.phase(time)].time - time

    def duration(self, time: float) -> float:
        """Of the phase, s."""
        k = self.phase(time)
        return self.times[k + 1] - self.times[k]


class NextKey(Timetable):
    """The posture of the next key, at rest: "a fixed vector" for the whole phase, as in [Boukheddimi2019]."""

    def sample(self, time: float) -> tuple[Array, Array, Array]:
        q, v = self.ends[self.phase(time)].q, self.ends[self.phase(time)].v
        return q, np.zeros_like(v), np.zeros_like(v)


class ArrivingAtKey(Timetable):
    """A posture that moves with the velocity of the next key and is at that key in time: y = y_end - ẏ_end τ."""

    def sample(self, time: float) -> tuple[Array, Array, Array]:
        key, left = self.ends[self.phase(time)], self.left(time)
        rate, still = rates_of(key.q, key.v)
        return motion_of(key.q - left * rate, rate, still)


class Ahead:
    """A motion for a loop that holds accelerations for a period: those of the middle of the period.

    The acceleration at its begin would be half a period late at all times, which at 5 ms leaves a knee that swings a
    quarter of a degree behind.

    Args:
        motion: anything with ``sample(time) -> (value, rate, acceleration)``.
        period: s.
    """

    def __init__(self, motion: Target, period: float) -> None:
        self.motion, self.half = motion, 0.5 * period

    def sample(self, time: float) -> tuple[Any, Array, Array]:
        value, rate, _ = self.motion.sample(time)
        return value, rate, self.motion.sample(time + self.half)[2]


class LeastJerk(Curve):
    """The smoothest way through all keys: of all that pass them as is asked, that with the least jerk.

        minimise  ∫ |d³y/dt³|² dt

    Between two keys that is a polynomial of degree five, as for reaching hands [Flash1985].

    Args:
        keys: two or more.
        order: how much of the reference is kept at the keys. 0: the posture; the body rests there. 1: the velocity as
            well; the accelerations are those with which the jerk does not jump at any key and is zero at both ends, one
            tridiagonal system. 2: velocity and acceleration.
    """

    def __init__(self, keys: Sequence[Key], order: int = 2) -> None:
        self.times = np.array([key.time for key in keys])
        y = continuous(np.array([key.q for key in keys]))
        moving = [rates_of(q, key.v, key.a) for q, key in zip(y, keys, strict=True)]
        rates, faster = (np.array(part) for part in zip(*moving, strict=True))
        if order == 0:
            rates, faster = np.zeros_like(y), np.zeros_like(y)
        elif order == 1:
            faster = _least_jerk(self.times, y, rates)
        ends = list(zip(y, rates, faster, strict=True))
        self._parts = [Quintic(ends[k], ends[k + 1], T) for k, T in enumerate(np.diff(self.times))]
        super().__init__(self._numbers)

    def _numbers(self, time: float) -> tuple[Array, Array, Array]:
        k = min(max(int(np.searchsorted(self.times, time, "right")) - 1, 0), len(self._parts) - 1)
        return self._parts[k].sample(time - self.times[k])


def _least_jerk(times: Array, y: Array, rate: Array) -> Array:
    """Accelerations at the keys (n x nq).

    At the begin and the end of a part with duration T, from (y₀, ẏ₀, ÿ₀) to (y₁, ẏ₁, ÿ₁), with D = y₁ - y₀:

        y'''(0) = (60 D - (36 ẏ₀ + 24 ẏ₁) T - (9 ÿ₀ - 3 ÿ₁) T²) / T³
        y'''(T) = (60 D - (24 ẏ₀ + 36 ẏ₁) T - (3 ÿ₀ - 9 ÿ₁) T²) / T³
    """
    n = len(times)
    A, b = np.zeros((n, n)), np.zeros_like(y)
    for k, T in enumerate(np.diff(times)):
        D = y[k + 1] - y[k]
        # Jerk after key k, less the jerk before it: zero.
        A[k, k] -= 9.0 / T
        A[k, k + 1] += 3.0 / T
        b[k] -= (60.0 * D - (36.0 * rate[k] + 24.0 * rate[k + 1]) * T) / T**3
        A[k + 1, k] += 3.0 / T
        A[k + 1, k + 1] -= 9.0 / T
        b[k + 1] += (60.0 * D - (24.0 * rate[k] + 36.0 * rate[k + 1]) * T) / T**3
    return np.asarray(np.linalg.solve(A, b))
