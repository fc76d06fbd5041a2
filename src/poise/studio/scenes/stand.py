"""Scene Stand & squat: keep the balance while the user pushes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from poise import runs
from poise.behaviors import LiveSquat, Regulated, Stand, Walk, standing
from poise.control import Step
from poise.plans import Course, LiveSquatting, SquatOscillator
from poise.robots import Robot, State, leg_length
from poise.studio.controls import Choice, Control, Slider, Switch, chosen, number
from poise.studio.scene_base import AS_BUILT, DRIVES, MOTORS, Act, MotionControls, PushedScene, on_servos
from poise.studio.sole_pressure import Soles

WAYS = ANKLES, STEPS = ("ankles", "steps")
#: Deepest squat, in leg lengths: with torque motors, and on servos, where HOAP-3 begins to rock below that.
DEEPEST, DEEPEST_ON_SERVOS = 0.3, 0.25
#: So long it stands on servos before it squats (s): meanwhile the regulation learns where the weight really is.
SETTLES = 2.0


@dataclass(frozen=True, kw_only=True)
class SquattingStand(runs.Stand):
    """Standing with squats whose depth and frequency change while it moves."""

    squats: SquatOscillator = field(default_factory=SquatOscillator)

    def behavior(self, robot: Robot, start: State) -> Stand:
        return LiveSquat(robot, self.resolved_settings(), start, self.squats)

    def reference(self, settings: Any, start: State) -> Course:
        return LiveSquatting(*standing(start), self.squats)


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
        self.squats = SquatOscillator()
        self.parameters = MotionControls(SquattingStand, robot, own=("terrain",))
        self.walk: Walk | None = None
        self.body: Regulated | None = None
        self._squat: LiveSquat | None = None

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
        self.walk = self.body = self._squat = self.soles = None
        self.squats.rest()
        setup = self._motion().build(self.robot)
        self.plant = setup.plant
        if isinstance(setup.behavior, Walk):
            self.walk = setup.behavior
        elif isinstance(setup.behavior, Regulated):
            self.body, self.soles = setup.behavior, Soles(self.robot)
            self.body.regulating = self.regulating
        else:
            self._squat = setup.behavior
        return {"robot": Act(setup.controller, setup.plant)}

    def _motion(self) -> Any:
        """The motion that the controls describe."""
        if self.way == STEPS:
            return runs.Walk(robot=self.robot.name, steps=0, **self.parameters.given)
        return self.parameters.definition(mode=self.mode, squats=self.squats)

    @property
    def mode(self) -> str:
        """Control mode, by what drives the joints."""
        return "position" if self.servos else "torque"

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
            *self.parameters.controls(mode=self.mode),
            *self.pushes.controls(),
        ]  # fmt: skip

    def values(self) -> dict[str, Any]:
        own = {"way": self.way, "drives": self.drives, "regulating": self.regulating}
        squats = {"squatting": self.squatting, "depth": self.depth, "frequency": self.frequency}
        world = {control.name: control.as_json()["value"] for control in self.parameters.controls(mode=self.mode)}
        return {**own, **squats, **world, **self.pushes.values()}

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
        elif self.parameters.set(name, value, mode=self.mode):
            self.stale = True
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
        if self._squat is not None:
            self._squat.advance(period, down, self.frequency)
        else:
            self.squats.advance(period, down, self.frequency)

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
