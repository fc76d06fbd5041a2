"""Divergent component of motion: closed forms against numerical integration."""

from __future__ import annotations

import cmath
from itertools import pairwise

import numpy as np
import pytest

from planned_walks import integrate_dcm
from poise.plans import Footstep
from poise.plans.footsteps import StepGeometry
from poise.plans.gait_parameters import (
    StepTiming,
    dcm_in_double_support,
    dcm_in_single_support,
    initial_dcm,
    steady_dcm_offset,
)
from poise.state import natural_frequency

OMEGA = natural_frequency(0.7)
TIMING = StepTiming(single_support=0.4, double_support=0.1)
LAST, FOOT, END = 0.1j, 0.2 - 0.1j, 0.35 - 0.02j


def dcm_after_steps(xi: complex, feet: list[complex]) -> complex:
    """ξ after a walk over these feet, by integration."""
    for last, foot in pairwise(feet):
        slope = (foot - last) / TIMING.double_support
        xi = integrate_dcm(xi, lambda t, a=last, rate=slope: a + rate * t, TIMING.double_support, OMEGA)  # type: ignore[misc]
        xi = integrate_dcm(xi, lambda t, b=foot: b, TIMING.single_support, OMEGA)  # type: ignore[misc]
    return xi


def test_omega_is_that_of_a_pendulum_of_this_height() -> None:
    assert natural_frequency(9.81) == pytest.approx(1.0)
    assert natural_frequency(0.25) == pytest.approx(2.0 * natural_frequency(1.0))


def test_in_single_support_its_integration_ends_at_the_given_end() -> None:
    begin = dcm_in_single_support(FOOT, END, 0.4, OMEGA)
    assert integrate_dcm(begin, lambda t: FOOT, 0.4, OMEGA) == pytest.approx(END, abs=1e-9)


@pytest.mark.parametrize("left", [0.1, 0.06, 0.0])
def test_in_double_support_its_integration_ends_at_the_given_end(left: float) -> None:
    begin, z = dcm_in_double_support(LAST, FOOT, END, left, 0.1, OMEGA)
    assert integrate_dcm(begin, lambda t: z + (FOOT - LAST) * t / 0.1, left, OMEGA) == pytest.approx(END, abs=1e-9)
    assert z == pytest.approx(LAST + (FOOT - LAST) * (0.1 - left) / 0.1)


def test_the_initial_dcm_leads_over_all_steps_to_the_given_end() -> None:
    feet = [LAST, FOOT, 0.4 + 0.1j]
    assert dcm_after_steps(initial_dcm(feet, END, TIMING, OMEGA), feet) == pytest.approx(END, abs=1e-8)


def test_arrays_are_points_as_well() -> None:
    feet = [LAST, FOOT, 0.4 + 0.1j]
    arrays = [np.array([foot.real, foot.imag]) for foot in feet]
    found = initial_dcm(arrays, np.array([END.real, END.imag]), TIMING, OMEGA)
    expected = initial_dcm(feet, END, TIMING, OMEGA)
    assert found == pytest.approx([expected.real, expected.imag])


def test_a_steady_walk_repeats_itself() -> None:
    stride, back = 0.15 - 0.2j, 0.15 + 0.2j
    offset = steady_dcm_offset(stride, back, TIMING, OMEGA)
    feet = [0j, stride, stride + back]
    assert dcm_after_steps(offset, feet) == pytest.approx(feet[-1] + offset, abs=1e-8)


@pytest.mark.parametrize("turn", [0.3, -0.15])
@pytest.mark.parametrize("sideways", [0.0, 0.05])
def test_a_steady_walk_that_turns_repeats_itself_turned(turn: float, sideways: float) -> None:
    step_geometry = StepGeometry(forward=0.2, sideways=sideways, turn=turn, width=0.2)
    steps = [Footstep("left", 0.1, 0.3, 0.7)]
    for _ in range(4):
        steps.append(step_geometry.next_footstep(steps[-1]))
    feet = [step.place for step in steps]
    offset = steady_dcm_offset(feet[1] - feet[0], feet[2] - feet[1], TIMING, OMEGA, 2.0 * turn)
    xi = feet[0] + offset
    for cycle in (1, 2):
        xi = dcm_after_steps(xi, feet[2 * cycle - 2 : 2 * cycle + 1])
        assert xi - feet[2 * cycle] == pytest.approx(offset * cmath.exp(2j * cycle * turn), abs=1e-5)
