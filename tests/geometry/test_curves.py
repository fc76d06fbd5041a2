"""Curves: boundary values, and derivatives against finite differences."""

import doctest
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poise.errors import GeometryError
from poise.geometry import Quintic, curves, quintic

UNIT_CURVES = [curves.minimum_jerk, curves.cycloid, curves.cycloid_lift]
phases = st.floats(0.0, 1.0)
numbers = st.floats(-5.0, 5.0)
states = st.tuples(*[st.tuples(numbers, numbers).map(np.array)] * 3)
durations = st.floats(0.05, 20.0)


def derivative(function, at: float, step: float):  # type: ignore[no-untyped-def]
    """Central difference of order four."""
    near = function(at + step) - function(at - step)
    far = function(at + 2 * step) - function(at - 2 * step)
    return (8.0 * near - far) / (12.0 * step)


@given(phases)
def test_minimum_jerk_is_the_displayed_polynomial(s: float) -> None:
    value, first, second = curves.minimum_jerk(s)
    assert value == pytest.approx(10 * s**3 - 15 * s**4 + 6 * s**5, abs=1e-14)
    assert first == pytest.approx(30 * s**2 * (1 - s) ** 2, abs=1e-14)
    assert second == pytest.approx(60 * s * (1 - s) * (1 - 2 * s), abs=1e-14)


@given(phases)
def test_the_cycloid_and_its_lift_are_the_displayed_waves(s: float) -> None:
    sine, cosine = math.sin(2 * math.pi * s), math.cos(2 * math.pi * s)
    assert curves.cycloid(s) == pytest.approx((s - sine / (2 * math.pi), 1 - cosine, 2 * math.pi * sine))
    assert curves.cycloid_lift(s) == pytest.approx(((1 - cosine) / 2, math.pi * sine, 2 * math.pi**2 * cosine))


@given(phases)
def test_cycloid_and_lift_draw_the_path_of_a_point_on_a_rolling_wheel(s: float) -> None:
    # A wheel of circumference 1 has rolled to s; the point is one radius from its hub. The lift is scaled to height 1.
    radius = 1.0 / (2.0 * math.pi)
    x, z = curves.cycloid(s)[0], 2.0 * radius * curves.cycloid_lift(s)[0]
    assert math.hypot(x - s, z - radius) == pytest.approx(radius)


@pytest.mark.parametrize("curve", UNIT_CURVES)
@given(s=st.floats(0.01, 0.99))
def test_the_derivatives_of_a_unit_curve_are_its_derivatives(curve, s: float) -> None:  # type: ignore[no-untyped-def]
    _, first, second = curve(s)
    assert derivative(lambda t: curve(t)[0], s, 1e-3) == pytest.approx(first, abs=1e-8)
    assert derivative(lambda t: curve(t)[1], s, 1e-3) == pytest.approx(second, abs=1e-7)


@pytest.mark.parametrize("curve", [curves.minimum_jerk, curves.cycloid])
def test_a_curve_goes_from_zero_to_one_and_rests_outside(curve) -> None:  # type: ignore[no-untyped-def]
    for s, value in ((-3.0, 0.0), (0.0, 0.0), (1.0, 1.0), (7.0, 1.0)):
        assert curve(s) == pytest.approx((value, 0.0, 0.0), abs=2e-15)
    values = curve(np.linspace(0.0, 1.0, 101))[0]
    assert (np.diff(values) > 0.0).all()
    np.testing.assert_allclose(values + values[::-1], 1.0, atol=1e-15)


def test_the_lift_is_down_at_both_ends_up_in_the_middle_and_at_rest_outside() -> None:
    assert curves.cycloid_lift(0.5)[:2] == pytest.approx((1.0, 0.0), abs=1e-15)
    for s in (0.0, 1.0):
        assert curves.cycloid_lift(s) == pytest.approx((0.0, 0.0, 2 * math.pi**2), abs=1e-15)
    for s in (-0.1, 1.1):
        assert curves.cycloid_lift(s) == pytest.approx((0.0, 0.0, 0.0), abs=1e-15)


@pytest.mark.parametrize("curve", UNIT_CURVES)
def test_an_array_of_phases_gives_the_values_of_single_phases(curve) -> None:  # type: ignore[no-untyped-def]
    phases = np.linspace(-0.5, 1.5, 41)
    together = np.array(curve(phases))
    one_by_one = np.array([curve(float(s)) for s in phases]).T
    np.testing.assert_allclose(together, one_by_one, atol=1e-14)
    assert all(type(part) is float for part in curve(0.3))


@given(st.lists(st.floats(-0.05, 0.05), min_size=4, max_size=4))
def test_no_other_curve_at_rest_at_both_ends_has_less_jerk(bumps: list[float]) -> None:
    s = np.linspace(0.0, 1.0, 20001)
    # Any other curve differs by a function that vanishes with two derivatives at both ends.
    bump = np.polynomial.Polynomial([0, 0, 0, 1]) * np.polynomial.Polynomial([1, -1]) ** 3
    other = bump * np.polynomial.Polynomial(bumps)
    ours = np.polynomial.Polynomial([0, 0, 0, 10, -15, 6])
    np.testing.assert_allclose(ours(s), curves.minimum_jerk(s)[0], atol=1e-14)
    jerk = np.trapezoid(ours.deriv(3)(s) ** 2, s)
    assert np.trapezoid((ours + other).deriv(3)(s) ** 2, s) >= jerk * (1.0 - 1e-6)


@given(states, states, durations)
def test_a_quintic_meets_both_states(start, end, T: float) -> None:  # type: ignore[no-untyped-def]
    curve = Quintic(start, end, T)
    size = max(1.0, T, T * T) / min(1.0, T, T * T)  # effect of rounding of the sums of c_k on the acceleration
    for state, time in ((start, 0.0), (end, T)):
        for part, wanted in zip(curve.sample(time), state, strict=True):
            np.testing.assert_allclose(part, wanted, atol=1e-12 * size)


@given(states, states, durations, phases)
def test_the_rate_of_a_quintic_is_its_derivative(start, end, T: float, s: float) -> None:  # type: ignore[no-untyped-def]
    curve = Quintic(start, end, T)
    time, step = T * (0.1 + 0.8 * s), 0.01 * T
    _, rate, acceleration = curve.sample(time)
    size = 1e-5 * (1.0 + T + T * T)
    np.testing.assert_allclose(derivative(lambda t: curve.sample(t)[0], time, step), rate, atol=size / T)
    np.testing.assert_allclose(derivative(lambda t: curve.sample(t)[1], time, step), acceleration, atol=size / T**2)


@given(states, states, durations, st.integers(0, 1))
def test_a_quintic_is_the_polynomial_that_six_equations_determine(start, end, T: float, i: int) -> None:  # type: ignore[no-untyped-def]
    def row(s: float, order: int) -> list[float]:
        return [math.perm(k, order) * s ** (k - order) if k >= order else 0.0 for k in range(6)]

    matrix = [row(s, order) for s in (0.0, 1.0) for order in range(3)]
    wanted = [state[order][i] * T**order for state in (start, end) for order in range(3)]
    c = np.linalg.solve(matrix, wanted)
    times = np.linspace(0.0, T, 7)
    expected = sum(c[k] * (times / T) ** k for k in range(6))
    np.testing.assert_allclose(Quintic(start, end, T).sample(times)[0][:, i], expected, atol=1e-9 * (1 + T * T))


@given(numbers, numbers, durations, phases)
def test_a_quintic_between_two_rests_is_minimum_jerk(x0: float, x1: float, T: float, s: float) -> None:
    parts = quintic(x0, 0, 0, x1, 0, 0, T).sample(s * T)
    value, first, second = curves.minimum_jerk(s)
    expected = (x0 + (x1 - x0) * value, (x1 - x0) * first / T, (x1 - x0) * second / T**2)
    np.testing.assert_allclose(parts, expected, rtol=1e-9, atol=1e-12 * (1 + 1 / T**2))


@given(states, states, durations, phases)
def test_a_quintic_cut_in_two_is_the_same_curve(start, end, T: float, s: float) -> None:  # type: ignore[no-untyped-def]
    whole = Quintic(start, end, T)
    cut = T * (0.2 + 0.5 * s)
    rest = Quintic(whole.sample(cut), end, T - cut)
    np.testing.assert_allclose(
        rest.sample(0.5 * (T - cut))[0], whole.sample(0.5 * (T + cut))[0], atol=1e-9 * (1 + T * T)
    )


def test_beyond_its_ends_a_quintic_gives_the_sample_of_the_nearer_end() -> None:
    curve = quintic(1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 0.5)
    np.testing.assert_allclose(curve.sample(-1.0), (1.0, 2.0, 3.0))
    np.testing.assert_allclose(curve.sample(9.0), (4.0, 5.0, 6.0))


@pytest.mark.parametrize("shape", [(), (3,), (2, 3)])
def test_a_quintic_has_the_shape_of_its_values(shape: tuple[int, ...]) -> None:
    curve = Quintic((np.zeros(shape), 0.0, 0.0), (np.ones(shape), 0.0, 0.0), 2.0)
    assert [part.shape for part in curve.sample(0.5)] == [shape] * 3
    assert [part.shape for part in curve.sample(np.zeros(7))] == [(7, *shape)] * 3


@pytest.mark.parametrize("T", [0.0, -1.0, math.nan, math.inf])
def test_a_duration_that_is_no_time_is_refused(T: float) -> None:
    with pytest.raises(GeometryError, match=f"{T}.*seconds"):
        quintic(0, 0, 0, 1, 0, 0, T)


def test_parts_that_do_not_belong_together_are_refused() -> None:
    with pytest.raises(GeometryError, match=r"\(2,\)"):
        quintic(np.zeros(2), 0, 0, np.zeros(3), 0, 0, 1.0)
    with pytest.raises(GeometryError, match="value, rate, acceleration"):
        Quintic((0.0, 0.0), (1.0, 0.0, 0.0), 1.0)  # type: ignore[arg-type]


def test_a_quintic_has_a_readable_repr() -> None:
    assert repr(quintic(0, 0, 0, 1, 0, 0, 2)) == "Quintic(from 0.0 to 1.0 in 2 s)"


def test_the_examples_of_the_documentation_hold() -> None:
    assert doctest.testmod(curves).failed == 0
