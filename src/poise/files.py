"""Files: atomic writes, checks of the path, tables, values that JSON can hold, and installed versions."""

from __future__ import annotations

import contextlib
import csv
import math
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import metadata
from os import PathLike
from pathlib import Path
from typing import Any

from poise.errors import PoiseError


@contextlib.contextmanager
def atomic_write(path: str | PathLike[str], *, temporary: str = "", durable: bool = True) -> Iterator[Path]:
    """A temporary file in the folder of a path, to write to, which replaces the path at the end.

    A reader sees the old file or the new one. Whatever interrupts the writing, Ctrl-C included, leaves the path as it
    was and nothing beside it; only a process that is killed leaves its temporary file. Links are followed.

    Args:
        path: of the file.
        temporary: name of the temporary file; by default a random one that ends as the path does.
        durable: wait until the file is on the disk, so that a loss of power leaves the old one or the new one, too.

    >>> with atomic_write("walk.csv") as file:
    ...     file.write_text("time,q")
    """
    target = Path(os.path.realpath(path))
    temporary_path = target.with_name(temporary or f".{os.urandom(8).hex()}{target.suffix}")
    try:
        yield temporary_path
        if durable:
            with open(temporary_path, "rb") as file:
                os.fsync(file.fileno())
        os.replace(temporary_path, target)
    finally:
        with contextlib.suppress(OSError):
            temporary_path.unlink()


def atomic_write_text(path: str | PathLike[str], text: str, *, temporary: str = "") -> None:
    """Replaces a file by a text in UTF-8, whole or not at all."""
    with atomic_write(path, temporary=temporary) as file:
        file.write_text(text, encoding="utf-8")


def writable_path(
    path: str | PathLike[str], error: Callable[[str], Exception], option: str = "", example: str = ""
) -> Path:
    """Where a file goes, with ``~`` and links followed; an error if it is a folder or its folder does not exist.

    Args:
        path: as given.
        error: makes the exception of a message.
        option: of the command line that gave the path, for the message.
        example: name of a file, for the message.
    """
    target = Path(os.path.realpath(os.path.expanduser(path)))
    given = f"{option} '{path}'".lstrip()
    if os.path.isdir(target):
        hint = f"give a file, like {Path(path) / example}" if example else "give the name of a file in it"
        raise error(f"{given} is a folder; {hint}")
    if not os.path.isdir(target.parent):
        raise error(f"{given}: there is no folder '{Path(path).parent}'; make it first")
    return target


def write_csv(path: str | PathLike[str], rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> Path:
    """Write rows as a CSV file with the given columns and return its path.

    Numbers have six significant digits; what is None or missing in a row is an empty cell.
    """
    target = Path(path)
    try:
        with atomic_write(target) as file, open(file, "w", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(stream, columns, extrasaction="ignore", restval="")
            writer.writeheader()
            writer.writerows({key: _format_cell(value) for key, value in row.items()} for row in rows)
    except OSError as error:
        raise PoiseError(
            f"{target} cannot be written: {failure_reason(error)}; give another place or make room"
        ) from None
    return target


def _format_cell(value: Any) -> Any:
    return "" if value is None else f"{value:.6g}" if isinstance(value, float) else value


def failure_reason(error: OSError) -> str:
    """Why the system refused, in a few words: "No space left on device"."""
    return os.strerror(error.errno) if error.errno else " ".join(str(error).split())


def json_ready(value: Any) -> Any:
    """The same in values that JSON knows: numpy's become Python's, and numbers that are not finite become None.

    >>> json_ready({"error": float("nan"), "target": (0.5, float("inf"))})
    {'error': None, 'place': [0.5, None]}
    """
    if isinstance(value, Mapping):
        return {key: json_ready(each) for key, each in value.items()}
    numpy = sys.modules.get("numpy")  # where it is not loaded, nothing is of it
    if numpy is not None and isinstance(value, (numpy.ndarray, numpy.generic)):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [json_ready(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def installed_version(package: str = "poise") -> str:
    """Version of a package, of Poise by default; "0+source" of a source tree that was never installed."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "0+source" if package == "poise" else "unknown"
