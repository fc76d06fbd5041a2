"""Descriptions of robots and shapes of people of older files load: each former key stands for its present one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from poise.errors import RobotError
from poise.robots import load_robot
from poise.robots.description import FORMER_KEYS, Description, parse_description
from poise.robots.human.anthropometry import FORMER_SHAPE_NAMES, BodyShape, body_shape

#: A value of each key that had another name, by section.
VALUES: dict[str, dict[str, Any]] = {
    "": {"rest": "standing"},
    "servos": {
        "full_torque": 0.03,
        "regulation": {"proportional": 0.4},
        "usual": True,
        "walking": {"proportional": 0.5, "center": "sinusoid"},
    },
}
#: A value of each parameter of a body that had another name.
SHAPE: dict[str, Any] = {
    "lumbar_forward": -0.01,
    "lumbar_up": 0.07,
    "spines_width": 0.25,
    "torsion": [0.2, 0.3],
    "varus": 0.05,
}
CASES = [(section, old, new) for section, table in FORMER_KEYS.items() for old, new in table.items()]


def describe_robot(section: str, key: str, value: Any) -> Description:
    """Describe a robot with one key of a section."""
    values = {"urdf": "robot.urdf", "stances": {"standing": {}}}
    return parse_description({**values, **({section: {key: value}} if section else {key: value})}, "ben", "", Path())


@pytest.mark.parametrize(("section", "old", "new"), CASES)
def test_a_former_key_of_a_description_gives_the_same_robot(section: str, old: str, new: str) -> None:
    value = VALUES[section][old]
    assert describe_robot(section, old, value) == describe_robot(section, new, value)
    plain = parse_description({"urdf": "robot.urdf", "stances": {"standing": {}}}, "ben", "", Path())
    assert describe_robot(section, new, value) != plain


def test_both_names_of_a_key_are_refused_in_one_line() -> None:
    with pytest.raises(RobotError) as caught:
        parse_description(
            {"urdf": "a.urdf", "servos": {"usual": True, "position_controlled": True}}, "", "a.toml", Path()
        )
    assert str(caught.value) == (
        "a.toml: [servos] 'usual' is the former name of 'position_controlled'; give only 'position_controlled'"
    )


@pytest.mark.parametrize("servos", [7, ["usual"], None])
def test_a_section_that_is_no_table_is_still_refused(servos: object) -> None:
    with pytest.raises(RobotError, match=re.escape("[servos]")):
        parse_description({"urdf": "a.urdf", "servos": servos}, "", "a.toml", Path())


@pytest.mark.parametrize(("old", "new"), FORMER_SHAPE_NAMES.items())
def test_a_former_name_in_the_shape_of_a_person_gives_the_same_body(old: str, new: str) -> None:
    former, present = (body_shape({"height": 1.7, "shape": {name: SHAPE[old]}}) for name in (old, new))
    assert former == present != BodyShape.of(1.7)
    assert old not in present.parameters()


def test_a_person_of_an_older_recording_is_loaded() -> None:
    robot = load_robot("human", height=1.7, shape=SHAPE)
    assert robot.load_arguments["shape"].keys() == SHAPE.keys()


def test_both_names_of_a_length_are_refused_in_one_line() -> None:
    with pytest.raises(RobotError, match="shape: 'varus' is the former name of 'knee_varus'; give only 'knee_varus'"):
        body_shape({"shape": {"varus": 0.1, "knee_varus": 0.1}})
