"""Output folder of the studio: files that pages can list and download, and exports of recordings.

Each export runs in a separate process, see `poise.studio.export_worker`.
"""

from __future__ import annotations

import atexit
import os
import re
import stat
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from poise.errors import PoiseError

FinishedCallback = Callable[[str, str], None]

#: Export formats of a recording, and the endings of their file names.
FORMATS = {
    "csv": ".csv",
    "npz": ".npz",
    "bvh": ".bvh",
    "mcap": ".mcap",
    "html": ".html",
    "mp4": ".mp4",
    "report": "-report.html",
}
#: Beginning of a line with the completed share, on standard error of a worker.
PROGRESS_PREFIX = "progress "
#: Number of exports that run at the same time: the simulation needs a core for itself.
MAX_RUNNING = 2
#: Number of exports that may wait.
MAX_WAITING = 16
#: Longest wait for an export to clean up and end when the studio closes (s).
STOP_TIMEOUT = 3.0


@dataclass(eq=False)
class ExportJob:
    """A requested export.

    Attributes:
        source, target, format: recording, file to write, and its format.
        on_finished: callback for the result.
        process: process that writes the file; None while the job waits.
        progress: completed share (0 to 1); None while it is unknown.
        start_time: time of the start (s, monotonic); None while the job waits.
        cancelled: whether `ExportQueue.cancel` was called.
    """

    source: Path
    target: Path
    format: str
    on_finished: FinishedCallback
    process: subprocess.Popen[str] | None = None
    progress: float | None = None
    start_time: float | None = None
    cancelled: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return the state for pages: "name", "activity", "progress" (0 to 1, or None), "seconds" since the start."""
        waiting = self.start_time is None
        return {
            "name": self.target.name,
            "activity": f"{self.target.name}: {'waiting' if waiting else 'exporting'}",
            "progress": self.progress,
            "seconds": 0.0 if self.start_time is None else round(time.monotonic() - self.start_time, 1),
        }


class ExportQueue:
    """Queue of exports that runs at most `MAX_RUNNING` at a time, in the order of the requests."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._queue: deque[ExportJob] = deque()
        self._running: dict[Path, ExportJob] = {}
        self._closed = False
        atexit.register(self.close)

    def start(self, source: Path, target: Path, format: str, on_finished: FinishedCallback) -> None:
        """Queue an export; `on_finished` is called with ("info" or "error", text) when it has ended or is refused."""
        refusal = ""
        with self._lock:
            if self._closed:
                refusal = "the studio is closing"
            elif target in self._running or any(job.target == target for job in self._queue):
                refusal = f"{target.name} is already being written; wait until it is complete"
            elif len(self._queue) >= MAX_WAITING:
                refusal = f"{MAX_WAITING} exports are already waiting; try again when some are complete"
            else:
                self._queue.append(ExportJob(source, target, format, on_finished))
        if refusal:
            on_finished("error", refusal)
        else:
            self._start_next()

    def jobs(self) -> list[dict[str, Any]]:
        """Return the state of each running and waiting export, see `ExportJob.as_json`."""
        with self._lock:
            jobs = [*self._running.values(), *self._queue]
        return [job.as_json() for job in jobs]

    def cancel(self, name: str) -> bool:
        """Cancel the export to a file of this name; return whether there is one."""
        with self._lock:
            waiting = next((job for job in self._queue if job.target.name == name), None)
            if waiting is not None:
                self._queue.remove(waiting)
            job = next((each for each in self._running.values() if each.target.name == name), None)
            if job is not None:
                job.cancelled = True
        if waiting is not None:
            waiting.on_finished("info", f"{name}: export cancelled")
        if job is not None and job.process is not None:
            _ask_to_stop(job.process)
            threading.Timer(STOP_TIMEOUT, job.process.kill).start()
        return waiting is not None or job is not None

    def _start_next(self) -> None:
        with self._lock:
            if self._closed or len(self._running) >= MAX_RUNNING or not self._queue:
                return
            job = self._queue.popleft()
            job.start_time = time.monotonic()
            self._running[job.target] = job
        threading.Thread(target=self._run, args=(job,), daemon=True, name=f"export {job.target.name}").start()

    def _run(self, job: ExportJob) -> None:
        try:
            kind, text = self._run_process(job)
        except OSError as error:
            kind, text = "error", f"{job.target.name} could not be written: {error.strerror or error}"
        with self._lock:
            del self._running[job.target]
            closed = self._closed
        if not closed:
            job.on_finished(kind, text)
            self._start_next()

    def _run_process(self, job: ExportJob) -> tuple[str, str]:
        command = [sys.executable, "-m", "poise.studio.export_worker", str(job.source), str(job.target), job.format]
        error_lines: deque[str] = deque(maxlen=20)
        # The worker stops when its standard input closes, which happens whenever this process ends, even by a crash.
        with subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        ) as process:
            with self._lock:
                if self._closed or job.cancelled:
                    process.kill()
                job.process = process
            assert process.stderr is not None
            for line in process.stderr:
                if line.startswith(PROGRESS_PREFIX):
                    job.progress = float(line.removeprefix(PROGRESS_PREFIX))
                elif line.strip():
                    error_lines.append(line.strip()[-4000:])
            code = process.wait()
        if code == 0:
            return "info", f"exported {job.target.name}, {job.target.stat().st_size / 1e6:.2f} MB"
        if job.cancelled:
            return "info", f"{job.target.name}: export cancelled"
        reason = error_lines[-1] if error_lines else f"the export process ended with status {code}"
        return "error", f"{job.target.name} could not be written: {reason}"

    def close(self) -> None:
        """Stop all exports; no callbacks are called afterwards."""
        with self._lock:
            self._closed = True
            self._queue.clear()
            processes = [job.process for job in self._running.values() if job.process is not None]
        for process in processes:
            _ask_to_stop(process)
        for process in processes:
            try:
                process.wait(STOP_TIMEOUT)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        atexit.unregister(self.close)


def _ask_to_stop(process: subprocess.Popen[str]) -> None:
    """Close the standard input of a worker: it removes a partly written file and ends."""
    if process.stdin is not None and process.poll() is None:
        process.stdin.close()


# -- Output ----------------------------------------------------------------------------------------------------------


#: Kinds of files by the endings of their names; other files are not listed.
FILE_KINDS = {
    ".poise": "recording",
    "-report.html": "report",
    **{suffix: name for name, suffix in FORMATS.items() if name != "report"},
}
#: A file modified within this time (s) counts as still being written, and changes of its size are ignored.
GROWTH_PERIOD = 1.0


class OutputError(PoiseError):
    """Unknown file name, unknown format, or an output folder that cannot be used.

    Attributes:
        name: the name that was given.
    """

    def __init__(self, message: str, name: str = "") -> None:
        super().__init__(message)
        self.name = name


class OutputFolder:
    """Folder of recordings and their exports.

    Only regular files of known kinds directly in the folder are listed, with names that do not begin with a dot; links,
    subfolders and paths outside the folder are not.

    Args:
        folder: created if it is missing.

    >>> output = OutputFolder(Path("recordings"))
    >>> output.export("walk-g1-1.poise", "bvh", print)
    """

    def __init__(self, folder: Path) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self.folder = folder.resolve(strict=True)
            os.scandir(self.folder).close()
        except OSError as error:
            reason = error.strerror or str(error)
            raise OutputError(
                f"the output folder '{folder}' cannot be used: {reason}; choose another folder", str(folder)
            ) from None
        self._lock = threading.Lock()
        self._reserved_names: set[str] = set()
        self._last_listing: Any = None
        self._revision = 0
        self._exports = ExportQueue()

    def files(self) -> list[dict[str, Any]]:
        """Return "name", "kind", size in "bytes" and "time" (ISO 8601, UTC) of each file, newest first."""
        files = sorted(self._list_files().items(), key=lambda item: (-item[1].st_mtime_ns, item[0]))
        return [
            {
                "name": name,
                "kind": _file_kind(name),
                "bytes": status.st_size,
                "time": datetime.fromtimestamp(status.st_mtime, UTC).isoformat(timespec="seconds"),
            }
            for name, status in files
        ]

    @property
    def revision(self) -> int:
        """Number that increases when files appear, disappear or change; for a file being written, once at its end."""
        now = time.time()
        listing = {
            name: None if now - status.st_mtime < GROWTH_PERIOD else (status.st_size, status.st_mtime_ns)
            for name, status in self._list_files().items()
        }
        with self._lock:
            if listing != self._last_listing:
                self._last_listing = listing
                self._revision += 1
            return self._revision

    def path(self, name: str) -> Path:
        """Return the path of the file of this name; raise OutputError if the folder has none."""
        if not isinstance(name, str) or name not in self._list_files():
            quoted = repr(name) if isinstance(name, str) and len(name) < 100 else "the requested name"
            raise OutputError(f"{quoted} is not in the output folder; choose a file of the list", str(name)[:100])
        return self.folder / name

    def new_path(self, stem: str, suffix: str) -> Path:
        """Return a new path: the stem with the next number that neither exists nor was returned before.

        >>> output.new_path("walk-g1", ".poise").name
        'walk-g1-1.poise'
        """
        safe_stem = re.sub(r"[^A-Za-z0-9_-]+", "-", stem)[:80].strip("-") or "file"
        if not re.fullmatch(r"\.[a-z0-9]+", suffix):
            raise OutputError(f"'{suffix}' is not a file suffix; expected a dot and letters, like .poise", suffix)
        with self._lock:
            number = 1
            while f"{safe_stem}-{number}{suffix}" in self._reserved_names or os.path.lexists(
                self.folder / f"{safe_stem}-{number}{suffix}"
            ):
                number += 1
            self._reserved_names.add(f"{safe_stem}-{number}{suffix}")
            return self.folder / f"{safe_stem}-{number}{suffix}"

    def export(self, name: str, format: str, on_finished: Callable[[str, str], None]) -> None:
        """Start the export of a recording to a file in the same folder; an existing file is replaced at the end.

        Args:
            name: file name of a recording in the folder.
            format: csv, npz, bvh, mcap, html, mp4 or report.
            on_finished: called with ("info", text) on success or ("error", text) on failure, from another thread, or
                from this one if the export cannot start. Nothing is raised.
        """
        try:
            source = self.path(name)
            if _file_kind(name) != "recording":
                raise OutputError(f"'{name}' is not a recording; choose a .poise file", name)
            if format not in FORMATS:
                raise OutputError(
                    f"unknown export format {str(format)[:20]!r}; expected one of {', '.join(FORMATS)}", name
                )
        except OutputError as error:
            on_finished("error", str(error))
            return
        self._exports.start(source, self.folder / f"{source.stem}{FORMATS[format]}", format, on_finished)

    def exports(self) -> list[dict[str, Any]]:
        """Return the state of each running and waiting export: "name", "activity", "progress" and "seconds"."""
        return self._exports.jobs()

    def cancel_export(self, name: str) -> bool:
        """Cancel the export to a file of this name; return whether there is one."""
        return self._exports.cancel(name)

    def stop(self) -> None:
        """Stop running exports."""
        self._exports.close()

    def _list_files(self) -> dict[str, os.stat_result]:
        files = {}
        try:
            with os.scandir(self.folder) as entries:
                for entry in entries:
                    if entry.name.startswith(".") or not _file_kind(entry.name) or not _is_safe_name(entry.name):
                        continue
                    try:
                        status = entry.stat(follow_symlinks=False)
                    except OSError:  # deleted in the meantime
                        continue
                    if stat.S_ISREG(status.st_mode):
                        files[entry.name] = status
        except OSError:  # the folder was deleted
            return {}
        return files


def _file_kind(name: str) -> str:
    return next((kind for suffix, kind in FILE_KINDS.items() if name.lower().endswith(suffix) and name != suffix), "")


def _is_safe_name(name: str) -> bool:
    """Return whether a name can be shown in a list, a URL and a message."""
    return name.isprintable() and not set(name) & set('/\\"')
