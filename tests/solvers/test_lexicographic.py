"""Lexicographic: certificates of random programs, warm starts, time budgets, threads and memory."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poise.campaign.kinds.solver_programs import random_program, small_program
from poise.errors import SolverError
from poise.solvers import Cascade, Lexicographic, NullSpace, Program, Rows, Solution, certificate

SEQUENCES = ["A_g1_nominal", "A_talos_nominal", "B_g1_nominal", "B_talos_nominal"]
seeds = st.integers(min_value=0, max_value=2**31)


def stack_of(sequence: Path) -> list[Program]:
    """The programs of a recorded control sequence, one per step."""
    data = np.load(sequence)
    level = data["lev"]
    programs = []
    for A, lower, upper in zip(data["A"], data["lb"], data["ub"], strict=True):
        programs.append(
            Program([Rows(A[level == k], lower[level == k], upper[level == k]) for k in range(level.max() + 1)])
        )
    return programs


def certify(seeds: range) -> dict[str, list[int]]:
    """Solve random programs and group the seeds by failure."""
    wrong: dict[str, list[int]] = {"status": [], "not finite": [], "residual": [], "residual, well conditioned": []}
    for seed in seeds:
        program = random_program(seed)
        solution = Lexicographic().solve(program)
        if solution.status != "optimal":
            wrong["status"].append(seed)
        if not np.isfinite(solution.x).all():
            wrong["not finite"].append(seed)
        if not certificate(program, solution).residual <= 1e-8:
            near_singular = np.linalg.norm(solution.x) > 1e4  # of programs whose numbers are of order one
            wrong["residual" if near_singular else "residual, well conditioned"].append(seed)
    return wrong


def assert_certified(count: int) -> None:
    """All random programs are certified, except for very few with multipliers indistinguishable from zero.

    Rows that are independent by 1e-8 or less of their length, on several levels at once, leave it to rounding (and so
    to the compiler) which rows count as settled. The default build has none among the first 10,000; see docs/solver.md.
    """
    wrong = certify(range(count))
    undecided = wrong.pop("residual")
    assert wrong == {name: [] for name in wrong}
    assert len(undecided) <= max(1, count // 4000), undecided


def test_random_programs_are_solved_to_the_certificate() -> None:
    assert_certified(200)


@pytest.mark.slow
def test_ten_thousand_random_programs_are_solved_to_the_certificate() -> None:
    assert_certified(10_000)


@pytest.mark.parametrize("name", SEQUENCES)
@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.slow)])
def test_the_steps_of_a_recorded_sequence_are_certified(hqp_data: Path, name: str, every: int) -> None:
    """Each is warm-started from the one before, as in a control loop."""
    solver = Lexicographic()
    for step, program in enumerate(stack_of(hqp_data / f"{name}.npz")[::every]):
        solution = solver.solve(program)
        assert solution.status == "optimal", step
        assert certificate(program, solution).residual <= 1e-8, step


@pytest.mark.parametrize("name", SEQUENCES)
def test_recorded_steps_agree_with_the_reference(hqp_data: Path, name: str) -> None:
    solver, reference = Lexicographic(), Cascade()
    unproven = 0
    for program in stack_of(hqp_data / f"{name}.npz")[::7]:
        mine, other = solver.solve(program), reference.solve(program)
        if certificate(program, other).residual > 1e-8 >= certificate(program, mine).residual:
            unproven += 1  # numpy's algebra differs between processors, and on some the reference stops early: 4e-6
            assert unproven <= 1
            continue
        np.testing.assert_allclose(mine.x, other.x, atol=float(1e-7 * (1.0 + np.linalg.norm(other.x))))
        for one, two in zip(mine.slack, other.slack, strict=True):
            np.testing.assert_allclose(one, two, atol=float(1e-7 * (1.0 + np.linalg.norm(other.x))))


def well_conditioned(seed: int) -> Program:
    """A random program whose answer is determined to more digits than the tests ask for."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 25))
    levels = []
    for _ in range(int(rng.integers(1, 6))):
        m = int(rng.integers(1, n + 3))
        A, center = rng.standard_normal((m, n)), rng.standard_normal(m)
        width = np.where(rng.random(m) < 0.5, 0.0, rng.uniform(0.0, 1.0, m))
        lower = np.where(rng.random(m) < 0.2, -np.inf, center - width)
        levels.append(Rows(A, lower, center + width, weight=rng.uniform(0.5, 2.0, m)))
    return Program(levels)


def assert_same_slack(one: Solution, other: Solution, tolerance: float = 1e-8) -> None:
    for a, b in zip(one.slack, other.slack, strict=False):
        np.testing.assert_allclose(a, b, atol=float(tolerance * (1.0 + np.linalg.norm(one.x))))


@given(seeds)
def test_adding_a_lower_level_never_changes_the_slack_of_a_higher_one(seed: int) -> None:
    program = well_conditioned(seed)
    rng = np.random.default_rng(seed)
    more = Rows(rng.standard_normal((4, program.variables)), -np.inf, rng.standard_normal(4))
    assert_same_slack(Lexicographic().solve(program), Lexicographic().solve(Program([*program.levels, more])))


@given(seeds, st.floats(1e-3, 1e3))
def test_scaling_a_whole_level_changes_nothing_but_its_own_slack(seed: int, scale: float) -> None:
    program = well_conditioned(seed)
    k = seed % len(program)
    levels = list(program.levels)
    rows = levels[k][0]
    levels[k] = (Rows(scale * rows.A, scale * rows.lower, scale * rows.upper, rows.weight),)
    one, other = Lexicographic().solve(program), Lexicographic().solve(Program(levels))
    np.testing.assert_allclose(one.x, other.x, atol=float(1e-7 * (1.0 + np.linalg.norm(one.x))))


@given(seeds)
def test_the_order_of_rows_within_a_level_is_irrelevant(seed: int) -> None:
    program = well_conditioned(seed)
    rng = np.random.default_rng(seed)
    levels = []
    for (rows,) in program.levels:
        order = rng.permutation(len(rows))
        levels.append(Rows(rows.A[order], rows.lower[order], rows.upper[order], rows.weight[order]))
    one, other = Lexicographic().solve(program), Lexicographic().solve(Program(levels))
    np.testing.assert_allclose(one.x, other.x, atol=float(1e-7 * (1.0 + np.linalg.norm(one.x))))


@given(seeds)
def test_equality_programs_agree_with_the_closed_form(seed: int) -> None:
    program = well_conditioned(seed)
    equal = Program([Rows(rows.A, rows.upper, rows.upper, rows.weight) for (rows,) in program.levels])
    one, other = Lexicographic().solve(equal), NullSpace().solve(equal)
    np.testing.assert_allclose(one.x, other.x, atol=float(1e-7 * (1.0 + np.linalg.norm(one.x))))


@given(seeds)
def test_two_level_programs_agree_with_a_quadratic_program(seed: int) -> None:
    import quadprog

    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 20))
    limits = Rows.bounds(-rng.uniform(0.1, 1.0, n), rng.uniform(0.1, 1.0, n))
    A, b = rng.standard_normal((n + 3, n)), 3.0 * rng.standard_normal(n + 3)
    solution = Lexicographic().solve(Program([limits, Rows(A, b, b)]))
    constraints = np.vstack([np.eye(n), -np.eye(n)]).T
    x, *_ = quadprog.solve_qp(A.T @ A, A.T @ b, constraints, np.concatenate([limits.lower, -limits.upper]))
    np.testing.assert_allclose(solution.x, x, atol=1e-8)


@given(seeds)
def test_warm_and_cold_starts_agree(seed: int) -> None:
    rng = np.random.default_rng(seed)
    program = well_conditioned(seed)
    solver = Lexicographic()
    for _ in range(4):
        program = Program(
            [
                Rows(rows.A + 0.1 * rng.standard_normal(rows.A.shape), rows.lower, rows.upper, rows.weight)
                for (rows,) in program.levels
            ]
        )
        warm, cold = solver.solve(program), Lexicographic().solve(program)
        np.testing.assert_allclose(warm.x, cold.x, atol=float(1e-6 * (1.0 + np.linalg.norm(cold.x))))


@given(seeds)
def test_small_programs_of_every_kind_are_certified(seed: int) -> None:
    program = small_program("integers", seed)
    assert certificate(program, Lexicographic().solve(program)).residual <= 1e-8


def test_the_answer_to_a_program_does_not_depend_on_another_one_before_it() -> None:
    solver = Lexicographic()
    for seed in range(200):  # every shape differs, so no warm start is possible
        program = random_program(seed, variables=(5, 20))
        np.testing.assert_array_equal(solver.solve(program).x, Lexicographic().solve(program).x)


def test_reset_forgets_the_active_set() -> None:
    solver, program = Lexicographic(), well_conditioned(5)
    first = solver.solve(program)
    assert solver.solve(program).iterations < first.iterations
    solver.reset()
    assert solver.solve(program).iterations == first.iterations


def budget_programs() -> list[Program]:
    return [random_program(seed, variables=(30, 60)) for seed in range(60)]


@pytest.mark.parametrize("budget", [0.0, 1e-5, 3e-5, 1e-4, 3e-4])
def test_when_the_budget_ends_the_solved_levels_stay_solved(budget: float) -> None:
    stopped = 0
    for program in budget_programs():
        full, partial = Lexicographic().solve(program), Lexicographic(budget=budget).solve(program)
        assert np.isfinite(partial.x).all()
        if partial.status != "budget":
            continue
        stopped += 1
        scale = 1e-6 * (1.0 + max(np.linalg.norm(full.x), np.linalg.norm(partial.x)))
        size = np.maximum(np.linalg.norm(program.A, axis=1), 1e-12)
        for k in range(partial.counters["levels_solved"]):
            if k < len(program):
                difference = (partial.slack[k] - full.slack[k]) / size[program.slice(k)]
                assert np.abs(difference * (program.weight[program.slice(k)] > 0.0)).max(initial=0.0) <= scale
    assert stopped > 0 or budget > 1e-5


@pytest.mark.parametrize("required", [1, 2])
def test_required_levels_are_solved_without_any_budget(required: int) -> None:
    for program in budget_programs():
        full = Lexicographic().solve(program)
        partial = Lexicographic(budget=0.0, required_levels=required).solve(program)
        assert partial.counters["levels_solved"] >= min(required, full.counters["levels_solved"])
        for k in range(min(required, len(program))):
            size = np.maximum(np.linalg.norm(program.A[program.slice(k)], axis=1), 1e-12)
            scale = 1e-6 * (1.0 + max(np.linalg.norm(full.x), np.linalg.norm(partial.x)))
            counted = program.weight[program.slice(k)] > 0.0
            assert np.abs((partial.slack[k] - full.slack[k]) / size * counted).max(initial=0.0) <= scale


def test_without_time_the_remaining_unknowns_follow_the_posture() -> None:
    """The level in between is not reached; the posture is a projection, which costs no search."""
    limits = Rows.bounds([-1.0, -1.0, -0.5], [1.0, 1.0, 0.5])
    hand, posture = Rows([[1.0, 1.0, 0.0]], 3.0, 3.0), Rows(np.eye(3), [0.25, 0.5, 2.0], [0.25, 0.5, 2.0])
    solution = Lexicographic(budget=0.0, required_levels=1).solve(Program([limits, hand, posture]))
    assert solution.status == "budget"
    np.testing.assert_array_less(-1e-12, 0.5 - np.abs(solution.x[2]))
    assert limits.A.shape == (3, 3)
    assert np.abs(solution.slack[0]).max() == 0.0


def test_a_solve_without_time_keeps_the_active_set_for_the_next() -> None:
    counts = []
    for seed in range(40):
        program = well_conditioned(seed)
        solver, undisturbed = Lexicographic(required_levels=1), Lexicographic()
        cold = solver.solve(program).iterations
        undisturbed.solve(program)
        solver._seconds = 0.0
        solver.solve(program)
        solver._seconds = np.inf
        counts.append((solver.solve(program).iterations, undisturbed.solve(program).iterations, cold))
    after, warm, cold = np.sum(counts, axis=0)
    assert after <= warm + 0.2 * (cold - warm)


def test_a_budget_that_is_enough_changes_nothing() -> None:
    program = well_conditioned(11)
    np.testing.assert_array_equal(Lexicographic(budget=10.0).solve(program).x, Lexicographic().solve(program).x)


@pytest.mark.parametrize("budget", [-1.0, np.nan, "soon"])
def test_a_budget_that_is_no_time_is_refused(budget: object) -> None:
    with pytest.raises(SolverError, match="budget"):
        Lexicographic(budget=budget)  # type: ignore[arg-type]


def test_two_solvers_in_two_threads_give_the_same_answers_as_one() -> None:
    programs = [well_conditioned(seed) for seed in range(60)]
    expected = [Lexicographic().solve(program).x for program in programs]
    results: dict[int, list[np.ndarray]] = {}

    def work(name: int) -> None:
        solver = Lexicographic(warm_start=False)
        results[name] = [solver.solve(program).x for _ in range(5) for program in programs]

    threads = [threading.Thread(target=work, args=(name,)) for name in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for answers in results.values():
        for k, x in enumerate(answers):
            np.testing.assert_array_equal(x, expected[k % len(programs)])


def test_solving_for_long_does_not_grow_the_process() -> None:
    solver, programs = Lexicographic(), [well_conditioned(seed) for seed in range(3)]
    process = psutil.Process()

    def solve_many(count: int) -> int:
        for k in range(count):
            solver.solve(programs[k % 3])
        return process.memory_info().rss

    before = solve_many(3000)
    assert solve_many(30_000) - before < 2_000_000  # bytes; one leaked x a solve would be 6 MB


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_damping_has_the_same_effect_at_every_scale_of_the_rows(scale: float) -> None:
    rng = np.random.default_rng(0)
    A, b = rng.standard_normal((3, 6)), rng.standard_normal(3)
    solution = Lexicographic(damping=0.2 * scale).solve(Program([Rows(scale * A, scale * b, scale * b)]))
    expected = np.linalg.solve(A.T @ A + 0.04 * np.eye(6), A.T @ b)
    np.testing.assert_allclose(solution.x, expected, atol=1e-10)


@pytest.mark.parametrize("spoil", [np.nan, np.inf, 1e300])
def test_invalid_numbers_written_after_construction_give_a_finite_answer(spoil: float) -> None:
    solver = Lexicographic()
    for seed in range(20):
        program, good = well_conditioned(seed), well_conditioned(seed)
        program.A[seed % program.rows, 0] = spoil  # as a sensor might, in memory that is reused
        assert np.isfinite(solver.solve(program).x).all()
        np.testing.assert_allclose(solver.solve(good).x, Lexicographic().solve(good).x, atol=1e-6)
