"""Reference trajectories of standing and squatting: the two scenarios of [Galdeano2014]."""

import math

import numpy as np
import pinocchio
import pytest

from poise.plans import SquatReference, StandReference
from poise.plans.reference_trajectory import minimum_jerk_step

CENTER = np.array([0.01, -0.05, 0.35])
OTHER = pinocchio.SE3(pinocchio.exp3(np.array([0.0, 0.0, 0.1])), np.array([0.0, -0.1, 0.0]))
DEPTH, FREQUENCY, CYCLES, BEGIN = 0.05, 0.5, 3, 1.0
STEP = 1e-4


def squats() -> SquatReference:
    return SquatReference(CENTER, OTHER, DEPTH, FREQUENCY, CYCLES, BEGIN)


def test_a_stand_reference_is_constant() -> None:
    reference = StandReference(CENTER, OTHER, seconds=7.0)
    assert reference.seconds == 7.0
    for time in (-1.0, 0.0, 3.0, 100.0):
        sample = reference.sample(time)
        assert np.array_equal(sample.center, CENTER)
        assert sample.other_sole == OTHER
        assert not sample.center_rate.any()
        assert not sample.other_sole_rate.any()
        assert sample.load_share == 0.5


def test_a_stand_reference_copies_its_center() -> None:
    center = CENTER.copy()
    reference = StandReference(center, OTHER)
    center[:] = 9.0
    assert np.array_equal(reference.sample(1.0).center, CENTER)


@pytest.mark.parametrize("time", np.linspace(-0.5, 8.0, 35))
def test_only_the_height_changes_in_a_squat_and_feet_stay(time: float) -> None:
    sample = squats().sample(float(time))
    assert sample.center[:2].tolist() == CENTER[:2].tolist()
    assert CENTER[2] - DEPTH - 1e-12 <= sample.center[2] <= CENTER[2]
    assert sample.other_sole == OTHER
    assert not sample.other_sole_rate.any()
    assert sample.load_share == 0.5


@pytest.mark.parametrize("cycle", range(CYCLES))
def test_each_squat_goes_from_the_top_to_its_depth_and_back(cycle: int) -> None:
    reference = squats()
    for turns, down in ((0.0, 0.0), (0.25, 0.5), (0.5, 1.0), (0.75, 0.5), (1.0, 0.0)):
        sample = reference.sample(BEGIN + (cycle + turns) / FREQUENCY)
        assert sample.center[2] == pytest.approx(CENTER[2] - down * DEPTH)


def test_squats_are_periodic() -> None:
    reference = squats()
    for time in np.linspace(BEGIN, BEGIN + 1.0 / FREQUENCY, 21):
        first, second = reference.sample(float(time)), reference.sample(float(time) + 1.0 / FREQUENCY)
        assert first.center == pytest.approx(second.center, abs=1e-12)


@pytest.mark.parametrize("time", np.linspace(0.0, 8.0, 41) + 0.0123)
def test_the_rate_of_a_squat_is_its_derivative(time: float) -> None:
    before, now, after = (squats().sample(float(time) + s) for s in (-STEP, 0.0, STEP))
    assert now.center_rate == pytest.approx((after.center - before.center) / (2.0 * STEP), abs=1e-6)


def test_a_squat_begins_and_ends_at_rest() -> None:
    reference = squats()
    assert reference.seconds == BEGIN + CYCLES / FREQUENCY
    for time in (0.0, BEGIN, reference.seconds, reference.seconds + 5.0):
        sample = reference.sample(time)
        assert sample.center == pytest.approx(CENTER, abs=1e-12)
        assert sample.center_rate == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("elapsed", np.linspace(-1.0, 3.0, 41) + 0.011)
def test_a_minimum_jerk_step_goes_from_zero_to_one_with_its_derivative(elapsed: float) -> None:
    (before, _), (value, rate), (after, _) = (minimum_jerk_step(float(elapsed) + s, 2.0) for s in (-STEP, 0.0, STEP))
    assert 0.0 <= value <= 1.0
    assert rate == pytest.approx((after - before) / (2.0 * STEP), abs=1e-6)
    assert math.isclose(minimum_jerk_step(0.0, 2.0)[0], 0.0)
    assert math.isclose(minimum_jerk_step(2.0, 2.0)[0], 1.0)
