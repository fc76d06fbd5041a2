"""Smoothness measures have their analytical values."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.polynomial.legendre import leggauss

from poise.analysis import (
    Peak,
    log_dimensionless_jerk,
    peak,
    peak_rate,
    root_mean_square,
    root_mean_square_rate,
    spectral_arc_length,
    torque_arc_length,
)
from poise.arrays import Array


def stroke(samples: int = 1001) -> Array:
    """Speed of a minimum-jerk movement, x = 10 τ³ - 15 τ⁴ + 6 τ⁵."""
    t = np.linspace(0.0, 1.0, samples)
    return 30.0 * t**2 * (1.0 - t) ** 2


def arc_length_of_the_stroke(threshold: float) -> float:
    """The same integrals as in the definition, by Gauss quadrature of the speed as a formula, without a DFT.

    The stroke is even about its middle, so that V(ω) = |∫ v cos(ω s) ds| with s = t - 1/2.
    """
    x, w = leggauss(60)
    s, w = x / 2, w / 2
    v = 30.0 * (s + 0.5) ** 2 * (0.5 - s) ** 2

    def spectrum(omega: Array) -> Array:
        return np.abs(np.cos(np.outer(omega, s)) @ (w * v))

    def slope(omega: Array) -> Array:
        return np.sin(np.outer(omega, s)) @ (w * v * s)

    omega = np.linspace(0.0, 20.0 * math.pi, 400_001)
    cut = omega[np.flatnonzero(spectrum(omega) >= threshold)[-1]]
    x, weights = leggauss(200)
    omega = (x + 1) * cut / 2
    return -float(weights @ np.sqrt(1.0 / cut**2 + slope(omega) ** 2)) * cut / 2


@pytest.mark.parametrize("threshold", [0.05, 0.1])
def test_the_arc_length_of_a_minimum_jerk_stroke_is_that_of_its_formula(threshold: float) -> None:
    expected = arc_length_of_the_stroke(threshold)
    assert spectral_arc_length(stroke(), 1e-3, threshold) == pytest.approx(expected, rel=1e-3)


def test_a_spectrum_that_never_ends_is_cut_at_the_highest_frequency() -> None:
    blow = np.zeros(200)
    blow[100] = 1.0  # all frequencies have the same amplitude, so the curve is a straight line of length 1
    assert spectral_arc_length(blow, 1e-3) == pytest.approx(-1.0)
    assert spectral_arc_length(blow, 0.2) == pytest.approx(-1.0)  # the highest frequency at this sample rate is 2.5 Hz


@pytest.mark.parametrize("measure", [spectral_arc_length, log_dimensionless_jerk])
@pytest.mark.parametrize(("size", "slower"), [(1e-3, 1.0), (50.0, 1.0), (1.0, 3.0), (0.2, 0.3)])
def test_a_movement_that_is_larger_or_slower_is_as_smooth(
    measure: Callable[..., float], size: float, slower: float
) -> None:
    twice = np.concatenate([stroke(), 0.7 * stroke()])
    assert measure(size * twice, slower * 1e-3) == pytest.approx(measure(twice, 1e-3), rel=1e-9)


@pytest.mark.parametrize("measure", [spectral_arc_length, log_dimensionless_jerk])
def test_finer_samples_change_nothing(measure: Callable[..., float]) -> None:
    assert measure(stroke(4001), 2.5e-4) == pytest.approx(measure(stroke(1001), 1e-3), rel=1e-3)


@pytest.mark.parametrize("measure", [spectral_arc_length, log_dimensionless_jerk])
def test_the_direction_of_a_straight_movement_does_not_matter(measure: Callable[..., float]) -> None:
    for direction in ((1.0, 0.0, 0.0), (0.48, 0.6, 0.64), (0.0, 0.0, -1.0)):
        assert measure(np.outer(stroke(), direction), 1e-3) == pytest.approx(measure(stroke(), 1e-3), rel=1e-9)


def test_rest_before_and_after_does_not_change_the_spectrum() -> None:
    rest = np.zeros(700)
    assert spectral_arc_length(np.concatenate([rest, stroke(), rest]), 1e-3) == pytest.approx(
        spectral_arc_length(stroke(), 1e-3), rel=1e-3
    )


@pytest.mark.parametrize("measure", [spectral_arc_length, log_dimensionless_jerk])
def test_every_hesitation_makes_a_movement_less_smooth(measure: Callable[..., float]) -> None:
    values = [measure(np.concatenate([stroke(301)] * n), 1e-3) for n in (1, 2, 3, 4)]
    assert values == sorted(values, reverse=True)
    assert all(value < 0.0 for value in values)


def test_the_dimensionless_jerk_of_a_minimum_jerk_stroke_is_204_8() -> None:
    # ∫ (60 - 360 τ + 360 τ²)² dτ = 720 and the peak of the speed is 15/8
    assert math.exp(-log_dimensionless_jerk(stroke(4001), 2.5e-4)) == pytest.approx(720.0 / (15 / 8) ** 2, rel=1e-4)


def test_the_dimensionless_jerk_of_half_a_sine_is_half_of_pi_to_the_fourth() -> None:
    t = np.linspace(0.0, 1.0, 2001)
    assert math.exp(-log_dimensionless_jerk(np.sin(math.pi * t), 5e-4)) == pytest.approx(math.pi**4 / 2, rel=1e-4)


def test_two_strokes_in_a_row_have_sixteen_times_the_jerk_of_one() -> None:
    twice = np.concatenate([stroke(4001), stroke(4001)[1:]])  # twice the integral over 2³ times T³
    assert log_dimensionless_jerk(twice, 2.5e-4) == pytest.approx(-math.log(16 * 204.8), abs=1e-3)


@pytest.mark.parametrize("measure", [spectral_arc_length, log_dimensionless_jerk, torque_arc_length])
@pytest.mark.parametrize("still", [np.zeros(100), np.zeros(0), np.ones(1), np.full(50, np.nan)])
def test_the_smoothness_of_a_motion_at_rest_is_nan(measure: Callable[..., float], still: Array) -> None:
    with np.errstate(all="raise"):
        assert math.isnan(measure(still, 0.01))


def test_the_rms_of_torques_is_that_of_their_length() -> None:
    rng = np.random.default_rng(1)
    torque = rng.normal(size=(500, 7))
    assert root_mean_square(torque) == pytest.approx(np.sqrt(np.mean(np.linalg.norm(torque, axis=1) ** 2)))
    assert math.isnan(root_mean_square(np.full((3, 2), np.nan)))
    assert root_mean_square([[np.nan, 1.0], [3.0, 4.0]]) == 5.0


def test_the_rate_of_a_sine_is_its_frequency_times_its_size() -> None:
    period, omega, size = 1e-3, 2.0 * math.pi, 30.0
    t = np.arange(0.0, 1.0, period)
    torque = np.column_stack([size * np.sin(omega * t), 0.1 * t])
    fastest = peak_rate(torque, period)
    assert fastest.value == pytest.approx(size * omega, rel=1e-3)
    assert fastest.column == 0
    assert root_mean_square_rate(torque[:, 0], period) == pytest.approx(size * omega / math.sqrt(2.0), rel=1e-3)


def test_a_step_of_a_torque_is_found_where_it_is() -> None:
    torque = np.zeros((100, 4))
    torque[40:, 2] = -8.0
    assert peak_rate(torque, 0.002) == Peak(4000.0, 2, 39)
    assert peak(torque) == Peak(8.0, 2, 40)
    assert peak(np.full((2, 2), np.nan))[1:] == (-1, -1)


def test_smooth_torques_have_a_shorter_arc_than_torques_that_jump() -> None:
    t = np.linspace(0.0, 1.0, 1001)
    smooth = 10.0 * (10 * t**3 - 15 * t**4 + 6 * t**5)
    # Their rate is a minimum-jerk stroke, so the arc lengths are equal.
    assert torque_arc_length(smooth, 1e-3) == pytest.approx(spectral_arc_length(stroke(), 1e-3), rel=1e-3)
    jumping = smooth + 2.0 * (t > 0.3) - 2.0 * (t > 0.6)
    assert torque_arc_length(jumping, 1e-3) < torque_arc_length(smooth, 1e-3) - 0.5


def test_torques_count_up_to_their_first_gap() -> None:
    t = np.linspace(0.0, 1.0, 1001)
    torque = np.concatenate([[np.nan] * 5, np.sin(t), [np.nan] * 3, np.cos(9.0 * t)])
    assert torque_arc_length(torque, 1e-3) == torque_arc_length(np.sin(t), 1e-3)
