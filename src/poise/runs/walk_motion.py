"""Motion ``walk``: walking with a style by torque control, or on position servos along a pattern planned in advance."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from poise import behaviors
from poise.analysis import (
    STYLE_MEASURES,
    analyze_walk,
    base_displacement,
    largest_foot_slip,
    middle_of_feet,
    style_measures,
)
from poise.behaviors import WalkSettings, ZmpBalanceSettings, gait_speed, walking_pattern
from poise.errors import UsageError, suggestion
from poise.parameters import check_parameters, current_settings, declared_in, parameter
from poise.parsing import parse_integer, parse_speed
from poise.plans import SINUSOID_PARAMETERS, STYLES, Footstep, ReferenceTrajectory, Stairway, Style
from poise.plants import STAIRS_DISTANCE, Stairs, Terrain
from poise.recording import Recording
from poise.robots import Robot, State, library_names, limbs
from poise.runs.execution import CompletedRun, Result
from poise.runs.motion import ResultColumn, Setup
from poise.runs.servo_balance import SERVO_COLUMNS, ServoBalance

#: Largest error of the divergent component of motion (DCM) in the last second (m); with more, the robot is falling.
LARGEST_DCM_ERROR = 0.12
#: Recorded channel of the DCM error.
DCM_ERROR_CHANNEL = "error/balance/dcm"
#: Prefix of settings that change a parameter of the style, as in ``--set style.step_length=0.2``.
STYLE_PREFIX = "style."
#: Smallest fraction of the planned distance that a successful walk on servos covers.
ARRIVAL_SHARE = 0.7
#: Parameters of a style that a walk on servos uses.
GAIT_PARAMETERS = ("single_support", "double_support", "step_length", "step_height")


@dataclass(frozen=True)
class ServoWalkSettings(ZmpBalanceSettings):
    """`ZmpBalanceSettings` with the durations, lengths and heights of a `Style`."""

    single_support: float = declared_in(Style, "single_support")
    double_support: float = declared_in(Style, "double_support")
    step_length: float = declared_in(Style, "step_length")
    step_height: float = declared_in(Style, "step_height")

    def __post_init__(self) -> None:
        check_parameters(self, "walk")


@dataclass(frozen=True, kw_only=True)
class Walk(ServoBalance):
    """Walk a number of steps with a style and end with the feet side by side.

    A complete run (robot, world, controller, plant, judgment) of the behavior `poise.behaviors.Walk`.
    """

    name: ClassVar[str] = "walk"
    summary: ClassVar[str] = "walk with a given style and speed, over terrain and against pushes"
    quality_kind: ClassVar[str] = "walk"
    torque_settings: ClassVar[type] = WalkSettings
    servo_settings: ClassVar[type] = ServoWalkSettings
    prefixed_settings: ClassVar[Mapping[str, type]] = {STYLE_PREFIX: Style}
    file_parameters: ClassVar[Mapping[str, Callable[[], list[str]]]] = {
        "robot": lambda: list(library_names()),
        "style": lambda: list(STYLES),
    }
    columns: ClassVar[dict[str, ResultColumn]] = {
        "speed_forward": ResultColumn("number", "m/s", "mean speed forward", "walk.speed.0"),
        "speed_left": ResultColumn("number", "m/s", "mean speed to the left", "walk.speed.1"),
        "speed_turning": ResultColumn("number", "rad/s", "mean yaw rate", "walk.speed.2"),
        "dcm_error_m": ResultColumn("number", "m", "largest DCM error in the last second", "walk.dcm_error_m"),
        "slip_m": ResultColumn("number", "m", "largest slip of a stance foot", "walk.slip_m"),
        **{
            f"measure.{name}": ResultColumn("number", each.unit, each.description)
            for name, each in STYLE_MEASURES.items()
        },
        **SERVO_COLUMNS,
    }

    style: str | Style = parameter(
        "neutral",
        "walking style: neutral, relaxed, cautious, proud, sad, ... or a TOML file",
        metavar="NAME|FILE.toml",
        suggestions=tuple(STYLES),
        types=(Style,),
    )
    steps: float = parameter(
        20,
        "number of steps; 0: stand, and step only when pushed",
        kind="number",
        low=0,
        metavar="N",
        parser=parse_integer,
    )
    speed: tuple[float, float, float] | None = parameter(
        None,
        "speed forward (m/s), to the left (m/s) and turning (rad/s) (default: that of the style)",
        kind="text",
        metavar="VX,VY,WZ",
        parser=parse_speed,
    )

    def check(self) -> None:
        if self.zmp_regulated and self.style != "neutral":
            raise UsageError("styles are not supported on position servos; leave --style out")
        ineffective = [STYLE_PREFIX + name for name in SINUSOID_PARAMETERS if STYLE_PREFIX + name in self.settings]
        if ineffective and self.settings.get("com_reference") != "sinusoid":
            raise UsageError(
                f"{ineffective[0]} has no effect with the default reference of the center of mass; leave it out, or "
                "give --set com_reference=sinusoid"
            )
        super().check()

    def check_names(self) -> None:
        super().check_names()
        if not self.zmp_regulated:
            self.resolved_style()

    @property
    def usual_seconds(self) -> float:
        return 3.0 + 0.6 * (self.steps + 1)  # an estimate: the duration depends on the robot

    # -- torque control --------------------------------------------------------------------------------------------

    def resolved_style(self) -> Style:
        """Return the style by name or from its file, with the ``style.NAME`` settings applied."""
        changes = {
            name.removeprefix(STYLE_PREFIX): value
            for name, value in self.settings.items()
            if name.startswith(STYLE_PREFIX)
        }
        style = self.style if isinstance(self.style, Style) else find_style(self.style)
        return style.replace(**changes)

    def build_with_torques(self, robot: Robot) -> Setup:
        plant = self.build_plant(self.start_stance(robot))
        walk = self.behavior(robot, plant.state())
        facts = {"style": walk.style.name, "steps": self.steps, "speed": walk.requested_speed}
        return Setup(walk, self.controller(walk, walk.weights), plant, walk.seconds, facts)

    def behavior(self, robot: Robot, start: State) -> behaviors.Walk:
        """Return the behavior for torque control. It knows the positions of stairs; other terrain it has to sense."""
        ground = known_ground(self.world.ground, robot)
        style = self.resolved_style()
        if self.world.carried_mass:  # the arms hold the box instead of swinging
            style = style.replace(rest_posture={**arm_angles(self.start_stance(robot)), **style.rest_posture})
        return behaviors.Walk(robot, style, self.speed, self.steps, self.resolved_settings(), start, ground)

    def judge_with_torques(self, setup: Setup, run: CompletedRun, result: Result) -> list[str]:
        """Judge the run: it succeeds if all steps are made and the DCM is near its plan at the end."""
        walk, recording, states = setup.behavior, run.recording, run.states_before_fall
        step_count = len(run.walk.steps) if result["fell"] else walk.phase().steps
        result["steps"] = step_count
        result["distance_m"], result["heading_rad"] = base_displacement(states)
        last = np.linalg.norm(recording[DCM_ERROR_CHANNEL][-round(1.0 / recording.period) :], axis=1)
        dcm_error = float(np.nanmax(last)) if np.isfinite(last).any() else math.inf
        result["warnings"] += style_warnings(walk)
        result["walk"] = {
            "style": walk.style.name,
            "speed": None if math.isnan(run.walk.speed.forward) else list(run.walk.speed),
            "commanded_speed": list(setup.provenance["speed"]),
            "dcm_error_m": dcm_error,
            "slip_m": largest_foot_slip(recording, states, run.robot),
        }
        if result["fell"]:
            return []
        reasons = []
        if dcm_error > LARGEST_DCM_ERROR:
            reasons.append(f"about to fall: the DCM is {100 * dcm_error:.0f} cm from its plan at the end")
        if step_count < self.steps and self.seconds is None:
            reasons.append(f"made {step_count} of {self.steps:.0f} steps")
        return reasons

    def row(self, recording: Recording, result: Result) -> dict[str, Any]:
        values = super().row(recording, result)
        if result["fell"] or recording.robot is None:  # a fall has no measures of style
            return values
        measures = style_measures(analyze_walk(recording, recording.robot))
        return values | {f"measure.{name}": float(getattr(measures, name)) for name in STYLE_MEASURES}

    # -- position servos -------------------------------------------------------------------------------------------

    def servo_defaults(self, robot: Robot) -> dict[str, Any]:
        known = self.servo_settings.__dataclass_fields__  # type: ignore[attr-defined]
        robot_settings = current_settings(self.servo_settings, robot.servos.walk)
        return {
            **super().servo_defaults(robot),
            **{name: value for name, value in robot_settings.items() if name in known},
        }

    def reference(self, settings: Any, start: State) -> ReferenceTrajectory:
        if not math.isfinite(self.steps):
            raise UsageError(
                f"a walk on servos is planned in advance and cannot have {self.steps} steps; give --steps N"
            )
        style = replace(STYLES["neutral"], **{name: getattr(settings, name) for name in GAIT_PARAMETERS})
        return walking_pattern(start, style, self.steps, self.speed)

    def reference_provenance(self, reference: Any) -> dict[str, Any]:
        return {"style": "on servos", "steps": self.steps, "speed": gait_speed(reference.footstep_plan.gait)}

    def judge_reference(self, reference: Any, run: CompletedRun) -> list[str]:
        if self.seconds is not None:
            return []
        way = reference.center(reference.seconds)[0][:2] - reference.center(0.0)[0][:2]
        displacement = (middle_of_feet(run.states[-1]) - middle_of_feet(run.states[0]))[:2]
        distance = float(np.linalg.norm(way))
        if distance < 1e-3 or float(displacement @ way) / distance**2 > ARRIVAL_SHARE:
            return []
        return [f"walked {float(displacement @ way) / distance:.2f} m of {distance:.2f} m"]


def known_ground(ground: Terrain, robot: Robot) -> Callable[[Footstep], Footstep] | None:
    """Return the function that places footsteps on stairs that are known in advance; None for other terrain."""
    if not isinstance(ground, Stairs):
        return None
    sole = robot.feet[0].sole
    half = 0.5 * (sole.x_max - sole.x_min)
    return Stairway(STAIRS_DISTANCE, ground.rise, ground.run, ground.count, half, half).place_on_tread


def arm_angles(state: State) -> dict[str, float]:
    """Return the angles of the arm joints in a state by name (rad)."""
    names = [name for limb in limbs(state.robot) if limb.name.endswith(" arm") for name in limb.joints]
    return {name: float(state.q[state.robot.joint(name).q]) for name in names}


def style_warnings(walk: behaviors.Walk) -> list[str]:
    """Return one line if the sway of a style has no effect, or if the style was changed for the sinusoid reference."""
    if walk.default_changes:
        return [f"style changed to keep balance with the sinusoid reference: {', '.join(walk.default_changes)}"]
    chosen = [name for name in SINUSOID_PARAMETERS if getattr(walk.style, name) != getattr(STYLES["neutral"], name)]
    if chosen and walk.settings.com_reference != "sinusoid":
        return [f"the style sets {' and '.join(chosen)}, without effect: give --set com_reference=sinusoid"]
    return []


def find_style(name: str) -> Style:
    """Return a style by name, or load it from a TOML file; `UsageError` if there is none."""
    if name.endswith(".toml"):
        return Style.load(name)
    if name not in STYLES:
        if os.path.isfile(name):
            raise UsageError(f"'{name}' is not a style: the name of a style file ends in .toml")
        own = f"{name}.toml"
        hint = f"give the file '{own}'" if os.path.isfile(own) else f"{suggestion(name, STYLES)} (or give a .toml file)"
        raise UsageError(f"there is no style '{name}'; {hint}")
    return STYLES[name]
