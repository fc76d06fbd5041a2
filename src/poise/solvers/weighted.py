"""Solver with soft priorities: one quadratic program in which weights replace the order of levels."""

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

#: Cost of |x|^2 relative to the heaviest row: enough to make the Hessian positive definite for daqp (which begins to
#: fail at 1e-9), too little to have a visible effect on a task.
REGULARIZATION = 1e-8
#: Weight of level 0 relative to the heaviest level if it is infeasible and has to be relaxed.
RELAXED_WEIGHT = 1e4
#: Level 0 holds if no unit row is violated by more than this, relative to the size of x.
LEVEL_0_TOLERANCE = 1e-6

#: x, and the side of every row.
PointAndSides = tuple[Array, Sides]


class Weighted(Solver):
    """Soft priorities: level 0 is a hard constraint, the levels below share one weighted cost.

    ::

        minimise    sum_{k>=1} weights_{k-1} sum_{i in k} weight_i s_i^2  +  r |x|^2
        subject to  lower_0 <= A_0 x <= upper_0

    with s_i the violation of row i and r = 1e-8 times the largest ``weights_{k-1} weight_i |a_i|^2``. The
    regularisation r prevails over rows that are scaled or weighted down by more than four orders of magnitude against
    the heaviest one. Otherwise rows may have any scale.

    Compiled code writes the quadratic program, which daqp solves, reusing its memory and active set from one solve to
    the next. If level 0 is infeasible, it joins the cost with 1e4 times the largest weight, and the status is
    ``"relaxed"``. If that fails too, the solution is the weighted least-squares solution of the equalities, clipped to
    the simple bounds of level 0, with status ``"iterations"``.

    Args:
        weights: positive weight of each level from 1 on; levels beyond the list get a tenth of the one before. None:
            100, 10, 1, 0.1, ... as in [Dalibard2012].

    >>> Weighted().solve(Program([Rows.bounds([0, 0], [1, 1]), Rows([[1, 1]], 3, 3)])).x
    array([1., 1.])
    """

    def __init__(self, weights: Sequence[float] | None = None) -> None:
        try:
            values = np.asarray([100.0] if weights is None else weights, dtype=float)
        except (TypeError, ValueError):
            values = np.zeros(0)
        if values.ndim != 1 or not len(values) or not (np.isfinite(values).all() and (values > 0.0).all()):
            raise SolverError(
                f"weights are {weights!r}; expected positive finite numbers, one for each level from 1 on"
            )
        load("daqp")  # at construction: the control loop must neither raise nor wait for an import
        self.weights: tuple[float, ...] = tuple(values.tolist())
        self._level_weights: Array = np.zeros(0)
        self.reset()

    def reset(self) -> None:
        """Discard the active sets of the last solutions."""
        self._hard, self._relaxed = _Workspace(relaxed=False), _Workspace(relaxed=True)

    def level_weights(self, levels: int) -> Array:
        """Return the weights of levels 0, 1, ...; that of level 0 is used only if it is relaxed."""
        below = [self.weights[k] if k < len(self.weights) else 0.0 for k in range(max(levels - 1, 0))]
        for k in range(len(self.weights), len(below)):
            below[k] = below[k - 1] / 10.0
        return np.array([RELAXED_WEIGHT * max(below, default=1.0), *below])[:levels]

    def solve(self, program: Program) -> Solution:
        """Return the minimiser of the weighted cost; never raises on a valid Program."""
        start = time.perf_counter()
        if len(self._level_weights) != len(program):
            self._level_weights = self.level_weights(len(program))
        status = "optimal"
        answer, steps = self._hard.solve(program, self._level_weights)
        if answer is None:
            answer, relaxed_steps = self._relaxed.solve(program, self._level_weights)
            status, steps = "relaxed", steps + relaxed_steps
        if answer is None:
            answer = _clipped_least_squares(program, self._level_weights)
            status = "iterations" if program.variables else "optimal"
        x, sides = answer
        milliseconds = 1e3 * (time.perf_counter() - start)
        return Solution(program, x, status, sides, steps, milliseconds, "weighted", {"iterations": steps})


class _Workspace:
    """A daqp model and its arrays, set up once for programs of one shape and updated afterwards."""

    def __init__(self, relaxed: bool) -> None:
        self._relaxed = relaxed
        self._weighted_sum: Any = None if _kernel is None else _kernel.WeightedSum(relaxed, REGULARIZATION)
        self._structure: object = None
        self._model: Any = None  # of daqp

    def solve(self, program: Program, weights: Array) -> tuple[PointAndSides | None, int]:
        """Return the minimiser with the side of every row, and the number of iterations.

        The minimiser is None if daqp fails, or if it violates level 0 and level 0 is not relaxed.
        """
        if self._weighted_sum is None or not program.variables:
            return None, 0
        try:
            minimiser = self._minimise(program, weights)
        except (LookupError, RuntimeError, ValueError):  # raised by daqp if numbers overflowed
            minimiser = None
        if minimiser is None:
            self._model = None  # after a failure the workspace is not reused
            return None, 0
        shifted, steps = minimiser
        x, sides = np.empty(len(shifted)), np.empty(program.level_begin[-1], np.int8)
        violation = self._weighted_sum.check_solution(shifted, x, sides)
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
        """Make a new model with new arrays: ``min x'Hx/2 + f'x + sum_soft s_i^2 / (2 rho_i)``.

        The first bounds are on x itself, the others on A x. Returns the exit flag of daqp, negative for a failure.
        """
        bounds, general, soft = self._weighted_sum.shape()
        H, f, A = np.empty((n, n)), np.empty(n), np.empty((general, n))
        lower, upper, rho = (np.empty(bounds + general) for _ in range(3))
        sense = np.empty(bounds + general, np.intc)
        self._arrays = (H, f, A, lower, upper, sense, rho)
        self._weighted_sum.write(*self._arrays)
        self._rho = rho if soft else None
        # update() reads the first entry of each array: leave out empty arrays, which cannot change.
        self._updated_arrays = tuple(array if array.size else None for array in (H, f, A, upper, lower))
        self._model = daqp.Model()
        # eps_prox = 0: H is positive definite. Tolerances apply to rows normalised in the metric of H, in which one
        # unit may be 1e4 units of x.
        self._model.settings = {"eps_prox": 0.0, "primal_tol": 1e-10, "dual_tol": 1e-12}
        flag, _ = self._model.setup(H, f, A, upper, lower, sense)
        return int(flag)


def _clipped_least_squares(program: Program, weights: Array) -> PointAndSides:
    """Return the least-squares fit of all equalities, clipped to the simple bounds of level 0."""
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
