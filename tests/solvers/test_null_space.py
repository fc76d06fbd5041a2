"""NullSpace against the reference solver and against its recursion."""

from typing import Any

import numpy as np
import pytest

from poise.arrays import Array
from poise.errors import SolverError
from poise.solvers import Cascade, NullSpace, Program, Rows

KINDS = ["plain", "duplicated", "contradictory", "rank deficient", "from above", "weighted", "scaled"]


def equalities(kind: str, seed: int) -> Program:
    rng = np.random.default_rng([KINDS.index(kind), seed])
    n = int(rng.integers(1, 12))
    levels: list[Any] = []
    above = np.zeros((0, n))
    for _ in range(int(rng.integers(1, 5))):
        m = int(rng.integers(0, 5))
        A, b, weight = rng.standard_normal((m, n)), rng.standard_normal(m), np.ones(m)
        if kind in ("duplicated", "contradictory") and m > 1:
            A[-1] = A[0]
            b[-1] = b[0] + (kind == "contradictory")
        elif kind == "rank deficient" and m > 1:
            A = rng.standard_normal((m, m - 1)) @ rng.standard_normal((m - 1, n))
        elif kind == "from above" and len(above) and m:
            A[0] = rng.standard_normal(len(above)) @ above
        elif kind == "weighted":
            weight = rng.choice([0.0, 0.2, 1.0, 5.0], m)
        elif kind == "scaled" and m:
            scale = 10.0 ** rng.uniform(-3, 3)
            A, b = scale * A, scale * b
        above = np.vstack([above, A])
        levels.append(Rows(A, b, b, weight) if m else [])
    return Program(levels, variables=n)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("damping", [0.0, 0.2, [0.0, 0.5]])
def test_on_equalities_it_agrees_with_the_reference(kind: str, damping: float | list[float]) -> None:
    compared = 0
    for seed in range(40):
        program = equalities(kind, seed)
        one, other = NullSpace(damping).solve(program), Cascade(damping).solve(program)
        size = 1.0 + np.abs(other.x).max(initial=0.0)
        if size > 1e3:  # nearly singular by chance
            continue
        compared += 1
        assert np.abs(one.x - other.x).max(initial=0.0) < 1e-9 * size, seed
        assert one.status == other.status == "optimal"
        assert (one.sides == other.sides).all()
    assert compared >= 30


def recursion(program: Program) -> Array:
    """The two displayed equations."""
    x, N = np.zeros(program.variables), np.eye(program.variables)
    for k in range(len(program)):
        root = np.sqrt(program.weight[program.slice(k)])
        A, b = root[:, None] * program.A[program.slice(k)], root * program.lower[program.slice(k)]
        inverse = np.linalg.pinv(A @ N, rcond=1e-10)
        x, N = x + inverse @ (b - A @ x), N - inverse @ (A @ N)
    return x


@pytest.mark.parametrize("seed", range(20))
def test_it_evaluates_the_recursion_of_siciliano_and_slotine(seed: int) -> None:
    rng = np.random.default_rng(seed)
    levels = []
    for m in (2, 3, 2):  # 7 rows on 9 variables: independent
        b = rng.standard_normal(m)
        levels.append(Rows(rng.standard_normal((m, 9)), b, b, rng.uniform(0.5, 2.0, m)))
    program = Program(levels)
    assert NullSpace().solve(program).x == pytest.approx(recursion(program), abs=1e-9)


def test_a_lower_level_acts_in_the_null_space_of_the_higher_ones() -> None:
    rng = np.random.default_rng(0)
    A, B = rng.standard_normal((2, 6)), rng.standard_normal((3, 6))
    high = Rows(A, 1.0, 1.0)
    one = NullSpace().solve(Program([high]))
    other = NullSpace().solve(Program([high, Rows(B, 5.0, 5.0)]))
    assert A @ one.x == pytest.approx(A @ other.x, abs=1e-12)
    assert B @ other.x == pytest.approx([5.0] * 3)


def test_inequalities_are_ignored_with_a_status() -> None:
    program = Program([Rows.bounds([-1, -1], [1, 1]), Rows([1.0, 0.0], 3, 3)])
    solution = NullSpace().solve(program)
    assert not NullSpace.accepts(program)
    assert solution.status == "relaxed"
    assert solution.x == pytest.approx([3.0, 0.0])
    assert solution.slack[0] == pytest.approx([2.0, 0.0])


def test_it_accepts_programs_whose_inequalities_do_not_matter() -> None:
    free, off = Rows(np.eye(2), -np.inf, 1e20), Rows(np.eye(2), 0, 1, weight=0)
    program = Program([free, off, Rows([1.0, 1.0], 2, 2)])
    assert NullSpace.accepts(program)
    assert NullSpace().solve(program).status == "optimal"
    assert NullSpace.accepts(Program([]))


def test_near_a_singularity_damping_keeps_x_short() -> None:
    rows = Rows([[1.0, 0.0], [1.0, 1e-5]], [0, 1], [0, 1])
    assert np.linalg.norm(NullSpace().solve(Program([rows])).x) > 1e4
    assert np.linalg.norm(NullSpace(damping=1e-2).solve(Program([rows])).x) < 1.0


def test_directions_below_the_rank_tolerance_are_not_used() -> None:
    rows = Rows([[1.0, 0.0], [1.0, 1e-11]], [0, 1], [0, 1])
    assert NullSpace().solve(Program([rows])).x == pytest.approx([0.5, 0.0], abs=1e-9)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "program",
    [
        Program([]),
        Program([[]], variables=2),
        Program([Rows(np.zeros((2, 2)), 1, 1)]),
        Program([Rows(np.zeros((2, 0)), 1, 1)]),
        Program([Rows([[1e300, 1.0]], 1e19, 1e19), Rows([[1e-300, 1e-300]], 1e19, 1e19)]),
        Program([Rows([[1e-310, 0.0]], 1, 1)]),
    ],
)
def test_degenerate_programs_have_finite_answers(program: Program) -> None:
    solution = NullSpace().solve(program)
    assert solution.x.shape == (program.variables,)
    assert np.isfinite(solution.x).all()


def test_a_damping_that_is_no_damping_is_refused() -> None:
    with pytest.raises(SolverError, match="damping"):
        NullSpace(damping=-0.1)
