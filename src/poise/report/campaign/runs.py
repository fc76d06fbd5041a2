"""Runs: the table of a campaign as arrays, each column read once."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.campaign.kinds.kind import Column
from poise.campaign.results import Results
from poise.report.campaign.words import FLAGS, UNITS

Array = NDArray[np.float64]

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
