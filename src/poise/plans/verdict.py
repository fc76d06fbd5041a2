"""Verdict: whether a walk will keep its balance in its next two steps, why not, and what would help.

The body is taken for a pendulum of constant height, ``c̈ = ω² (c - z)``, that follows its reference as the robot would,
with the pressure z held inside the soles. How far inside, at worst, is the margin of the verdict.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from poise.plans.center import Motion, Reference
from poise.plans.footsteps import Footstep
from poise.plans.pace import Stature
from poise.plans.phases import Phase
from poise.plans.route import STOP, Route
from poise.plans.soles import Soles

#: Seconds between two looks ahead: a fortieth of a step.
TICK = 0.01
#: How many steps are looked at.
STEPS = 2
#: A body whose ξ is further from both feet than this share of a leg is lost.
LOST = 0.6
#: Longest step as a share of the leg. Greatest acceleration of a swinging foot (m/s²): none of five robots made more,
#: and weak legs, by their strength, not even that.
LONGEST, HASTIEST, HASTE = 0.55, 22.0, 55.0
#: Peak acceleration of the smoothest way over a distance d in a time T, times T² / d.
PEAK = 5.77


@dataclass(frozen=True)
class Verdict:
    """How a walk stands.

    Attributes:
        margin: how far inside the soles the pressure stays, at worst (m); negative: how far outside it would have to
            be, or by how much steps are too long.
        seconds: from now until it leaves them, or comes nearest to their edge.
        reason: in words.
    """

    margin: float
    seconds: float
    reason: str

    @property
    def walks(self) -> bool:
        """Whether it is expected to keep its balance."""
        return self.margin >= 0.0

    def __str__(self) -> str:
        return self.reason


def verdict(
    route: Route,
    phase: Phase,
    time: float,
    now: Motion,
    reference: Reference,
    body: Stature,
    adapt: Callable[[Route, Phase, float, complex, float], Phase] | None = None,
    steps: int = STEPS,
) -> Verdict:
    """Looks some steps ahead.

    Args:
        route, phase, time, now: where the walk is.
        reference: how its centre of mass is led.
        body: its lengths.
        adapt: how steps are moved where the body needs them; None: they stay where they are planned.
        steps: how many are looked at.
    """
    hindered = legs(route, body)
    if hindered is not None:
        return hindered
    worst, when, how = math.inf, 0.0, "standing"
    c, v, omega, begin, last = now.place, now.velocity, route.pace.omega, time, phase.steps + steps
    soles = Soles(body, phase)
    while phase.steps < last and time - begin < 3.0 * steps:
        if phase.over(time) or (phase.kind == "standing" and route.steps <= phase.steps):
            following = _next(route, phase, time)
            if following is None:
                break
            phase, soles = following, Soles(body, following)
        xi = c + v / omega
        if adapt is not None and phase.kind == "single":
            phase = adapt(route, phase, time, xi, TICK)
        if min(abs(xi - foot.place) for foot in (phase.support, phase.last)) > LOST * body.leg:
            words = f"falls: no step can catch the body {time - begin:.1f} s from now"
            return Verdict(-LOST * body.leg, time - begin, words)
        z = reference.wish(route, phase, time, Motion(c, v)).pressure
        margin = soles.margin(z)
        if margin < worst:
            if worst >= 0.0:  # where it leaves the soles first: what comes after follows from that
                when, how = time - begin, _where(phase, z)
            worst = margin
        z = soles.inside(z)
        # Exact for a pressure that stays for one tick.
        grow, sink = math.cosh(omega * TICK), math.sinh(omega * TICK)
        c, v = z + (c - z) * grow + v * sink / omega, (c - z) * omega * sink + v * grow
        time += TICK
    if math.isinf(worst):
        return Verdict(soles.margin(now.place), 0.0, "stands")
    if worst < 0.0:
        words = f"the pressure would have to be {-1e3 * worst:.0f} mm outside the soles, {how}, {when:.1f} s from now"
        return Verdict(worst, when, words)
    return Verdict(worst, when, f"steady: the pressure stays {1e3 * worst:.0f} mm inside the soles")


def legs(route: Route, body: Stature) -> Verdict | None:
    """What the legs cannot do, if anything."""
    gait, single = route.pace.gait, route.pace.timing.single
    length = math.hypot(gait.forward, 2.0 * gait.sideways)
    longest = LONGEST * body.leg
    hastiest = min(HASTIEST, HASTE * body.strength) * single**2 / PEAK / 2.0
    if length > longest:
        words = f"steps of {length:.2f} m are too long for legs of {body.leg:.2f} m: {longest:.2f} m at most"
        return Verdict(longest - length, 0.0, words)
    if length > hastiest:
        words = f"a foot cannot swing to steps of {length:.2f} m in {single:.2f} s: {hastiest:.2f} m at most"
        return Verdict(hastiest - length, 0.0, words)
    return None


def _next(route: Route, phase: Phase, time: float) -> Phase | None:
    """The phase that follows when all goes as planned."""
    timing = route.pace.timing
    if phase.kind == "single":
        landing = phase.steps + 1 >= route.steps
        return phase.landed(time, STOP if landing else timing.double, phase.goal, "stopping" if landing else "double")
    if phase.kind in ("starting", "double"):
        return phase.single(time, timing.single, route.footstep(phase.support, phase.steps + 1))
    return None


def _where(phase: Phase, z: complex) -> str:
    """Where a pressure is, in words."""
    if phase.kind != "single":
        return "with both feet standing"
    foot: Footstep = phase.support
    away = (z - foot.place) * foot.heading.conjugate()
    outward = away.imag if foot.side == "left" else -away.imag
    if abs(away.real) > 2.0 * abs(away.imag):
        return f"{'before' if away.real > 0.0 else 'behind'} the {foot.side} foot"
    return f"on the {'outer' if outward > 0.0 else 'inner'} side of the {foot.side} foot"
