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
from poise.recording import CoordinateLabels, Recording, robot_from_provenance
from poise.robots import Robot, State


def checked_path(path: str | PathLike[str], suffixes: tuple[str, ...]) -> Path:
    """Where a file goes, links followed; what is wrong with the place is said before anything is computed."""
    target = writable_path(path, lambda message: ExportError(message, str(path)), example=f"motion{suffixes[0]}")
    if Path(path).suffix.lower() not in suffixes:
        suggested = Path(path).with_suffix(suffixes[0])
        raise ExportError(f"'{path}' does not end in {' or '.join(suffixes)}; give {suggested}", str(path))
    return target


# -- ExportJob: one recording to be written to one file --------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ExportJob:
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
    def full_trajectory(self) -> Trajectory:
        """The motion, sample by sample."""
        return Trajectory.of(self.recording)

    def trajectory(self, usual: float | None = None) -> Trajectory:
        """The motion at the rate that was asked for, else at the usual one (Hz), else sample by sample."""
        rate = self.rate or usual
        return self.full_trajectory if rate is None else self.full_trajectory.resample(rate)

    def states(self, rate: float) -> list[State]:
        """The motion as states of the robot, so many a second, with what it stood on."""
        trajectory, robot = self.full_trajectory.resample(rate), self.robot
        states = trajectory.states(robot)
        if "contacts" not in self.recording:
            return states
        parts = {part.name: part for part in (*robot.feet, *robot.hands)}
        at = np.searchsorted(self.full_trajectory.time, trajectory.time + 1e-9, side="right") - 1
        contact_names = [str(self.recording["contacts"][i]).split(", ") for i in at]
        return [
            state.replace(contacts=[parts.get(name) or robot.frame(name) for name in names if name])
            for state, names in zip(states, contact_names, strict=True)
        ]

    @cached_property
    def robot(self) -> Robot:
        """The robot that moves."""
        joints = self.full_trajectory.joints  # first, since without a motion no robot helps
        robot = self.model or self.recording.robot or _find_robot(self.recording)
        if joints != CoordinateLabels.of(robot).joints:
            name = self.recording.provenance.get("robot", "?")
            message = f"the recording is of '{name}', whose joints are not those of '{robot.name}'; give its robot"
            raise ExportError(message)
        return robot


def _find_robot(recording: Recording) -> Robot:
    """The robot of the name that a recording gives, or of the file that it once came from."""
    robot = robot_from_provenance(recording.provenance)
    if isinstance(robot, Robot):
        return robot
    raise ExportError(f"the robot of the recording is not known: {robot}; give it with --robot (robot= in Python)")


# -- The formats that a recording can be exported to -----------------------------------------------------------------


@dataclass(frozen=True)
class ExportFormat:
    """A kind of file.

    Attributes:
        module: of this room, with ``export_<format>(job, file)``; imported on first use, since some are slow to import.
        suffixes: how names of such files end, the usual one first.
        description: of what is in it, in a few words.
        has_image_size: whether it is made of pictures, which have a size.
    """

    module: str
    suffixes: tuple[str, ...]
    description: str
    has_image_size: bool = False


FORMATS = {
    "csv": ExportFormat("trajectory_files", (".csv",), "joint trajectory as a table"),
    "npz": ExportFormat("trajectory_files", (".npz",), "joint trajectory as arrays of numpy"),
    "bvh": ExportFormat("bvh", (".bvh",), "skeleton for animation software"),
    "mot": ExportFormat("opensim", (".mot",), "base and joints in degrees, for OpenSim"),
    "trc": ExportFormat("opensim", (".trc",), "markers, or joint centers and parts of a robot, for motion capture"),
    "mcap": ExportFormat("mcap_log", (".mcap",), "all channels and link poses, for Foxglove"),
    "html": ExportFormat("html_viewer", (".html", ".htm"), "page that plays the motion in a browser"),
    "mp4": ExportFormat("video", (".mp4",), "film", has_image_size=True),
}


def format_of(path: str | PathLike[str], name: str | None = None) -> str:
    """The name of a format, if it is one; without a name, that which the file's name ends in."""
    if name is None:
        suffix = Path(path).suffix.lower()
        name = next(
            (known for known, export_format in FORMATS.items() if suffix in export_format.suffixes), suffix.lstrip(".")
        )
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
    export_format = FORMATS[name]
    target = checked_path(path, export_format.suffixes)
    if rate is not None and not 0.0 < rate <= 1e6:
        raise ExportError(f"a rate of {rate:g} Hz is no rate; expected a positive number of samples a second")
    job = ExportJob(recording, robot, rate, size, progress or (lambda time: None))
    try:
        with atomic_write(target) as file:
            getattr(import_module(f"poise.exports.{export_format.module}"), f"export_{name}")(job, file)
    except OSError as error:
        message = f"{target} cannot be written: {failure_reason(error)}; give another place or make room"
        raise ExportError(message, str(target)) from None
    return target
