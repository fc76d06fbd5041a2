"""Curves of feet, hands and trunk in a motion segment: quintics from their current state to rest at their goals.

The curves are evaluated by `_segment` (native/segment/limb_curves.hpp), for one time or for many.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from poise.arrays import Array
from poise.plans.footsteps import Footstep
from poise.plans.segment import _segment

#: Value, rate and acceleration.
CurveSample = tuple[Array, Array, Array]

#: Fraction of a swing that is only up, or only down, on stairs; keep equal to that in native/segment/limb_curves.hpp.
STAIR_SHARE = 0.3


@dataclass(frozen=True, eq=False)
class QuinticCurve:
    """Quintic curve of a vector from a value and rate to rest at a goal:

        x(s) = x₀ + (x₁ - x₀) (10 s³ - 15 s⁴ + 6 s⁵) + v₀ T (s - 6 s³ + 8 s⁴ - 3 s⁵),   s = t / T

    It has zero acceleration at both ends; from rest it is the minimum-jerk curve.

    Args:
        start, rate: value and rate at its start.
        goal: value at its end, at rest.
        begin, seconds: start and duration of the motion (s); before and after, the value is constant.
    """

    start: Array
    rate: Array
    goal: Array
    begin: float
    seconds: float

    def at(self, time: float | Array) -> CurveSample:
        """Return value, rate and acceleration at a time (s), or at many times: one row each."""
        samples = _segment.quintic_curves(
            np.atleast_1d(time), self.start, self.rate, self.goal, self.begin, self.seconds
        )
        return _split(samples, time)


@dataclass(frozen=True, eq=False)
class SwingCurve:
    """Curve of a stepping foot: middle of the sole and yaw (x, y, z, yaw).

    The horizontal motion is a `QuinticCurve` or a cycloid; the lift is ``64 s³ (1-s)³`` times a height, or that of the
    cycloid. Up a stair (5 mm or more) the foot moves only up in the first 30 % of its swing; down a stair it moves only
    down in the last 30 %, so that heel and toes clear the edge.

    Args:
        start, rate: initial value and rate (4); the rate is zero for a foot on the ground.
        goal: final value (4).
        lift: lift above the higher of both ends, in the middle of the swing (m).
        begin, seconds: start and duration of the swing (s).
        curve: ``"quintic"`` or ``"cycloid"``.
        bulge: horizontal detour around the other foot, in the middle of the swing (m, as x + i y).
    """

    start: Array
    rate: Array
    goal: Array
    lift: float
    begin: float
    seconds: float
    curve: str = "quintic"
    bulge: complex = 0j

    @cached_property
    def compiled(self) -> _segment.SwingCurve:
        """The curve as an object of the compiled module `_segment`."""
        places = self.start.tolist(), self.rate.tolist(), self.goal.tolist()
        bulge = (self.bulge.real, self.bulge.imag)
        return _segment.SwingCurve(*places, self.lift, self.begin, self.seconds, self.curve == "cycloid", bulge)

    def at(self, time: float | Array) -> CurveSample:
        """Return position and yaw (4), rate and acceleration, at a time (s) or at many times: one row each."""
        return _split(self.compiled.at(np.atleast_1d(time)), time)


def _split(samples: Array, time: float | Array) -> CurveSample:
    if isinstance(time, np.ndarray):
        return samples[0], samples[1], samples[2]
    return samples[0, 0], samples[1, 0], samples[2, 0]


def pose_vector(foot: Footstep) -> Array:
    """Return a footstep as (x, y, z, yaw)."""
    return np.array([foot.x, foot.y, foot.z, foot.yaw])


def shortest_lift(lift: float, rise: float, distance: float, shortening_speed: float) -> float:
    """Return the shortest duration (s) of a swing for which the knee can shorten the leg fast enough.

    The lift 64 s³ (1-s)³ is fastest after 28 % of the swing, with 3.44 lift heights per swing duration. On a stair, a
    quintic with a peak of 1.875 stair heights is added, within the fraction of the swing that is left for it. The
    horizontal motion counts a quarter: the leg swings like a pendulum, and shortens little.

    Args:
        lift: lift of the foot (m).
        rise: height difference of goal and start (m).
        distance: horizontal distance (m).
        shortening_speed: speed at which the knee shortens the leg (m/s).
    """
    stair_speed = 1.875 / (1.0 - STAIR_SHARE) * abs(rise)
    return (3.44 * (lift + 0.25 * abs(rise)) + stair_speed + 0.25 * distance) / shortening_speed
