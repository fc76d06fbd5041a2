"""Weighted: one quadratic program in which weights stand for priorities."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from poise.arrays import Array
from poise.errors import SolverError
from poise.extras import daqp, load
from poise.solvers.program import Program
from poise.solvers.solution import Sides, Solution, Solver
from poise.solvers.unit_rows import UnitRows, sides_at

try:
    from poise.solvers import _kernel  # type: ignore[attr-defined]
except ImportError:  # built without a compiler
    _kernel = None

#: Cost of |x|^2 relative to the heaviest row: enough for daqp to find the Hessian positive definite (its solves
#: begin to fail at 1e-9), too little to be seen in a task.
REGULARIZATION = 1e-8
#: How much heavier than the heaviest level the first one becomes when it cannot hold.
RELAXED_WEIGHT = 1e4
#: Level 0 holds if no unit row is violated by more than this, relative to the size of x.
LEVEL_0_TOLERANCE = 1e-6

#: x, and the side of every row.
PointAndSides = tuple[Array, Sides]


class Weighted(Solver):
    """Soft priorities: level 0 must hold, the levels below share one weighted cost.

    ::

        minimise    sum_{k>=1} weights_{k-1} sum_{i in k} weight_i s_i^2  +  r |x|^2
        subject to  lower_0 <= A_0 x <= upper_0

    with s_i the violation of row i and r = 1e-8 times the heaviest ``weights_{k-1} weight_i |a_i|^2``. Directions of x
    that the rows of the cost hold with less than that, because these are scaled or weighted down by more than four
    orders of magnitude against the heaviest, are left to r. Otherwise rows may be of any scale.

    The quadratic program, written by compiled code, goes to daqp, whose memory and active set are reused from one solve
    to the next. If it finds level 0 infeasible, level 0 joins the cost with 1e4 times the largest weight, and the
    status is ``"relaxed"``. If that fails too, the answer is the weighted least-squares solution of the equalities,
    clipped to the simple bounds of level 0, with status ``"iterations"``.

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
        load("daqp")  # now: nothing raises, or waits for an import, while a robot moves
        self.weights: tuple[float, ...] = tuple(given.tolist())
        self._level_weights: Array = np.zeros(0)
        self.reset()

    def reset(self) -> None:
        """Forgets the active sets of the last solutions."""
        self._hard, self._relaxed = _Workspace(relaxed=False), _Workspace(relaxed=True)

    def level_weights(self, levels: int) -> Array:
        """Weights of the levels 0, 1, ...; that of level 0 counts only when it is relaxed."""
        below = [self.weights[k] if k < len(self.weights) else 0.0 for k in range(max(levels - 1, 0))]
        for k in range(len(self.weights), len(below)):
            below[k] = below[k - 1] / 10.0
        return np.array([RELAXED_WEIGHT * max(below, default=1.0), *below])[:levels]

    def solve(self, program: Program) -> Solution:
        """The minimiser of the weighted cost; never raises on a valid Program."""
        start = time.perf_counter()
        if len(self._level_weights) != len(program):
            self._level_weights = self.level_weights(len(program))
        status = "optimal"
        answer, steps = self._hard.solve(program, self._level_weights)
        if answer is None:
            answer, more = self._relaxed.solve(program, self._level_weights)
            status, steps = "relaxed", steps + more
        if answer is None:
            answer = _clipped_least_squares(program, self._level_weights)
            status = "iterations" if program.variables else "optimal"
        x, sides = answer
        milliseconds = 1e3 * (time.perf_counter() - start)
        return Solution(program, x, status, sides, steps, milliseconds, "weighted", {"iterations": steps})


class _Workspace:
    """A daqp model and the arrays that it reads, set up once for programs of one shape and updated afterwards."""

    def __init__(self, relaxed: bool) -> None:
        self._relaxed = relaxed
        self._weighted_sum: Any = None if _kernel is None else _kernel.WeightedSum(relaxed, REGULARIZATION)
        self._structure: object = None
        self._model: Any = None  # of daqp

    def solve(self, program: Program, weights: Array) -> tuple[PointAndSides | None, int]:
        """The minimiser with the side of every row, and the iterations it took.

        None for what daqp does not solve, and for what violates level 0, unless that is relaxed.
        """
        if self._weighted_sum is None or not program.variables:
            return None, 0
        try:
            found = self._minimise(program, weights)
        except (LookupError, RuntimeError, ValueError):  # what daqp raises when it is handed overflowed numbers
            found = None
        if found is None:
            self._model = None  # a workspace that failed is not trusted again
            return None, 0
        shifted, steps = found
        x, sides = np.empty(len(shifted)), np.empty(program.level_begin[-1], np.int8)
        violation = self._weighted_sum.judge(shifted, x, sides)
        return ((x, sides) if self._relaxed or violation <= LEVEL_0_TOLERANCE else None), steps

    def _minimise(self, program: Program, weights: Array) -> tuple[Array, int] | None:
        structure = program.structure
        if structure is not self._structure:
            if self._structure != structure:
                level_begin, variables, columns = structure
                self._weighted_sum.layout(level_begin, variables, columns)
                self._model = None
            self._structure = structure
        same = self._weighted_sum.read(program.memory, weights)
        if self._model is None or not same:
            flag = self._set_up(program.variables)
        else:
            self._weighted_sum.write(*self._arrays)
            flag = self._model.update(*self._updated_arrays)
        if flag < 0:
            return None
        if self._rho is not None:
            self._model.soft_weights(rho_l=self._rho, rho_u=self._rho)
        x, _, flag, information = self._model.solve()
        optimal = flag in (1, 2) and np.isfinite(x).all()  # 2: with soft rows violated
        return (x, information["iterations"]) if optimal else None

    def _set_up(self, n: int) -> int:
        """A new model, with new arrays: ``min x'Hx/2 + f'x + sum_soft s_i^2 / (2 rho_i)``; the first bounds are on
        x itself, the others on A x."""
        bounds, general, soft = self._weighted_sum.shape()
        H, f, A = np.empty((n, n)), np.empty(n), np.empty((general, n))
        lower, upper, rho = (np.empty(bounds + general) for _ in range(3))
        sense = np.empty(bounds + general, np.intc)
        self._arrays = (H, f, A, lower, upper, sense, rho)
        self._weighted_sum.write(*self._arrays)
        self._rho = rho if soft else None
        # update() reads the first entry of what it is given: empty arrays, which cannot change, stay out.
        self._updated_arrays = tuple(array if array.size else None for array in (H, f, A, upper, lower))
        self._model = daqp.Model()
        # eps_prox = 0: H is positive definite. Tolerances apply to rows normalised in the metric of H, of which a unit
        # may be 1e4 units of x.
        self._model.settings = {"eps_prox": 0.0, "primal_tol": 1e-10, "dual_tol": 1e-12}
        flag, _ = self._model.setup(H, f, A, upper, lower, sense)
        return int(flag)


def _clipped_least_squares(program: Program, weights: Array) -> PointAndSides:
    """The least-squares fit of all equalities, clipped to the simple bounds of level 0."""
    if program.center.any():
        x, sides = _clipped_least_squares(program.relative_to_center(), weights)
        return x + program.center, sides
    x = np.zeros(program.variables)
    with np.errstate(all="ignore"):
        rows = UnitRows.from_program(program)
        level = np.repeat(np.arange(len(program)), np.diff(program.level_begin))
        root_weight = (np.sqrt(weights[level]) * rows.root_weight)[rows.equality]
        b = root_weight * rows.lower[rows.equality]
        if np.isfinite(root_weight).all() and np.isfinite(b).all():
            with contextlib.suppress(np.linalg.LinAlgError):  # an SVD that does not converge
                x = np.asarray(np.linalg.lstsq(root_weight[:, None] * rows.A[rows.equality], b, rcond=1e-9)[0])
        for i in np.flatnonzero((level == 0) & rows.relevant & (np.count_nonzero(rows.A, axis=1) == 1)):
            j = int(np.argmax(rows.A[i] != 0.0))
            x[j] = rows.A[i, j] * np.clip(rows.A[i, j] * x[j], rows.lower[i], rows.upper[i])
        x = np.where(np.isfinite(x), x, 0.0)
        return x, sides_at(program, x, rows)
