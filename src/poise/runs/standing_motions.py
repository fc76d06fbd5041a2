"""Motions without walking: reach on one foot ([Saab2012]), stand, and squat."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from poise import behaviors
from poise.analysis import base_displacement, capture_point_error, largest_sole_tilt
from poise.behaviors import (
    REACH_TARGETS,
    ReachSettings,
    SquatSettings,
    UprightSettings,
    ZmpBalanceSettings,
    load_reach_points,
    standing_reference,
)
from poise.parameters import check_parameters, declared_in, parameter
from poise.plans import ReferenceTrajectory, SquatReference, StandReference
from poise.robots import Robot, State, leg_length, library_names
from poise.runs.execution import CompletedRun, Result
from poise.runs.motion import Motion, ResultColumn, Setup
from poise.runs.servo_balance import SERVO_COLUMNS, SETTLING_TIME, ServoBalance

#: Largest distance from hand to target at the end of a phase, by plant (m): on an ideal plant a hundredth of an arm.
REACH_TOLERANCE = {"ideal": 0.005, "mujoco": 0.01}
#: Largest errors of a simulated reach: center of mass (m), boxes of the left hand and foot (m), tilt of the sole (rad).
LARGEST_COM_ERROR, LARGEST_BOX_ERROR, LARGEST_SOLE_TILT = 0.01, 0.005, math.radians(1.0)
#: Largest error of the capture point at the end of a stand (m); with more the robot may fall.
LARGEST_CAPTURE_ERROR = 0.02
#: Largest error of the center of mass (m) and largest tilt of the soles (rad) during a squat.
LARGEST_PATH_ERROR, LARGEST_SQUAT_TILT = 0.02, math.radians(1.0)
PROFILES = ("exponential", "minimum-jerk")


@dataclass(frozen=True, kw_only=True)
class Reach(Motion):
    """Reach five points in turn, standing on one foot with a cup in the other hand ([Saab2012], section 3.2).

    A complete run (robot, world, controller, plant, judgment) of the behavior `poise.behaviors.Reach`.
    """

    name: ClassVar[str] = "reach"
    summary: ClassVar[str] = "reach five points in turn on one foot, a cup in the other hand"
    available: ClassVar[tuple[tuple[str, str], ...]] = (
        ("kinematic", "ideal"),
        ("torque", "ideal"),
        ("torque", "mujoco"),
    )
    columns: ClassVar[dict[str, ResultColumn]] = {
        "reach_error_m": ResultColumn("number", "m", "largest distance from a target", "reach_errors_m.max"),
    }

    file_parameters: ClassVar[Mapping[str, Callable[[], list[str]]]] = {
        "robot": lambda: list(library_names()),
        "targets": lambda: ["", *REACH_TARGETS],
    }

    profile: str = parameter("exponential", "velocity profile of the hand", choices=PROFILES)
    targets: str = parameter(
        "",
        f"points to reach: {', '.join(REACH_TARGETS)}, or a TOML file (default: floor, as in the paper, or middle "
        "where arms are too short or motors too weak; the result says why)",
        kind="text",
        metavar="NAME|FILE.toml",
        suggestions=tuple(REACH_TARGETS),
    )

    @classmethod
    def settings_types(cls) -> dict[str, type]:
        return {"": ReachSettings}

    @property
    def usual_seconds(self) -> float:
        return 5.0 * _positive(self.settings, "phase_duration", ReachSettings.phase_duration)

    def provenance(self) -> dict[str, Any]:
        return {"profile": self.profile}

    def check_names(self) -> None:
        super().check_names()
        if self.targets:
            load_reach_points(self.targets)

    def build(self, robot: Robot | None = None) -> Setup:
        loaded, settings = robot or self.load(), self.resolved_settings()
        reach = behaviors.Reach(loaded, settings, self.profile, self.targets or None)  # type: ignore[arg-type]
        # As in the paper: with the exponential profile and torque control, tasks switch without a ramp.
        at_once = {"ramp": 0.0} if self.mode == "torque" and self.profile == "exponential" else {}
        facts = {"targets": reach.targets, "targets_reason": reach.targets_reason or None}
        return Setup(reach, self.controller(reach, **at_once), self.build_plant(reach.start), reach.seconds, facts)

    def judge(self, setup: Setup, run: CompletedRun, result: Result) -> list[str]:
        """Judge the run: it succeeds if every target is reached and, in simulation, all other tasks are kept."""
        reach, recording, robot = setup.behavior, run.recording, run.robot
        ends = {
            phase.name: recording.state(max(round(phase.end / recording.period) - 1, 0), robot)
            for phase in reach.phases
            if phase.is_target and phase.end <= recording.time[-1] + 1.5 * recording.period
        }
        misses = reach.reach_errors(ends)
        result["reach_errors_m"] = list(misses.values())
        result["targets"], result["targets_reason"] = reach.targets, reach.targets_reason or None
        near = REACH_TOLERANCE[self.plant]
        reasons = [f"{name} missed by {miss * 1e3:.1f} mm" for name, miss in misses.items() if miss > near]
        return reasons + (_shortcomings(reach, run.states) if self.plant == "mujoco" else [])


def _shortcomings(reach: behaviors.Reach, states: list[State]) -> list[str]:
    """Return the reasons why a simulated reach failed: center of mass, boxes of hand and foot, tilt of the sole."""
    target = reach.start.support_center
    com_error = max(float(np.linalg.norm(state.center_of_mass[:2] - target)) for state in states)
    parts: tuple[Literal["hand", "foot"], ...] = ("hand", "foot") if reach.holds_cup else ("foot",)
    out = {part: reach.box_violation(part, states) for part in parts}
    tilt = largest_sole_tilt(states, reach.robot)
    messages = [
        f"left {part} left its box by {1e3 * way:.1f} mm" for part, way in out.items() if way > LARGEST_BOX_ERROR
    ]
    if com_error > LARGEST_COM_ERROR:
        messages.append(f"center of mass {1e3 * com_error:.1f} mm from its target")
    if tilt > LARGEST_SOLE_TILT:
        messages.append(f"sole tilted by {math.degrees(tilt):.1f} degrees")
    return messages


@dataclass(frozen=True, kw_only=True)
class Stand(ServoBalance):
    """Stand on both feet and recover from pushes without stepping.

    A complete run (robot, world, controller, plant, judgment) of the behavior `poise.behaviors.Stand`.
    """

    name: ClassVar[str] = "stand"
    summary: ClassVar[str] = "stand on both feet and recover from pushes without stepping"
    quality_kind: ClassVar[str] = "stand"
    columns: ClassVar[dict[str, ResultColumn]] = SERVO_COLUMNS
    torque_settings: ClassVar[type] = UprightSettings

    @property
    def usual_seconds(self) -> float:
        return behaviors.Stand.seconds

    def build_with_torques(self, robot: Robot) -> Setup:
        plant = self.build_plant(self.start_stance(robot))
        behavior = self.behavior(robot, plant.state())
        return Setup(behavior, self.controller(behavior, behavior.weights), plant, behavior.seconds)

    def behavior(self, robot: Robot, start: State) -> behaviors.Stand:
        """Return the behavior for torque control."""
        return behaviors.Stand(robot, self.resolved_settings(), start)

    def judge_with_torques(self, setup: Setup, run: CompletedRun, result: Result) -> list[str]:
        """Judge the run: it succeeds if the robot is at rest at the end."""
        result["steps"] = 0
        result["distance_m"], result["heading_rad"] = base_displacement(run.states_before_fall)
        if result["fell"]:
            return []
        last = run.states[-1]
        error = capture_point_error(last, setup.behavior.center_of_mass(last.time))
        return [_not_at_rest(error)] if error > LARGEST_CAPTURE_ERROR else []

    def reference(self, settings: Any, start: State) -> ReferenceTrajectory:
        return StandReference(*standing_reference(start))


def _not_at_rest(error: float) -> str:
    return f"not at rest at the end: the capture point is {1e3 * error:.0f} mm from its target"


@dataclass(frozen=True)
class ServoSquatSettings(ZmpBalanceSettings):
    """`ZmpBalanceSettings` with depth, frequency and cycles of `SquatSettings`."""

    depth: float = declared_in(SquatSettings, "depth")
    frequency: float = declared_in(SquatSettings, "frequency")
    cycles: float = declared_in(SquatSettings, "cycles")

    def __post_init__(self) -> None:
        check_parameters(self, "squat")


@dataclass(frozen=True, kw_only=True)
class Squat(Stand):
    """Squat repeatedly: the center of mass moves down and up, the soles stay flat.

    A complete run (robot, world, controller, plant, judgment) of the behavior `poise.behaviors.Squat`.
    """

    name: ClassVar[str] = "squat"
    summary: ClassVar[str] = "squat with the soles flat on the ground"
    available: ClassVar[tuple[tuple[str, str], ...]] = (*ServoBalance.available, ("kinematic", "ideal"))
    torque_settings: ClassVar[type] = SquatSettings
    servo_settings: ClassVar[type] = ServoSquatSettings

    @property
    def usual_seconds(self) -> float:
        cycles = _positive(self.settings, "cycles", SquatSettings.cycles)
        frequency = _positive(self.settings, "frequency", SquatSettings.frequency)
        return (SETTLING_TIME if self.zmp_regulated else 0.0) + cycles / frequency

    def behavior(self, robot: Robot, start: State) -> behaviors.Stand:
        return behaviors.Squat(robot, self.resolved_settings(), start)

    def judge_with_torques(self, setup: Setup, run: CompletedRun, result: Result) -> list[str]:
        """Judge the run: it succeeds if the robot follows its path with flat soles and is at rest at the end."""
        reasons = super().judge_with_torques(setup, run, result)
        return reasons if result["fell"] else reasons + _deviations(setup.behavior, run.states, result)

    def reference(self, settings: Any, start: State) -> ReferenceTrajectory:
        depth = settings.depth * leg_length(start.robot)
        return SquatReference(*standing_reference(start), depth, settings.frequency, settings.cycles, SETTLING_TIME)

    def reference_provenance(self, reference: Any) -> dict[str, Any]:
        return {"squat_begin": reference.begin}


def _deviations(squat: behaviors.Squat, states: list[State], result: Result) -> list[str]:
    """Return the reasons why a squat failed, with the motors that were at their torque limit."""
    misses = [float(np.abs(state.center_of_mass - squat.center_of_mass(state.time)).max()) for state in states]
    tilt, worst = largest_sole_tilt(states, squat.robot), max(misses)
    messages = []
    if worst > LARGEST_PATH_ERROR:
        at_limit = ", ".join(
            f"{name} at its limit of {entry['limit_Nm']:.0f} N m for {entry['seconds']:.2f} s"
            for name, entry in (result["limits"] or {}).items()
        )
        acting = f" ({at_limit})" if at_limit else ""
        messages.append(f"center of mass up to {1e3 * worst:.0f} mm off its path{acting}")
    if tilt > LARGEST_SQUAT_TILT:
        messages.append(f"a sole tilted by {math.degrees(tilt):.1f} degrees")
    return messages


def _positive(settings: Any, name: str, usual: float) -> float:
    """Return a given setting or its usual value; 1 if it is not a positive number, which is refused later."""
    value = settings.get(name, usual)
    return float(value) if isinstance(value, (int, float)) and value > 0 else 1.0
