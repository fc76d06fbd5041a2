"""Tables and journal of a campaign: columns, files that are replaced atomically, rows as they come."""

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

#: How a run can end. All but the first are failures; all but the first two are none of the motion's.
OUTCOMES = ("succeeded", "failed", "error", "crashed", "timeout", "memory")

#: What stands in every table before the parameters and the columns of its kind.
RUN_COLUMNS: dict[str, Column] = {
    "run": Column("count", "", "number of the run in the plan"),
    "seed": Column("count", "", "of all that is random in the run"),
    "outcome": Column("text", "", f"how it ended: {', '.join(OUTCOMES)}"),
    "succeeded": Column("flag", "", "whether it succeeded"),
    "reason": Column("text", "", "why it did not"),
    "recording": Column("text", "", "file that was kept of it, in the folder of the campaign"),
    "command": Column("text", "", "does the same once"),
}

#: What a run took. It differs from one time to the next, so it stands in a table of its own.
COST_COLUMNS: dict[str, Column] = {
    "run": Column("count", "", "number of the run in the plan"),
    "seconds": Column("number", "s", "that it took"),
    "memory_mb": Column("number", "MB", "largest resident memory of its worker so far"),
    "attempts": Column("count", "", "how often it was begun, because its worker was killed from outside"),
    "worker": Column("text", "", "which worker"),
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
    """What a parameter with these values is."""
    types = {type(value) for value in values if value is not None}
    if types == {bool}:
        return Column("flag", "", "")
    if types == {int}:
        return Column("count", "", "")
    return Column("number" if types and types <= {int, float} else "text", "", "")


def build_table(rows: Sequence[Mapping[str, Any]], columns: Mapping[str, Column]) -> pyarrow.Table:
    """Rows as a table with these columns, in the order of their runs."""
    ordered = sorted(rows, key=lambda row: int(row["run"]))
    arrays = [
        pyarrow.array([_cell(row.get(name), column) for row in ordered], _arrow_types()[column.type])
        for name, column in columns.items()
    ]
    return pyarrow.Table.from_arrays(arrays, schema=build_schema(columns))


def build_schema(columns: Mapping[str, Column]) -> pyarrow.Schema:
    """Types of these columns; each tells its unit and what it is."""
    return pyarrow.schema(
        pyarrow.field(name, _arrow_types()[column.type], metadata={"unit": column.unit, "about": column.description})
        for name, column in columns.items()
    )


def _cell(value: Any, column: Column) -> Any:
    if value is None or (isinstance(value, float) and value != value):
        return None
    if column.type == "text":
        text = value if isinstance(value, str) else json.dumps(value)
        return text.encode("utf-8", "backslashreplace").decode()  # names of files may be anything
    return {"number": float, "count": int, "flag": bool}[column.type](value)


def write_table(path: Path, table: pyarrow.Table) -> None:
    """Replaces the file at once: a reader sees the old one or the new one."""
    with atomic_write(path, temporary=temporary_path(path).name) as file:
        pyarrow.parquet.write_table(table, file)


def read_table(path: Path) -> pyarrow.Table:
    """A table that `write_table` wrote."""
    try:
        table = pyarrow.parquet.read_table(path)
        table.column("run")
        return table
    except (OSError, KeyError, pyarrow.ArrowException) as error:
        raise SpecError(
            f"'{path}' is not the table of a campaign: {' '.join(str(error).split())}", path=str(path)
        ) from None


def write_json(path: Path, facts: Mapping[str, Any]) -> None:
    """Likewise for facts."""
    atomic_write_text(path, json.dumps(facts, indent=1) + "\n", temporary=temporary_path(path).name)


def temporary_path(path: Path) -> Path:
    """Where a file is written before it takes its place; one that is killed meanwhile leaves it, and is known by it."""
    return path.with_name(f".{path.name}.part")


# -- Journal ---------------------------------------------------------------------------------------------------------


#: A line reaches the operating system at once, which survives the death of the process; the disk every so often (s),
#: which survives a loss of power. Waiting for the disk takes longer than an empty run may.
SYNC_INTERVAL = 1.0

JournalEntry = dict[str, Any]


class Journal:
    """A file of lines, each a run that is done: its row and what it took.

    The last line may be torn, if the process died in the middle of it; then that run is not done, and `Journal` cuts
    the line off before it adds others.

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
        """Writes down that a run is done; one that is done already stays as it is."""
        if entry["run"] not in self.entries:
            self.replace(entry)

    def replace(self, entry: JournalEntry) -> None:
        """Writes down a run, in place of what was said of it before: of two lines of a run the later one counts."""
        self.entries[entry["run"]] = entry
        self._file.write(json.dumps(entry).encode() + b"\n")
        self._file.flush()
        if time.monotonic() - self._last_sync > SYNC_INTERVAL:
            self.sync()

    def sync(self) -> None:
        """Waits until all lines are on the disk."""
        os.fsync(self._file.fileno())
        self._last_sync = time.monotonic()

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def read_journal(path: Path) -> list[JournalEntry]:
    """What a journal says, for who only reads."""
    return _read_complete_lines(path)[0]


def _read_complete_lines(path: Path) -> tuple[list[JournalEntry], int]:
    """Entries, and how many bytes they take: what stands behind the first line that makes no sense is not believed."""
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
