"""Curves of feet, hands and trunk in a motion segment: quintics from their current state to rest at their goals.

The curves are evaluated by `_segment` (native/segment/courses.hpp), for one time or for many.
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

#: Fraction of a swing that is only up, or only down, on stairs; keep equal to that in native/segment/courses.hpp.
STAIR_SHARE = 0.3


@dataclass(frozen=True, eq=False)
class QuinticCurve:
    """Quintic curve of a vector from a value and rate to rest at a goal:

        x(s) = x₀ + (x₁ - x₀) (10 s³ - 15 s⁴ + 6 s⁵) + v₀ T (s - 6 s³ + 8 s⁴ - 3 s⁵),   s = t / T

    It has zero acceleration at both ends; from rest it is the minimum-jerk curve.

    Args:
        start, rate: value and rate at its begin.
        goal: value at its end, at rest.
        begin, seconds: begin and duration of the motion (s); before and after, the value is constant.
    """

    start: Array
    rate: Array
    goal: Array
    begin: float
    seconds: float

    def at(self, time: float | Array) -> CurveSample:
        """Return value, rate and acceleration at a time (s), or at many times: one row each."""
        found = _segment.courses(np.atleast_1d(time), self.start, self.rate, self.goal, self.begin, self.seconds)
        return _split(found, time)


@dataclass(frozen=True, eq=False)
class SwingCurve:
    """Curve of a stepping foot: middle of the sole and yaw (x, y, z, yaw).

    The horizontal motion is a `QuinticCurve` or a cycloid; the lift is ``64 s³ (1-s)³`` times a height, or that of the
    cycloid. Up a stair (5 mm or more) the foot moves ahead only after 30 % of its swing; down a stair it has done so
    30 % before its end, so that heel and toes clear the edge.

    Args:
        start, rate: initial value and rate (4); the rate is zero for a foot on the ground.
        goal: final value (4).
        lift: lift above the higher of both ends, in the middle of the swing (m).
        begin, seconds: begin and duration of the swing (s).
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
    def compiled(self) -> _segment.Swing:
        """The curve as an object of the compiled module `_segment`."""
        places = self.start.tolist(), self.rate.tolist(), self.goal.tolist()
        bulge = (self.bulge.real, self.bulge.imag)
        return _segment.Swing(*places, self.lift, self.begin, self.seconds, self.curve == "cycloid", bulge)

    def at(self, time: float | Array) -> CurveSample:
        """Return position and yaw (4), rate and acceleration, at a time (s) or at many times: one row each."""
        return _split(self.compiled.at(np.atleast_1d(time)), time)


def _split(found: Array, time: float | Array) -> CurveSample:
    if isinstance(time, np.ndarray):
        return found[0], found[1], found[2]
    return found[0, 0], found[1, 0], found[2, 0]


def pose_vector(foot: Footstep) -> Array:
    """Return a footstep as (x, y, z, yaw)."""
    return np.array([foot.x, foot.y, foot.z, foot.yaw])


def shortest_lift(lift: float, rise: float, way: float, shortening_speed: float) -> float:
    """Return the shortest swing duration (s) that the speed of the knee allows.

    The lift 64 s³ (1-s)³ is fastest, 3.44 heights per swing, after 28 % of it. A stair adds 1.875 of its height, over
    the fraction of the swing that is left for it. To move ahead, a leg swings like a pendulum, and shortens little.

    Args:
        lift: lift of the foot (m).
        rise: height difference of goal and start (m).
        way: horizontal distance (m).
        shortening_speed: speed at which the knee shortens the leg (m/s).
    """
    return (3.44 * (lift + 0.25 * abs(rise)) + 1.875 / (1.0 - STAIR_SHARE) * abs(rise) + 0.25 * way) / shortening_speed
