"""Step adaptation: where and when to step after a disturbance (after Khadiv et al. 2016)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from poise.plans.footstep_plan import Route
from poise.plans.footsteps import Footstep, Phase
from poise.plans.gait_parameters import BodyDimensions, before_single
from poise.plans.support_region import Soles
from poise.robots import side_sign


@dataclass(frozen=True)
class Reachable:
    """Limits of a step.

    Args:
        forward: furthest ahead and behind of the support foot (m).
        narrowest, widest: between the middles of the feet, sideways (m).
        soonest, latest: until touchdown, from now (s).
    """

    forward: float
    narrowest: float
    widest: float
    soonest: float
    latest: float


#: Weights of a step that lands elsewhere (1/m²), at another time (of e^{ωT}), and of an end that is off (1/m²).
PLACE, TIME, END = 1.0, 0.02, 1000.0
#: How many times are tried.
TRIED = 33


def adapted(
    xi: complex,
    pressure: complex,
    wish: complex,
    offset: complex,
    left: float,
    omega: float,
    limits: Reachable,
    outward: float,
) -> tuple[complex, float]:
    """Place of the next step and seconds until it, nearest to what was planned, that catch the body.

    All in the axes of the support foot, seen from it, as x + i y. With T the time left, ξ will be at
    ``z + (ξ - z) e^{ωT}``, and is to be at ``u + b``, u the step and b its offset::

        minimise  PLACE |u - u*|² + TIME (e^{ωT} - e^{ωT*})² + END |b - b*|²

    Args:
        xi, pressure: ξ and the pressure point z that will be kept (m).
        wish, offset: u* and b* (m).
        left: T* (s).
        outward: +1 if the step is to the left.
    """
    soonest, latest = min(limits.soonest, left + 1.0), max(limits.latest, limits.soonest)
    times = np.linspace(soonest, latest, TRIED)
    growth = np.exp(omega * times)
    reach = pressure + growth * (xi - pressure)  # ξ at touchdown, one per time
    best = (PLACE * wish + END * (reach - offset)) / (PLACE + END)
    x = np.minimum(np.maximum(best.real, -limits.forward), limits.forward)
    y = np.minimum(np.maximum(outward * best.imag, limits.narrowest), limits.widest) * outward
    off = reach - offset
    cost = PLACE * ((x - wish.real) ** 2 + (y - wish.imag) ** 2) + END * ((off.real - x) ** 2 + (off.imag - y) ** 2)
    cost += TIME * (growth - math.exp(omega * left)) ** 2
    i = int(cost.argmin())
    return complex(x[i], y[i]), float(times[i])


# -- What the feet of one phase allow --------------------------------------------------------------------------------


#: What the ankle does before a step moves, as a share of half the sole: a step only changes for what is beyond.
ANKLE = 0.6
#: Steps as shares of the leg: how far ahead, how much wider than standing, and the narrowest gap between the feet.
AHEAD, ASIDE, GAP = 0.65, 0.7, 0.04
#: No step lands earlier after its begin than this (s, for a leg of 0.8 m), nor this much later than planned.
SOONEST, LATER = 0.25, 0.15
#: In the last of a swing, s, the goal stays; before that it moves within this time constant, s.
FROZEN, SMOOTH = 0.08, 0.02


class Stepping:
    """Pressure and steps of one phase.

    Args:
        body: its lengths.
        phase: its feet do not move while it lasts.
        feedback: k of the divergent component, 1/s.
    """

    def __init__(self, body: BodyDimensions, phase: Phase, feedback: float) -> None:
        self.feedback = feedback
        self.soles = Soles(body, phase)
        self.half = 0.5 * complex(*body.sole)
        gap = body.sole[1] + GAP * body.leg
        self.limits = Reachable(AHEAD * body.leg, max(gap, 0.6 * body.width), ASIDE * body.leg + body.width, 0.0, 0.0)
        self.slower = np.sqrt(body.leg / 0.8)

    def adapted(self, route: Route, phase: Phase, time: float, xi: complex, period: float) -> Phase:
        """The phase with its next footstep, and its time, where the body will need it."""
        elapsed = phase.elapsed(time)
        left = phase.seconds - elapsed
        if left < FROZEN or elapsed < 2.0 * period:
            return phase
        support, pace, number = phase.support, route.pace, phase.steps + 1
        axes = support.heading
        planned = route.footstep(support, number)
        end = route.end(support, planned, number)
        wanted = before_single(support.place, end, left, pace.omega)
        push = (xi - wanted) * axes.conjugate() * (1.0 + self.feedback / pace.omega)
        ankle = ANKLE * self.half
        pressure = complex(min(max(push.real, -ankle.real), ankle.real), min(max(push.imag, -ankle.imag), ankle.imag))
        step = (planned.place - support.place) * axes.conjugate()
        offset = (end - planned.place) * axes.conjugate()
        nominal = max(pace.timing.single - elapsed, 0.02)
        soonest = max(FROZEN, SOONEST * self.slower - elapsed)
        limits = replace(self.limits, soonest=soonest, latest=max(nominal + LATER, 0.1))
        outward = side_sign(planned.side)
        here = (xi - support.place) * axes.conjugate()
        place, seconds = adapted(here, pressure, step, offset, nominal, pace.omega, limits, outward)
        share = min(period / SMOOTH, 1.0)
        at = phase.goal.place + share * (support.place + place * axes - phase.goal.place)
        goal = route.settled(support, Footstep(planned.side, at.real, at.imag, planned.yaw, planned.z))
        return replace(phase, goal=goal, seconds=phase.seconds + share * (elapsed + seconds - phase.seconds))
