"""Why a solution is what it is, in words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from poise.solvers.rows import Array
from poise.solvers.solution import EQUALITY, INSIDE, LOWER, UPPER, Solution
from poise.solvers.unit_rows import UnitRows, sides_at

#: Violations below this (for unit rows, relative to the size of the numbers) are rounding.
MET = 1e-8
#: How many rows are told in full, and how many obstacles of each.
SHOWN, OBSTACLES = 10, 3

_STATUS = {
    "optimal": "optimal",
    "budget": "budget: out of time, less important levels are not solved",
    "iterations": "iterations: out of patience, less important levels are not solved",
    "relaxed": "relaxed: what the solver should hold could not hold",
}


def explain(solution: Solution) -> str:
    """A text that tells which rows are violated or saturated, by how much, and what stands in the way.

    A violated row a_i would have to move along a_i towards its bound. The rows in its way are those that the same
    motion would push beyond what they hold: with t = +1 or -1 the direction in which the value of row i should
    go, and a_j the active rows of the same and higher levels, all scaled to unit length, find::

        t a_i = sum_j mu_j a_j        mu_j >= 0 for rows at an upper bound, <= 0 at a lower bound

    in the least-squares sense. What a higher level settled to a value resists in both directions. The rows with the
    largest |mu_j| are named. "Nothing as important" in the way means that the solver stopped early, ignored the row
    or gave it away for the sake of weights or damping.

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


class _Explanation:
    def __init__(self, solution: Solution) -> None:
        self.solution, self.program = solution, solution.program
        self.rows = UnitRows.of(self.program)
        self.value = self.program.A @ solution.x
        self.slack = self.program.slack(solution.x)
        size = np.where(self.rows.norm > 0.0, self.rows.norm, 1.0)
        self.violation = np.where(self.program.weight > 0.0, np.abs(self.slack) / size, 0.0)
        self.violation[self.violation <= MET * (1.0 + np.abs(self.value) / size)] = 0.0
        # Where x stands and not only what the solver says: the text should be right for any solver.
        self.sides = sides_at(self.program, solution.x, self.rows, tolerance=MET)
        self.level = np.repeat(np.arange(len(self.program)), np.diff(self.program.level_begin))

    def lines(self) -> list[str]:
        solution = self.solution
        status = _STATUS.get(solution.status, solution.status)
        iterations = _count(solution.iterations, "iteration")
        text = [f"{status} (by {solution.solver or 'unknown'}, {iterations}, {solution.milliseconds:.2g} ms)"]
        text += [self.level_line(k) for k in range(len(self.program))]
        worst = np.lexsort((-self.violation, self.level))  # the most important level first
        worst = worst[self.violation[worst] > 0.0]
        text += _listed("violated", [self.violated_line(int(i)) for i in worst[:SHOWN]], len(worst))
        saturated = np.flatnonzero((self.sides != INSIDE) & (self.sides != EQUALITY) & (self.violation == 0.0))
        text += _listed("saturated", [self.saturated_line(int(i)) for i in saturated[:SHOWN]], len(saturated))
        return text

    def level_line(self, k: int) -> str:
        span, program = self.program.slice(k), self.program
        title = f"level {k}" + (f" {program.names[k]}" if program.names[k] != f"level {k}" else "")
        head = f"{title} ({_count(span.stop - span.start, 'row')})"
        violated = self.violation[span] > 0.0
        if not violated.any():
            return f"{head}: met"
        slack = np.where(violated, self.slack[span], 0.0)
        units = {rows.unit for rows in program.levels[k] if len(rows)}
        if len(units) > 1:
            return f"{head}: {violated.sum()} violated"
        unit = units.pop()
        most, mean = np.abs(slack).max(), np.sqrt(np.mean(slack**2))
        return f"{head}: {violated.sum()} violated, by {_quantity(most, unit)} at most, {_quantity(mean, unit)} RMS"

    def violated_line(self, i: int) -> str:
        level, rows, index = self.program.block(i)
        value, slack = float(self.value[i]), float(self.slack[i])
        lower, upper, unit = self.program.lower[i], self.program.upper[i], rows.unit
        if lower == upper:
            wanted = _quantity(lower, unit)
        else:
            wanted = f"at most {_quantity(upper, unit)}" if slack > 0.0 else f"at least {_quantity(lower, unit)}"
        return (
            f"{rows.label(index)} (level {level}) misses by {_quantity(-slack, unit, '+')}: "
            f"at {_quantity(value, unit)}, wanted {wanted}; {self.obstacles(i)}"
        )

    def saturated_line(self, i: int) -> str:
        level, rows, index = self.program.block(i)
        bound = self.program.upper[i] if self.sides[i] == UPPER else self.program.lower[i]
        return f"{rows.label(index)} (level {level}): at its {_side(self.sides[i])}, {_quantity(bound, rows.unit)}"

    def obstacles(self, i: int) -> str:
        if not self.rows.counts[i]:
            return "in the way: nothing, it does not depend on x"
        above = np.flatnonzero(self.rows.counts & (self.level <= self.level[i]) & (self.sides != INSIDE))
        above = above[above != i]
        direction = -np.sign(self.slack[i]) * self.rows.A[i]
        amount, rest = self.resistance(direction, above, int(self.level[i]))
        order = np.argsort(-amount, kind="stable")
        order = order[amount[order] > 0.02 * amount.max(initial=0.0)]
        names = [self.obstacle(int(above[j])) for j in order[:OBSTACLES]]
        if len(order) > OBSTACLES:
            names.append(f"and {len(order) - OBSTACLES} more")
        if rest > 0.5:  # nothing resists most of the motion
            return f"in the way: {', '.join([*names, 'otherwise nothing' if names else 'nothing'])} as important"
        return f"in the way: {', '.join(names)}"

    def obstacle(self, j: int) -> str:
        level, rows, index = self.program.block(j)
        side = "" if self.sides[j] == EQUALITY else f"{_side(self.sides[j])}, "
        return f"{rows.label(index)} ({side}level {level})"

    def resistance(self, direction: Array, above: NDArray[np.intp], level: int) -> tuple[Array, float]:
        """|mu_j| of the rows above, and how much of the direction they leave unexplained (0 to 1)."""
        if not len(above):
            return np.zeros(0), 1.0
        violated, equality = self.violation[above] > 0.0, self.sides[above] == EQUALITY
        higher = self.level[above] < level
        # Both ways: what a higher level settled to a value, and the equalities of this level that are met.
        both = higher & (violated | equality) | ~higher & equality & ~violated
        # One way: rows at a bound, and violated rows of this level, which share the cost.
        sign = np.where(violated, np.sign(self.slack[above]), np.where(self.sides[above] == LOWER, -1.0, 1.0))
        A = sign[:, None] * self.rows.A[above]
        columns = np.vstack([A, -A[both]])
        try:
            mu, rest = nnls(columns.T, direction, maxiter=30 * len(columns) + 30)
        except (RuntimeError, ValueError):  # not converged: how far each row alone opposes the motion
            mu, rest = np.maximum(columns @ direction, 0.0), 0.0
        amount = mu[: len(above)].copy()
        amount[both] += mu[len(above) :]
        return amount, float(rest)


def _side(side: int) -> str:
    return "upper bound" if side == UPPER else "lower bound"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")


def _quantity(value: float, unit: str, sign: str = "") -> str:
    return f"{value:{sign}.3g} {unit}".rstrip()


def _listed(title: str, lines: Sequence[str], total: int) -> list[str]:
    if not total:
        return []
    more = [f"  ... and {total - len(lines)} more"] if total > len(lines) else []
    return [f"{title}:", *(f"  {line}" for line in lines), *more]
