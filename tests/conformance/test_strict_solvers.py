"""Every strict solver agrees with an exhaustive search and respects the definition of a Program."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from brute_force_slack import exhaustive_slack
from poise.campaign.kinds.solver_programs import SMALL_PROGRAM_KINDS, small_program
from poise.errors import SolverError
from poise.solvers import EQUALITY, INSIDE, LOWER, UPPER, Cascade, Lexicographic, Program, Rows

Strict = Callable[..., Any]


@pytest.fixture(params=[Cascade, Lexicographic], ids=["cascade", "lexicographic"])
def strict(request: pytest.FixtureRequest) -> Strict:
    return request.param


@pytest.mark.parametrize("kind", SMALL_PROGRAM_KINDS)
def test_the_slack_of_every_level_is_that_of_brute_force(strict: Strict, kind: str) -> None:
    worst = []
    for seed in range(120):
        program = small_program(kind, seed)
        solution = strict().solve(program)
        brute = np.concatenate([*exhaustive_slack(program), np.zeros(0)])
        size = np.maximum(np.linalg.norm(program.A, axis=1), 1e-12)
        difference = np.abs(brute - program.slack(solution.x)) / size
        worst.append(difference[program.weight > 0.0].max(initial=0.0))
        assert solution.status == "optimal", seed
    # Brute force, with its explicit projectors, is the less accurate of the two when rows are nearly parallel.
    assert max(worst) < (1e-7 if kind == "scaled" else 1e-8), int(np.argmax(worst))
    assert np.quantile(worst, 0.9) < 1e-10


def test_a_conflict_inside_a_level_is_resolved_by_least_squares_of_the_unscaled_rows(strict: Strict) -> None:
    # x = 1 and 2 x = 0: minimize (x - 1)^2 + (2 x)^2.
    assert strict().solve(Program([Rows([[1.0], [2.0]], [1, 0], [1, 0])])).x == pytest.approx([0.2], abs=1e-14)


def test_weights_shift_a_conflict(strict: Strict) -> None:
    rows = Rows([[1.0], [1.0]], [0, 1], [0, 1], weight=[1, 3])
    assert strict().solve(Program([rows])).x == pytest.approx([0.75], abs=1e-14)


def test_a_row_of_weight_zero_is_ignored(strict: Strict) -> None:
    rows = Rows([[1.0, 0.0], [0.0, 1.0]], [1, 5], [1, 5], weight=[1, 0])
    solution = strict().solve(Program([rows, Rows([0.0, 1.0], 2, 2)]))
    assert solution.x == pytest.approx([1.0, 2.0])
    assert solution.active[0].tolist() == [EQUALITY, INSIDE]


def test_inequalities_below_equalities_are_honoured_and_yield(strict: Strict) -> None:
    program = Program([Rows([1.0, 1.0], 2, 2), Rows.bounds([-9, -9], [0.5, 0.5]), Rows([1.0, -1.0], 0.4, 0.4)])
    solution = strict().solve(program)
    assert solution.x == pytest.approx([1.0, 1.0])  # both bounds are violated by the same amount
    assert solution.slack[1] == pytest.approx([0.5, 0.5])
    assert solution.slack[2] == pytest.approx([-0.4])


def test_the_remaining_freedom_minimises_the_norm_of_x(strict: Strict) -> None:
    solution = strict().solve(Program([Rows([1.0, 1.0, 0.0], 2, 5), Rows([0.0, 0.0, 1.0], -np.inf, -1)]))
    assert solution.x == pytest.approx([1.0, 1.0, -1.0])


@pytest.mark.parametrize("seed", range(30))
def test_a_lower_level_never_changes_the_slack_of_a_higher_one(strict: Strict, seed: int) -> None:
    program = small_program("plain", seed)
    rng = np.random.default_rng(seed)
    b = rng.standard_normal(3)
    more = Rows(rng.standard_normal((3, program.variables)), b, b + np.eye(3)[2])
    before = strict().solve(program)
    after = strict().solve(Program([*program.levels, more]))
    for one, other in zip(before.slack, after.slack[:-1], strict=True):
        assert one == pytest.approx(other, abs=1e-10)


@pytest.mark.parametrize("seed", range(30))
def test_scaling_a_whole_level_changes_only_its_own_slack(strict: Strict, seed: int) -> None:
    program = small_program("plain", seed)
    scaled = [
        [Rows(100 * rows.A, 100 * rows.lower, 100 * rows.upper) for rows in level] if k == 1 else level
        for k, level in enumerate(program.levels)
    ]
    one, other = strict().solve(program), strict().solve(Program(scaled, variables=program.variables))
    assert one.x == pytest.approx(other.x, abs=1e-10)


@pytest.mark.parametrize("seed", range(30))
def test_the_order_of_rows_within_a_level_is_irrelevant(strict: Strict, seed: int) -> None:
    program = small_program("plain", seed)
    rng = np.random.default_rng(seed)
    shuffled = []
    for level in program.levels:
        for rows in level:
            order = rng.permutation(len(rows))
            shuffled.append(Rows(rows.A[order], rows.lower[order], rows.upper[order]))
        if not level:
            shuffled.append([])  # type: ignore[arg-type]
    other = strict().solve(Program(shuffled, variables=program.variables))
    assert strict().solve(program).x == pytest.approx(other.x, abs=1e-10)


@pytest.mark.parametrize("damping", [0.3, [0.3, 0.0, 0.1]])
def test_a_damped_level_minimises_its_cost_plus_the_damped_length_of_x(
    strict: Strict, damping: float | list[float]
) -> None:
    rng = np.random.default_rng(4)
    A, b = rng.standard_normal((3, 5)), rng.standard_normal(3)
    d = damping if isinstance(damping, float) else damping[0]
    expected = np.linalg.solve(A.T @ A + d**2 * np.eye(5), A.T @ b)
    solution = strict(damping=damping).solve(Program([Rows(A, b, b), Rows([0.0] * 5, 0, 0), []]))
    assert solution.x == pytest.approx(expected, abs=1e-12)


def test_after_a_damped_level_its_values_are_fixed_but_not_x(strict: Strict) -> None:
    rows, rest = Rows([1.0, 0.0], 1, 1), Rows([0.0, 1.0], 7, 7)
    solution = strict(damping=[1.0]).solve(Program([rows, rest]))
    assert solution.x == pytest.approx([0.5, 7.0])


def test_damping_bounds_x_near_a_singularity(strict: Strict) -> None:
    rows = Rows([[1.0, 0.0], [1.0, 1e-6]], [0, 1], [0, 1])
    assert np.linalg.norm(strict().solve(Program([rows])).x) > 1e5
    assert np.linalg.norm(strict(damping=1e-2).solve(Program([rows])).x) < 1.0


def test_the_sides_name_the_bound_that_a_row_is_at_or_beyond(strict: Strict) -> None:
    rows = Rows(np.eye(5), [0, -1, 2, 1, -1], [1, 0, 3, 1, 1])
    pushed = Rows(np.eye(5), [5, -5, 0, 0, 0], [5, -5, 0, 0, 0])
    solution = strict().solve(Program([rows, pushed]))
    assert solution.active[0].tolist() == [UPPER, LOWER, LOWER, EQUALITY, INSIDE]
    assert (solution.active[1] == EQUALITY).all()
    beyond = strict().solve(Program([Rows([1.0], 0, 0), Rows([1.0], 1, 2)]))
    assert beyond.active[1].tolist() == [LOWER]


ODD = {
    "nothing at all": Program([]),
    "only empty levels": Program([[], []], variables=3),
    "no variables": Program([Rows(np.zeros((2, 0)), [1, -1], [2, 3])]),
    "rows of zeros": Program([Rows(np.zeros((2, 3)), 1, 1), Rows(np.eye(3), 1, 2)]),
    "no bounds": Program([Rows(np.eye(3), -np.inf, np.inf), Rows(np.eye(3), -1e20, 1e25)]),
    "contradictions": Program([Rows(np.ones((4, 2)), [0, 1, 2, 3], [0, 1, 2, 3]), Rows(np.ones((2, 2)), 9, 9)]),
    "opposed inequalities": Program([Rows([[1.0], [1.0]], [1, -np.inf], [np.inf, 0])]),
    "entries of any size": Program([Rows([[1e200, 1.0]], 1, 1), Rows([[1.0, 1e-200]], 5, 6)]),
    "tiny entries": Program([Rows([[1e-310, 0.0]], 1, 1), Rows([[1.0, 1.0]], 5, 6)]),
    "numbers that overflow": Program([Rows([[1e300] * 2], 1e19, 1e19), Rows([[1e-300, -1e-300]], 1e19, 2e19)]),
    "huge weights": Program([Rows([1.0, 1.0], 1, 1, weight=1e300), Rows([1e300, 1.0], 1, 1, weight=1e300)]),
    "almost parallel": Program([Rows([[1.0, 1.0], [1.0, 1.0 + 1e-15]], [1, 2], [1, 2])]),
    "more rows than variables": Program([Rows(np.vander(np.linspace(0, 1, 30), 4), -0.1, 0.1), Rows(np.eye(4), 1, 1)]),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("damping", [0.0, 0.1])
def test_degenerate_programs_have_finite_answers(strict: Strict, name: str, damping: float) -> None:
    program = ODD[name]
    solution = strict(damping=damping).solve(program)
    assert solution.x.shape == (program.variables,)
    assert solution.sides.shape == (program.rows,)
    assert np.isfinite(solution.x).all()


def test_rows_that_do_not_depend_on_x_leave_the_others_alone(strict: Strict) -> None:
    assert strict().solve(ODD["rows of zeros"]).x == pytest.approx([1, 1, 1])


@pytest.mark.parametrize("damping", [-1.0, np.nan, [0.1, np.inf], "much"])
def test_a_damping_that_is_no_damping_is_refused(strict: Strict, damping: object) -> None:
    with pytest.raises(SolverError, match="damping"):
        strict(damping=damping)
