"""Reading a joint trajectory back."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from pathlib import Path

from poise.exports import arrays, table
from poise.exports.errors import ExportError
from poise.exports.trajectory import Trajectory
from poise.recording import load_recording

READERS: dict[str, Callable[[Path], Trajectory]] = {
    ".csv": table.read,
    ".npz": arrays.read,
    ".poise": lambda path: Trajectory.of(load_recording(path)),
}


def trajectory(path: str | PathLike[str]) -> Trajectory:
    """The joint trajectory in a ``.csv`` or ``.npz`` that was exported, or in a recording.

    >>> trajectory("walk.csv").joints
    """
    place = Path(path).expanduser()
    if place.suffix.lower() not in READERS:
        raise ExportError(f"'{path}' does not end in {', '.join(READERS)}; give a joint trajectory", str(path))
    if place.is_dir():
        raise ExportError(f"'{path}' is a folder; give a file in it", str(path))
    if not place.exists():
        raise ExportError(f"'{path}' does not exist; give a joint trajectory ({', '.join(READERS)})", str(path))
    try:
        return READERS[place.suffix.lower()](place)
    except OSError as error:
        raise ExportError(f"'{path}' cannot be read: {error.strerror or error}", str(path)) from None
    except ExportError as error:
        named = str(error) if str(place) in str(error) else f"{place}: {error}"
        raise ExportError(named, str(path)) from None
