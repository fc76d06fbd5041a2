"""Groups: runs by the values of one parameter, or by ranges of values where these were drawn at random."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from poise.campaign.kinds.kind import Column
from poise.report.campaign.runs import Array, Runs
from poise.report.campaign.words import natural, plain

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
