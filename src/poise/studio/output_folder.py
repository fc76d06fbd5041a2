"""Output folder of the studio: files that pages may see, and exports of recordings, each in its own process."""

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
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from poise.errors import PoiseError

FinishedCallback = Callable[[str, str], None]

#: What can be made of a recording, and how names of such files end.
FORMATS = {
    "csv": ".csv",
    "npz": ".npz",
    "bvh": ".bvh",
    "mcap": ".mcap",
    "html": ".html",
    "mp4": ".mp4",
    "report": "-report.html",
}
#: Exports at a time: the simulation wants a core of its own.
MAX_RUNNING = 2
#: Exports that may wait.
MAX_WAITING = 16
#: Time to clean up for an export that is told to end (s).
STOP_TIMEOUT = 3.0


class ExportJob(NamedTuple):
    """One export that was asked for, and who is told of its end."""

    source: Path
    target: Path
    format: str
    on_finished: FinishedCallback


class ExportQueue:
    """Starts exports, two at a time, in the order in which they were asked for."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._queue: deque[ExportJob] = deque()
        self._running: dict[Path, subprocess.Popen[str] | None] = {}
        self._closed = False
        atexit.register(self.close)

    def start(self, source: Path, target: Path, format: str, on_finished: FinishedCallback) -> None:
        """Begins an export, now or when others are done; `on_finished` is told how it ended."""
        refusal = ""
        with self._lock:
            if self._closed:
                refusal = "the studio is closing"
            elif target in self._running or any(job.target == target for job in self._queue):
                refusal = f"{target.name} is being written already; wait until it is there"
            elif len(self._queue) >= MAX_WAITING:
                refusal = f"{MAX_WAITING} exports are waiting already; try again when some are done"
            else:
                self._queue.append(ExportJob(source, target, format, on_finished))
        if refusal:
            on_finished("error", refusal)
        else:
            self._start_next()

    def _start_next(self) -> None:
        with self._lock:
            if self._closed or len(self._running) >= MAX_RUNNING or not self._queue:
                return
            job = self._queue.popleft()
            self._running[job.target] = None
        threading.Thread(target=self._run, args=(job,), daemon=True, name=f"export {job.target.name}").start()

    def _run(self, job: ExportJob) -> None:
        try:
            kind, text = self._run_process(job)
        except OSError as error:
            kind, text = "error", f"{job.target.name} could not be made: {error.strerror or error}"
        with self._lock:
            del self._running[job.target]
            closed = self._closed
        if not closed:
            job.on_finished(kind, text)
            self._start_next()

    def _run_process(self, job: ExportJob) -> tuple[str, str]:
        command = [sys.executable, "-m", "poise.studio.export_worker", str(job.source), str(job.target), job.format]
        # Its standard input ends when this process does, however that happens: then it ends, too.
        with subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        ) as process:
            with self._lock:
                if self._closed:
                    process.kill()
                self._running[job.target] = process
            assert process.stderr is not None
            error_lines = process.stderr.read()[-4000:].strip().splitlines()
            code = process.wait()
        if code == 0:
            return "info", f"{job.target.name} is there, {job.target.stat().st_size / 1e6:.2f} MB"
        reason = error_lines[-1] if error_lines else f"it ended with status {code}"
        return "error", f"{job.target.name} could not be made: {reason}"

    def close(self) -> None:
        """Ends all; nobody is told any more."""
        with self._lock:
            self._closed = True
            self._queue.clear()
            processes = [process for process in self._running.values() if process is not None]
        for process in processes:
            if process.stdin is not None and process.poll() is None:
                process.stdin.close()
        for process in processes:
            try:
                process.wait(STOP_TIMEOUT)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        atexit.unregister(self.close)


# -- Output ----------------------------------------------------------------------------------------------------------


#: Kinds of files by how their names end; others are not shown.
FILE_KINDS = {
    ".poise": "recording",
    "-report.html": "report",
    **{suffix: name for name, suffix in FORMATS.items() if name != "report"},
}
#: A file that was written to within so many seconds is still growing: its size is no news.
GROWTH_PERIOD = 1.0


class OutputError(PoiseError):
    """A name that is none of a file in the output folder, or a folder that cannot be used.

    Attributes:
        name: as given.
    """

    def __init__(self, message: str, name: str = "") -> None:
        super().__init__(message)
        self.name = name


class OutputFolder:
    """A folder of recordings and what was made of them.

    Only plain files of known kinds count, directly in the folder, with names that do not begin with a dot: no links, no
    folders, nothing outside.

    Args:
        folder: made if it is missing.

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
                f"the output folder '{folder}' cannot be used: {reason}; give another", str(folder)
            ) from None
        self._lock = threading.Lock()
        self._reserved_names: set[str] = set()
        self._last_listing: Any = None
        self._revision = 0
        self._exports = ExportQueue()

    def files(self) -> list[dict[str, Any]]:
        """Name, kind, size in bytes and time (ISO 8601, UTC) of each file, the newest first."""
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
        """Grows whenever files come, go or have been written; while one is growing, only once at the end."""
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
        """Where the file of exactly this name lies."""
        if not isinstance(name, str) or name not in self._list_files():
            quoted = repr(name) if isinstance(name, str) and len(name) < 100 else "what was asked for"
            raise OutputError(f"{quoted} is no file of the output folder; choose one of its list", str(name)[:100])
        return self.folder / name

    def new_path(self, stem: str, suffix: str) -> Path:
        """A path that is not taken, nor was given to anybody before: the stem with the next number.

        >>> output.new_path("walk-g1", ".poise").name
        'walk-g1-1.poise'
        """
        safe_stem = re.sub(r"[^A-Za-z0-9_-]+", "-", stem)[:80].strip("-") or "file"
        if not re.fullmatch(r"\.[a-z0-9]+", suffix):
            raise OutputError(f"'{suffix}' is no ending of a file; expected a dot and letters, like .poise", suffix)
        with self._lock:
            number = 1
            while f"{safe_stem}-{number}{suffix}" in self._reserved_names or os.path.lexists(
                self.folder / f"{safe_stem}-{number}{suffix}"
            ):
                number += 1
            self._reserved_names.add(f"{safe_stem}-{number}{suffix}")
            return self.folder / f"{safe_stem}-{number}{suffix}"

    def export(self, name: str, format: str, on_finished: Callable[[str, str], None]) -> None:
        """Starts an export of a recording into a file beside it; one that is there is replaced at the end.

        Args:
            name: of a recording in the folder.
            format: csv, npz, bvh, mcap, html, mp4 or report.
            on_finished: told ("info", ...) when it is there or ("error", ...) why it is not, from another thread, or
                from this one if it cannot even begin. Nothing is raised.
        """
        try:
            source = self.path(name)
            if _file_kind(name) != "recording":
                raise OutputError(f"'{name}' is no recording; choose a .poise file", name)
            if format not in FORMATS:
                raise OutputError(f"there is no format {str(format)[:20]!r}; there are {', '.join(FORMATS)}", name)
        except OutputError as error:
            on_finished("error", str(error))
            return
        self._exports.start(source, self.folder / f"{source.stem}{FORMATS[format]}", format, on_finished)

    def stop(self) -> None:
        """Ends exports that are under way."""
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
                    except OSError:  # gone meanwhile
                        continue
                    if stat.S_ISREG(status.st_mode):
                        files[entry.name] = status
        except OSError:  # the folder is gone: so are its files
            return {}
        return files


def _file_kind(name: str) -> str:
    return next((kind for suffix, kind in FILE_KINDS.items() if name.lower().endswith(suffix) and name != suffix), "")


def _is_safe_name(name: str) -> bool:
    """Whether a name can stand in a list, an address and a message."""
    return name.isprintable() and not set(name) & set('/\\"')
