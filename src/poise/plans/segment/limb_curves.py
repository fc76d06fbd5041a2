"""Curves of feet, hands and trunk in a motion segment: quintics from their state to rest at their goals.

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

#: Share of a swing that is only up, or only down, on stairs; the same stands in native/segment/courses.hpp.
STAIR_SHARE = 0.3


@dataclass(frozen=True, eq=False)
class QuinticCurve:
    """Some numbers from where they are, at some rate, to rest at a goal: value, rate and acceleration.

        x(s) = x₀ + (x₁ - x₀) (10 s³ - 15 s⁴ + 6 s⁵) + v₀ T (s - 6 s³ + 8 s⁴ - 3 s⁵),   s = t / T

    the quintic with no acceleration at either end; from rest it is the curve of least jerk.

    Args:
        start, rate: at its begin.
        goal: at its end, at rest.
        begin, seconds: when it moves (s); before and after it rests.
    """

    start: Array
    rate: Array
    goal: Array
    begin: float
    seconds: float

    def at(self, time: float | Array) -> CurveSample:
        """Value, rate and acceleration at a time (s), or at many: one row each."""
        found = _segment.courses(np.atleast_1d(time), self.start, self.rate, self.goal, self.begin, self.seconds)
        return _split(found, time)


@dataclass(frozen=True, eq=False)
class SwingCurve:
    """A foot that steps: the middle of its sole and its yaw (x, y, z, yaw), lifted on the way.

    The way over the ground is a `QuinticCurve` or a cycloid; the lift is ``64 s³ (1-s)³`` times a height, or that of
    the cycloid. Up a stair (5 mm or more) it goes ahead only after 30 % of its swing, down a stair it has done so 30 %
    before its end: heel and toes clear the edge.

    Args:
        start: where it is, and its rate (4): zero for a foot on the ground.
        goal: where it goes.
        lift: above the higher of both ends, in the middle (m).
        begin, seconds: of its swing (s).
        curve: ``"quintic"`` or ``"cycloid"``.
        bulge: how far it goes out of the way of the other foot, likewise in the middle (m, as x + i y).
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
        """The same, for `_segment`."""
        places = self.start.tolist(), self.rate.tolist(), self.goal.tolist()
        bulge = (self.bulge.real, self.bulge.imag)
        return _segment.Swing(*places, self.lift, self.begin, self.seconds, self.curve == "cycloid", bulge)

    def at(self, time: float | Array) -> CurveSample:
        """Place and yaw (4), rate and acceleration, at a time (s) or at many: one row each."""
        return _split(self.compiled.at(np.atleast_1d(time)), time)


def _split(found: Array, time: float | Array) -> CurveSample:
    if isinstance(time, np.ndarray):
        return found[0], found[1], found[2]
    return found[0, 0], found[1, 0], found[2, 0]


def pose_vector(foot: Footstep) -> Array:
    """A footstep as (x, y, z, yaw)."""
    return np.array([foot.x, foot.y, foot.z, foot.yaw])


def shortest_lift(lift: float, rise: float, way: float, shortening_speed: float) -> float:
    """The least seconds in which a foot is lifted so high, by a knee that shortens its leg so fast (m/s).

    The lift 64 s³ (1-s)³ is fastest, 3.44 heights per swing, after 28 % of it; a stair adds 1.875 of its height, over
    the share of the swing that is left for it; going ahead, a leg swings like a pendulum, and shortens by little.
    """
    return (3.44 * (lift + 0.25 * abs(rise)) + 1.875 / (1.0 - STAIR_SHARE) * abs(rise) + 0.25 * way) / shortening_speed
