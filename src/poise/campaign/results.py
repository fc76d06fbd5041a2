"""Results: what a campaign found, finished or not, read from its folder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow  # type: ignore[import-untyped]
import pyarrow.compute  # type: ignore[import-untyped]

from poise.campaign.errors import SpecError
from poise.campaign.journal import entries_of
from poise.campaign.kinds.kind import Column, Value
from poise.campaign.table import FIRST, OUTCOMES, read_table, table_of

#: Files in the folder of a campaign.
FACTS, TABLE, COSTS_TABLE, JOURNAL, SPEC, RECORDINGS = (
    "campaign.json", "results.parquet", "costs.parquet", "journal.jsonl", "campaign.toml", "recordings",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Results:
    """A campaign that was run, at least in part.

    Attributes:
        folder: where it lies.
        facts: title, behavior, planned (number of runs), size, engine, workers, poise, python, machine, started,
            seconds (so far), runs_per_second, worker_memory_mb (largest of each worker), floor, spec (its text); what
            is not known yet is missing.
        parameters: columns of `table` that were asked for, by name.
        columns: columns of `table` that were found, by name: type, unit, meaning.
        table: one row a run in the order of the plan: `FIRST`, then parameters, then columns. The same on every engine.
        costs: one row a run: what it took.
    """

    folder: Path
    facts: Mapping[str, Any]
    parameters: Mapping[str, Column]
    columns: Mapping[str, Column]
    table: pyarrow.Table
    costs: pyarrow.Table

    @classmethod
    def load(cls, path: str | Path) -> Results:
        """Reads the folder of a campaign, or the table in it; SpecError if there is none."""
        folder = Path(path).parent if Path(path).name == TABLE else Path(path)
        try:
            facts = json.loads((folder / FACTS).read_text(encoding="utf-8"))
            parameters = {name: Column(*column) for name, column in facts["parameters"].items()}
            columns = {name: Column(*column) for name, column in facts["columns"].items()}
            costs = {name: Column(*column) for name, column in facts["costs"].items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            raise SpecError(
                f"'{path}' is not the folder of a campaign; expected one that 'poise campaign' wrote", path=str(path)
            ) from None
        all_columns = {**FIRST, **parameters, **columns}
        later = entries_of(folder / JOURNAL)  # first: it is gone as soon as the tables are whole
        rows = {int(row["run"]): row for row in _stored(folder / TABLE)}
        spent = {int(row["run"]): row for row in _stored(folder / COSTS_TABLE)}
        for entry in later:
            rows[entry["run"]] = entry["row"]
            spent[entry["run"]] = entry["cost"]
        table, took = table_of([*rows.values()], all_columns), table_of([*spent.values()], costs)
        return cls(folder, facts, parameters, columns, table, took)

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __getitem__(self, name: str) -> list[Value]:
        """A column of the table as a list; None where a cell is empty."""
        cells: list[Value] = self.table.column(name).to_pylist()
        return cells

    @property
    def planned(self) -> int:
        """How many runs there are in all."""
        return int(self.facts.get("planned", len(self)))

    @property
    def finished(self) -> bool:
        """Whether every run is done."""
        return len(self) >= self.planned

    @cached_property
    def varied(self) -> dict[str, list[Value]]:
        """Parameters that differ between runs, with their different values, sorted."""
        found = {name: sorted(set(self[name]), key=_order) for name in self.parameters}
        return {name: values for name, values in found.items() if len(values) > 1}

    @property
    def outcomes(self) -> dict[str, int]:
        """How many runs ended in which way; those that none did are left out."""
        given = self["outcome"]
        return {name: given.count(name) for name in OUTCOMES if name in given}

    @property
    def survival(self) -> float | None:
        """Share of the runs that succeeded; None before the first."""
        return self.outcomes.get("succeeded", 0) / len(self) if len(self) else None


def _stored(path: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = read_table(path).to_pylist() if path.exists() else []
    return rows


def _order(value: Value) -> tuple[int, float, str]:
    """Nothing, then numbers, then words."""
    if value is None:
        return 0, 0.0, ""
    return (2, 0.0, value) if isinstance(value, str) else (1, float(value), "")
