"""Helpers for tests of the command line: a recorded motion, and one-line errors."""

from __future__ import annotations

from pathlib import Path

import pytest

import poise
from poise import cli, tasks

BIPED = Path(__file__).parents[1] / "examples/biped.urdf"


def record_bend(folder: Path) -> Path:
    """Record a short motion of a robot from a URDF file, and return the path of the recording."""
    robot = poise.load_robot(BIPED)
    hierarchy = poise.Hierarchy(levels=[poise.Level("posture", [tasks.Posture([0.1] * 16)])])
    path = folder / "bend.poise"
    start = poise.State(robot, robot.rest)
    poise.record(poise.KinematicController(hierarchy), poise.IdealPlant(start), 0.6, path)
    return path


def error_line(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """Run a command with bad input, check status 2 and one line on standard error, and return the line."""
    assert cli.main([str(word) for word in arguments]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("poise: ")
    assert printed.err.count("\n") == 1
    return printed.err
