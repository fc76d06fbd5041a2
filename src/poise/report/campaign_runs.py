"""The runs of a campaign for a report: columns, units, groups by parameter, success shares with intervals."""

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
from poise.campaign import Column, Results, Value
from poise.campaign import share as share_of
from poise.html import MINUS, NONE, number, unbroken

#: Units of parameters, which the command line tells and tables need not.
UNITS = {
    "push.size": "N", "push.direction": "deg", "push.duration": "s", "push.time": "s", "mass_error": "%", "delay": "ms",
    "carry": "kg", "seconds": "s", "height": "m", "mass": "kg", "cutoff": "Hz",
}  # fmt: skip
FLAGS: dict[bool | None, str] = {True: "yes", False: "no", None: "none"}
#: Endings of names that repeat the unit.
ENDINGS = {
    "m": "_m", "rad": "_rad", "deg": "_deg", "s": "_s", "mm": "_mm", "kg": "_kg", "ms": "_ms", "m/s": "_m_s",
    "MB": "_mb",
}  # fmt: skip
#: Letters of a name in a figure; what is longer loses its middle.
LONGEST = 34


def titled(name: str, column: Column | None = None) -> str:
    """A name in words: ``push.size`` is "push size", ``measure.arm_swing`` "arm swing"."""
    name = name.removeprefix("measure.").removeprefix("set.")
    if column is not None:
        name = name.removesuffix(ENDINGS.get(column.unit, ""))
    name = name.replace("_ms_", "_") if column is not None and column.unit == "ms" else name
    return re.sub(r"\bzmp\b", "ZMP", re.sub(r"[._]+", " ", name).strip())


def named(name: str, column: Column) -> str:
    """A name with its unit, as axes and heads of tables have it."""
    return f"{titled(name, column)} ({column.unit})" if column.unit else titled(name, column)


def plain(value: float) -> str:
    """A number as somebody asked for it: without digits that say nothing."""
    return f"{value:.4g}".replace("-", MINUS) if abs(value) < 1e5 else number(value, 4)


def valued(value: Value, column: Column) -> str:
    """A value of a parameter with its unit."""
    if value is None or isinstance(value, bool):
        return FLAGS[value]
    if isinstance(value, str):
        return value
    return f"{plain(float(value))} {column.unit}".strip() if math.isfinite(value) else NONE


def shortened(text: str, longest: int = LONGEST) -> str:
    """A name that fits into a figure."""
    if len(text) <= longest:
        return text
    half = (longest - 1) // 2
    return f"{text[:half]}…{text[-half:]}"


def natural(text: str) -> tuple[tuple[int, float, str], ...]:
    """A key that sorts ``slope:4`` before ``slope:10``."""
    parts = re.split(r"(\d+(?:\.\d+)?)", text)
    return tuple((0, float(part), "") if i % 2 else (1, 0.0, part.lower()) for i, part in enumerate(parts) if part)


def spread(values: Sequence[float] | np.ndarray, factor: float = 1.0) -> str:
    """Mean ± standard deviation, with digits that the deviation leaves a meaning; the mean alone of a single value."""
    known = factor * np.asarray(values, dtype=np.float64)
    known = known[np.isfinite(known)]
    if not len(known):
        return NONE
    mean = float(known.mean())
    if len(known) == 1:
        return number(mean)
    deviation = float(known.std(ddof=1))
    if not deviation > 1e-9 * max(abs(mean), 1e-300):
        return unbroken(f"{number(mean)} ± 0")
    places = 1 - math.floor(math.log10(deviation))
    if not -4 <= places <= 6:
        return unbroken(f"{number(mean)} ± {number(deviation, 2)}")
    places = max(places, 0)
    return unbroken(f"{round(mean, places) + 0.0:.{places}f} ± {deviation:.{places}f}".replace("-", MINUS))


def several(count: int, word: str) -> str:
    """``1 run``, ``2 runs``."""
    return f"{count} {word}{'' if count == 1 else 's'}"


# -- How sure a share of few runs is ---------------------------------------------------------------------------------


def wilson(succeeded: int, runs: int) -> tuple[float, float]:
    """The 95 % interval of a share; 0 to 1 if there is no run.

    >>> wilson(10, 10)
    (0.722..., 1.0)
    """
    found = share_of(succeeded, runs)
    return found.low, found.high


def share(succeeded: int, runs: int) -> str:
    """A share with its interval: ``94 % (90 to 97 %)``."""
    if runs == 0:
        return NONE
    low, high = wilson(succeeded, runs)
    return f"{_percent(succeeded / runs)} % ({_percent(low)} to {_percent(high)} %)"


def _percent(value: float) -> str:
    """With a digit behind the point near the ends, where it matters; all and none only if it is so."""
    return f"{100 * value:.1f}".removesuffix(".0") if not 0.1 <= value <= 0.9 else f"{100 * value:.0f}"


# -- Kept: where a page finds what was kept of a run -----------------------------------------------------------------


class Kept(NamedTuple):
    """What was kept of a run, as the page links it.

    Attributes:
        recording: address of its recording from where the page lies; "" if there is none.
        replay: address of a page that plays it; "" if there is none.
        note: why something is missing; "" if nothing is.
    """

    recording: str = ""
    replay: str = ""
    note: str = ""


# -- Runs: the table of a campaign as arrays, each column read once --------------------------------------------------


#: Types of columns that have a place on an axis.
NUMERIC = ("number", "count")


class Runs:
    """What a page reads of a campaign.

    Attributes:
        results: the campaign.
        parameters, columns: what was asked and what was found, with units where these are known.
    """

    def __init__(self, results: Results) -> None:
        self.results = results
        self.parameters = {
            name: column._replace(unit=column.unit or UNITS.get(name, ""))
            for name, column in results.parameters.items()
        }
        self.columns = dict(results.columns)
        self._numbers: dict[str, Array] = {}

    def __len__(self) -> int:
        return len(self.results)

    def column(self, name: str) -> Column:
        """What a parameter or a column is."""
        return self.parameters.get(name) or self.columns[name]

    @cached_property
    def succeeded(self) -> NDArray[np.bool_]:
        """Whether each run did."""
        return np.array([cell is True for cell in self.results["succeeded"]], dtype=bool)

    @cached_property
    def numbers_of_runs(self) -> list[int]:
        """Number of each run in the plan."""
        return [int(cell) for cell in self.results["run"] if cell is not None]

    def numbers(self, name: str) -> Array:
        """A column of numbers; NaN where a cell is empty or infinite."""
        if name not in self._numbers:
            cells: Any = self.results.table.column(name).cast("double").to_numpy()
            self._numbers[name] = np.where(np.isfinite(cells), cells, np.nan)
        return self._numbers[name]

    def texts(self, name: str) -> list[str]:
        """A column of words; "none" where a cell is empty."""
        return [
            FLAGS.get(cell, str(cell)) if isinstance(cell, bool | None) else str(cell) for cell in self.results[name]
        ]

    def numeric(self, name: str) -> bool:
        """Whether a parameter has a place on an axis."""
        return self.column(name).type in NUMERIC

    @cached_property
    def varied(self) -> list[str]:
        """Parameters that differ between the runs that are done."""
        return list(self.results.varied)


# -- Groups ----------------------------------------------------------------------------------------------------------


#: Most values of a parameter that are shown one by one, and ranges that others are put in, of as many runs each.
VALUES, RANGES = 12, 8

Whole = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Groups:
    """Runs in groups.

    Attributes:
        name, column: the parameter.
        labels: of the groups, in their order.
        index: group of each run; -1 for one that has no number.
        places: of the groups on the axis of the parameter: its value, or the median of its range; None for words.
        edges: begin and end of each range; None if groups are single values.
    """

    name: str
    column: Column
    labels: tuple[str, ...]
    index: Whole
    places: Array | None = None
    edges: Array | None = None

    def __len__(self) -> int:
        return len(self.labels)

    def counts(self, chosen: NDArray[np.bool_] | None = None) -> Whole:
        """Runs of each group; of those chosen."""
        inside = self.index >= 0 if chosen is None else (self.index >= 0) & chosen
        return np.bincount(self.index[inside], minlength=len(self))

    @property
    def absent(self) -> int:
        """Runs that are in no group."""
        return int((self.index < 0).sum())


def grouped(runs: Runs, name: str, most: int = VALUES, ranges: int = RANGES) -> Groups:
    """Runs by a parameter: one group for each value, or ranges if a number has more than `most` values."""
    column = runs.column(name)
    if not runs.numeric(name):
        texts = runs.texts(name)
        labels = sorted(set(texts), key=natural)
        number = {label: k for k, label in enumerate(labels)}
        return Groups(name, column, tuple(labels), np.array([number[text] for text in texts], dtype=np.int64))
    values = runs.numbers(name)
    known = np.isfinite(values)
    different = np.unique(values[known])
    if len(different) <= most:
        index = np.where(known, np.searchsorted(different, values), -1)
        return Groups(name, column, _labels(different), index, different)
    edges = np.unique(np.quantile(values[known], np.linspace(0.0, 1.0, ranges + 1)))
    index = np.where(known, np.searchsorted(edges, values, side="right") - 1, -1).clip(max=len(edges) - 2)
    full = np.unique(index[known])  # ties can leave a range empty
    index = np.where(known, np.searchsorted(full, index), -1)
    bounds = np.array([(edges[k], edges[k + 1]) for k in full])
    places = np.array([np.median(values[index == k]) for k in range(len(full))])
    texts = [f"{plain(float(f'{low:.3g}'))} to {plain(float(f'{high:.3g}'))}" for low, high in bounds]
    return Groups(name, column, tuple(texts), index, places, bounds)


def _labels(values: Array) -> tuple[str, ...]:
    """Numbers with as many digits as tell them apart."""
    short = [plain(value) for value in values]
    return tuple(short if all(a != b for a, b in pairwise(short)) else map(repr, values.tolist()))


def crossed(rows: Groups, columns: Groups, succeeded: NDArray[np.bool_]) -> tuple[Whole, Whole]:
    """For each pair of groups, how many runs there are and how many of them succeeded."""
    inside = (rows.index >= 0) & (columns.index >= 0)
    both = rows.index * len(columns) + columns.index
    size, shape = len(rows) * len(columns), (len(rows), len(columns))
    count = np.bincount(both[inside], minlength=size).reshape(shape)
    good = np.bincount(both[inside & succeeded], minlength=size).reshape(shape)
    return count, good


# -- Which words split a campaign into parts that are worth a look each ----------------------------------------------


#: Most parts that are shown apart.
PARTS = 12
#: Words that matter most, in this order; then others, those with the fewest values first.
FIRST = ("robot", "style", "variant", "mode", "solver", "terrain")


def words_of(runs: Runs) -> list[str]:
    """Varied parameters that are words with few values, the most important first."""
    texts = [name for name in runs.varied if not runs.numeric(name)]
    few = {name: len(runs.results.varied[name]) for name in texts}
    known = {name: FIRST.index(name) if name in FIRST else len(FIRST) for name in texts}
    return sorted((name for name in texts if few[name] <= PARTS), key=lambda name: (known[name], few[name]))


def split_of(runs: Runs) -> Groups | None:
    """The parts by the most important of these words; None if there are none."""
    names = words_of(runs)
    return grouped(runs, names[0]) if names else None
