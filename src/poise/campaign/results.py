"""Results of a campaign, its success rate with confidence intervals, and the ranking of its worst runs."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from poise.campaign.former_keys import rename_columns, rename_facts
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
    """Results of a campaign, complete or partial.

    Attributes:
        folder: folder of the campaign.
        facts: title, kind, planned_runs, size, engine, workers, poise, python, machine, started, seconds (so far),
            runs_per_second, worker_memory_mb (largest of each worker), min_success_rate, spec (its text); facts that
            are not known yet are missing.
        parameters: columns of `table` that are parameters, by name.
        columns: columns of `table` that are results, by name: type, unit, description.
        table: one row per run in the order of the plan: `RUN_COLUMNS`, then parameters, then columns. The same on every
            engine.
        costs: one row per run: time, memory and worker.
    """

    folder: Path
    facts: Mapping[str, Any]
    parameters: Mapping[str, Column]
    columns: Mapping[str, Column]
    table: pyarrow.Table
    costs: pyarrow.Table

    @classmethod
    def load(cls, path: str | Path) -> Results:
        """Read the results of a campaign.

        Args:
            path: folder of the campaign, or the file ``results.parquet`` in it.

        Raises:
            SpecError: if it is not the folder of a campaign.
        """
        folder = Path(path).parent if Path(path).name == RESULTS_FILE else Path(path)
        try:
            facts = rename_facts(json.loads((folder / FACTS_FILE).read_text(encoding="utf-8")))
            parameters = {name: Column(*column) for name, column in facts["parameters"].items()}
            columns = {name: Column(*column) for name, column in facts["columns"].items()}
            costs = {name: Column(*column) for name, column in facts["costs"].items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            raise SpecError(
                f"'{path}' is not the folder of a campaign; expected one that 'poise campaign' wrote", path=str(path)
            ) from None
        all_columns = {**RUN_COLUMNS, **parameters, **columns}
        journal_entries = read_journal(folder / JOURNAL_FILE)  # first: it is deleted once the tables are complete
        rows = {int(row["run"]): row for row in _read_rows(folder / RESULTS_FILE)}
        cost_rows = {int(row["run"]): row for row in _read_rows(folder / COSTS_FILE)}
        for entry in journal_entries:
            rows[entry["run"]] = entry["row"]
            cost_rows[entry["run"]] = entry["cost"]
        table = build_table([rename_columns(row, facts["kind"]) for row in rows.values()], all_columns)
        costs_table = build_table([*cost_rows.values()], costs)
        return cls(folder, facts, parameters, columns, table, costs_table)

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __getitem__(self, name: str) -> list[Value]:
        """Return a column of the table as a list; None for empty cells."""
        cells: list[Value] = self.table.column(name).to_pylist()
        return cells

    @property
    def planned_runs(self) -> int:
        """Number of runs in the plan."""
        return int(self.facts.get("planned_runs", len(self)))

    @property
    def finished(self) -> bool:
        """Whether every run of the plan is done."""
        return len(self) >= self.planned_runs

    @cached_property
    def varied_parameters(self) -> dict[str, list[Value]]:
        """Parameters that differ between runs, with their distinct values, sorted."""
        values_by_name = {name: sorted(set(self[name]), key=_sort_key) for name in self.parameters}
        return {name: values for name, values in values_by_name.items() if len(values) > 1}

    @property
    def outcomes(self) -> dict[str, int]:
        """Number of runs by outcome; outcomes without runs are left out."""
        outcomes = self["outcome"]
        return {name: outcomes.count(name) for name in OUTCOMES if name in outcomes}

    @property
    def success_rate(self) -> float | None:
        """Fraction of the runs that succeeded; None without runs."""
        return self.outcomes.get("succeeded", 0) / len(self) if len(self) else None


def _read_rows(path: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = read_table(path).to_pylist() if path.exists() else []
    return rows


def _sort_key(value: Value) -> tuple[int, float, str]:
    """Sort key: None first, then numbers, then texts."""
    if value is None:
        return 0, 0.0, ""
    return (2, 0.0, value) if isinstance(value, str) else (1, float(value), "")


# -- Success rate with confidence interval ---------------------------------------------------------------------------


#: Number of standard deviations on either side of the mean that enclose 95 % of a normal distribution.
Z_95 = 1.959964


@dataclass(frozen=True)
class SuccessRate:
    """Success rate with its 95 % confidence interval (Wilson).

    Attributes:
        count: number of successful runs.
        total: number of runs.
        low: lower end of the interval.
        high: upper end of the interval.
    """

    count: int
    total: int
    low: float
    high: float

    @property
    def value(self) -> float:
        """Fraction of successful runs; NaN without runs."""
        return self.count / self.total if self.total else math.nan

    def __str__(self) -> str:
        return f"{self.count} of {self.total} ({100 * self.low:.0f} to {100 * self.high:.0f} %)"


def wilson_interval(count: int, total: int) -> SuccessRate:
    """Return the success rate with Wilson's interval: the rates p with |count/n - p| <= z √(p (1-p) / n), n = total.

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
    """Return the success rate of all finished runs."""
    return wilson_interval(results.outcomes.get("succeeded", 0), len(results))


def success_rate_by(results: Results, *names: str) -> dict[tuple[object, ...], SuccessRate]:
    """Return the success rate for each combination of values of the named parameters, in order of appearance."""
    cells: dict[tuple[object, ...], list[bool]] = {}
    columns = [results[name] for name in names]
    for key, succeeded in zip(zip(*columns, strict=True), results["succeeded"], strict=True):
        cells.setdefault(key, []).append(bool(succeeded))
    return {key: wilson_interval(sum(each), len(each)) for key, each in cells.items()}


# -- Ranking of the worst runs ---------------------------------------------------------------------------------------


#: Column with the duration of the motion, which is short after an early fall.
MOTION_SECONDS_COLUMN = "motion_seconds"


def margin_column(columns: Mapping[str, Column]) -> str:
    """Return the name of the column with the margin to failure of a run; "" if there is none."""
    return next((name for name, each in columns.items() if "margin" in name and each.type in ("number", "count")), "")


def severity(row: Mapping[str, Any], margin: str) -> tuple[bool, float, int]:
    """Return a sort key for rows of the table, worst run first.

    Failed runs come before successful ones. Failed runs are sorted by the duration of their motion, shortest first;
    successful runs by their margin, smallest first. Runs without that value come last in their group. Ties are in the
    order of the plan.

    Args:
        row: row of a run.
        margin: column that `margin_column` returns.

    >>> sorted(rows, key=lambda row: severity(row, "zmp_margin_m"))[0]["reason"]
    'fell at 0.8 s'
    """
    succeeded = row["succeeded"] is True
    value = row.get(margin if succeeded else MOTION_SECONDS_COLUMN)
    return succeeded, math.inf if value is None or math.isnan(value) else float(value), int(row["run"])
