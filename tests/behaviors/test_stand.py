"""Stand and squat in physics, with one set of gains on all robots."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

from poise import behaviors, runs
from poise.behaviors import Squat, SquatSettings, Stand
from poise.errors import PoiseError, RobotError
from poise.robots import leg_length
from robot_states import installed_robot

pytestmark = pytest.mark.needs_models

ROBOTS = ["g1", "talos", "romeo", "icub"]
#: Force (N) for a tenth of a second, from any direction, that must not cause a step.
PUSHES = [("g1", 100.0), ("talos", 300.0)]


@cache
def run_motion(behavior: str, robot: str, **parameters: Any) -> runs.Result:
    settings = {"cycles": 2.0} if behavior == "squat" else {}
    return runs.MOTIONS[behavior](robot=robot, settings=settings, **parameters).run()[1]


def run_pushed(robot: str, force: float, degrees: int, **parameters: Any) -> runs.Result:
    x, y = force * math.cos(math.radians(degrees)), force * math.sin(math.radians(degrees))
    motion = runs.Stand(robot=robot, seconds=3.0, push=[f"{x:.3f},{y:.3f},0,0.1@0.5"], **parameters)  # type: ignore[call-arg]
    return motion.run()[1]


@pytest.mark.parametrize("solver", ["strict", "weighted"])
@pytest.mark.parametrize("robot", ROBOTS)
def test_it_stands_still(robot: str, solver: str) -> None:
    result = run_motion("stand", robot, seconds=0.75, solver=solver)
    assert (result["fell"], result["reason"], result["fallbacks"]) == (False, None, {})
    assert result["levels"]["balance"]["max"] < 1e-3
    assert result["distance_m"] < 1e-3


@pytest.mark.parametrize(
    ("robot", "force", "degrees"),
    [(*PUSHES[0], degrees) for degrees in (0, 180, 315)] + [(*PUSHES[1], degrees) for degrees in (45,)],
)
def test_a_push_causes_no_fall(robot: str, force: float, degrees: int) -> None:
    result = run_pushed(robot, force, degrees)
    assert (result["fell"], result["reason"]) == (False, None)
    assert result["nonfinite_commands"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("degrees", range(0, 360, 15))
@pytest.mark.parametrize(("robot", "force"), PUSHES)
def test_a_push_from_any_direction_causes_no_fall(robot: str, force: float, degrees: int) -> None:
    result = run_pushed(robot, force, degrees)
    assert (result["fell"], result["reason"]) == (False, None)
    assert result["nonfinite_commands"] == 0


def test_too_strong_a_push_causes_a_fall_that_is_reported() -> None:
    result = run_pushed("g1", 300.0, 0)
    assert result["fell"]
    assert "fell at" in result["reason"]
    assert result["nonfinite_commands"] == 0


@pytest.mark.parametrize(
    ("robot", "solver"),
    [*((robot, "strict") for robot in ROBOTS), ("g1", "weighted")]
    + [pytest.param(robot, "weighted", marks=pytest.mark.slow) for robot in ROBOTS[1:]],
)
def test_a_squat_follows_its_path_with_flat_soles(robot: str, solver: str) -> None:
    result = run_motion("squat", robot, solver=solver)
    assert (result["fell"], result["reason"]) == (False, None)
    assert result["levels"]["balance"]["max"] < 0.02


@pytest.mark.slow
@pytest.mark.parametrize("robot", ROBOTS)
def test_ten_cycles_of_squats_follow_their_path(robot: str) -> None:
    _, result = runs.Squat(robot=robot).run()
    assert (result["seconds"], result["fell"], result["reason"]) == (20.0, False, None)


def test_a_squat_beyond_the_torque_limits_names_the_active_limit() -> None:
    _, result = runs.Squat(robot="romeo", settings={"depth": 0.45, "frequency": 0.7, "cycles": 2}).run()
    assert "off its path" in result["reason"] or result["fell"]
    assert any(entry["seconds"] > 0.0 for entry in result["limits"].values())


@pytest.mark.parametrize(
    "parameters",
    [
        {"terrain": "slope:5"},
        {"terrain": "rough:0.02"},
        {"friction": 0.4},
        {"mass_error": 10.0},
        {"delay": 10.0},
        {"noise": 0.01},
        {"delay": 4.0, "noise": 0.01, "mass_error": 10.0, "friction": 0.6, "push": ("40,0,0,0.1@1",)},
    ],
    ids=str,
)
def test_it_stands_on_bad_ground_with_bad_sensors(parameters: dict[str, Any]) -> None:
    result = run_motion("stand", "g1", seconds=2.5, **parameters)
    assert (result["fell"], result["reason"]) == (False, None)


def test_the_same_seed_gives_the_same_motion() -> None:
    recordings = [runs.Stand(seconds=0.5, noise=0.01, seed=seed).run()[0] for seed in (3, 3, 4)]  # type: ignore[call-arg]
    assert (recordings[0]["q"] == recordings[1]["q"]).all()
    assert not (recordings[0]["q"] == recordings[2]["q"]).all()


def test_a_leg_is_as_long_as_from_hip_to_sole() -> None:
    assert leg_length(installed_robot("g1")) == pytest.approx(0.69, abs=0.05)
    assert leg_length(installed_robot("talos")) == pytest.approx(0.81, abs=0.05)


def test_a_squat_goes_down_and_up_again() -> None:
    squat = Squat(installed_robot("g1"), SquatSettings(depth=0.1, frequency=0.5, cycles=2))
    high, low, end = (squat.center_of_mass(time)[2] for time in (0.0, 1.0, squat.seconds))
    assert high - low == pytest.approx(0.1 * leg_length(squat.robot))
    assert end == pytest.approx(high)
    assert squat.seconds == 4.0


def test_invalid_settings_are_refused() -> None:
    with pytest.raises(PoiseError, match="squat: depth is -1"):
        SquatSettings(depth=-1.0)
    with pytest.raises(PoiseError, match="has no contacts to stand on"):
        Stand(installed_robot("g1"), start=installed_robot("g1").stance("standing").replace(contacts=()))


def test_the_weight_rests_on_the_feet_as_planned() -> None:
    robot = installed_robot("g1")
    recording, _ = runs.Stand(seconds=1.0).run()
    for foot in robot.feet:
        planned, measured = recording[f"force/{foot.name}"][-1], recording[f"measured/force/{foot.name}"][-1]
        assert measured[2] == pytest.approx(planned[2], rel=0.01)
    total = sum(recording[f"measured/force/{foot.name}"][-1][2] for foot in robot.feet)
    assert total == pytest.approx(9.81 * robot.mass, rel=1e-3)
    assert np.abs(recording["command/torque"] / robot.limits.torque).max() < 1.0


@pytest.mark.parametrize(
    "kind", [behaviors.Stand, behaviors.Squat, behaviors.Walk, behaviors.Reach, behaviors.ZmpBalance]
)
def test_the_name_of_a_robot_is_not_a_robot(kind: Callable[[Any], object]) -> None:
    with pytest.raises(RobotError, match=r"'g1' is not a robot; give a Robot, e\.g\. poise\.load_robot"):
        kind("g1")
