"""Feasibility check of a walk over its next steps.

The robot is modeled as a pendulum of constant height, ``c̈ = ω² (c - z)``, which follows its center-of-mass reference
as the robot would, with the zero moment point (ZMP) z confined to the soles. The smallest distance from the commanded z
to the edge of the soles is the margin of the check. `poise.runs.check_walk` simulates the robot instead.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

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
from poise.plans.style import Style
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
#: Number of steps that `check_walk` checks, from standing.
CHECKED_STEPS = 6
#: Peak acceleration of a minimum-jerk motion over a distance d in a time T, times T² / d.
PEAK_ACCELERATION = 5.77


@dataclass(frozen=True)
class FeasibilityCheck:
    """Result of a feasibility check.

    Attributes:
        margin: smallest distance of the ZMP inside the soles (m); negative: how far outside it would have to be, or by
            how much the steps are too long. Of a simulated check: the tolerated DCM error minus the largest one; for a
            fall, minus the tolerated one.
        seconds: time from now until the ZMP leaves the soles, or comes nearest to their edge; of a simulated check:
            time until the fall, or the simulated time.
        reason: explanation of the result as text.
        simulated: whether the robot was simulated (`poise.runs.check_walk`) instead of a pendulum.
    """

    margin: float
    seconds: float
    reason: str
    simulated: bool = False

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
        plan, phase, time, state: current footstep plan, gait phase, time (s) and state of the center of mass.
        reference: law that commands the center of mass.
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


def check_walk(
    style: Style,
    body: BodyDimensions,
    center: str = "dcm",
    speed: Speed | None = None,
    steps: int = CHECKED_STEPS,
) -> FeasibilityCheck:
    """Check a walk with a style from standing, over several steps.

    Args:
        style: style of the walk.
        body: dimensions of the robot.
        center: reference of the center of mass, ``"dcm"`` or ``"sinusoid"``, see `poise.plans.footstep_plan`.
        speed: (forward m/s, to the left m/s, turning rad/s) instead of the step lengths of the style.
        steps: number of steps to check.
    """
    if center == "sinusoid":  # its sway would have to fit the narrow feet of each robot
        body = body.with_standing_width()
    plan = FootstepPlan(gait_of_style(style, body, speed), math.inf)
    reference: CenterReference = (
        DcmReference() if center == "dcm" else SinusoidReference(style.sway * body.leg_length, style.sway_phase)
    )
    half = 0.5 * body.stance_width
    right, left = Footstep("right", 0.0, -half), Footstep("left", 0.0, half)
    phase = GaitPhase("starting", 0.0, 0.8, right, left, right)
    return check_feasibility(plan, phase, 0.0, CenterState(0j, 0j), reference, body, steps=steps)
