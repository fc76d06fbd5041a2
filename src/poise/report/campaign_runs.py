"""Runs of a campaign for a report: columns as arrays, labels and units, groups by parameter, confidence intervals."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from poise.arrays import Array
from poise.campaign import Column, Results, Value, wilson_interval
from poise.html import DASH, MINUS, no_break, number

#: Units of parameters whose column has no unit; they are those of the command line.
PARAMETER_UNITS = {
    "push.size": "N", "push.direction": "deg", "push.duration": "s", "push.time": "s", "mass_error": "%", "delay": "ms",
    "carried_mass": "%", "seconds": "s", "height": "m", "mass": "kg", "cutoff": "Hz",
}  # fmt: skip
BOOLEAN_TEXT: dict[bool | None, str] = {True: "yes", False: "no", None: "none"}
#: Name suffixes that repeat the unit, and are removed.
UNIT_SUFFIXES = {
    "m": "_m", "rad": "_rad", "deg": "_deg", "s": "_s", "mm": "_mm", "kg": "_kg", "ms": "_ms", "m/s": "_m_s",
    "MB": "_mb",
}  # fmt: skip
#: Largest number of characters of a name in a figure; longer names lose their middle.
MAX_LABEL_LENGTH = 34


def display_name(name: str, column: Column | None = None) -> str:
    """Return the display name of a column: ``push.size`` is "push size", ``measure.arm_swing`` "arm swing"."""
    name = name.removeprefix("measure.").removeprefix("set.")
    if column is not None:
        name = name.removesuffix(UNIT_SUFFIXES.get(column.unit, ""))
    name = name.replace("_ms_", "_") if column is not None and column.unit == "ms" else name
    return re.sub(r"\bzmp\b", "ZMP", re.sub(r"[._]+", " ", name).strip())


def axis_label(name: str, column: Column) -> str:
    """Return the display name with the unit, for axes and table headers."""
    return f"{display_name(name, column)} ({column.unit})" if column.unit else display_name(name, column)


def compact_number(value: float) -> str:
    """Format a number with at most four significant digits, without trailing zeros."""
    return f"{value:.4g}".replace("-", MINUS) if abs(value) < 1e5 else number(value, 4)


def format_value(value: Value, column: Column) -> str:
    """Format the value of a parameter with its unit."""
    if value is None or isinstance(value, bool):
        return BOOLEAN_TEXT[value]
    if isinstance(value, str):
        return value
    return f"{compact_number(float(value))} {column.unit}".strip() if math.isfinite(value) else DASH


def shorten(text: str, max_length: int = MAX_LABEL_LENGTH) -> str:
    """Shorten a text to at most ``max_length`` characters by replacing its middle by an ellipsis."""
    if len(text) <= max_length:
        return text
    half = (max_length - 1) // 2
    return f"{text[:half]}…{text[-half:]}"


def natural_key(text: str) -> tuple[tuple[int, float, str], ...]:
    """Return a sort key that puts ``slope:4`` before ``slope:10``."""
    parts = re.split(r"(\d+(?:\.\d+)?)", text)
    return tuple((0, float(part), "") if i % 2 else (1, 0.0, part.lower()) for i, part in enumerate(parts) if part)


def mean_and_deviation(values: Sequence[float] | np.ndarray, factor: float = 1.0) -> str:
    """Format mean ± standard deviation with the digits that the deviation justifies; one value without deviation."""
    finite = factor * np.asarray(values, dtype=np.float64)
    finite = finite[np.isfinite(finite)]
    if not len(finite):
        return DASH
    mean = float(finite.mean())
    if len(finite) == 1:
        return number(mean)
    deviation = float(finite.std(ddof=1))
    if not deviation > 1e-9 * max(abs(mean), 1e-300):
        return no_break(f"{number(mean)} ± 0")
    decimals = 1 - math.floor(math.log10(deviation))
    if not -4 <= decimals <= 6:
        return no_break(f"{number(mean)} ± {number(deviation, 2)}")
    decimals = max(decimals, 0)
    return no_break(f"{round(mean, decimals) + 0.0:.{decimals}f} ± {deviation:.{decimals}f}".replace("-", MINUS))


def plural(count: int, word: str) -> str:
    """Return a count with its noun: ``1 run``, ``2 runs``."""
    return f"{count} {word}{'' if count == 1 else 's'}"


# -- Confidence intervals of success rates ---------------------------------------------------------------------------


def success_interval(succeeded: int, runs: int) -> tuple[float, float]:
    """Return the 95 % Wilson interval of a success rate; 0 to 1 without runs.

    >>> success_interval(10, 10)
    (0.722..., 1.0)
    """
    interval = wilson_interval(succeeded, runs)
    return interval.low, interval.high


def share_with_interval(succeeded: int, runs: int) -> str:
    """Format a success rate with its 95 % interval: ``94 % (90 to 97 %)``."""
    if runs == 0:
        return DASH
    low, high = success_interval(succeeded, runs)
    return f"{_percent_digits(succeeded / runs)} % ({_percent_digits(low)} to {_percent_digits(high)} %)"


def _percent_digits(value: float) -> str:
    """Format a share in percent, with one decimal below 10 % and above 90 %."""
    return f"{100 * value:.1f}".removesuffix(".0") if not 0.1 <= value <= 0.9 else f"{100 * value:.0f}"


# -- Files of a run --------------------------------------------------------------------------------------------------


class RunFiles(NamedTuple):
    """Links to the stored files of a run.

    Attributes:
        recording: address of the recording relative to the page; "" if there is none.
        replay: address of a page that plays the run; "" if there is none.
        note: why a file is missing; "" if none is.
    """

    recording: str = ""
    replay: str = ""
    note: str = ""


# -- Table of runs ---------------------------------------------------------------------------------------------------


#: Column types that can be drawn on a numeric axis.
NUMERIC_TYPES = ("number", "count")


class RunTable:
    """Results of a campaign as arrays; each column is converted once.

    Attributes:
        results: results of the campaign.
        parameters, columns: inputs and outputs of the runs, with their units if known.
    """

    def __init__(self, results: Results) -> None:
        self.results = results
        self.parameters = {
            name: column._replace(unit=column.unit or PARAMETER_UNITS.get(name, ""))
            for name, column in results.parameters.items()
        }
        self.columns = dict(results.columns)
        self._numbers: dict[str, Array] = {}

    def __len__(self) -> int:
        return len(self.results)

    def column(self, name: str) -> Column:
        """Return the description of a parameter or an output column."""
        return self.parameters.get(name) or self.columns[name]

    @cached_property
    def succeeded(self) -> NDArray[np.bool_]:
        """Whether each run succeeded, (n,)."""
        return np.array([cell is True for cell in self.results["succeeded"]], dtype=bool)

    @cached_property
    def run_numbers(self) -> list[int]:
        """Number of each run in the plan."""
        return [int(cell) for cell in self.results["run"] if cell is not None]

    def numbers(self, name: str) -> Array:
        """Return a numeric column, (n,); empty and infinite cells are NaN."""
        if name not in self._numbers:
            cells: Any = self.results.table.column(name).cast("double").to_numpy()
            self._numbers[name] = np.where(np.isfinite(cells), cells, np.nan)
        return self._numbers[name]

    def texts(self, name: str) -> list[str]:
        """Return a column as texts; empty cells are "none"."""
        return [
            BOOLEAN_TEXT.get(cell, str(cell)) if isinstance(cell, bool | None) else str(cell)
            for cell in self.results[name]
        ]

    def numeric(self, name: str) -> bool:
        """Return whether a parameter or column is numeric."""
        return self.column(name).type in NUMERIC_TYPES

    @cached_property
    def varied(self) -> list[str]:
        """Parameters that differ between the completed runs."""
        return list(self.results.varied_parameters)


# -- Groups of runs --------------------------------------------------------------------------------------------------


#: Largest number of values of a parameter that are shown individually; number of ranges (quantiles) for more values.
MAX_VALUES, RANGE_COUNT = 12, 8

Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class RunGroups:
    """Runs grouped by a parameter.

    Attributes:
        name, column: the parameter.
        labels: names of the groups, in order.
        index: group of each run; -1 for a run without a value.
        positions: position of each group on the axis of the parameter: its value, or the median of the values in its
            range; None for categorical parameters.
        edges: start and end of the range of each group; None if groups are single values.
    """

    name: str
    column: Column
    labels: tuple[str, ...]
    index: Counts
    positions: Array | None = None
    edges: Array | None = None

    def __len__(self) -> int:
        return len(self.labels)

    def counts(self, selected: NDArray[np.bool_] | None = None) -> Counts:
        """Return the number of runs in each group, only of selected runs if given."""
        is_inside = self.index >= 0 if selected is None else (self.index >= 0) & selected
        return np.bincount(self.index[is_inside], minlength=len(self))

    @property
    def ungrouped(self) -> int:
        """Number of runs without a group."""
        return int((self.index < 0).sum())


def group_runs(runs: RunTable, name: str, max_values: int = MAX_VALUES, range_count: int = RANGE_COUNT) -> RunGroups:
    """Group runs by a parameter: one group per value, or ranges if it is numeric with more than `max_values` values."""
    column = runs.column(name)
    if not runs.numeric(name):
        texts = runs.texts(name)
        labels = sorted(set(texts), key=natural_key)
        number = {label: k for k, label in enumerate(labels)}
        return RunGroups(name, column, tuple(labels), np.array([number[text] for text in texts], dtype=np.int64))
    values = runs.numbers(name)
    is_known = np.isfinite(values)
    distinct = np.unique(values[is_known])
    if len(distinct) <= max_values:
        index = np.where(is_known, np.searchsorted(distinct, values), -1)
        return RunGroups(name, column, _labels(distinct), index, distinct)
    edges = np.unique(np.quantile(values[is_known], np.linspace(0.0, 1.0, range_count + 1)))
    index = np.where(is_known, np.searchsorted(edges, values, side="right") - 1, -1).clip(max=len(edges) - 2)
    used_ranges = np.unique(index[is_known])  # ties can leave a range empty
    index = np.where(is_known, np.searchsorted(used_ranges, index), -1)
    bounds = np.array([(edges[k], edges[k + 1]) for k in used_ranges])
    positions = np.array([np.median(values[index == k]) for k in range(len(used_ranges))])
    texts = [f"{compact_number(float(f'{low:.3g}'))} to {compact_number(float(f'{high:.3g}'))}" for low, high in bounds]
    return RunGroups(name, column, tuple(texts), index, positions, bounds)


def _labels(values: Array) -> tuple[str, ...]:
    """Format numbers with enough digits to tell them apart."""
    labels = [compact_number(value) for value in values]
    return tuple(labels if all(a != b for a, b in pairwise(labels)) else map(repr, values.tolist()))


def cross_tabulate(rows: RunGroups, columns: RunGroups, succeeded: NDArray[np.bool_]) -> tuple[Counts, Counts]:
    """Return the number of runs and of successful runs for each pair of groups, (rows, columns)."""
    is_inside = (rows.index >= 0) & (columns.index >= 0)
    cell_index = rows.index * len(columns) + columns.index
    size, shape = len(rows) * len(columns), (len(rows), len(columns))
    count = np.bincount(cell_index[is_inside], minlength=size).reshape(shape)
    successes = np.bincount(cell_index[is_inside & succeeded], minlength=size).reshape(shape)
    return count, successes


# -- Categorical factors by which a campaign is split ----------------------------------------------------------------


#: Largest number of values of a categorical factor.
MAX_PARTS = 12
#: Most important categorical factors, in order; others follow, those with the fewest values first.
FACTOR_PRIORITY = ("robot", "style", "variant", "mode", "solver", "terrain")


def categorical_factors(runs: RunTable) -> list[str]:
    """Return the varied parameters that are not numeric and have few values, most important first."""
    texts = [name for name in runs.varied if not runs.numeric(name)]
    value_counts = {name: len(runs.results.varied_parameters[name]) for name in texts}
    priority = {
        name: FACTOR_PRIORITY.index(name) if name in FACTOR_PRIORITY else len(FACTOR_PRIORITY) for name in texts
    }
    return sorted(
        (name for name in texts if value_counts[name] <= MAX_PARTS),
        key=lambda name: (priority[name], value_counts[name]),
    )


def main_factor(runs: RunTable) -> RunGroups | None:
    """Group the runs by the most important categorical factor; None if there is none."""
    names = categorical_factors(runs)
    return group_runs(runs, names[0]) if names else None
