"""The folder of a campaign: what is in it, whose it is, and what is done already."""

from __future__ import annotations

import json
import os
import platform
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from poise.campaign.kinds.kind import Column
from poise.campaign.results import COSTS_TABLE, FACTS, JOURNAL, RECORDINGS, SPEC, TABLE, margin_of, merit
from poise.campaign.spec import Spec
from poise.campaign.storage import (
    COSTS,
    Entry,
    Journal,
    beside,
    entries_of,
    read_table,
    table_of,
    write_json,
    write_table,
)
from poise.campaign.supervisor import Done
from poise.campaign.sweep import Run
from poise.errors import SpecError
from poise.files import atomic_write_text, installed_version

#: The tables are written anew every so often (s), for who looks in meanwhile; the journal has everything at any time.
REFRESH = 10.0
#: Of long tables that takes a while; between two times passes so many times as long.
PAUSE = 50.0
SCRATCH, LOCK, CRASHES = ".work", ".lock", "crashes.log"
#: Facts that stay true when a campaign goes on.
LASTING = ("started", "seconds", "runs_per_second", "worker_memory_mb", "costs")


class Folder:
    """Where a campaign is written to; `opened` opens one.

    Attributes:
        path: of the folder.
        spec: what is run.
        journal: rows of this campaign that are done and not all in the table yet.
        facts: about the campaign, see `Results`.
    """

    def __init__(self, path: Path, spec: Spec, journal: Journal, facts: dict[str, Any]) -> None:
        self.path, self.spec, self.journal, self.facts = path, spec, journal, facts
        self._begin, self._before = time.monotonic(), float(facts.get("seconds", 0.0))
        self._next = time.monotonic() + REFRESH
        self.begun_with = len(journal.entries)
        self._margin = margin_of(spec.columns)
        rows = [entry["row"] for entry in journal.entries.values()]
        self._kept = {int(row["run"]): merit(row, self._margin) for row in rows if row["recording"] is not None}
        self._let_go()

    @property
    def scratch(self) -> Path:
        """For files that are not whole yet."""
        return self.path / SCRATCH

    @property
    def missing(self) -> list[Run]:
        """Runs that are still to do."""
        return [run for run in self.spec.runs if run.index not in self.journal.entries]

    def add(self, run: Run, done: Done) -> Entry:
        """Writes down what became of a run: first the file it leaves, then its row."""
        kept = None
        if done.file is not None:
            kept = f"{RECORDINGS}/{run.index:06d}{Path(done.file).suffix}"
            os.replace(done.file, self.path / kept)
        if done.log:
            with open(self.path / CRASHES, "a", encoding="utf-8") as log:
                log.write(f"run {run.index}, {done.outcome}: {done.reason}\n{done.log}\n\n")
        entry = entry_of(self.spec, run, done, kept)
        self.journal.add(entry)
        if kept is not None:
            self._kept[run.index] = merit(entry["row"], self._margin)
            self._let_go()
        if time.monotonic() > self._next:
            self.write()
        return entry

    def _let_go(self) -> None:
        """Of more recordings than are to be kept, those of the better runs go: which ones depends on the runs alone."""
        while self.spec.most is not None and len(self._kept) > self.spec.most:
            best = max(self._kept, key=self._kept.__getitem__)
            del self._kept[best]
            entry = self.journal.entries[best]
            file = self.path / entry["row"]["recording"]
            self.journal.replace({**entry, "row": {**entry["row"], "recording": None}})
            file.unlink(missing_ok=True)

    def write(self) -> None:
        """The tables of what is done so far, and the facts."""
        begin = time.monotonic()
        entries = list(self.journal.entries.values())
        costs = _cost_columns(entries)
        write_table(self.path / TABLE, table_of([entry["row"] for entry in entries], self.spec.columns))
        write_table(self.path / COSTS_TABLE, table_of([entry["cost"] for entry in entries], costs))
        spent = time.monotonic() - self._begin
        new = len(entries) - self.begun_with
        memory: dict[str, float] = {}
        for entry in entries:
            cost = entry["cost"]
            memory[cost["worker"]] = max(memory.get(cost["worker"], 0.0), cost["memory_mb"] or 0.0)
        self.facts |= {
            "seconds": self._before + spent if new else self._before,
            "costs": {name: list(column) for name, column in costs.items()},
            "worker_memory_mb": memory,
        }
        if new:
            self.facts["runs_per_second"] = new / spent
        write_json(self.path / FACTS, self.facts)
        now = time.monotonic()
        self._next = now + max(REFRESH, PAUSE * (now - begin))

    def finish(self) -> None:
        """All is in the tables: the journal has done its duty."""
        self.write()
        self.journal.sync()
        self.journal.close()
        (self.path / JOURNAL).unlink()


@contextmanager
def opened(path: Path, spec: Spec, engine: Mapping[str, Any]) -> Iterator[Folder]:
    """A folder to run a campaign in, new or begun before; SpecError if it holds something else, or is in use.

    Args:
        path: of the folder; it is made if it is not there.
        spec: what is run.
        engine: facts about what runs it.
    """
    if path.exists() and not path.is_dir():
        raise SpecError(f"--out '{path}' is a file; give a folder", path=str(path))
    facts = _facts(spec)  # first: a spec that makes no sense leaves no folder behind
    _check_ours(path)
    path.mkdir(parents=True, exist_ok=True)
    with _locked(path):
        before = _facts_before(path, spec)
        for name in (RECORDINGS, SCRATCH):
            (path / name).mkdir(exist_ok=True)
        with Journal(path / JOURNAL) as journal:
            for entry in _stored(path):
                journal.add(entry)
            over = len(journal.entries) == len(spec.runs)  # who finds nothing left to do did not run it
            facts |= before if over else {**engine, **{name: before[name] for name in LASTING if name in before}}
            write_json(path / FACTS, facts)
            atomic_write_text(path / SPEC, spec.text, temporary=beside(path / SPEC).name)
            shutil.rmtree(path / SCRATCH)
            (path / SCRATCH).mkdir()
            try:
                yield Folder(path, spec, journal, facts)
            finally:
                shutil.rmtree(path / SCRATCH, ignore_errors=True)


def entry_of(spec: Spec, run: Run, done: Done, kept: str | None) -> Entry:
    """A line of the journal."""
    row = {
        "run": run.index,
        "seed": run.seed,
        "outcome": done.outcome,
        "succeeded": done.outcome == "succeeded",
        "reason": done.reason or None,
        "recording": kept,
        "command": spec.kind.command(run.parameters, run.seed) or None,
        **run.parameters,
        **{name: done.values.get(name) for name in spec.kind.columns},
    }
    cost = {
        "run": run.index,
        "seconds": round(done.seconds, 6),
        "memory_mb": done.memory_mb,
        "attempts": done.attempts,
        "worker": done.worker,
        **done.times,
    }
    return {"run": run.index, "row": row, "cost": cost}


def _facts(spec: Spec) -> dict[str, Any]:
    return {
        "title": spec.title,
        "behavior": spec.kind.name,
        "plan": spec.plan,
        "planned": len(spec.runs),
        "size": spec.size,
        "floor": spec.floor,
        "parameters": {name: list(column) for name, column in spec.parameters.items()},
        "columns": {name: list(column) for name, column in spec.kind.columns.items()},
        "costs": {name: list(column) for name, column in COSTS.items()},
        "spec": spec.text,
        "poise": installed_version(),
        "versions": {name: installed_version(name) for name in ("numpy", "pin", "mujoco", "daqp")},
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _check_ours(path: Path) -> None:
    """SpecError for a folder of something else: one that has no facts, and more than a campaign makes before them."""
    if not path.is_dir() or (path / FACTS).exists():
        return
    first = {RECORDINGS, SCRATCH, LOCK, JOURNAL, beside(path / FACTS).name}
    begun = any(path.glob(f"{RECORDINGS}/*")) or bool(entries_of(path / JOURNAL))
    if begun or {each.name for each in path.iterdir()} - first:
        raise SpecError(
            f"--out '{path}' holds other files; give a new folder, or that of this campaign", path=str(path)
        )


def _facts_before(path: Path, spec: Spec) -> dict[str, Any]:
    """Facts of this campaign, if it was begun before; SpecError if the folder is that of another."""
    try:
        facts = json.loads((path / FACTS).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise SpecError(f"'{path / FACTS}' cannot be read: {error}; give another --out", path=str(path)) from None
    if not isinstance(facts, dict) or facts.get("plan") != spec.plan:
        title = facts.get("title") if isinstance(facts, dict) else None
        raise SpecError(
            f"--out '{path}' holds another campaign ('{title}'), or this one before its spec was changed; "
            "give another folder",
            path=str(path),
        )
    return facts


def _stored(path: Path) -> Iterator[Entry]:
    """Rows that are in the tables, but not in the journal: of a campaign that is finished."""
    if not (path / TABLE).exists() or not (path / COSTS_TABLE).exists():
        return
    costs = {row["run"]: row for row in read_table(path / COSTS_TABLE).to_pylist()}
    for row in read_table(path / TABLE).to_pylist():
        if row["run"] in costs:
            yield {"run": row["run"], "row": row, "cost": costs[row["run"]]}


def _cost_columns(entries: list[Entry]) -> dict[str, Column]:
    """Those of every run, then times that only some kinds tell."""
    more = sorted({name for entry in entries for name in entry["cost"]} - COSTS.keys())
    return {**COSTS, **{name: Column("number", "ms" if "_ms" in name else "", "") for name in more}}


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """One process at a time; the lock goes with the process, however it dies."""
    with open(path / LOCK, "w", encoding="utf-8") as file:
        with suppress(ImportError):  # where there is no such lock, people have to look out themselves
            import fcntl

            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise SpecError(
                    f"--out '{path}': another process runs this campaign; wait for it", path=str(path)
                ) from None
        yield
