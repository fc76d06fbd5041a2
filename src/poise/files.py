"""Helpers for files: atomic writes, checks of output paths, CSV tables, JSON values and package versions."""

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
    """Context manager that yields a temporary path to write to and replaces the file with it on success.

    A reader sees either the old file or the new one. If writing is interrupted, by Ctrl-C too, the old file is
    unchanged and the temporary one is removed; only a process that is killed leaves it behind. Links are followed.

    Args:
        path: path of the file.
        temporary: name of the temporary file, in the same folder; by default a random one with the suffix of the path.
        durable: wait until the file is on the disk, so that the old or the new file also survives a power failure.

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
    """Write a text to a file, in UTF-8, atomically."""
    with atomic_write(path, temporary=temporary) as file:
        file.write_text(text, encoding="utf-8")


def writable_path(
    path: str | PathLike[str],
    error: Callable[[str], Exception],
    option: str = "",
    example: str = "",
    suffixes: Sequence[str] = (),
) -> Path:
    """Return the resolved path of a file to write, with ``~`` and links followed.

    Args:
        path: path given by the user.
        error: class of the exception to raise if the path is a folder, its folder does not exist, or it has another
            suffix.
        option: command-line option of the path, for the message.
        example: example of a file name, for the message.
        suffixes: suffixes of the format, in lower case; by default any suffix is accepted.
    """
    target = Path(os.path.realpath(os.path.expanduser(path)))
    label = f"{option} '{path}'".lstrip()
    if os.path.isdir(target):
        hint = f"give a file, like {Path(path) / example}" if example else "give the name of a file in it"
        raise error(f"{label} is a folder; {hint}")
    if not os.path.isdir(target.parent):
        raise error(f"{label}: there is no folder '{Path(path).parent}'; create it first")
    if suffixes and Path(path).suffix.lower() not in suffixes:
        raise error(f"{label} does not end in {' or '.join(suffixes)}; give {Path(path).with_suffix(suffixes[0])}")
    return target


#: Suffixes of files that Poise reads or writes; a folder for results has another name.
FILE_SUFFIXES = (
    ".poise",
    ".html",
    ".htm",
    ".toml",
    ".json",
    ".csv",
    ".parquet",
    ".pdf",
    ".mot",
    ".c3d",
    ".trc",
    ".txt",
)


def check_folder(path: str | PathLike[str], error: Callable[[str], Exception], option: str = "") -> None:
    """Raise an error if a path for a folder of results is a file or is named like one."""
    label = f"{option} '{path}'".lstrip()
    if os.path.exists(path) and not os.path.isdir(path):
        raise error(f"{label} is a file; give a folder")
    suffix = Path(path).suffix.lower()
    if suffix in FILE_SUFFIXES and not os.path.isdir(path):
        raise error(f"{label} ends in {suffix} like a file; give a folder, like {Path(path).with_suffix('')}")


def make_folder(path: str | PathLike[str], error: Callable[[str], Exception], option: str = "") -> None:
    """Create a folder for results, with its parents; raise an error in one line if that is impossible."""
    check_folder(path, error, option)
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except OSError as reason:
        label = f"{option} '{path}'".lstrip()
        raise error(f"{label} cannot be created: {failure_reason(reason)}; give another folder") from None


def write_csv(path: str | PathLike[str], rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> Path:
    """Write rows as a CSV file with the given columns and return its path.

    Floats have six significant digits; a value that is None or missing is an empty cell.

    Raises:
        PoiseError: the file cannot be written.
    """
    target = Path(path)
    try:
        with atomic_write(target) as file, open(file, "w", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(stream, columns, extrasaction="ignore", restval="")
            writer.writeheader()
            writer.writerows({key: _format_cell(value) for key, value in row.items()} for row in rows)
    except OSError as error:
        raise PoiseError(
            f"{target} cannot be written: {failure_reason(error)}; give another path or free disk space"
        ) from None
    return target


def _format_cell(value: Any) -> Any:
    return "" if value is None else f"{value:.6g}" if isinstance(value, float) else value


def failure_reason(error: OSError) -> str:
    """Return the reason of an operating-system error in a few words, e.g. "No space left on device"."""
    return os.strerror(error.errno) if error.errno else " ".join(str(error).split())


def json_ready(value: Any) -> Any:
    """Convert a value for JSON: numpy values become Python values, tuples lists, and non-finite numbers None.

    >>> json_ready({"error": float("nan"), "target": (0.5, float("inf"))})
    {'error': None, 'target': [0.5, None]}
    """
    if isinstance(value, Mapping):
        return {key: json_ready(each) for key, each in value.items()}
    numpy = sys.modules.get("numpy")  # if numpy is not loaded, no value is of numpy
    if numpy is not None and isinstance(value, (numpy.ndarray, numpy.generic)):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [json_ready(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def installed_version(package: str = "poise") -> str:
    """Return the version of an installed package, by default of Poise.

    If it is not installed: "0+source" for Poise, which then runs from a source tree, and "unknown" for other packages.
    """
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "0+source" if package == "poise" else "unknown"
