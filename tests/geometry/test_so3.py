"""Rotations against scipy, group axioms and finite differences."""

import doctest
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from poise.arrays import Array
from poise.errors import GeometryError, PoiseError
from poise.geometry import so3

NEAR_ZERO = [0.0, 5e-324, 1e-310, 1e-200, 1e-20, 1e-12, 1e-8, 1e-5, 1e-3]
NEAR_PI = [math.pi - gap for gap in (1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12, 1e-14)]

axes = (
    st.tuples(*[st.floats(-1.0, 1.0)] * 3)
    .filter(lambda axis: math.hypot(*axis) > 1e-3)
    .map(lambda axis: np.array(axis) / math.hypot(*axis))
)
angles = st.floats(0.0, math.pi - 1e-6) | st.sampled_from(NEAR_ZERO + NEAR_PI)
vectors = st.tuples(*[st.floats(-10.0, 10.0)] * 3).map(np.array)
rotation_vectors = st.builds(lambda axis, angle: angle * axis, axes, angles)
rotations = st.builds(so3.exp, rotation_vectors)


def difference(function, at: float, step: float = 1e-6) -> Array:  # type: ignore[no-untyped-def]
    """Central difference of order four."""
    near = function(at + step) - function(at - step)
    far = function(at + 2 * step) - function(at - 2 * step)
    return (8.0 * near - far) / (12.0 * step)


@given(vectors, vectors)
def test_hat_is_the_matrix_of_the_cross_product(a: Array, b: Array) -> None:
    np.testing.assert_allclose(so3.hat(a) @ b, np.cross(a, b), atol=1e-12)
    assert (so3.hat(a) + so3.hat(a).T == 0.0).all()
    assert (so3.vee(so3.hat(a)) == a).all()


@given(vectors)
def test_exp_is_the_rotation_of_scipy(e: Array) -> None:
    np.testing.assert_allclose(so3.exp(e), Rotation.from_rotvec(e).as_matrix(), atol=4e-15)


@given(axes, angles)
def test_exp_is_the_formula_of_rodrigues(u: Array, angle: float) -> None:
    right = math.cos(angle) * np.eye(3) + math.sin(angle) * so3.hat(u) + (1.0 - math.cos(angle)) * np.outer(u, u)
    np.testing.assert_allclose(so3.exp(angle * u), right, atol=1e-14)


@given(vectors)
def test_exp_gives_a_rotation(e: Array) -> None:
    R = so3.exp(e)
    np.testing.assert_allclose(R @ R.T, np.eye(3), atol=1e-14)
    assert np.linalg.det(R) == pytest.approx(1.0, abs=1e-14)


@given(vectors, st.floats(-2.0, 2.0), st.floats(-2.0, 2.0))
def test_turns_about_one_axis_add_up(e: Array, s: float, t: float) -> None:
    np.testing.assert_allclose(so3.exp(s * e) @ so3.exp(t * e), so3.exp((s + t) * e), atol=1e-13)
    np.testing.assert_allclose(so3.exp(-e), so3.exp(e).T, atol=1e-15)
    assert (so3.exp(0.0 * e) == np.eye(3)).all()


@given(rotations, rotations, rotations)
def test_rotations_form_a_group_in_which_log_names_the_elements(P: Array, Q: Array, R: Array) -> None:
    np.testing.assert_allclose(so3.exp(so3.log(P @ Q @ R)), P @ Q @ R, atol=2e-14)
    np.testing.assert_allclose(so3.log(P @ P.T), np.zeros(3), atol=1e-14)


@given(rotations, rotation_vectors)
def test_a_rotation_vector_transforms_with_its_frame(R: Array, e: Array) -> None:
    np.testing.assert_allclose(R @ so3.exp(e) @ R.T, so3.exp(R @ e), atol=2e-14)


@given(axes, angles)
def test_log_undoes_exp_at_all_angles_up_to_pi(u: Array, angle: float) -> None:
    np.testing.assert_allclose(so3.log(so3.exp(angle * u)), angle * u, atol=5e-15, rtol=0)


@given(axes, st.sampled_from(NEAR_ZERO))
def test_log_keeps_the_relative_accuracy_of_small_angles(u: Array, angle: float) -> None:
    assert np.linalg.norm(so3.log(so3.exp(angle * u)) - angle * u) <= 4e-15 * angle + 1e-323


@given(rotations)
def test_log_is_the_rotation_vector_of_scipy(R: Array) -> None:
    ours, theirs = so3.log(R), Rotation.from_matrix(R).as_rotvec()
    if np.linalg.norm(ours) > math.pi - 1e-7 and ours @ theirs < 0.0:
        theirs = -theirs  # both are right at pi
    np.testing.assert_allclose(ours, theirs, atol=3e-7)  # scipy's own error near pi
    assert np.linalg.norm(ours) <= math.pi + 1e-15


@given(axes)
def test_log_of_half_a_turn_is_the_axis_up_to_its_sign(u: Array) -> None:
    R = 2.0 * np.outer(u, u) - np.eye(3)
    e = so3.log(R)
    assert np.linalg.norm(e) == pytest.approx(math.pi, abs=1e-14)
    assert abs(e @ u) == pytest.approx(math.pi, abs=1e-14)


@pytest.mark.parametrize("axis", np.eye(3))
def test_of_the_two_logs_of_half_a_turn_the_positive_one_is_returned(axis: Array) -> None:
    np.testing.assert_allclose(so3.log(2.0 * np.outer(axis, axis) - np.eye(3)), math.pi * axis, atol=1e-15)


@given(rotations, st.integers(0, 2**32 - 1))
def test_log_tolerates_a_slightly_invalid_rotation_matrix(R: Array, seed: int) -> None:
    noise = 1e-9 * np.random.default_rng(seed).uniform(-1.0, 1.0, (3, 3))
    e = so3.log(R + noise)
    assert np.isfinite(e).all()
    np.testing.assert_allclose(so3.exp(e), R, atol=1e-8)


@given(rotation_vectors, vectors)
def test_the_left_jacobian_turns_rates_into_angular_velocity(e: Array, rate: Array) -> None:
    derivative = difference(lambda t: so3.exp(e + t * rate), 0.0, 1e-4)
    np.testing.assert_allclose(derivative, so3.hat(so3.left_jacobian(e) @ rate) @ so3.exp(e), atol=1e-8)


@given(rotation_vectors, vectors)
def test_the_transpose_of_the_left_jacobian_is_that_of_the_body_frame(e: Array, rate: Array) -> None:
    derivative = difference(lambda t: so3.exp(e + t * rate), 0.0, 1e-4)
    np.testing.assert_allclose(so3.left_jacobian(e).T, so3.left_jacobian(-e), atol=1e-15)
    np.testing.assert_allclose(derivative, so3.exp(e) @ so3.hat(so3.left_jacobian(e).T @ rate), atol=1e-8)


@given(rotation_vectors, vectors)
def test_a_small_change_of_the_vector_is_a_rotation_on_the_left(e: Array, direction: Array) -> None:
    for size in (1e-3, 1e-4):
        change = size * direction / 10.0
        gap = so3.exp(e + change) - so3.exp(so3.left_jacobian(e) @ change) @ so3.exp(e)
        assert np.abs(gap).max() <= 3.0 * size**2


@given(axes, st.floats(1e-3, 6.0))
def test_the_left_jacobian_and_its_inverse_are_the_displayed_sums(u: Array, angle: float) -> None:
    s, c = math.sin(angle) / angle, (1.0 - math.cos(angle)) / angle
    k = 0.5 * angle / math.tan(0.5 * angle)
    uu, hat = np.outer(u, u), so3.hat(u)
    np.testing.assert_allclose(so3.left_jacobian(angle * u), s * np.eye(3) + (1.0 - s) * uu + c * hat, atol=1e-12)
    np.testing.assert_allclose(
        so3.left_jacobian_inverse(angle * u), k * np.eye(3) + (1.0 - k) * uu - 0.5 * angle * hat, atol=1e-11
    )


@given(rotation_vectors)
def test_the_inverse_of_the_left_jacobian_is_its_inverse(e: Array) -> None:
    np.testing.assert_allclose(so3.left_jacobian(e) @ so3.left_jacobian_inverse(e), np.eye(3), atol=1e-14)


@given(axes, st.floats(0.0, 3.0), vectors)
def test_the_inverse_of_the_left_jacobian_gives_the_rate_of_log(u: Array, angle: float, omega: Array) -> None:
    R = so3.exp(angle * u)
    omega = omega / 100.0  # so that the angle stays below pi on the way
    rate = difference(lambda t: so3.log(so3.exp(t * omega) @ R), 0.0, 1e-3)
    np.testing.assert_allclose(rate, so3.left_jacobian_inverse(angle * u) @ omega, atol=1e-9)


@pytest.mark.parametrize("angle", NEAR_ZERO)
def test_the_jacobians_are_accurate_at_small_angles(angle: float) -> None:
    e = np.array([angle, 0.0, 0.0])
    series = np.eye(3) + so3.hat(e) / 2.0 + so3.hat(e) @ so3.hat(e) / 6.0
    inverse = np.eye(3) - so3.hat(e) / 2.0 + so3.hat(e) @ so3.hat(e) / 12.0
    np.testing.assert_allclose(so3.left_jacobian(e), series, atol=1e-3 * angle**3 + 2e-16)
    np.testing.assert_allclose(so3.left_jacobian_inverse(e), inverse, atol=1e-3 * angle**3 + 2e-16)
    if angle > 0.0:
        assert so3.left_jacobian(e)[2, 1] == pytest.approx(0.5 * angle, rel=1e-6, abs=1e-300)


@pytest.mark.parametrize("function", [so3.hat, so3.exp, so3.left_jacobian, so3.left_jacobian_inverse])
def test_an_array_of_vectors_gives_the_values_of_single_vectors(function) -> None:  # type: ignore[no-untyped-def]
    vectors = np.random.default_rng(0).normal(size=(4, 5, 3))
    matrices = function(vectors)
    assert matrices.shape == (4, 5, 3, 3)
    assert (matrices[2, 3] == function(vectors[2, 3])).all()
    assert function(np.zeros((0, 3))).shape == (0, 3, 3)


@pytest.mark.parametrize("function", [so3.vee, so3.log])
def test_an_array_of_matrices_gives_the_values_of_single_matrices(function) -> None:  # type: ignore[no-untyped-def]
    matrices = so3.exp(np.random.default_rng(0).normal(size=(4, 5, 3)))
    vectors = function(matrices)
    assert vectors.shape == (4, 5, 3)
    assert (vectors[2, 3] == function(matrices[2, 3])).all()
    assert function(np.zeros((0, 3, 3))).shape == (0, 3)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("function", [so3.exp, so3.left_jacobian, so3.left_jacobian_inverse])
def test_numbers_that_are_not_finite_give_nan_and_no_error(function, bad: float) -> None:  # type: ignore[no-untyped-def]
    assert np.isnan(function([0.0, bad, 1.0])).all()
    assert not np.isfinite(so3.log(np.full((3, 3), bad))).any()


@pytest.mark.parametrize("shape", [(), (2,), (4,), (3, 2), (3, 1)])
def test_a_wrong_shape_is_refused_and_shown(shape: tuple[int, ...]) -> None:
    for function in (so3.exp, so3.log):
        with pytest.raises(GeometryError) as caught:
            function(np.zeros(shape))
        assert str(shape) in str(caught.value)
        assert isinstance(caught.value, PoiseError)


@given(st.floats(-100.0, 100.0))
def test_a_yaw_is_a_turn_about_the_vertical_and_is_read_back_without_whole_turns(yaw: float) -> None:
    R, inside = so3.yaw_matrix(yaw), so3.wrap_angle(yaw)
    assert pytest.approx(Rotation.from_euler("z", yaw).as_matrix(), abs=1e-14) == R
    assert -math.pi <= inside <= math.pi
    assert pytest.approx(complex(math.cos(yaw), math.sin(yaw)), abs=1e-12) == complex(
        math.cos(inside), math.sin(inside)
    )
    assert so3.wrap_angle(so3.yaw_of(R) - yaw) == pytest.approx(0.0, abs=1e-12)


@given(st.floats(-3.0, 3.0), st.floats(-1.5, 1.5), st.floats(-3.0, 3.0))
def test_the_yaw_of_a_tilted_frame_is_where_its_x_axis_points_from_above(yaw: float, pitch: float, roll: float) -> None:
    R = Rotation.from_euler("ZYX", [yaw, pitch, roll]).as_matrix()
    assert so3.yaw_of(R) == pytest.approx(yaw, abs=1e-9)


def test_the_examples_of_the_documentation_hold() -> None:
    assert doctest.testmod(so3).failed == 0
