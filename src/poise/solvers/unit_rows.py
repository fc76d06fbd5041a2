"""Rows of a program scaled to unit length, and the bounds that are active at a point."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from poise.arrays import Array
from poise.solvers.program import UNBOUNDED, Program
from poise.solvers.solution import EQUALITY, INSIDE, LOWER, UPPER, Sides

#: Singular values of unit rows below this count as zero: well above rounding errors, well below any useful direction.
RANK_TOLERANCE = 1e-11


@dataclass(frozen=True)
class UnitRows:
    """The rows ``lower_i <= a_i x <= upper_i`` divided by ``|a_i|``, so that one tolerance fits all.

    Attributes:
        A, lower, upper: scaled rows and bounds; a missing bound is infinite.
        root_weight: ``w_i = sqrt(weight_i) |a_i|``: violating the scaled row by s costs ``w_i^2 s^2``.
        norm: ``|a_i|``.
        equality: which rows are equalities.
        relevant: which rows have an effect: not zero, weight not zero, and with a finite bound.
    """

    A: Array
    lower: Array
    upper: Array
    root_weight: Array
    norm: Array
    equality: NDArray[np.bool_]
    relevant: NDArray[np.bool_]

    @classmethod
    def from_program(cls, program: Program) -> UnitRows:
        """Return the unit rows of all levels, in stacked order."""
        A = program.A
        with np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore"):
            largest = np.abs(A).max(axis=1, initial=0.0)  # dividing by it first keeps the norm finite
            norm = largest * np.linalg.norm(A / np.where(largest > 0.0, largest, 1.0)[:, None], axis=1)
            length = np.where((norm > 0.0) & np.isfinite(norm), norm, 1.0)
            lower = np.where(program.lower > -UNBOUNDED, program.lower / length, -np.inf)
            upper = np.where(program.upper < UNBOUNDED, program.upper / length, np.inf)
            root_weight = np.sqrt(program.weight) * norm
            unit = A / length[:, None]
        relevant = (root_weight > 0.0) & np.isfinite(root_weight) & np.isfinite(unit).all(axis=1)
        relevant &= np.isfinite(lower) | np.isfinite(upper)
        return cls(unit, lower, upper, root_weight, norm, (program.lower == program.upper) & relevant, relevant)


def sides_at(program: Program, x: Array, rows: UnitRows, tolerance: float = 1e-9) -> Sides:
    """Return the bound that each row is at or beyond for a point x: LOWER, UPPER, EQUALITY or INSIDE.

    A row is at a bound if the distance of the row scaled to unit length is within the tolerance times the size of the
    numbers involved. Rows of weight zero are INSIDE.
    """
    value = rows.A @ x
    reach = tolerance * (1.0 + np.abs(value))
    below = (value <= rows.lower + reach) & (program.weight > 0.0)
    above = (value >= rows.upper - reach) & (program.weight > 0.0)
    nearer = np.abs(value - rows.lower) < np.abs(value - rows.upper)
    sides = np.full(program.rows, INSIDE, dtype=np.int8)
    sides[above] = UPPER
    sides[below & (nearer | ~above)] = LOWER
    sides[(program.lower == program.upper) & (program.weight > 0.0)] = EQUALITY
    return sides
