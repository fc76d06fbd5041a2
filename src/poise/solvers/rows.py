"""Rows: ``lower <= A x <= upper`` with weights and a name."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poise.arrays import Array
from poise.errors import RowsError

#: Bounds of this size or more mean "no bound", as in most solvers.
UNBOUNDED = 1e20


class Rows:
    """A block of rows ``lower <= A x <= upper`` that belong together, such as one task or one limit.

    A row with ``lower == upper`` is an equality, an infinite bound is no bound (so is one of 1e20 or
    more). The cost of violating row i by s_i is ``weight_i s_i^2``; a weight of zero switches a row off.

    Args:
        A: matrix, m x n; a single row may be given as a vector.
        lower, upper: bounds, scalars or m values.
        weight: scalar or m values, not negative, in 1/unit^2.
        name: what a reader should see when these rows are violated or saturated.
        unit: unit of ``A x`` for the same purpose.
        labels: one word per row, e.g. joint names; rows are numbered otherwise.

    >>> reach = Rows([[1.0, 1.0]], 2.0, 2.0, name="reach", unit="m")
    >>> box = Rows.bounds([-1.0, -1.0], [0.5, 0.5], name="box")
    """

    __slots__ = ("A", "labels", "lower", "name", "unit", "upper", "weight")

    A: Array
    lower: Array
    upper: Array
    weight: Array
    name: str
    unit: str
    labels: tuple[str, ...] | None

    def __init__(
        self,
        A: ArrayLike,
        lower: ArrayLike,
        upper: ArrayLike,
        weight: ArrayLike = 1.0,
        name: str = "",
        unit: str = "",
        labels: Sequence[str] | None = None,
    ) -> None:
        self.name = str(name)
        self.unit = str(unit)
        matrix = self._numbers(A, "A")
        if matrix.ndim == 1:
            matrix = matrix[np.newaxis, :] if matrix.size else matrix.reshape(0, 0)
        if matrix.ndim != 2:
            raise self._error(f"A has {matrix.ndim} dimensions; expected a matrix with one line per row")
        self.A = np.ascontiguousarray(matrix)
        m = len(self.A)
        self.lower = self._column(lower, m, "lower")
        self.upper = self._column(upper, m, "upper")
        self.weight = self._column(weight, m, "weight")
        if labels is not None and len(labels) != m:
            raise self._error(f"{len(labels)} labels were given for {m} rows; give one per row or none")
        self.labels = None if labels is None else tuple(str(label) for label in labels)
        self._check()

    @classmethod
    def bounds(
        cls,
        lower: ArrayLike,
        upper: ArrayLike,
        weight: ArrayLike = 1.0,
        name: str = "",
        unit: str = "",
        labels: Sequence[str] | None = None,
    ) -> Rows:
        """Simple bounds ``lower <= x <= upper`` on every variable.

        The solvers recognise rows with a single entry and treat them without a matrix product.
        """
        try:
            low, high = np.broadcast_arrays(np.atleast_1d(lower), np.atleast_1d(upper))
        except ValueError:
            raise RowsError(
                f"{_quoted(name)}: lower has shape {np.shape(lower)} and upper {np.shape(upper)}; "
                "give both one value per variable",
                name,
            ) from None
        return cls(np.eye(len(low)), low, high, weight, name, unit, labels)

    def __len__(self) -> int:
        return len(self.A)

    @property
    def variables(self) -> int:
        return int(self.A.shape[1])

    def label(self, index: int) -> str:
        """Name of one row: ``limits[knee]``, or ``limits[3]`` without labels."""
        word = self.labels[index] if self.labels is not None else str(index)
        return f"{self.name or 'rows'}[{word}]" if len(self) > 1 or self.labels else self.name or "row"

    def __repr__(self) -> str:
        equalities = int(np.sum(self.lower == self.upper))
        return f"Rows({_quoted(self.name)}, {len(self)} rows on {self.variables} variables, {equalities} equalities)"

    def _numbers(self, values: ArrayLike, what: str) -> Array:
        try:
            return np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError):
            raise self._error(f"{what} is not an array of numbers: {str(values)[:60]!r}") from None

    def _column(self, values: ArrayLike, m: int, what: str) -> Array:
        column = self._numbers(values, what)
        if column.ndim > 1 or (column.ndim == 1 and len(column) != m):
            raise self._error(f"{what} has shape {column.shape}; expected a number or {m} values, one per row")
        return np.array(np.broadcast_to(column, (m,)))

    def _check(self) -> None:
        # One reduction each in the good case; the offending rows are looked up only for the message.
        if not np.isfinite(self.A).all():
            raise self._offending(np.asarray(~np.isfinite(self.A).all(axis=1)), "A has NaN or infinite entries in")
        if np.isnan(self.lower).any() or np.isnan(self.upper).any():
            raise self._offending(np.isnan(self.lower) | np.isnan(self.upper), "a bound is NaN in")
        if (self.lower > self.upper).any():
            raise self._offending(self.lower > self.upper, "lower is above upper in")
        wrong_infinity = (self.lower >= UNBOUNDED) | (self.upper <= -UNBOUNDED)
        if wrong_infinity.any():
            raise self._offending(wrong_infinity, "lower is +infinite or upper is -infinite in")
        if not ((self.weight >= 0.0) & np.isfinite(self.weight)).all():
            raise self._offending(
                ~((self.weight >= 0.0) & np.isfinite(self.weight)), "the weight is negative, NaN or infinite in"
            )

    def _offending(self, mask: NDArray[np.bool_], what: str) -> RowsError:
        indices = tuple(int(i) for i in np.flatnonzero(mask))
        shown = ", ".join(self.label(i) for i in indices[:5]) + (", ..." if len(indices) > 5 else "")
        first = indices[0]
        evidence = f"(lower {self.lower[first]:g}, upper {self.upper[first]:g}, weight {self.weight[first]:g})"
        return self._error(f"{what} {shown} {evidence}; correct the task that makes these rows", indices)

    def _error(self, message: str, indices: tuple[int, ...] = ()) -> RowsError:
        return RowsError(f"{_quoted(self.name)}: {message}", self.name, indices)


def _quoted(name: str) -> str:
    return f"Rows '{name}'" if name else "Rows"
