"""Players of recordings, and of measured walks beside their reproduction."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from poise.arrays import Array
from poise.recording import Recording
from poise.robots import Robot, State, load_robot
from poise.studio.controls import clamp_number
from poise.studio.fit_data import GaitResult, ReproducedCycle
from poise.viewer import Point, ViewFrame, joint_poses


class Player(ABC):
    """Something with a beginning and an end that is played: it can be stopped, slowed down and moved through.

    Args:
        file: its name.
        loop: whether it begins anew when it has ended.

    Attributes:
        playing, time_scale: whether and how fast time goes on by itself.
    """

    def __init__(self, file: str, loop: bool = False) -> None:
        self.file, self._loop = file, loop
        self.playing, self.time_scale = False, 1.0
        self._time, self._last_update = 0.0, time.monotonic()
        self._number = 0

    @property
    @abstractmethod
    def duration(self) -> float:
        """How long it is (s)."""

    @abstractmethod
    def view_frame(self) -> ViewFrame:
        """What is seen now."""

    @abstractmethod
    def page_data(self) -> dict[str, Any]:
        """What pages are told instead of the simulation's."""

    def seek(self, seconds: float) -> None:
        """To a time since its begin (s)."""
        self._time, self._last_update = min(max(seconds, 0.0), self.duration), time.monotonic()

    @property
    def time(self) -> float:
        """Since its begin (s)."""
        now, end = time.monotonic(), self.duration
        if self.playing:
            self._time += self.time_scale * (now - self._last_update)
            if self._time >= end:
                self.playing = self._loop
                self._time = self._time % end if self._loop and end > 0.0 else end
        self._last_update = now
        return min(self._time, end)

    def _common_data(self, lines: list[str]) -> dict[str, Any]:
        """What pages are told of anything that is played."""
        self._number += 1
        return {
            "number": -self._number,
            "phase": "",
            "fallback": "",
            "playing": self.playing,
            "time_scale": self.time_scale,
            "levels": [],
            "limits": [],
            "explanation": [],
            "status_lines": lines,
            "replay": {"file": self.file, "time": round(self.time, 3), "duration": round(self.duration, 3)},
        }


class RecordingPlayer(Player):
    """Shows a recording at any time of it.

    Args:
        file: its name.
        recording: what is shown.
        robot: who moved.
    """

    def __init__(self, file: str, recording: Recording, robot: Robot) -> None:
        super().__init__(file)
        self._recording, self._robot = recording, robot

    @property
    def duration(self) -> float:
        return self._recording.duration

    @property
    def _frame_index(self) -> int:
        recording = self._recording
        return int(np.clip(np.searchsorted(recording.time - recording.time[0], self.time), 0, len(recording) - 1))

    def view_frame(self) -> ViewFrame:
        state = self._recording.state(self._frame_index, self._robot)
        return ViewFrame.from_state(state)

    def page_data(self) -> dict[str, Any]:
        recording, index = self._recording, self._frame_index
        return {
            **self._common_data([f"replay of {self.file}"]),
            "time": round(float(recording.time[index]), 3),
            "phase": str(recording["phase"][index]) if "phase" in recording else "",
            "fallback": str(recording["control/fallback"][index]) if "control/fallback" in recording else "",
        }


# -- GaitPlayer ------------------------------------------------------------------------------------------------------


#: What is played: one cycle, which is what is reproduced, or everything.
PLAY_RANGES = CYCLE, WHOLE_TRIAL = ("gait cycle", "whole trial")
#: From where a walk is seen, when it goes along x: from the right, where knees are seen to bend, and a little ahead.
SIDE_VIEW = (0.55, -1.0, 0.3)
#: The ghost goes beside the body by so much at most (m).
MAX_GHOST_OFFSET = 2.0


class GaitPlayer(Player):
    """Plays a gait result, over and over.

    Args:
        result: what is shown.
        values: of the controls: "variant", "play_range", "ghost_offset" (m) and "show_markers".

    Attributes:
        robot: the body.
    """

    def __init__(self, result: GaitResult, values: Callable[[], Mapping[str, Any]]) -> None:
        super().__init__(result.title, loop=True)
        self.result, self._values = result, values
        shape = result.shape
        self.robot: Robot = load_robot(
            "human", height=shape.height, mass=shape.mass, sex=shape.sex, shape=shape.parameters()
        )
        self.playing = True

    @property
    def camera_direction(self) -> Point:
        """From where it is seen."""
        (c, s), (x, y, z) = self.result.heading[:2], SIDE_VIEW
        return float(c * x - s * y), float(s * x + c * y), z

    @property
    def _play_range(self) -> tuple[float, float]:
        """Begin and end of what is played, on the clock of the trial (s)."""
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
        """What is shown beside the body."""
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
    """The frame next to a time (s)."""
    after = int(np.clip(np.searchsorted(time, now), 1, len(time) - 1))
    return after if time[after] - now < now - time[after - 1] else after - 1
