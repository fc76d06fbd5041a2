"""Planned walks without simulation: body dimensions, gaits and phases if every step lands as planned."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import pairwise

from poise.plans import (
    STOPPING_TIME,
    BodyDimensions,
    Footstep,
    FootstepPlan,
    GaitParameters,
    GaitPhase,
    Stairway,
    Style,
    gait_of_style,
)

#: Dimensions of a body like that of a small person.
BODY = BodyDimensions(leg_length=0.8, stance_width=0.2, com_height=0.85, hip_height=0.76, sole_size=(0.2, 0.08))
#: Style of the tests, so that they do not depend on the styles of the library.
STYLE = Style("plain", step_length=0.25, single_support=0.5, double_support=0.12)
#: Duration of the weight shift before the first step (s).
START = 0.8
STAIRS = Stairway(begin=0.4, rise=0.05, run=0.3, count=4, back=0.1, front=0.1)

ZmpPath = Callable[[float], complex]


def plain_gait(
    speed: tuple[float, float, float] | None = None, body: BodyDimensions = BODY, **changes: float
) -> GaitParameters:
    """Return the gait of the plain style for a body."""
    return gait_of_style(STYLE.replace(**changes), body, speed)


def standing(width: float = BODY.stance_width) -> GaitPhase:
    """Return the phase of standing at rest on both feet."""
    left, right = Footstep("left", 0.0, 0.5 * width), Footstep("right", 0.0, -0.5 * width)
    return GaitPhase("standing", 0.0, math.inf, right, left, right)


def phases(plan: FootstepPlan, most: int, speed: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> Iterator[GaitPhase]:
    """Yield the phases of a walk from standing until it stands again or `most` steps have begun."""
    phase, timing = standing(plan.gait.step_geometry.width), plan.gait.timing
    support_foot, swing_foot = phase.first_support_feet(speed)
    phase = phase.starting_phase(0.0, START, support_foot, swing_foot)
    while True:
        yield phase
        time = phase.begin + phase.seconds
        if phase.kind == "stopping":
            yield phase.standing_phase(time)
            return
        if phase.kind == "single":
            last = phase.steps + 1 >= plan.steps
            seconds, kind = (STOPPING_TIME, "stopping") if last else (timing.double_support, "double")
            phase = phase.touchdown_phase(time, seconds, phase.goal, kind)  # type: ignore[arg-type]
        elif phase.steps == most:
            return
        else:
            goal = plan.footstep(phase.support, phase.steps + 1)
            phase = phase.single_support_phase(time, timing.single_support, goal)


def integrate_dcm(xi: complex, pressure: ZmpPath, seconds: float, omega: float, count: int = 200) -> complex:
    """Return ξ after integrating ξ̇ = ω (ξ - z) for some seconds by Runge-Kutta, independent of the closed formulas."""
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
    """Return the largest change from one value to the next."""
    return max(abs(after - before) for before, after in pairwise(values))
