"""Reference solver in numpy: strict priorities, one level at a time, by a primal active-set method."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from poise.arrays import Array
from poise.errors import SolverError
from poise.extras import scipy
from poise.solvers.program import Program, check_damping, program_damping
from poise.solvers.solution import Solution, Solver
from poise.solvers.unit_rows import RANK_TOLERANCE, UnitRows, sides_at


@dataclass(frozen=True)
class BoundedRows:
    """Unit rows ``lower <= A x <= upper``."""

    A: Array
    lower: Array
    upper: Array

    def __add__(self, more: BoundedRows) -> BoundedRows:
        return BoundedRows(
            np.vstack([self.A, more.A]), np.append(self.lower, more.lower), np.append(self.upper, more.upper)
        )


@dataclass(frozen=True)
class LevelRows:
    """The rows of one level that have an effect; root weights and damping are divided by the largest root weight."""

    rows: BoundedRows
    equality: NDArray[np.bool_]
    root_weight: Array
    damping: np.float64


@dataclass(frozen=True)
class FixedLevels:
    """The freedom that the levels solved so far leave to the next ones.

    Attributes:
        free: orthonormal basis of the directions that change no fixed value.
        inside: rows that have to stay inside their bounds.
    """

    free: Array
    inside: BoundedRows

    def add_level(self, level: LevelRows, x: Array, tolerance: float) -> FixedLevels:
        """Return the freedom that is left after one more level, for which x is optimal."""
        A, lower, upper, free = level.rows.A, level.rows.lower, level.rows.upper, self.free
        value = A @ x
        violation = np.abs(value - np.clip(value, lower, upper))
        fixed = level.equality | (violation > tolerance + _rounding(x))
        if fixed.any():
            _, size, V = scipy.linalg.svd(A[fixed] @ free, lapack_driver="gesvd")
            free = free @ V[np.count_nonzero(size > RANK_TOLERANCE) :].T
        widened = np.minimum(lower, value), np.maximum(upper, value)  # by rounding errors at most
        return FixedLevels(free, self.inside + BoundedRows(A[~fixed], widened[0][~fixed], widened[1][~fixed]))


class ActiveSetSearch:
    """Primal active-set method for one level.

    The rows are first those of higher levels that have to stay inside, then those of the level. A row is active at its
    lower (-1) or upper (+1) bound, or inactive (0). Active rows of higher levels are held at their bound. For active
    rows of the level, the distance to the bound is part of the cost, on either side. For a given active set, the
    problem is a least-squares fit in the directions N along the held rows. x moves towards the fit until an inactive
    row meets its bound and becomes active. At the fit, a row whose multiplier has the wrong sign becomes inactive; if
    there is none, x is optimal.

    The cost never grows and falls with every step of non-zero length. While it does not fall, the smallest index is
    chosen, which prevents cycles in exact arithmetic, and a row that was deactivated three times without effect stays
    active: the sign of its multiplier is a rounding error.
    """

    def __init__(self, level: LevelRows, fixed_levels: FixedLevels, tolerance: float) -> None:
        self.rows, self.free = fixed_levels.inside + level.rows, fixed_levels.free
        self.damping, self.tolerance = level.damping, tolerance
        first = len(fixed_levels.inside.A)
        self.root_weight = np.append(np.zeros(first), level.root_weight)
        self.equality = np.append(np.zeros(first, dtype=bool), level.equality)
        self.is_level_row = np.arange(len(self.root_weight)) >= first
        self.active_side = np.zeros(len(self.root_weight), dtype=int)
        # Active rows of higher levels. Each blocked a step along the others, so they are linearly independent.
        self.held_rows: list[int] = []
        self.stalled = False
        # How often each row was deactivated since the cost last fell.
        self.failed_releases = np.zeros(len(self.root_weight), dtype=int)
        self.max_iterations = 100 + 20 * len(self.root_weight)  # each row may enter and leave ten times

    def run(self, x: Array) -> tuple[Array, int, str]:
        """Return the optimum of the level, the iterations and the status, starting from a feasible point x."""
        value = self.rows.A @ x
        self.active_side = (
            np.where(value < self.rows.lower, -1, np.where(value > self.rows.upper, 1, 0)) * self.is_level_row
        )
        self.active_side[self.equality] = 1
        least = np.inf
        for iteration in range(1, self.max_iterations + 1):
            N, Q, R = self.tangent_basis()
            p = self.step(x, N)
            length, blocker, side = self.first_blocking_row(x, p)
            x = x + length * p
            cost, rounding = self.cost(x)
            self.stalled = not cost < least - rounding
            if not self.stalled:
                least, self.failed_releases[:] = cost, 0
            if blocker >= 0:
                self.active_side[blocker] = side
                self.held_rows += [] if self.is_level_row[blocker] else [blocker]
                continue
            wrong = self.wrong_multiplier(x, Q, R)
            if wrong < 0:
                return x, iteration, "optimal"
            self.active_side[wrong] = 0
            self.failed_releases[wrong] += 1
            self.held_rows = [row for row in self.held_rows if row != wrong]
        return x, self.max_iterations, "iterations"

    def distance(self, x: Array) -> Array:
        """Return the signed distance of active rows of the level from their bound; zero for all other rows."""
        bound = np.where(self.active_side < 0, self.rows.lower, self.rows.upper)
        return np.where(self.is_level_row & (self.active_side != 0), self.rows.A @ x - bound, 0.0)

    def cost(self, x: Array) -> tuple[float, float]:
        """Return the cost of the active rows and its rounding error."""
        r, error = np.abs(self.distance(x)), _rounding(x)
        cost = ((self.root_weight * r) ** 2).sum() + self.damping**2 * (x @ x)
        return float(cost), float((self.root_weight**2 * error * (r + error)).sum() + 1e-14 * cost)

    def tangent_basis(self) -> tuple[Array, Array, Array]:
        """Return a basis N of the directions along the held rows, and their factors: ``(A_held free).T = Q R``."""
        h = len(self.held_rows)
        if not h:
            return self.free, np.zeros((self.free.shape[1], 0)), np.zeros((0, 0))
        Q, R = scipy.linalg.qr((self.rows.A[self.held_rows] @ self.free).T)
        return self.free @ Q[:, h:], Q[:, :h], R[:h]

    def step(self, x: Array, N: Array) -> Array:
        """Return the shortest step p = N y to the least-squares fit."""
        fitted = self.is_level_row & (self.active_side != 0)
        M, root_weight = self.rows.A[fitted] @ N, self.root_weight[fitted]
        target = -root_weight * self.distance(x)[fitted]
        if self.damping > 0.0:
            eye = self.damping * np.eye(N.shape[1])
            return N @ _least_squares(np.vstack([root_weight[:, None] * M, eye]), np.append(target, -eye @ (N.T @ x)))
        if M.size == 0:
            return np.zeros(len(x))
        _, size, V = scipy.linalg.svd(M, full_matrices=False, lapack_driver="gesvd")
        V = V[size > RANK_TOLERANCE].T  # the rank is that of the unit rows, whatever their weights
        step: Array = N @ (V @ _least_squares(root_weight[:, None] * (M @ V), target))
        return step

    def first_blocking_row(self, x: Array, p: Array) -> tuple[float, int, int]:
        """Return the feasible fraction of step p, the row that limits it (-1 for none) and the side of its bound."""
        speed, value, norm = self.rows.A @ p, self.rows.A @ x, float(np.linalg.norm(p))
        row_speed = np.abs(speed)
        distance_to_bound = np.where(speed > 0.0, self.rows.upper - value, value - self.rows.lower)
        # A row speed of the size of rounding errors does not block, unless the step is long enough to pass the bound.
        beyond = (row_speed > 1e-13 * norm) & (row_speed - distance_to_bound > _rounding(x + p))
        blocks = (
            (self.active_side == 0) & np.isfinite(distance_to_bound) & ((row_speed > RANK_TOLERANCE * norm) | beyond)
        )
        fraction = np.where(blocks, np.maximum(distance_to_bound, 0.0) / row_speed, np.inf)
        length = fraction.min(initial=np.inf)
        if not length < 1.0:
            return 1.0, -1, 0
        ties = np.flatnonzero(fraction <= length + 1e-14)
        row = int(ties[0] if self.stalled else ties[np.argmax(row_speed[ties])])
        return float(length), row, 1 if speed[row] > 0.0 else -1

    def wrong_multiplier(self, x: Array, Q: Array, R: Array) -> int:
        """Return the active row whose multiplier has the wrong sign and the largest size, -1 for none.

        The multiplier of a row of the level is ``root_weight^2`` times its distance; those of held rows cancel the
        gradient. While the cost does not fall, the first row with a wrong sign is returned.
        """
        r, rounding = self.distance(x), _rounding(x)
        multiplier = self.root_weight**2 * r
        gradient = self.free.T @ (self.rows.A.T @ multiplier + self.damping**2 * x)
        size = np.abs(multiplier).max(initial=0.0) + self.damping**2 * np.abs(x).max(initial=0.0)
        if self.held_rows:
            multiplier[self.held_rows] = -scipy.linalg.solve_triangular(R, Q.T @ gradient)
        wrong = -self.active_side * multiplier
        visible = np.where(self.is_level_row, -self.active_side * r > rounding, wrong > rounding) & (
            wrong > self.tolerance * size
        )
        rows = np.flatnonzero(visible & ~self.equality & (self.failed_releases < 3))
        if not len(rows):
            return -1
        return int(rows[0] if self.stalled else rows[np.argmax(wrong[rows])])


def _rounding(x: Array) -> float:
    """Return the rounding error to expect in the value of a unit row at x."""
    return 1e-14 * (1.0 + float(np.abs(x).max(initial=0.0)))


def _least_squares(M: Array, b: Array) -> Array:
    """Return the y that minimises ``|M y - b|`` for M of full column rank.

    Householder reflections with column pivoting on rows sorted by size: accurate row by row even if the rows differ in
    scale by many orders of magnitude, where an SVD is accurate only relative to the largest row.
    """
    if M.shape[1] == 0:
        return np.zeros(0)
    order = np.argsort(-np.abs(M).max(axis=1), kind="stable")
    Q, R, columns = scipy.linalg.qr(M[order], mode="economic", pivoting=True)
    y = np.empty(M.shape[1])
    y[columns] = scipy.linalg.solve_triangular(R, Q.T @ b[order])
    return y


# -- Cascade ---------------------------------------------------------------------------------------------------------


class Cascade(Solver):
    """Strict lexicographic least squares, one small problem per level: the reference for the other solvers.

    Level k minimises over x the cost of its rows a_i (scaled to unit length, s_i the violation, w_i the square
    root of the weight)::

        sum_i w_i^2 s_i^2 + damping_k^2 |x|^2

    subject to the optimality of the higher levels ([Saab2012] eq. 2). The optimal s of a level is unique, so its
    optimal points are exactly those where the rows with ``s_i != 0`` and the equalities *keep their value* and the
    rows with ``s_i == 0`` *stay inside* ``[lower_i, upper_i]``. A last level ``x = 0`` takes the remaining freedom.

    Each level is solved by a primal active-set method, which starts at the optimum of the previous level, keeps all
    higher levels optimal, and ends at a point where all multipliers have the right sign: by convexity, the optimum.

    Args:
        damping: scalar, or one per level; keeps x short near singularities. Zero: exact.
        tolerance: relative size below which a violation or a multiplier counts as a rounding error.

    >>> Cascade().solve(Program([Rows.bounds([0, 0], [1, 1]), Rows([[1, 1]], 3, 3)])).x
    array([1., 1.])
    """

    def __init__(self, damping: float | Sequence[float] = 0.0, tolerance: float = 1e-11) -> None:
        if not 0.0 < tolerance < 1e-3:
            raise SolverError(f"tolerance is {tolerance!r}; expected a small number such as 1e-11")
        self.damping = check_damping(damping)
        self.tolerance = tolerance

    def solve(self, program: Program) -> Solution:
        """Return the lexicographic optimum of the program; never raises on a valid Program."""
        if program.center.any():
            return self.solve(program.relative_to_center()).shift_to_center(program)
        start = time.perf_counter()
        with np.errstate(all="ignore"):
            rows = UnitRows.from_program(program)
            levels = [*_levels(program, rows, self.damping), _least_norm(program.variables)]
            x, iterations, status, farthest = self._solve_levels(levels, np.zeros(program.variables))
            if status == "optimal" and farthest > 1e3 * (1.0 + np.linalg.norm(x)):
                # Nearly dependent rows led far from the origin, where rounding errors are large: restart at the end.
                second_x, second_iterations, status, _ = self._solve_levels(levels, x)
                x, iterations = (second_x if status == "optimal" else x), iterations + second_iterations
                status = "optimal"
            sides = sides_at(program, x, rows)
        return Solution(
            program=program,
            x=x,
            status=status,
            sides=sides,
            iterations=iterations,
            milliseconds=1e3 * (time.perf_counter() - start),
            solver="cascade",
            counters={"iterations": iterations},
        )

    def _solve_levels(self, levels: list[LevelRows], x: Array) -> tuple[Array, int, str, float]:
        """Solve all levels, starting at x; return the optimum, iterations, status and largest norm of x on the way."""
        n, iterations, farthest = len(x), 0, 0.0
        fixed_levels = FixedLevels(np.eye(n), BoundedRows(np.zeros((0, n)), np.zeros(0), np.zeros(0)))
        for level in levels:
            try:
                optimum, steps, status = ActiveSetSearch(level, fixed_levels, self.tolerance).run(x)
                fixed_levels = fixed_levels.add_level(level, optimum, self.tolerance)
            except (np.linalg.LinAlgError, ValueError):  # an SVD that does not converge, or numbers that overflow
                return x, iterations, "iterations", farthest
            if not np.isfinite(optimum).all():
                return x, iterations, "iterations", farthest
            x, iterations, farthest = optimum, iterations + steps, max(farthest, float(np.linalg.norm(optimum)))
            if status != "optimal":
                return x, iterations, status, farthest
        return x, iterations, "optimal", farthest


def _levels(program: Program, rows: UnitRows, damping: float | Sequence[float]) -> list[LevelRows]:
    levels = []
    for k, d in enumerate(program_damping(damping, program)):
        level_rows = np.arange(program.rows)[program.slice(k)]
        level_rows = level_rows[rows.relevant[level_rows]]
        if len(level_rows):
            bounds = BoundedRows(rows.A[level_rows], rows.lower[level_rows], rows.upper[level_rows])
            strongest = rows.root_weight[level_rows].max()
            levels.append(
                LevelRows(
                    bounds,
                    rows.equality[level_rows],
                    rows.root_weight[level_rows] / strongest,
                    np.float64(d) / strongest,
                )
            )
    return levels


def _least_norm(n: int) -> LevelRows:
    return LevelRows(
        BoundedRows(np.eye(n), np.zeros(n), np.zeros(n)), np.ones(n, dtype=bool), np.ones(n), np.float64(0.0)
    )
