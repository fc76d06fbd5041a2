"""The table of a campaign: its columns, the same on every engine, and its files, which appear whole or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow  # type: ignore[import-untyped]
import pyarrow.parquet  # type: ignore[import-untyped]

from poise.campaign.errors import SpecError
from poise.campaign.kinds.kind import Column, Value

#: How a run can end. All but the first are failures; all but the first two are none of the motion's.
OUTCOMES = ("succeeded", "failed", "error", "crashed", "timeout", "memory")

#: What stands in every table before the parameters and the columns of its kind.
FIRST: dict[str, Column] = {
    "run": Column("count", "", "number of the run in the plan"),
    "seed": Column("count", "", "of all that is random in the run"),
    "outcome": Column("text", "", f"how it ended: {', '.join(OUTCOMES)}"),
    "succeeded": Column("flag", "", "whether it succeeded"),
    "reason": Column("text", "", "why it did not"),
    "recording": Column("text", "", "file that was kept of it, in the folder of the campaign"),
    "command": Column("text", "", "does the same once"),
}

#: What a run took. It differs from one time to the next, so it stands in a table of its own.
COSTS: dict[str, Column] = {
    "run": Column("count", "", "number of the run in the plan"),
    "seconds": Column("number", "s", "that it took"),
    "memory_mb": Column("number", "MB", "largest resident memory of its worker so far"),
    "attempts": Column("count", "", "how often it was begun, because its worker was killed from outside"),
    "worker": Column("text", "", "which worker"),
}

_TYPES = {
    "number": pyarrow.float64(),
    "count": pyarrow.int64(),
    "flag": pyarrow.bool_(),
    "text": pyarrow.string(),
}


def column_of(values: Iterable[Value]) -> Column:
    """What a parameter with these values is."""
    kinds = {type(value) for value in values if value is not None}
    if kinds == {bool}:
        return Column("flag", "", "")
    if kinds == {int}:
        return Column("count", "", "")
    return Column("number" if kinds and kinds <= {int, float} else "text", "", "")


def table_of(rows: Sequence[Mapping[str, Any]], columns: Mapping[str, Column]) -> pyarrow.Table:
    """Rows as a table with these columns, in the order of their runs."""
    ordered = sorted(rows, key=lambda row: int(row["run"]))
    arrays = [
        pyarrow.array([_cell(row.get(name), column) for row in ordered], _TYPES[column.type])
        for name, column in columns.items()
    ]
    return pyarrow.Table.from_arrays(arrays, schema=schema_of(columns))


def schema_of(columns: Mapping[str, Column]) -> pyarrow.Schema:
    """Types of these columns; each tells its unit and what it is."""
    return pyarrow.schema(
        pyarrow.field(name, _TYPES[column.type], metadata={"unit": column.unit, "about": column.about})
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
    pyarrow.parquet.write_table(table, beside(path))
    _put(path)


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
    beside(path).write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    _put(path)


def beside(path: Path) -> Path:
    """Where a file is written before it takes its place."""
    return path.with_name(f".{path.name}.part")


def _put(path: Path) -> None:
    """Moves a file to its place once it is on the disk: a loss of power leaves the old one or the new one, too."""
    descriptor = os.open(beside(path), os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    os.replace(beside(path), path)
