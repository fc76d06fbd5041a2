"""Export formats: the table of formats, what a writer receives, and the one call that writes a file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from os import PathLike
from pathlib import Path

import numpy as np

from poise.errors import suggestion
from poise.exports.joint_trajectory import ExportError, Trajectory
from poise.files import atomic_write, failure_reason, writable_path
from poise.recording import Body, Recording, named_robot
from poise.robots import Robot, State


def checked_path(path: str | PathLike[str], suffixes: tuple[str, ...]) -> Path:
    """Where a file goes, links followed; what is wrong with the place is said before anything is computed."""
    place = writable_path(path, lambda message: ExportError(message, str(path)), example=f"motion{suffixes[0]}")
    if Path(path).suffix.lower() not in suffixes:
        named = Path(path).with_suffix(suffixes[0])
        raise ExportError(f"'{path}' does not end in {' or '.join(suffixes)}; give {named}", str(path))
    return place


# -- Job: one recording on its way into one file ---------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Job:
    """What a format needs to know.

    Args:
        recording: what is exported.
        model: the robot, if somebody has it at hand; else it is found by the name that the recording gives.
        rate: samples or pictures a second; None: what is usual for the format.
        size: of pictures, width and height in pixels.
        progress: told how far the work is, in seconds of the motion.
    """

    recording: Recording
    model: Robot | None = None
    rate: float | None = None
    size: tuple[int, int] = (1280, 720)
    progress: Callable[[float], object] = lambda time: None

    @cached_property
    def whole(self) -> Trajectory:
        """The motion, sample by sample."""
        return Trajectory.of(self.recording)

    def trajectory(self, usual: float | None = None) -> Trajectory:
        """The motion at the rate that was asked for, else at the usual one (Hz), else sample by sample."""
        rate = self.rate or usual
        return self.whole if rate is None else self.whole.resampled(rate)

    def states(self, rate: float) -> list[State]:
        """The motion as states of the robot, so many a second, with what it stood on."""
        trajectory, robot = self.whole.resampled(rate), self.robot
        moved = trajectory.states(robot)
        if "contacts" not in self.recording:
            return moved
        parts = {part.name: part for part in (*robot.feet, *robot.hands)}
        at = np.searchsorted(self.whole.time, trajectory.time + 1e-9, side="right") - 1
        named = [str(self.recording["contacts"][i]).split(", ") for i in at]
        return [
            state.replace(contacts=[parts.get(name) or robot.frame(name) for name in names if name])
            for state, names in zip(moved, named, strict=True)
        ]

    @cached_property
    def robot(self) -> Robot:
        """The robot that moves."""
        joints = self.whole.joints  # first, since without a motion no robot helps
        robot = self.model or self.recording.robot or _found(self.recording)
        if joints != Body.of(robot).joints:
            name = self.recording.provenance.get("robot", "?")
            message = f"the recording is of '{name}', whose joints are not those of '{robot.name}'; give its robot"
            raise ExportError(message)
        return robot


def _found(recording: Recording) -> Robot:
    """The robot of the name that a recording gives, or of the file that it once came from."""
    found = named_robot(recording.provenance)
    if isinstance(found, Robot):
        return found
    raise ExportError(f"the robot of the recording is not known: {found}; give it with --robot (robot= in Python)")


# -- The formats that a recording can be exported to -----------------------------------------------------------------


@dataclass(frozen=True)
class Format:
    """A kind of file.

    Attributes:
        module: of this room, with ``export_<format>(job, file)``; imported on first use, since some are slow to import.
        suffixes: how names of such files end, the usual one first.
        what: is in it, in a few words.
        pictures: whether it is made of pictures, which have a size.
    """

    module: str
    suffixes: tuple[str, ...]
    what: str
    pictures: bool = False


FORMATS = {
    "csv": Format("trajectory_files", (".csv",), "joint trajectory as a table"),
    "npz": Format("trajectory_files", (".npz",), "joint trajectory as arrays of numpy"),
    "bvh": Format("bvh", (".bvh",), "skeleton for animation software"),
    "mot": Format("opensim", (".mot",), "base and joints in degrees, for OpenSim"),
    "trc": Format("opensim", (".trc",), "markers, or joint centers and parts of a robot, for motion capture"),
    "mcap": Format("mcap_log", (".mcap",), "all channels and link poses, for Foxglove"),
    "html": Format("html_viewer", (".html", ".htm"), "page that plays the motion in a browser"),
    "mp4": Format("video", (".mp4",), "film", pictures=True),
}


def format_of(path: str | PathLike[str], name: str | None = None) -> str:
    """The name of a format, if it is one; without a name, that which the file's name ends in."""
    if name is None:
        suffix = Path(path).suffix.lower()
        name = next((known for known, kind in FORMATS.items() if suffix in kind.suffixes), suffix.lstrip("."))
    if name not in FORMATS:
        raise ExportError(f"there is no format '{name}'; {suggestion(name, FORMATS)}", str(path))
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
    name = format_of(path, format)
    kind = FORMATS[name]
    place = checked_path(path, kind.suffixes)
    if rate is not None and not 0.0 < rate <= 1e6:
        raise ExportError(f"a rate of {rate:g} Hz is no rate; expected a positive number of samples a second")
    job = Job(recording, robot, rate, size, progress or (lambda time: None))
    try:
        with atomic_write(place) as file:
            getattr(import_module(f"poise.exports.{kind.module}"), f"export_{name}")(job, file)
    except OSError as error:
        message = f"{place} cannot be written: {failure_reason(error)}; give another place or make room"
        raise ExportError(message, str(place)) from None
    return place
