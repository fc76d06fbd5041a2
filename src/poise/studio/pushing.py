"""Pushes of a user: by a button with size and direction, or by dragging a handle that hangs on the robot."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from poise.plants import MujocoPlant, Push
from poise.robots import Robot
from poise.studio.controls import Button, Control, Slider, number
from poise.studio.scenes.scene import Point, Scene

#: Pushes go up to this share of the weight, which for 0.1 s no walk withstands.
HARDEST = 0.8
#: A push to begin with, as a share of the weight: G1 while it walks takes it in any direction.
USUAL = 0.18
#: The handle hangs so far before the base and above it, as shares of the height; drawn away by a metre it pulls with
#: twice the weight.
AHEAD, UP, STIFF = 0.25, 0.15, 2.0
#: A handle pulls for so long (s) after it was moved last: pages tell thirty times a second.
LASTS = 0.05


class Pushes:
    """Size, direction and duration of pushes, and the handle.

    Args:
        robot: who is pushed.
    """

    def __init__(self, robot: Robot) -> None:
        self._weight = 9.81 * robot.mass
        self._offset = np.array([AHEAD * robot.height, 0.0, UP * robot.height])
        self._most = round(HARDEST * self._weight, -1)
        self.size, self.direction, self.duration = float(round(USUAL * self._weight)), 0.0, 0.1
        self._pulled: np.ndarray | None = None
        self._until = -math.inf

    def controls(self) -> list[Control]:
        return [
            Button(name="push", label="push", group="Push", help="pushes the base, as set below"),
            Slider(name="push.size", label="force", group="Push", low=0.0, high=self._most, step=1.0, unit="N",
                   value=self.size),
            Slider(name="push.direction", label="direction", group="Push", low=-180.0, high=180.0, step=5.0,
                   unit="degrees", value=self.direction, help="0 pushes ahead, 90 to the left"),
            Slider(name="push.duration", label="duration", group="Push", low=0.02, high=0.5, step=0.01, unit="s",
                   value=self.duration),
        ]  # fmt: skip

    def values(self) -> dict[str, Any]:
        return {"push.size": self.size, "push.direction": self.direction, "push.duration": self.duration}

    def do(self, name: str, value: Any, plant: MujocoPlant) -> str:
        """A control was used; what to tell."""
        if name == "push.size":
            self.size = number(value, 0.0, self._most)
        elif name == "push.direction":
            self.direction = number(value, -180.0, 180.0)
        elif name == "push.duration":
            self.duration = number(value, 0.02, 0.5)
        elif name == "push":
            angle = math.radians(self.direction) + _heading(plant)
            force = (self.size * math.cos(angle), self.size * math.sin(angle), 0.0)
            plant.push(Push(force, self.duration, plant.time))
            return f"pushed with {self.size:.0f} N for {self.duration:g} s"
        return ""

    def gizmos(self, plant: MujocoPlant) -> dict[str, Point]:
        if plant.time >= self._until:
            self._pulled = None
        x, y, z = self._rests(plant) if self._pulled is None else self._pulled
        return {"push": (float(x), float(y), float(z))}

    def drag(self, place: Point, plant: MujocoPlant) -> None:
        """The handle was drawn there (m): like on a rubber band, the further the harder."""
        self._pulled = np.array(place)
        if plant.time < self._until:
            return
        force = STIFF * self._weight * (self._pulled - self._rests(plant))
        force *= min(1.0, self._most / max(float(np.linalg.norm(force)), 1e-9))
        plant.push(Push(force.tolist(), LASTS, plant.time))
        self._until = plant.time + LASTS

    def _rests(self, plant: MujocoPlant) -> np.ndarray:
        c, s = math.cos(_heading(plant)), math.sin(_heading(plant))
        turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        return np.asarray(plant.truth().q[:3] + turn @ self._offset)


def _heading(plant: MujocoPlant) -> float:
    """Where the feet point (rad): not every base looks ahead."""
    state = plant.truth()
    ahead = sum((state.pose(foot).rotation[:2, 0] for foot in state.robot.feet), np.zeros(2))
    return math.atan2(ahead[1], ahead[0])


class PushedScene(Scene):
    """A scene whose robot can be pushed; it keeps its plant in `plant`."""

    def __init__(self, robot: Robot) -> None:
        super().__init__(robot)
        self.pushes = Pushes(robot)
        self.plant: MujocoPlant | None = None

    def gizmos(self) -> dict[str, Point]:
        return {} if self.plant is None else self.pushes.gizmos(self.plant)

    def drag(self, name: str, place: Point) -> None:
        if self.plant is not None:
            self.pushes.drag(place, self.plant)
