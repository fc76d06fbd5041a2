"""Files of a campaign: Parquet tables that are replaced atomically, and the journal of finished runs."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from poise.campaign.kinds.kind import Column, Value
from poise.errors import SpecError
from poise.extras import pyarrow
from poise.files import atomic_write, atomic_write_text

#: Outcomes of a run. All but the first are failures; only the first two are caused by the motion itself.
OUTCOMES = ("succeeded", "failed", "error", "crashed", "timeout", "memory")

#: First columns of every results table, before the parameters and the columns of the kind.
RUN_COLUMNS: dict[str, Column] = {
    "run": Column("count", "", "number of the run in the plan"),
    "seed": Column("count", "", "random seed of the run"),
    "outcome": Column("text", "", f"outcome of the run: {', '.join(OUTCOMES)}"),
    "succeeded": Column("flag", "", "whether the run succeeded"),
    "reason": Column("text", "", "reason for failure"),
    "recording": Column("text", "", "recording or other file of the run, in the folder of the campaign"),
    "command": Column("text", "", "command that repeats the run"),
}

#: Costs of a run. They are not reproducible, so they are in a separate table.
COST_COLUMNS: dict[str, Column] = {
    "run": Column("count", "", "number of the run in the plan"),
    "seconds": Column("number", "s", "computation time"),
    "memory_mb": Column("number", "MB", "largest resident memory of its worker so far"),
    "attempts": Column("count", "", "number of attempts; more than one if its worker was killed from outside"),
    "worker": Column("text", "", "name of the worker"),
}


@cache
def _arrow_types() -> dict[str, pyarrow.DataType]:
    return {
        "number": pyarrow.float64(),
        "count": pyarrow.int64(),
        "flag": pyarrow.bool_(),
        "text": pyarrow.string(),
    }


def infer_column(values: Iterable[Value]) -> Column:
    """Return the column of a parameter with these values; its type follows from theirs."""
    types = {type(value) for value in values if value is not None}
    if types == {bool}:
        return Column("flag", "", "")
    if types == {int}:
        return Column("count", "", "")
    return Column("number" if types and types <= {int, float} else "text", "", "")


def build_table(rows: Sequence[Mapping[str, Any]], columns: Mapping[str, Column]) -> pyarrow.Table:
    """Return rows as a table with these columns, sorted by run."""
    ordered = sorted(rows, key=lambda row: int(row["run"]))
    arrays = [
        pyarrow.array([_cell(row.get(name), column) for row in ordered], _arrow_types()[column.type])
        for name, column in columns.items()
    ]
    return pyarrow.Table.from_arrays(arrays, schema=build_schema(columns))


def build_schema(columns: Mapping[str, Column]) -> pyarrow.Schema:
    """Return the schema of these columns, with unit and description in the metadata of each field."""
    return pyarrow.schema(
        pyarrow.field(
            name, _arrow_types()[column.type], metadata={"unit": column.unit, "description": column.description}
        )
        for name, column in columns.items()
    )


def _cell(value: Any, column: Column) -> Any:
    if value is None or (isinstance(value, float) and value != value):
        return None
    if column.type == "text":
        text = value if isinstance(value, str) else json.dumps(value)
        return text.encode("utf-8", "backslashreplace").decode()  # file names may hold bytes that are not UTF-8
    return {"number": float, "count": int, "flag": bool}[column.type](value)


def write_table(path: Path, table: pyarrow.Table) -> None:
    """Write a table atomically: a reader sees either the old or the new file."""
    with atomic_write(path, temporary=temporary_path(path).name) as file:
        pyarrow.parquet.write_table(table, file)


def read_table(path: Path) -> pyarrow.Table:
    """Read a table written by `write_table`; `SpecError` if the file is not one."""
    try:
        table = pyarrow.parquet.read_table(path)
        table.column("run")
        return table
    except (OSError, KeyError, pyarrow.ArrowException) as error:
        raise SpecError(
            f"'{path}' is not the table of a campaign: {' '.join(str(error).split())}", path=str(path)
        ) from None


def write_json(path: Path, facts: Mapping[str, Any]) -> None:
    """Write facts as JSON, atomically."""
    atomic_write_text(path, json.dumps(facts, indent=1) + "\n", temporary=temporary_path(path).name)


def temporary_path(path: Path) -> Path:
    """Return the path to which a file is written before it replaces the old one; a killed campaign may leave it."""
    return path.with_name(f".{path.name}.part")


# -- Journal ---------------------------------------------------------------------------------------------------------


#: Shortest time between two syncs to disk (s), which protect from a loss of power; a sync takes longer than an empty
#: run. Every line reaches the operating system at once, which protects from the death of the process.
SYNC_INTERVAL = 1.0

JournalEntry = dict[str, Any]


class Journal:
    """File with one JSON line per finished run: its row of the results and its row of the costs.

    The last line may be incomplete if the process died while it wrote. That run is then not done, and `Journal` removes
    the line before it adds others.

    Attributes:
        path: path of the file.
        entries: entries by run number.

    >>> with Journal(folder / "journal.jsonl") as journal:
    ...     journal.add({"run": 0, "row": {...}, "cost": {...}})
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        entries, valid_bytes = _read_complete_lines(path)
        self.entries: dict[int, JournalEntry] = {int(entry["run"]): entry for entry in entries}
        self._file = open(path, "ab")  # noqa: SIM115
        self._file.truncate(valid_bytes)
        self._last_sync = time.monotonic()

    def add(self, entry: JournalEntry) -> None:
        """Add a finished run; an entry of the same run is kept unchanged."""
        if entry["run"] not in self.entries:
            self.replace(entry)

    def replace(self, entry: JournalEntry) -> None:
        """Add a finished run, or replace its entry: of two lines of a run, the later one counts."""
        self.entries[entry["run"]] = entry
        self._file.write(json.dumps(entry).encode() + b"\n")
        self._file.flush()
        if time.monotonic() - self._last_sync > SYNC_INTERVAL:
            self.sync()

    def sync(self) -> None:
        """Wait until all lines are on the disk."""
        os.fsync(self._file.fileno())
        self._last_sync = time.monotonic()

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def read_journal(path: Path) -> list[JournalEntry]:
    """Return the entries of a journal without opening it for writing."""
    return _read_complete_lines(path)[0]


def _read_complete_lines(path: Path) -> tuple[list[JournalEntry], int]:
    """Return the entries before the first invalid line, and their size in bytes; everything after it is ignored."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return [], 0
    entries: list[JournalEntry] = []
    valid_bytes = 0
    for line in data.splitlines(keepends=True):
        try:
            entry = json.loads(line) if line.endswith(b"\n") else None
        except ValueError:
            entry = None
        if not isinstance(entry, dict) or not {"run", "row", "cost"} <= entry.keys():
            break
        entries.append(entry)
        valid_bytes += len(line)
    return entries, valid_bytes
