"""What tests of the command line share: a short motion in a file, and complaints of one line."""

from __future__ import annotations

from pathlib import Path

import pytest

import poise
from poise import cli, tasks

BIPED = Path(__file__).parents[1] / "examples/biped.urdf"


def record_bend(folder: Path) -> Path:
    """A short motion in a file, of a robot that is described by a file."""
    robot = poise.load_robot(BIPED)
    hierarchy = poise.Hierarchy(levels=[poise.Level("posture", [tasks.Posture([0.1] * 16)])])
    path = folder / "bend.poise"
    start = poise.State(robot, robot.rest)
    poise.record(poise.KinematicController(hierarchy), poise.IdealPlant(start), 0.6, path)
    return path


def error_line(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """What a command with bad input says: one line on standard error, and status 2."""
    assert cli.main([str(word) for word in arguments]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("poise: ")
    assert printed.err.count("\n") == 1
    return printed.err
