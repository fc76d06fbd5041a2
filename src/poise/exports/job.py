"""Job: one recording on its way into one file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from poise.exports.errors import ExportError
from poise.exports.trajectory import Trajectory
from poise.recording import Recording
from poise.recording.body import Body
from poise.recording.whose import named_robot
from poise.robots import Robot, State


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
