"""Errors in a robot description are one line with file, key and a suggestion."""

import textwrap
import tomllib
from pathlib import Path

import pytest

from poise.errors import RobotError
from poise.robots import SIDES, description, load_robot, with_side
from poise.robots.description import mirrored_name
from small_robots import BIPED, BIPED_PARTS, write_urdf

FOOT = {"frame": "left_foot", "sole": [-0.1, 0.1, -0.1, 0.1]}

MISTAKES = [
    ({"color": 3}, "has no key 'color'", "color"),
    ({"hand": {}}, "did you mean 'hands'", "hand"),
    ({"feet": "left_foot"}, "expected a table", "feet"),
    ({"feet": {"left": "left_foot"}}, "expected a table", "feet.left"),
    ({"feet": {"left": FOOT, "rigth": FOOT}}, "did you mean 'right'", "rigth"),
    ({"feet": {"left": {"fram": "left_foot"}}}, "rename 'fram' if it is misspelt", "feet.left.frame"),
    ({"feet": {"left": {"frame": "left_foot"}}}, "[feet.left] sole is missing", "feet.left.sole"),
    ({"feet": {"left": FOOT | {"sole": [1, 2]}}}, "x_min, x_max, y_min, y_max", "feet.left.sole"),
    ({"feet": {"left": FOOT | {"sole": [1, 0, 0, 1]}}}, "has no area", "feet.left.sole"),
    ({"feet": {"left": FOOT | {"sole": [0, float("nan"), 0, 1]}}}, "expected the numbers", "feet.left.sole"),
    ({"feet": {"left": FOOT | {"frame": "left_fot"}}}, "did you mean 'left_foot'", "left_fot"),
    ({"feet": {"left": FOOT | {"position": [0, 0, 1], "name": "head"}}}, "give another name", "head"),
    ({"hands": {"frame": "{side}_hand"}}, "names no frame", "left_hand"),
    ({"gaze": {"frame": "head", "axis": [0, 0, 0]}}, "expected a direction", "gaze.axis"),
    ({"chest": "pelvi"}, "did you mean 'pelvis'", "pelvi"),
    ({"chest": 3}, "expected a text", "chest"),
    ({"locked": ["left_kne"]}, "did you mean 'left_knee'", "left_kne"),
    ({"locked": "left_knee"}, "expected a list", "locked"),
    ({"limits": {"speed": {}}}, "has no key 'speed'", "speed"),
    ({"limits": {"velocity": {"left_kne": 1}}}, "did you mean 'left_knee'", "left_kne"),
    ({"limits": {"velocity": {"left_knee": "fast"}}}, "expected a finite number", "limits.velocity.left_knee"),
    ({"limits": {"torque": {"left_knee": -1}}}, "positive finite", "left_knee"),
    ({"stances": {"up": {"joints": {"left_kne": 1}}}}, "did you mean 'left_knee'", "left_kne"),
    ({"stances": {"up": {"joints": {"left_knee": 9}}}}, "outside its range", "left_knee"),
    ({"stances": {"up": {"joints": {"{side}_knee": [1, 2, 3]}}}}, "[left, right]", "stances.up.joints.{side}_knee"),
    ({"stances": {"up": {"balanced": 1}}}, "true or false", "stances.up.balanced"),
    ({"rest_stance": "sitting"}, "names no stance", "sitting"),
    ({"height": -1}, "expected a positive number", "height"),
    ({"repair_inertias": "yes"}, "true or false", "repair_inertias"),
]


@pytest.mark.parametrize(("parts", "expected", "element"), MISTAKES, ids=[str(m[0])[:60] for m in MISTAKES])
def test_a_mistake_is_one_line_that_names_it(tmp_path: Path, parts: dict, expected: str, element: str) -> None:
    path = write_urdf(tmp_path, BIPED)
    with pytest.raises(RobotError) as caught:
        load_robot(path, **parts)
    message = str(caught.value)
    assert expected in message
    assert message.startswith(str(tmp_path))
    assert "\n" not in message
    assert caught.value.element == element


def test_the_page_that_explains_the_keys_is_itself_a_description(tmp_path: Path) -> None:
    example = textwrap.dedent(str(description.__doc__).partition("\n\n    ")[2].join(["    ", ""]))
    parsed = description.parse_description(tomllib.loads(example), "robot", "robot.toml", tmp_path)
    assert parsed.urdf == tmp_path / "robot.urdf"
    assert parsed.feet["right"][1].y_max == 0.03
    assert parsed.stances["standing"].joints == {"left_knee": 0.4, "right_knee": 0.4}


def test_an_invalid_toml_file_is_named(tmp_path: Path) -> None:
    path = write_urdf(tmp_path, BIPED)
    write_urdf(tmp_path, "feet = = 2", "small.toml")
    with pytest.raises(RobotError, match="not a TOML file") as caught:
        load_robot(path)
    assert caught.value.file.endswith("small.toml")


def test_a_name_for_both_sides_is_written_once() -> None:
    assert [with_side("{side}_knee", side) for side in SIDES] == ["left_knee", "right_knee"]
    assert [with_side("{s}_knee", side) for side in SIDES] == ["l_knee", "r_knee"]
    assert [with_side("{S}Knee", side) for side in SIDES] == ["LKnee", "RKnee"]


def test_a_twin_is_found_in_either_direction() -> None:
    for left, right in [
        ("left_knee", "right_knee"),
        ("leg_left_1", "leg_right_1"),
        ("l_knee", "r_knee"),
        ("LHip", "RHip"),
    ]:
        assert mirrored_name(left, [left, right]) == right
        assert mirrored_name(right, [left, right]) == left
    assert mirrored_name("torso_roll", ["torso_roll"]) is None
    assert mirrored_name("left_knee", ["left_knee"]) is None


def test_a_description_can_name_its_height_and_rest(tmp_path: Path) -> None:
    biped = load_robot(
        write_urdf(tmp_path, BIPED), **BIPED_PARTS, height=1.5, rest_stance="standing", name="ben", source="drawn"
    )
    assert (biped.height, biped.name, biped.source) == (1.5, "ben", "drawn")
    assert biped.rest is biped.stances["standing"]
    assert repr(biped) == "Robot(ben, 10 joints, 30.0 kg, drawn)"
