"""Walk: design a walk while it walks, and drive it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from poise import runs
from poise.behaviors import Walk, WalkSettings
from poise.parameters import parameters
from poise.plans import PARAMETERS, STYLES, Style
from poise.plants import Ground
from poise.robots import Robot
from poise.studio.controls import Button, Choice, Control, Save, Slider, Switch, Upload, chosen, control_for, number
from poise.studio.scene_base import Act, MotionControls, PushedScene

#: Declarations of the numbers of a style and of the settings of a walk.
STYLE, SETTINGS = parameters(Style), parameters(WalkSettings)
#: Where each parameter of a style stands.
GROUPS = {
    "Steps": ("step_length", "step_height", "lateral_step", "turn", "single_support", "double_support"),
    "Balance": ("height", "sway", "sway_phase"),
    "Bearing": ("chest_pitch", "chest_roll", "chest_yaw", "head_pitch", "arm_lift", "arm_spread"),
    "Looseness": ("angular_momentum", "torque", "arm_posture"),
}
#: What a stick at its end means: m/s, m/s, rad/s for a leg of 0.8 m; shorter legs are slower, as pendulums are.
FASTEST = (0.45, 0.15, 0.6)
NOBODY = "nothing"


class WalkScene(PushedScene):
    """Every number of a style is a slider; presets, files and blends set them; a stick, a pad or keys drive."""

    name, title, sticks, order = "walk", "Walk", True, 1
    hint = "Choose a style and let it walk, or drive with a stick, a gamepad or the keys W A S D Q E."

    def __init__(self, robot: Robot) -> None:
        super().__init__(robot)
        self.base, self.other, self.share = STYLES["neutral"], NOBODY, 0.5
        self.style = self.base
        self.center: str = WalkSettings.center
        self.walking = False
        self.parameters = MotionControls(runs.Walk, robot, own=("style", "steps", "speed"))
        self._held = (0.0, 0.0, 0.0)
        self._told = ""
        self._last = -math.inf
        self.walk: Walk | None = None

    @property
    def ground(self) -> Ground:
        ground: Ground = self.parameters.definition().world.ground
        return ground

    def acts(self) -> dict[str, Act]:
        settings = {"center": self.center}
        setup = self.parameters.definition(style=self.style, steps=0, settings=settings).build(self.robot)
        self.plant, self.walk = setup.plant, setup.behavior
        self._go()
        return {"robot": Act(setup.controller, setup.plant)}

    # -- controls --------------------------------------------------------------------------------------------------

    def controls(self) -> list[Control]:
        names = tuple(STYLES)
        found: list[Control | None] = [
            Switch(name="walking", label="walk", group="Walk", help="walks on its own", value=self.walking),
            Choice(name="preset", label="style", group="Walk", options=(*names, "own"), value=self._preset()),
            Choice(
                name="blend",
                label="blend with",
                group="Walk",
                options=(NOBODY, *names),
                value=self.other,
                help="a second style, mixed in by the share below",
            ),
            Slider(
                name="share",
                label="share of the second",
                group="Walk",
                low=0.0,
                high=1.0,
                step=0.01,
                value=self.share,
            ),
            Button(
                name="repair",
                label="repair balance",
                group="Walk",
                help="the smallest change of steps and timing that keeps it upright",
            ),
            Upload(name="file", label="load a style", group="Walk", accept=".toml", help="a TOML file of a style"),
            Save(name="save", label="save this style", group="Walk"),
        ]
        for group, members in GROUPS.items():
            for name in members:
                found.append(control_for(PARAMETERS[name], getattr(self.style, name), group, f"style.{name}"))
        joints = control_for(STYLE["torque_joints"], self.style.torque_joints, "Looseness", "style.torque_joints")
        center = control_for(SETTINGS["center"], self.center, "Balance")
        shown = [*found, joints, center, *self.parameters.controls(), *self.pushes.controls()]
        return [control for control in shown if control is not None]

    def values(self) -> dict[str, Any]:
        style = {f"style.{name}": getattr(self.style, name) for name in (*PARAMETERS, "torque_joints")}
        own = {"walking": self.walking, "preset": self._preset(), "blend": self.other, "share": self.share}
        world = {control.name: control.as_json()["value"] for control in self.parameters.controls()}
        return {**own, **style, "center": self.center, **world, **self.pushes.values()}

    def do(self, name: str, value: Any) -> str:
        if name == "walking":
            self.walking = bool(value)
            self._go()
        elif name == "preset":
            if isinstance(value, str) and value in STYLES:
                self._dress(STYLES[value])
        elif name == "blend":
            self.other = chosen(value, (NOBODY, *STYLES))
            self._blend()
        elif name == "share":
            self.share = number(value, 0.0, 1.0)
            self._blend()
        elif name == "file":
            self._dress(Style(**value))
            return f"style '{self.style.name}' is loaded"
        elif name == "repair":
            return self._repair()
        elif name == "center":
            self.center, self.stale = chosen(value, SETTINGS["center"].choices), True
        elif name.startswith("style."):
            self._turn(name.removeprefix("style."), value)
        elif self.parameters.set(name, value):
            self.stale = True
        elif self.plant is not None:
            return self.pushes.do(name, value, self.plant)
        return ""

    def _turn(self, name: str, value: Any) -> None:
        if name == "torque_joints":
            value = chosen(value, STYLE[name].choices)
        elif name in PARAMETERS:
            value = number(value, PARAMETERS[name].low, PARAMETERS[name].high)
        else:
            return
        self._wear(self.style.but(**{name: value}))
        self.base, self.other = self.style, NOBODY

    def _dress(self, style: Style) -> None:
        self.base = style
        self._blend()

    def _blend(self) -> None:
        self._wear(self.base if self.other == NOBODY else self.base.mixed(STYLES[self.other], self.share))

    def _wear(self, style: Style) -> None:
        if self.walk is not None:
            self.walk.style = style
        self.style = style

    def _repair(self) -> str:
        if self.walk is None:
            return ""
        changes = self.walk.repair()
        if not changes:
            return "nothing to repair" if self.walk.verdict().walks else "no change of steps and timing would help"
        self.base, self.other = self.walk.style, NOBODY
        self.style = self.walk.style
        return "repaired: " + ", ".join(changes)

    def _preset(self) -> str:
        """The name of the style, if it is as it was made."""
        return self.style.name if STYLES.get(self.style.name) == self.style else "own"

    # -- driving ---------------------------------------------------------------------------------------------------

    def drive(self, forward: float, left: float, turn: float) -> None:
        self._held = (forward, left, turn)
        self._go()

    def leave(self) -> None:
        self._held, self.walking = (0.0, 0.0, 0.0), False
        self._go()

    def _go(self) -> None:
        """Walks as the stick, or else the switch, says."""
        walk = self.walk
        if walk is None:
            return
        if any(self._held):
            slower = math.sqrt(walk.body.leg / 0.8)
            forward, left, turn = (held * most for held, most in zip(self._held, FASTEST, strict=True))
            walk.speed = (slower * forward, slower * left, turn)
            walk.go()
        elif self.walking:
            walk.speed = None
            walk.go()
        else:
            walk.stop()

    # -- what is the case ------------------------------------------------------------------------------------------

    def words(self) -> list[str]:
        if self.walk is None or self.plant is None:
            return []
        if self.plant.fallen:
            return ["It has fallen; reset to begin anew."]
        now = self.plant.time
        if now - self._last > 0.2 or now < self._last:  # a verdict costs some ticks
            said = self.walk.verdict()
            margin = f"{100.0 * said.margin:+.1f} cm"
            self._told = f"balanced, {margin} to spare in the next two steps" if said.walks else f"{said} ({margin})"
            self._last = now
        speed = ", ".join(f"{value:.2f}" for value in self.walk.own_speed)
        return [self._told, f"speed asked for: {speed} (m/s, m/s, rad/s)"]

    def facts(self) -> dict[str, Any]:
        facts: dict[str, Any] = {"behavior": "walk", "style": self.style.name}
        return {**facts, **self.parameters.definition().world.disturbances}

    # -- files -----------------------------------------------------------------------------------------------------

    @classmethod
    def read(cls, control: str, name: str, data: bytes) -> Any:
        style = Style.parsed(data, name)
        return {**{field.name: getattr(style, field.name) for field in fields(style)}, "rest": dict(style.rest)}

    @classmethod
    def written(cls, control: str, values: Mapping[str, Any]) -> tuple[str, str]:
        known = {name.removeprefix("style."): value for name, value in values.items() if name.startswith("style.")}
        preset = str(values.get("preset", "own"))
        return f"{preset}.toml", Style(name=preset, **known).text()
