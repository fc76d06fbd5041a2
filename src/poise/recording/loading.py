"""Loading a recording from its file."""

from __future__ import annotations

import os
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from poise.errors import RecordingError
from poise.recording.channel import Channel
from poise.recording.joining import joined
from poise.recording.known import check_known
from poise.recording.recording import Recording

if TYPE_CHECKING:
    from poise.recording.reading import Contents
    from poise.robots import Robot


def load_recording(path: str | PathLike[str], robot: Robot | None = None, partial: bool = False) -> Recording:
    """The recording in a ``.poise`` file, bit by bit as it was.

    Args:
        path: the file.
        robot: the robot that was recorded, if `Recording.state` is to be used.
        partial: open what is intact of a file that was cut off, because the process that wrote it died;
            ``recording.complete`` is then False.

    >>> poise.load_recording("walk.poise").duration
    3.0
    """
    place = Path(os.path.expanduser(path))
    data = _bytes(place)
    from poise.recording.reading import Contents  # Arrow takes a tenth of a second to import

    try:
        contents = Contents(data)
    except RecordingError as error:
        raise _error(place, str(error)) from None
    if not contents.finished and not partial:
        raise _error(place, f"is cut off or damaged; {_intact(contents)}")
    try:
        channels = joined(contents.parts) if contents.parts else (Channel("time", "s", np.zeros(0)),)
        check_known(channels)
        complete = contents.finished and bool(contents.ending.get("complete", True))
        return Recording(channels, contents.provenance, robot, complete)
    except RecordingError as error:
        raise _error(place, f"is no recording that Poise wrote: {error}") from None


def _intact(contents: Contents) -> str:
    """How much is there, and how to open it."""
    if not contents.samples:
        return "no sample of it is intact"
    until = [f" up to {channel.values[-1]:.3f} s" for channel in contents.parts[-1] if channel.name == "time"]
    which = f"{contents.samples} samples" if contents.samples > 1 else "1 sample"
    return f"{which}{''.join(until)} intact: open with load_recording(path, partial=True)"


def _bytes(path: Path) -> bytes:
    if os.path.isdir(path):
        raise _error(path, "is a directory; give the name of a file in it")
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise _error(path, "does not exist; give the name of a .poise file") from None
    except (OSError, ValueError) as error:
        raise _error(path, f"cannot be read: {getattr(error, 'strerror', error)}; give a file that can") from None
    if not data:
        raise _error(path, "is empty; it was never written, or cut off at once")
    return data


def _error(path: Path, message: str) -> RecordingError:
    return RecordingError(f"{path} {message}", path=str(path))
