"""Weighted: one quadratic program in which weights stand for priorities."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from dataclasses import dataclass

import daqp
import numpy as np
from numpy.typing import NDArray

from poise.errors import SolverError
from poise.solvers.program import Program
from poise.solvers.rows import Array
from poise.solvers.solution import Solution
from poise.solvers.unit_rows import UnitRows, sides_at

#: Cost of |x|^2 relative to the heaviest row: enough for daqp to find the Hessian positive definite (its solves
#: begin to fail at 1e-9), too little to be seen in a task.
REGULARIZATION = 1e-8
#: How much heavier than the heaviest level the first one becomes when it cannot hold.
RELAXED = 1e4
#: Level 0 holds if no unit row is violated by more than this, relative to the size of x.
HOLDS = 1e-6

_EQUALITY, _SOFT, _INFINITY = 5, 8, 1e30  # in the language of daqp


class Weighted:
    """Soft priorities: level 0 must hold, the levels below share one weighted cost.

    ::

        minimise    sum_{k>=1} weights_{k-1} sum_{i in k} weight_i s_i^2  +  r |x|^2
        subject to  lower_0 <= A_0 x <= upper_0

    with s_i the violation of row i and r = 1e-8 times the heaviest ``weights_{k-1} weight_i |a_i|^2``. Directions of x
    that the rows of the cost hold with less than that, because these are scaled or weighted down by more than four
    orders of magnitude against the heaviest, are left to r. Otherwise rows may be of any scale.

    The quadratic program goes to daqp, whose memory and active set are reused from one solve to the next. If it finds
    level 0 infeasible, level 0 joins the cost with 1e4 times the largest weight, and the status is ``"relaxed"``. If
    that fails too, the answer is the weighted least-squares solution of the equalities, clipped to the simple bounds
    of level 0, with status ``"iterations"``.

    Args:
        weights: one for each level from 1 on, positive; levels beyond the list get a tenth of the one before. None:
            100, 10, 1, 0.1, ... as in [Dalibard2012].

    >>> Weighted().solve(Program([Rows.bounds([0, 0], [1, 1]), Rows([[1, 1]], 3, 3)])).x
    array([1., 1.])
    """

    def __init__(self, weights: Sequence[float] | None = None) -> None:
        try:
            given = np.asarray([100.0] if weights is None else weights, dtype=float)
        except (TypeError, ValueError):
            given = np.zeros(0)
        if given.ndim != 1 or not len(given) or not (np.isfinite(given).all() and (given > 0.0).all()):
            raise SolverError(
                f"weights are {weights!r}; expected positive finite numbers, one for each level from 1 on"
            )
        self.weights: tuple[float, ...] = tuple(given.tolist())
        self._hard, self._relaxed = _Workspace(), _Workspace()

    def reset(self) -> None:
        """Forgets the active sets of the last solutions."""
        self._hard, self._relaxed = _Workspace(), _Workspace()

    def level_weights(self, levels: int) -> Array:
        """Weights of the levels 0, 1, ...; that of level 0 counts only when it is relaxed."""
        below = [self.weights[k] if k < len(self.weights) else 0.0 for k in range(max(levels - 1, 0))]
        for k in range(len(self.weights), len(below)):
            below[k] = below[k - 1] / 10.0
        return np.array([RELAXED * max(below, default=1.0), *below])[:levels]

    def solve(self, program: Program) -> Solution:
        """The minimiser of the weighted cost; never raises on a valid Program."""
        if program.center.any():
            return self.solve(program.about_center()).of(program)
        start = time.perf_counter()
        with np.errstate(all="ignore"):
            rows = UnitRows.of(program)
            weight = np.repeat(self.level_weights(len(program)), np.diff(program.level_begin)) * rows.pull**2
            first = np.arange(program.rows) < (program.level_begin[1] if len(program) else 0)
            status, steps, x = "optimal", 0, None
            if program.variables:
                x, steps = self._hard.solve(_quadratic_program(rows, weight, first, relaxed=False))
                if x is None or _violation(rows, first & rows.counts, x) > HOLDS:
                    x, more = self._relaxed.solve(_quadratic_program(rows, weight, first, relaxed=True))
                    status, steps = "relaxed", steps + more
            if x is None:
                x = _clipped_least_squares(rows, weight, first)
                status = "iterations" if program.variables else "optimal"
            sides = sides_at(program, x, rows)
        return Solution(
            program=program,
            x=x,
            status=status,
            sides=sides,
            iterations=steps,
            milliseconds=1e3 * (time.perf_counter() - start),
            solver="weighted",
            counters={"iterations": steps},
        )


@dataclass(frozen=True)
class _QuadraticProgram:
    """``min x'Hx/2 + f'x + sum_soft s_i^2 / (2 rho_i)``; the first bounds are on x itself, the others on A x."""

    H: Array
    f: Array
    A: Array
    lower: Array
    upper: Array
    sense: NDArray[np.intc]
    rho: Array


class _Workspace:
    """A daqp model, set up once for programs of one shape and updated afterwards."""

    def __init__(self) -> None:
        self._model: daqp.Model | None = None
        self._shape: tuple[object, ...] = ()

    def solve(self, qp: _QuadraticProgram) -> tuple[Array | None, int]:
        """The minimiser and the iterations it took; None for what daqp does not solve."""
        shape = (qp.H.shape, qp.A.shape, qp.sense.tobytes())
        try:
            if self._model is not None and shape == self._shape:
                # update() reads the first entry of what it is given: empty arrays, which cannot have changed, stay out.
                A, upper, lower = (part if part.size else None for part in (qp.A, qp.upper, qp.lower))
                flag = self._model.update(qp.H, qp.f, A, upper, lower)
            else:
                self._model, self._shape = daqp.Model(), shape
                # eps_prox = 0: H is positive definite. Tolerances apply to rows normalised in the metric of H, of
                # which a unit may be 1e4 units of x.
                self._model.settings = {"eps_prox": 0.0, "primal_tol": 1e-10, "dual_tol": 1e-12}
                flag, _ = self._model.setup(qp.H, qp.f, qp.A, qp.upper, qp.lower, qp.sense)
            if flag >= 0:
                if (qp.sense == _SOFT).any():
                    self._model.soft_weights(rho_l=qp.rho, rho_u=qp.rho)
                x, _, flag, information = self._model.solve()
                if flag in (1, 2) and np.isfinite(x).all():  # optimal, or optimal with soft rows violated
                    return np.array(x), int(information["iterations"])
        except (LookupError, RuntimeError, ValueError):  # what daqp raises when it is handed overflowed numbers
            pass
        self._model = None  # a workspace that failed is not trusted again
        return None, 0


def _quadratic_program(rows: UnitRows, weight: Array, first: NDArray[np.bool_], relaxed: bool) -> _QuadraticProgram:
    """The rows in the form of daqp.

    Equalities in the cost make the Hessian. Inequalities in the cost are soft constraints, whose squared violation
    daqp penalises row by row. All weights are relative to the heaviest, with which daqp is at its best.
    """
    n = rows.A.shape[1]
    cost = rows.counts & (relaxed | ~first)
    fitted, soft = cost & rows.equality, cost & ~rows.equality
    heaviest = float(weight[cost].max(initial=0.0))
    relative = weight / heaviest if heaviest > 0.0 else weight
    pull = np.sqrt(relative[fitted])
    J, b = pull[:, None] * rows.A[fitted], pull * rows.lower[fitted]
    hard = np.flatnonzero(rows.counts & ~cost)
    box, column = _simple_bounds(rows.A, hard)
    bounds = n if len(box) else 0
    general = np.concatenate([hard[~np.isin(hard, box)], np.flatnonzero(soft)])
    lower = np.append(np.full(bounds, -_INFINITY), rows.lower[general])
    upper = np.append(np.full(bounds, _INFINITY), rows.upper[general])
    backwards = rows.A[box, column] < 0.0
    lower[column] = np.where(backwards, -rows.upper[box], rows.lower[box])
    upper[column] = np.where(backwards, -rows.lower[box], rows.upper[box])
    sense = np.zeros(len(lower), dtype=np.intc)
    sense[column] = _EQUALITY * rows.equality[box]
    sense[bounds:] = np.where(soft[general], _SOFT, _EQUALITY * rows.equality[general])
    return _QuadraticProgram(
        H=J.T @ J + (REGULARIZATION if heaviest > 0.0 else 1.0) * np.eye(n),
        f=-J.T @ b,
        A=rows.A[general],
        lower=np.maximum(lower, -_INFINITY),
        upper=np.minimum(upper, _INFINITY),
        sense=sense,
        rho=np.append(np.zeros(bounds), np.where(soft[general], 1.0 / np.maximum(relative[general], 1e-30), 0.0)),
    )


def _simple_bounds(A: Array, rows: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows with a single entry and its column; only the first of several on the same variable."""
    single = rows[np.count_nonzero(A[rows], axis=1) == 1]
    column, at = np.unique(np.argmax(A[single] != 0.0, axis=1), return_index=True)
    return single[at], column


def _violation(rows: UnitRows, which: NDArray[np.bool_], x: Array) -> float:
    value = rows.A[which] @ x
    violation = np.abs(value - np.clip(value, rows.lower[which], rows.upper[which]))
    return float(violation.max(initial=0.0) / (1.0 + np.abs(x).max(initial=0.0)))


def _clipped_least_squares(rows: UnitRows, weight: Array, first: NDArray[np.bool_]) -> Array:
    x: Array = np.zeros(rows.A.shape[1])
    pull = np.sqrt(weight[rows.equality])
    b = pull * rows.lower[rows.equality]
    if np.isfinite(pull).all() and np.isfinite(b).all():
        with contextlib.suppress(np.linalg.LinAlgError):  # an SVD that does not converge
            x = np.asarray(np.linalg.lstsq(pull[:, None] * rows.A[rows.equality], b, rcond=1e-9)[0])
    for i in np.flatnonzero(first & rows.counts & (np.count_nonzero(rows.A, axis=1) == 1)):
        j = int(np.argmax(rows.A[i] != 0.0))
        x[j] = rows.A[i, j] * np.clip(rows.A[i, j] * x[j], rows.lower[i], rows.upper[i])
    return np.where(np.isfinite(x), x, 0.0)
