"""Players of recordings, and of measured walks beside their reproduction, for the 3D view and the pages."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np

from poise.arrays import Array
from poise.recording import Recording
from poise.robots import Robot, State, load_robot
from poise.studio.controls import clamp_number
from poise.studio.fit_data import GaitResult, ReproducedCycle
from poise.studio.recorded_telemetry import RecordedTelemetry
from poise.studio.scene_runner import late_steps
from poise.viewer import Point, ViewFrame, joint_poses


class Player(ABC):
    """Base class of players: playback that can be paused, slowed down and moved to any time.

    Args:
        file: name of the file that is played.

    Attributes:
        playing: whether time advances.
        loop: whether to start again at the end.
        time_scale: played time per real time.
        limbs: names of the limbs whose torques can be shown.
    """

    #: Whether the controls of the scene act on what is played.
    uses_controls: ClassVar[bool] = False

    def __init__(self, file: str) -> None:
        self.file, self.loop = file, True
        self.playing, self.time_scale = True, 1.0
        self.limbs: tuple[str, ...] = ()
        self._time, self._last_update = 0.0, time.monotonic()
        self._number = 0

    @property
    @abstractmethod
    def duration(self) -> float:
        """Duration (s)."""

    @abstractmethod
    def view_frame(self) -> ViewFrame:
        """Return the frame of the 3D view at the current time."""

    @abstractmethod
    def page_data(self) -> dict[str, Any]:
        """Return data for pages, which replace those of the simulation."""

    def play(self, on: bool) -> None:
        """Play or pause; at the end, play from the beginning."""
        if on and self.time >= self.duration:
            self.seek(0.0)
        self.playing = on

    def seek(self, seconds: float) -> None:
        """Move to a time since the beginning (s), clamped to the duration."""
        self._time, self._last_update = min(max(seconds, 0.0), self.duration), time.monotonic()

    @property
    def time(self) -> float:
        """Current time since the beginning (s)."""
        now, end = time.monotonic(), self.duration
        if self.playing:
            self._time += self.time_scale * (now - self._last_update)
            if self._time >= end:
                self.playing = self.loop
                self._time = self._time % end if self.loop and end > 0.0 else end
        self._last_update = now
        return min(self._time, end)

    def _common_data(self, lines: list[str]) -> dict[str, Any]:
        """Return the data for pages that all players have in common, with the given status lines."""
        self._number += 1
        return {
            "number": -self._number,
            "phase": "",
            "fallback": "",
            "fall_reason": "",
            "playing": self.playing,
            "time_scale": self.time_scale,
            "real_time_factor": self.time_scale if self.playing else 0.0,
            "input_timed_out": False,
            "events": [],
            "guidance": None,
            "levels": [],
            "timing": late_steps([], 0.0),
            "limits": [],
            "explanation": [],
            "status_lines": lines,
            "replay": {
                "file": self.file,
                "time": round(self.time, 3),
                "duration": round(self.duration, 3),
                "loop": self.loop,
                "uses_controls": self.uses_controls,
            },
        }


class RecordingPlayer(Player):
    """Player of a recording.

    Args:
        file: name of the recording.
        recording: recording to play.
        robot: recorded robot.
        limb: returns the name of the limb whose torques are shown.
    """

    def __init__(self, file: str, recording: Recording, robot: Robot, limb: Callable[[], str] = str) -> None:
        super().__init__(file)
        self._recording, self._limb = recording, limb
        self._telemetry = RecordedTelemetry(recording, robot)
        self.limbs = tuple(self._telemetry.limbs)

    @property
    def duration(self) -> float:
        return self._recording.duration

    @property
    def _frame_index(self) -> int:
        recording = self._recording
        return int(np.clip(np.searchsorted(recording.time - recording.time[0], self.time), 0, recording.samples - 1))

    def view_frame(self) -> ViewFrame:
        return self._telemetry.view_frame(self._frame_index)

    def page_data(self) -> dict[str, Any]:
        provenance = self._recording.provenance
        facts = [f"{name} {provenance[name]}" for name in ("robot", "behavior", "style") if provenance.get(name)]
        lines = [f"replay of {self.file}", ", ".join(facts)]
        return {
            **self._common_data([line for line in lines if line]),
            **self._telemetry.page_data(self._frame_index, self._limb()),
        }


# -- GaitPlayer ------------------------------------------------------------------------------------------------------


#: What is played: the gait cycle that is reproduced, or the whole trial.
PLAY_RANGES = CYCLE, WHOLE_TRIAL = ("gait cycle", "whole trial")
#: Direction from the subject to the camera for a walk along x: from the right, where knee flexion is visible, and
#: slightly from the front.
SIDE_VIEW = (0.55, -1.0, 0.3)
#: Largest lateral distance between the body and the ghost (m).
MAX_GHOST_OFFSET = 2.0


class GaitPlayer(Player):
    """Player of a gait result, in a loop: the fitted body, and beside it a reproduction as a ghost.

    Args:
        result: result to play.
        values: returns the values of the controls "variant", "play_range", "ghost_offset" (m) and "show_markers".

    Attributes:
        result: result that is played.
        robot: human model with the shape of the subject.
    """

    uses_controls = True

    def __init__(self, result: GaitResult, values: Callable[[], Mapping[str, Any]]) -> None:
        super().__init__(result.title)
        self.result, self._values = result, values
        shape = result.shape
        self.robot: Robot = load_robot(
            "human", height=shape.height, mass=shape.mass, sex=shape.sex, shape=shape.parameters()
        )

    @property
    def camera_direction(self) -> Point:
        """Direction from the subject to the camera: `SIDE_VIEW`, turned to the walking direction."""
        (c, s), (x, y, z) = self.result.heading[:2], SIDE_VIEW
        return float(c * x - s * y), float(s * x + c * y), z

    @property
    def _play_range(self) -> tuple[float, float]:
        """Start and end of the played interval, in the time of the trial (s)."""
        cycle, time = self.result.cycle, self.result.time
        whole = cycle is None or self._values().get("play_range") == WHOLE_TRIAL
        if whole or cycle is None:
            return float(time[0]), float(time[-1])
        return cycle.initial_contact, cycle.end

    @property
    def duration(self) -> float:
        begin, end = self._play_range
        return end - begin

    @property
    def reproduction(self) -> ReproducedCycle | None:
        """The reproduced cycle that is shown as a ghost; None if there is none."""
        reproductions = self.result.reproductions
        return reproductions.get(str(self._values().get("variant"))) or next(iter(reproductions.values()), None)

    def view_frame(self) -> ViewFrame:
        values, result = self._values(), self.result
        now = self._play_range[0] + self.time
        index = _frame_index(result.time, now)
        body = State(self.robot, result.q[index])
        c, s = result.heading[:2]
        ghost_shift = clamp_number(values.get("ghost_offset"), 0.0, MAX_GHOST_OFFSET) * np.array(
            [-s, c, 0.0]
        )  # to the left
        poses = {"robot": joint_poses(body)}
        reproduction = self.reproduction
        if reproduction is not None and reproduction.time[0] - 1e-6 <= now <= reproduction.time[-1] + 1e-6:
            poses["ghost"] = joint_poses(State(self.robot, reproduction.q[_frame_index(reproduction.time, now)]))
            poses["ghost"][:, :3] += ghost_shift
        show_markers = values.get("show_markers", True)
        markers = {"known": result.markers[index], "unknown": result.unknown_markers[index]} if show_markers else None
        camera_target = np.array(body.q[:3]) + (0.5 * ghost_shift if reproduction is not None else 0.0)
        return ViewFrame.from_state(
            body, poses=poses, center_of_mass=None, camera_target=camera_target, markers=markers
        )

    def page_data(self) -> dict[str, Any]:
        now, cycle = self._play_range[0] + self.time, self.result.cycle
        share = None if cycle is None else cycle.percent_at(now) / 100.0
        in_cycle = share is not None and 0.0 <= share <= 1.0
        return {
            **self._common_data(list(self.result.summary)),
            "time": round(now, 3),
            "phase": f"{share:.0%} of the gait cycle" if in_cycle else "",
            "cycle_share": round(share, 4) if share is not None and in_cycle else None,
        }


def _frame_index(time: Array, now: float) -> int:
    """Return the index of the frame nearest to a time (s)."""
    after = int(np.clip(np.searchsorted(time, now), 1, len(time) - 1))
    return after if time[after] - now < now - time[after - 1] else after - 1
