"""An optimality certificate that trusts no solver: multipliers found from x alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr, solve_triangular
from scipy.optimize import nnls

from poise.solvers.program import Program
from poise.solvers.rows import UNBOUNDED, Array
from poise.solvers.solution import Solution

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Certificate:
    """How far x is from satisfying the optimality conditions of every level.

    Attributes:
        levels: residual of each level.
        least_norm: residual of the last condition, that no shorter x does as well.
        multipliers: one array per level, a multiplier for each stacked row (unit-norm rows).
    """

    levels: tuple[float, ...]
    least_norm: float
    multipliers: tuple[Array, ...]

    @property
    def residual(self) -> float:
        """The largest residual of all."""
        return max((*self.levels, self.least_norm), default=0.0)


def certificate(program: Program, answer: Solution | Array, tolerance: float = 1e-11) -> Certificate:
    """Karush-Kuhn-Tucker residuals of x, level by level.

    Let a_i be the rows scaled to unit norm, s_i their slack at x and p_i their weight (times the squared norm,
    relative to the heaviest row of the level). x is lexicographically optimal if and only if for every
    level k there are multipliers lambda_i of the rows i of the levels above with::

        sum_{i in k} p_i s_i a_i + sum_{i above k} lambda_i a_i = 0

    where lambda_i is free for equalities, for violated rows, and for rows with a multiplier at an earlier level (all
    of these are settled already), has the sign of its bound for rows at a bound, and is zero for rows inside.
    The residual of level k is the norm of that sum, minimised over lambda, divided by
    ``1 + max |p_i s_i| + 1e-6 (|x| + max |lambda_i|)``: rounding alone moves the slack by machine epsilon times |x| and
    the sum by machine epsilon times |lambda|. The last condition is the same with x in place of the first sum: no
    shorter x would do.

    Only x is used: what the solver says of its active set is ignored. Damped solutions are not optimal in this sense.

    Args:
        program: the question.
        answer: a Solution or its x.
        tolerance: distance, relative to ``1 + |bound|``, at which a unit row counts as at its bound (rounding of
            2e-14 |x| comes on top).
    """
    x = answer.x if isinstance(answer, Solution) else np.asarray(answer, dtype=float)
    unit = _UnitRows(program, x, tolerance)
    settled = unit.used & (unit.equality | unit.violated)
    residuals, multipliers = [], []
    for k in range(len(program)):
        span = program.slice(k)
        force = np.where(unit.used, unit.pull * unit.slack, 0.0)[span]
        above = np.zeros(program.rows, dtype=bool)
        above[: span.start] = True
        lam, rest = unit.balance(unit.A[span].T @ force, above, settled)
        heaviest = float(np.abs(force).max(initial=0.0))
        rounding = 1e-6 * (unit.size + float(np.abs(lam).max(initial=0.0)))
        residuals.append(float(np.linalg.norm(rest)) / (1.0 + heaviest + rounding))
        lam[span] = force
        if unit.violated[span].any():  # otherwise the forces are rounding and settle nothing
            meaningful = 1e-14 * (heaviest + unit.size)
            settled = settled | (np.abs(lam) > meaningful)
        multipliers.append(lam)
    lam, rest = unit.balance(x, np.ones(program.rows, dtype=bool), settled)
    size = 1.0 + unit.size + 1e-6 * float(np.abs(lam).max(initial=0.0))
    return Certificate(tuple(residuals), float(np.linalg.norm(rest)) / size, tuple(multipliers))


class _UnitRows:
    """Rows scaled to unit norm and where x puts them."""

    def __init__(self, program: Program, x: Array, tolerance: float) -> None:
        norm = np.linalg.norm(program.A, axis=1)
        lower = np.where(program.lower <= -UNBOUNDED, -np.inf, program.lower)
        upper = np.where(program.upper >= UNBOUNDED, np.inf, program.upper)
        bounded = np.isfinite(lower) | np.isfinite(upper)
        self.used: Mask = (norm > 0.0) & (program.weight > 0.0) & bounded
        scale = np.where(norm > 0.0, norm, 1.0)
        self.A: Array = program.A / scale[:, None]
        self.size = float(np.linalg.norm(x))
        lower, upper = lower / scale, upper / scale
        value = self.A @ x
        magnitude = np.maximum(
            np.where(np.isfinite(lower), np.abs(lower), 0.0), np.where(np.isfinite(upper), np.abs(upper), 0.0)
        )
        near = tolerance * (1.0 + magnitude) + 2e-14 * self.size
        self.slack: Array = value - np.clip(value, lower, upper)
        self.equality: Mask = lower == upper
        self.violated: Mask = np.abs(self.slack) > near
        self.at_lower: Mask = self.used & ~self.equality & ~self.violated & (value - lower <= near)
        self.at_upper: Mask = self.used & ~self.equality & ~self.violated & (upper - value <= near)
        self.pull: Array = program.weight * norm**2
        for k in range(len(program)):
            span = program.slice(k)
            heaviest = self.pull[span].max(initial=0.0)
            if heaviest > 0.0:
                self.pull[span] /= heaviest

    def balance(self, gradient: Array, above: Mask, settled: Mask) -> tuple[Array, Array]:
        """Multipliers of the rows `above` that best cancel the gradient, and what they leave."""
        free = np.flatnonzero(above & settled)
        push = np.flatnonzero(above & ~settled & self.at_upper)
        pull = np.flatnonzero(above & ~settled & self.at_lower)
        lam = np.zeros(len(self.A))
        basis, combine = _row_space(self.A[free])
        rest = gradient - basis @ (basis.T @ gradient)
        if len(push) + len(pull) and np.linalg.norm(rest) > 0.0:
            columns = np.concatenate([self.A[push], -self.A[pull]]).T
            columns = columns - basis @ (basis.T @ columns)
            size = float(np.linalg.norm(rest))
            amounts = _nonnegative(columns, -rest / size) * size
            rest = rest + columns @ amounts
            lam[push] += amounts[: len(push)]
            lam[pull] -= amounts[len(push) :]
        lam[free] = -combine @ (basis.T @ (gradient + self.A.T @ lam))
        return lam, rest


def _row_space(rows: Array) -> tuple[Array, Array]:
    """Orthonormal basis B of the span of the rows, and C with ``rows.T @ C = B``."""
    m, n = rows.shape
    if m == 0:
        return np.zeros((n, 0)), np.zeros((0, 0))
    q, r, order = qr(rows.T, mode="economic", pivoting=True)
    rank = int(np.sum(np.abs(np.diag(r)) > 1e-11))
    combine = np.zeros((m, rank))
    combine[order[:rank]] = solve_triangular(r[:rank, :rank], np.eye(rank))
    return np.asarray(q[:, :rank]), combine


def _nonnegative(columns: Array, target: Array) -> Array:
    try:
        amounts, _ = nnls(columns, target, maxiter=20 * (columns.shape[1] + 1))
    except RuntimeError:  # did not converge: no certificate from these rows
        amounts = np.zeros(columns.shape[1])
    return np.asarray(amounts)
