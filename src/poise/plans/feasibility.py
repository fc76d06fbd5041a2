"""Feasibility check of a walk over its next steps, and the smallest repair of a style that fails it.

The robot is modelled as a pendulum of constant height, ``c̈ = ω² (c - z)``, which follows its centre-of-mass reference
as the robot would, with the zero moment point (ZMP) z confined to the soles. The smallest distance from the commanded z
to the edge of the soles is the margin of the check.
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

#: Time step of the preview (s): a fortieth of a step.
TICK = 0.01
#: Number of steps in the preview.
PREVIEW_STEPS = 2
#: The walk counts as a fall if ξ is further than this fraction of the leg length from both feet.
CAPTURE_LIMIT = 0.6
#: Longest step as a fraction of the leg length. Largest acceleration of a swing foot (m/s²): none of five robots
#: exceeded it; for weak legs the limit is proportional to the leg strength (m/s² per unit of it).
LONGEST_STEP, LARGEST_SWING_ACCELERATION, SWING_ACCELERATION_BY_STRENGTH = 0.55, 22.0, 55.0
#: Peak acceleration of a minimum-jerk motion over a distance d in a time T, times T² / d.
PEAK_ACCELERATION = 5.77


@dataclass(frozen=True)
class FeasibilityCheck:
    """Result of a feasibility check.

    Attributes:
        margin: smallest distance of the ZMP inside the soles (m); negative: how far outside it would have to be, or by
            how much the steps are too long.
        seconds: time from now until the ZMP leaves the soles, or comes nearest to their edge.
        reason: explanation of the result as text.
    """

    margin: float
    seconds: float
    reason: str

    @property
    def feasible(self) -> bool:
        """Whether the walk is expected to keep its balance."""
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
    """Simulate the next steps of a walk with a pendulum model and return the worst ZMP margin.

    Args:
        plan, phase, time, state: current footstep plan, gait phase, time (s) and state of the centre of mass.
        reference: law that commands the centre of mass.
        body: dimensions of the robot.
        adapt: step adaptation, as `StepAdapter.adapt`; None: steps stay where they are planned.
        steps: number of steps to simulate.
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
            reason = f"falls in {time - begin:.1f} s: no step can capture it"
            return FeasibilityCheck(-CAPTURE_LIMIT * body.leg_length, time - begin, reason)
        z = reference.command(plan, phase, time, CenterState(c, v)).zmp
        margin = soles.margin(z)
        if margin < worst:
            if worst >= 0.0:  # report the first time outside the soles: later ones are its consequence
                when, where = time - begin, _describe_pressure(phase, z)
            worst = margin
        z = soles.project(z)
        # Exact solution for a ZMP that is constant over one tick.
        grow, sink = math.cosh(omega * TICK), math.sinh(omega * TICK)
        c, v = z + (c - z) * grow + v * sink / omega, (c - z) * omega * sink + v * grow
        time += TICK
    if math.isinf(worst):
        return FeasibilityCheck(soles.margin(state.place), 0.0, "stands")
    if worst < 0.0:
        reason = f"the ZMP would be {-1e3 * worst:.0f} mm outside the soles, {where}, in {when:.1f} s"
        return FeasibilityCheck(worst, when, reason)
    return FeasibilityCheck(worst, when, f"steady: the ZMP stays {1e3 * worst:.0f} mm inside the soles")


def check_legs(plan: FootstepPlan, body: BodyDimensions) -> FeasibilityCheck | None:
    """Return a failed check if the steps are too long for the legs or too fast for the swing foot, else None."""
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
    """Return the phase that follows according to the plan; None if the walk has ended."""
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
    """Describe as text where a ZMP lies relative to the feet."""
    if phase.kind != "single":
        return "in double support"
    foot: Footstep = phase.support
    away = (z - foot.place) * foot.heading.conjugate()
    outward = away.imag if foot.side == "left" else -away.imag
    if abs(away.real) > 2.0 * abs(away.imag):
        return f"{'in front of' if away.real > 0.0 else 'behind'} the {foot.side} foot"
    return f"on the {'outer' if outward > 0.0 else 'inner'} side of the {foot.side} foot"


# -- Repair ----------------------------------------------------------------------------------------------------------


#: Parameters that a repair may change: the balance parameters of [Dalibard2012] section IV.B, then the step length.
BALANCE_PARAMETERS = ("sway", "sway_phase", "single_support", "double_support", "step_length")
#: Cost factors of changes, each relative to the range of its parameter. All are 1 except for step length and speed,
#: because the user notices these first.
PARAMETER_COSTS = {"step_length": 3.0, "speed": 3.0}
#: Name of the search variable that replaces the step length if a speed is given: fraction of that speed.
SPEED_SHARE = "speed"
#: Margin of the ZMP inside the soles that a repaired walk must keep, as a fraction of the smaller sole dimension.
SAFE_MARGIN = 0.05
#: Number of steps that are checked, from standing.
CHECKED_STEPS = 6


class StyleRepair(NamedTuple):
    """Result of `repair_style`.

    Attributes:
        style, speed: the repaired walk, or the requested one if no repair was found; the speed is None if none was
            given.
        check: feasibility check of this style and speed.
        changes: one line of text per changed parameter; empty if nothing changed.
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
    """Check a walk with a style from standing, over several steps.

    Args:
        style: style of the walk.
        body: dimensions of the robot.
        center: reference of the centre of mass, ``"divergent"`` or ``"sinusoid"``, see `poise.plans.footstep_plan`.
        speed: (forward m/s, to the left m/s, turning rad/s) instead of the step lengths of the style.
        steps: number of steps to check.
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
    """Return the feasible style that is nearest to a requested one.

    The distance is the weighted sum of squared changes of the balance parameters, each relative to its range. The
    search first looks for any candidate that is feasible, then bisects from it towards the requested style, then
    refines the result with COBYLA. If a speed is given, which determines the step length, the repair reduces the speed
    instead of the step length.

    Args:
        style, body, center, speed: as of `check_walk`.

    Returns:
        The repair; its `check` fails if no feasible candidate was found.
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
    """Search space of a repair: parameters of a style, and the fraction of the requested speed.

    Attributes:
        requested: values of the requested walk, in the order of `names`.
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
        """Return the values with changes below 0.1 % of the weighted range undone."""
        changed = np.abs(values - self.requested) > 1e-3 * self._spans
        return np.where(changed, np.clip(values, self._low, self._high), self.requested)

    def describe_changes(self, values: Array) -> tuple[str, ...]:
        found = []
        for name, requested, value in zip(self.names, self.requested.tolist(), values.tolist(), strict=True):
            if value != requested:
                unit = "of the given speed" if name == SPEED_SHARE else PARAMETERS[name].unit
                found.append(f"{name} {requested:.3g} -> {value:.3g} {unit}".rstrip())
        return tuple(found)

    def candidates(self) -> list[Array]:
        """Return walks that are likely to be feasible: balanced sway, other durations, shorter or slower steps."""
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
    """Return the point nearest to the requested walk on the line from a feasible one that is still feasible."""
    low, high = 0.0, 1.0
    for _ in range(8):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if spare_margin(walking + middle * (requested - walking)) >= 0.0 else (low, middle)
    return np.asarray(walking + low * (requested - walking))
