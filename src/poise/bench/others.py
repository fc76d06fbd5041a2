"""Solvers of other packages, each used in the fastest way we know of.

Arrays are contiguous and ready before the clock starts, so the cost of building a Hessian from the rows is left out:
a gift to the quadratic programs, since strict priorities work on the rows themselves. A contender that fails starts
afresh at the next step instead of from what it remembers.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.bench.contenders import REFERENCE, Answer
from poise.bench.quadratic import QuadraticProgram, simple_bounds
from poise.solvers import Program
from poise.solvers.rows import UNBOUNDED, Array

_EQUALITY, _SOFT, _INFINITY = 5, 8, 1e30  # in the language of daqp


@dataclass(frozen=True)
class _DaqpProblem:
    """Bounds on x first (if there are any), then rows; `rho` are the reciprocal weights of soft rows."""

    H: Array
    f: Array
    A: Array
    upper: Array
    lower: Array
    sense: NDArray[np.intc]
    rho: Array
    break_points: NDArray[np.intc]
    shape: tuple[object, ...]


class DaqpWeighted:
    """daqp on the weighted quadratic program: a Model set up once, updated and warm started at each step.

    Level 0 is hard, its rows with a single entry are simple bounds, inequalities further down are daqp's soft
    constraints. Updating is faster than setting up again (by 15 to 40 percent on the recorded sequences).
    """

    name, strict = REFERENCE, False

    def __init__(self) -> None:
        self._daqp = _package("daqp")
        self.reset()

    def prepare(self, program: Program) -> _DaqpProblem:
        qp = QuadraticProgram.of(program)
        sense = np.where(qp.soft, _SOFT, np.where(qp.equality, _EQUALITY, 0))
        with np.errstate(divide="ignore"):
            rho = np.where(qp.soft, 1.0 / qp.weight, 0.0)
        box, general = _split(qp.A, ~qp.soft)
        return _daqp_problem(qp, sense, rho, box, general, np.zeros(0, dtype=np.intc))

    def reset(self) -> None:
        self._model: Any = None
        self._shape: tuple[object, ...] = ()

    def solve(self, prepared: _DaqpProblem) -> Any:
        model = self._model
        if model is not None and prepared.shape == self._shape:
            model.update(prepared.H, prepared.f, prepared.A, prepared.upper, prepared.lower)
        else:
            model = self._model = self._daqp.Model()
            self._shape = prepared.shape
            model.settings = {"eps_prox": 0.0}  # the Hessian is positive definite
            model.setup(prepared.H, prepared.f, prepared.A, prepared.upper, prepared.lower, prepared.sense)
            model.soft_weights(rho_l=prepared.rho, rho_u=prepared.rho)
        return model.solve()

    def read(self, outcome: Any) -> Answer:
        return _daqp_answer(self, outcome)


class DaqpHierarchical:
    """daqp's hierarchical mode: the same levels through `break_points`, with the least-norm cost below them.

    rho_soft, its regularisation, is 1e-8: with the default of 1e-6 it does not fail as often, but hardly ever agrees
    with the strict optimum, with less it fails more often. Exit flag 3 hides levels that failed and counts as such.
    """

    name, strict = "daqp hierarchical", True

    def __init__(self) -> None:
        self._daqp = _package("daqp")
        self.reset()

    def prepare(self, program: Program) -> _DaqpProblem:
        n, m = program.variables, program.rows
        first = np.arange(m) < program.level_begin[1]
        equality = program.lower == program.upper
        none = np.zeros(m)
        # An identity, because without a Hessian daqp returns memory that it never wrote.
        qp = QuadraticProgram(
            np.eye(n), np.zeros(n), program.A, program.lower, program.upper, equality, none.astype(bool), none
        )
        box, general = _split(program.A, first)
        begin = n if len(box[0]) else 0
        ends = [begin + int(np.sum(general < end)) for end in program.level_begin[1:]]
        return _daqp_problem(qp, np.where(equality, _EQUALITY, 0), none, box, general, np.array(ends, dtype=np.intc))

    def reset(self) -> None:
        self._model: Any = None
        self._shape: tuple[object, ...] = ()

    def solve(self, prepared: _DaqpProblem) -> Any:
        model = self._model
        if model is not None and prepared.shape == self._shape:
            model.update(None, None, prepared.A, prepared.upper, prepared.lower, None, prepared.break_points)
        else:
            model = self._model = self._daqp.Model()
            self._shape = prepared.shape
            model.settings = {"eps_prox": 0.0, "rho_soft": 1e-8}
            model.setup(
                prepared.H,
                prepared.f,
                prepared.A,
                prepared.upper,
                prepared.lower,
                prepared.sense,
                prepared.break_points,
            )
        return model.solve()

    def read(self, outcome: Any) -> Answer:
        return _daqp_answer(self, outcome)


class Quadprog:
    """quadprog on the weighted quadratic program, soft rows through slack variables; it has no warm start."""

    name, strict = "quadprog", False

    def __init__(self) -> None:
        self._solve = _package("quadprog").solve_qp

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

    def read(self, outcome: Any) -> Answer:
        x, variables = outcome
        return Answer(np.full(variables, np.nan), False) if x is None else Answer(x[:variables], True)


class Proxqp:
    """proxqp (dense) on the weighted quadratic program, soft rows through slack variables.

    Updated and warm started with its previous result; the preconditioner is kept, which is faster. Its tolerance is half
    of what counts as a violation.
    """

    name, strict = "proxqp", False

    def __init__(self) -> None:
        self._proxqp = _package("proxsuite").proxqp
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

    def read(self, outcome: Any) -> Answer:
        results, variables = outcome
        answer = Answer(
            np.array(results.x[:variables]), results.info.status == self._proxqp.QPSolverOutput.PROXQP_SOLVED
        )
        if not answer.ok:
            self.reset()
        return answer


def _package(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise ImportError(f"'{name}' is not installed; pip install poise[bench]") from None


def _split(A: Array, hard: NDArray[np.bool_]) -> tuple[tuple[NDArray[np.intp], NDArray[np.intp]], NDArray[np.intp]]:
    """Rows (with columns) that are simple bounds, and the others."""
    box = simple_bounds(A, hard)
    return box, np.setdiff1d(np.arange(len(A)), box[0])


def _daqp_problem(
    qp: QuadraticProgram,
    sense: NDArray[np.int_],
    rho: Array,
    box: tuple[NDArray[np.intp], NDArray[np.intp]],
    general: NDArray[np.intp],
    break_points: NDArray[np.intc],
) -> _DaqpProblem:
    (bound, column), n = box, len(qp.f)
    begin = n if len(bound) else 0
    scale = qp.A[bound, column]
    ends = np.sort(np.stack([qp.lower[bound] / scale, qp.upper[bound] / scale]), axis=0)  # a negative entry swaps them
    lower, upper = (
        np.append(np.full(begin, -np.inf), qp.lower[general]),
        np.append(np.full(begin, np.inf), qp.upper[general]),
    )
    lower[column], upper[column] = ends
    kinds = np.append(np.zeros(begin, dtype=int), sense[general])
    kinds[column] = sense[bound]
    return _DaqpProblem(
        H=qp.H,
        f=qp.f,
        A=np.ascontiguousarray(qp.A[general]),
        upper=np.where(upper < UNBOUNDED, upper, _INFINITY),
        lower=np.where(lower > -UNBOUNDED, lower, -_INFINITY),
        sense=kinds.astype(np.intc),
        rho=np.append(np.zeros(begin), rho[general]),
        break_points=break_points,
        shape=(qp.H.shape, len(general), kinds.tobytes(), break_points.tobytes()),
    )


def _daqp_answer(contender: DaqpWeighted | DaqpHierarchical, outcome: Any) -> Answer:
    x, _, flag, _ = outcome
    ok = flag in (1, 2)  # optimal, or optimal with soft rows violated
    if not ok:
        contender.reset()
    return Answer(np.array(x), ok)
