"""Walk runs: recording and result."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from poise import Recording, runs
from poise.errors import UsageError
from poise.plans import STYLES, Footstep, Style
from poise.plants import FlatTerrain, Stairs
from poise.runs.walk_motion import find_style
from robot_states import installed_robot

pytestmark = pytest.mark.needs_models


@cache
def run_walk(**parameters: Any) -> tuple[Recording, runs.Result]:
    return runs.Walk(**parameters).run()


def test_the_result_of_a_walk_has_its_measures() -> None:
    recording, result = run_walk(steps=6)
    assert (result["fell"], result["reason"], result["steps"]) == (False, None, 6)
    walk = result["walk"]
    assert list(walk) == ["style", "speed", "commanded_speed", "dcm_error_m", "slip_m"]
    assert walk["style"] == "neutral"
    assert walk["speed"][0] == pytest.approx(walk["commanded_speed"][0], rel=0.3)
    assert walk["speed"][1:] == pytest.approx([0.0, 0.0], abs=0.02)
    assert walk["dcm_error_m"] < 0.12
    assert walk["slip_m"] < 0.02
    assert result["nonfinite_commands"] == 0
    assert json.loads(json.dumps(result, allow_nan=False)) == result
    first, last = (recording.state(i, installed_robot("g1")) for i in (0, recording.samples - 1))
    assert result["distance_m"] == pytest.approx(np.linalg.norm((last.q - first.q)[:2]))


def test_its_recording_has_phases_and_provenance() -> None:
    recording, _ = run_walk(steps=6)
    assert set(recording["phase"]) >= {"standing", "starting", "left support", "right support", "double support"}
    facts = recording.provenance
    assert (facts["behavior"], facts["style"], facts["steps"]) == ("walk", "neutral", 6)
    assert len(facts["speed"]) == 3


def test_without_steps_it_stands() -> None:
    _, result = run_walk(steps=0)
    assert (result["fell"], result["reason"], result["steps"]) == (False, None, 0)
    assert result["distance_m"] < 5e-3
    assert result["walk"]["speed"] is None


def test_a_commanded_speed_is_reached() -> None:
    _, result = run_walk(steps=6, speed=(0.3, 0.0, 0.0), style="relaxed")
    assert result["reason"] is None
    assert result["walk"]["commanded_speed"] == [0.3, 0.0, 0.0]
    assert result["walk"]["speed"][0] == pytest.approx(0.3, rel=0.3)


def test_too_strong_a_push_causes_a_fall_that_is_reported() -> None:
    _, result = run_walk(steps=4, push=("0,500,0,0.1@1.5",))
    assert result["fell"]
    assert "fell at" in result["reason"]
    assert result["nonfinite_commands"] == 0


def test_a_run_that_ends_while_falling_has_failed() -> None:
    _, result = run_walk(steps=4, push=("0,500,0,0.1@1.5",), seconds=1.7)
    assert not result["fell"]
    assert "about to fall" in result["reason"]


def test_a_shortened_walk_is_evaluated_by_its_completed_steps() -> None:
    _, result = run_walk(steps=20, seconds=2.5)
    assert result["reason"] is None
    assert 0 < result["steps"] < 20


def test_the_same_parameters_give_the_same_walk() -> None:
    one, other = (runs.Walk(robot="nao", steps=1, seconds=1.0, noise=0.01, seed=2).run()[0] for _ in range(2))  # type: ignore[call-arg]
    np.testing.assert_array_equal(one["q"], other["q"])


def test_it_walks_on_an_ideal_plant() -> None:
    _, result = run_walk(steps=3, plant="ideal")
    assert (result["reason"], result["steps"]) == (None, 3)


# -- parameters ------------------------------------------------------------------------------------------------------


def test_a_style_is_named_or_read(tmp_path: Path) -> None:
    assert find_style("sad") is STYLES["sad"]
    own = Style("own", chest_pitch=0.2)
    own.save(tmp_path / "own.toml")
    assert find_style(str(tmp_path / "own.toml")) == own


def test_an_unknown_style_is_refused_with_the_available_names(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no style 'angry'; there are neutral, .* \(or give a \.toml file\)"):
        find_style("angry")
    (tmp_path / "own.txt").write_text("")
    with pytest.raises(UsageError, match=r"the name of a style file ends in \.toml"):
        find_style(str(tmp_path / "own.txt"))


def test_settings_are_those_of_the_walk() -> None:
    robot = installed_robot("g1")
    walk = runs.Walk(settings={"com_reference": "sinusoid", "dcm_gain": 2.0}).behavior(robot, robot.stance("standing"))
    assert (walk.settings.com_reference, walk.settings.dcm_gain) == ("sinusoid", 2.0)
    with pytest.raises(UsageError, match="no setting 'dcm_gian'; did you mean 'dcm_gain'"):
        runs.Walk(settings={"dcm_gian": 2.0}).behavior(robot, robot.stance("standing"))


@pytest.mark.parametrize("rise", [0.05, -0.05])
def test_stairs_are_known_to_the_plan_as_they_are_built(rise: float) -> None:
    plan = runs.Walk(terrain=f"stairs:{rise},0.3,3").build().behavior.footstep_plan  # type: ignore[call-arg]
    stairs = Stairs(rise, 0.3, 3)
    for i in range(30):
        step = plan.on_ground(Footstep("left", 0.0, 0.1), Footstep("right", 0.1 * i, -0.1))
        assert step.z == pytest.approx(stairs.elevation(step.x, step.y))
    flat = runs.Walk().build().behavior.footstep_plan
    assert flat.on_ground(Footstep("left", 0.0, 0.1), Footstep("right", 0.5, -0.1)).z == FlatTerrain().elevation(
        0.5, -0.1
    )


def test_the_arms_of_a_marching_robot_are_still() -> None:
    _, result = runs.Walk(robot="g1", style="marching", steps=6).run()
    assert result["reason"] is None
    assert result["quality"]["arm_swing_deg"] < 30.0
