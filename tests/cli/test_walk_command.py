"""``poise run walk``: what it prints, and with which exit status."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import poise
from poise import cli
from poise.plans import Style


def error_line(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The single line with which the command refuses these arguments."""
    assert cli.main(["run", *arguments]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("poise: ")
    assert printed.err.count("\n") == 1
    return printed.err


@pytest.mark.needs_models
def test_a_walk_that_succeeds_ends_with_0_and_one_object(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Style("mine", chest_pitch=0.1).save(tmp_path / "mine.toml")
    path = tmp_path / "walk.poise"
    arguments = ["--robot", "nao", "--style", str(tmp_path / "mine.toml"), "--steps", "4", "--speed", "0.1,0,0.1"]
    assert cli.main(["run", "walk", *arguments, "--out", str(path), "--json"]) == 0
    printed = capsys.readouterr().out
    assert printed.count("\n") == 1
    found = json.loads(printed)
    assert (found["behavior"], found["robot"], found["fell"], found["reason"]) == ("walk", "nao", False, None)
    assert found["steps"] == 4
    assert found["distance_m"] > 0.05
    assert found["heading_rad"] > 0.02
    assert found["walk"].keys() == {"style", "speed", "commanded_speed", "divergent_error_m", "slip_m"}
    assert found["walk"]["style"] == "mine"
    assert found["walk"]["commanded_speed"] == [0.1, 0.0, 0.1]
    recording = poise.load_recording(path)
    assert recording.provenance["style"] == "mine"


@pytest.mark.needs_models
def test_a_walk_that_falls_ends_with_1_and_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    push = ["--push", "0,100,0,0.1@1.0"]
    assert cli.main(["run", "walk", "--robot", "nao", "--steps", "3", *push, "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["fell"]
    assert "fell at" in found["reason"]


@pytest.mark.needs_models
def test_in_words_it_tells_steps_way_and_slip(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["run", "walk", "--robot", "nao", "--style", "sad", "--steps", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("sad: 2 steps, ") for line in lines)
    assert any("slips by at most" in line for line in lines)
    assert lines[-1] == "succeeded"


@pytest.mark.parametrize("text", ["fast", "0.2;0", "0.2,0,0,0", "nan,0,0", "9", "0.2,,0", ""])
def test_a_speed_that_makes_no_sense_is_named(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert f"'{text}' is not a speed; expected VX,VY,WZ" in error_line(capsys, "walk", f"--speed={text}")


@pytest.mark.parametrize("text", ["-1", "2.5", "many"])
def test_steps_are_counted(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert f"'{text}' is not a whole number" in error_line(capsys, "walk", f"--steps={text}")


@pytest.mark.parametrize("option", [["--style", "sad"], ["--steps", "4"], ["--speed", "0.2,0,0"]])
@pytest.mark.parametrize("behavior", ["stand", "reach", "squat"])
def test_what_is_for_walks_is_refused_by_others(
    behavior: str, option: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert f"{option[0]} is an option of 'poise run walk'" in error_line(capsys, behavior, *option)


@pytest.mark.needs_models
@pytest.mark.parametrize(
    ("arguments", "evidence"),
    [
        (["--style", "angry"], "there is no style 'angry'; expected one of neutral, relaxed"),
        (["--style", "no/such.toml"], "'no/such.toml' cannot be read"),
        (["--set", "feedbak=2"], "did you mean 'feedback'?"),
        (["--set", "feedback=2000"], "walk: feedback is 2000.0; expected zero or a positive number below 1000"),
        (["--set", "feedback=much"], "walk: feedback is 'much'"),
        (["--set", "center=preview"], "walk: center is 'preview'; expected divergent or sinusoid"),
        (["--mode", "kinematic"], "it runs with --mode torque --plant mujoco"),
    ],
)
def test_a_walk_that_makes_no_sense_is_refused(
    arguments: list[str], evidence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert evidence in error_line(capsys, "walk", *arguments)


@pytest.mark.needs_models
@pytest.mark.parametrize(
    ("text", "evidence"),
    [
        ("chest_pitch = 4", "style 'own': chest_pitch is 4; expected -0.6 to 0.8 rad"),
        ("chest_pich = 0.1", "did you mean 'chest_pitch'?"),
        ("chest_pitch = ", "is not a TOML file"),
        ("[rest]\nLElbowRoll = -0.5", "rest names LElbowRoll, none of which g1 has"),
    ],
)
def test_a_style_file_that_makes_no_sense_is_refused(
    text: str, evidence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "own.toml").write_text(text)
    assert evidence in error_line(capsys, "walk", "--style", str(tmp_path / "own.toml"))
