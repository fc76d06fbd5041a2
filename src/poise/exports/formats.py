"""The formats that a recording can be exported to: one module and one line each."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from os import PathLike
from pathlib import Path

from poise.exports.errors import ExportError
from poise.exports.job import Job
from poise.exports.place import checked, whole
from poise.recording import Recording
from poise.robots import Robot


@dataclass(frozen=True)
class Format:
    """A kind of file.

    Attributes:
        module: of this room, with ``write(job, file)``; imported when it is needed, since some bring much with them.
        suffixes: how names of such files end, the usual one first.
        what: is in it, in a few words.
        pictures: whether it is made of pictures, which have a size.
    """

    module: str
    suffixes: tuple[str, ...]
    what: str
    pictures: bool = False


FORMATS = {
    "csv": Format("table", (".csv",), "joint trajectory as a table"),
    "npz": Format("arrays", (".npz",), "joint trajectory as arrays of numpy"),
    "bvh": Format("bvh", (".bvh",), "skeleton for animation software"),
    "mot": Format("mot", (".mot",), "base and joints in degrees, for OpenSim"),
    "trc": Format("trc", (".trc",), "markers, or joint centers and parts of a robot, for motion capture"),
    "mcap": Format("messages", (".mcap",), "all channels and link poses, for Foxglove"),
    "html": Format("scene", (".html", ".htm"), "page that plays the motion in a browser"),
    "mp4": Format("film", (".mp4",), "film", pictures=True),
}


def format_of(path: str | PathLike[str], name: str | None = None) -> str:
    """The name of a format, if it is one; without a name, that which the file's name ends in."""
    if name is None:
        suffix = Path(path).suffix.lower()
        name = next((known for known, kind in FORMATS.items() if suffix in kind.suffixes), suffix.lstrip("."))
    if name not in FORMATS:
        near = difflib.get_close_matches(name, FORMATS, n=1)
        hint = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(FORMATS)}"
        raise ExportError(f"there is no format '{name}'; {hint}", str(path))
    return name


def save(
    recording: Recording,
    path: str | PathLike[str],
    format: str | None = None,
    *,
    robot: Robot | None = None,
    rate: float | None = None,
    size: tuple[int, int] = (1280, 720),
    progress: Callable[[float], object] | None = None,
) -> Path:
    """Exports a recording to a file, which appears whole or not at all.

    Args:
        recording: any.
        path: where to.
        format: a name of `FORMATS`; None: that which the path ends in.
        robot: whose motion it is; None: found by the name in the recording. Tables and arrays do not need it.
        rate: samples or pictures a second (Hz); None: every sample, but 60 for bvh and 30 for html and mp4.
        size: of a film, width and height in pixels.
        progress: told how far the work is, in seconds of the motion.

    >>> save(recording, "walk.bvh")
    """
    kind = FORMATS[format_of(path, format)]
    place = checked(path, kind.suffixes)
    if rate is not None and not 0.0 < rate <= 1e6:
        raise ExportError(f"a rate of {rate:g} Hz is no rate; expected a positive number of samples a second")
    job = Job(recording, robot, rate, size, progress or (lambda time: None))
    with whole(place) as file:
        import_module(f"poise.exports.{kind.module}").write(job, file)
    return place
