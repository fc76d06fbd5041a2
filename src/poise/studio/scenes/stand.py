"""Scene Stand & squat: the robot stands or squats and keeps its balance while the user pushes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from poise import runs
from poise.behaviors import LiveSquat, SquatSettings, Stand, Walk, ZmpBalance, standing_reference
from poise.control import ControlStep
from poise.parameters import parameters
from poise.plans import LiveSquatReference, ReferenceTrajectory, SquatOscillator
from poise.robots import Robot, State, leg_length
from poise.studio.controls import Control, Dropdown, Switch, control_for, option_or_first, value_from_page
from poise.studio.scene_base import (
    ACTUATION,
    AS_BUILT,
    TORQUE_MOTORS,
    ControlledPlant,
    MotionControls,
    PushableScene,
    uses_servos,
)
from poise.studio.sole_pressure import SolePressure

BALANCE_STRATEGIES = ANKLES, STEPS = ("ankles", "steps")
#: Deepest squat with servos, in leg lengths: HOAP-3 starts to rock in deeper squats.
MAX_DEPTH_ON_SERVOS = 0.25
#: Time of standing on servos before the first squat (s), in which the ZMP regulation finds the true center of mass.
SETTLING_TIME = 2.0


@dataclass(frozen=True, kw_only=True)
class SquattingStand(runs.Stand):
    """Standing with squats whose depth and frequency can change during the motion."""

    oscillator: SquatOscillator = field(default_factory=SquatOscillator)

    def behavior(self, robot: Robot, start: State) -> Stand:
        return LiveSquat(robot, self.resolved_settings(), start, self.oscillator)

    def reference(self, settings: Any, start: State) -> ReferenceTrajectory:
        return LiveSquatReference(*standing_reference(start), self.oscillator)


class StandScene(PushableScene):
    """Standing and squatting with ankle balance, or standing with recovery steps.

    With torque motors the robot balances by inverse dynamics; with position servos it regulates the ZMP under each foot
    by its force cells ([Galdeano2014]), unless the user switches that off.
    """

    name, title, tab_order = "stand", "Stand & squat", 2
    hint = "Push the robot with the button, or drag the handle in front of it, while it stands or squats."

    def __init__(self, robot: Robot) -> None:
        super().__init__(robot)
        self.strategy, self.actuation, self.regulating = ANKLES, AS_BUILT, True
        self.squat_enabled, self.depth, self.frequency = False, 0.12, 0.5
        self._leg_length = leg_length(robot)
        self.oscillator = SquatOscillator()
        self.parameters = MotionControls(SquattingStand, robot, exclude=("terrain",))
        self.walk: Walk | None = None
        self.balance: ZmpBalance | None = None
        self._squat_behavior: LiveSquat | None = None

    @property
    def servos(self) -> bool:
        """Whether position servos drive the joints."""
        return uses_servos(self.robot, self.actuation)

    @property
    def is_settled(self) -> bool:
        """Whether the robot has stood long enough to squat."""
        return self.balance is None or (
            self.plant is not None and self.plant.time >= self.balance.start.time + SETTLING_TIME
        )

    def controlled_plants(self) -> dict[str, ControlledPlant]:
        self.walk = self.balance = self._squat_behavior = self.sole_pressure = None
        self.oscillator.rest()
        setup = self._motion().build(self.robot)
        self.plant = setup.plant
        if isinstance(setup.behavior, Walk):
            self.walk = setup.behavior
        elif isinstance(setup.behavior, ZmpBalance):
            self.balance, self.sole_pressure = setup.behavior, SolePressure(self.robot)
            self.balance.regulating = self.regulating
        else:
            self._squat_behavior = setup.behavior
        return {"robot": ControlledPlant(setup.controller, setup.plant)}

    def _motion(self) -> Any:
        """Return the motion that the controls describe."""
        if self.strategy == STEPS:
            return runs.Walk(robot=self.robot.name, steps=0, **self.parameters.overrides)
        return self.parameters.build_motion(mode=self.mode, oscillator=self.oscillator)

    @property
    def mode(self) -> str:
        """Control mode that fits the actuation: "position" or "torque"."""
        return "position" if self.servos else "torque"

    # -- controls --------------------------------------------------------------------------------------------------

    def controls(self) -> list[Control]:
        return [
            Dropdown(name="balance_strategy", label="keeps balance by", group="Stand", options=BALANCE_STRATEGIES,
                   value=self.strategy,
                   help="ankles only, or recovery steps as well, which need torque motors"),
            Dropdown(name="actuation", label="joints are driven by", group="Stand", options=ACTUATION,
                   value=self.actuation,
                   help="actuation: torque-controlled motors, or position servos"),
            Switch(name="zmp_regulation", label="ZMP regulation", group="Stand", value=self.regulating,
                   enabled=self.servos,
                   help="with position servos: move the ZMP to the center of each sole, measured by force cells"),
            Switch(name="squatting", label="squat", group="Squat", value=self.squat_enabled),
            *self._squat_sliders().values(),
            *self.parameters.controls(mode=self.mode),
            *self.push_controls.controls(),
        ]  # fmt: skip

    def _squat_sliders(self) -> dict[str, Control]:
        """Return the sliders of depth and frequency with the ranges that `SquatSettings` declares."""
        declared = parameters(SquatSettings)
        depth = declared["depth"]
        if self.servos:
            depth = replace(depth, typical_range=(0.0, MAX_DEPTH_ON_SERVOS))
        pairs = (depth, self.depth), (declared["frequency"], self.frequency)
        sliders = [control_for(parameter, value, "Squat") for parameter, value in pairs]
        return {slider.name: slider for slider in sliders if slider is not None}

    def values(self) -> dict[str, Any]:
        scene_values = {
            "balance_strategy": self.strategy,
            "actuation": self.actuation,
            "zmp_regulation": self.regulating,
        }
        squat_values = {"squatting": self.squat_enabled, "depth": self.depth, "frequency": self.frequency}
        world = {control.name: control.as_json()["value"] for control in self.parameters.controls(mode=self.mode)}
        return {**scene_values, **squat_values, **world, **self.push_controls.values()}

    def set_control(self, name: str, value: Any) -> str:
        if name == "balance_strategy":
            self.strategy, self.needs_reset = option_or_first(value, BALANCE_STRATEGIES), True
            if self.strategy == STEPS and self.servos:
                self.actuation, self.controls_changed = TORQUE_MOTORS, True
                return "recovery steps need torque motors: actuation is now torque motors"
        elif name == "actuation":
            self.actuation, self.needs_reset = option_or_first(value, ACTUATION), True
            self.controls_changed = True
            self.depth = value_from_page(self._squat_sliders()["depth"], self.depth)
            if self.servos and self.strategy == STEPS:
                self.strategy = ANKLES
                return "recovery steps need torque motors: balance is now kept by the ankles"
        elif name == "zmp_regulation":
            return self._set_regulation(bool(value))
        elif name == "squatting":
            self.squat_enabled = bool(value)
            if self.squat_enabled and self.strategy == STEPS:
                self.strategy, self.needs_reset = ANKLES, True
                return "squats need both feet on the ground: balance is now kept by the ankles"
        elif name == "depth":
            self.depth = value_from_page(self._squat_sliders()[name], value)
        elif name == "frequency":
            self.frequency = value_from_page(self._squat_sliders()[name], value)
        elif self.parameters.set(name, value, mode=self.mode):
            self.needs_reset = True
        elif self.plant is not None:
            return self.push_controls.set_control(name, value, self.plant)
        return ""

    def _set_regulation(self, on: bool) -> str:
        self.regulating = on
        if self.balance is not None:
            self.balance.regulating = on
        return "" if self.servos else "ZMP regulation works with position servos only"

    def on_unattended(self) -> None:
        self.squat_enabled = False

    # -- squatting -------------------------------------------------------------------------------------------------

    def after_step(self, steps: Mapping[str, ControlStep]) -> None:
        period = steps["robot"].command.period
        if self.balance is not None and self.sole_pressure is not None:
            self.sole_pressure.update(self.balance.sole_loads, period)
        depth = self.depth * self._leg_length if self.squat_enabled and self.is_settled else 0.0
        if self._squat_behavior is not None:
            self._squat_behavior.advance(period, depth, self.frequency)
        else:
            self.oscillator.advance(period, depth, self.frequency)

    # -- status ----------------------------------------------------------------------------------------------------

    def status_lines(self) -> list[str]:
        if self.plant is None:
            return []
        if self.plant.fallen:
            return ["The robot has fallen; reset to start again."]
        if self.walk is not None:
            return [f"recovery steps taken: {self.walk.phase().steps}"]
        if self.balance is None:
            return ["squats" if self.squat_enabled else "stands, balanced by the ankles"]
        activity = "stands" if not self.squat_enabled else "squats" if self.is_settled else "settles before it squats"
        return [f"{activity} on position servos", self._regulation_line(self.balance)]

    def _regulation_line(self, balance: ZmpBalance) -> str:
        if balance.fallback:
            return f"{balance.fallback}; only the center of mass is controlled"
        if not balance.regulating:
            return "only the center of mass is controlled: no ZMP regulation"
        shift = 1e3 * abs(balance.regulator.shift)
        return f"the ZMP is regulated under each foot: the center of mass is shifted by {shift:.0f} mm"

    def provenance(self) -> dict[str, Any]:
        provenance: dict[str, Any] = {"behavior": "squat" if self.squat_enabled else "stand"}
        if not self.servos:
            return {**provenance, "mode": "torque"}
        return {**provenance, "mode": "position", "zmp_regulation": "on" if self.regulating else "off"}
