"""``poise run walk``: output and exit status."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import poise
from poise import analysis, cli
from poise.plans import Style
from poise.runs import summarize_run


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
    assert found["walk"].keys() == {"style", "speed", "commanded_speed", "dcm_error_m", "slip_m"}
    assert found["walk"]["style"] == "mine"
    assert found["walk"]["commanded_speed"] == [0.1, 0.0, 0.1]
    recording = poise.load_recording(path)
    assert recording.provenance["style"] == "mine"


@pytest.mark.needs_models
def test_a_walk_that_falls_ends_with_1_the_reason_and_figures_until_the_fall(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--push", "0,100,0,0.1@1.0", "--out", str(tmp_path / "fall.poise")]
    assert cli.main(["run", "walk", "--robot", "nao", "--steps", "3", *options, "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["fell"]
    assert "fell at" in found["reason"]
    recording = poise.load_recording(tmp_path / "fall.poise")
    walk = analysis.analyze_walk(recording, poise.load_robot("nao"))
    assert found["steps"] == len(walk.steps)
    assert "slip" not in summary_names(found)
    tracks = walk.tracks
    feet = tracks.positions[: np.searchsorted(recording.time, recording.provenance["fall"]["time"]), :2, :2]
    assert found["distance_m"] <= np.linalg.norm(feet - feet[0], axis=-1).max() + 0.5 * poise.load_robot("nao").height


def summary_names(result: dict[str, object]) -> str:
    return " ".join(name for name, _ in summarize_run(result).figures)


@pytest.mark.needs_models
def test_the_summary_lists_steps_speed_and_slip(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["run", "walk", "--robot", "nao", "--style", "sad", "--steps", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "succeeded"
    figures = dict(re.split(r"  +", line.strip(), maxsplit=1) for line in lines if line.startswith("  "))
    assert (figures["style"], figures["steps"].split(",")[0]) == ("sad", "2")
    assert figures["slip of the stance foot"].startswith("at most ")
    assert figures["speed forward, to the left, turning"].startswith("unknown without a whole stride (commanded ")


@pytest.mark.parametrize("text", ["fast", "0.2;0", "0.2,0,0,0", "nan,0,0", "9", "0.2,,0", ""])
def test_an_invalid_speed_is_refused_by_name(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert f"'{text}' is not a speed; expected VX,VY,WZ" in error_line(capsys, "walk", f"--speed={text}")


@pytest.mark.parametrize("text", ["-1", "2.5", "many"])
def test_steps_are_counted(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert f"'{text}' is invalid; expected a whole number, 0 or more" in error_line(capsys, "walk", f"--steps={text}")


def test_the_help_of_a_setting_that_is_a_flag_says_what_it_takes(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["run", "walk", "--help"])
    (line,) = (line for line in capsys.readouterr().out.splitlines() if "adapt_steps" in line)
    assert line.endswith("(true or false, default true)")


@pytest.mark.parametrize("option", [["--style", "sad"], ["--steps", "4"], ["--speed", "0.2,0,0"]])
@pytest.mark.parametrize("behavior", ["stand", "reach", "squat"])
def test_walk_options_are_refused_by_other_motions(
    behavior: str, option: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert f"{option[0]} is an option of 'poise run walk'" in error_line(capsys, behavior, *option)


@pytest.mark.needs_models
@pytest.mark.parametrize(
    ("arguments", "evidence"),
    [
        (["--style", "angry"], "there is no style 'angry'; there are neutral, relaxed"),
        (["--style", "no/such.toml"], "'no/such.toml' cannot be read"),
        (["--set", "dcm_gian=2"], "did you mean 'dcm_gain'?"),
        (["--set", "step_length=0.2"], "no setting 'step_length'; did you mean 'style.step_length'?"),
        (["--set", "xyzzy=2"], "no setting 'xyzzy'; there are dcm_gain"),
        (["--set", "dcm_gain=2000"], "walk: dcm_gain is 2000.0; expected zero or a positive number below 1000"),
        (["--set", "dcm_gain=much"], "walk: dcm_gain is 'much'"),
        (["--set", "com_reference=preview"], "walk: com_reference is 'preview'; expected dcm or sinusoid"),
        (["--mode", "kinematic"], "it runs with --mode torque --plant mujoco"),
    ],
)
def test_an_invalid_walk_is_refused(arguments: list[str], evidence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert evidence in error_line(capsys, "walk", *arguments)


@pytest.mark.needs_models
@pytest.mark.parametrize(
    ("text", "evidence"),
    [
        ("chest_pitch = 4", "style 'own': chest_pitch is 4; expected -0.6 to 0.8 rad"),
        ("chest_pich = 0.1", "did you mean 'chest_pitch'?"),
        ("chest_pitch = ", "is not a TOML file"),
        ("[rest_posture]\nLElbowRoll = -0.5", "rest_posture names LElbowRoll, none of which g1 has"),
    ],
)
def test_an_invalid_style_file_is_refused(
    text: str, evidence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "own.toml").write_text(text)
    assert evidence in error_line(capsys, "walk", "--style", str(tmp_path / "own.toml"))


@pytest.mark.needs_models
def test_a_style_file_without_its_ending_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.toml").write_text("step_length = 0.1")
    (tmp_path / "own.txt").write_text("step_length = 0.1")
    assert "there is no style 'own'; give the file 'own.toml'" in error_line(capsys, "walk", "--style", "own")
    assert "the name of a style file ends in .toml" in error_line(capsys, "walk", "--style", "own.txt")
