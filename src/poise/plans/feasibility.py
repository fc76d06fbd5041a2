"""Feasibility of a walk: whether it keeps its balance in the next steps, why not, and the smallest repair of its style.

The body is taken for a pendulum of constant height, ``c̈ = ω² (c - z)``, that follows its reference as the robot would,
with the pressure z held inside the soles. How far inside, at worst, is the margin of the verdict.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np

from poise.arrays import Array
from poise.extras import scipy
from poise.plans.footstep_plan import STOP, Divergent, Motion, Reference, Route, Sinusoid
from poise.plans.footsteps import Footstep, Phase
from poise.plans.gait_parameters import BodyDimensions, Speed, paced
from poise.plans.style import PARAMETERS, Style
from poise.plans.support_region import Soles

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
    body: BodyDimensions,
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


def legs(route: Route, body: BodyDimensions) -> Verdict | None:
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


# -- Repair ----------------------------------------------------------------------------------------------------------


#: Balance parameters of [Dalibard2012] section IV.B, which a repair may change; and the step length, last.
BALANCE = ("sway", "sway_phase", "single_support", "double_support", "step_length")
#: Shares of its range that a parameter changes by are weighed equally, but for steps, which a user sees first.
DEAR = {"step_length": 3.0, "speed": 3.0}
#: What stands for the step length where a speed is given: which share of it is walked.
SLOWER = "speed"
#: A repaired walk keeps the pressure so far inside the soles, as a share of their width.
SAFE = 0.05
#: Steps that a walk is tried for, from standing.
TRIED = 6


class Repaired(NamedTuple):
    """A style that walks, and how it differs.

    Attributes:
        style, speed: which walk, as far as was found; the speed is None where none was given.
        verdict: on them.
        changes: in words, one line each; none if nothing had to change.
    """

    style: Style
    speed: Speed | None
    verdict: Verdict
    changes: tuple[str, ...]


def tried(
    style: Style, body: BodyDimensions, center: str = "divergent", speed: Speed | None = None, steps: int = TRIED
) -> Verdict:
    """The verdict on a whole walk with a style, from standing; the worst of its steps.

    Args:
        style, body: what walks.
        center: ``"divergent"`` or ``"sinusoid"``, see `poise.plans.footstep_plan`.
        speed: (m/s, m/s, rad/s) instead of the style's own steps.
    """
    route = Route(paced(style, body, speed), math.inf)
    reference: Reference = Divergent() if center == "divergent" else Sinusoid(style.sway * body.leg, style.sway_phase)
    half = 0.5 * body.width
    right, left = Footstep("right", 0.0, -half), Footstep("left", 0.0, half)
    phase = Phase("starting", 0.0, 0.8, right, left, right)
    return verdict(route, phase, 0.0, Motion(0j, 0j), reference, body, steps=steps)


def repaired(style: Style, body: BodyDimensions, center: str = "divergent", speed: Speed | None = None) -> Repaired:
    """The style nearest to one that is wanted that keeps its balance.

    Near is what changes the balance parameters by small shares of their ranges. A walk that is known to work is looked
    for first, and then the way back to what was wanted is gone as far as it carries. Where a speed is given, which
    takes steps of its own length, a walk may become slower instead of its steps shorter.
    """
    safe = SAFE * min(body.sole)
    before = tried(style, body, center, speed)
    if before.margin >= safe:
        return Repaired(style, speed, before, ())
    names = BALANCE if center == "sinusoid" else BALANCE[2:]
    search = _Search(style, body, names if speed is None else (*names[:-1], SLOWER), speed)

    def room(values: Array) -> float:
        chosen, slower = search.meant(values)
        return tried(chosen, body, center, slower).margin - safe

    known = [each for each in search.likely() if room(each) >= 0.0]
    if not known:
        return Repaired(style, speed, before, ())
    best = _back(min(known, key=search.far), search.first, room)
    limits = {"type": "ineq", "fun": room}
    options = {"rhobeg": 0.02, "maxiter": 120}
    found = scipy.optimize.minimize(search.far, best, method="COBYLA", constraints=[limits], options=options).x
    if room(found) >= 0.0 and search.far(found) < search.far(best):
        best = found
    best = search.only_moved(best)
    better, slower = search.meant(best)
    return Repaired(better, slower, tried(better, body, center, slower), search.words(best))


class _Search:
    """What a repair may change: numbers of a style, and how much slower it goes.

    Attributes:
        first: what is wanted.
    """

    def __init__(self, style: Style, body: BodyDimensions, names: Sequence[str], speed: Speed | None) -> None:
        self.style, self.body, self.names, self.speed = style, body, names, speed
        ends = [(0.1, 1.0) if name == SLOWER else (PARAMETERS[name].low, PARAMETERS[name].high) for name in names]
        self._low, self._high = np.array(ends).T
        self._spans = (self._high - self._low) / [DEAR.get(name, 1.0) for name in names]
        self.first: Array = np.array([1.0 if name == SLOWER else getattr(style, name) for name in names])

    def meant(self, values: Array) -> tuple[Style, Speed | None]:
        chosen = dict(zip(self.names, np.clip(values, self._low, self._high).tolist(), strict=True))
        share = chosen.pop(SLOWER, 1.0)
        if self.speed is None:
            return self.style.but(**chosen), None
        vx, vy, wz = self.speed
        return self.style.but(**chosen), (share * vx, share * vy, share * wz)

    def far(self, values: Array) -> float:
        return float(np.sum(((values - self.first) / self._spans) ** 2))

    def only_moved(self, values: Array) -> Array:
        """Without changes that nobody would see."""
        moved = np.abs(values - self.first) > 1e-3 * self._spans
        return np.where(moved, np.clip(values, self._low, self._high), self.first)

    def words(self, values: Array) -> tuple[str, ...]:
        found = []
        for name, first, value in zip(self.names, self.first.tolist(), values.tolist(), strict=True):
            if value != first:
                unit = "of the given one" if name == SLOWER else PARAMETERS[name].unit
                found.append(f"{name} {first:.3g} -> {value:.3g} {unit}".rstrip())
        return tuple(found)

    def likely(self) -> list[Array]:
        """What is likely to walk: balanced sway, steps quick or slow, longer on both feet, shorter steps."""
        found = []
        for single, double, shorter in product((1.0, 0.8, 0.6, 1.3), (1.0, 2.0, 3.0, 5.0), (1.0, 0.7, 0.4, 0.15)):
            changes = {
                "single_support": _within("single_support", single * self.style.single_support),
                "double_support": _within("double_support", double * self.style.double_support),
                "step_length": _within("step_length", shorter * self.style.step_length),
                SLOWER: shorter,
            }
            if "sway" not in self.names:
                found.append(np.array([changes[name] for name in self.names]))
                continue
            tamed = np.array([changes.get(name, 0.0) for name in self.names])
            style, speed = self.meant(tamed)
            route = Route(paced(style, self.body, speed), math.inf)
            amplitude, phase = Sinusoid(Sinusoid.balanced(route)).leading(route)
            for more in (1.0, 1.15, 1.3):
                sway = _within("sway", more * amplitude / self.body.leg)
                every = {**changes, "sway": sway, "sway_phase": _within("sway_phase", phase)}
                found.append(np.array([every[name] for name in self.names]))
        return found


def _within(name: str, value: float) -> float:
    parameter = PARAMETERS[name]
    return min(max(value, parameter.low), parameter.high)


def _back(known: Array, wanted: Array, room: Callable[[Array], float]) -> Array:
    """As far from a walk that works towards the one that is wanted as it works."""
    low, high = 0.0, 1.0
    for _ in range(8):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if room(known + middle * (wanted - known)) >= 0.0 else (low, middle)
    return np.asarray(known + low * (wanted - known))
