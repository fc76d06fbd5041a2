"""Journal: rows as they come, one line each, so that a campaign that is killed loses none."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

#: A line reaches the operating system at once, which survives the death of the process; the disk every so often (s),
#: which survives a loss of power. Waiting for the disk takes longer than an empty run may.
SYNC = 1.0

Entry = dict[str, Any]


class Journal:
    """A file of lines, each a run that is done: its row and what it took.

    The last line may be torn, if the process died in the middle of it; then that run is not done, and `Journal` cuts
    the line off before it adds others.

    >>> with Journal(folder / "journal.jsonl") as journal:
    ...     journal.add({"run": 0, "row": {...}, "cost": {...}})
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        entries, length = _whole_lines(path)
        self.entries: dict[int, Entry] = {int(entry["run"]): entry for entry in entries}
        self._file = open(path, "ab")  # noqa: SIM115
        self._file.truncate(length)
        self._synced = time.monotonic()

    def add(self, entry: Entry) -> None:
        """Writes down that a run is done; one that is done already stays as it is."""
        if entry["run"] not in self.entries:
            self.replace(entry)

    def replace(self, entry: Entry) -> None:
        """Writes down a run, in place of what was said of it before: of two lines of a run the later one counts."""
        self.entries[entry["run"]] = entry
        self._file.write(json.dumps(entry).encode() + b"\n")
        self._file.flush()
        if time.monotonic() - self._synced > SYNC:
            self.sync()

    def sync(self) -> None:
        """Waits until all lines are on the disk."""
        os.fsync(self._file.fileno())
        self._synced = time.monotonic()

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def entries_of(path: Path) -> list[Entry]:
    """What a journal says, for who only reads."""
    return _whole_lines(path)[0]


def _whole_lines(path: Path) -> tuple[list[Entry], int]:
    """Entries, and how many bytes they take: what stands behind the first line that makes no sense is not believed."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return [], 0
    entries: list[Entry] = []
    length = 0
    for line in data.splitlines(keepends=True):
        try:
            entry = json.loads(line) if line.endswith(b"\n") else None
        except ValueError:
            entry = None
        if not isinstance(entry, dict) or not {"run", "row", "cost"} <= entry.keys():
            break
        entries.append(entry)
        length += len(line)
    return entries, length
