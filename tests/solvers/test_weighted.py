"""Weighted against quadprog and against the reference solver."""

import numpy as np
import pytest

from poise.arrays import Array
from poise.errors import SolverError
from poise.solvers import UNBOUNDED, UPPER, Cascade, Program, Rows, Weighted
from poise.solvers.weighted import REGULARIZATION, RELAXED_WEIGHT


def feasible_program(seed: int, levels: int = 3, scale: float = 0.0) -> Program:
    """Level 0 has compatible bounds, inequalities and an equality; the levels below are random."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 10))
    x = rng.standard_normal(n)
    G, E = rng.standard_normal((4, n)), rng.standard_normal((1, n))
    always = [
        Rows.bounds(x - rng.uniform(0.1, 1.0, n), x + rng.uniform(0.1, 1.0, n)),
        Rows(G, G @ x - rng.uniform(0.1, 1.0, 4), np.inf),
        Rows(E, E @ x, E @ x),
    ]
    below = []
    for _ in range(levels - 1):
        m = int(rng.integers(1, 4))
        A = rng.standard_normal((m, n)) * 10.0 ** rng.uniform(-scale, scale, (m, 1))
        b = rng.standard_normal(m) * np.linalg.norm(A, axis=1)
        below.append(Rows(A, b, b + np.linalg.norm(A, axis=1) * rng.choice([0.0, 0.5], m), rng.uniform(0.5, 2.0, m)))
    return Program([always, *below])


def cost(program: Program, weights: Array, x: Array) -> float:
    return float(weights[1:] @ program.costs(x)[1:])


def as_two_levels(program: Program, weights: Array, hard: bool) -> tuple[Program, list[float]]:
    """The same program for the reference: level 0, then one level with all weights, damped like Weighted."""
    soft = [
        Rows(rows.A, rows.lower, rows.upper, weights[k] * rows.weight)
        for k, level in enumerate(program.levels)
        for rows in level
        if k or not hard
    ]
    heaviest = max(float((rows.weight * (rows.A**2).sum(axis=1)).max(initial=0.0)) for rows in soft)
    first = list(program.levels[0]) if hard else []
    return Program([first, soft], variables=program.variables), [0.0, float(np.sqrt(REGULARIZATION * heaviest))]


@pytest.mark.parametrize("seed", range(40))
def test_it_agrees_with_quadprog(seed: int) -> None:
    quadprog = pytest.importorskip("quadprog")
    program = feasible_program(seed)
    solver = Weighted()
    solution = solver.solve(program)
    n, weights = program.variables, solver.level_weights(len(program))
    two, damping = as_two_levels(program, weights, hard=True)
    # Unknowns (x, s): one slack for each row below level 0, squared in the cost.
    soft = two.slice(1)
    m = soft.stop - soft.start
    H = np.diag(np.append(np.full(n, damping[1] ** 2), two.weight[soft]))
    first = two.slice(0)
    A = np.block([[two.A[first], np.zeros((first.stop, m))], [two.A[soft], -np.eye(m)]])
    equal = two.lower == two.upper
    low, high = ~equal & (two.lower > -UNBOUNDED), ~equal & (two.upper < UNBOUNDED)
    C = np.vstack([A[equal], A[low], -A[high]])
    b = np.concatenate([two.lower[equal], two.lower[low], -two.upper[high]])
    expected = quadprog.solve_qp(H, np.zeros(n + m), C.T, b, int(equal.sum()))[0][:n]
    assert solution.status == "optimal"
    assert cost(program, weights, solution.x) == pytest.approx(cost(program, weights, expected), rel=1e-6, abs=1e-8)
    assert np.abs(solution.slack[0]).max() < 1e-6


@pytest.mark.parametrize("scale", [0.0, 1.0, 3.0])
@pytest.mark.parametrize("seed", range(20))
def test_it_agrees_with_the_reference_for_rows_of_any_scale(seed: int, scale: float) -> None:
    program = feasible_program(seed, levels=4, scale=scale)
    solver = Weighted()
    two, damping = as_two_levels(program, solver.level_weights(4), hard=True)
    expected, solution = Cascade(damping).solve(two), solver.solve(program)
    assert solution.status == "optimal"
    assert solution.x == pytest.approx(expected.x, abs=1e-6)


@pytest.mark.parametrize("seed", range(20))
def test_with_two_levels_it_agrees_with_strict_priorities(seed: int) -> None:
    program = feasible_program(seed, levels=2)
    strict, soft = Cascade().solve(program), Weighted().solve(program)
    assert soft.slack[1] == pytest.approx(strict.slack[1], abs=1e-5)


def test_heavier_weights_come_closer_to_strict_priorities() -> None:
    box, goals = Rows.bounds([-1, -1], [1, 1]), [Rows([1.0, 0.3], 0.8, 0.8), Rows([0.3, 1.0], -0.9, -0.9)]
    program = Program([box, *goals, Rows(np.eye(2), 1.0, 1.0)])
    strict = Cascade().solve(program)
    misses = [
        np.abs(Weighted(weights=[w**2, w, 1.0]).solve(program).slack[1] - strict.slack[1]).max() for w in (1, 10, 100)
    ]
    assert misses[0] > misses[1] > 3 * misses[2] > 0.0


@pytest.mark.parametrize("seed", range(20))
def test_an_infeasible_level_0_is_relaxed_with_a_status(seed: int) -> None:
    program = feasible_program(seed)
    a = np.random.default_rng(seed).standard_normal(program.variables)
    impossible = [*program.levels[0], Rows([a, a], [0, 1], [0, 1], name="impossible")]
    program = Program([impossible, *program.levels[1:]])
    solver = Weighted()
    solution = solver.solve(program)
    two, damping = as_two_levels(program, solver.level_weights(len(program)), hard=False)
    assert solution.status == "relaxed"
    assert solution.x == pytest.approx(Cascade(damping).solve(two).x, abs=1e-6)
    # Nearly strict priorities: the weights of a relaxed level are 1e4 times those below.
    assert solution.slack[0] == pytest.approx(Cascade().solve(program).slack[0], abs=0.1)


def test_dependent_equalities_that_hold_together_are_no_reason_to_relax() -> None:
    rng = np.random.default_rng(1)
    E = rng.standard_normal((3, 8))
    E = np.vstack([E, 2 * E[:2], E[0] + E[1]])
    b = E @ rng.standard_normal(8)
    solution = Weighted().solve(Program([Rows(E, b, b), Rows(np.eye(8), 0, 0)]))
    assert solution.status == "optimal"
    assert np.abs(solution.slack[0]).max() < 1e-9


def test_a_reused_workspace_gives_the_answers_of_a_fresh_one() -> None:
    solver, statuses = Weighted(), set()
    rng = np.random.default_rng(0)
    x = rng.standard_normal(6)
    for step in range(60):
        x += 0.1 * rng.standard_normal(6)
        G, J, S = rng.standard_normal((5, 6)), rng.standard_normal((3, 6)), rng.standard_normal((2, 6))
        lower = G @ x - 0.3
        if step % 20 == 19:  # sometimes infeasible: the next step must not be affected
            G[1], lower[1] = -G[0], 0.5 - lower[0]
        box = Rows.bounds(x - 1, x + 1) if step % 7 else Rows.bounds(x, x)  # another pattern: equalities
        program = Program([[box, Rows(G, lower, np.inf)], Rows(J, 1, 1), Rows(S, 0, 0.1)])
        reused, fresh = solver.solve(program), Weighted().solve(program)
        statuses.add(reused.status)
        assert reused.status == fresh.status
        assert reused.x == pytest.approx(fresh.x, abs=1e-7)
    assert statuses == {"optimal", "relaxed"}


def test_one_solver_takes_programs_of_different_shapes_in_turn() -> None:
    solver = Weighted()
    for seed in (3, 4, 3, 5, 4):
        program = feasible_program(seed)
        assert solver.solve(program).x == pytest.approx(Weighted().solve(program).x, abs=1e-7)


def test_a_negated_or_repeated_bound_is_the_same_bound() -> None:
    reach = Rows([1.0, 1.0], 9, 9)
    plain = Weighted().solve(Program([Rows.bounds([0, 0], [1, 2]), reach]))
    other = Weighted().solve(Program([Rows([[-4.0, 0.0], [0.0, 1.0], [0.0, 3.0]], [-4, 0, -30], [0, 5, 6]), reach]))
    assert plain.x == pytest.approx([1, 2], abs=1e-7)
    assert other.x == pytest.approx([1, 2], abs=1e-7)
    assert plain.active[0].tolist() == [UPPER, UPPER]


def test_the_default_weights_fall_by_ten_from_a_hundred() -> None:
    assert Weighted().level_weights(5)[1:] == pytest.approx([100, 10, 1, 0.1])
    assert Weighted([7, 3]).level_weights(5)[1:] == pytest.approx([7, 3, 0.3, 0.03])
    assert Weighted([7, 3]).level_weights(3)[0] == pytest.approx(7 * RELAXED_WEIGHT)


@pytest.mark.parametrize("weights", [[], [1, -1], [0.0], [np.inf], [np.nan], [[1, 2]], 5, "heavy"])
def test_weights_that_are_no_weights_are_refused(weights: object) -> None:
    with pytest.raises(SolverError, match="weights"):
        Weighted(weights=weights)  # type: ignore[arg-type]


ODD = {
    "nothing at all": Program([]),
    "only empty levels": Program([[], []], variables=3),
    "no variables": Program([Rows(np.zeros((2, 0)), [1, -1], [2, 3])]),
    "rows of zeros": Program([Rows(np.zeros((2, 3)), 1, 1), Rows(np.eye(3), 1, 2)]),
    "no level 0": Program([[], Rows(np.eye(2), 1, 1)]),
    "only level 0": Program([Rows([[1.0, 1.0]], 1, 2)]),
    "no bounds": Program([Rows(np.eye(3), -np.inf, np.inf), Rows(np.eye(3), -1e20, 1e25)]),
    "all weights zero": Program([Rows(np.eye(2), 0, 1, weight=0), Rows(np.eye(2), 3, 3, weight=0)]),
    "opposed inequalities": Program([Rows([[1.0], [1.0]], [1, -np.inf], [np.inf, 0])]),
    "entries of any size": Program([Rows([[1e200, 1.0]], 1, 1), Rows([[1.0, 1e-200]], 5, 6)]),
    "numbers that overflow": Program([Rows([[1e300] * 2], 1e19, 1e19), Rows([[1e-300, -1e-300]], 1e19, 2e19)]),
    "huge weights": Program([Rows([1.0, 1.0], 1, 1, weight=1e300), Rows([1e300, 1.0], 1, 1, weight=1e300)]),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", ODD)
def test_degenerate_programs_have_finite_answers(name: str) -> None:
    program = ODD[name]
    solver = Weighted()
    for _ in range(2):
        solution = solver.solve(program)
        assert solution.x.shape == (program.variables,)
        assert np.isfinite(solution.x).all()


def test_without_any_cost_the_answer_is_the_shortest_x_that_keeps_level_0() -> None:
    assert Weighted().solve(ODD["only level 0"]).x == pytest.approx([0.5, 0.5], abs=1e-9)


def test_when_daqp_fails_the_answer_is_clipped_with_a_status(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("poise.solvers.weighted._Workspace.solve", lambda *_: (None, 0))
    program = Program([Rows.bounds([-1, -1], [1, 1]), Rows([[1.0, 0.0], [0.0, 2.0]], [3, 1], [3, 1])])
    solution = Weighted().solve(program)
    assert solution.status == "iterations"
    assert solution.x == pytest.approx([1.0, 0.5])
