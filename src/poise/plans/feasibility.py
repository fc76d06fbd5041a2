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
from poise.plans.footstep_plan import (
    STOPPING_TIME,
    CenterReference,
    CenterState,
    DcmReference,
    FootstepPlan,
    SinusoidReference,
)
from poise.plans.footsteps import Footstep, GaitPhase
from poise.plans.gait_parameters import BodyDimensions, Speed, gait_of_style
from poise.plans.style import PARAMETERS, Style
from poise.plans.support_region import StanceSoles

#: Seconds between two looks ahead: a fortieth of a step.
TICK = 0.01
#: How many steps are looked at.
PREVIEW_STEPS = 2
#: A body whose ξ is further from both feet than this share of a leg is lost.
CAPTURE_LIMIT = 0.6
#: Longest step as a share of the leg. Greatest acceleration of a swinging foot (m/s²): none of five robots made more,
#: and weak legs, by their strength, not even that.
LONGEST_STEP, LARGEST_SWING_ACCELERATION, SWING_ACCELERATION_BY_STRENGTH = 0.55, 22.0, 55.0
#: Peak acceleration of the smoothest way over a distance d in a time T, times T² / d.
PEAK_ACCELERATION = 5.77


@dataclass(frozen=True)
class FeasibilityCheck:
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
    def feasible(self) -> bool:
        """Whether it is expected to keep its balance."""
        return self.margin >= 0.0

    def __str__(self) -> str:
        return self.reason


def check_feasibility(
    plan: FootstepPlan,
    phase: GaitPhase,
    time: float,
    state: CenterState,
    reference: CenterReference,
    body: BodyDimensions,
    adapt: Callable[[FootstepPlan, GaitPhase, float, complex, float], GaitPhase] | None = None,
    steps: int = PREVIEW_STEPS,
) -> FeasibilityCheck:
    """Looks some steps ahead.

    Args:
        plan, phase, time, state: where the walk is.
        reference: how its centre of mass is led.
        body: its lengths.
        adapt: how steps are moved where the body needs them; None: they stay where they are planned.
        steps: how many are looked at.
    """
    leg_check = check_legs(plan, body)
    if leg_check is not None:
        return leg_check
    worst, when, where = math.inf, 0.0, "standing"
    c, v, omega, begin, last = state.place, state.velocity, plan.gait.omega, time, phase.steps + steps
    soles = StanceSoles(body, phase)
    while phase.steps < last and time - begin < 3.0 * steps:
        if phase.is_over(time) or (phase.kind == "standing" and plan.steps <= phase.steps):
            next_phase = _next_phase(plan, phase, time)
            if next_phase is None:
                break
            phase, soles = next_phase, StanceSoles(body, next_phase)
        xi = c + v / omega
        if adapt is not None and phase.kind == "single":
            phase = adapt(plan, phase, time, xi, TICK)
        if min(abs(xi - foot.place) for foot in (phase.support, phase.other_foot)) > CAPTURE_LIMIT * body.leg_length:
            reason = f"falls: no step can catch the body {time - begin:.1f} s from now"
            return FeasibilityCheck(-CAPTURE_LIMIT * body.leg_length, time - begin, reason)
        z = reference.command(plan, phase, time, CenterState(c, v)).zmp
        margin = soles.margin(z)
        if margin < worst:
            if worst >= 0.0:  # where it leaves the soles first: what comes after follows from that
                when, where = time - begin, _describe_pressure(phase, z)
            worst = margin
        z = soles.project(z)
        # Exact for a pressure that stays for one tick.
        grow, sink = math.cosh(omega * TICK), math.sinh(omega * TICK)
        c, v = z + (c - z) * grow + v * sink / omega, (c - z) * omega * sink + v * grow
        time += TICK
    if math.isinf(worst):
        return FeasibilityCheck(soles.margin(state.place), 0.0, "stands")
    if worst < 0.0:
        reason = (
            f"the pressure would have to be {-1e3 * worst:.0f} mm outside the soles, {where}, {when:.1f} s from now"
        )
        return FeasibilityCheck(worst, when, reason)
    return FeasibilityCheck(worst, when, f"steady: the pressure stays {1e3 * worst:.0f} mm inside the soles")


def check_legs(plan: FootstepPlan, body: BodyDimensions) -> FeasibilityCheck | None:
    """What the legs cannot do, if anything."""
    step_geometry, single = plan.gait.step_geometry, plan.gait.timing.single_support
    length = math.hypot(step_geometry.forward, 2.0 * step_geometry.sideways)
    longest = LONGEST_STEP * body.leg_length
    longest_swing = (
        min(LARGEST_SWING_ACCELERATION, SWING_ACCELERATION_BY_STRENGTH * body.leg_strength)
        * single**2
        / PEAK_ACCELERATION
        / 2.0
    )
    if length > longest:
        reason = f"steps of {length:.2f} m are too long for legs of {body.leg_length:.2f} m: {longest:.2f} m at most"
        return FeasibilityCheck(longest - length, 0.0, reason)
    if length > longest_swing:
        reason = f"a foot cannot swing to steps of {length:.2f} m in {single:.2f} s: {longest_swing:.2f} m at most"
        return FeasibilityCheck(longest_swing - length, 0.0, reason)
    return None


def _next_phase(plan: FootstepPlan, phase: GaitPhase, time: float) -> GaitPhase | None:
    """The phase that follows when all goes as planned."""
    timing = plan.gait.timing
    if phase.kind == "single":
        landing = phase.steps + 1 >= plan.steps
        return phase.touchdown_phase(
            time, STOPPING_TIME if landing else timing.double_support, phase.goal, "stopping" if landing else "double"
        )
    if phase.kind in ("starting", "double"):
        return phase.single_support_phase(time, timing.single_support, plan.footstep(phase.support, phase.steps + 1))
    return None


def _describe_pressure(phase: GaitPhase, z: complex) -> str:
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
BALANCE_PARAMETERS = ("sway", "sway_phase", "single_support", "double_support", "step_length")
#: Shares of its range that a parameter changes by are weighed equally, but for steps, which a user sees first.
PARAMETER_COSTS = {"step_length": 3.0, "speed": 3.0}
#: What stands for the step length where a speed is given: which share of it is walked.
SPEED_SHARE = "speed"
#: A repaired walk keeps the pressure so far inside the soles, as a share of their width.
SAFE_MARGIN = 0.05
#: Steps that a walk is tried for, from standing.
CHECKED_STEPS = 6


class StyleRepair(NamedTuple):
    """A style that walks, and how it differs.

    Attributes:
        style, speed: which walk, as far as was found; the speed is None where none was given.
        check: on them.
        changes: in words, one line each; none if nothing had to change.
    """

    style: Style
    speed: Speed | None
    check: FeasibilityCheck
    changes: tuple[str, ...]


def check_walk(
    style: Style,
    body: BodyDimensions,
    center: str = "divergent",
    speed: Speed | None = None,
    steps: int = CHECKED_STEPS,
) -> FeasibilityCheck:
    """The verdict on a whole walk with a style, from standing; the worst of its steps.

    Args:
        style, body: what walks.
        center: ``"divergent"`` or ``"sinusoid"``, see `poise.plans.footstep_plan`.
        speed: (m/s, m/s, rad/s) instead of the style's own steps.
    """
    plan = FootstepPlan(gait_of_style(style, body, speed), math.inf)
    reference: CenterReference = (
        DcmReference() if center == "divergent" else SinusoidReference(style.sway * body.leg_length, style.sway_phase)
    )
    half = 0.5 * body.stance_width
    right, left = Footstep("right", 0.0, -half), Footstep("left", 0.0, half)
    phase = GaitPhase("starting", 0.0, 0.8, right, left, right)
    return check_feasibility(plan, phase, 0.0, CenterState(0j, 0j), reference, body, steps=steps)


def repair_style(
    style: Style, body: BodyDimensions, center: str = "divergent", speed: Speed | None = None
) -> StyleRepair:
    """The style nearest to one that is wanted that keeps its balance.

    Near is what changes the balance parameters by small shares of their ranges. A walk that is known to work is looked
    for first, and then the way back to what was wanted is gone as far as it carries. Where a speed is given, which
    takes steps of its own length, a walk may become slower instead of its steps shorter.
    """
    safe = SAFE_MARGIN * min(body.sole_size)
    unrepaired = check_walk(style, body, center, speed)
    if unrepaired.margin >= safe:
        return StyleRepair(style, speed, unrepaired, ())
    names = BALANCE_PARAMETERS if center == "sinusoid" else BALANCE_PARAMETERS[2:]
    search = _RepairSearch(style, body, names if speed is None else (*names[:-1], SPEED_SHARE), speed)

    def spare_margin(values: Array) -> float:
        chosen, slower_speed = search.walk_of(values)
        return check_walk(chosen, body, center, slower_speed).margin - safe

    walking = [each for each in search.candidates() if spare_margin(each) >= 0.0]
    if not walking:
        return StyleRepair(style, speed, unrepaired, ())
    best = _bisect_towards(min(walking, key=search.cost), search.requested, spare_margin)
    limits = {"type": "ineq", "fun": spare_margin}
    options = {"rhobeg": 0.02, "maxiter": 120}
    found = scipy.optimize.minimize(search.cost, best, method="COBYLA", constraints=[limits], options=options).x
    if spare_margin(found) >= 0.0 and search.cost(found) < search.cost(best):
        best = found
    best = search.without_small_changes(best)
    better, slower_speed = search.walk_of(best)
    return StyleRepair(
        better, slower_speed, check_walk(better, body, center, slower_speed), search.describe_changes(best)
    )


class _RepairSearch:
    """What a repair may change: numbers of a style, and how much slower it goes.

    Attributes:
        requested: what is wanted.
    """

    def __init__(self, style: Style, body: BodyDimensions, names: Sequence[str], speed: Speed | None) -> None:
        self.style, self.body, self.names, self.speed = style, body, names, speed
        ends = [(0.1, 1.0) if name == SPEED_SHARE else (PARAMETERS[name].low, PARAMETERS[name].high) for name in names]
        self._low, self._high = np.array(ends).T
        self._spans = (self._high - self._low) / [PARAMETER_COSTS.get(name, 1.0) for name in names]
        self.requested: Array = np.array([1.0 if name == SPEED_SHARE else getattr(style, name) for name in names])

    def walk_of(self, values: Array) -> tuple[Style, Speed | None]:
        chosen = dict(zip(self.names, np.clip(values, self._low, self._high).tolist(), strict=True))
        share = chosen.pop(SPEED_SHARE, 1.0)
        if self.speed is None:
            return self.style.replace(**chosen), None
        vx, vy, wz = self.speed
        return self.style.replace(**chosen), (share * vx, share * vy, share * wz)

    def cost(self, values: Array) -> float:
        return float(np.sum(((values - self.requested) / self._spans) ** 2))

    def without_small_changes(self, values: Array) -> Array:
        """Without changes that nobody would see."""
        changed = np.abs(values - self.requested) > 1e-3 * self._spans
        return np.where(changed, np.clip(values, self._low, self._high), self.requested)

    def describe_changes(self, values: Array) -> tuple[str, ...]:
        found = []
        for name, requested, value in zip(self.names, self.requested.tolist(), values.tolist(), strict=True):
            if value != requested:
                unit = "of the given one" if name == SPEED_SHARE else PARAMETERS[name].unit
                found.append(f"{name} {requested:.3g} -> {value:.3g} {unit}".rstrip())
        return tuple(found)

    def candidates(self) -> list[Array]:
        """What is likely to walk: balanced sway, steps quick or slow, longer on both feet, shorter steps."""
        found = []
        for single, double, shorter in product((1.0, 0.8, 0.6, 1.3), (1.0, 2.0, 3.0, 5.0), (1.0, 0.7, 0.4, 0.15)):
            changes = {
                "single_support": _clip("single_support", single * self.style.single_support),
                "double_support": _clip("double_support", double * self.style.double_support),
                "step_length": _clip("step_length", shorter * self.style.step_length),
                SPEED_SHARE: shorter,
            }
            if "sway" not in self.names:
                found.append(np.array([changes[name] for name in self.names]))
                continue
            values = np.array([changes.get(name, 0.0) for name in self.names])
            style, speed = self.walk_of(values)
            plan = FootstepPlan(gait_of_style(style, self.body, speed), math.inf)
            amplitude, phase = SinusoidReference(SinusoidReference.balanced_amplitude(plan)).lead_compensation(plan)
            for sway_factor in (1.0, 1.15, 1.3):
                sway = _clip("sway", sway_factor * amplitude / self.body.leg_length)
                full_changes = {**changes, "sway": sway, "sway_phase": _clip("sway_phase", phase)}
                found.append(np.array([full_changes[name] for name in self.names]))
        return found


def _clip(name: str, value: float) -> float:
    parameter = PARAMETERS[name]
    return min(max(value, parameter.low), parameter.high)


def _bisect_towards(walking: Array, requested: Array, spare_margin: Callable[[Array], float]) -> Array:
    """As far from a walk that works towards the one that is wanted as it works."""
    low, high = 0.0, 1.0
    for _ in range(8):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if spare_margin(walking + middle * (requested - walking)) >= 0.0 else (low, middle)
    return np.asarray(walking + low * (requested - walking))
