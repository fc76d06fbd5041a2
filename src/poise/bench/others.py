"""quadprog and proxqp on the weighted quadratic program."""

from __future__ import annotations

from typing import Any

import numpy as np

from poise.bench.contender import Answer, package
from poise.bench.quadratic import QuadraticProgram
from poise.solvers import Program

#: Bounds of proxqp that mean none.
_INFINITY = 1e30


class Quadprog:
    """quadprog on the weighted quadratic program, soft rows through slack variables; it has no warm start."""

    name, strict = "quadprog", False

    def __init__(self) -> None:
        self._solve = package("quadprog").solve_qp

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

    Updated and warm started with its previous result; the preconditioner is kept, which is faster. Its tolerance is
    half of what counts as a violation.
    """

    name, strict = "proxqp", False

    def __init__(self) -> None:
        self._proxqp = package("proxsuite").proxqp
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
