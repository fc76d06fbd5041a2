"""Invalid arguments of a walk are refused at construction and when they are set."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from poise import load_robot
from poise.behaviors import Walk, WalkSettings
from poise.errors import PoiseError
from poise.plans import NEUTRAL
from robot_states import installed_robot
from small_robots import BIPED, BIPED_PARTS, write_urdf

pytestmark = pytest.mark.needs_models

NOT_FINITE = [(math.nan, 0.0, 0.0), (0.2, math.inf, 0.0), (0.0, 0.0, -math.inf)]


def test_an_unknown_style_is_refused_with_the_available_names() -> None:
    with pytest.raises(PoiseError, match="there is no style 'angry'; expected one of neutral, relaxed"):
        Walk(installed_robot("g1"), style="angry")
    walk = Walk(installed_robot("g1"))
    with pytest.raises(PoiseError, match="there is no style 'angry'"):
        walk.style = "angry"
    assert walk.style.name == "neutral"


def test_a_rest_posture_of_another_robot_is_refused() -> None:
    style = NEUTRAL.replace(name="mine", rest_posture={"LElbowRoll": -0.5})
    with pytest.raises(PoiseError, match="style 'mine': rest_posture names LElbowRoll, none of which g1 has"):
        Walk(installed_robot("g1"), style)
    walk = Walk(installed_robot("g1"))
    with pytest.raises(PoiseError, match="none of which g1 has"):
        walk.style = style
    Walk(installed_robot("nao"), style)
    misspelt = NEUTRAL.replace(name="mine", rest_posture={"left_elbow": 0.5})
    with pytest.raises(PoiseError, match="did you mean 'left_elbow_joint'"):
        Walk(installed_robot("g1"), misspelt)


def test_a_rest_posture_is_accepted_on_the_robot_that_has_its_joints() -> None:
    robot = installed_robot("g1")
    walk = Walk(robot, NEUTRAL.replace(rest_posture={"left_elbow_joint": 0.7, "LElbowRoll": -0.5}))
    names = [joint.name for joint in walk.task_set._light]
    assert walk.task_set.rest["light"].value[names.index("left_elbow_joint")] == pytest.approx(0.7)


@pytest.mark.parametrize("speed", NOT_FINITE)
def test_a_speed_is_finite(speed: tuple[float, float, float]) -> None:
    walk = Walk(installed_robot("g1"))
    with pytest.raises(PoiseError, match="walk: speed is"):
        walk.speed = speed
    assert walk.speed is None


@pytest.mark.parametrize("speed", NOT_FINITE)
def test_a_speed_is_finite_from_the_beginning(speed: tuple[float, float, float]) -> None:
    with pytest.raises(PoiseError, match="walk: speed is"):
        Walk(installed_robot("g1"), speed=speed)


def test_a_speed_has_three_parts() -> None:
    walk = Walk(installed_robot("g1"))
    with pytest.raises(PoiseError, match="walk: speed is"):
        walk.speed = (0.2, 0.0)  # type: ignore[assignment]


def test_a_robot_without_two_feet_does_not_walk(tmp_path: Path) -> None:
    parts = {**BIPED_PARTS, "feet": {"left": {**BIPED_PARTS["feet"], "frame": "left_foot"}}}
    robot = load_robot(write_urdf(tmp_path, BIPED), **parts)
    with pytest.raises(PoiseError, match="small has 1 feet; walking needs two"):
        Walk(robot)


@pytest.mark.parametrize(
    ("setting", "evidence"),
    [
        ({"dcm_gain": -1.0}, "walk: dcm_gain is -1.0; expected zero or a positive number"),
        ({"swing_gain": 0.0}, "walk: swing_gain is 0.0"),
        ({"style_transition_time": math.nan}, "walk: style_transition_time is nan"),
        ({"com_reference": "preview"}, "walk: com_reference is 'preview'; expected dcm or sinusoid"),
        ({"touchdown": "hope"}, "walk: touchdown is 'hope'; expected time or force"),
    ],
)
def test_invalid_settings_are_refused_by_name(setting: dict, evidence: str) -> None:
    with pytest.raises(PoiseError, match=evidence):
        WalkSettings(**setting)


@pytest.mark.parametrize("name", ["dcm_gain", "chest_damping", "standing_time"])
def test_some_settings_may_be_zero(name: str) -> None:
    assert getattr(WalkSettings(**{name: 0.0}), name) == 0.0  # type: ignore[arg-type]
