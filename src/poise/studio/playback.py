"""Playback: what is over and can be seen again, on the stage of the studio."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from poise.recording import Recording
from poise.robots import Robot
from poise.studio.viewer import Scenery


class Player(ABC):
    """Something with a beginning and an end that is played: it can be stopped, slowed down and moved through.

    Args:
        file: its name.
        again: whether it begins anew when it has ended.

    Attributes:
        playing, pace: whether and how fast time goes on by itself.
    """

    def __init__(self, file: str, again: bool = False) -> None:
        self.file, self._again = file, again
        self.playing, self.pace = False, 1.0
        self._time, self._since = 0.0, time.monotonic()
        self._number = 0

    @property
    @abstractmethod
    def duration(self) -> float:
        """How long it is (s)."""

    @abstractmethod
    def scenery(self) -> Scenery:
        """What is seen now."""

    @abstractmethod
    def numbers(self) -> dict[str, Any]:
        """What pages are told instead of the simulation's."""

    def seek(self, seconds: float) -> None:
        """To a time since its begin (s)."""
        self._time, self._since = min(max(seconds, 0.0), self.duration), time.monotonic()

    @property
    def time(self) -> float:
        """Since its begin (s)."""
        now, end = time.monotonic(), self.duration
        if self.playing:
            self._time += self.pace * (now - self._since)
            if self._time >= end:
                self.playing = self._again
                self._time = self._time % end if self._again and end > 0.0 else end
        self._since = now
        return min(self._time, end)

    def _told(self, words: list[str]) -> dict[str, Any]:
        """What pages are told of anything that is played."""
        self._number += 1
        return {
            "number": -self._number,
            "phase": "",
            "fallback": "",
            "playing": self.playing,
            "pace": self.pace,
            "levels": [],
            "limits": [],
            "explain": [],
            "words": words,
            "replay": {"file": self.file, "time": round(self.time, 3), "duration": round(self.duration, 3)},
        }


class Playback(Player):
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
    def _index(self) -> int:
        recording = self._recording
        return int(np.clip(np.searchsorted(recording.time - recording.time[0], self.time), 0, len(recording) - 1))

    def scenery(self) -> Scenery:
        state = self._recording.state(self._index, self._robot)
        return Scenery.of(state)

    def numbers(self) -> dict[str, Any]:
        recording, index = self._recording, self._index
        return {
            **self._told([f"replay of {self.file}"]),
            "time": round(float(recording.time[index]), 3),
            "phase": str(recording["phase"][index]) if "phase" in recording else "",
            "fallback": str(recording["fallback"][index]) if "fallback" in recording else "",
        }
