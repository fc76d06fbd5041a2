"""certificate: it accepts optimal points and rejects all others."""

from __future__ import annotations

import numpy as np
import pytest

from poise.campaign.kinds.solver_programs import small_program
from poise.solvers import Cascade, Program, Rows, certificate


@pytest.mark.parametrize("seed", range(40))
def test_an_optimum_has_no_residual_and_a_point_beside_it_has_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 12))
    b = rng.standard_normal(n + 1)
    program = Program([Rows.bounds([-0.5] * n, [0.5] * n), Rows(rng.standard_normal((n + 1, n)), b, b)])
    x = Cascade().solve(program).x
    assert certificate(program, x).residual <= 1e-10
    beside = x + 1e-4 * rng.standard_normal(n)
    assert certificate(program, beside).residual > 1e-6


def test_a_point_that_serves_the_second_level_at_the_cost_of_the_first_is_refused() -> None:
    program = Program([Rows([1.0, 0.0], 0, 0), Rows([1.0, 0.0], 1, 1)])
    assert certificate(program, np.array([0.0, 0.0])).residual == 0.0
    assert certificate(program, np.array([0.5, 0.0])).levels[0] > 0.1


def test_a_feasible_point_that_does_not_serve_the_second_level_is_refused() -> None:
    program = Program([Rows([1.0], 0, 1), Rows([1.0], 5, 5)])
    assert certificate(program, np.array([1.0])).residual == 0.0
    assert certificate(program, np.array([0.7])).levels[1] > 0.1
    assert certificate(program, np.array([0.0])).levels[1] > 0.1  # at the wrong bound


def test_a_point_longer_than_needed_is_refused() -> None:
    program = Program([Rows([1.0, 0.0], 1, 2)])
    assert certificate(program, np.array([1.0, 0.0])).residual == 0.0
    assert certificate(program, np.array([1.5, 0.0])).least_norm > 0.1
    assert certificate(program, np.array([1.0, 0.1])).least_norm > 0.01


def test_a_violated_row_of_a_higher_level_must_not_move_for_a_lower_one() -> None:
    # Level 0 fixes x = 0.5 between two contradictory rows; the target of level 1 is x = 0.
    program = Program([Rows([[1.0], [1.0]], [0, 1], [0, 1]), Rows([1.0], 0, 0)])
    assert certificate(program, np.array([0.5])).residual <= 1e-15
    assert certificate(program, np.array([0.4])).levels[0] > 1e-2


@pytest.mark.parametrize("seed", range(20))
def test_the_multipliers_balance_the_forces_of_each_level(seed: int) -> None:
    program = small_program("plain", seed)
    proof = certificate(program, Cascade().solve(program))
    unit = program.A / np.maximum(np.linalg.norm(program.A, axis=1), 1e-300)[:, None]
    for multipliers in proof.multipliers:
        assert np.linalg.norm(unit.T @ multipliers) <= 1e-8
