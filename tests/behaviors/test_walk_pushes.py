"""Capture steps of a pushed robot."""

from __future__ import annotations

import math

import numpy as np
import pytest

from poise.behaviors import Walk
from poise.plants import Push
from poise.solvers import Lexicographic
from robot_states import installed_robot
from walk_trials import WalkTrial

pytestmark = pytest.mark.needs_models


def run_pushed(name: str, force: float, degrees: float, seconds: float = 4.0) -> WalkTrial:
    """Run a standing robot that is pushed for a tenth of a second."""
    direction = (math.cos(math.radians(degrees)), math.sin(math.radians(degrees)), 0.0)
    push = Push(tuple(force * part for part in direction), duration=0.1, time=0.3)
    return WalkTrial(Walk(installed_robot(name), steps=0), Lexicographic(), pushes=[push]).run(seconds)


def at_rest(trial: WalkTrial) -> bool:
    return bool(np.abs(trial.plant.truth().v).max() < 0.2 and abs(trial.errors[-1]) < 0.01)


@pytest.mark.parametrize(
    ("name", "force", "degrees"),
    [("g1", 250.0, 0.0), ("g1", 150.0, 180.0), ("g1", 250.0, 75.0), ("talos", 700.0, 100.0)],
)
def test_after_a_hard_push_it_takes_a_step_and_stands_again(name: str, force: float, degrees: float) -> None:
    trial = run_pushed(name, force, degrees)
    assert trial.plant.fall == ""
    assert trial.walk.phase().steps >= 1
    assert trial.walk.phase().kind == "standing"
    assert at_rest(trial)
    assert trial.bind_count == 6


@pytest.mark.parametrize(("name", "force"), [("g1", 40.0), ("talos", 120.0)])
@pytest.mark.parametrize("degrees", [0.0, 90.0, 225.0])
def test_a_small_push_moves_no_foot(name: str, force: float, degrees: float) -> None:
    trial = run_pushed(name, force, degrees, seconds=1.5)
    assert trial.phase_names == ["standing"]
    assert trial.walk.phase().steps == 0
    assert at_rest(trial)


def test_a_capture_step_begins_without_a_weight_shift() -> None:
    names = run_pushed("g1", 150.0, 0.0).phase_names
    assert "starting" not in names
    assert names[1] in ("left support", "right support")


def test_a_pushed_walk_continues() -> None:
    push = Push((0.0, 60.0, 0.0), duration=0.1, time=1.9)
    trial = WalkTrial(Walk(installed_robot("g1"), steps=6), pushes=[push]).run_to_stop()
    assert np.abs(trial.errors).max() > 0.015, "the push had an effect"
    assert trial.walk.phase().steps >= 6
    assert trial.stands
