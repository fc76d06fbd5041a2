"""Cascade: strict priorities one level at a time, slowly, in numpy."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from poise.errors import SolverError
from poise.solvers.primal import Bounds, Level, Search, Settled
from poise.solvers.program import Program
from poise.solvers.rows import Array
from poise.solvers.settings import checked_damping, program_damping
from poise.solvers.solution import Solution
from poise.solvers.unit_rows import UnitRows, sides_at


class Cascade:
    """Strict lexicographic least squares, one small problem per level: the reference for the other solvers.

    Level k minimises over x the cost of its rows a_i (scaled to unit length, s_i the violation, pull_i the square
    root of the weight)::

        sum_i pull_i^2 s_i^2 + damping_k^2 |x|^2

    subject to what the earlier levels settled ([Saab2012] eq. 2). The optimal s of a level is unique, so its
    optimal points are exactly those where the rows with ``s_i != 0`` and the equalities *keep their value* and the
    rows with ``s_i == 0`` *stay inside* ``[lower_i, upper_i]``. A last level ``x = 0`` takes the remaining freedom.

    Each level is solved by a primal active set, which starts at the optimum of the previous level, never leaves what
    is settled, and ends at a point where all multipliers have the right sign: by convexity, the optimum.

    Args:
        damping: scalar, or one per level; keeps x short near singularities. Zero: exact.
        tolerance: relative size below which a violation or a multiplier is rounding.

    >>> Cascade().solve(Program([Rows.bounds([0, 0], [1, 1]), Rows([[1, 1]], 3, 3)])).x
    array([1., 1.])
    """

    def __init__(self, damping: float | Sequence[float] = 0.0, tolerance: float = 1e-11) -> None:
        if not 0.0 < tolerance < 1e-3:
            raise SolverError(f"tolerance is {tolerance!r}; expected a small number such as 1e-11")
        self.damping = checked_damping(damping)
        self.tolerance = tolerance

    def solve(self, program: Program) -> Solution:
        """The lexicographic optimum of the program; never raises on a valid Program."""
        if program.center.any():
            return self.solve(program.about_center()).of(program)
        start = time.perf_counter()
        with np.errstate(all="ignore"):
            rows = UnitRows.of(program)
            levels = [*_levels(program, rows, self.damping), _least_norm(program.variables)]
            x, iterations, status, farthest = self._descent(levels, np.zeros(program.variables))
            if status == "optimal" and farthest > 1e3 * (1.0 + np.linalg.norm(x)):
                # Nearly dependent rows led far away, where rounding is coarse: once more from where it ended.
                again, more, status, _ = self._descent(levels, x)
                x, iterations, status = (again if status == "optimal" else x), iterations + more, "optimal"
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

    def _descent(self, levels: list[Level], x: Array) -> tuple[Array, int, str, float]:
        """All levels, starting at x: the optimum, iterations, status and how far from the origin it went."""
        n, iterations, farthest = len(x), 0, 0.0
        settled = Settled(np.eye(n), Bounds(np.zeros((0, n)), np.zeros(0), np.zeros(0)))
        for level in levels:
            try:
                reached, steps, status = Search(level, settled, self.tolerance).run(x)
                settled = settled.joined(level, reached, self.tolerance)
            except (np.linalg.LinAlgError, ValueError):  # an SVD that does not converge, or numbers that overflow
                return x, iterations, "iterations", farthest
            if not np.isfinite(reached).all():
                return x, iterations, "iterations", farthest
            x, iterations, farthest = reached, iterations + steps, max(farthest, float(np.linalg.norm(reached)))
            if status != "optimal":
                return x, iterations, status, farthest
        return x, iterations, "optimal", farthest


def _levels(program: Program, rows: UnitRows, damping: float | Sequence[float]) -> list[Level]:
    levels = []
    for k, d in enumerate(program_damping(damping, program)):
        own = np.arange(program.rows)[program.slice(k)]
        own = own[rows.counts[own]]
        if len(own):
            bounds = Bounds(rows.A[own], rows.lower[own], rows.upper[own])
            strongest = rows.pull[own].max()
            levels.append(Level(bounds, rows.equality[own], rows.pull[own] / strongest, np.float64(d) / strongest))
    return levels


def _least_norm(n: int) -> Level:
    return Level(Bounds(np.eye(n), np.zeros(n), np.zeros(n)), np.ones(n, dtype=bool), np.ones(n), np.float64(0.0))
