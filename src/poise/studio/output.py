"""Output: the one folder of which the studio's pages see files, and exports into it."""

from __future__ import annotations

import os
import re
import stat
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from poise.errors import PoiseError
from poise.studio.exports import FORMATS, Exports

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
