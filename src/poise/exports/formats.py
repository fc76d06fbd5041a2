"""Export of recordings: table of file formats, the request that a format writer receives, and `save`.

A format is an entry of `FORMATS` and a function ``export_<format>(job, file)`` in the module that the entry names.
"""

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

#: Largest rate of an export (Hz). Recordings have at most 1000 samples a second; the rest is interpolation.
MAX_RATE = 1e4


def checked_path(path: str | PathLike[str], suffixes: tuple[str, ...]) -> Path:
    """Check that an output file can be written and has one of the suffixes, and return its path with links resolved.

    Called before any computation, so that a wrong path fails at once.

    Raises:
        ExportError: the path is a folder, is in a folder that does not exist, or has another suffix.
    """
    example = f"motion{suffixes[0]}"
    return writable_path(path, lambda message: ExportError(message, str(path)), example=example, suffixes=suffixes)


# -- Export request --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ExportRequest:
    """Input of a format writer: a recording and the options of the export.

    Args:
        recording: recording to export.
        model: robot of the recording; None: look it up by its name in the recording.
        rate: samples or frames per second (Hz); None: default of the format.
        size: width and height of video frames in pixels.
        progress: called with the time of the motion that has been written so far (s).
    """

    recording: Recording
    model: Robot | None = None
    rate: float | None = None
    size: tuple[int, int] = (1280, 720)
    progress: Callable[[float], object] = lambda time: None

    @cached_property
    def full_trajectory(self) -> Trajectory:
        """The motion with all samples of the recording."""
        return Trajectory.of(self.recording)

    def trajectory(self, usual: float | None = None) -> Trajectory:
        """Return the motion at the requested rate, else at the rate ``usual`` (Hz), else with all samples."""
        rate = self.rate or usual
        return self.full_trajectory if rate is None else self.full_trajectory.resample(rate)

    def states(self, rate: float) -> list[State]:
        """Return the motion as states of the robot at a rate (Hz), with their contacts if these were recorded."""
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
        """Robot of the recording.

        Raises:
            ExportError: the recording holds no motion, or its robot is unknown or has other joints.
        """
        joints = self.full_trajectory.joints  # first, so that a recording without motion fails with its own error
        robot = self.model or self.recording.robot or _find_robot(self.recording)
        if joints != CoordinateLabels.of(robot).joints:
            name = self.recording.provenance.get("robot", "?")
            message = f"the recording is of '{name}', whose joints differ from '{robot.name}'; pass its own robot"
            raise ExportError(message)
        return robot


def _find_robot(recording: Recording) -> Robot:
    """Load the robot by the name, or from the file, that the recording gives."""
    robot = robot_from_provenance(recording.provenance)
    if isinstance(robot, Robot):
        return robot
    raise ExportError(f"the robot of the recording is unknown: {robot}; pass it with --robot (robot= in Python)")


# -- Export formats --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ExportFormat:
    """File format of an export.

    Attributes:
        module: module of `poise.exports` with ``export_<format>(job, file)``; imported on first use, since some take
            long to import.
        suffixes: file suffixes of the format, the default first.
        description: content of the file, in a few words.
        has_image_size: whether the format consists of images and uses the ``size`` option.
        is_for_people: whether only recordings of the human model can be written.
    """

    module: str
    suffixes: tuple[str, ...]
    description: str
    has_image_size: bool = False
    is_for_people: bool = False


FORMATS = {
    "csv": ExportFormat("joint_trajectory", (".csv",), "joint trajectory as a table"),
    "npz": ExportFormat("joint_trajectory", (".npz",), "joint trajectory as numpy arrays"),
    "bvh": ExportFormat("motion_capture_files", (".bvh",), "skeleton for animation software"),
    "mot": ExportFormat("motion_capture_files", (".mot",), "base and joints in degrees, in the axes of Poise"),
    "opensim": ExportFormat(
        "opensim_files", (".mot",), "motion of a person in the coordinates of its OpenSim model", is_for_people=True
    ),
    "osim": ExportFormat("opensim_files", (".osim",), "body of a person as an OpenSim model", is_for_people=True),
    "grf": ExportFormat(
        "opensim_files", (".mot",), "measured ground forces on both feet, for OpenSim", is_for_people=True
    ),
    "trc": ExportFormat(
        "motion_capture_files", (".trc",), "markers, or joint centers of a robot, for motion capture software"
    ),
    "mcap": ExportFormat("mcap_log", (".mcap",), "all channels and link poses, for Foxglove"),
    "html": ExportFormat("animations", (".html", ".htm"), "page that plays the motion in a browser"),
    "mp4": ExportFormat("animations", (".mp4",), "video", has_image_size=True),
}


def format_of(path: str | PathLike[str], name: str | None = None) -> str:
    """Return the format of a file: ``name`` if given, else the format of the file suffix.

    Raises:
        ExportError: there is no such format.
    """
    if name is None:
        suffix = Path(path).suffix.lower()
        name = next(
            (known for known, export_format in FORMATS.items() if suffix in export_format.suffixes), suffix.lstrip(".")
        )
    if not name:
        raise ExportError(f"'{path}' has no suffix that names a format; {suggestion('', FORMATS)}", str(path))
    if name not in FORMATS:
        raise ExportError(f"unknown format '{name}'; {suggestion(name, FORMATS)}", str(path))
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
    """Export a recording to a file; the file is written atomically, completely or not at all.

    Args:
        recording: recording to export.
        path: file to write.
        format: a key of `FORMATS`; None: chosen by the suffix of the path.
        robot: robot of the recording; None: look it up by its name in the recording. csv, npz and mot do not need it.
        rate: samples or frames per second (Hz); None: every sample, but 60 for bvh and 30 for html and mp4.
        size: width and height of a video in pixels.
        progress: called with the time of the motion that has been written so far (s).

    Returns:
        Path of the written file.

    Raises:
        ExportError: the recording cannot be exported, or the file cannot be written.

    >>> save(recording, "walk.bvh")
    """
    name = format_of(path, format)
    export_format = FORMATS[name]
    target = checked_path(path, export_format.suffixes)
    if rate is not None and not 0.0 < rate <= MAX_RATE:
        raise ExportError(f"rate is {rate:g} Hz; expected a positive number up to {MAX_RATE:g}")
    job = ExportRequest(recording, robot, rate, size, progress or (lambda time: None))
    try:
        with atomic_write(target) as file:
            getattr(import_module(f"poise.exports.{export_format.module}"), f"export_{name}")(job, file)
    except OSError as error:
        message = f"{target} cannot be written: {failure_reason(error)}; choose another path or free disk space"
        raise ExportError(message, str(target)) from None
    return target
