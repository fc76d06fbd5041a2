"""Scene Walk: change the style of a walk while the robot walks, and drive the robot."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, NamedTuple

from poise import runs
from poise.behaviors import Walk, WalkSettings
from poise.parameters import parameters
from poise.plans import PARAMETERS, SINUSOID_PARAMETERS, STYLES, FeasibilityCheck, Style, StyleRepair
from poise.robots import Robot
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
from poise.studio.scene_base import ControlledPlant, FeasibleRange, MotionControls, PushableScene
from poise.studio.style_checker import (
    CHECKED_PARAMETERS,
    RangeReply,
    SimulatedRanges,
    StyleChecker,
    StyleReply,
    shared_simulated_check,
)

#: Declared parameters of a style and of the settings of a walk.
STYLE, SETTINGS = parameters(Style), parameters(WalkSettings)
#: Heading of each parameter of a style.
PARAMETER_GROUPS = {
    "Steps": ("step_length", "step_height", "lateral_step", "step_turn", "single_support", "double_support"),
    "Balance": ("com_height_offset", *SINUSOID_PARAMETERS),
    "Posture": ("chest_pitch", "chest_roll", "chest_yaw", "head_pitch", "arm_lift", "arm_spread"),
    "Looseness": ("angular_momentum_weight", "torque_weight", "arm_posture_weight"),
}
#: Speed at full deflection of the stick, forward, left (m/s) and turn (rad/s), for a leg of 0.8 m. The first two scale
#: with the square root of the leg length, like the speed of a pendulum.
MAX_SPEED = (0.45, 0.15, 0.6)
NO_STYLE = "nothing"
#: Status of a simulated repair.
SEARCHING = (
    "In simulation the robot falls with this style: searching for the smallest change of steps and timing that keeps "
    "it balanced, for up to a minute."
)
#: Longest name of a style (characters), and largest number of own styles that are kept.
MAX_NAME_LENGTH, MAX_OWN_STYLES = 40, 20


class WalkScene(PushableScene):
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
        self.style = self.base_style  # as requested; the walk has it as soon as it is checked
        self.keep_balance = True
        self.com_reference: str = WalkSettings.com_reference
        self.walking = False
        self.parameters = MotionControls(runs.Walk, robot, exclude=("style", "steps", "speed"))
        self.checker = StyleChecker()
        self.simulated_check = shared_simulated_check()
        self._simulated: FeasibilityCheck | None = None  # result for the current walk, if it is known
        self._simulated_style: Style | None = None  # style of that walk
        self._simulated_ranges: SimulatedRanges | None = None  # of the current walk, if it passes the check
        self._passed_style: Style | None = None  # the last style that passed the simulated check
        self._repaired_motion: runs.Walk | None = None  # walk for which a simulated repair was requested
        self._last_slider = ""  # parameter of the style that was changed last
        self._messages: list[str] = []  # for the user, returned by `before_frame`
        self._request = _Request()
        self._ranges: dict[str, tuple[float, float]] = {}  # by the pendulum
        self._estimated: set[str] = set()  # parameters whose range is that of the last request
        self._repair_line = ""
        self._stick = (0.0, 0.0, 0.0)
        self._balance_line = ""
        self._last_check = -math.inf
        self.walk: Walk | None = None

    def controlled_plants(self) -> dict[str, ControlledPlant]:
        settings = {"com_reference": self.com_reference}
        setup = self.parameters.build_motion(style=self.style, steps=0, settings=settings).build(self.robot)
        self.plant, self.walk = setup.plant, setup.behavior
        if self.walk.default_changes:  # the sliders show the style that balances with the sinusoid reference
            self._keep_as_own(replace(self.walk.style, name=self._own_name))
        if self._request.com_reference != self.com_reference:  # else the last check is still valid
            self._request, self._ranges = _Request(com_reference=self.com_reference), {}
        self._cancel_simulated_repair()
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

    def _set_base_style(self, style: Style) -> None:
        self.base_style = style
        self._apply_blend()

    def _apply_blend(self) -> None:
        other = self._styles.get(self.blend_style)
        self._apply_style(self.base_style if other is None else self.base_style.blend(other, self.blend_share))

    # -- balance of a style ----------------------------------------------------------------------------------------

    def _apply_style(self, style: Style) -> None:
        """Request a style. The walk gets what needs no check at once, and the rest at once or after the check."""
        if self.walk is not None:
            checked = {name: getattr(self.walk.style, name) for name in CHECKED_PARAMETERS}
            needs_check = any(getattr(style, name) != value for name, value in checked.items())
            self._set_walk_style(style.replace(**checked))
            self.style = style
            if needs_check and not (self._check_style(repair=self.keep_balance) and self.keep_balance):
                self._set_walk_style(style)
        self.style = style

    def _set_walk_style(self, style: Style) -> None:
        """Change the style of the walk; one that differs only by its name does not begin a transition."""
        if self.walk is not None and replace(style, name=self.walk.style.name) != self.walk.style:
            self.walk.style = style

    def _check_style(self, repair: bool, announce: bool = False) -> bool:
        """Request a check of the style in the worker process; return whether there is one."""
        assert self.walk is not None
        number = self.checker.request(self.style, self.walk.body, self.com_reference, repair)
        self._request, self._estimated = _Request(number, announce, self.com_reference), set()
        self._repair_line = ""
        return number > 0

    def _repair(self) -> str:
        """Start a repair: by the pendulum, or by simulation if the walk passes the pendulum's check but falls."""
        if self.walk is None:
            return ""
        if self._simulated is not None and not self._simulated.feasible and self.walk.check_feasibility().feasible:
            self._start_simulated_repair(self._motion())
            return SEARCHING
        self._check_style(repair=True, announce=True)
        return ""

    def _motion(self) -> runs.Walk:
        """Return the walk that the controls describe: style, world, and the speed if a stick sets it."""
        assert self.walk is not None
        stick_speed = self.walk.speed if any(self._stick) else None
        speed = None if stick_speed is None else tuple(round(part, 2) for part in stick_speed)
        settings = {"com_reference": self.com_reference}
        motion: runs.Walk = self.parameters.build_motion(style=self.style, speed=speed, settings=settings)
        return motion

    def _update_simulated_check(self) -> None:
        """Update the simulated check of the current walk, and what follows from it: repair, and marks of sliders."""
        motion = self._motion()
        if self._repaired_motion not in (None, motion):  # the controls were changed meanwhile
            self._cancel_simulated_repair()
        if self._simulated_ranges is not None and self._simulated_ranges.motion != motion:
            self._simulated_ranges = None
        self._simulated, self._simulated_style = None, self.style
        if self.walking or any(self._stick) or self.style != STYLES["neutral"]:
            self._simulated = self.simulated_check.update(motion)
        repair = self.simulated_check.repair(motion)
        if repair is not None:
            self._apply_simulated_repair(repair)
        elif self._simulated is not None and not any(self._stick):
            if self._simulated.feasible:
                self._passed_style = self.style
                self._update_simulated_ranges(motion)
            elif self.keep_balance and self._repaired_motion is None:
                self._start_simulated_repair(motion)
                if self._passed_style is not None:
                    self._set_walk_style(self._passed_style)

    def _start_simulated_repair(self, motion: runs.Walk) -> None:
        self._repaired_motion, self._repair_line = motion, SEARCHING
        self.simulated_check.request_repair(motion)

    def _cancel_simulated_repair(self) -> None:
        self._repaired_motion = None
        self.simulated_check.cancel_repair()
        if self._repair_line == SEARCHING:
            self._repair_line = ""

    def _apply_simulated_repair(self, repair: StyleRepair) -> None:
        assert self.walk is not None
        if repair.changes:
            self._keep_as_own(replace(repair.style, name=self._own_name))
            self._set_walk_style(self.style)
            self.walk.speed = repair.speed
            self._repair_line = f"Changed to keep balance: {', '.join(repair.changes)}."
            self._messages.append(f"repaired: {', '.join(repair.changes)}")
        elif repair.check.feasible:
            self._repair_line = "nothing to repair"
        else:
            self._repair_line = "No change of steps and timing keeps the robot balanced with this style."
            self._messages.append(self._repair_line)

    def _update_simulated_ranges(self, motion: runs.Walk) -> None:
        """Continue the search for the ranges of sliders by simulation, the slider that was changed last first."""
        if self._simulated_ranges is None:
            expected = set(CHECKED_PARAMETERS) - (
                set() if self.com_reference == "sinusoid" else set(SINUSOID_PARAMETERS)
            )
            if not expected <= self._estimated:  # the estimates of this style have not arrived yet
                return
            names = sorted(expected, key=lambda name: (name != self._last_slider, CHECKED_PARAMETERS.index(name)))
            self._simulated_ranges = SimulatedRanges(motion, {name: self._ranges[f"style.{name}"] for name in names})
        self._simulated_ranges.update(self.simulated_check.check)

    def before_frame(self) -> list[str]:
        """Apply the results of checks that have arrived; return what was repaired, as text."""
        if self.walk is None:
            return []
        if not self._request.number and self.checker.available:
            self._check_style(repair=self.keep_balance)  # also for the ranges of the sliders
        messages, self._messages = self._messages, []
        for reply in self.checker.replies():
            if isinstance(reply, RangeReply):
                if reply.number == self._request.number:
                    self._ranges[f"style.{reply.parameter}"] = (reply.low, reply.high)
                    self._estimated.add(reply.parameter)
            else:
                messages += self._apply_reply(reply)
        if not self.checker.running:  # the worker has failed: walk without a check
            self._set_walk_style(self.style)
        return messages

    def _apply_reply(self, reply: StyleReply) -> list[str]:
        """Walk with a checked style; if no newer request is waiting, also show it on the sliders."""
        assert self.walk is not None
        latest = reply.number == self._request.number
        if reply.feasible and self.keep_balance:
            self._set_walk_style(reply.style)
        if not latest:
            return []
        if not reply.changes:
            self._repair_line = "" if reply.feasible else "No change of steps and timing makes this style feasible."
            return ["nothing to repair" if reply.feasible else self._repair_line] if self._request.announce else []
        self._repair_line = f"Changed to keep balance: {', '.join(reply.changes)}."
        self._keep_as_own(replace(reply.style, name=self._own_name))
        self._set_walk_style(self.style)
        return [f"repaired: {', '.join(reply.changes)}"]

    def feasible_ranges(self) -> dict[str, FeasibleRange]:
        """Return the ranges by the pendulum as a first answer, and by simulation as soon as they are known."""
        ranges = {name: FeasibleRange(low, high, False) for name, (low, high) in self._ranges.items()}
        if self._simulated_style != self.style:  # the last update was before a change of the style
            return ranges
        if self._simulated is not None and not self._simulated.feasible:
            values = {name: float(getattr(self.style, name.removeprefix("style."))) for name in ranges}
            return {name: FeasibleRange(value, value, True) for name, value in values.items()}
        if self._simulated_ranges is not None:
            found = self._simulated_ranges.found.items()
            ranges.update({f"style.{name}": FeasibleRange(low, high, True) for name, (low, high) in found})
        return ranges

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
            self._update_simulated_check()
            if self._simulated is not None:
                self._balance_line = f"simulated: {self._simulated}"
            self._last_check = now
        forward, left, turn = self.walk.requested_speed
        speed_line = f"speed {forward:.2f} m/s, left {left:.2f} m/s, turn {turn:.2f} rad/s"
        lines = [self._style_line, self._balance_line, speed_line, self._repair_line]
        return [line for line in lines if line]

    @property
    def _style_line(self) -> str:
        """The two styles of a blend and their shares."""
        if self.blend_style not in self._styles:
            return f"style: {self.style.name}"
        share = 100.0 * self.blend_share
        return f"style: {100.0 - share:.0f} % {self.base_style.name} (A), {share:.0f} % {self.blend_style} (B)"

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


class _Request(NamedTuple):
    """The last request to the style checker.

    Attributes:
        number: 0 if there is none.
        announce: whether to report that there was nothing to repair.
        com_reference: reference of the centre of mass, which the check depends on.
    """

    number: int = 0
    announce: bool = False
    com_reference: str = ""


def _style_values(style: Style) -> dict[str, Any]:
    """Return the fields of a style as plain values, which can be sent to another process."""
    return {
        **{field.name: getattr(style, field.name) for field in fields(style)},
        "rest_posture": dict(style.rest_posture),
    }
