"""The compiled NullSpace against its recursion with singular value decompositions."""

import numpy as np
import pytest

from poise.arrays import Array
from poise.solvers import BlockShape, NullSpace, Program, Rows, Solution, Stack
from poise.solvers.lexicographic import RANK_TOLERANCE
from poise.solvers.program import program_damping
from poise.solvers.unit_rows import UnitRows, sides_at


def recursion(program: Program, damping: float | list[float] = 0.0) -> Array:
    """x by the displayed equations on unit rows: their rank decides, their pulls weigh."""
    if program.center.any():
        return recursion(program.relative_to_center(), damping) + program.center
    rows = UnitRows.from_program(program)
    x, Z = np.zeros(program.variables), np.eye(program.variables)
    for k, d in enumerate(program_damping(damping, program)):
        own = np.arange(program.rows)[program.slice(k)]
        own = own[rows.equality[own]]
        if len(own) and Z.shape[1]:
            A, pull, error = rows.A[own], rows.root_weight[own], rows.lower[own] - rows.A[own] @ x
            _, size, V = np.linalg.svd(A @ Z)
            rank = int(np.count_nonzero(size > RANK_TOLERANCE))
            row_space, null_space = V[:rank].T, V[rank:].T
            U, s, W = np.linalg.svd(pull[:, None] * (A @ Z @ row_space), full_matrices=False)
            x = x + Z @ row_space @ W.T @ (s / (s**2 + d**2) * (U.T @ (pull * error)))
            Z = Z @ null_space
    return x


def check_agreement(program: Program, solution: Solution, x: Array, tolerance: float = 1e-9) -> None:
    assert solution.x == pytest.approx(x, abs=tolerance * (1.0 + np.abs(x).max(initial=0.0)))
    rows = UnitRows.from_program(program)
    assert solution.status == ("optimal" if (rows.equality | ~rows.relevant).all() else "relaxed")
    centered = program.relative_to_center() if program.center.any() else program
    at = sides_at(centered, solution.x - program.center, UnitRows.from_program(centered))
    assert (solution.sides == at).all()


def whole_body(random: np.random.Generator) -> Program:
    """Levels as controllers pose them: some dependent, weighted, damped, beside inequalities, a posture at the end."""
    n = int(random.integers(8, 40))
    levels: list[Rows | list[Rows]] = []
    for _ in range(int(random.integers(1, 5))):
        m = int(random.integers(1, 7))
        A, b, weight = random.normal(size=(m, n)), random.normal(size=m), np.ones(m)
        if random.random() < 0.4:
            A = random.normal(size=(m, max(1, m - 2))) @ A[: max(1, m - 2)]
        if random.random() < 0.3:
            A[:, : n // 2] = 0.0
        if random.random() < 0.4:
            weight = 10.0 ** random.uniform(-3.0, 3.0, m)
        block = Rows(10.0 ** random.uniform(-2.0, 2.0) * A, b, b, weight)
        levels.append([block, Rows(random.normal(size=(2, n)), -1.0, 1.0)] if random.random() < 0.3 else block)
    chosen = np.sort(random.permutation(n)[: n - int(random.integers(0, 8))])
    weight = np.ones(len(chosen)) if random.random() < 0.6 else random.uniform(0.1, 3.0, len(chosen))
    posture = random.normal(size=len(chosen))
    levels.append(Rows(np.eye(n)[chosen], posture, posture, weight))
    damping = random.choice([0.0, 0.0, 0.05, 1.0], len(levels))
    center = random.normal(size=n) if random.random() < 0.3 else None
    return Program(levels, damping=damping.tolist(), center=center)


@pytest.mark.parametrize("seed", range(150))
def test_it_agrees_with_the_recursion_on_whole_body_programs(seed: int) -> None:
    program = whole_body(np.random.default_rng(seed))
    for damping in (0.0, 0.1, [0.0, 0.3]):
        check_agreement(program, NullSpace(damping).solve(program), recursion(program, damping))


@pytest.mark.parametrize("seed", range(40))
def test_unknowns_that_no_row_constrains_are_left_to_the_levels_below(seed: int) -> None:
    """A base with all tasks relative to a foot: a posture fixes all but the base, which a lower level may move."""
    random = np.random.default_rng(seed)
    n, free = int(random.integers(12, 40)), int(random.integers(1, 7))
    tasks = random.normal(size=(int(random.integers(1, 9)), n))
    tasks[:, :free] = 0.0
    target, goal, center = random.normal(size=len(tasks)), random.normal(size=n - 6), random.normal(size=n)
    levels = [Rows(tasks, target, target), Rows(np.eye(n)[6:], goal, goal)]
    last = Program(levels, center=center)
    solution = NullSpace().solve(last)
    check_agreement(last, solution, recursion(last))
    assert solution.x[:free] == pytest.approx(center[:free], abs=1e-9)
    below = Program([*levels, Rows(random.normal(size=(2, n)), 1.0, 1.0)], center=center)
    check_agreement(below, NullSpace().solve(below), recursion(below))


@pytest.mark.parametrize("size", [1e-3, 1e-5, 1e-6, 1e-7, 1e-8, 3e-10, 1e-11])
@pytest.mark.parametrize("damping", [0.0, 1e-2])
def test_nearly_dependent_rows_count_by_their_singular_values(size: float, damping: float) -> None:
    """Rows whose smallest singular value is on either side of the threshold, far from it and near."""
    for seed in range(10):
        random = np.random.default_rng(seed)
        A = random.normal(size=(5, 12))
        A[4] = A[0] - 2.0 * A[3] + size * random.normal(size=12)
        target = random.normal(size=12)
        b = A @ target + 1e-2 * size * random.normal(size=5)  # close to the range of the rows, so that x stays bounded
        last = random.normal(size=12)
        program = Program([Rows(A, b, b, random.uniform(0.5, 2.0, 5)), Rows.bounds(last, last)])
        if size < RANK_TOLERANCE:  # a direction that both solutions leave to the posture
            assert np.linalg.svd(UnitRows.from_program(program).A[:5])[1][-1] < RANK_TOLERANCE
        # The recursion itself carries the rounding of rows over the smallest singular value.
        x = recursion(program, damping)
        check_agreement(
            program,
            NullSpace(damping).solve(program),
            x,
            tolerance=1e-9 + (1e-14 / size if size > RANK_TOLERANCE else 0.0),
        )


@pytest.mark.parametrize("weight", [1.0, (1.0, 2.0, 1.0, 0.5, 1.0, 1.0)])
def test_rows_of_a_stack_that_have_no_line_are_the_same_rows(weight: float | tuple[float, ...]) -> None:
    random = np.random.default_rng(3)
    shapes = [("a", [BlockShape("a", "m", ("x", "y"))]), ("b", [BlockShape("b", "rad", tuple("qrstuv"), range(2, 8))])]
    stack = Stack(shapes, variables=8)
    stack.blocks[0].A[:] = random.normal(size=(2, 8))
    stack.lower[:] = stack.upper[:] = random.normal(size=8)
    stack.blocks[1].weight[:] = weight
    program = stack.program()
    check_agreement(program, NullSpace().solve(program), recursion(program))


def test_earlier_programs_do_not_change_the_answer() -> None:
    solver = NullSpace(0.01)
    programs = [whole_body(np.random.default_rng(seed)) for seed in range(8)]
    first = [solver.solve(program).x for program in programs]
    assert all((solver.solve(program).x == x).all() for program, x in zip(programs, first, strict=True))
    assert all((NullSpace(0.01).solve(program).x == x).all() for program, x in zip(programs, first, strict=True))


def test_numbers_that_overflow_leave_the_levels_above_as_they_are() -> None:
    tiny, huge = np.array([[1e-290, 0.0, 0.0]]), 1e19
    program = Program([Rows([0.0, 0.0, 1.0], 2.0, 2.0), Rows(tiny, huge, huge)])
    solution = NullSpace().solve(program)
    assert solution.status in ("iterations", "optimal")
    assert np.isfinite(solution.x).all()
    assert solution.x[2] == 2.0


def test_a_posture_of_even_weight_takes_one_small_factorisation() -> None:
    """With unequal weights two of full size; both give the solution of the recursion, as shown above."""
    goal = np.arange(24.0)
    rows = np.random.default_rng(0).normal(size=(9, 30))
    even = Program([Rows(rows, 1.0, 1.0), Rows(np.eye(30)[6:], goal, goal)])
    uneven = Program([Rows(rows, 1.0, 1.0), Rows(np.eye(30)[6:], goal, goal, np.linspace(1.0, 2.0, 24))])
    assert NullSpace().solve(even).counters["factorizations"] == 2
    assert NullSpace().solve(uneven).counters["factorizations"] == 3


def test_without_the_kernel_the_error_names_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("poise.solvers.lexicographic._kernel", None)
    with pytest.raises(Exception, match="install a C\\+\\+17 compiler"):
        NullSpace()
