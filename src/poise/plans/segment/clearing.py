"""Clearing: a stepping foot goes around the other one."""

from __future__ import annotations

import math
from dataclasses import replace

from poise.geometry.curves import minimum_jerk
from poise.plans.footsteps import Footstep, other
from poise.plans.guidance.goal import Goal
from poise.plans.segment.segment import Beginning

#: Soles keep this far apart on the way, as a share of their width: 3 mm on a small robot.
APART = 0.04
#: Where along a swing they are looked at.
SHARES = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)


def cleared(begin: Beginning, goal: Goal, half: complex) -> Goal:
    """The goal with a swing that bulges outwards, if the soles came too near on the straight way.

    Both ends are far enough from the other foot, but a foot that turns on its way needs more room in between.

    Args:
        half: half length and half width of a sole (m).
    """
    step = goal.step
    if step is None:
        return goal
    stance, start, end = begin.points.feet[other(step)], begin.points.feet[step], goal.points.feet[step]
    outward = stance.heading * (1j if step == "left" else -1j)
    lack = 0.0
    for s in SHARES:
        share = minimum_jerk(s)[0]
        place = start.place + share * (end.place - start.place)
        foot = Footstep(step, place.real, place.imag, start.yaw + share * (end.yaw - start.yaw))
        missing = 2.0 * APART * half.imag - gap(foot, stance, half)
        lack = max(lack, missing / (64.0 * (s * (1.0 - s)) ** 3))
    return goal if lack == 0.0 else replace(goal, bulge=lack * outward)


def gap(a: Footstep, b: Footstep, half: complex) -> float:
    """Largest gap between two equal rectangles over all separating axes (m); negative where they overlap."""
    best = -math.inf
    for axis in (a.heading, 1j * a.heading, b.heading, 1j * b.heading):
        reach = sum(
            half.real * abs((foot.heading * axis.conjugate()).real)
            + half.imag * abs((1j * foot.heading * axis.conjugate()).real)
            for foot in (a, b)
        )
        best = max(best, abs(((b.place - a.place) * axis.conjugate()).real) - reach)
    return best
