"""Walks on paper: bodies, paces and the phases that a plan goes through when every step lands where it should."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import pairwise

from poise.plans import STOP, BodyDimensions, Footstep, Pace, Phase, Route, Stairway, Style, paced

#: A body like that of a small person.
BODY = BodyDimensions(leg=0.8, width=0.2, height=0.85, hip=0.76, sole=(0.2, 0.08))
#: Numbers of our own, so that the tests stand whatever the library's styles look like.
STYLE = Style("plain", step_length=0.25, single_support=0.5, double_support=0.12)
#: Shifts of weight before the first step, s.
START = 0.8
STAIRS = Stairway(begin=0.4, rise=0.05, run=0.3, count=4, back=0.1, front=0.1)

Pressure = Callable[[float], complex]


def pace_of(speed: tuple[float, float, float] | None = None, body: BodyDimensions = BODY, **changes: float) -> Pace:
    """How the plain style walks on a body."""
    return paced(STYLE.but(**changes), body, speed)


def standing(width: float = BODY.width) -> Phase:
    """At rest on both feet."""
    left, right = Footstep("left", 0.0, 0.5 * width), Footstep("right", 0.0, -0.5 * width)
    return Phase("standing", 0.0, math.inf, right, left, right)


def phases(route: Route, most: int, speed: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> Iterator[Phase]:
    """Those of a walk after standing: until it stands again, or so many steps were begun."""
    phase, timing = standing(route.pace.gait.width), route.pace.timing
    stays, goes = phase.first_support(speed)
    phase = phase.starting(0.0, START, stays, goes)
    while True:
        yield phase
        time = phase.begin + phase.seconds
        if phase.kind == "stopping":
            yield phase.rest(time)
            return
        if phase.kind == "single":
            last = phase.steps + 1 >= route.steps
            seconds, kind = (STOP, "stopping") if last else (timing.double, "double")
            phase = phase.landed(time, seconds, phase.goal, kind)  # type: ignore[arg-type]
        elif phase.steps == most:
            return
        else:
            goal = route.footstep(phase.support, phase.steps + 1)
            phase = phase.single(time, timing.single, goal)


def fallen(xi: complex, pressure: Pressure, seconds: float, omega: float, count: int = 200) -> complex:
    """ξ after so many seconds of ξ̇ = ω (ξ - z), by Runge and Kutta, who know nothing of the formulas."""
    h = seconds / count
    for i in range(count):
        t = i * h
        a = omega * (xi - pressure(t))
        b = omega * (xi + 0.5 * h * a - pressure(t + 0.5 * h))
        c = omega * (xi + 0.5 * h * b - pressure(t + 0.5 * h))
        d = omega * (xi + h * c - pressure(t + h))
        xi += h / 6.0 * (a + 2.0 * b + 2.0 * c + d)
    return xi


def largest_change(values: list[complex]) -> float:
    """From one to the next."""
    return max(abs(after - before) for before, after in pairwise(values))
