"""``poise export`` and ``poise replay``: written files, output, and refusal of bad input."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import poise
from command_line import BIPED, error_line, record_bend
from poise import cli, exports, tasks
from poise.exports import joint_trajectory as table
from poise.exports.formats import ExportRequest


@pytest.fixture(scope="module")
def recording_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return record_bend(tmp_path_factory.mktemp("runs"))


@pytest.mark.parametrize("name", ["csv", "npz", "bvh", "mot", "trc", "mcap", "html"])
def test_it_writes_the_file_and_prints_its_name(
    name: str, recording_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / f"bend.{name}"
    assert cli.main(["export", str(recording_path), "--to", name, "--out", str(out)]) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith(f"{out}: {exports.FORMATS[name].description}, 0.60 s, ")
    assert printed.err == ""
    assert list(tmp_path.iterdir()) == [out]


def test_the_command_itself_ends_with_0(recording_path: Path, tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "poise",
        "export",
        str(recording_path),
        "--out",
        str(tmp_path / "b.csv"),
        "--rate",
        "50",
    ]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")
    assert len(exports.read_trajectory(tmp_path / "b.csv").time) == 30


def test_the_help_names_every_format(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["export", "--help"])
    assert ", ".join(exports.FORMATS).replace(", mp4", " or mp4") in " ".join(capsys.readouterr().out.split())


def test_bad_input_is_named_in_one_line(
    recording_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, other = tmp_path / "b.csv", tmp_path / "other.poise"
    other.write_text("no recording")
    for evidence, *arguments in (
        ("does not exist", tmp_path / "missing.poise", "--out", out),
        ("is not a Poise recording", other, "--out", out),
        ("is a directory", tmp_path, "--out", out),
        ("is a folder", recording_path, "--to", "csv", "--out", tmp_path),
        ("there is no folder", recording_path, "--out", tmp_path / "none/b.csv"),
        ("does not end in .bvh", recording_path, "--to", "bvh", "--out", out),
        ("did you mean 'bvh'?", recording_path, "--to", "bhv", "--out", out),
        ("unknown format 'doc'", recording_path, "--out", tmp_path / "b.doc"),
        ("has no suffix that names a format; there are csv", recording_path, "--out", tmp_path / "b"),
        ("expected a positive number up to 10000", recording_path, "--out", out, "--rate", "1e6"),
        ("required: --out", recording_path, "--to", "csv"),
        ("RECORDING", "--out", out),
        ("'0' is not a positive number", recording_path, "--out", out, "--rate", "0"),
        ("'big' is not a size", recording_path, "--out", tmp_path / "b.mp4", "--size", "big"),
        ("--size is for videos", recording_path, "--out", out, "--size", "640x480"),
        ("expected even numbers", recording_path, "--out", tmp_path / "b.mp4", "--size", "1x1"),
        ("there is no such file", recording_path, "--out", tmp_path / "b.bvh", "--robot", "no/such.urdf"),
    ):
        assert evidence in error_line(capsys, "export", *arguments)
    assert [path.name for path in tmp_path.iterdir()] == ["other.poise"]


def test_the_intact_part_of_a_truncated_file_is_exported_on_request(
    recording_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cut, out = tmp_path / "cut.poise", tmp_path / "b.csv"
    data = recording_path.read_bytes()
    cut.write_bytes(data[: int(0.8 * len(data))])
    message = error_line(capsys, "export", cut, "--out", out)
    assert "is truncated" in message
    assert "give --partial" in message
    assert cli.main(["export", str(cut), "--out", str(out), "--partial"]) == 0
    assert 1 < len(exports.read_trajectory(out).time) < 120


def test_a_recording_of_an_unknown_robot_needs_the_robot_option(
    recording_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = poise.load_recording(recording_path)
    facts = {**whole.provenance, "robot": "golem", "source": "gone.urdf"}
    poise.Recording(whole.channels.values(), facts).save(tmp_path / "golem.poise")
    out = tmp_path / "b.bvh"
    assert "pass it with --robot" in error_line(capsys, "export", tmp_path / "golem.poise", "--out", out)
    assert cli.main(["export", str(tmp_path / "golem.poise"), "--out", str(out), "--robot", str(BIPED)]) == 0
    assert cli.main(["export", str(tmp_path / "golem.poise"), "--out", str(tmp_path / "b.npz")]) == 0


def test_ctrl_c_leaves_no_partial_file(
    recording_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted_export(job: ExportRequest, file: Path) -> None:
        file.write_text("half")
        raise KeyboardInterrupt

    monkeypatch.setattr(table, "export_csv", interrupted_export)
    assert cli.main(["export", str(recording_path), "--out", str(tmp_path / "b.csv")]) == 130
    assert list(tmp_path.iterdir()) == []
    assert capsys.readouterr().err == ""


# -- replay ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def standing_table(tmp_path: Path) -> Path:
    """A trajectory of a standing robot as a table; the description of its feet is beside its model."""
    (tmp_path / "biped.urdf").write_bytes(BIPED.read_bytes())
    (tmp_path / "biped.toml").write_text(
        '[feet]\nframe = "{side}_foot"\nposition = [0.0, 0.0, -0.05]\nsole = [-0.08, 0.12, -0.04, 0.05]\n'
        '[stances.standing.joints]\n"{side}_hip_pitch" = -0.2\n"{side}_knee" = 0.4\n"{side}_ankle_pitch" = -0.2\n'
    )
    robot = poise.load_robot(tmp_path / "biped.urdf")
    start = robot.stance("standing")
    hierarchy = poise.Hierarchy(levels=[poise.Level("posture", [tasks.Posture(start)])])
    motion = poise.record(poise.KinematicController(hierarchy), poise.IdealPlant(start), 0.2)
    return exports.save(motion, tmp_path / "stand.csv")


def test_a_replay_prints_one_object_with_the_keys_of_a_run(
    standing_table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "again.poise"
    robot = standing_table.with_name("biped.urdf")
    status = cli.main(
        ["replay", str(standing_table), "--robot", str(robot), "--out", str(out), "--json", "--friction", "0.5"]
    )
    printed = capsys.readouterr()
    found = json.loads(printed.out)
    assert (status, found["fell"], found["reason"], found["behavior"]) == (0, False, None, "replay")
    assert {"zmp_margin_m", "control_ms", "realtime_factor", "drift_m", "tracking_rad"} <= found.keys()
    recording = poise.load_recording(out)
    assert recording.provenance["friction"] == 0.5
    assert np.isfinite(recording["command/velocity"]).all()


def test_a_replay_that_falls_ends_with_1_and_the_reason(
    standing_table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    robot = standing_table.with_name("biped.urdf")
    assert cli.main(["replay", str(standing_table), "--robot", str(robot), "--push", "900,0,0,0.3@0.5"]) == 1
    assert capsys.readouterr().out.splitlines()[0].startswith("failed: fell at ")


def test_a_file_that_cannot_be_replayed_is_named_in_one_line(
    standing_table: Path, recording_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    robot = standing_table.with_name("biped.urdf")
    (tmp_path / "bad.csv").write_text("a,b\n1,2\n")
    for evidence, *arguments in (
        ("does not name its robot; give --robot", standing_table),
        ("no columns 'time' and 'q/...'", tmp_path / "bad.csv", "--robot", robot),
        ("does not end in", tmp_path / "walk.bvh", "--robot", robot),
        ("does not exist", tmp_path / "walk.csv", "--robot", robot),
        ("has no feet", recording_path, "--robot", BIPED),
        ("has no torques", standing_table, "--robot", robot, "--torque-feedforward"),
        ("is a folder", standing_table, "--robot", robot, "--out", tmp_path),
        ("there is no folder", standing_table, "--robot", robot, "--out", tmp_path / "none/a.poise"),
        ("'-1' is not a positive number", standing_table, "--robot", robot, "--friction", "-1"),
        ("moon", standing_table, "--robot", robot, "--terrain", "moon"),
    ):
        assert evidence in error_line(capsys, "replay", *arguments)
