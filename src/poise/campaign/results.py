"""Results of a campaign, its success rate with confidence intervals, and the ranking of its worst runs."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from poise.campaign.kinds.kind import Column, Value
from poise.campaign.storage import OUTCOMES, RUN_COLUMNS, build_table, read_journal, read_table
from poise.errors import SpecError
from poise.extras import pyarrow

#: Files in the folder of a campaign.
FACTS_FILE, RESULTS_FILE, COSTS_FILE, JOURNAL_FILE, SPEC_FILE, RECORDINGS_FOLDER = (
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
        table: one row a run in the order of the plan: `RUN_COLUMNS`, then parameters, then columns. The same on every
            engine.
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
        folder = Path(path).parent if Path(path).name == RESULTS_FILE else Path(path)
        try:
            facts = json.loads((folder / FACTS_FILE).read_text(encoding="utf-8"))
            parameters = {name: Column(*column) for name, column in facts["parameters"].items()}
            columns = {name: Column(*column) for name, column in facts["columns"].items()}
            costs = {name: Column(*column) for name, column in facts["costs"].items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            raise SpecError(
                f"'{path}' is not the folder of a campaign; expected one that 'poise campaign' wrote", path=str(path)
            ) from None
        all_columns = {**RUN_COLUMNS, **parameters, **columns}
        journal_entries = read_journal(folder / JOURNAL_FILE)  # first: it is gone as soon as the tables are whole
        rows = {int(row["run"]): row for row in _read_rows(folder / RESULTS_FILE)}
        cost_rows = {int(row["run"]): row for row in _read_rows(folder / COSTS_FILE)}
        for entry in journal_entries:
            rows[entry["run"]] = entry["row"]
            cost_rows[entry["run"]] = entry["cost"]
        table, costs_table = build_table([*rows.values()], all_columns), build_table([*cost_rows.values()], costs)
        return cls(folder, facts, parameters, columns, table, costs_table)

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __getitem__(self, name: str) -> list[Value]:
        """A column of the table as a list; None where a cell is empty."""
        cells: list[Value] = self.table.column(name).to_pylist()
        return cells

    @property
    def planned_runs(self) -> int:
        """How many runs there are in all."""
        return int(self.facts.get("planned", len(self)))

    @property
    def finished(self) -> bool:
        """Whether every run is done."""
        return len(self) >= self.planned_runs

    @cached_property
    def varied_parameters(self) -> dict[str, list[Value]]:
        """Parameters that differ between runs, with their different values, sorted."""
        values_by_name = {name: sorted(set(self[name]), key=_sort_key) for name in self.parameters}
        return {name: values for name, values in values_by_name.items() if len(values) > 1}

    @property
    def outcomes(self) -> dict[str, int]:
        """How many runs ended in which way; those that none did are left out."""
        outcomes = self["outcome"]
        return {name: outcomes.count(name) for name in OUTCOMES if name in outcomes}

    @property
    def success_rate(self) -> float | None:
        """Share of the runs that succeeded; None before the first."""
        return self.outcomes.get("succeeded", 0) / len(self) if len(self) else None


def _read_rows(path: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = read_table(path).to_pylist() if path.exists() else []
    return rows


def _sort_key(value: Value) -> tuple[int, float, str]:
    """Nothing, then numbers, then words."""
    if value is None:
        return 0, 0.0, ""
    return (2, 0.0, value) if isinstance(value, str) else (1, float(value), "")


# -- Survival: which share of runs succeeded, and how sure that is ---------------------------------------------------


#: Deviations of a normal distribution between which 95 % of it lie.
Z_95 = 1.959964


@dataclass(frozen=True)
class SuccessRate:
    """Some of n, with Wilson's interval in which the true share is with a probability of 95 %."""

    count: int
    total: int
    low: float
    high: float

    @property
    def value(self) -> float:
        """NaN of none."""
        return self.count / self.total if self.total else math.nan

    def __str__(self) -> str:
        return f"{self.count} of {self.total} ({100 * self.low:.0f} to {100 * self.high:.0f} %)"


def wilson_interval(count: int, total: int) -> SuccessRate:
    """Wilson's interval: the shares p with |count/n - p| <= z √(p (1-p) / n).

    >>> wilson_interval(10, 10).low
    0.722...
    """
    if total == 0:
        return SuccessRate(0, 0, 0.0, 1.0)
    p, z2 = count / total, Z_95**2
    middle = (p + z2 / (2 * total)) / (1 + z2 / total)
    half = Z_95 / (1 + z2 / total) * math.sqrt(p * (1 - p) / total + z2 / (4 * total**2))
    return SuccessRate(count, total, 0.0 if count == 0 else middle - half, 1.0 if count == total else middle + half)


def success_rate(results: Results) -> SuccessRate:
    """Of all runs that are done."""
    return wilson_interval(results.outcomes.get("succeeded", 0), len(results))


def success_rate_by(results: Results, *names: str) -> dict[tuple[object, ...], SuccessRate]:
    """For each combination of values of some parameters, in the order in which they come."""
    cells: dict[tuple[object, ...], list[bool]] = {}
    columns = [results[name] for name in names]
    for key, succeeded in zip(zip(*columns, strict=True), results["succeeded"], strict=True):
        cells.setdefault(key, []).append(bool(succeeded))
    return {key: wilson_interval(sum(each), len(each)) for key, each in cells.items()}


# -- Which runs are the worst ----------------------------------------------------------------------------------------


#: How long a run moved, which is how soon it fell.
MOTION_SECONDS_COLUMN = "seconds_moved"


def margin_column(columns: Mapping[str, Column]) -> str:
    """The column that tells how near to failure a run was; "" if there is none."""
    return next((name for name, each in columns.items() if "margin" in name and each.type in ("number", "count")), "")


def severity(row: Mapping[str, Any], margin: str) -> tuple[bool, float, int]:
    """Sorts rows of a table, the worst first.

    Runs that failed stand before those that succeeded. Of the former, those that moved for the shortest time come first
    and those of which this is not known last; of the latter, those with the smallest margin, likewise. Of two that are
    alike the one that stands first in the plan comes first.

    Args:
        row: of a run.
        margin: the column that `margin_column` names.

    >>> sorted(rows, key=lambda row: severity(row, "zmp_margin_m"))[0]["reason"]
    'fell at 0.8 s'
    """
    succeeded = row["succeeded"] is True
    value = row.get(margin if succeeded else MOTION_SECONDS_COLUMN)
    return succeeded, math.inf if value is None or math.isnan(value) else float(value), int(row["run"])
