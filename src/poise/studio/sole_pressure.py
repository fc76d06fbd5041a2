"""Force and ZMP under each sole, smoothed for display."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from poise.behaviors import Pressed
from poise.recording import LEAST_LOAD
from poise.robots import Robot, State
from poise.state import CELL_FILTER
from poise.studio.scenery import Underfoot


class Soles:
    """How strongly each sole is pressed and where, as figures 7 and 10 of [Galdeano2014] show it.

    W and W z, with z the ZMP seen from the middle of the sole, go through a filter of first order each; so does every
    cell, then.

    Args:
        robot: whose soles.

    >>> soles = Soles(robot)
    >>> soles.feel(body.pressed, 0.001)
    """

    def __init__(self, robot: Robot) -> None:
        self._feet = sorted(robot.feet, key=lambda foot: foot.side)
        self._weight = robot.weight
        self._felt: dict[str, tuple[float, complex]] = {}

    def feel(self, pressed: Mapping[str, Pressed], period: float) -> None:
        """One period (s) later, with what each sole feels now, by side."""
        share = period / (period + CELL_FILTER)
        for side, now in pressed.items():
            W, moment = self._felt.get(side, (now.amplitude, now.amplitude * now.zmp))
            W, moment = W + share * (now.amplitude - W), moment + share * (now.amplitude * now.zmp - moment)
            self._felt[side] = W, moment

    def force(self, side: str) -> float:
        """W, on the sole of that side (N)."""
        return self._felt.get(side, (0.0, 0j))[0]

    def zmp(self, side: str) -> complex | None:
        """Under that sole, from its middle (m, x + i y in its axes); None if it bears next to nothing."""
        W, moment = self._felt.get(side, (0.0, 0j))
        return moment / W if self._weight * LEAST_LOAD < W else None

    def under(self, state: State) -> Underfoot:
        """For the view; the ZMP of a sole that bears nothing is its middle, with a share of zero."""
        points, shares = [], []
        for foot in self._feet:
            z, pose = self.zmp(foot.side), state.pose(foot)
            middle = foot.sole.center
            away = np.zeros(3) if z is None else np.array([z.real, z.imag, 0.0])
            points.append([pose.act(point) for point in (*foot.corners, middle, middle + away)])
            shares.append(0.0 if z is None else self.force(foot.side) / self._weight)
        places = np.array(points)
        return Underfoot(places[:, :4], places[:, 4], places[:, 5], np.array(shares))

    def numbers(self) -> dict[str, Any]:
        """For the pages: "force" (N), "x" and "y" of the ZMP (m; None: not known) by side, and how far from the middle
        the edges of a sole are, "edges", along x and y (m)."""
        sides = [foot.side for foot in self._feet]
        zmps = {side: self.zmp(side) for side in sides}
        half = np.array(self._feet[0].sole.half)
        return {
            "force": {side: round(self.force(side), 2) for side in sides},
            "x": {side: None if z is None else round(z.real, 5) for side, z in zmps.items()},
            "y": {side: None if z is None else round(z.imag, 5) for side, z in zmps.items()},
            "edges": [round(float(length), 5) for length in half],
        }
