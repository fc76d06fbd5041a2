"""Center-of-mass path of a segment: one time constant, exact initial state, relaxed final conditions."""

from __future__ import annotations

import numpy as np
import pytest

from poise.plans.segment.center_path import CenterPath, RelaxationWeights, linear_maps

OMEGA = 6.0
START = np.array([[0.01, -0.02, 0.27], [0.05, 0.1, -0.02]])
GOAL = np.array([0.04, 0.02, 0.26])


def path(relaxation: RelaxationWeights | None = None) -> CenterPath:
    maps = linear_maps((0.15, 0.25, 0.15), (False, True, False), OMEGA, relaxation or RelaxationWeights())
    middle = np.tile([0.02, 0.04, 0.27], (len(maps.knots), 1))
    return CenterPath.least_relaxation(maps, OMEGA, START, GOAL, middle, START[0])


def test_it_begins_exactly_where_and_as_fast_as_it_must() -> None:
    p, v, _ = path().at(0.0)
    assert np.allclose(p, START[0], atol=1e-14)
    assert np.allclose(v, START[1], atol=1e-13)


def test_it_satisfies_its_equation_of_motion_in_all_three_dimensions() -> None:
    found, h = path(), 1e-4
    for time in np.linspace(0.01, 0.54, 23):
        p, v, a = found.at(time)
        before, after = found.at(time - h), found.at(time + h)
        assert np.allclose((after[0] - before[0]) / (2 * h), v, atol=1e-6)
        k = min(int(np.searchsorted(found.maps.knots, time)) - 1, len(found.u) - 2)
        share = (time - found.maps.knots[k]) / (found.maps.knots[k + 1] - found.maps.knots[k])
        u = found.u[k] + share * (found.u[k + 1] - found.u[k])
        assert np.allclose(a, OMEGA**2 * (p - u), atol=1e-9)
        assert np.allclose((after[1] - before[1]) / (2 * h), a, atol=2e-2)  # u has kinks


def test_its_samples_are_its_closed_form() -> None:
    found = path()
    p, a, _ = found.samples()
    for i, time in enumerate(found.maps.times):
        there = found.at(float(time))
        assert np.allclose(p[i], there[0], atol=1e-12)
        assert np.allclose(a[i], there[2], atol=1e-9)
    assert np.allclose(found.end, found.at(10.0)[:2])


def test_the_knots_are_the_least_squares_of_the_severities() -> None:
    """The gain against numpy's own least squares of the same residuals."""
    relaxation = RelaxationWeights()
    found = path(relaxation)
    maps, K = found.maps, len(found.u)
    ends = np.array(
        [maps.knot_place[-1] + maps.knot_speed[-1] / OMEGA, maps.knot_place[-1] - maps.knot_speed[-1] / OMEGA]
    )
    bends = np.diff(np.eye(K), 2, axis=0)
    for axis in range(3):
        weights = np.full(K, relaxation.double)
        if axis < 2:
            weights[3:7] = relaxation.single
        A = np.vstack([ends[:, 2:], np.eye(K), np.eye(K)[:1], bends])
        b = np.concatenate(
            [
                GOAL[axis] - ends[:, :2] @ START[:, axis],
                np.tile([0.02, 0.04, 0.27], (K, 1))[:, axis],
                [START[0, axis]],
                np.zeros(K - 2),
            ]
        )
        w = np.sqrt(
            np.concatenate(
                [
                    [relaxation.divergent, relaxation.convergent],
                    weights,
                    [relaxation.before],
                    np.full(K - 2, relaxation.smooth),
                ]
            )
        )
        u = np.linalg.lstsq(w[:, None] * A, w * b, rcond=None)[0]
        assert np.allclose(found.u[:, axis], u, atol=1e-8)


def test_the_dcm_arrives_before_the_convergent_component() -> None:
    found = path()
    p, v = found.end
    assert np.linalg.norm(p + v / OMEGA - GOAL) < 0.002
    assert np.linalg.norm(found.dcm_at_end - (p + v / OMEGA)) < 1e-12


def test_a_rising_body_keeps_the_same_time_constant() -> None:
    """Symmetric: x for a goal in x equals y for the same goal in y."""
    maps = linear_maps((0.5,), (False,), OMEGA, RelaxationWeights())
    still = np.zeros((2, 3))
    x = CenterPath.least_relaxation(
        maps, OMEGA, still, np.array([0.03, 0.0, 0.0]), np.zeros((len(maps.knots), 3)), np.zeros(3)
    )
    z = CenterPath.least_relaxation(
        maps, OMEGA, still, np.array([0.0, 0.0, 0.03]), np.zeros((len(maps.knots), 3)), np.zeros(3)
    )
    assert np.allclose(x.u[:, 0], z.u[:, 2])


@pytest.mark.parametrize("array", ["place", "gain"])
def test_the_maps_that_are_remembered_cannot_be_written(array: str) -> None:
    maps = linear_maps((0.5,), (False,), OMEGA, RelaxationWeights())
    with pytest.raises(ValueError, match="read-only"):
        getattr(maps, array)[0, 0] = 1.0


@pytest.mark.parametrize("seconds", [0.3, 1.0, 3.0])
def test_a_long_segment_is_as_exact_as_a_short_one(seconds: float) -> None:
    """e^{ωT} is 6e7 in three seconds."""
    maps = linear_maps(
        (0.3 * seconds, 0.45 * seconds, 0.25 * seconds), (False, True, False), OMEGA, RelaxationWeights()
    )
    middle = np.tile([0.02, 0.04, 0.27], (len(maps.knots), 1))
    found = CenterPath.least_relaxation(maps, OMEGA, np.array([START[0], np.zeros(3)]), GOAL, middle, START[0])
    p, a, _ = found.samples()
    assert np.linalg.norm(found.dcm_at_end - GOAL) < 0.001
    assert np.abs(p).max() < 0.35
    h = maps.times[1]
    assert np.allclose(np.diff(p, 2, axis=0)[:, 2] / h**2, a[1:-1, 2], atol=0.02)
