"""Folder of a campaign: open, lock and check it, add finished runs, and write the tables."""

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

from poise.campaign.former_keys import rename_columns, rename_facts
from poise.campaign.kinds.kind import Column
from poise.campaign.results import (
    COSTS_FILE,
    FACTS_FILE,
    JOURNAL_FILE,
    RECORDINGS_FOLDER,
    RESULTS_FILE,
    SPEC_FILE,
    margin_column,
    severity,
)
from poise.campaign.spec import Spec
from poise.campaign.storage import (
    COST_COLUMNS,
    Journal,
    JournalEntry,
    build_table,
    read_journal,
    read_table,
    temporary_path,
    write_json,
    write_table,
)
from poise.campaign.supervisor import RunResult
from poise.campaign.sweep import PlannedRun
from poise.errors import SpecError
from poise.files import atomic_write_text, check_folder, installed_version, make_folder

#: Shortest time between two writes of the tables (s), so that they can be read while the campaign runs. The journal is
#: always complete.
REFRESH_INTERVAL = 10.0
#: Shortest pause between two writes, as a multiple of the time that a write takes: long tables are slow to write.
REFRESH_PAUSE_FACTOR = 50.0
SCRATCH_FOLDER, LOCK_FILE, CRASH_LOG = ".work", ".lock", "crashes.log"
#: Facts that are kept when a campaign continues.
PERSISTENT_FACTS = ("started", "seconds", "runs_per_second", "worker_memory_mb", "costs")


class CampaignFolder:
    """Folder to which a campaign is written; `open_folder` opens one.

    Attributes:
        path: path of the folder.
        spec: spec of the campaign.
        journal: entries of the finished runs, some of which may not be in the tables yet.
        facts: facts about the campaign, see `Results`.
        initial_count: number of runs that were finished when the folder was opened.
    """

    def __init__(self, path: Path, spec: Spec, journal: Journal, facts: dict[str, Any]) -> None:
        self.path, self.spec, self.journal, self.facts = path, spec, journal, facts
        self._start_time, self._previous_seconds = time.monotonic(), float(facts.get("seconds", 0.0))
        self._next_write = time.monotonic() + REFRESH_INTERVAL
        self.initial_count = len(journal.entries)
        self._margin_column = margin_column(spec.columns)
        rows = [entry["row"] for entry in journal.entries.values()]
        self._severity_of_recording = {
            int(row["run"]): severity(row, self._margin_column) for row in rows if row["recording"] is not None
        }
        self._discard_excess_recordings()

    @property
    def scratch(self) -> Path:
        """Folder for incomplete files."""
        return self.path / SCRATCH_FOLDER

    @property
    def missing_runs(self) -> list[PlannedRun]:
        """Planned runs that are not finished."""
        return [run for run in self.spec.runs if run.index not in self.journal.entries]

    def add(self, run: PlannedRun, result: RunResult) -> JournalEntry:
        """Store a finished run: first its output file, if any, then its journal entry, which is returned."""
        recording = None
        if result.file is not None:
            recording = f"{RECORDINGS_FOLDER}/{run.index:06d}{Path(result.file).suffix}"
            os.replace(result.file, self.path / recording)
        if result.log:
            with open(self.path / CRASH_LOG, "a", encoding="utf-8") as log:
                log.write(f"run {run.index}, {result.outcome}: {result.reason}\n{result.log}\n\n")
        entry = journal_entry(self.spec, run, result, recording)
        self.journal.add(entry)
        if recording is not None:
            self._severity_of_recording[run.index] = severity(entry["row"], self._margin_column)
            self._discard_excess_recordings()
        if time.monotonic() > self._next_write:
            self.write_tables()
        return entry

    def _discard_excess_recordings(self) -> None:
        """Delete the recordings of the best runs beyond `max_recordings`; the choice depends on the runs alone."""
        while self.spec.max_recordings is not None and len(self._severity_of_recording) > self.spec.max_recordings:
            best = max(self._severity_of_recording, key=self._severity_of_recording.__getitem__)
            del self._severity_of_recording[best]
            entry = self.journal.entries[best]
            file = self.path / entry["row"]["recording"]
            self.journal.replace({**entry, "row": {**entry["row"], "recording": None}})
            file.unlink(missing_ok=True)

    def write_tables(self) -> None:
        """Write the tables of the runs finished so far, and the facts."""
        begin = time.monotonic()
        entries = list(self.journal.entries.values())
        costs = _cost_columns(entries)
        write_table(self.path / RESULTS_FILE, build_table([entry["row"] for entry in entries], self.spec.columns))
        write_table(self.path / COSTS_FILE, build_table([entry["cost"] for entry in entries], costs))
        spent = time.monotonic() - self._start_time
        new = len(entries) - self.initial_count
        memory: dict[str, float] = {}
        for entry in entries:
            cost = entry["cost"]
            memory[cost["worker"]] = max(memory.get(cost["worker"], 0.0), cost["memory_mb"] or 0.0)
        self.facts |= {
            "seconds": self._previous_seconds + spent if new else self._previous_seconds,
            "costs": {name: list(column) for name, column in costs.items()},
            "worker_memory_mb": memory,
        }
        if new:
            self.facts["runs_per_second"] = new / spent
        write_json(self.path / FACTS_FILE, self.facts)
        now = time.monotonic()
        self._next_write = now + max(REFRESH_INTERVAL, REFRESH_PAUSE_FACTOR * (now - begin))

    def finish(self) -> None:
        """Write the final tables and delete the journal, which is no longer needed."""
        self.write_tables()
        self.journal.sync()
        self.journal.close()
        (self.path / JOURNAL_FILE).unlink()


@contextmanager
def open_folder(path: Path, spec: Spec, engine: Mapping[str, Any]) -> Iterator[CampaignFolder]:
    """Open and lock the folder of a campaign, new or with earlier results.

    Args:
        path: path of the folder; created if it does not exist.
        spec: spec of the campaign.
        engine: facts about the engine that executes the runs.

    Raises:
        SpecError: if the folder holds something else, or another process uses it.
    """

    def error(message: str) -> SpecError:
        return SpecError(message, path=str(path))

    check_folder(path, error, "--out")
    facts = _campaign_facts(spec)  # first, so that an invalid spec leaves no folder behind
    _check_is_campaign_folder(path)
    make_folder(path, error, "--out")
    with _lock_folder(path):
        previous = _previous_facts(path, spec)
        for name in (RECORDINGS_FOLDER, SCRATCH_FOLDER):
            (path / name).mkdir(exist_ok=True)
        with Journal(path / JOURNAL_FILE) as journal:
            for entry in _finished_entries(path):
                journal.add(entry)
            for entry in journal.entries.values():
                entry["row"] = rename_columns(entry["row"], spec.kind.name)
            # If nothing is left to do, the facts about the engine are those of the call that executed the runs.
            is_complete = len(journal.entries) == len(spec.runs)
            facts |= (
                previous
                if is_complete
                else {**engine, **{name: previous[name] for name in PERSISTENT_FACTS if name in previous}}
            )
            write_json(path / FACTS_FILE, facts)
            atomic_write_text(path / SPEC_FILE, spec.text, temporary=temporary_path(path / SPEC_FILE).name)
            shutil.rmtree(path / SCRATCH_FOLDER)
            (path / SCRATCH_FOLDER).mkdir()
            try:
                yield CampaignFolder(path, spec, journal, facts)
            finally:
                shutil.rmtree(path / SCRATCH_FOLDER, ignore_errors=True)


def journal_entry(spec: Spec, run: PlannedRun, result: RunResult, recording: str | None) -> JournalEntry:
    """Return the journal entry of a finished run: its row of the results and its row of the costs."""
    row = {
        "run": run.index,
        "seed": run.seed,
        "outcome": result.outcome,
        "succeeded": result.outcome == "succeeded",
        "reason": result.reason or None,
        "recording": recording,
        "command": spec.kind.command(run.parameters, run.seed) or None,
        **run.parameters,
        **{name: result.values.get(name) for name in spec.kind.columns},
    }
    cost = {
        "run": run.index,
        "seconds": round(result.seconds, 6),
        "memory_mb": result.memory_mb,
        "attempts": result.attempts,
        "worker": result.worker,
        **result.times,
    }
    return {"run": run.index, "row": row, "cost": cost}


def _campaign_facts(spec: Spec) -> dict[str, Any]:
    return {
        "title": spec.title,
        "kind": spec.kind.name,
        "plan_digest": spec.plan_digest,
        "planned_runs": len(spec.runs),
        "size": spec.size,
        "min_success_rate": spec.min_success_rate,
        "parameters": {name: list(column) for name, column in spec.parameters.items()},
        "columns": {name: list(column) for name, column in spec.kind.columns.items()},
        "costs": {name: list(column) for name, column in COST_COLUMNS.items()},
        "spec": spec.text,
        "poise": installed_version(),
        "versions": {name: installed_version(name) for name in ("numpy", "pin", "mujoco", "daqp")},
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _check_is_campaign_folder(path: Path) -> None:
    """Raise `SpecError` for a folder that has no facts file but holds more than a campaign writes before that file."""
    if not path.is_dir() or (path / FACTS_FILE).exists():
        return
    initial_names = {RECORDINGS_FOLDER, SCRATCH_FOLDER, LOCK_FILE, JOURNAL_FILE, temporary_path(path / FACTS_FILE).name}
    has_runs = any(path.glob(f"{RECORDINGS_FOLDER}/*")) or bool(read_journal(path / JOURNAL_FILE))
    if has_runs or {each.name for each in path.iterdir()} - initial_names:
        raise SpecError(
            f"--out '{path}' holds other files; give a new folder, or that of this campaign", path=str(path)
        )


def _previous_facts(path: Path, spec: Spec) -> dict[str, Any]:
    """Return the facts of an earlier call of this campaign; `SpecError` if the folder holds another campaign."""
    try:
        facts = rename_facts(json.loads((path / FACTS_FILE).read_text(encoding="utf-8")))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise SpecError(f"'{path / FACTS_FILE}' cannot be read: {error}; give another --out", path=str(path)) from None
    if not isinstance(facts, dict) or facts.get("plan_digest") != spec.plan_digest:
        title = facts.get("title") if isinstance(facts, dict) else None
        raise SpecError(
            f"--out '{path}' holds another campaign ('{title}'), or this one before its spec was changed; "
            "give another folder",
            path=str(path),
        )
    return facts


def _finished_entries(path: Path) -> Iterator[JournalEntry]:
    """Yield the runs in the tables as journal entries: a finished campaign has no journal."""
    if not (path / RESULTS_FILE).exists() or not (path / COSTS_FILE).exists():
        return
    costs = {row["run"]: row for row in read_table(path / COSTS_FILE).to_pylist()}
    for row in read_table(path / RESULTS_FILE).to_pylist():
        if row["run"] in costs:
            yield {"run": row["run"], "row": row, "cost": costs[row["run"]]}


def _cost_columns(entries: list[JournalEntry]) -> dict[str, Column]:
    """Return the columns of the cost table: the common ones, then times that only some kinds report."""
    extra = sorted({name for entry in entries for name in entry["cost"]} - COST_COLUMNS.keys())
    return {**COST_COLUMNS, **{name: Column("number", "ms" if "_ms" in name else "", "") for name in extra}}


@contextmanager
def _lock_folder(path: Path) -> Iterator[None]:
    """Lock the folder for this process. The operating system releases the lock when the process ends."""
    with open(path / LOCK_FILE, "w", encoding="utf-8") as file:
        with suppress(ImportError):  # no locks on this platform: the user must not start a campaign twice
            import fcntl

            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise SpecError(
                    f"--out '{path}': another process runs this campaign; wait until it ends", path=str(path)
                ) from None
        yield
