"""What the feet of one phase allow: where the pressure may be, and where and when the next step may land."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from poise.plans.adaptation import Reachable, adapted
from poise.plans.divergent import before_single
from poise.plans.footsteps import Footstep
from poise.plans.pace import Stature
from poise.plans.phases import Phase
from poise.plans.route import Route
from poise.plans.soles import Soles

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

    def __init__(self, body: Stature, phase: Phase, feedback: float) -> None:
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
        outward = 1.0 if planned.side == "left" else -1.0
        here = (xi - support.place) * axes.conjugate()
        place, seconds = adapted(here, pressure, step, offset, nominal, pace.omega, limits, outward)
        share = min(period / SMOOTH, 1.0)
        at = phase.goal.place + share * (support.place + place * axes - phase.goal.place)
        goal = route.settled(support, Footstep(planned.side, at.real, at.imag, planned.yaw, planned.z))
        return replace(phase, goal=goal, seconds=phase.seconds + share * (elapsed + seconds - phase.seconds))
