"""Stand and squat: keep the balance while somebody pushes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from poise.behaviors.stand import above_support
from poise.behaviors.upright import UprightSettings, leg_length, upright
from poise.behaviors.walk import Walk
from poise.control import Step, TorqueController
from poise.plants import MujocoPlant
from poise.robots import Robot
from poise.studio.controls import Choice, Control, Slider, Switch, chosen, number
from poise.studio.pushing import PushedScene
from poise.studio.scenes.scene import Act
from poise.tasks import Led

WAYS = ("ankles", "steps")
#: Depth, and how often, are taken over within this time (s).
CHANGE = 0.5


class StandScene(PushedScene):
    """Stands on its ankles, squatting if it is asked to, or catches itself by steps."""

    name, title, order = "stand", "Stand & squat", 2
    hint = "Push with the button, or drag the arrow that hangs before the robot; let it squat meanwhile."

    def __init__(self, robot: Robot) -> None:
        super().__init__(robot)
        self.way, self.squatting, self.depth, self.frequency = "ankles", False, 0.12, 0.5
        self._leg = leg_length(robot)
        self._phase = self._deep = 0.0
        self.walk: Walk | None = None
        self._center: Led | None = None

    def acts(self) -> dict[str, Act]:
        self.plant = plant = MujocoPlant(self.robot)
        start = plant.state()
        self.walk = self._center = None
        self._phase = self._deep = 0.0
        if self.way == "steps":
            self.walk = Walk(self.robot, steps=0, start=start)
            return {"robot": Act(TorqueController(self.walk), plant)}
        self._high = above_support(start)
        self._center = Led(self._high)
        behavior = upright(start, self._center, UprightSettings())
        return {"robot": Act(TorqueController(behavior), plant)}

    # -- controls --------------------------------------------------------------------------------------------------

    def controls(self) -> list[Control]:
        return [
            Choice(name="way", label="keeps balance by", group="Stand", options=WAYS, value=self.way,
                   help="ankles alone, or a step where they are not enough"),
            Switch(name="squatting", label="squat", group="Squat", value=self.squatting),
            Slider(name="depth", label="depth", group="Squat", low=0.0, high=0.3, step=0.01, unit="leg lengths",
                   value=self.depth),
            Slider(name="frequency", label="squats a second", group="Squat", low=0.1, high=1.0, step=0.05, unit="1/s",
                   value=self.frequency),
            *self.pushes.controls(),
        ]  # fmt: skip

    def values(self) -> dict[str, Any]:
        own = {"way": self.way, "squatting": self.squatting, "depth": self.depth, "frequency": self.frequency}
        return {**own, **self.pushes.values()}

    def do(self, name: str, value: Any) -> str:
        if name == "way":
            self.way = chosen(value, WAYS)
            self.stale = True
        elif name == "squatting":
            self.squatting = bool(value)
            if self.squatting and self.way == "steps":
                self.way, self.stale = "ankles", True
                return "squats stand on both feet: balance is now kept by the ankles"
        elif name == "depth":
            self.depth = number(value, 0.0, 0.3)
        elif name == "frequency":
            self.frequency = number(value, 0.1, 1.0)
        elif self.plant is not None:
            return self.pushes.do(name, value, self.plant)
        return ""

    def leave(self) -> None:
        self.squatting = False

    # -- squatting -------------------------------------------------------------------------------------------------

    def tick(self, steps: Mapping[str, Step]) -> None:
        """The height of the centre of mass goes like a cosine, whose depth and frequency may change."""
        if self._center is None:
            return
        period = steps["robot"].command.period
        wanted = self.depth * self._leg if self.squatting else 0.0
        self._deep += period / CHANGE * (wanted - self._deep)
        turning = math.tau * self.frequency if self._deep > 1e-4 else 0.0
        self._phase = (self._phase + period * turning) % math.tau if self._deep > 1e-4 else 0.0
        half, c, s = 0.5 * self._deep, math.cos(self._phase), math.sin(self._phase)
        up = np.array([0.0, 0.0, 1.0])
        self._center.lead(self._high - half * (1.0 - c) * up, -half * turning * s * up, -half * turning**2 * c * up)

    # -- what is the case ------------------------------------------------------------------------------------------

    def words(self) -> list[str]:
        if self.plant is None:
            return []
        if self.plant.fallen:
            return ["It has fallen; reset to begin anew."]
        if self.walk is not None:
            return [f"{self.walk.phase().steps} steps taken to catch itself"]
        return ["squats" if self.squatting else "stands on its ankles"]

    def facts(self) -> dict[str, Any]:
        return {"behavior": "squat" if self.squatting else "stand"}
