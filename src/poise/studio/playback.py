"""Playback: a recording on the stage of the studio."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from poise.recording import Recording
from poise.robots import Robot
from poise.studio.viewer import Scenery


class Playback:
    """Shows a recording at any time of it.

    Args:
        file: its name.
        recording: what is shown.
        robot: who moved.

    Attributes:
        playing, pace: whether and how fast time goes on by itself.
    """

    def __init__(self, file: str, recording: Recording, robot: Robot) -> None:
        self.file, self._recording, self._robot = file, recording, robot
        self.playing, self.pace = False, 1.0
        self._time, self._since = 0.0, time.monotonic()
        self._number = 0

    def seek(self, seconds: float) -> None:
        """To a time since its begin (s)."""
        self._time, self._since = min(max(seconds, 0.0), self._recording.duration), time.monotonic()

    @property
    def time(self) -> float:
        """Since its begin (s)."""
        now = time.monotonic()
        if self.playing:
            self._time = min(self._time + self.pace * (now - self._since), self._recording.duration)
            self.playing = self._time < self._recording.duration
        self._since = now
        return self._time

    @property
    def _index(self) -> int:
        recording = self._recording
        return int(np.clip(np.searchsorted(recording.time - recording.time[0], self.time), 0, len(recording) - 1))

    def scenery(self) -> Scenery:
        state = self._recording.state(self._index, self._robot)
        return Scenery.of(state)

    def numbers(self) -> dict[str, Any]:
        """What pages are told instead of the simulation's."""
        self._number += 1
        now = self.time
        recording, index = self._recording, self._index
        phase = str(recording["phase"][index]) if "phase" in recording else ""
        replay = {"file": self.file, "time": round(now, 3), "duration": round(recording.duration, 3)}
        return {
            "number": -self._number,
            "time": round(float(recording.time[index]), 3),
            "phase": phase,
            "fallback": str(recording["fallback"][index]) if "fallback" in recording else "",
            "playing": self.playing,
            "pace": self.pace,
            "levels": [],
            "limits": [],
            "explain": [],
            "words": [f"replay of {self.file}"],
            "replay": replay,
        }
