"""Placed: where the markers of a person sit on the body."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from poise.human.fitting.points import Points
from poise.robots import Robot

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Placed:
    """Where markers sit: labels, links, places in the link's frame (m x 3, m), weights."""

    labels: tuple[str, ...]
    links: tuple[str, ...]
    places: Array
    weights: Array

    def points(self, robot: Robot) -> Points:
        """The same on a body."""
        return Points.on(robot.model, self.links, self.places)
