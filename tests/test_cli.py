"""The command ``poise``: what it prints, where, and with which exit status."""

from __future__ import annotations

import json
import subprocess
import sys
import types
from pathlib import Path

import pytest

import poise
from poise import cli
from poise.errors import RowsError


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "poise", *arguments], capture_output=True, text=True, check=False)


def complaint(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The single line on standard error with which the command refuses these arguments."""
    assert cli.main(arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("poise: ")
    assert printed.err.count("\n") == 1
    return printed.err


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    """Takes the place of poise.bench, which would measure for minutes."""
    module = types.ModuleType("poise.bench")

    def measure(data: Path | None, repeat: int, peers: bool, progress: object) -> dict[str, object]:
        assert callable(progress)
        progress("measuring")
        print("a peer that prints")
        return {"data": data and str(data), "repeat": repeat, "peers": peers}

    module.run = measure  # type: ignore[attr-defined]
    module.table = lambda result: f"repeat {result['repeat']}"  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "poise.bench", module)
    monkeypatch.setattr(poise, "bench", module, raising=False)
    return module


def test_the_version_is_that_of_the_package() -> None:
    result = run("--version")
    assert (result.returncode, result.stdout) == (0, f"poise {poise.__version__}\n")


def test_help_names_every_command() -> None:
    result = run("--help")
    assert result.returncode == 0
    for command in ("bench", *cli.PLANNED):
        assert command in result.stdout


def test_without_a_command_it_prints_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([]) == 0
    assert "COMMAND" in capsys.readouterr().out


def test_an_unknown_command_is_one_line_and_no_traceback() -> None:
    result = run("bnech")
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr == "poise: unknown command 'bnech'; did you mean 'bench'?\n"


def test_a_command_like_no_other_is_answered_with_those_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert "there are bench, robots" in complaint(capsys, "xyzzy")


@pytest.mark.parametrize("command", cli.PLANNED)
def test_a_planned_command_says_that_it_arrives_later(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "later part" in complaint(capsys, command, "--json", "missing.poise")


@pytest.mark.parametrize(
    ("arguments", "evidence"),
    [
        (["bench", "--data", "no/such/folder"], "there is no folder 'no/such/folder'"),
        (["bench", "--repeat", "none"], "'none' is not a count"),
        (["bench", "--repeat", "0"], "'0' is not a count"),
        (["bench", "--jsno"], "--jsno"),
        (["--verbose"], "--verbose"),
    ],
)
def test_bad_input_is_named(arguments: list[str], evidence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert evidence in complaint(capsys, *arguments)


def test_bench_json_is_one_object_and_nothing_else(
    bench: types.ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["bench", "--json", "--peers", "--repeat", "3", "--data", str(tmp_path)]) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out) == {"data": str(tmp_path), "repeat": 3, "peers": True}
    assert "measuring" in printed.err


def test_bench_prints_a_table(bench: types.ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["bench"]) == 0
    assert capsys.readouterr().out == "repeat 5\n"


@pytest.mark.parametrize(
    ("raised", "status"),
    [
        (RowsError("Rows 'reach':\nlower is above upper"), 2),
        (FileNotFoundError(2, "No such file or directory", "walk.npz"), 2),
        (KeyboardInterrupt(), 130),
    ],
)
def test_trouble_inside_a_command_ends_without_a_traceback(
    raised: BaseException,
    status: int,
    bench: types.ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(**_: object) -> None:
        raise raised

    monkeypatch.setattr(bench, "run", fail)
    assert cli.main(["bench"]) == status
    assert capsys.readouterr().err.count("\n") == (1 if status == 2 else 0)
