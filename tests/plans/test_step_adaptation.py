"""Step adaptation after a push: the optimum against an exhaustive search."""

from __future__ import annotations

import math

import numpy as np
import pytest

from poise.plans.gait_parameters import dcm_in_single_support
from poise.plans.step_adaptation import END_WEIGHT, PLACE_WEIGHT, TIME_SAMPLES, TIME_WEIGHT, StepLimits, adapt_step
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
