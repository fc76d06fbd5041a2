"""The compiled quadratic program of Weighted against its definition, evaluated at points."""

import numpy as np
import pytest
from test_weighted import feasible_program

from poise.arrays import Array
from poise.solvers import EQUALITY, INSIDE, BlockShape, Program, Rows, Stack, Weighted, _kernel  # type: ignore[attr-defined]
from poise.solvers.unit_rows import UnitRows, sides_at
from poise.solvers.weighted import REGULARIZATION

#: Constants of daqp.
SOFT, NO_BOUND = 8, 1e30


class DaqpArrays:
    """The arrays that daqp would read for a program."""

    def __init__(self, program: Program, relaxed: bool) -> None:
        weights, n = Weighted().level_weights(len(program)), program.variables
        self.sum = _kernel.WeightedSum(relaxed, REGULARIZATION)
        self.sum.layout(*program.structure)
        assert not self.sum.read(program.memory, weights)
        assert self.sum.read(program.memory, weights), "the same program has the same shape"
        self.bounds, general, self.soft = self.sum.shape()
        rows = self.bounds + general
        self.H, self.f, self.A = np.empty((n, n)), np.empty(n), np.empty((general, n))
        self.lower, self.upper, self.rho = np.empty(rows), np.empty(rows), np.empty(rows)
        self.sense = np.empty(rows, np.intc)
        self.sum.write(self.H, self.f, self.A, self.lower, self.upper, self.sense, self.rho)

    def values(self, x: Array) -> Array:
        return np.append(x[: self.bounds], self.A @ x)

    def gradient(self, x: Array) -> Array:
        """Gradient of the cost, with the violations of soft rows."""
        values, lines = self.values(x), self.sense[self.bounds :] == SOFT
        violation = (values - np.clip(values, self.lower, self.upper))[self.bounds :][lines]
        return self.H @ x + self.f + self.A[lines].T @ (violation / self.rho[self.bounds :][lines])


def centered(program: Program, seed: int) -> Program:
    center = np.random.default_rng(seed).normal(size=program.variables)
    return Program(program.levels, program.names, center=center)


def weights_of(program: Program, rows: UnitRows) -> Array:
    by_level = np.repeat(Weighted().level_weights(len(program)), np.diff(program.level_begin))
    return np.where(rows.relevant, by_level * rows.root_weight**2, 0.0)


@pytest.mark.parametrize("relaxed", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_its_gradient_is_that_of_the_weighted_sum(seed: int, relaxed: bool) -> None:
    """``H x + f + sum_soft s_i a_i / rho_i = sum_i w_i s_i a_i + r x``, w relative to the heaviest."""
    program = centered(feasible_program(seed, levels=4), seed)
    moved, arrays = program.relative_to_center(), DaqpArrays(program, relaxed)
    rows = UnitRows.from_program(moved)
    weight = weights_of(moved, rows)
    weight[: 0 if relaxed else moved.level_begin[1]] = 0.0
    weight /= weight.max()
    for x in np.random.default_rng(seed).normal(size=(5, program.variables)):
        value = rows.A @ x
        slack = value - np.clip(value, rows.lower, rows.upper)
        assert arrays.gradient(x) == pytest.approx(rows.A.T @ (weight * slack) + REGULARIZATION * x, abs=1e-10)


@pytest.mark.parametrize("seed", range(20))
def test_its_hard_rows_are_level_0(seed: int) -> None:
    program = centered(feasible_program(seed), seed)
    moved, arrays = program.relative_to_center(), DaqpArrays(program, relaxed=False)
    rows, first = UnitRows.from_program(moved), moved.slice(0)
    hard = arrays.sense != SOFT
    for x in np.random.default_rng(seed).normal(size=(5, program.variables)):
        value, own = (rows.A @ x)[first], arrays.values(x)
        expected = np.maximum(rows.lower[first] - value, value - rows.upper[first])
        found = np.maximum(arrays.lower - own, own - arrays.upper)[hard]
        assert np.sort(found[found > -NO_BOUND / 2]) == pytest.approx(np.sort(expected), abs=1e-12)


def test_a_relaxed_program_has_no_hard_rows() -> None:
    arrays = DaqpArrays(feasible_program(3), relaxed=True)
    assert arrays.bounds == 0
    assert (arrays.sense == SOFT).all()


@pytest.mark.parametrize("seed", range(20))
def test_the_sides_of_a_solution_are_those_of_its_x(seed: int) -> None:
    program = centered(feasible_program(seed, levels=4), seed)
    moved, solution = program.relative_to_center(), Weighted().solve(program)
    assert (
        solution.sides.tolist() == sides_at(moved, solution.x - program.center, UnitRows.from_program(moved)).tolist()
    )


@pytest.mark.parametrize("seed", range(10))
def test_a_center_is_where_the_program_is_moved_to(seed: int) -> None:
    program = centered(feasible_program(seed), seed)
    alone = Weighted().solve(program.relative_to_center())
    assert Weighted().solve(program).x == pytest.approx(alone.x + program.center, abs=1e-9)


@pytest.mark.parametrize("seed", range(10))
def test_rows_that_are_single_unknowns_count_as_lines_would(seed: int) -> None:
    random = np.random.default_rng(seed)
    labels = tuple("abcd")
    stack = Stack(
        [
            ("limits", [BlockShape("box", "", labels, range(4)), BlockShape("plane", "", ("one",))]),
            ("reach", [BlockShape("hand", "", ("x", "y"))]),
            ("posture", [BlockShape("rest", "", labels[:3], (3, 1, 0))]),
        ],
        variables=4,
    )
    box, plane, hand, rest = stack.blocks
    box.lower[:], box.upper[:] = -1.0, random.uniform(0.1, 1.0, 4)
    plane.A[:], plane.upper[:] = random.normal(size=4), 1.0
    plane.lower[:] = -np.inf
    hand.A[:] = random.normal(size=(2, 4))
    hand.lower[:] = hand.upper[:] = random.normal(size=2)
    rest.lower[:] = rest.upper[:] = random.normal(size=3)
    rest.weight[:] = random.uniform(0.5, 2.0, 3)
    stack.center[:] = random.normal(size=4)
    program = stack.program()
    written = Program(program.levels, program.names, center=program.center)
    one, other = Weighted().solve(program), Weighted().solve(written)
    assert one.x == pytest.approx(other.x, abs=1e-9)
    assert one.sides.tolist() == other.sides.tolist()


def test_rows_without_a_direction_stand_at_zero() -> None:
    rows = Rows(np.zeros((3, 2)), [1.0, -1.0, 0.0], [1.0, 1.0, 2.0], weight=[1.0, 1.0, 0.0])
    solution = Weighted().solve(Program([rows, Rows(np.eye(2), 3, 3)]))
    assert solution.active[0].tolist() == [EQUALITY, INSIDE, INSIDE]
    assert solution.x == pytest.approx([3.0, 3.0])


def test_arrays_of_another_program_are_refused() -> None:
    arrays = DaqpArrays(feasible_program(0), relaxed=False)
    program = feasible_program(0)
    with pytest.raises(ValueError, match="fit"):
        arrays.sum.read(program.memory[:-1], np.ones(len(program)))
    with pytest.raises(ValueError, match="fit"):
        arrays.sum.read(program.memory, np.ones(len(program) + 1))
    with pytest.raises(ValueError, match="fit"):
        arrays.sum.write(arrays.H, arrays.f[1:], arrays.A, arrays.lower, arrays.upper, arrays.sense, arrays.rho)
    with pytest.raises(ValueError, match="fit"):
        _kernel.WeightedSum(False, REGULARIZATION).read(program.memory, np.ones(len(program)))


def test_without_the_kernel_the_solution_is_clipped_least_squares(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("poise.solvers.weighted._kernel", None)
    program = Program([Rows.bounds([-1, -1], [1, 1]), Rows([[1.0, 0.0], [0.0, 2.0]], [3, 1], [3, 1])])
    solution = Weighted().solve(program)
    assert solution.status == "iterations"
    assert solution.x == pytest.approx([1.0, 0.5])
