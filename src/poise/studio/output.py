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

Heard = Callable[[str, str], None]

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
TOGETHER = 2
#: Exports that may wait.
WAITING = 16
#: Time to clean up for an export that is told to end (s).
PARTING = 3.0


class Task(NamedTuple):
    """One export that was asked for, and who is told of its end."""

    source: Path
    target: Path
    format: str
    heard: Heard


class Exports:
    """Starts exports, two at a time, in the order in which they were asked for."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: deque[Task] = deque()
        self._running: dict[Path, subprocess.Popen[str] | None] = {}
        self._closed = False
        atexit.register(self.close)

    def start(self, source: Path, target: Path, format: str, heard: Heard) -> None:
        """Begins an export, now or when others are done; `heard` is told how it ended."""
        refused = ""
        with self._lock:
            if self._closed:
                refused = "the studio is closing"
            elif target in self._running or any(task.target == target for task in self._waiting):
                refused = f"{target.name} is being written already; wait until it is there"
            elif len(self._waiting) >= WAITING:
                refused = f"{WAITING} exports are waiting already; try again when some are done"
            else:
                self._waiting.append(Task(source, target, format, heard))
        if refused:
            heard("error", refused)
        else:
            self._next()

    def _next(self) -> None:
        with self._lock:
            if self._closed or len(self._running) >= TOGETHER or not self._waiting:
                return
            task = self._waiting.popleft()
            self._running[task.target] = None
        threading.Thread(target=self._run, args=(task,), daemon=True, name=f"export {task.target.name}").start()

    def _run(self, task: Task) -> None:
        try:
            kind, text = self._result(task)
        except OSError as error:
            kind, text = "error", f"{task.target.name} could not be made: {error.strerror or error}"
        with self._lock:
            del self._running[task.target]
            closed = self._closed
        if not closed:
            task.heard(kind, text)
            self._next()

    def _result(self, task: Task) -> tuple[str, str]:
        command = [sys.executable, "-m", "poise.studio.export_worker", str(task.source), str(task.target), task.format]
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
                self._running[task.target] = process
            assert process.stderr is not None
            said = process.stderr.read()[-4000:].strip().splitlines()
            code = process.wait()
        if code == 0:
            return "info", f"{task.target.name} is there, {task.target.stat().st_size / 1e6:.2f} MB"
        return "error", f"{task.target.name} could not be made: {said[-1] if said else f'it ended with status {code}'}"

    def close(self) -> None:
        """Ends all; nobody is told any more."""
        with self._lock:
            self._closed = True
            self._waiting.clear()
            processes = [process for process in self._running.values() if process is not None]
        for process in processes:
            if process.stdin is not None and process.poll() is None:
                process.stdin.close()
        for process in processes:
            try:
                process.wait(PARTING)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        atexit.unregister(self.close)


# -- Output ----------------------------------------------------------------------------------------------------------


#: Kinds of files by how their names end; others are not shown.
KINDS = {
    ".poise": "recording",
    "-report.html": "report",
    **{suffix: name for name, suffix in FORMATS.items() if name != "report"},
}
#: A file that was written to within so many seconds is still growing: its size is no news.
GROWING = 1.0


class OutputError(PoiseError):
    """A name that is none of a file in the output folder, or a folder that cannot be used.

    Attributes:
        name: as given.
    """

    def __init__(self, message: str, name: str = "") -> None:
        super().__init__(message)
        self.name = name


class Output:
    """A folder of recordings and what was made of them.

    Only plain files of known kinds count, directly in the folder, with names that do not begin with a dot: no links, no
    folders, nothing outside.

    Args:
        folder: made if it is missing.

    >>> output = Output(Path("recordings"))
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
        self._given: set[str] = set()
        self._seen: Any = None
        self._changed = 0
        self._exports = Exports()

    def files(self) -> list[dict[str, Any]]:
        """Name, kind, size in bytes and time (ISO 8601, UTC) of each file, the newest first."""
        found = sorted(self._found().items(), key=lambda item: (-item[1].st_mtime_ns, item[0]))
        return [
            {
                "name": name,
                "kind": _kind(name),
                "bytes": about.st_size,
                "time": datetime.fromtimestamp(about.st_mtime, UTC).isoformat(timespec="seconds"),
            }
            for name, about in found
        ]

    @property
    def changed(self) -> int:
        """Grows whenever files come, go or have been written; while one is growing, only once at the end."""
        now = time.time()
        seen = {
            name: None if now - about.st_mtime < GROWING else (about.st_size, about.st_mtime_ns)
            for name, about in self._found().items()
        }
        with self._lock:
            if seen != self._seen:
                self._seen = seen
                self._changed += 1
            return self._changed

    def path(self, name: str) -> Path:
        """Where the file of exactly this name lies."""
        if not isinstance(name, str) or name not in self._found():
            shown = repr(name) if isinstance(name, str) and len(name) < 100 else "what was asked for"
            raise OutputError(f"{shown} is no file of the output folder; choose one of its list", str(name)[:100])
        return self.folder / name

    def fresh(self, stem: str, suffix: str) -> Path:
        """A path that is not taken, nor was given to anybody before: the stem with the next number.

        >>> output.fresh("walk-g1", ".poise").name
        'walk-g1-1.poise'
        """
        words = re.sub(r"[^A-Za-z0-9_-]+", "-", stem)[:80].strip("-") or "file"
        if not re.fullmatch(r"\.[a-z0-9]+", suffix):
            raise OutputError(f"'{suffix}' is no ending of a file; expected a dot and letters, like .poise", suffix)
        with self._lock:
            number = 1
            while f"{words}-{number}{suffix}" in self._given or os.path.lexists(
                self.folder / f"{words}-{number}{suffix}"
            ):
                number += 1
            self._given.add(f"{words}-{number}{suffix}")
            return self.folder / f"{words}-{number}{suffix}"

    def export(self, name: str, format: str, heard: Callable[[str, str], None]) -> None:
        """Starts an export of a recording into a file beside it; one that is there is replaced at the end.

        Args:
            name: of a recording in the folder.
            format: csv, npz, bvh, mcap, html, mp4 or report.
            heard: told ("info", ...) when it is there or ("error", ...) why it is not, from another thread, or from
                this one if it cannot even begin. Nothing is raised.
        """
        try:
            source = self.path(name)
            if _kind(name) != "recording":
                raise OutputError(f"'{name}' is no recording; choose a .poise file", name)
            if format not in FORMATS:
                raise OutputError(f"there is no format {str(format)[:20]!r}; there are {', '.join(FORMATS)}", name)
        except OutputError as error:
            heard("error", str(error))
            return
        self._exports.start(source, self.folder / f"{source.stem}{FORMATS[format]}", format, heard)

    def stop(self) -> None:
        """Ends exports that are under way."""
        self._exports.close()

    def _found(self) -> dict[str, os.stat_result]:
        found = {}
        try:
            with os.scandir(self.folder) as entries:
                for entry in entries:
                    if entry.name.startswith(".") or not _kind(entry.name) or not _is_plain(entry.name):
                        continue
                    try:
                        about = entry.stat(follow_symlinks=False)
                    except OSError:  # gone meanwhile
                        continue
                    if stat.S_ISREG(about.st_mode):
                        found[entry.name] = about
        except OSError:  # the folder is gone: so are its files
            return {}
        return found


def _kind(name: str) -> str:
    return next((kind for ending, kind in KINDS.items() if name.lower().endswith(ending) and name != ending), "")


def _is_plain(name: str) -> bool:
    """Whether a name can stand in a list, an address and a message."""
    return name.isprintable() and not set(name) & set('/\\"')
