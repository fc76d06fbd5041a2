"""What a run can be asked for, and how it refuses the rest."""

from __future__ import annotations

import pytest

from poise import runs
from poise.behaviors import ReachSettings
from poise.errors import UsageError
from poise.runs.request import LATER, filled, lasting


def test_a_request_has_sensible_defaults() -> None:
    request = runs.Request("reach")
    assert (request.robot, request.mode, request.plant, request.profile) == ("g1", "kinematic", "ideal", "exponential")


@pytest.mark.parametrize("behavior", LATER)
def test_a_planned_behavior_says_that_it_arrives_later(behavior: str) -> None:
    with pytest.raises(UsageError, match=f"'{behavior}' arrives with a later part"):
        runs.Request(behavior)


def test_a_misspelt_behavior_is_recognised() -> None:
    with pytest.raises(UsageError, match="did you mean 'reach'"):
        runs.Request("raech")
    with pytest.raises(UsageError, match="did you mean 'walk'"):
        runs.Request("wlak")


def test_a_behavior_like_no_other_is_answered_with_those_there_are() -> None:
    with pytest.raises(UsageError, match="there are reach, stand"):
        runs.Request("xyzzy")


@pytest.mark.parametrize("choice", [{"mode": "position"}, {"mode": "kinematic", "plant": "mujoco"}])
def test_a_mode_or_plant_of_later_says_what_there_is_today(choice: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="today it runs with --mode kinematic --plant ideal or --mode torque"):
        runs.Request("reach", **choice)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("asked", "mode", "plant"),
    [
        ({"behavior": "reach"}, "kinematic", "ideal"),
        ({"behavior": "reach", "plant": "mujoco"}, "torque", "mujoco"),
        ({"behavior": "reach", "mode": "torque"}, "torque", "ideal"),
        ({"behavior": "stand"}, "torque", "mujoco"),
        ({"behavior": "squat", "mode": "kinematic"}, "kinematic", "ideal"),
        ({"behavior": "walk"}, "torque", "mujoco"),
        ({"behavior": "walk", "plant": "ideal"}, "torque", "ideal"),
    ],
)
def test_what_is_not_said_of_mode_and_plant_follows(asked: dict[str, str], mode: str, plant: str) -> None:
    request = runs.Request(**asked)  # type: ignore[arg-type]
    assert (request.mode, request.plant) == (mode, plant)


@pytest.mark.parametrize(
    ("disturbance", "word"),
    [
        ({"pushes": ["10,0,0,0.1@1"]}, "push"),
        ({"terrain": "slope:5"}, "terrain"),
        ({"friction": 0.4}, "friction"),
        ({"mass_error": 10.0}, "mass error"),
        ({"delay": 4.0}, "delay"),
        ({"noise": 0.01}, "noise"),
    ],
)
def test_an_ideal_plant_refuses_what_takes_physics(disturbance: dict[str, object], word: str) -> None:
    with pytest.raises(UsageError, match=f"an ideal plant knows no {word}; give --plant mujoco"):
        runs.Request("stand", mode="torque", plant="ideal", **disturbance)  # type: ignore[arg-type]


def test_a_walk_takes_torques_or_servos() -> None:
    with pytest.raises(UsageError, match="today it runs with --mode torque --plant mujoco or --mode position"):
        runs.Request("walk", mode="kinematic")


def test_a_walk_is_neutral_and_of_twenty_steps_unless_asked_otherwise() -> None:
    request = runs.Request("walk")
    assert (request.style, request.steps, request.speed) == ("neutral", 20, None)


def test_a_solver_that_does_not_exist_is_named() -> None:
    with pytest.raises(UsageError, match="no solver 'soft'; expected strict, weighted, null-space"):
        runs.Request("stand", solver="soft")


def test_settings_are_filled_in_by_name() -> None:
    assert filled(ReachSettings, {"phase": 2.5}) == ReachSettings(phase=2.5)


@pytest.mark.parametrize(("name", "evidence"), [("phas", "did you mean 'phase'"), ("xyzzy", "there are phase, rate")])
def test_a_setting_that_does_not_exist_is_named(name: str, evidence: str) -> None:
    with pytest.raises(UsageError, match=evidence):
        filled(ReachSettings, {name: 1.0})


@pytest.mark.parametrize(("asked", "lasts"), [(0.005, 0.005), (0.004, 0.005), (1.0, 1.0), (0.012, 0.010)])
def test_a_run_lasts_whole_periods(asked: float, lasts: float) -> None:
    assert lasting(asked, 0.005) == pytest.approx(lasts)


@pytest.mark.parametrize("asked", [0.001, 0.0, -1.0, float("inf"), float("nan")])
def test_a_run_without_a_step_is_refused(asked: float) -> None:
    with pytest.raises(UsageError, match="no control step"):
        lasting(asked, 0.005)


def test_the_usual_duration_follows_the_settings() -> None:
    assert runs.usual_seconds(runs.Request("reach")) == 10.0
    assert runs.usual_seconds(runs.Request("reach", settings={"phase": 3.0})) == 15.0
    assert runs.usual_seconds(runs.Request("stand")) == 5.0
    assert runs.usual_seconds(runs.Request("squat")) == 20.0
    assert runs.usual_seconds(runs.Request("squat", settings={"cycles": 2, "frequency": 1.0})) == 2.0
    assert runs.usual_seconds(runs.Request("walk", steps=10)) > runs.usual_seconds(runs.Request("walk", steps=2)) > 2.0
