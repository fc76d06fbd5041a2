"""Step adaptation after a push: the optimum against an exhaustive search."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from poise.plans import NEUTRAL, BodyDimensions, Footstep, FootstepPlan, GaitPhase, gait_of_style
from poise.plans.gait_parameters import dcm_in_single_support
from poise.plans.step_adaptation import (
    CAPTURE_TIME,
    END_WEIGHT,
    PLACE_WEIGHT,
    SHORTEST_SWING,
    TIME_SAMPLES,
    TIME_WEIGHT,
    StepAdapter,
    StepLimits,
    adapt_step,
    capture_phase,
)
from poise.state import natural_frequency

OMEGA = natural_frequency(0.7)
LIMITS = StepLimits(forward=0.4, narrowest=0.1, widest=0.4, soonest=0.1, latest=0.5)
OFFSET, STEP, LEFT = 0.02 - 0.05j, 0.2 + 0.2j, 0.3
PLANNED = dcm_in_single_support(0j, STEP + OFFSET, LEFT, OMEGA)


def cost(step: complex, seconds: float, xi: complex, pressure: complex, command: complex) -> float:
    """The cost of the docstring, with ξ at touchdown by the DCM dynamics."""
    off = dcm_in_single_support(pressure, xi, -seconds, OMEGA) - step - OFFSET
    growth = math.exp(OMEGA * seconds) - math.exp(OMEGA * LEFT)
    return PLACE_WEIGHT * abs(step - command) ** 2 + TIME_WEIGHT * growth**2 + END_WEIGHT * abs(off) ** 2


def test_without_a_push_the_step_stays_where_it_was_planned() -> None:
    place, time = adapt_step(PLANNED, 0j, STEP, OFFSET, LEFT, OMEGA, LIMITS, outward=1.0)
    assert place == pytest.approx(STEP, abs=2e-3)
    assert time == pytest.approx(LEFT, abs=0.5 * (LIMITS.latest - LIMITS.soonest) / (TIME_SAMPLES - 1))


def test_after_a_push_forward_the_step_goes_further_or_comes_sooner() -> None:
    place, time = adapt_step(PLANNED + 0.03, 0j, STEP, OFFSET, LEFT, OMEGA, LIMITS, outward=1.0)
    assert place.real > STEP.real + 0.01 or time < LEFT - 0.02


@pytest.mark.parametrize("outward", [1.0, -1.0])
@pytest.mark.parametrize("seed", range(4))
def test_no_step_that_can_be_reached_is_better(seed: int, outward: float) -> None:
    random = np.random.default_rng(seed)
    xi = complex(*random.normal(0.0, 0.08, 2)) + PLANNED
    pressure, command = complex(*random.uniform(-0.03, 0.03, 2)), complex(STEP.real, outward * STEP.imag)
    place, seconds = adapt_step(xi, pressure, command, OFFSET, LEFT, OMEGA, LIMITS, outward)
    assert abs(place.real) <= LIMITS.forward
    assert LIMITS.narrowest <= outward * place.imag <= LIMITS.widest
    assert LIMITS.soonest <= seconds <= LIMITS.latest
    found = cost(place, seconds, xi, pressure, command)
    for time in np.linspace(LIMITS.soonest, LIMITS.latest, TIME_SAMPLES):
        for x in np.linspace(-LIMITS.forward, LIMITS.forward, 41):
            for y in np.linspace(LIMITS.narrowest, LIMITS.widest, 16):
                assert found <= cost(complex(x, outward * y), float(time), xi, pressure, command) + 1e-9


# -- Capture steps ---------------------------------------------------------------------------------------------------


BODY = BodyDimensions(
    leg_length=0.8, stance_width=0.2, com_height=0.75, hip_height=0.76, sole_size=(0.2, 0.08), leg_strength=0.4
)
PLAN = FootstepPlan(gait_of_style(NEUTRAL, BODY), steps=1)
STANDING = GaitPhase(
    "standing", 0.0, math.inf, Footstep("right", 0.0, -0.1), Footstep("left", 0.0, 0.1), Footstep("right", 0.0, -0.1)
)


def miss(phase: GaitPhase, xi: complex) -> float:
    """Smallest distance of ξ from the place where the step needs it, over all steps within the limits.

    A foot that accelerates by at most a and ends at rest goes a T² / 5.77 in a time T along a quintic.
    """
    adapter = StepAdapter(BODY, phase, 0.0)
    support, limits = phase.support, adapter.limits
    outward = 1.0 if phase.goal.side == "left" else -1.0
    planned = PLAN.footstep(support, 1)
    offset = PLAN.dcm_at_end(support, planned, 1) - planned.place
    relative = xi - support.place
    half = 0.6 * adapter.half
    start = phase.other_foot.place - support.place
    zmp = complex(np.clip(relative.real, -half.real, half.real), np.clip(relative.imag, -half.imag, half.imag))
    misses = []
    for seconds in np.linspace(SHORTEST_SWING, CAPTURE_TIME, 21):
        needed = dcm_in_single_support(zmp, relative, -float(seconds), PLAN.gait.omega) - offset
        ahead, aside = (0.8 * limit * float(seconds) ** 2 / 5.77 for limit in BODY.swing_acceleration)
        x = np.clip(np.clip(needed.real, start.real - ahead, start.real + ahead), -limits.forward, limits.forward)
        reached = np.clip(needed.imag, start.imag - aside, start.imag + aside)
        y = outward * np.clip(outward * reached, limits.narrowest, limits.widest)
        misses.append(abs(needed - complex(x, y)))
    return min(misses)


@pytest.mark.parametrize("xi", [0.2 + 0j, -0.15 + 0.05j, 0.15j, -0.15j, 0.25j, -0.3j, 0.1 + 0.25j, -0.2 - 0.25j])
def test_the_foot_steps_whose_step_misses_the_capture_point_less(xi: complex) -> None:
    chosen = capture_phase(PLAN, BODY, STANDING, 0.0, xi)
    others = [
        STANDING.single_support_phase(0.0, CAPTURE_TIME, PLAN.footstep(support, 1))
        for support in (STANDING.support, STANDING.other_foot)
    ]
    # Steps of one foot start from the other one, also if that is the other foot of the phase.
    assert miss(chosen, xi) <= min(miss(each, xi) for each in others) + 0.03 * BODY.leg_length
    assert SHORTEST_SWING <= chosen.seconds <= CAPTURE_TIME


def test_a_strong_push_to_the_left_moves_the_left_foot_outwards() -> None:
    """The right foot is farther from ξ, but may not cross the left one."""
    chosen = capture_phase(PLAN, replace(BODY, swing_acceleration=(70.0, 120.0)), STANDING, 0.0, 0.25j)
    assert chosen.goal.side == "left"
    assert chosen.goal.y > 0.25


def test_without_adaptation_the_farther_foot_steps_as_planned() -> None:
    chosen = capture_phase(PLAN, BODY, STANDING, 0.0, 0.15j, adapt=False)
    assert chosen.goal == PLAN.footstep(STANDING.other_foot, 1)
