"""Scene Walk: change the style of a walk while the robot walks, and drive the robot."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from poise.behaviors import WalkSettings, gait_speed
from poise.parameters import parameters
from poise.plans import PARAMETERS, SINUSOID_PARAMETERS, STYLES, Speed, Style, gait_of_style
from poise.robots import Robot
from poise.studio.balanced_walk_scene import BalancedWalkScene
from poise.studio.controls import (
    Button,
    Control,
    Dropdown,
    Save,
    Slider,
    Switch,
    TextField,
    Upload,
    clamp_number,
    control_for,
    option_or_first,
)
from poise.studio.scene_base import ControlledPlant

#: Declared parameters of a style and of the settings of a walk.
STYLE, SETTINGS = parameters(Style), parameters(WalkSettings)
#: Heading of each parameter of a style.
PARAMETER_GROUPS = {
    "Steps": (
        "step_length",
        "step_height",
        "lateral_step",
        "step_width",
        "step_turn",
        "single_support",
        "double_support",
    ),
    "Legs": ("knee_flexion", "heel_rise", "heel_strike"),
    "Balance": ("com_height_offset", *SINUSOID_PARAMETERS),
    "Posture": ("chest_pitch", "chest_roll", "chest_yaw", "head_pitch", "arm_swing", "arm_lift", "arm_spread"),
    "Looseness": ("angular_momentum_weight", "torque_weight", "arm_posture_weight"),
}
#: Speed at full deflection of the stick, forward, left (m/s) and turn (rad/s), for a leg of 0.8 m. The first two scale
#: with the square root of the leg length, like the speed of a pendulum.
MAX_SPEED = (0.45, 0.15, 0.6)
NO_STYLE = "nothing"
#: Longest name of a style (characters), and largest number of own styles that are kept.
MAX_NAME_LENGTH, MAX_OWN_STYLES = 40, 20


class WalkScene(BalancedWalkScene):
    """Walk with a slider for each parameter of its style.

    Presets, files and blends of two styles set the sliders; a stick, a gamepad or keys drive the robot. With "keep
    balance", a style is checked before the robot walks with it, and repaired if it would fall.
    """

    name, title, stick_driven, tab_order = "walk", "Walk", True, 1
    hint = "Choose a style and switch walking on, or drive with the stick, a gamepad or the keys W A S D Q E."

    def __init__(self, robot: Robot) -> None:
        super().__init__(robot)
        self.base_style, self.blend_style, self.blend_share = STYLES["neutral"], NO_STYLE, 0.5
        self.own_styles: dict[str, Style] = {}  # by name: styles from files, and those made with the sliders

    def controlled_plants(self) -> dict[str, ControlledPlant]:
        settings = {"com_reference": self.com_reference}
        setup = self.parameters.build_motion(style=self.style, steps=0, settings=settings).build(self.robot)
        self.plant, self.walk = setup.plant, setup.behavior
        if self.walk.default_changes:  # the sliders show the style that balances with the sinusoid reference
            self._keep_as_own(replace(self.walk.style, name=self._own_name))
        self.forget_check()
        self._update_walking()
        return {"robot": ControlledPlant(setup.controller, setup.plant)}

    # -- controls --------------------------------------------------------------------------------------------------

    def controls(self) -> list[Control]:
        names = (*STYLES, *self.own_styles)
        controls: list[Control | None] = [
            Switch(name="walking", label="walk", group="Walk", help="walk at the speed of the style",
                   value=self.walking),
            Dropdown(name="preset", label="style", group="Walk", options=names, value=self.base_style.name,
                   help="style A: a preset, or an own style"),
            Dropdown(name="blend_style", label="blend with", group="Walk", options=(NO_STYLE, *names),
                   value=self.blend_style, help="style B, blended with style A by the share below"),
            Slider(name="blend_share", label="share of style B", group="Walk", low=0.0, high=1.0, step=0.01,
                   value=self.blend_share, help="0: style A alone; 1: style B alone, chosen as 'blend with'"),
            TextField(name="style_name", label="name", group="Walk", value=self.style.name,
                   help="name of this style; a new name makes a style of your own"),
            Switch(name="keep_balance", label="keep balance", group="Walk", value=self.keep_balance,
                   help="change steps and timing as little as needed if the robot would fall with this style"),
            Button(name="repair", label="repair balance", group="Walk",
                   help="find the smallest change of steps and timing that keeps the robot balanced"),
            Upload(name="file", label="load a style", group="Walk", accept=".toml", help="style as a TOML file"),
            Save(name="save", label="save this style", group="Walk"),
        ]  # fmt: skip
        for group, parameter_names in PARAMETER_GROUPS.items():
            for name in parameter_names:
                if name in SINUSOID_PARAMETERS and self.com_reference != "sinusoid":
                    continue
                controls.append(control_for(PARAMETERS[name], getattr(self.style, name), group, f"style.{name}"))
        joints = control_for(STYLE["torque_joints"], self.style.torque_joints, "Looseness", "style.torque_joints")
        reference = control_for(SETTINGS["com_reference"], self.com_reference, "Balance")
        all_controls = [*controls, joints, reference, *self.parameters.controls(), *self.push_controls.controls()]
        return [control for control in all_controls if control is not None]

    def values(self) -> dict[str, Any]:
        style = {f"style.{name}": getattr(self.style, name) for name in (*PARAMETERS, "torque_joints")}
        scene_values = {
            "walking": self.walking,
            "preset": self.base_style.name,
            "blend_style": self.blend_style,
            "blend_share": self.blend_share,
            "style_name": self.style.name,
            "keep_balance": self.keep_balance,
        }
        world = {control.name: control.as_json()["value"] for control in self.parameters.controls()}
        return {
            **scene_values,
            **style,
            "style.rest_posture": dict(self.style.rest_posture),
            "com_reference": self.com_reference,
            **world,
            **self.push_controls.values(),
        }

    def saved_state(self) -> dict[str, Any]:
        return {**super().saved_state(), "own_styles": [_style_values(style) for style in self.own_styles.values()]}

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Set the controls to values that `saved_state` returned, and the style as a whole."""
        if "own_styles" in saved:
            styles = {str(values["name"]): self._for_robot(Style(**values)) for values in saved["own_styles"]}
            self.controls_changed |= styles.keys() != self.own_styles.keys()
            self.own_styles = styles
        style_names = ("preset", "blend_style", "blend_share", "style_name")
        super().restore(
            {
                name: value
                for name, value in saved.items()
                if name != "own_styles" and name not in style_names and not name.startswith("style.")
            }
        )
        if "style_name" in saved:
            self.base_style = self._styles.get(str(saved["preset"]), self.base_style)
            self.blend_style, self.blend_share = str(saved["blend_style"]), float(saved["blend_share"])
            values = {n.removeprefix("style."): value for n, value in saved.items() if n.startswith("style.")}
            self._apply_style(self._for_robot(Style(name=str(saved["style_name"]), **values)))

    def set_control(self, name: str, value: Any) -> str:
        if name == "walking":
            self.walking = bool(value)
            self._update_walking()
        elif name == "preset":
            if isinstance(value, str) and value in self._styles:
                self._set_base_style(self._styles[value])
        elif name == "blend_style":
            self.blend_style = option_or_first(value, (NO_STYLE, *self._styles))
            self._apply_blend()
        elif name == "blend_share":
            self.blend_share = clamp_number(value, 0.0, 1.0)
            self._apply_blend()
        elif name == "style_name":
            return self._rename(value)
        elif name == "keep_balance":
            self.keep_balance = bool(value)
            if not self.keep_balance:
                self._cancel_simulated_repair()
            self._apply_style(self.style)
        elif name == "file":
            style = Style(**value)
            style = replace(style, name=self._free_name(style.name))
            self._apply_style(style)  # first: it may not fit the robot
            self._keep_as_own(style)
            return "" if style.name == value.get("name") else f"the style is loaded as '{style.name}'"
        elif name == "repair":
            return self._repair()
        elif name == "com_reference":
            self.com_reference, self.needs_reset = option_or_first(value, SETTINGS["com_reference"].choices), True
            self._passed_style = None
        elif name.startswith("style."):
            self._set_style_parameter(name.removeprefix("style."), value)
        elif self.parameters.set(name, value):
            self.needs_reset, self._passed_style = True, None
        elif self.plant is not None:
            return self.push_controls.set_control(name, value, self.plant)
        return ""

    # -- styles ----------------------------------------------------------------------------------------------------

    @property
    def _styles(self) -> dict[str, Style]:
        return {**STYLES, **self.own_styles}

    def _for_robot(self, style: Style) -> Style:
        """Return a style without rest angles of joints that this robot does not have: it may be another robot's."""
        names = {joint.name for joint in self.robot.joints}
        rest = {name: angle for name, angle in style.rest_posture.items() if name in names}
        return style if len(rest) == len(style.rest_posture) else replace(style, rest_posture=rest)

    def _store(self, style: Style) -> Style:
        """Keep an own style under its name, so that it can be chosen again."""
        self.controls_changed |= style.name not in self.own_styles
        self.own_styles[style.name] = style
        while len(self.own_styles) > MAX_OWN_STYLES:
            del self.own_styles[next(name for name in self.own_styles if name != style.name)]
        return style

    def _free_name(self, name: str) -> str:
        """Return a name for an own style: the given one, shortened, and with a number if a preset has it."""
        name = "".join(letter if letter.isprintable() else " " for letter in name).strip()[:MAX_NAME_LENGTH] or "own"
        if name in (*STYLES, NO_STYLE):
            name = next(each for number in itertools.count(2) if (each := f"{name} {number}") not in self._styles)
        return name

    def _rename(self, value: Any) -> str:
        name = self._free_name(value if isinstance(value, str) else "")
        if name == self.style.name:
            return ""
        before = self.own_styles.pop(self.style.name, None)
        self.controls_changed |= before is not None
        self._keep_as_own(replace(self.style, name=name))
        reason = f"'{value}' is taken: " if value in (*STYLES, NO_STYLE) else ""
        return f"{reason}this style is now '{name}'"

    def _keep_as_own(self, style: Style) -> None:
        """Make a style the base style, without a blend, under a name of its own."""
        self.base_style, self.blend_style = self._store(style), NO_STYLE
        self.style = style

    def _set_style_parameter(self, name: str, value: Any) -> None:
        if name == "torque_joints":
            value = option_or_first(value, STYLE[name].choices)
        elif name in PARAMETERS:
            value = clamp_number(value, PARAMETERS[name].low, PARAMETERS[name].high)
        else:
            return
        self._last_slider = name
        style = self.style.replace(**{name: value})
        self._keep_as_own(replace(style, name=self._own_name))
        self._apply_style(self.style)

    @property
    def _own_name(self) -> str:
        """Name of the current style after a change of its sliders: that of an own style stays."""
        return self.style.name if self.style.name in self.own_styles else self._free_name(self.style.name)

    def keep_repaired_style(self, style: Style) -> None:
        self._keep_as_own(replace(style, name=self._own_name))

    def _set_base_style(self, style: Style) -> None:
        self.base_style = style
        self._apply_blend()

    def _apply_blend(self) -> None:
        other = self._styles.get(self.blend_style)
        self._apply_style(self.base_style if other is None else self.base_style.blend(other, self.blend_share))

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
        self.update_balance_line(self.plant.time)
        lines = [self._style_line, self._balance_line, self._speed_line, self._repair_line]
        return [line for line in lines if line]

    @property
    def _style_line(self) -> str:
        """The two styles of a blend and their shares."""
        if self.blend_style not in self._styles:
            return f"style: {self.style.name}"
        share = 100.0 * self.blend_share
        return f"style: {100.0 - share:.0f} % {self.base_style.name} (A), {share:.0f} % {self.blend_style} (B)"

    @property
    def _speed_line(self) -> str:
        """The speed of the walk; while the robot stands without a stick, that of its style."""
        assert self.walk is not None
        stands = self.walk.phase().kind == "standing" and not any(self._stick)
        forward, left, turn = self._style_speed if stands else self.walk.requested_speed
        speed = f"{forward:.2f} m/s, left {left:.2f} m/s, turn {turn:.2f} rad/s"
        return f"stands; the style walks at {speed}" if stands else f"speed {speed}"

    @property
    def _style_speed(self) -> Speed:
        assert self.walk is not None
        return gait_speed(gait_of_style(self.walk.style, self.walk.body))

    def provenance(self) -> dict[str, Any]:
        provenance: dict[str, Any] = {"behavior": "walk", "style": self.style.name}
        return {**provenance, **self.parameters.build_motion().world.disturbances}

    # -- files -----------------------------------------------------------------------------------------------------

    @classmethod
    def parse_upload(cls, control: str, name: str, data: bytes) -> Any:
        return _style_values(Style.from_toml(data, name))

    @classmethod
    def file_to_save(cls, control: str, values: Mapping[str, Any]) -> tuple[str, str]:
        style_values = {
            name.removeprefix("style."): value for name, value in values.items() if name.startswith("style.")
        }
        name = str(values.get("style_name", "own"))
        return f"{name}.toml", Style(name=name, **style_values).to_toml()


def _style_values(style: Style) -> dict[str, Any]:
    """Return the fields of a style as plain values, which can be sent to another process."""
    return {
        **{field.name: getattr(style, field.name) for field in fields(style)},
        "rest_posture": dict(style.rest_posture),
    }
