"""The command ``poise``: output and exit status."""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest

import poise
from poise import cli
from poise.errors import RowsError
from poise.robots import library_names
from waiting import enable_ctrl_c, wait_for_exit, wait_until

#: Keys of `poise run --json` that are numbers, words or tables of a reach, and those that do not apply to it.
APPLIES = {
    "behavior": str,
    "robot": str,
    "mode": str,
    "plant": str,
    "seconds": float,
    "fell": bool,
    "worst_tilt_deg": float,
    "zmp_margin_m": float,
    "reach_errors_m": list,
    "targets": str,
    "control_ms": dict,
    "overruns": dict,
    "realtime_factor": float,
    "fallbacks": dict,
    "nonfinite_commands": int,
    "levels": dict,
    "quality": dict,
    "warnings": list,
}
DOES_NOT_APPLY = {"steps", "distance_m", "heading_rad", "limits", "targets_reason"}


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "poise", *arguments], capture_output=True, text=True, check=False)


def error_line(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The single line on standard error with which the command refuses these arguments."""
    assert cli.main(arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("poise: ")
    assert printed.err.count("\n") == 1
    return printed.err


def parse_strict_json(text: str) -> dict[str, Any]:
    """Parse a text that is one JSON object; NaN and Infinity are errors."""

    def refuse(constant: str) -> NoReturn:
        raise ValueError(f"{constant} is not JSON")

    result = json.loads(text, parse_constant=refuse)
    assert isinstance(result, dict)
    return result


def test_the_version_is_that_of_the_package() -> None:
    result = run("--version")
    assert (result.returncode, result.stdout) == (0, f"poise {poise.__version__}\n")


def test_help_names_every_command() -> None:
    result = run("--help")
    assert result.returncode == 0
    for command in cli.COMMANDS:
        assert command in result.stdout


def test_without_a_command_it_prints_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([]) == 0
    assert "COMMAND" in capsys.readouterr().out


def test_an_unknown_command_is_one_line_and_no_traceback() -> None:
    result = run("exprot")
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr == "poise: unknown command 'exprot'; did you mean 'poise export'?\n"


def test_an_unknown_command_is_refused_with_the_available_ones(capsys: pytest.CaptureFixture[str]) -> None:
    assert "there are robots, run, human" in error_line(capsys, "xyzzy")


@pytest.mark.parametrize(
    ("word", "command"), [("wlak", "run walk"), ("walk", "run walk"), ("raech", "run reach"), ("fit", "human fit")]
)
def test_a_subcommand_without_its_command_is_refused_with_a_hint(
    word: str, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert error_line(capsys, word) == f"poise: unknown command '{word}'; did you mean 'poise {command}'?\n"


def test_every_subcommand_is_known_without_importing_its_command() -> None:
    found = set()
    for command in ("run", "human"):
        parser = cli._build_parser(command)
        for _ in range(2):  # the commands, then the subcommands of this one
            (subcommands,) = [each for each in parser._actions if isinstance(each, argparse._SubParsersAction)]
            parser = subcommands.choices.get(command, parser)
        found |= {f"{command} {name}" for name in subcommands.choices}
    assert set(cli.SUBCOMMANDS.values()) == found


def test_the_package_has_no_bench_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert error_line(capsys, "bench", "--peers").startswith("poise: unknown command 'bench'; there are robots, run")


@pytest.mark.parametrize(
    ("arguments", "evidence"),
    [
        (["robots", "--jsno"], "there is no option --jsno; did you mean --json?"),
        (["robots", "g1"], "unrecognized arguments: g1"),
        (["--verbose"], "--verbose"),
        (["run"], "MOTION"),
        (["run", "raech"], "did you mean 'reach'?"),
        (["run", "wlak", "--steps", "4"], "did you mean 'walk'?"),
        (["run", "reach", "--mode", "position"], "it runs with --mode kinematic --plant ideal"),
        (["run", "stand", "--push", "100,0,0"], "expected FX,FY,FZ,DURATION@TIME"),
        (["run", "stand", "--push", "a,0,0,0.1@1"], "expected FX,FY,FZ,DURATION@TIME"),
        (["run", "stand", "--terrain", "moon"], "moon"),
        (["run", "stand", "--terrain", "slope:steep"], "slope:steep"),
        (["run", "stand", "--friction", "0"], "'0' is not a positive number"),
        (["run", "stand", "--mass-error", "-95"], "'-95' is not a change in percent"),
        (["run", "stand", "--delay", "-1"], "'-1' is not a valid amount"),
        (["run", "stand", "--noise", "nan"], "'nan' is not a valid amount"),
        (["run", "reach", "--push", "1,0,0,0.1@1"], "an ideal plant does not support --push; give --plant mujoco"),
        (["run", "reach", "--mode", "muscle"], "no --mode 'muscle'"),
        (["run", "reach", "--profile", "jerky"], "no --profile 'jerky'"),
        (["run", "reach", "--robot", "taols"], "did you mean 'talos'?"),
        (["run", "reach", "--robot", "no/such.urdf"], "no/such.urdf: there is no such file"),
        (["run", "reach", "--robot", "tests/cli"], "tests/cli: is a folder; give the path of a URDF file"),
        (["run", "reach", "--robot", "README.md"], "README.md: not a URDF, because it is not XML"),
        (["run", "reach", "--seconds", "soon"], "'soon' is not a time"),
        (["run", "reach", "--seconds", "-1"], "'-1' is not a time"),
        (["run", "reach", "--seconds", "inf"], "'inf' is not a time"),
        (["run", "reach", "--seconds", "nan"], "'nan' is not a time"),
        (["run", "reach", "--seed", "1.5"], "'1.5' is invalid; expected a whole number, 0 or more"),
        (["run", "reach", "--set", "phase_duration"], "expected key=value"),
        (["run", "reach", "--set", "=2"], "expected key=value"),
        (["run", "reach", "--set", "phase_duration=2 or 3"], "expected key=value"),
        (["run", "reach", "--set", "phase_duration=nan"], "expected key=value"),
        (["run", "reach", "--out", "no/such/folder/a.poise"], "there is no folder 'no/such/folder'"),
        (["run", "reach", "--out", "tests"], "'tests' is a folder"),
        (["run", "reach", "--out", "reach.txt"], "--out 'reach.txt' does not end in .poise; give reach.poise"),
        (["replay", "walk.csv", "--out", "walk.mp4"], "--out 'walk.mp4' does not end in .poise; give walk.poise"),
        (["report", "walk.poise", "--out", "r.pdf"], "--out 'r.pdf' does not end in .html or .htm; give r.html"),
        (["export", "walk.poise", "--to", "csv", "--out", "walk.txt"], "'walk.txt' does not end in .csv"),
        (["human", "fit", "walk.c3d", "--out", "fit.csv"], "--out 'fit.csv' does not end in .poise"),
        (["human", "fit", "walk.c3d", "--mot", "fit.sto"], "--mot 'fit.sto' does not end in .mot; give fit.mot"),
        (["human", "fit", "tests", "--out", "table.poise"], "--out 'table.poise' does not end in .csv"),
        (["human", "torques", "walk.c3d", "--out", "t.csv"], "--out 't.csv' does not end in .poise"),
        (["human", "torques", "walk.c3d", "--report", "t.pdf"], "--report 't.pdf' does not end in .html"),
        (["human", "gait", "walk.c3d", "--out", "study.html"], "ends in .html like a file; give a folder, like study"),
        (["human", "sample", "walk.c3d"], "ends in .c3d like a file; give a folder, like walk"),
        (
            ["human", "sample", "README.md/new"],
            "'README.md/new' cannot be created: Not a directory; give another folder",
        ),
        (["campaign", "campaigns/pushes.toml", "--out", "README.md/new"], "--out 'README.md/new' cannot be created"),
        (
            ["human", "fit", "README.md", "--subject", "no.toml"],
            "no.toml': there is no such file; 'poise human subject'",
        ),
        (["human", "fit", "README.md", "--static", "tests"], "--static 'tests' is a folder; give a C3D"),
        (["campaign", "campaigns/pushes.toml", "--out", "r.html"], "ends in .html like a file; give a folder, like r"),
        (["run", "walk", "--stlye", "proud"], "there is no option --stlye; did you mean --style?"),
        (["run", "walk", "--carry", "10"], "there is no option --carry; did you mean --carried-mass?"),
        (["run", "stand", "--carry=10"], "there is no option --carry; did you mean --carried-mass?"),
        (["run", "stand", "--break", "cell:left:2:dead@1"], "there is no option --break; did you mean --fault?"),
        (["replay", "walk.csv", "--lead"], "there is no option --lead; did you mean --torque-feedforward?"),
        (["human", "torques", "a.c3d", "--against", "b.c3d"], "no option --against; did you mean --compare-with?"),
        (["robots", "--carry", "10"], "unrecognized arguments: --carry 10"),
        (["run", "walk", "--style", "prod"], "there is no style 'prod'; did you mean 'proud'?"),
        (["run", "walk", "--solver", "strct"], "did you mean 'strict'?"),
        (["human", "ftt"], "did you mean 'fit'?"),
        (["export", "walk.poise", "--out", "walk.mp3"], "did you mean 'mp4'?"),
    ],
)
def test_bad_input_is_named(
    arguments: list[str],
    evidence: str,
    root: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(root)
    assert evidence in error_line(capsys, *arguments)


@pytest.mark.needs_models
@pytest.mark.parametrize(
    ("arguments", "evidence"),
    [
        (["--seconds", "0.001"], "no control step"),
        (["--set", "phase_durtion=2"], "did you mean 'phase_duration'?"),
        (["--set", "phase_duration=0"], "phase_duration is 0.0; expected a positive number"),
        (["--set", "phase_duration=long"], "phase_duration is 'long'; expected a positive number"),
        (["--set", "phase_duration=1e-9"], "no control step"),
        (["--set", "reach_scale=1e300"], "reach_scale is 1e+300; expected a positive number below 1000"),
    ],
)
def test_an_invalid_run_is_refused(arguments: list[str], evidence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert evidence in error_line(capsys, "run", "reach", *arguments)


@pytest.mark.needs_models
@pytest.mark.parametrize("setting", ["frequency=0", "cycles=none", "depth=5"])
def test_an_invalid_squat_is_refused(setting: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "expected a positive number" in error_line(capsys, "run", "squat", "--set", setting)


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    assert "there is no folder" in error_line(capsys, "run", "reach", "--out", str(tmp_path / "file" / "a.poise"))


def test_robots_prints_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["robots"]) == 0
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split() == ["robot", "joints", "mass", "height", "source"]
    assert [line.split()[0] for line in lines][: len(library_names())] == library_names()


def test_robots_json_is_one_object_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["robots", "--json"]) == 0
    robots = parse_strict_json(capsys.readouterr().out)["robots"]
    assert [robot["name"] for robot in robots] == library_names()
    assert all(robot["dof"] >= 20 and robot["mass"] > 4 for robot in robots)


@pytest.mark.needs_models
def test_run_json_is_one_object_with_all_keys_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "reach.poise"
    result = run("run", "reach", "--profile", "minimum-jerk", "--seed", "3", "--out", str(path), "--json")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.count("\n") == 1
    found = parse_strict_json(result.stdout)
    assert found.keys() == {*APPLIES, "reason", *DOES_NOT_APPLY}
    assert all(isinstance(found[key], kind) for key, kind in APPLIES.items())
    assert all(found[key] is None for key in ("reason", *DOES_NOT_APPLY))
    assert found["control_ms"].keys() == {"median", "p99", "max"}
    assert all(level.keys() == {"rms", "max", "unit"} for level in found["levels"].values())
    assert found["seconds"] == 12.5
    assert max(found["reach_errors_m"]) < 0.005
    recording = poise.load_recording(path)
    assert (recording.samples, recording.provenance["seed"]) == (2500, 3)
    assert recording.provenance["result"] == found


@pytest.mark.needs_models
@pytest.mark.parametrize("format", [[], ["--json"]])
def test_a_run_whose_motion_fails_ends_with_1_and_the_reason(
    format: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["run", "reach", "--set", "phase_duration=0.2", "--set", "rate=2", *format]) == 1
    printed = capsys.readouterr().out
    assert "target 1 missed by" in (parse_strict_json(printed)["reason"] if format else printed.splitlines()[0])


@pytest.mark.needs_models
def test_a_run_prints_its_verdict_first_few_figures_and_the_file_last(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "reach.poise"
    assert cli.main(["run", "reach", "--seconds", "0.5", "--out", str(path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "succeeded"
    assert lines[1] == "reach on g1, kinematic control on an ideal plant, 0.50 s"
    assert lines[-1] == f"written to {path}"
    assert len(lines) < 15
    assert cli.main(["run", "reach", "--seconds", "0.5", "--verbose"]) == 0
    detailed = capsys.readouterr().out.splitlines()
    assert detailed[0] == "succeeded"
    assert any(line.startswith("g1, KinematicController: 0.50 s, 100 samples") for line in detailed)
    assert any(line.split() == ["level,", "task", "rms", "max", "final", "unit", "slack"] for line in detailed)


@pytest.mark.needs_models
@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C cannot be sent to one process there")
def test_ctrl_c_ends_a_run_with_130_and_preserves_the_recording(tmp_path: Path) -> None:
    path = tmp_path / "reach.poise"
    command = [
        sys.executable,
        "-m",
        "poise",
        "run",
        "reach",
        "--set",
        "phase_duration=900",
        "--out",
        str(path),
        "--json",
    ]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=enable_ctrl_c
    )
    try:

        def file_size() -> float:
            return path.stat().st_size if path.exists() else 0

        wait_until(
            lambda: file_size() > 200_000 or process.poll() is not None, "200_000 bytes of a recording", file_size
        )
        assert process.poll() is None, process.communicate()
        process.send_signal(signal.SIGINT)
        out, err = wait_for_exit(process)
    finally:
        process.kill()
    assert (process.returncode, out) == (130, "")
    assert err.startswith("poise: interrupted; the first ")
    assert err.count("\n") == 1
    recording = poise.load_recording(path)
    assert recording.provenance["outcome"] == "interrupted"
    assert recording.samples > 50
    assert np.isfinite(recording["command/velocity"]).all()


@pytest.mark.parametrize(
    ("raised", "status"),
    [
        (RowsError("Rows 'reach':\nlower is above upper"), 2),
        (FileNotFoundError(2, "No such file or directory", "walk.npz"), 2),
        (KeyboardInterrupt(), 130),
    ],
)
def test_an_error_inside_a_command_ends_without_a_traceback(
    raised: BaseException,
    status: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(*_: object, **__: Any) -> None:
        raise raised

    monkeypatch.setattr(cli.robots, "listing", fail)  # type: ignore[attr-defined]
    assert cli.main(["robots"]) == status
    assert capsys.readouterr().err.count("\n") == (1 if status == 2 else 0)
