"""Motion definitions: valid parameters, and refusal of invalid ones."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from poise import runs
from poise.behaviors import ReachSettings, WalkSettings
from poise.errors import PoiseError, UsageError
from poise.parameters import parameters, settings_from
from poise.plants import Push
from poise.runs.execution import whole_periods


def test_a_motion_has_sensible_defaults() -> None:
    reach = runs.Reach()
    assert (reach.robot, reach.mode, reach.plant, reach.profile) == ("g1", "kinematic", "ideal", "exponential")
    walk = runs.Walk()
    assert (walk.style, walk.steps, walk.speed) == ("neutral", 20, None)


@pytest.mark.parametrize(
    ("name", "evidence"), [("raech", "'reach'"), ("wlak", "'walk'"), ("xyzzy", "there are reach, stand")]
)
def test_a_motion_that_does_not_exist_is_named(name: str, evidence: str) -> None:
    with pytest.raises(UsageError, match=evidence):
        runs.motion_named(name)


@pytest.mark.parametrize("choice", [{"mode": "position"}, {"mode": "kinematic", "plant": "mujoco"}])
def test_an_unsupported_mode_is_refused_with_the_supported_ones(choice: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="it runs with --mode kinematic --plant ideal or --mode torque"):
        runs.Reach(**choice)


@pytest.mark.parametrize(
    ("motion", "arguments", "mode", "plant"),
    [
        (runs.Reach, {}, "kinematic", "ideal"),
        (runs.Reach, {"plant": "mujoco"}, "torque", "mujoco"),
        (runs.Reach, {"mode": "torque"}, "torque", "ideal"),
        (runs.Stand, {}, "torque", "mujoco"),
        (runs.Squat, {"mode": "kinematic"}, "kinematic", "ideal"),
        (runs.Walk, {}, "torque", "mujoco"),
        (runs.Walk, {"plant": "ideal"}, "torque", "ideal"),
    ],
)
def test_mode_and_plant_follow_from_each_other(
    motion: type[runs.Motion], arguments: dict[str, Any], mode: str, plant: str
) -> None:
    definition = motion(**arguments)
    assert (definition.mode, definition.plant) == (mode, plant)


@pytest.mark.parametrize(
    ("disturbance", "word"),
    [
        ({"push": ["10,0,0,0.1@1"]}, "push"),
        ({"terrain": "slope:5"}, "terrain"),
        ({"friction": 0.4}, "friction"),
        ({"mass_error": 10.0}, "mass-error"),
        ({"delay": 4.0}, "delay"),
        ({"noise": 0.01}, "noise"),
        ({"faults": ["swapped@1"]}, "fault"),
        ({"carried_mass": 5.0}, "carried-mass"),
    ],
)
def test_an_ideal_plant_refuses_disturbances(disturbance: dict[str, Any], word: str) -> None:
    with pytest.raises(UsageError, match=f"an ideal plant does not support --{word}; give --plant mujoco"):
        runs.Stand(mode="torque", plant="ideal", **disturbance)


def test_fields_of_the_world_are_arguments_of_a_motion() -> None:
    push = Push((10.0, 0.0, 0.0), duration=0.1, time=1.0)
    motion = runs.Stand(push=push, friction=0.5)  # type: ignore[call-arg]
    assert motion.world == runs.World(push="10.0,0.0,0.0,0.1@1.0", friction=0.5, noise=0.0)  # type: ignore[arg-type]
    assert motion.world.push == ("10.0,0.0,0.0,0.1@1.0",)


@pytest.mark.parametrize(
    ("arguments", "evidence"),
    [
        ({"stile": "proud"}, "walk has no parameter 'stile'; did you mean 'style'"),
        ({"push": "hard"}, "'hard' is not a push"),
        ({"terrain": "lava"}, "lava"),
        ({"friction": -1.0}, "friction is -1.0; expected a positive number"),
        ({"steps": -1}, "steps is -1"),
        ({"solver": "soft"}, "no solver 'soft'; there are strict, weighted, null-space"),
        ({"mode": "kinematic"}, "it runs with --mode torque --plant mujoco or --mode position"),
    ],
)
def test_invalid_arguments_are_refused_in_one_line(arguments: dict[str, Any], evidence: str) -> None:
    with pytest.raises(UsageError) as error:
        runs.Walk(**arguments)
    assert evidence in str(error.value)
    assert "\n" not in str(error.value)


def test_settings_are_filled_in_by_name() -> None:
    assert settings_from(ReachSettings, {"phase_duration": 2.5}) == ReachSettings(phase_duration=2.5)


@pytest.mark.parametrize(
    ("name", "evidence"),
    [("phase_durtion", "did you mean 'phase_duration'"), ("xyzzy", "there are phase_duration, gain")],
)
def test_a_setting_that_does_not_exist_is_named(name: str, evidence: str) -> None:
    with pytest.raises(UsageError, match=evidence):
        settings_from(ReachSettings, {name: 1.0})


def test_booleans_are_booleans_and_old_numbers_still_mean_them() -> None:
    assert settings_from(WalkSettings, {"adapt_steps": 0.0}).adapt_steps is False
    assert settings_from(WalkSettings, {"adapt_steps": True}).adapt_steps is True
    with pytest.raises(PoiseError, match=r"adapt_steps is 0\.5; expected true or false"):
        settings_from(WalkSettings, {"adapt_steps": 0.5})


@pytest.mark.parametrize(("seconds", "lasts"), [(0.005, 0.005), (0.004, 0.005), (1.0, 1.0), (0.012, 0.010)])
def test_a_run_lasts_whole_periods(seconds: float, lasts: float) -> None:
    assert whole_periods(seconds, 0.005) == pytest.approx(lasts)


@pytest.mark.parametrize("seconds", [0.001, 0.0, -1.0, float("inf"), float("nan")])
def test_a_run_without_a_step_is_refused(seconds: float) -> None:
    with pytest.raises(UsageError, match="no control step"):
        whole_periods(seconds, 0.005)


def test_the_usual_duration_follows_the_settings() -> None:
    assert runs.Reach().usual_seconds == 12.5
    assert runs.Reach(settings={"phase_duration": 3.0}).usual_seconds == 15.0
    assert runs.Stand().usual_seconds == 5.0
    assert runs.Squat().usual_seconds == 20.0
    assert runs.Squat(settings={"cycles": 2, "frequency": 1.0}).usual_seconds == 2.0
    assert runs.Walk(steps=10).usual_seconds > runs.Walk(steps=2).usual_seconds > 2.0


@pytest.mark.parametrize("motion", runs.MOTIONS.values(), ids=runs.MOTIONS)
def test_every_parameter_has_a_sentence_and_a_default_that_it_accepts(motion: type[runs.Motion]) -> None:
    declared = runs.motion_parameters(motion)
    assert {each.name for each in fields(motion)} - {"settings", "world"} <= {p.name for p in declared.values()}
    for type_ in (motion, *motion.settings_types().values(), *motion.prefixed_settings.values()):
        for each in parameters(type_).values():
            assert each.description
            assert each.accepts(each.default) or each.default == ""
