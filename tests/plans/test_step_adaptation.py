"""Steps after a push: the best of all that can be reached, found by looking at all of them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from poise.plans.gait_parameters import before_single
from poise.plans.step_adaptation import END, PLACE, TIME, TRIED, Reachable, adapted
from poise.state import natural_frequency

OMEGA = natural_frequency(0.7)
LIMITS = Reachable(forward=0.4, narrowest=0.1, widest=0.4, soonest=0.1, latest=0.5)
OFFSET, STEP, LEFT = 0.02 - 0.05j, 0.2 + 0.2j, 0.3
PLANNED = before_single(0j, STEP + OFFSET, LEFT, OMEGA)


def cost(step: complex, seconds: float, xi: complex, pressure: complex, wish: complex) -> float:
    """As the docstring has it, with ξ at touchdown by the dynamics."""
    off = before_single(pressure, xi, -seconds, OMEGA) - step - OFFSET
    growth = math.exp(OMEGA * seconds) - math.exp(OMEGA * LEFT)
    return PLACE * abs(step - wish) ** 2 + TIME * growth**2 + END * abs(off) ** 2


def test_without_a_push_the_step_stays_where_it_was_planned() -> None:
    place, time = adapted(PLANNED, 0j, STEP, OFFSET, LEFT, OMEGA, LIMITS, outward=1.0)
    assert place == pytest.approx(STEP, abs=2e-3)
    assert time == pytest.approx(LEFT, abs=0.5 * (LIMITS.latest - LIMITS.soonest) / (TRIED - 1))


def test_after_a_push_forward_the_step_goes_further_or_comes_sooner() -> None:
    place, time = adapted(PLANNED + 0.03, 0j, STEP, OFFSET, LEFT, OMEGA, LIMITS, outward=1.0)
    assert place.real > STEP.real + 0.01 or time < LEFT - 0.02


@pytest.mark.parametrize("outward", [1.0, -1.0])
@pytest.mark.parametrize("seed", range(4))
def test_no_step_that_can_be_reached_is_better(seed: int, outward: float) -> None:
    random = np.random.default_rng(seed)
    xi = complex(*random.normal(0.0, 0.08, 2)) + PLANNED
    pressure, wish = complex(*random.uniform(-0.03, 0.03, 2)), complex(STEP.real, outward * STEP.imag)
    place, seconds = adapted(xi, pressure, wish, OFFSET, LEFT, OMEGA, LIMITS, outward)
    assert abs(place.real) <= LIMITS.forward
    assert LIMITS.narrowest <= outward * place.imag <= LIMITS.widest
    assert LIMITS.soonest <= seconds <= LIMITS.latest
    found = cost(place, seconds, xi, pressure, wish)
    for time in np.linspace(LIMITS.soonest, LIMITS.latest, TRIED):
        for x in np.linspace(-LIMITS.forward, LIMITS.forward, 41):
            for y in np.linspace(LIMITS.narrowest, LIMITS.widest, 16):
                assert found <= cost(complex(x, outward * y), float(time), xi, pressure, wish) + 1e-9
