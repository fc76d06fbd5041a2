"""Degenerate programs, with more active rows than unknowns: higher levels stay optimal.

A row of a level may hold only because bounds of higher levels do. If a lower level leaves these bounds, nothing else
must let go of the row.
"""

import numpy as np
import pytest

from poise.solvers import Cascade, Lexicographic, Program, Rows

UP_TO_ONE = Rows.bounds([-5, -5], [1, 1], name="box")


def program_with_sum(value: float) -> Program:
    """Both unknowns at most one, their sum at a value, then both at zero."""
    return Program([UP_TO_ONE, Rows([[1.0, 1.0]], value, value, name="sum"), Rows(np.eye(2), 0, 0, name="rest")])


def test_a_sum_fixed_by_two_bounds_is_not_traded_for_a_step_away_from_them() -> None:
    solver = Lexicographic()
    assert solver.solve(program_with_sum(3.0)).x == pytest.approx([1, 1])  # the solver now expects both bounds to hold
    assert solver.solve(program_with_sum(2.0)).x == pytest.approx([1, 1])


def test_two_bounds_that_fix_a_difference_can_be_left_together() -> None:
    solver = Lexicographic()
    far, together = Rows([[1.0, 1.0]], 3, 3), Rows([[1.0, -1.0]], 0, 0)
    rest = Rows(np.eye(2), 0, 0, weight=[1.0, 2.0])
    assert solver.solve(Program([UP_TO_ONE, far, rest])).x == pytest.approx([1, 1])
    assert solver.solve(Program([UP_TO_ONE, together, rest])).x == pytest.approx([0, 0], abs=1e-12)


def whole_numbers(random: np.random.Generator, variables: int, rows: list[int]) -> Program:
    """Entries and bounds are small integers, so that many rows intersect; equalities and inequalities."""
    levels = []
    for m in rows:
        A, b = random.integers(-1, 2, (m, variables)).astype(float), random.integers(-2, 3, m).astype(float)
        kind = random.integers(0, 3, m)
        levels.append(Rows(A, np.where(kind == 1, -np.inf, b), np.where(kind == 2, np.inf, b)))
    return Program([Rows.bounds(-np.ones(variables), np.ones(variables)), *levels])


@pytest.mark.parametrize("seed", range(60))
def test_programs_of_whole_numbers_have_the_costs_of_the_reference(seed: int) -> None:
    """With cold and warm starts: the active set of the previous program makes no difference."""
    random = np.random.default_rng(seed)
    variables = int(random.integers(2, 7))
    rows = [int(random.integers(1, 4)) for _ in range(int(random.integers(2, 5)))]
    solver = Lexicographic()
    for _ in range(6):
        program = whole_numbers(random, variables, rows)
        expected = program.costs(Cascade().solve(program).x)
        for answer in (Lexicographic().solve(program), solver.solve(program)):
            assert program.costs(answer.x) == pytest.approx(expected, rel=1e-6, abs=1e-6)
