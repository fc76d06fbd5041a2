"""Programs of hierarchical least squares: levels of rows ``lower <= A x <= upper``, the most important first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poise.arrays import Array
from poise.errors import RowsError, SolverError

if TYPE_CHECKING:
    from poise.solvers.stack import Block

#: Bounds of this size or more mean "no bound", as in most solvers.
UNBOUNDED = 1e20


class Rows:
    """A block of rows ``lower <= A x <= upper`` that belong together, such as one task or one limit.

    A row with ``lower == upper`` is an equality; a bound that is infinite, or 1e20 or more, is no bound. The cost of
    violating row i by s_i is ``weight_i s_i^2``; a weight of zero disables a row.

    Args:
        A: matrix, m x n; a single row may be given as a vector.
        lower, upper: bounds, scalars or m values.
        weight: scalar or m values, not negative, in 1/unit^2.
        name: name in explanations and error messages.
        unit: unit of ``A x`` in explanations.
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
        matrix = self._check_array(A, "A")
        if matrix.ndim == 1:
            matrix = matrix[np.newaxis, :] if matrix.size else matrix.reshape(0, 0)
        if matrix.ndim != 2:
            raise self._error(f"A has {matrix.ndim} dimensions; expected a matrix with one line per row")
        self.A = np.ascontiguousarray(matrix)
        m = len(self.A)
        self.lower = self._check_column(lower, m, "lower")
        self.upper = self._check_column(upper, m, "upper")
        self.weight = self._check_column(weight, m, "weight")
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
        """Return simple bounds ``lower <= x <= upper`` on every variable.

        The solvers recognise rows with a single entry and need no matrix product for them.
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
        """Return the name of one row: ``limits[knee]``, or ``limits[3]`` without labels."""
        word = self.labels[index] if self.labels is not None else str(index)
        return f"{self.name or 'rows'}[{word}]" if len(self) > 1 or self.labels else self.name or "row"

    def __repr__(self) -> str:
        equalities = int(np.sum(self.lower == self.upper))
        name = f"'{self.name}', " if self.name else ""
        return f"Rows({name}{len(self)} rows on {self.variables} variables, {equalities} equalities)"

    def _check_array(self, values: ArrayLike, label: str) -> Array:
        try:
            return np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError):
            raise self._error(f"{label} is not an array of numbers: {str(values)[:60]!r}") from None

    def _check_column(self, values: ArrayLike, m: int, label: str) -> Array:
        column = self._check_array(values, label)
        if column.ndim > 1 or (column.ndim == 1 and len(column) != m):
            raise self._error(f"{label} has shape {column.shape}; expected a number or {m} values, one per row")
        return np.array(np.broadcast_to(column, (m,)))

    def _check(self) -> None:
        # One reduction per check if all is well; the invalid rows are searched only for the message.
        if not np.isfinite(self.A).all():
            raise self._offending_rows_error(
                np.asarray(~np.isfinite(self.A).all(axis=1)), "A has NaN or infinite entries in"
            )
        if np.isnan(self.lower).any() or np.isnan(self.upper).any():
            raise self._offending_rows_error(np.isnan(self.lower) | np.isnan(self.upper), "a bound is NaN in")
        if (self.lower > self.upper).any():
            raise self._offending_rows_error(self.lower > self.upper, "lower is above upper in")
        wrong_infinity = (self.lower >= UNBOUNDED) | (self.upper <= -UNBOUNDED)
        if wrong_infinity.any():
            raise self._offending_rows_error(wrong_infinity, "lower is +infinite or upper is -infinite in")
        if not ((self.weight >= 0.0) & np.isfinite(self.weight)).all():
            raise self._offending_rows_error(
                ~((self.weight >= 0.0) & np.isfinite(self.weight)), "the weight is negative, NaN or infinite in"
            )

    def _offending_rows_error(self, mask: NDArray[np.bool_], label: str) -> RowsError:
        indices = tuple(int(i) for i in np.flatnonzero(mask))
        listed = ", ".join(self.label(i) for i in indices[:5]) + (", ..." if len(indices) > 5 else "")
        first = indices[0]
        evidence = f"(lower {self.lower[first]:g}, upper {self.upper[first]:g}, weight {self.weight[first]:g})"
        return self._error(f"{label} {listed} {evidence}; correct these rows", indices)

    def _error(self, message: str, indices: tuple[int, ...] = ()) -> RowsError:
        return RowsError(f"{_quoted(self.name)}: {message}", self.name, indices)


def _quoted(name: str) -> str:
    return f"Rows '{name}'" if name else "Rows"


# -- Program ---------------------------------------------------------------------------------------------------------


class Program:
    """A hierarchical least-squares problem: levels of rows, the most important first.

    Its solution is the x that minimises, in strict lexicographic order, the weighted squared violation
    of level 0, then that of level 1 without worsening level 0, and so on ([Saab2012] eq. 2, with slack w_k)::

        lexmin (|w_0|^2, |w_1|^2, ...)   with   lower_k <= A_k x - w_k <= upper_k

    If several x are equally good, the shortest one is chosen.

    Args:
        levels: each a `Rows` or a list of `Rows`; an empty list is a level without rows.
        names: one per level, for explanations.
        variables: number of unknowns, needed only when no level has a row.
        damping: added cost ``damping^2 |x|^2``, one per level; zero: the damping of the solver.
        singularity_damping: one per level. A level whose smallest singular value s (in the freedom left to it)
            is below this value is damped by ``damping^2 = singularity_damping^2 - s^2``; other levels are solved
            exactly. Zero: never. Only `Lexicographic` uses it.
        center: of all x that are equally good, the one nearest to this point is chosen, and damping pulls towards it;
            None: zero.

    >>> program = Program([Rows.bounds([0, 0], [1, 1]), Rows([[1, 1]], 3, 3)])
    """

    _blocks: Sequence[Block] = ()

    def __init__(
        self,
        levels: Iterable[Rows | Sequence[Rows]],
        names: Sequence[str] | None = None,
        variables: int | None = None,
        damping: Sequence[float] = (),
        singularity_damping: Sequence[float] = (),
        center: ArrayLike | None = None,
    ) -> None:
        if isinstance(levels, Rows):
            raise RowsError(f"levels is {levels!r}; expected a list of levels, e.g. Program([rows])")
        blocks: list[tuple[Rows, ...]] = []
        for k, level in enumerate(levels):
            group = (level,) if isinstance(level, Rows) else tuple(level)
            for rows in group:
                if not isinstance(rows, Rows):
                    raise RowsError(f"level {k} contains a {type(rows).__name__}; expected Rows or a list of Rows")
            blocks.append(group)
        self.levels = tuple(blocks)
        if names is not None and len(names) != len(blocks):
            raise RowsError(f"{len(names)} names were given for {len(blocks)} levels; give one per level")
        self.names: tuple[str, ...] = (
            tuple(names) if names is not None else tuple(f"level {k}" for k in range(len(blocks)))
        )
        self._damping = _check_per_level(damping, len(blocks), "damping")
        self._singularity_damping = _check_per_level(singularity_damping, len(blocks), "singularity_damping")
        self.variables = self._check_size(variables)
        self._center = np.zeros(self.variables) if center is None else np.array(center, dtype=np.float64)
        if self._center.shape != (self.variables,) or not np.isfinite(self._center).all():
            raise RowsError(f"center is {center!r}; expected {self.variables} finite numbers, one per unknown")
        counts = [sum(len(rows) for rows in group) for group in blocks]
        self.level_begin: list[int] = [0, *np.cumsum(counts, dtype=int).tolist()]

    @cached_property
    def levels(self) -> tuple[tuple[Rows, ...], ...]:
        """Rows by level; a program made by a `Stack` builds them at the first access."""
        from poise.solvers.stack import rows_of_block

        groups: list[list[Rows]] = [[] for _ in self.names]
        for block in self._blocks:
            groups[block.level].append(rows_of_block(block, self))
        return tuple(tuple(group) for group in groups)

    def _check_size(self, variables: int | None) -> int:
        size, source = variables, "the program"
        for k, group in enumerate(self.levels):
            for rows in group:
                if len(rows) == 0 and rows.variables == 0:
                    continue
                if size is None:
                    size, source = rows.variables, f"'{rows.name}' of level {k}"
                elif rows.variables != size:
                    raise RowsError(
                        f"Rows '{rows.name}' of level {k} have {rows.variables} variables, "
                        f"{source} has {size}; all rows need the same number of variables",
                        rows.name,
                    )
        return size or 0

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        counts = ", ".join(str(b - a) for a, b in zip(self.level_begin, self.level_begin[1:], strict=False))
        return f"Program({len(self)} levels of [{counts}] rows on {self.variables} variables)"

    @property
    def rows(self) -> int:
        return self.level_begin[-1]

    @cached_property
    def memory(self) -> Array:
        """All numbers in one array: A row by row, then lower, upper and weight of all rows, then each level's
        damping and singularity damping, then the center."""
        blocks = [rows for group in self.levels for rows in group if len(rows)]
        columns = [getattr(rows, label) for label in ("lower", "upper", "weight") for rows in blocks]
        return np.concatenate(
            [*(rows.A.ravel() for rows in blocks), *columns, self._damping, self._singularity_damping, self._center]
        )

    @property
    def structure(self) -> tuple[list[int], int, Sequence[int]]:
        """First row of each level and the number of rows; number of unknowns; per row its single unknown, or -1.

        The last list is empty here: only programs made by a `Stack` have rows that are single unknowns, for which A has
        no line in memory.
        """
        return self.level_begin, self.variables, ()

    @cached_property
    def A(self) -> Array:
        """All rows, level by level, m x n."""
        return self.memory[: self.rows * self.variables].reshape(self.rows, self.variables)

    @cached_property
    def lower(self) -> Array:
        return self._part(1)

    @cached_property
    def upper(self) -> Array:
        return self._part(2)

    @cached_property
    def weight(self) -> Array:
        return self._part(3)

    @cached_property
    def damping(self) -> Array:
        """Added cost ``damping² |x|²`` of each level; zero: the damping of the solver."""
        return self._part(4)

    @cached_property
    def singularity_damping(self) -> Array:
        """Damping of each level when its rows are nearly singular, see `Program`."""
        return self._part(5)

    @cached_property
    def center(self) -> Array:
        """Point that x is pulled to in directions that no row determines."""
        return self._part(6)

    def relative_to_center(self) -> Program:
        """Return the same program in the unknowns x - center, for solvers without support of a center."""
        shift = self.values(self.center)
        shifted = Program(
            self.levels, self.names, self.variables, self.damping.tolist(), self.singularity_damping.tolist()
        )
        shifted.lower[:] -= shift
        shifted.upper[:] -= shift
        return shifted

    def _part(self, index: int) -> Array:
        """Return lower, upper, weight, damping, singularity damping or center (index 1 to 6), as a view of memory."""
        ends = np.cumsum([self.rows * self.variables, *[self.rows] * 3, *[len(self)] * 2, self.variables])
        return self.memory[ends[index - 1] : ends[index]]

    def slice(self, level: int) -> slice:
        """Return the slice of a level in the stacked arrays."""
        return slice(self.level_begin[level], self.level_begin[level + 1])

    def split(self, values: Array) -> list[Array]:
        """Split an array with one value per row into one array per level."""
        return [values[self.slice(k)] for k in range(len(self))]

    def block(self, row: int) -> tuple[int, Rows, int]:
        """Return level, Rows and index inside the Rows of one stacked row."""
        begin = 0
        for k, group in enumerate(self.levels):
            for rows in group:
                if row < begin + len(rows):
                    return k, rows, row - begin
                begin += len(rows)
        raise IndexError(row)

    def slack(self, x: Array) -> Array:
        """Return ``A x`` minus its projection on ``[lower, upper]``, for every stacked row."""
        value = self.values(x)
        return value - np.clip(value, self.lower, self.upper)

    def values(self, x: Array) -> Array:
        """Return ``A x``."""
        return self.A @ x

    def costs(self, x: Array) -> Array:
        """Return the weighted squared violation of each level at x."""
        cost = self.weight * self.slack(x) ** 2
        return np.array([cost[self.slice(k)].sum() for k in range(len(self))])


def _check_per_level(values: Sequence[float], levels: int, label: str) -> Array:
    array = np.array(values if len(values) else np.zeros(levels), dtype=np.float64)
    if array.shape != (levels,) or not (np.isfinite(array).all() and (array >= 0.0).all()):
        raise RowsError(f"{label} is {values}; expected {levels} finite numbers, zero or more, one per level")
    return array


# -- Damping ---------------------------------------------------------------------------------------------------------


def check_damping(damping: float | Sequence[float]) -> float | Sequence[float]:
    """Return the damping as given; raise SolverError unless all numbers are finite and not negative."""
    try:
        values = np.atleast_1d(np.asarray(damping, dtype=float))
    except (TypeError, ValueError):
        values = np.array([np.nan])
    if values.ndim != 1 or not (np.isfinite(values).all() and (values >= 0.0).all()):
        raise SolverError(f"damping is {damping!r}; expected a finite number, zero or more, or one per level")
    return damping


def level_damping(damping: float | Sequence[float], levels: int) -> list[float]:
    """Return one damping per level; levels beyond the end of a list are not damped."""
    if isinstance(damping, (int, float)):
        return [float(damping)] * levels
    return [float(damping[k]) if k < len(damping) else 0.0 for k in range(levels)]


def program_damping(damping: float | Sequence[float], program: Program) -> list[float]:
    """Return one damping per level: that of the program if it is not zero, else that of the solver."""
    solver_damping = level_damping(damping, len(program))
    return [float(own) or value for own, value in zip(program.damping, solver_damping, strict=True)]
