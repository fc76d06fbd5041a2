"""Sole pressure: total force and ZMP of four cells, for any readings."""

import numpy as np
import pytest

from poise.robots import Foot
from poise.state import sole_pressure
from robot_states import installed_robot

FEET = pytest.mark.parametrize(
    "foot", [*installed_robot("g1").feet, *installed_robot("hoap3").feet], ids=lambda f: f.robot_name + f.side
)


def forces(seed: int, count: int = 1) -> np.ndarray:
    """Forces of four cells at some samples (N)."""
    return np.random.default_rng(seed).uniform(0.5, 40.0, (count, 4))


@FEET
@pytest.mark.parametrize("seed", range(3))
def test_the_zmp_is_where_the_forces_have_no_moment_about_the_axes_of_the_sole(foot: Foot, seed: int) -> None:
    """A = Σ f_i and ZMP = Σ f_i r_i / A: one force A there has the moment of all four."""
    (cells,) = forces(seed)
    amplitude, zmp = sole_pressure(foot, cells)
    r = foot.corners - foot.sole.center
    up = np.array([0.0, 0.0, 1.0])
    moment = sum(np.cross(r[i], cells[i] * up) for i in range(4))
    assert amplitude == pytest.approx(cells.sum())
    assert np.cross(np.append(zmp, 0.0), amplitude * up) == pytest.approx(moment)


@FEET
def test_it_is_the_middle_under_equal_cells_and_the_corner_under_one(foot: Foot) -> None:
    assert sole_pressure(foot, np.full(4, 7.0))[1] == pytest.approx([0.0, 0.0], abs=1e-12)
    for i, one in enumerate(np.eye(4)):
        amplitude, zmp = sole_pressure(foot, 12.0 * one)
        assert amplitude == pytest.approx(12.0)
        assert zmp == pytest.approx((foot.corners[i] - foot.sole.center)[:2])


@FEET
def test_the_front_cells_pull_it_forward_and_the_left_ones_to_the_left(foot: Foot) -> None:
    """Cells are front left, back left, back right, front right."""
    x, y = sole_pressure(foot, [3.0, 1.0, 1.0, 3.0])[1]
    assert (x > 0.0, y) == (True, pytest.approx(0.0, abs=1e-12))
    x, y = sole_pressure(foot, [3.0, 3.0, 1.0, 1.0])[1]
    assert (x, y > 0.0) == (pytest.approx(0.0, abs=1e-12), True)


@FEET
def test_an_array_of_samples_gives_the_values_of_single_samples(foot: Foot) -> None:
    cells = forces(5, 20)
    amplitude, zmp = sole_pressure(foot, cells)
    assert (amplitude.shape, zmp.shape) == ((20,), (20, 2))
    for k, row in enumerate(cells):
        one, where = sole_pressure(foot, row)
        assert amplitude[k] == pytest.approx(one)
        assert zmp[k] == pytest.approx(where)
    empty = sole_pressure(foot, np.zeros((0, 4)))
    assert (empty[0].shape, empty[1].shape) == ((0,), (0, 2))


@FEET
@pytest.mark.parametrize("nothing", [0.0, -3.0, np.nan, np.inf, -np.inf])
def test_without_load_it_is_the_middle(foot: Foot, nothing: float) -> None:
    amplitude, zmp = sole_pressure(foot, np.full(4, nothing))
    assert amplitude == 0.0
    assert zmp.tolist() == [0.0, 0.0]


@FEET
@pytest.mark.parametrize("dead", [-5.0, np.nan, np.inf])
@pytest.mark.parametrize("which", range(4))
def test_a_negative_or_invalid_cell_counts_as_zero(foot: Foot, dead: float, which: int) -> None:
    cells = forces(which, 3)
    silent = cells.copy()
    cells[1, which], silent[1, which] = dead, 0.0
    copy = cells.copy()
    for one, other in zip(sole_pressure(foot, cells), sole_pressure(foot, silent), strict=True):
        assert np.isfinite(one).all()
        assert one == pytest.approx(other)
    assert np.array_equal(cells, copy, equal_nan=True), "the argument is not changed"


@FEET
@pytest.mark.parametrize("seed", range(3))
def test_it_never_leaves_the_sole(foot: Foot, seed: int) -> None:
    cells = np.random.default_rng(seed).normal(2.0, 10.0, (200, 4))
    zmp = sole_pressure(foot, cells)[1]
    half = (foot.corners[0] - foot.sole.center)[:2]
    assert (np.abs(zmp) <= half + 1e-12).all()
