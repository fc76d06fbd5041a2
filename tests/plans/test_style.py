"""Styles: ranges, blending, writing and reading."""

from __future__ import annotations

import math
import tomllib
from pathlib import Path

import pytest

from poise.errors import UsageError
from poise.plans import NEUTRAL, PARAMETERS, STYLES, Style
from poise.plans.style import TORQUE_JOINTS

OWN = Style(
    "mine", chest_pitch=0.1, torque_joints="head", rest_posture={"left_elbow_joint": 0.5, "right_elbow_joint": -0.25}
)


def load_style(text: str, folder: Path) -> Style:
    (folder / "odd.toml").write_text(text)
    return Style.load(folder / "odd.toml")


# -- library -----------------------------------------------------------------------------------------------------------


def test_the_styles_of_the_paper_and_three_of_our_own_are_there() -> None:
    paper = {"neutral", "relaxed", "cautious", "proud", "sad"}
    assert paper < set(STYLES)
    assert len(STYLES) >= len(paper) + 3
    assert all(STYLES[name].name == name for name in STYLES)


def test_styles_agree_with_section_vi_of_the_paper() -> None:
    neutral, relaxed, cautious, proud, sad = (
        STYLES[name] for name in ("neutral", "relaxed", "cautious", "proud", "sad")
    )
    assert relaxed.angular_momentum_weight > neutral.angular_momentum_weight
    assert relaxed.torque_weight > neutral.torque_weight
    assert cautious.step_height > neutral.step_height
    assert cautious.single_support > neutral.single_support
    assert cautious.arm_lift > neutral.arm_lift
    assert cautious.head_pitch > neutral.head_pitch
    assert proud.chest_pitch < 0.0 < sad.chest_pitch
    assert proud.angular_momentum_weight > relaxed.angular_momentum_weight > sad.angular_momentum_weight
    assert sad.single_support + sad.double_support > relaxed.single_support + relaxed.double_support
    assert sad.step_height < relaxed.step_height
    assert sad.step_length < relaxed.step_length
    assert proud.torque_weight > 0.0 < sad.torque_weight


def test_every_number_has_a_unit_a_range_and_a_sentence() -> None:
    numbers = {name for name in Style.__dataclass_fields__ if name not in ("name", "torque_joints", "rest_posture")}
    assert numbers == set(PARAMETERS)
    for name, parameter in PARAMETERS.items():
        assert parameter.low <= getattr(NEUTRAL, name) <= parameter.high
        assert parameter.low < parameter.high
        assert len(parameter.description.split()) > 3


# -- files -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "style", [*STYLES.values(), OWN, Style('a "quoted" \\ name', rest_posture={'j"1': 0.5})], ids=str
)
def test_a_style_comes_back_from_its_file_as_it_was(style: Style, tmp_path: Path) -> None:
    style.save(tmp_path / "style.toml")
    assert Style.load(tmp_path / "style.toml") == style


def test_a_file_documents_its_parameters() -> None:
    text = OWN.to_toml()
    for name, parameter in PARAMETERS.items():
        (line,) = (line for line in text.splitlines() if line.startswith(f"{name} ="))
        assert parameter.description in line
        assert parameter.unit in line
    assert tomllib.loads(text)["rest_posture"] == OWN.rest_posture
    assert "[rest_posture]" not in NEUTRAL.to_toml()


def test_parameters_missing_in_a_file_are_those_of_the_neutral_style(tmp_path: Path) -> None:
    style = load_style("step_height = 0.1\n[rest_posture]\nelbow = 1\n", tmp_path)
    assert style == NEUTRAL.replace(name="odd", step_height=0.1, rest_posture={"elbow": 1})


@pytest.mark.parametrize(
    ("text", "evidence"),
    [
        ("chest_pitch = 4.0", "style 'odd': chest_pitch is 4.0; expected -0.6 to 0.8 rad (-34 to 46 degrees)"),
        ("chest_pitch = nan", "chest_pitch is nan; expected"),
        ("chest_pich = 0.1", "did you mean 'chest_pitch'?"),
        ("xyzzy = 0.1", "no parameter 'xyzzy'; there are step_length"),
        ('step_length = "long"', "step_length is 'long'; expected"),
        ("step_length = [", "is not a TOML file"),
        ('torque_joints = "legs"', "torque_joints is 'legs'; expected one of 'arms', 'head', 'arms and head'"),
        ("rest_posture = 3", "rest_posture is 3; expected joints and their angles in rad"),
        ('[rest_posture]\nelbow = "bent"', "expected joints and their angles in rad"),
        ("[rest_posture]\nelbow = 7.0", "expected joints and their angles in rad"),
        ("[rest_posture]\nelbow = inf", "expected joints and their angles in rad"),
    ],
)
def test_an_invalid_style_is_refused(text: str, evidence: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as found:
        load_style(text, tmp_path)
    assert evidence in str(found.value)
    assert "\n" not in str(found.value)


def test_a_file_that_cannot_be_read_or_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"missing\.toml' cannot be read"):
        Style.load(tmp_path / "missing.toml")
    with pytest.raises(UsageError, match="style 'neutral' cannot be written"):
        NEUTRAL.save(tmp_path / "no folder" / "style.toml")
    (tmp_path / "picture.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match="is not a TOML file: it is not a text in UTF-8"):
        Style.load(tmp_path / "picture.toml")


# -- blends and changes ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.25, 0.5, 0.9])
def test_styles_mix(share: float) -> None:
    proud, sad = STYLES["proud"], STYLES["sad"]
    mixed = proud.blend(sad, share)
    for name in PARAMETERS:
        assert getattr(mixed, name) == pytest.approx((1.0 - share) * getattr(proud, name) + share * getattr(sad, name))
    assert mixed.name == "proud to sad"


def test_the_file_of_a_mixture_has_short_numbers() -> None:
    text = NEUTRAL.blend(STYLES["sad"], 0.5).to_toml()
    assert "step_length = 0.215  #" in text
    assert "step_height = 0.0375  #" in text
    turned = NEUTRAL.replace(sway_phase=math.pi)
    assert turned.blend(turned.replace(sway=0.1), 0.5).sway_phase == math.pi


@pytest.mark.parametrize("share", [0.0, -0.5])
def test_at_its_ends_a_mixture_is_one_of_the_two(share: float) -> None:
    assert OWN.blend(STYLES["sad"], share) is OWN
    assert STYLES["sad"].blend(OWN, 1.0 - share) is OWN


def test_rest_postures_mix_joint_by_joint() -> None:
    other = Style("other", rest_posture={"left_elbow_joint": 1.5, "neck": 0.2})
    mixed = OWN.blend(other, 0.25)
    assert mixed.rest_posture == pytest.approx({"left_elbow_joint": 0.75, "right_elbow_joint": -0.25, "neck": 0.2})
    assert mixed.torque_joints == "head"
    assert OWN.blend(other, 0.75).torque_joints == other.torque_joints


def test_replace_changes_the_given_parameters_only() -> None:
    style = OWN.replace(step_height=0.1, torque_joints="arms")
    assert style.step_height == 0.1
    assert style.replace(step_height=OWN.step_height, torque_joints="head") == OWN
    with pytest.raises(UsageError, match="did you mean 'step_height'"):
        OWN.replace(step_heigth=0.1)
    with pytest.raises(UsageError, match=r"step_height is 3\.0"):
        OWN.replace(step_height=3.0)


@pytest.mark.parametrize("word", TORQUE_JOINTS)
def test_torque_can_be_minimised_in_arms_and_head_but_not_in_legs(word: str) -> None:
    """Section III.B.3 of the paper: in legs it led to unstable walks."""
    assert Style(torque_joints=word).torque_joints == word
    assert "leg" not in word


# -- files of earlier versions -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("former", "name"), Style.former_names.items())
def test_a_former_key_of_a_file_gives_the_style_of_the_current_key(former: str, name: str, tmp_path: Path) -> None:
    value = "{ elbow = 0.5 }" if name == "rest_posture" else "0.01"
    style = load_style(f"{former} = {value}\n", tmp_path)
    assert style == load_style(f"{name} = {value}\n", tmp_path)
    assert style != NEUTRAL.replace(name="odd")
    assert former not in tomllib.loads(style.to_toml())


@pytest.mark.parametrize(("former", "name"), Style.former_names.items())
def test_a_former_key_beside_the_current_one_is_refused(former: str, name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=f"'{former}' is the former name of '{name}'; give only"):
        load_style(f"{former} = 0.01\n{name} = 0.02\n", tmp_path)


def test_former_names_are_no_names_of_python_arguments() -> None:
    assert not set(Style.former_names) & set(Style.__dataclass_fields__)
    with pytest.raises(UsageError, match="no parameter 'turn'"):
        NEUTRAL.replace(turn=0.1)
