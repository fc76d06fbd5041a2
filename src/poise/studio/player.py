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
from poise.studio.controls import number
from poise.studio.fit_data import Exhibit, Reproduced
from poise.studio.scenery import Point, Scenery, link_poses


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
            "fallback": str(recording["control/fallback"][index]) if "control/fallback" in recording else "",
        }


# -- Gait playback ---------------------------------------------------------------------------------------------------


#: What is played: one cycle, which is what is reproduced, or everything.
PARTS = CYCLE, WHOLE = ("gait cycle", "whole trial")
#: From where a walk is seen, when it goes along x: from the right, where knees are seen to bend, and a little ahead.
SEEN_FROM = (0.55, -1.0, 0.3)
#: The ghost goes beside the body by so much at most (m).
FARTHEST = 2.0


class GaitPlayback(Player):
    """Plays an exhibit, over and over.

    Args:
        exhibit: what is shown.
        values: of the controls: "variant", "part", "apart" (m) and "markers" (whether they are shown).

    Attributes:
        robot: the body.
    """

    def __init__(self, exhibit: Exhibit, values: Callable[[], Mapping[str, Any]]) -> None:
        super().__init__(exhibit.title, again=True)
        self.exhibit, self._values = exhibit, values
        shape = exhibit.shape
        self.robot: Robot = load_robot(
            "human", height=shape.height, mass=shape.mass, sex=shape.sex, shape=shape.numbers()
        )
        self.playing = True

    @property
    def look(self) -> Point:
        """From where it is seen."""
        (c, s), (x, y, z) = self.exhibit.heading[:2], SEEN_FROM
        return float(c * x - s * y), float(s * x + c * y), z

    @property
    def _part(self) -> tuple[float, float]:
        """Begin and end of what is played, on the clock of the trial (s)."""
        cycle, time = self.exhibit.cycle, self.exhibit.time
        whole = cycle is None or self._values().get("part") == WHOLE
        if whole or cycle is None:
            return float(time[0]), float(time[-1])
        return cycle.initial_contact, cycle.end

    @property
    def duration(self) -> float:
        begin, end = self._part
        return end - begin

    @property
    def reproduced(self) -> Reproduced | None:
        """What is shown beside the body."""
        known = self.exhibit.reproduced
        return known.get(str(self._values().get("variant"))) or next(iter(known.values()), None)

    def scenery(self) -> Scenery:
        values, exhibit = self._values(), self.exhibit
        now = self._part[0] + self.time
        index = _index(exhibit.time, now)
        body = State(self.robot, exhibit.q[index])
        c, s = exhibit.heading[:2]
        beside = number(values.get("apart"), 0.0, FARTHEST) * np.array([-s, c, 0.0])  # to the left
        poses = {"robot": link_poses(body)}
        other = self.reproduced
        if other is not None and other.time[0] - 1e-6 <= now <= other.time[-1] + 1e-6:
            poses["ghost"] = link_poses(State(self.robot, other.q[_index(other.time, now)]))
            poses["ghost"][:, :3] += beside
        shown = values.get("markers", True)
        markers = {"known": exhibit.markers[index], "other": exhibit.others[index]} if shown else None
        follow = np.array(body.q[:3]) + (0.5 * beside if other is not None else 0.0)
        return Scenery.of(body, poses=poses, center=None, follow=follow, markers=markers)

    def numbers(self) -> dict[str, Any]:
        now, cycle = self._part[0] + self.time, self.exhibit.cycle
        share = None if cycle is None else cycle.share(now) / 100.0
        inside = share is not None and 0.0 <= share <= 1.0
        return {
            **self._told(list(self.exhibit.words)),
            "time": round(now, 3),
            "phase": f"{share:.0%} of the gait cycle" if inside else "",
            "share": round(share, 4) if share is not None and inside else None,
        }


def _index(time: Array, now: float) -> int:
    """The frame next to a time (s)."""
    after = int(np.clip(np.searchsorted(time, now), 1, len(time) - 1))
    return after if time[after] - now < now - time[after - 1] else after - 1
