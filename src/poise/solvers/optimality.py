"""Checks of optimality, independent of the solver, and explanations of solutions as text.

`certificate` computes the Karush-Kuhn-Tucker residuals of a solution; `explain` lists violated and saturated rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from poise.arrays import Array, Mask
from poise.extras import scipy
from poise.solvers.program import Program
from poise.solvers.solution import EQUALITY, INSIDE, LOWER, UPPER, Solution, negligible
from poise.solvers.unit_rows import UnitRows, sides_at


@dataclass(frozen=True)
class Certificate:
    """How far x is from satisfying the optimality conditions of every level.

    Attributes:
        levels: residual of each level.
        least_norm: residual of the last condition, that no shorter x is equally good.
        multipliers: one array per level with a multiplier of each stacked row (unit-norm rows).
    """

    levels: tuple[float, ...]
    least_norm: float
    multipliers: tuple[Array, ...]

    @property
    def residual(self) -> float:
        """Largest residual of all conditions."""
        return max((*self.levels, self.least_norm), default=0.0)


def certificate(program: Program, answer: Solution | Array, tolerance: float = 1e-11) -> Certificate:
    """Return the Karush-Kuhn-Tucker residuals of x, level by level.

    Let a_i be the rows scaled to unit norm, s_i their slack at x and p_i their weight (times the squared norm, relative
    to the heaviest row of the level). x is lexicographically optimal if and only if for every level k there are
    multipliers lambda_i of the rows i of the levels above with::

        sum_{i in k} p_i s_i a_i + sum_{i above k} lambda_i a_i = 0

    where lambda_i is

    - free for rows that are fixed: equalities, violated rows, and rows with a multiplier at an earlier level (or so
      nearly dependent on others that a relative error of 1e-12 in the rows hides whether they have one);
    - of the sign of its bound for rows at a bound;
    - zero for rows inside their bounds.

    For a row of level k within rounding of its bound, the slack is too inaccurate to give the term p_i s_i that
    balances rows of smaller weight. If it gives a smaller residual, these terms are unknowns, too, of at most p_i times
    the rounding.

    The residual of level k is the norm of the sum, minimised over lambda, divided by
    ``1 + max |p_i s_i| + 1e-6 (|x| + max |lambda_i|)``: rounding alone changes the slack by machine epsilon times |x|,
    and the sum by machine epsilon times |lambda|. The last condition is the same with x in place of the first sum: no
    shorter x is equally good.

    Only x is used; the active set that the solver reports is ignored. Damped solutions are not optimal in this sense.

    Args:
        program: the program.
        answer: a Solution of it, or its x.
        tolerance: distance, relative to ``1 + |bound|``, at which a unit row counts as at its bound (2e-14 |x| is
            added for rounding).
    """
    if program.center.any():
        x = answer.x if isinstance(answer, Solution) else np.asarray(answer)
        return certificate(program.relative_to_center(), x - program.center, tolerance)
    x = answer.x if isinstance(answer, Solution) else np.asarray(answer, dtype=float)
    unit = _RowStates(program, x, tolerance)
    fixed = unit.equality | unit.violated
    residuals, multipliers = [], []
    for k in range(len(program)):
        span = program.slice(k)
        up_to_level = np.arange(program.rows) < span.stop
        residual, lam, heaviest = min(
            (_level_residual(unit, span, fixed, free_terms) for free_terms in (False, True)),
            key=lambda candidate: candidate[0],
        )
        residuals.append(residual)
        if unit.violated[span].any():
            error = unit.multiplier_error(lam, up_to_level, fixed, span)
            fixed = fixed | (np.abs(lam) > 1e-14 * heaviest) | (error > 1e-9 * heaviest)
        multipliers.append(lam)
    lam, rest = unit.balance(x, np.ones(program.rows, dtype=bool), fixed)
    size = 1.0 + unit.size + 1e-6 * float(np.abs(lam).max(initial=0.0))
    return Certificate(tuple(residuals), float(np.linalg.norm(rest)) / size, tuple(multipliers))


def _level_residual(unit: _RowStates, span: slice, fixed: Mask, free_terms: bool) -> tuple[float, Array, float]:
    """Return residual, multipliers and largest term |p_i s_i| of one level.

    With `free_terms`, the terms of rows of the level within rounding of their bound are unknowns, not taken from the
    slack.
    """
    with_slack = unit.violated if free_terms else unit.relevant
    terms = np.where(with_slack, unit.relative_weight * unit.slack, 0.0)[span]
    above = np.arange(len(unit.A)) < span.start
    if free_terms:
        above[span] = ~unit.violated[span]
    lam, rest = unit.balance(unit.A[span].T @ terms, above, fixed)
    # Excess over the largest term that a slack within rounding can give.
    beyond = np.maximum(np.abs(lam) - unit.relative_weight * unit.tolerances, 0.0)[span]
    heaviest = float(np.abs(terms).max(initial=0.0))
    rounding = 1e-6 * (unit.size + float(np.abs(lam).max(initial=0.0)))
    missing = float(np.hypot(np.linalg.norm(rest), np.linalg.norm(beyond)))
    lam[span] += terms
    return missing / (1.0 + heaviest + rounding), lam, heaviest


class _RowStates:
    """Unit rows of a program evaluated at x: slack, violated rows, and rows at a bound."""

    def __init__(self, program: Program, x: Array, tolerance: float) -> None:
        rows = UnitRows.from_program(program)
        self.A: Array = np.where(rows.relevant[:, None], rows.A, 0.0)
        self.relevant: Mask = rows.relevant
        self.equality: Mask = rows.equality
        self.size = float(np.linalg.norm(x))
        value = self.A @ x
        bounds = np.stack([rows.lower, rows.upper])
        magnitude = np.abs(np.where(np.isfinite(bounds), bounds, 0.0)).max(axis=0)
        tolerances = self.tolerances = tolerance * (1.0 + magnitude) + 2e-14 * self.size
        self.slack: Array = np.where(self.relevant, value - np.clip(value, rows.lower, rows.upper), 0.0)
        self.violated: Mask = np.abs(self.slack) > tolerances
        loose = self.relevant & ~self.equality & ~self.violated
        self.at_lower: Mask = loose & (value - rows.lower <= tolerances)
        self.at_upper: Mask = loose & (rows.upper - value <= tolerances)
        self.relative_weight: Array = np.where(self.relevant, rows.root_weight, 0.0) ** 2
        for k in range(len(program)):
            span = program.slice(k)
            self.relative_weight[span] /= max(float(self.relative_weight[span].max(initial=0.0)), 1e-300)

    def balance(self, gradient: Array, above: Mask, fixed: Mask) -> tuple[Array, Array]:
        """Return multipliers of the rows `above` that best cancel the gradient, and the remaining gradient."""
        free = np.flatnonzero(above & fixed)
        at_upper = np.flatnonzero(above & ~fixed & self.at_upper)
        at_lower = np.flatnonzero(above & ~fixed & self.at_lower)
        lam = np.zeros(len(self.A))
        basis, combine = _row_space(self.A[free])
        rest = gradient - basis @ (basis.T @ gradient)
        if len(at_upper) + len(at_lower) and np.linalg.norm(rest) > 0.0:
            columns = np.concatenate([self.A[at_upper], -self.A[at_lower]]).T
            columns = columns - basis @ (basis.T @ columns)
            size = float(np.linalg.norm(rest))
            amounts = _nonnegative_least_squares(columns, -rest / size) * size
            rest = rest + columns @ amounts
            lam[at_upper] += amounts[: len(at_upper)]
            lam[at_lower] -= amounts[len(at_upper) :]
        lam[free] = -combine @ (basis.T @ (gradient + self.A.T @ lam))
        return lam, rest

    def multiplier_error(self, lam: Array, up_to_level: Mask, fixed: Mask, level: slice) -> Array:
        """Return the uncertainty of the multipliers of rows at a bound for a relative error of 1e-12 in the rows.

        An error e of the balance changes the multiplier of row i by e / t_i, where t_i is the part of a_i that is
        independent of all other active rows; the terms p_i s_i of the level are known to e / t, with t its smallest
        independent part.
        """
        bound = np.flatnonzero(up_to_level & ~fixed & (self.at_lower | self.at_upper))
        error = np.zeros(len(self.A))
        if len(bound) == 0:
            return error
        above = up_to_level.copy()
        above[level] = False
        basis, _ = _row_space(self.A[above & (fixed | self.at_lower | self.at_upper)])
        own = self.A[level][fixed[level]]
        diagonal = np.abs(np.diag(scipy.linalg.qr((own - own @ basis @ basis.T).T, mode="economic", pivoting=True)[1]))
        weakest = float(diagonal[diagonal > 1e-11].min(initial=1.0))
        active = np.concatenate([bound, np.flatnonzero(up_to_level & fixed)])
        independent = 1.0 / np.linalg.norm(np.linalg.pinv(self.A[active].T, rcond=1e-11)[: len(bound)], axis=1)
        error[bound] = 1e-12 * float(np.abs(lam).max()) / (weakest * independent)
        return error


def _row_space(rows: Array) -> tuple[Array, Array]:
    """Return an orthonormal basis B of the span of the rows, and C with ``rows.T @ C = B``."""
    m, n = rows.shape
    if m == 0:
        return np.zeros((n, 0)), np.zeros((0, 0))
    q, r, order = scipy.linalg.qr(rows.T, mode="economic", pivoting=True)
    rank = int(np.sum(np.abs(np.diag(r)) > 1e-11))
    combine = np.zeros((m, rank))
    combine[order[:rank]] = scipy.linalg.solve_triangular(r[:rank, :rank], np.eye(rank))
    return np.asarray(q[:, :rank]), combine


def _nonnegative_least_squares(columns: Array, target: Array) -> Array:
    try:
        amounts, _ = scipy.optimize.nnls(columns, target, maxiter=20 * (columns.shape[1] + 1))
    except RuntimeError:  # did not converge: these rows add nothing to the certificate
        amounts = np.zeros(columns.shape[1])
    return np.asarray(amounts)


# -- Explanations ----------------------------------------------------------------------------------------------------


#: Violations below this (for unit rows, relative to the size of the numbers) count as rounding errors; rows with a unit
#: also have the threshold of `negligible`.
VIOLATION_TOLERANCE = 1e-8
#: Largest number of rows listed in each section, and of obstacles listed for each row.
MAX_ROWS_LISTED, MAX_OBSTACLES = 10, 3

_STATUS_TEXTS = {
    "optimal": "optimal",
    "budget": "budget: time limit reached, lower levels are not solved",
    "iterations": "iterations: iteration limit reached, lower levels are not solved",
    "relaxed": "relaxed: hard constraints could not be met",
}


def explain(solution: Solution) -> str:
    """Return a text that lists violated and saturated rows, by how much, and which rows are in the way.

    To meet a violated row, x would have to move along a_i towards its bound. The rows in the way are those that this
    motion would push beyond their bounds: with t = +1 or -1 the direction in which the value of row i should
    go, and a_j the active rows of the same and higher levels, all scaled to unit length, find::

        t a_i = sum_j mu_j a_j        mu_j >= 0 for rows at an upper bound, <= 0 at a lower bound

    in the least-squares sense. Rows that a higher level fixes to a value resist in both directions. The rows with the
    largest |mu_j| are listed. If "no row of this or a higher level" is in the way, the solver stopped early, ignored
    the row or violated it because of weights or damping. The first level with singularity damping is marked; its slack
    is due to the damping.

    >>> print(explain(Cascade().solve(program)))
    optimal (by cascade, 4 iterations, 0.9 ms)
    level 0 (6 rows): met
    level 1 (1 row): 1 violated, by 0.12 m at most, 0.12 m RMS
    violated:
      reach[x] (level 1) misses by +0.12 m: at 0.33 m, wanted 0.45 m; in the way: limits[elbow] (upper bound, level 0)
    saturated:
      limits[elbow] (level 0): at its upper bound, 1.2 rad
    """
    with np.errstate(all="ignore"):
        return "\n".join(_Explanation(solution).lines())


class Obstacle(NamedTuple):
    """A row that is in the way of a violated one.

    Attributes:
        level: name of its level.
        row: name and label of the row.
        side: "at its upper bound", "at its lower bound", or "" for an equality.
    """

    level: str
    row: str
    side: str


def obstacles(solution: Solution, rows: Sequence[int]) -> list[tuple[Obstacle, ...]]:
    """Return the rows in the way of each of the given stacked rows, the strongest first; see `explain`.

    Empty for a row that is met, that does not depend on x, or that no row of its own or a higher level resists.

    >>> obstacles(solution, [12])
    [(Obstacle(level='always', row='joint range[elbow]', side='at its upper bound'),)]
    """
    with np.errstate(all="ignore"):
        explanation = _Explanation(solution)
        names = solution.program.names

        def named(j: int) -> Obstacle:
            level, block, index = solution.program.block(j)
            side = explanation.sides[j]
            return Obstacle(names[level], block.label(index), "" if side == EQUALITY else f"at its {_side_text(side)}")

        return [
            tuple(named(j) for j in explanation.blocking_rows(i)[0][:MAX_OBSTACLES])
            if explanation.rows.relevant[i] and explanation.violation[i] > 0.0
            else ()
            for i in map(int, rows)
        ]


def negligible_slack(program: Program) -> Array:
    """Return the slack up to which each stacked row counts as met, by its unit; 0 for rows without a unit."""
    per_row = [np.full(len(rows), negligible(rows.unit)) for group in program.levels for rows in group]
    return np.concatenate(per_row) if per_row else np.zeros(0)


class _Explanation:
    def __init__(self, solution: Solution) -> None:
        self.solution, self.program = solution, solution.program
        self.rows = UnitRows.from_program(self.program)
        self.value = self.program.A @ solution.x
        self.slack = self.program.slack(solution.x)
        size = np.where(self.rows.norm > 0.0, self.rows.norm, 1.0)
        self.violation = np.where(self.program.weight > 0.0, np.abs(self.slack) / size, 0.0)
        self.violation[self.violation <= VIOLATION_TOLERANCE * (1.0 + np.abs(self.value) / size)] = 0.0
        self.violation[np.abs(self.slack) <= negligible_slack(self.program)] = 0.0
        # From x and not from the solver: the text has to be correct for any solver.
        self.sides = sides_at(self.program, solution.x, self.rows, tolerance=VIOLATION_TOLERANCE)
        self.level = np.repeat(np.arange(len(self.program)), np.diff(self.program.level_begin))

    def lines(self) -> list[str]:
        solution = self.solution
        status = _STATUS_TEXTS.get(solution.status, solution.status)
        iterations = _count_of(solution.iterations, "iteration")
        text = [f"{status} (by {solution.solver or 'unknown'}, {iterations}, {solution.milliseconds:.2g} ms)"]
        text += [self.level_line(k) for k in range(len(self.program))]
        worst = np.lexsort((-self.violation, self.level))  # the most important level first
        worst = worst[self.violation[worst] > 0.0]
        if not len(worst) and self.program.rows:
            text.append("nothing gives way")
        text += _list_section("violated", [self.violated_line(int(i)) for i in worst[:MAX_ROWS_LISTED]], len(worst))
        saturated = np.flatnonzero((self.sides != INSIDE) & (self.sides != EQUALITY) & (self.violation == 0.0))
        text += _list_section(
            "saturated", [self.saturated_line(int(i)) for i in saturated[:MAX_ROWS_LISTED]], len(saturated)
        )
        return text

    def level_line(self, k: int) -> str:
        span, program = self.program.slice(k), self.program
        title = f"level {k}" + (f" {program.names[k]}" if program.names[k] != f"level {k}" else "")
        head = f"{title} ({_count_of(span.stop - span.start, 'row')})"
        violated = self.violation[span] > 0.0
        if not violated.any():
            return f"{head}: met"
        damped = "; damped near a singularity" if k == self.solution.first_damped_level else ""
        slack = np.where(violated, self.slack[span], 0.0)
        units = {rows.unit for rows in program.levels[k] if len(rows)}
        if len(units) > 1:
            return f"{head}: {violated.sum()} violated{damped}"
        unit = units.pop()
        largest_slack, mean = np.abs(slack).max(), np.sqrt(np.mean(slack**2))
        largest, rms = _format_quantity(largest_slack, unit), _format_quantity(mean, unit)
        return f"{head}: {violated.sum()} violated, by {largest} at most, {rms} RMS{damped}"

    def violated_line(self, i: int) -> str:
        level, rows, index = self.program.block(i)
        value, slack = float(self.value[i]), float(self.slack[i])
        lower, upper, unit = self.program.lower[i], self.program.upper[i], rows.unit
        if lower == upper:
            expected = _format_quantity(lower, unit)
        else:
            expected = (
                f"at most {_format_quantity(upper, unit)}"
                if slack > 0.0
                else f"at least {_format_quantity(lower, unit)}"
            )
        return (
            f"{rows.label(index)} (level {level}) misses by {_format_quantity(-slack, unit, '+')}: "
            f"at {_format_quantity(value, unit)}, wanted {expected}; {self.obstacles(i)}"
        )

    def saturated_line(self, i: int) -> str:
        level, rows, index = self.program.block(i)
        bound = self.program.upper[i] if self.sides[i] == UPPER else self.program.lower[i]
        side = _side_text(self.sides[i])
        return f"{rows.label(index)} (level {level}): at its {side}, {_format_quantity(bound, rows.unit)}"

    def obstacles(self, i: int) -> str:
        if not self.rows.relevant[i]:
            return "in the way: nothing, the row does not depend on x"
        blocking, rest = self.blocking_rows(i)
        names = [self.obstacle(j) for j in blocking[:MAX_OBSTACLES]]
        if len(blocking) > MAX_OBSTACLES:
            names.append(f"and {len(blocking) - MAX_OBSTACLES} more")
        if rest > 0.5:  # nothing resists most of the motion
            names.append(f"no {'other ' if names else ''}row of this or a higher level")
        return f"in the way: {', '.join(names)}"

    def blocking_rows(self, i: int) -> tuple[list[int], float]:
        """Return the rows in the way of row i, the strongest first, and the part of its motion that none resists."""
        above = np.flatnonzero(self.rows.relevant & (self.level <= self.level[i]) & (self.sides != INSIDE))
        above = above[above != i]
        direction = -np.sign(self.slack[i]) * self.rows.A[i]
        amount, rest = self.resistance(direction, above, int(self.level[i]))
        order = np.argsort(-amount, kind="stable")
        order = order[amount[order] > 0.02 * amount.max(initial=0.0)]
        return [int(above[j]) for j in order], rest

    def obstacle(self, j: int) -> str:
        level, rows, index = self.program.block(j)
        side = "" if self.sides[j] == EQUALITY else f"{_side_text(self.sides[j])}, "
        return f"{rows.label(index)} ({side}level {level})"

    def resistance(self, direction: Array, above: NDArray[np.intp], level: int) -> tuple[Array, float]:
        """Return |mu_j| of the rows above, and the fraction of the direction that they leave unexplained (0 to 1)."""
        if not len(above):
            return np.zeros(0), 1.0
        violated, equality = self.violation[above] > 0.0, self.sides[above] == EQUALITY
        higher = self.level[above] < level
        # Both ways: rows that a higher level fixes to a value, and the equalities of this level that are met.
        two_sided = higher & (violated | equality) | ~higher & equality & ~violated
        # One way: rows at a bound, and violated rows of this level, which share the cost.
        sign = np.where(violated, np.sign(self.slack[above]), np.where(self.sides[above] == LOWER, -1.0, 1.0))
        A = sign[:, None] * self.rows.A[above]
        columns = np.vstack([A, -A[two_sided]])
        try:
            mu, rest = scipy.optimize.nnls(columns.T, direction, maxiter=30 * len(columns) + 30)
        except (RuntimeError, ValueError):  # not converged: use how much each row alone opposes the motion
            mu, rest = np.maximum(columns @ direction, 0.0), 0.0
        amount = mu[: len(above)].copy()
        amount[two_sided] += mu[len(above) :]
        return amount, float(rest)


def _side_text(side: int) -> str:
    return "upper bound" if side == UPPER else "lower bound"


def _count_of(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")


def _format_quantity(value: float, unit: str, sign: str = "") -> str:
    return f"{value:{sign}.3g} {unit}".rstrip()


def _list_section(title: str, lines: Sequence[str], total: int) -> list[str]:
    if not total:
        return []
    more = [f"  ... and {total - len(lines)} more"] if total > len(lines) else []
    return [f"{title}:", *(f"  {line}" for line in lines), *more]
