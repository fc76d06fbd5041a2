"""Where an exported file goes: it appears whole or not at all."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from os import PathLike
from pathlib import Path

from poise.exports.errors import ExportError


def checked(path: str | PathLike[str], suffixes: tuple[str, ...]) -> Path:
    """Where a file goes, links followed; what is wrong with the place is said before anything is computed."""
    place = Path(os.path.realpath(os.path.expanduser(path)))
    if place.is_dir():
        example = Path(path) / f"motion{suffixes[0]}"
        raise ExportError(f"'{path}' is a folder; give a file, like {example}", str(path))
    if not place.parent.is_dir():
        raise ExportError(f"'{path}': there is no folder '{Path(path).parent}'; make it first", str(path))
    if Path(path).suffix.lower() not in suffixes:
        named = Path(path).with_suffix(suffixes[0])
        raise ExportError(f"'{path}' does not end in {' or '.join(suffixes)}; give {named}", str(path))
    return place


@contextlib.contextmanager
def whole(place: Path) -> Iterator[Path]:
    """A file beside the place, to write to, which is moved there at the end.

    Whatever interrupts the writing, Ctrl-C included, leaves the place as it was and nothing beside it.
    """
    beside = place.with_name(f".{os.urandom(8).hex()}{place.suffix}")
    try:
        yield beside
        with open(beside, "rb") as file:
            os.fsync(file.fileno())
        os.replace(beside, place)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else " ".join(str(error).split())
        message = f"{place} cannot be written: {reason}; give another place or make room"
        raise ExportError(message, str(place)) from None
    finally:
        with contextlib.suppress(OSError):
            beside.unlink()
