"""Scene Stand & squat: keep the balance while the user pushes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pinocchio

from poise.arrays import Array
from poise.behaviors import (
    Regulated,
    UprightSettings,
    Walk,
    above_support,
    regulation_of,
    standing,
    upright,
)
from poise.control import PositionController, Step, TorqueController
from poise.plans import STILL, Wanted
from poise.plants import MujocoPlant, PositionServos, Sensors
from poise.robots import Robot, leg_length
from poise.runs import NOISE
from poise.studio.controls import Choice, Control, Slider, Switch, chosen, number
from poise.studio.scene_base import AS_BUILT, DRIVES, MOTORS, Act, PushedScene, on_servos
from poise.studio.sole_pressure import Soles
from poise.tasks import Led

#: k (1/s): what is changed is taken over to 95 % within a second.
SOON = 5.0
#: Who is asked for nothing and squats by less (m) stands: less than what anybody sees.
LEAST = 1e-4


class Squats:
    """How far the centre of mass is below where it stands, like a cosine whose depth and frequency may change::

        h = -d (1 - cos φ) / 2        d̈ = k² (d* - d) - 2 k ḋ        φ̈ = k (ω* - φ̇)

    with d* the wanted depth and ω* the wanted frequency. Both come so smoothly that ḣ never jumps: servos could not
    follow that.

    Attributes:
        height, rate, acceleration: h (m) and its derivatives, now.

    >>> squats = Squats()
    >>> squats.advance(0.001, depth=0.05, frequency=0.5)
    """

    def __init__(self) -> None:
        self.rest()

    def rest(self) -> None:
        """Stands, at once."""
        self._deep = self._deepening = self._phase = self._turning = 0.0
        self.height = self.rate = self.acceleration = 0.0

    def advance(self, period: float, depth: float, frequency: float) -> None:
        """One period (s) later, with a depth (m; zero: to stand) and a frequency (1/s) that are wanted."""
        wanted = math.tau * frequency
        if depth == 0.0 and self._deep < LEAST:
            return self.rest()
        if self._deep == 0.0:
            self._turning = wanted
        d2 = SOON**2 * (depth - self._deep) - 2.0 * SOON * self._deepening
        p2 = SOON * (wanted - self._turning)
        self._deepening += period * d2
        self._deep += period * self._deepening
        self._turning += period * p2
        self._phase = (self._phase + period * self._turning) % math.tau
        d, d1, p1, c, s = self._deep, self._deepening, self._turning, math.cos(self._phase), math.sin(self._phase)
        self.height = -0.5 * d * (1.0 - c)
        self.rate = -0.5 * (d1 * (1.0 - c) + d * p1 * s)
        self.acceleration = -0.5 * (d2 * (1.0 - c) + 2.0 * d1 * p1 * s + d * (p2 * s + p1**2 * c))


class SquatCourse:
    """Squats as a course for a body on position servos; it goes on for as long as somebody advances them.

    Args:
        center: of mass, as seen from the reference sole, when it stands (m, 3).
        other: reference_from_other.
        squats: see there.

    >>> SquatCourse(*standing(start), squats).sample(0.0).center_rate
    """

    seconds = math.inf

    def __init__(self, center: Array, other: pinocchio.SE3, squats: Squats) -> None:
        self._top, self._other, self._squats = np.array(center), other, squats

    def sample(self, time: float) -> Wanted:
        """What is wanted now; time is told by whoever advances the squats."""
        up = np.array([0.0, 0.0, 1.0])
        return Wanted(self._top + self._squats.height * up, self._squats.rate * up, self._other, STILL)


# -- Stand and squat: keep the balance while somebody pushes ---------------------------------------------------------


WAYS = ANKLES, STEPS = ("ankles", "steps")
#: Deepest squat, in leg lengths: with torque motors, and on servos, where HOAP-3 begins to rock below that.
DEEPEST, DEEPEST_ON_SERVOS = 0.3, 0.25
#: So long it stands on servos before it squats (s): meanwhile the regulation learns where the weight really is.
SETTLES = 2.0
#: Period of the control on position servos (s): that of the paper's robot. Control and physics of it take half a core.
PERIOD = 0.001


class StandScene(PushedScene):
    """Stands on its ankles, squatting if it is asked to, or catches itself by steps.

    With torque motors by the whole equation of motion; on position servos by its force cells, which regulate the ZMP
    under each foot ([Galdeano2014]), if they are allowed to.
    """

    name, title, order = "stand", "Stand & squat", 2
    hint = "Push with the button, or drag the arrow that hangs before the robot; let it squat meanwhile."

    def __init__(self, robot: Robot) -> None:
        super().__init__(robot)
        self.way, self.drives, self.regulating = ANKLES, AS_BUILT, True
        self.squatting, self.depth, self.frequency = False, 0.12, 0.5
        self._leg = leg_length(robot)
        self.squats = Squats()
        self.walk: Walk | None = None
        self.body: Regulated | None = None
        self._center: Led | None = None

    @property
    def servos(self) -> bool:
        """Whether joints are driven by position servos."""
        return on_servos(self.robot, self.drives)

    @property
    def deepest(self) -> float:
        """Of squats, in leg lengths."""
        return DEEPEST_ON_SERVOS if self.servos else DEEPEST

    @property
    def settled(self) -> bool:
        """Whether it may squat."""
        return self.body is None or (self.plant is not None and self.plant.time >= self.body.start.time + SETTLES)

    def acts(self) -> dict[str, Act]:
        self.walk = self.body = self._center = self.soles = None
        self.squats.rest()
        if self.servos:
            return {"robot": self._on_servos()}
        self.plant = plant = MujocoPlant(self.robot)
        start = plant.state()
        if self.way == STEPS:
            self.walk = Walk(self.robot, steps=0, start=start)
            return {"robot": Act(TorqueController(self.walk), plant)}
        self._high = above_support(start)
        self._center = Led(self._high)
        behavior = upright(start, self._center, UprightSettings())
        return {"robot": Act(TorqueController(behavior), plant)}

    def _on_servos(self) -> Act:
        start = self.robot.stance("standing")
        course = SquatCourse(*standing(start), self.squats)
        self.body = body = Regulated(self.robot, course, settings=regulation_of(self.robot), start=start)
        body.regulating = self.regulating
        self.soles = Soles(self.robot)
        servos, sensors = PositionServos(share=body.settings.stiffness), Sensors(noise=NOISE)
        self.plant = MujocoPlant(start, actuators=servos, sensors=sensors)
        return Act(PositionController(body, period=PERIOD), self.plant)

    # -- controls --------------------------------------------------------------------------------------------------

    def controls(self) -> list[Control]:
        return [
            Choice(name="way", label="keeps balance by", group="Stand", options=WAYS, value=self.way,
                   help="ankles alone, or a step where they are not enough, which takes torque motors"),
            Choice(name="drives", label="joints are driven by", group="Stand", options=DRIVES, value=self.drives,
                   help="motors that are told torques, or servos that are told angles"),
            Switch(name="regulating", label="ZMP regulation", group="Stand", value=self.regulating,
                   help="on position servos: force cells bring the ZMP back to the middle of each sole"),
            Switch(name="squatting", label="squat", group="Squat", value=self.squatting),
            Slider(name="depth", label="depth", group="Squat", low=0.0, high=self.deepest, step=0.01,
                   unit="leg lengths", value=self.depth),
            Slider(name="frequency", label="squats a second", group="Squat", low=0.1, high=1.0, step=0.05, unit="1/s",
                   value=self.frequency),
            *self.pushes.controls(),
        ]  # fmt: skip

    def values(self) -> dict[str, Any]:
        own = {"way": self.way, "drives": self.drives, "regulating": self.regulating}
        squats = {"squatting": self.squatting, "depth": self.depth, "frequency": self.frequency}
        return {**own, **squats, **self.pushes.values()}

    def do(self, name: str, value: Any) -> str:
        if name == "way":
            self.way, self.stale = chosen(value, WAYS), True
            if self.way == STEPS and self.servos:
                self.drives = MOTORS
                return "steps take torque motors: these drive the joints now"
        elif name == "drives":
            self.drives, self.stale = chosen(value, DRIVES), True
            self.depth = min(self.depth, self.deepest)
            if self.servos and self.way == STEPS:
                self.way = ANKLES
                return "steps take torque motors: on servos balance is now kept by the ankles"
        elif name == "regulating":
            return self._regulate(bool(value))
        elif name == "squatting":
            self.squatting = bool(value)
            if self.squatting and self.way == STEPS:
                self.way, self.stale = ANKLES, True
                return "squats stand on both feet: balance is now kept by the ankles"
        elif name == "depth":
            self.depth = number(value, 0.0, self.deepest)
        elif name == "frequency":
            self.frequency = number(value, 0.1, 1.0)
        elif self.plant is not None:
            return self.pushes.do(name, value, self.plant)
        return ""

    def _regulate(self, on: bool) -> str:
        self.regulating = on
        if self.body is not None:
            self.body.regulating = on
        return "" if self.servos else "ZMP regulation acts on position servos only"

    def leave(self) -> None:
        self.squatting = False

    # -- squatting -------------------------------------------------------------------------------------------------

    def tick(self, steps: Mapping[str, Step]) -> None:
        period = steps["robot"].command.period
        if self.body is not None and self.soles is not None:
            self.soles.feel(self.body.pressed, period)
        down = self.depth * self._leg if self.squatting and self.settled else 0.0
        self.squats.advance(period, down, self.frequency)
        if self._center is not None:
            up, squats = np.array([0.0, 0.0, 1.0]), self.squats
            self._center.lead(self._high + squats.height * up, squats.rate * up, squats.acceleration * up)

    # -- what is the case ------------------------------------------------------------------------------------------

    def words(self) -> list[str]:
        if self.plant is None:
            return []
        if self.plant.fallen:
            return ["It has fallen; reset to begin anew."]
        if self.walk is not None:
            return [f"{self.walk.phase().steps} steps taken to catch itself"]
        if self.body is None:
            return ["squats" if self.squatting else "stands on its ankles"]
        does = "stands" if not self.squatting else "squats" if self.settled else "settles before it squats"
        return [f"{does} on position servos", self._regulated(self.body)]

    def _regulated(self, body: Regulated) -> str:
        if body.fallback:
            return f"{body.fallback}; the centre of mass alone is controlled"
        if not body.regulating:
            return "the centre of mass alone is controlled: no ZMP regulation"
        shift = 1e3 * abs(body.regulator.shift)
        return f"the ZMP is regulated under each foot: the centre of mass is shifted by {shift:.0f} mm"

    def facts(self) -> dict[str, Any]:
        facts: dict[str, Any] = {"behavior": "squat" if self.squatting else "stand"}
        if not self.servos:
            return {**facts, "mode": "torque"}
        return {**facts, "mode": "position", "regulation": "on" if self.regulating else "off"}
