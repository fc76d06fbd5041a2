"""Force and ZMP under each sole, smoothed for display."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from poise.behaviors import SoleLoad
from poise.recording import MIN_CONTACT_LOAD
from poise.robots import Robot, State
from poise.state import CELL_TIME_CONSTANT
from poise.viewer import SolePressureFrame


class SolePressure:
    """How strongly each sole is pressed and where, as figures 7 and 10 of [Galdeano2014] show it.

    W and W z, with z the ZMP seen from the middle of the sole, go through a filter of first order each; so does every
    cell, then.

    Args:
        robot: whose soles.

    >>> sole_pressure = SolePressure(robot)
    >>> sole_pressure.update(body.sole_loads, 0.001)
    """

    def __init__(self, robot: Robot) -> None:
        self._feet = sorted(robot.feet, key=lambda foot: foot.side)
        self._weight = robot.weight
        self._filtered: dict[str, tuple[float, complex]] = {}

    def update(self, readings: Mapping[str, SoleLoad], period: float) -> None:
        """One period (s) later, with what each sole feels now, by side."""
        share = period / (period + CELL_TIME_CONSTANT)
        for side, reading in readings.items():
            W, moment = self._filtered.get(side, (reading.force, reading.force * reading.zmp))
            W, moment = W + share * (reading.force - W), moment + share * (reading.force * reading.zmp - moment)
            self._filtered[side] = W, moment

    def force(self, side: str) -> float:
        """W, on the sole of that side (N)."""
        return self._filtered.get(side, (0.0, 0j))[0]

    def zmp(self, side: str) -> complex | None:
        """Under that sole, from its middle (m, x + i y in its axes); None if it bears next to nothing."""
        W, moment = self._filtered.get(side, (0.0, 0j))
        return moment / W if self._weight * MIN_CONTACT_LOAD < W else None

    def to_frame(self, state: State) -> SolePressureFrame:
        """For the view; the ZMP of a sole that bears nothing is its middle, with a share of zero."""
        points, shares = [], []
        for foot in self._feet:
            z, pose = self.zmp(foot.side), state.pose(foot)
            middle = foot.sole.center
            offset = np.zeros(3) if z is None else np.array([z.real, z.imag, 0.0])
            points.append([pose.act(point) for point in (*foot.corners, middle, middle + offset)])
            shares.append(0.0 if z is None else self.force(foot.side) / self._weight)
        coordinates = np.array(points)
        return SolePressureFrame(coordinates[:, :4], coordinates[:, 4], coordinates[:, 5], np.array(shares))

    def as_json(self) -> dict[str, Any]:
        """For the pages: "force" (N), "x" and "y" of the ZMP (m; None: not known) by side, and how far from the middle
        the edges of a sole are, "half_size", along x and y (m)."""
        sides = [foot.side for foot in self._feet]
        zmps = {side: self.zmp(side) for side in sides}
        half = np.array(self._feet[0].sole.half_size)
        return {
            "force": {side: round(self.force(side), 2) for side in sides},
            "x": {side: None if z is None else round(z.real, 5) for side, z in zmps.items()},
            "y": {side: None if z is None else round(z.imag, 5) for side, z in zmps.items()},
            "half_size": [round(float(length), 5) for length in half],
        }
