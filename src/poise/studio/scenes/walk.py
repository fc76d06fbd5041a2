"""Scene Walk: change the style of a walk while the robot walks, and drive the robot."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from poise import runs
from poise.behaviors import Walk, WalkSettings
from poise.parameters import parameters
from poise.plans import PARAMETERS, STYLES, Style
from poise.plants import Terrain
from poise.robots import Robot
from poise.studio.controls import (
    Button,
    Control,
    Dropdown,
    Save,
    Slider,
    Switch,
    Upload,
    clamp_number,
    control_for,
    option_or_first,
)
from poise.studio.scene_base import ControlledPlant, MotionControls, PushableScene

#: Declared parameters of a style and of the settings of a walk.
STYLE, SETTINGS = parameters(Style), parameters(WalkSettings)
#: Heading of each parameter of a style.
PARAMETER_GROUPS = {
    "Steps": ("step_length", "step_height", "lateral_step", "turn", "single_support", "double_support"),
    "Balance": ("height", "sway", "sway_phase"),
    "Posture": ("chest_pitch", "chest_roll", "chest_yaw", "head_pitch", "arm_lift", "arm_spread"),
    "Looseness": ("angular_momentum", "torque", "arm_posture"),
}
#: Speed at full deflection of the stick, forward, left (m/s) and turn (rad/s), for a leg of 0.8 m. The first two scale
#: with the square root of the leg length, like the speed of a pendulum.
MAX_SPEED = (0.45, 0.15, 0.6)
NO_STYLE = "nothing"


class WalkScene(PushableScene):
    """Walk with a slider for each parameter of its style.

    Presets, files and blends of two styles set the sliders; a stick, a gamepad or keys drive the robot.
    """

    name, title, stick_driven, tab_order = "walk", "Walk", True, 1
    hint = "Choose a style and switch walking on, or drive with the stick, a gamepad or the keys W A S D Q E."

    def __init__(self, robot: Robot) -> None:
        super().__init__(robot)
        self.base_style, self.blend_style, self.blend_share = STYLES["neutral"], NO_STYLE, 0.5
        self.style = self.base_style
        self.center: str = WalkSettings.center
        self.walking = False
        self.parameters = MotionControls(runs.Walk, robot, exclude=("style", "steps", "speed"))
        self._stick = (0.0, 0.0, 0.0)
        self._balance_line = ""
        self._last_check = -math.inf
        self.walk: Walk | None = None

    @property
    def ground(self) -> Terrain:
        ground: Terrain = self.parameters.build_motion().world.ground
        return ground

    def controlled_plants(self) -> dict[str, ControlledPlant]:
        settings = {"center": self.center}
        setup = self.parameters.build_motion(style=self.style, steps=0, settings=settings).build(self.robot)
        self.plant, self.walk = setup.plant, setup.behavior
        self._update_walking()
        return {"robot": ControlledPlant(setup.controller, setup.plant)}

    # -- controls --------------------------------------------------------------------------------------------------

    def controls(self) -> list[Control]:
        names = tuple(STYLES)
        controls: list[Control | None] = [
            Switch(
                name="walking",
                label="walk",
                group="Walk",
                help="walk at the speed of the style",
                value=self.walking,
            ),
            Dropdown(name="preset", label="style", group="Walk", options=(*names, "own"), value=self._preset_name()),
            Dropdown(
                name="blend_style",
                label="blend with",
                group="Walk",
                options=(NO_STYLE, *names),
                value=self.blend_style,
                help="second style, blended by the share below",
            ),
            Slider(
                name="blend_share",
                label="share of the second",
                group="Walk",
                low=0.0,
                high=1.0,
                step=0.01,
                value=self.blend_share,
            ),
            Button(
                name="repair",
                label="repair balance",
                group="Walk",
                help="find the smallest change of steps and timing that keeps the robot balanced",
            ),
            Upload(name="file", label="load a style", group="Walk", accept=".toml", help="style as a TOML file"),
            Save(name="save", label="save this style", group="Walk"),
        ]
        for group, parameter_names in PARAMETER_GROUPS.items():
            for name in parameter_names:
                controls.append(control_for(PARAMETERS[name], getattr(self.style, name), group, f"style.{name}"))
        joints = control_for(STYLE["torque_joints"], self.style.torque_joints, "Looseness", "style.torque_joints")
        center = control_for(SETTINGS["center"], self.center, "Balance")
        all_controls = [*controls, joints, center, *self.parameters.controls(), *self.push_controls.controls()]
        return [control for control in all_controls if control is not None]

    def values(self) -> dict[str, Any]:
        style = {f"style.{name}": getattr(self.style, name) for name in (*PARAMETERS, "torque_joints")}
        scene_values = {
            "walking": self.walking,
            "preset": self._preset_name(),
            "blend_style": self.blend_style,
            "blend_share": self.blend_share,
        }
        world = {control.name: control.as_json()["value"] for control in self.parameters.controls()}
        return {**scene_values, **style, "center": self.center, **world, **self.push_controls.values()}

    def set_control(self, name: str, value: Any) -> str:
        if name == "walking":
            self.walking = bool(value)
            self._update_walking()
        elif name == "preset":
            if isinstance(value, str) and value in STYLES:
                self._set_base_style(STYLES[value])
        elif name == "blend_style":
            self.blend_style = option_or_first(value, (NO_STYLE, *STYLES))
            self._apply_blend()
        elif name == "blend_share":
            self.blend_share = clamp_number(value, 0.0, 1.0)
            self._apply_blend()
        elif name == "file":
            self._set_base_style(Style(**value))
            return f"style '{self.style.name}' is loaded"
        elif name == "repair":
            return self._repair()
        elif name == "center":
            self.center, self.needs_reset = option_or_first(value, SETTINGS["center"].choices), True
        elif name.startswith("style."):
            self._set_style_parameter(name.removeprefix("style."), value)
        elif self.parameters.set(name, value):
            self.needs_reset = True
        elif self.plant is not None:
            return self.push_controls.set_control(name, value, self.plant)
        return ""

    def _set_style_parameter(self, name: str, value: Any) -> None:
        if name == "torque_joints":
            value = option_or_first(value, STYLE[name].choices)
        elif name in PARAMETERS:
            value = clamp_number(value, PARAMETERS[name].low, PARAMETERS[name].high)
        else:
            return
        self._apply_style(self.style.replace(**{name: value}))
        self.base_style, self.blend_style = self.style, NO_STYLE

    def _set_base_style(self, style: Style) -> None:
        self.base_style = style
        self._apply_blend()

    def _apply_blend(self) -> None:
        self._apply_style(
            self.base_style
            if self.blend_style == NO_STYLE
            else self.base_style.blend(STYLES[self.blend_style], self.blend_share)
        )

    def _apply_style(self, style: Style) -> None:
        if self.walk is not None:
            self.walk.style = style
        self.style = style

    def _repair(self) -> str:
        if self.walk is None:
            return ""
        changes = self.walk.repair()
        if not changes:
            return (
                "nothing to repair"
                if self.walk.check_feasibility().feasible
                else "no repair found: no change of steps and timing makes this style feasible"
            )
        self.base_style, self.blend_style = self.walk.style, NO_STYLE
        self.style = self.walk.style
        return "repaired: " + ", ".join(changes)

    def _preset_name(self) -> str:
        """Return the name of the style if it is an unchanged preset, else "own"."""
        return self.style.name if STYLES.get(self.style.name) == self.style else "own"

    # -- driving ---------------------------------------------------------------------------------------------------

    def set_stick(self, forward: float, left: float, turn: float) -> None:
        self._stick = (forward, left, turn)
        self._update_walking()

    def on_unattended(self) -> None:
        self._stick, self.walking = (0.0, 0.0, 0.0), False
        self._update_walking()

    def _update_walking(self) -> None:
        """Start or stop the walk: the stick sets its speed, else the switch starts it at the speed of the style."""
        walk = self.walk
        if walk is None:
            return
        if any(self._stick):
            speed_scale = math.sqrt(walk.body.leg_length / 0.8)
            forward, left, turn = (part * limit for part, limit in zip(self._stick, MAX_SPEED, strict=True))
            walk.speed = (speed_scale * forward, speed_scale * left, turn)
            walk.go()
        elif self.walking:
            walk.speed = None
            walk.go()
        else:
            walk.stop()

    # -- status ----------------------------------------------------------------------------------------------------

    def status_lines(self) -> list[str]:
        if self.walk is None or self.plant is None:
            return []
        if self.plant.fallen:
            return ["The robot has fallen; reset to start again."]
        now = self.plant.time
        if now - self._last_check > 0.2 or now < self._last_check:  # the check takes several control periods
            check = self.walk.check_feasibility()
            margin = f"{100.0 * check.margin:+.1f} cm"
            self._balance_line = (
                f"balanced, ZMP margin {margin} in the next two steps" if check.feasible else f"{check} ({margin})"
            )
            self._last_check = now
        speed = ", ".join(f"{value:.2f}" for value in self.walk.requested_speed)
        return [self._balance_line, f"requested speed: {speed} (m/s, m/s, rad/s)"]

    def provenance(self) -> dict[str, Any]:
        provenance: dict[str, Any] = {"behavior": "walk", "style": self.style.name}
        return {**provenance, **self.parameters.build_motion().world.disturbances}

    # -- files -----------------------------------------------------------------------------------------------------

    @classmethod
    def parse_upload(cls, control: str, name: str, data: bytes) -> Any:
        style = Style.from_toml(data, name)
        return {**{field.name: getattr(style, field.name) for field in fields(style)}, "rest": dict(style.rest)}

    @classmethod
    def file_to_save(cls, control: str, values: Mapping[str, Any]) -> tuple[str, str]:
        style_values = {
            name.removeprefix("style."): value for name, value in values.items() if name.startswith("style.")
        }
        preset = str(values.get("preset", "own"))
        return f"{preset}.toml", Style(name=preset, **style_values).to_toml()
