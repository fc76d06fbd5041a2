"""Key postures of a gait cycle, and the motion between them: target trajectories and task dynamics.

Notation as in `poise.analysis.gait_cycle`: A is the foot of the cycle, B the other one; HS is an initial contact (heel
strike), TO a toe-off.

| keys | times after HS_A |
|---|---|
| "two" | HS_B, HS_A: the ends of the two steps, for which the paper reports a straight knee in swing |
| "four" | TO_B, HS_B, TO_A, HS_A: the ends of the four phases of [Boukheddimi2019] |
| "six" | TO_B, peak knee flexion of B, HS_B, TO_A, peak knee flexion of A, HS_A: one more posture in each swing |
| "eight" | "six", and in each swing the time between peak and initial contact at which the shank is vertical |

The method ``gains(time)`` of task dynamics returns (g, ġ, k): gain (1/s), its derivative (1/s²) and damping (1/s). The
error e of the task then follows ``ë = -(g k + ġ) e - (g + k) ė``.
"""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import pinocchio

from poise.analysis import GaitCycle
from poise.arrays import Array
from poise.errors import GaitError
from poise.geometry import Quintic
from poise.human.fitting.filtered_motion import continuous_quaternions
from poise.human.gait.reference_walk import (
    ConfigurationCurve,
    ReferenceWalk,
    derivatives_from_motion,
    motion_from_derivatives,
)
from poise.robots import Side, other_side
from poise.tasks import Target

KeyPostureSet = Literal["two", "four", "six", "eight"]

#: Resolution of the search for knee peak and vertical shank, s.
SEARCH_STEP = 0.001


class KeyPosture(NamedTuple):
    """A posture of the reference: time (s), name, configuration (nq), velocity and acceleration (nv)."""

    time: float
    name: str
    q: Array
    v: Array
    a: Array


def find_key_postures(
    reference: ReferenceWalk, cycle: GaitCycle, kind: KeyPostureSet = "four"
) -> tuple[KeyPosture, ...]:
    """Return the posture at the beginning of a cycle, where a reproduction starts, followed by the key postures.

    >>> [key.name for key in find_key_postures(reference, reference.cycle("right"), "two")]
    ['right initial contact', 'left initial contact', 'next right initial contact']
    """
    if kind not in get_args(KeyPostureSet):
        raise GaitError(f"key posture set {kind!r}; expected one of {', '.join(get_args(KeyPostureSet))}")
    a, b = cycle.side, other_side(cycle.side)
    times = [
        (cycle.initial_contact, f"{a} initial contact"),
        (cycle.opposite_initial_contact, f"{b} initial contact"),
        (cycle.end, f"next {a} initial contact"),
    ]
    if kind != "two":
        times += [(cycle.opposite_toe_off, f"{b} toe-off"), (cycle.toe_off, f"{a} toe-off")]
    if kind in ("six", "eight"):
        swings: tuple[tuple[Side, float, float], ...] = (
            (b, cycle.opposite_toe_off, cycle.opposite_initial_contact),
            (a, cycle.toe_off, cycle.end),
        )
        for side, begin, end in swings:
            peak = knee_peak(reference, side, begin, end)
            times.append((peak, f"{side} knee peak"))
            if kind == "eight":
                times.append((shank_upright(reference, side, peak, end), f"{side} shank upright"))
    postures = [KeyPosture(time, name, *reference.sample(time)) for time, name in sorted(times)]
    for posture, next_posture in itertools.pairwise(postures):
        if not next_posture.time > posture.time:
            raise GaitError(
                f"key postures '{posture.name}' and '{next_posture.name}' are both at {posture.time:.3f} s; "
                "choose another cycle"
            )
    return tuple(postures)


def knee_peak(reference: ReferenceWalk, side: Side, begin: float, end: float) -> float:
    """Return the time of peak knee flexion strictly between two times, s, to the millisecond."""
    times, column = _swing_times(side, begin, end), reference.robot.joint(f"{side}_knee_flexion").q
    return float(times[int(np.argmax([reference.curve_function(float(time))[0][column] for time in times]))])


def shank_upright(reference: ReferenceWalk, side: Side, begin: float, end: float) -> float:
    """Return the time between two times at which the shank is most vertical, s: the end of mid-swing."""
    times, data = _swing_times(side, begin, end), reference.robot.model.createData()
    shank = reference.robot.frame(f"{side}_shank").index

    def upright(time: float) -> float:
        pinocchio.forwardKinematics(reference.robot.model, data, reference.sample(time)[0])
        return float(pinocchio.updateFramePlacement(reference.robot.model, data, shank).rotation[2, 2])

    return float(times[int(np.argmax([upright(float(time)) for time in times]))])


def _swing_times(side: Side, begin: float, end: float) -> Array:
    times = np.arange(begin + SEARCH_STEP, end - SEARCH_STEP / 2.0, SEARCH_STEP)
    if not len(times):
        raise GaitError(f"swing of the {side} foot from {begin:.3f} to {end:.3f} s is too short; choose another cycle")
    return times


# -- Target trajectories between key postures ------------------------------------------------------------------------


class PhaseTimer:
    """Phases from one key posture to the next: index, remaining time and duration at a given time."""

    def __init__(self, keys: Sequence[KeyPosture]) -> None:
        self.times = tuple(key.time for key in keys)
        self.end_postures = tuple(keys[1:])

    def phase(self, time: float) -> int:
        """Return the index of the phase; the first one before the begin, the last one after the end."""
        # A tick that rounding puts a nanosecond before the end of a phase belongs to the next one.
        return min(max(bisect_right(self.times, time + 1e-9) - 1, 0), len(self.end_postures) - 1)

    def time_left(self, time: float) -> float:
        """Return the seconds until the end of the phase; negative after the last one."""
        return self.end_postures[self.phase(time)].time - time

    def duration(self, time: float) -> float:
        """Return the duration of the phase, s."""
        k = self.phase(time)
        return self.times[k + 1] - self.times[k]


class NextPostureTarget(PhaseTimer):
    """The next key posture with zero velocity, "a fixed vector" for the whole phase as in [Boukheddimi2019]."""

    def sample(self, time: float) -> tuple[Array, Array, Array]:
        q, v = self.end_postures[self.phase(time)].q, self.end_postures[self.phase(time)].v
        return q, np.zeros_like(v), np.zeros_like(v)


class ArrivalTarget(PhaseTimer):
    """A posture that moves with the velocity of the next key posture and reaches it at the end of the phase.

    In the coordinates y of `reference_walk`, ``y = y_end - ẏ_end τ`` with τ the remaining time of the phase (s).
    """

    def sample(self, time: float) -> tuple[Array, Array, Array]:
        key, left = self.end_postures[self.phase(time)], self.time_left(time)
        rate, still = derivatives_from_motion(key.q, key.v)
        return motion_from_derivatives(key.q - left * rate, rate, still)


class MidpointTarget:
    """A target with the acceleration at the middle of the control period instead of its beginning.

    A control loop holds an acceleration for one period. With that of the beginning the motion would lag by half a
    period, which at 5 ms is a quarter of a degree for a swinging knee.

    Args:
        motion: any object with ``sample(time) -> (value, rate, acceleration)``.
        period: of the control loop, s.
    """

    def __init__(self, motion: Target, period: float) -> None:
        self.motion, self.half = motion, 0.5 * period

    def sample(self, time: float) -> tuple[Any, Array, Array]:
        value, rate, _ = self.motion.sample(time)
        return value, rate, self.motion.sample(time + self.half)[2]


class MinimumJerkPath(ConfigurationCurve):
    """The minimum-jerk path through all key postures, in the coordinates y of `reference_walk`.

        minimise  ∫ |d³y/dt³|² dt

    Between two keys it is a polynomial of degree five, as for reaching movements of the hand [Flash1985].

    Args:
        keys: two or more.
        order: which derivatives of the reference are imposed at the keys. 0: the posture, with zero velocity. 1: also
            the velocity; accelerations follow from a tridiagonal system such that the jerk is continuous at all keys
            and zero at both ends. 2: velocity and acceleration.
    """

    def __init__(self, keys: Sequence[KeyPosture], order: int = 2) -> None:
        self.times = np.array([key.time for key in keys])
        y = continuous_quaternions(np.array([key.q for key in keys]))
        derivatives = [derivatives_from_motion(q, key.v, key.a) for q, key in zip(y, keys, strict=True)]
        rates, accelerations = (np.array(part) for part in zip(*derivatives, strict=True))
        if order == 0:
            rates, accelerations = np.zeros_like(y), np.zeros_like(y)
        elif order == 1:
            accelerations = _minimum_jerk_accelerations(self.times, y, rates)
        ends = list(zip(y, rates, accelerations, strict=True))
        self._segments = [Quintic(ends[k], ends[k + 1], T) for k, T in enumerate(np.diff(self.times))]
        super().__init__(self._sample_coordinates)

    def _sample_coordinates(self, time: float) -> tuple[Array, Array, Array]:
        k = min(max(int(np.searchsorted(self.times, time, "right")) - 1, 0), len(self._segments) - 1)
        return self._segments[k].sample(time - self.times[k])


def _minimum_jerk_accelerations(times: Array, y: Array, rate: Array) -> Array:
    """Compute the accelerations at the keys (n x nq) for order 1.

    Jerk at the begin and the end of a segment of duration T, from (y₀, ẏ₀, ÿ₀) to (y₁, ẏ₁, ÿ₁), with D = y₁ - y₀:

        y'''(0) = (60 D - (36 ẏ₀ + 24 ẏ₁) T - (9 ÿ₀ - 3 ÿ₁) T²) / T³
        y'''(T) = (60 D - (24 ẏ₀ + 36 ẏ₁) T - (3 ÿ₀ - 9 ÿ₁) T²) / T³
    """
    n = len(times)
    A, b = np.zeros((n, n)), np.zeros_like(y)
    for k, T in enumerate(np.diff(times)):
        D = y[k + 1] - y[k]
        # The jerk after key k minus the jerk before it is zero.
        A[k, k] -= 9.0 / T
        A[k, k + 1] += 3.0 / T
        b[k] -= (60.0 * D - (36.0 * rate[k] + 24.0 * rate[k + 1]) * T) / T**3
        A[k + 1, k] += 3.0 / T
        A[k + 1, k + 1] -= 9.0 / T
        b[k + 1] += (60.0 * D - (24.0 * rate[k] + 36.0 * rate[k + 1]) * T) / T**3
    return np.asarray(np.linalg.solve(A, b))


# -- Task dynamics: how the posture converges to its target ----------------------------------------------------------


#: Lower bound of the time to go, s: six periods of 5 ms. It keeps the gains bounded.
SHORTEST_TIME_TO_GO = 0.03


@dataclass(frozen=True)
class DecayPerPhase:
    """Critical damping ``ë = -w² e - 2 w ė`` with ``w = c / T``: c the gain (no unit), T the duration of the phase (s).

    At the end of a phase of any duration the error has decayed to ``(1 + c) exp(-c)`` of its initial value: 1.7 % for
    c = 6.
    """

    timer: PhaseTimer
    gain: float
    speed: float = np.inf
    acceleration: float = np.inf
    time_varying: bool = True

    def gains(self, time: float) -> tuple[float, float, float]:
        w = self.gain / self.timer.duration(time)
        return w, 0.0, w


@dataclass(frozen=True)
class TimeToGo:
    """Error and rate vanish at the end of the phase: ``ë = -6 e / τ² - 4 ė / τ`` with τ the time to go.

    This is the initial acceleration of the cubic polynomial that reaches the target with its velocity in time τ,
    recomputed in every control period.
    """

    timer: PhaseTimer
    speed: float = np.inf
    acceleration: float = np.inf
    time_varying: bool = True

    def gains(self, time: float) -> tuple[float, float, float]:
        left = max(self.timer.time_left(time), SHORTEST_TIME_TO_GO)
        return 2.0 / left, 2.0 / left**2, 2.0 / left
