"""Solvers under measurement: their common interface, the weighted quadratic program, and all contenders except daqp.

Each solver is used in its fastest known configuration. Arrays are contiguous and prepared before the timed call, so the
cost of building a Hessian from the rows is excluded, which favors the quadratic programs: strict priorities work on
the rows themselves. After a failure a contender starts the next step cold instead of warm.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from poise.arrays import Array
from poise.solvers import UNBOUNDED, Lexicographic, Program, Solution, Weighted

#: Contenders to which the bars apply.
STRICT, KERNEL, REFERENCE = "strict", "strict (kernel)", "daqp weighted"
#: Ratio of the highest to the lowest weight of a level. With more, quadratic programming becomes unreliable.
WEIGHT_RATIO = 1e2
#: Cost of |x|^2 relative to the lowest weight: makes the Hessian positive definite, too little to be seen in a task.
REGULARIZATION = 1e-6
#: Value of proxqp for a missing bound.
_INFINITY = 1e30


@dataclass(frozen=True)
class SolverAnswer:
    """Answer of a contender.

    Attributes:
        x: solution.
        ok: whether the contender reports success.
        counters: numbers of iterations and similar, by name, if the contender reports any.
    """

    x: Array
    ok: bool
    counters: Mapping[str, int] = field(default_factory=dict)


class SolverContender(Protocol):
    """A solver under measurement.

    Only `solve` is timed. `prepare` converts a program to the input of the solver, `read` converts its output to a
    `SolverAnswer`. A contender may warm start from the previous solution until `reset` is called.
    """

    name: str
    #: Whether it minimizes in strict order, so that its cost of each level can be compared.
    strict: bool

    def prepare(self, program: Program) -> Any: ...

    def reset(self) -> None: ...

    def solve(self, prepared: Any) -> Any: ...

    def read(self, outcome: Any) -> SolverAnswer: ...


def import_package(name: str) -> Any:
    """Import another package; `ImportError` with the install command if it is missing."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise ImportError(f"'{name}' is not installed; pip install poise[bench]") from None


def level_weights(levels: int) -> Array:
    """Return the weights of the levels 1, 2, ..., decreasing by equal factors from SPREAD to 1."""
    return np.geomspace(WEIGHT_RATIO, 1.0, max(levels - 1, 0)) if levels > 2 else np.ones(max(levels - 1, 0))


@dataclass(frozen=True)
class QuadraticProgram:
    """A hierarchy as one quadratic program: level 0 as constraints, the others as a weighted cost.

    ::

        minimize    x'Hx/2 + f'x + sum_{i soft} weight_i s_i^2 / 2
        subject to  lower_i <= a_i x       <= upper_i   for the rows of level 0
                    lower_i <= a_i x - s_i <= upper_i   for the soft rows

    Equalities of the levels from 1 on contribute to H and f; inequalities of these levels are the soft rows.

    Attributes:
        H, f: quadratic and linear cost of the equalities.
        A, lower, upper: constraints, those of level 0 first, with infinite bounds where there are none.
        equality: mask of the constraints that are equalities; soft rows are not.
        soft: mask of the constraints that are soft.
        weight: weight of each soft row; zero for the others.
    """

    H: Array
    f: Array
    A: Array
    lower: Array
    upper: Array
    equality: NDArray[np.bool_]
    soft: NDArray[np.bool_]
    weight: Array

    @classmethod
    def of(cls, program: Program) -> QuadraticProgram:
        """Build the quadratic program of a hierarchical program, with the weights of `level_weights`."""
        n = program.variables
        level = np.repeat(np.arange(len(program)), np.diff(program.level_begin))
        weight = np.append(0.0, level_weights(len(program)))[level] * program.weight
        bounded = (program.lower > -UNBOUNDED) | (program.upper < UNBOUNDED)
        equality = program.lower == program.upper
        fitted_equality = (level > 0) & equality
        root_weight = np.sqrt(weight[fitted_equality])
        J, b = root_weight[:, None] * program.A[fitted_equality], root_weight * program.lower[fitted_equality]
        kept_rows = bounded & ~fitted_equality
        return cls(
            H=np.ascontiguousarray(J.T @ J + REGULARIZATION * np.eye(n)),
            f=-J.T @ b,
            A=np.ascontiguousarray(program.A[kept_rows]),
            lower=np.where(program.lower > -UNBOUNDED, program.lower, -np.inf)[kept_rows],
            upper=np.where(program.upper < UNBOUNDED, program.upper, np.inf)[kept_rows],
            equality=equality[kept_rows],
            soft=level[kept_rows] > 0,
            weight=weight[kept_rows],
        )

    def with_slack(self) -> QuadraticProgram:
        """Return the same problem for solvers with hard constraints only: each soft row gets a slack variable s_i."""
        n, soft = len(self.f), np.flatnonzero(self.soft)
        H = np.zeros((n + len(soft), n + len(soft)))
        H[:n, :n] = self.H
        H[n:, n:] = np.diag(self.weight[soft])
        A = np.hstack([self.A, np.zeros((len(self.A), len(soft)))])
        A[soft, n + np.arange(len(soft))] = -1.0
        none = np.zeros(len(self.A))
        f = np.append(self.f, np.zeros(len(soft)))
        return QuadraticProgram(H, f, A, self.lower, self.upper, self.equality, none.astype(bool), none)


def simple_bounds(A: Array, candidates: NDArray[np.bool_]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the candidate rows with a single nonzero entry, at most one for each variable, and their columns."""
    single = np.flatnonzero(candidates & (np.count_nonzero(A, axis=1) == 1))
    column, first = np.unique(np.argmax(A[single] != 0.0, axis=1), return_index=True)
    return single[first], column


class StrictCall:
    """`Lexicographic.solve`, called as by a user, on a Program whose rows are already stacked."""

    name, strict = STRICT, True

    def __init__(self) -> None:
        _compiled_kernel()
        self.reset()

    def prepare(self, program: Program) -> Program:
        _ = program.A, program.lower, program.upper, program.weight  # stacked now, remembered by the program
        return program

    def reset(self) -> None:
        solver = Lexicographic()
        self.solve = solver.solve

    def read(self, outcome: Solution) -> SolverAnswer:
        return SolverAnswer(outcome.x, outcome.status == "optimal", outcome.counters)


class StrictKernel:
    """The compiled kernel alone, without the construction of a `Solution`."""

    name, strict = KERNEL, True

    def __init__(self) -> None:
        self._module = _compiled_kernel()
        self._structure: tuple[list[int], int, Any] | None = None
        self.reset()

    def prepare(self, program: Program) -> tuple[Any, ...]:
        if program.structure != self._structure:
            self._structure = program.structure
            self.reset()
        return (program.memory, math.inf, 0, True, np.empty(program.variables), np.empty(program.rows, dtype=np.int8))

    def reset(self) -> None:
        kernel = self._module.Kernel()
        if self._structure is not None:
            levels, variables, columns = self._structure
            kernel.layout(levels, variables, [0.0] * (len(levels) - 1), columns)
        self._call = kernel.solve

    def solve(self, prepared: tuple[Any, ...]) -> tuple[tuple[int, ...], Array]:
        return self._call(*prepared), prepared[-2]

    def read(self, outcome: tuple[tuple[int, ...], Array]) -> SolverAnswer:
        (status, *counts, _), x = outcome
        counters = dict(zip(self._module.counters, counts, strict=True))
        return SolverAnswer(x.copy(), self._module.statuses[status] == "optimal", counters)


class WeightedCall:
    """`Weighted.solve`, called as by a user: it builds the quadratic program and solves it with daqp."""

    name, strict = "weighted", False

    def __init__(self, levels: int) -> None:
        self._weights = level_weights(levels).tolist() or None
        self.reset()

    def prepare(self, program: Program) -> Program:
        return program

    def reset(self) -> None:
        self.solve = Weighted(self._weights).solve

    def read(self, outcome: Solution) -> SolverAnswer:
        return SolverAnswer(outcome.x, outcome.status == "optimal")


def _compiled_kernel() -> Any:
    try:
        return importlib.import_module("poise.solvers._kernel")
    except ImportError:
        raise ImportError("the compiled kernel is not built; install a C++17 compiler and reinstall poise") from None


class Quadprog:
    """quadprog on the weighted quadratic program, soft rows through slack variables; it has no warm start."""

    name, strict = "quadprog", False

    def __init__(self) -> None:
        self._solve = import_package("quadprog").solve_qp

    def prepare(self, program: Program) -> tuple[Any, ...]:
        qp = QuadraticProgram.of(program).with_slack()
        low, high = ~qp.equality & np.isfinite(qp.lower), ~qp.equality & np.isfinite(qp.upper)
        rows = np.vstack([qp.A[qp.equality], qp.A[low], -qp.A[high]])
        bounds = np.concatenate([qp.lower[qp.equality], qp.lower[low], -qp.upper[high]])
        arguments = np.asfortranarray(qp.H), -qp.f, np.asfortranarray(rows.T), bounds, int(qp.equality.sum())
        return program.variables, arguments

    def reset(self) -> None:
        pass

    def solve(self, prepared: tuple[Any, ...]) -> Any:
        variables, arguments = prepared
        try:
            return self._solve(*arguments)[0], variables
        except ValueError:  # "constraints are inconsistent", "matrix G is not positive definite"
            return None, variables

    def read(self, outcome: Any) -> SolverAnswer:
        x, variables = outcome
        return SolverAnswer(np.full(variables, np.nan), False) if x is None else SolverAnswer(x[:variables], True)


class Proxqp:
    """proxqp (dense) on the weighted quadratic program, soft rows through slack variables.

    It is updated and warm started from its previous result; the preconditioner is reused, which is faster. Its
    tolerance is half of the violation that counts as a failure.
    """

    name, strict = "proxqp", False

    def __init__(self) -> None:
        self._proxqp = import_package("proxsuite").proxqp
        self.reset()

    def prepare(self, program: Program) -> tuple[Any, ...]:
        qp = QuadraticProgram.of(program).with_slack()
        rest = ~qp.equality
        lower, upper = np.maximum(qp.lower[rest], -_INFINITY), np.minimum(qp.upper[rest], _INFINITY)
        A, C = np.ascontiguousarray(qp.A[qp.equality]), np.ascontiguousarray(qp.A[rest])
        return program.variables, (qp.H, qp.f, A, qp.lower[qp.equality], C, lower, upper)

    def reset(self) -> None:
        self._problem: Any = None
        self._shape: tuple[object, ...] = ()

    def solve(self, prepared: tuple[Any, ...]) -> Any:
        variables, arguments = prepared
        problem, shape = self._problem, (arguments[2].shape, arguments[4].shape)
        if problem is not None and shape == self._shape:
            problem.update(*arguments)
        else:
            size = len(arguments[1])
            problem = self._problem = self._proxqp.dense.QP(size, shape[0][0], shape[1][0])
            self._shape = shape
            problem.settings.eps_abs = 5e-7
            problem.settings.initial_guess = self._proxqp.InitialGuess.WARM_START_WITH_PREVIOUS_RESULT
            problem.init(*arguments)
        problem.solve()
        return problem.results, variables

    def read(self, outcome: Any) -> SolverAnswer:
        results, variables = outcome
        answer = SolverAnswer(
            np.array(results.x[:variables]), results.info.status == self._proxqp.QPSolverOutput.PROXQP_SOLVED
        )
        if not answer.ok:
            self.reset()
        return answer
