"""Checks of a robot that stands on position servos with force cells under its feet."""

from __future__ import annotations

import numpy as np
import pytest

from poise.plants import MujocoPlant

GRAVITY = 9.81


def check_standing_on_cells(plant: MujocoPlant) -> None:
    """Assert that the robot stands upright at its place, with its weight on the eight cells, evenly on both feet."""
    start, cells = plant.start, plant.readings().cells
    assert not plant.fallen
    assert np.abs(plant.truth().center_of_mass - start.center_of_mass).max() < 2e-3
    weight = GRAVITY * start.robot.mass
    assert [len(cells[foot.name]) for foot in start.robot.feet] == [4, 4]
    assert min(cells[foot.name].min() for foot in start.robot.feet) > 0.0
    assert [cells[foot.name].sum() for foot in start.robot.feet] == pytest.approx([weight / 2] * 2, rel=0.02)
    assert sum(cells[foot.name].sum() for foot in start.robot.feet) == pytest.approx(weight, rel=0.005)
