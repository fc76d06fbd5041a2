"""Walks on terrain: stairs known to the plan; slopes and bumps detected by the feet."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from poise import runs
from poise.plants import parse_terrain
from robot_states import installed_robot

pytestmark = pytest.mark.needs_models


@pytest.mark.parametrize("kind", ["stairs:0.05,0.3,1", "stairs:-0.05,0.3,1", "slope:5", "rough:0.01"])
def test_it_walks_and_ends_with_both_soles_on_the_ground(kind: str) -> None:
    request = runs.Walk(terrain=kind, steps=7, speed=(0.3, 0.0, 0.0))  # type: ignore[call-arg]
    recording, result = request.run()
    assert (result["fell"], result["reason"]) == (False, None)
    assert result["steps"] >= 7
    assert result["walk"]["slip_m"] < 0.02
    robot, ground = installed_robot("g1"), parse_terrain(kind)
    last = recording.state(recording.samples - 1, robot)
    for foot in robot.feet:
        x, y, z = last.pose(foot).act(foot.sole.center)
        assert x > 0.5, "past the stair"
        if not kind.startswith("rough"):
            assert z == pytest.approx(ground.elevation(x, y), abs=0.01)
    assert set(last.contacts) == set(robot.feet)
    assert np.abs(last.v).max() < 0.3


@pytest.mark.slow
@pytest.mark.parametrize(("solver", "seed", "steps"), [("strict", 9, 20), ("weighted", 0, 12)])
def test_a_foot_on_an_edge_causes_no_fall(solver: str, seed: int, steps: int) -> None:
    """Boxes of up to 2 cm. With twice the contact damping a stance foot rocks more and more, until the robot falls."""
    request = runs.Walk(terrain="rough:0.02", steps=steps, speed=(0.3, 0.0, 0.0), solver=solver, seed=seed)  # type: ignore[call-arg]
    _, result = request.run()
    assert (result["fell"], result["reason"]) == (False, None)
    _, result = replace(request, settings={"stance_damping": 40.0}).run()
    assert result["fell"]
