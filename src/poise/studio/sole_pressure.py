"""Vertical force and zero moment point (ZMP) under each sole, low-pass filtered for display."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.arrays import Array
from poise.behaviors import SoleLoad
from poise.extras import scipy
from poise.recording import MIN_CONTACT_LOAD
from poise.robots import Robot, State
from poise.state import CELL_TIME_CONSTANT
from poise.viewer import SolePressureFrame

ComplexArray = NDArray[np.complex128]


class SolePressure:
    """Filtered force and ZMP under each sole, as shown in figures 7 and 10 of [Galdeano2014].

    A first-order low-pass filter is applied to W and to W z, with W the force on a sole and z its ZMP relative to the
    center of the sole. This is equivalent to filtering each force cell.

    Args:
        robot: robot with force cells in its soles.

    >>> sole_pressure = SolePressure(robot)
    >>> sole_pressure.update(body.sole_loads, 0.001)
    """

    def __init__(self, robot: Robot) -> None:
        self._feet = sorted(robot.feet, key=lambda foot: foot.side)
        self._weight = robot.weight
        self._filtered: dict[str, tuple[float, complex]] = {}

    def update(self, readings: Mapping[str, SoleLoad], period: float) -> None:
        """Advance the filter by one period (s) with the load of each sole by side."""
        share = period / (period + CELL_TIME_CONSTANT)
        for side, reading in readings.items():
            W, moment = self._filtered.get(side, (reading.force, reading.force * reading.zmp))
            W, moment = W + share * (reading.force - W), moment + share * (reading.force * reading.zmp - moment)
            self._filtered[side] = W, moment

    def set_filtered(self, side: str, force: float, moment: complex) -> None:
        """Set W (N) and W z (N m) under the sole of a side, instead of `update`."""
        self._filtered[side] = force, moment

    def force(self, side: str) -> float:
        """Return the filtered force W on the sole of a side (N)."""
        return self._filtered.get(side, (0.0, 0j))[0]

    def zmp(self, side: str) -> complex | None:
        """Return the ZMP under the sole of a side, from its center (m, x + i y in its axes); None if it is unloaded."""
        W, moment = self._filtered.get(side, (0.0, 0j))
        return moment / W if self._weight * MIN_CONTACT_LOAD < W else None

    def to_frame(self, state: State) -> SolePressureFrame:
        """Return the data of the view; an unloaded sole has its ZMP at the center and a load share of zero."""
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
        """Return the data of pages.

        "force" (N) by side, "x" and "y" of the ZMP from the center of the sole (m; None: unloaded) by side, and
        "half_size", half the length and width of a sole (m).
        """
        sides = [foot.side for foot in self._feet]
        zmps = {side: self.zmp(side) for side in sides}
        half = np.array(self._feet[0].sole.half_size)
        return {
            "force": {side: round(self.force(side), 2) for side in sides},
            "x": {side: None if z is None else round(z.real, 5) for side, z in zmps.items()},
            "y": {side: None if z is None else round(z.imag, 5) for side, z in zmps.items()},
            "half_size": [round(float(length), 5) for length in half],
        }


def filtered_loads(force: Array, zmp: Array, period: float) -> tuple[Array, ComplexArray]:
    """Return W and W z of a sole at all samples of a recording, filtered as by `SolePressure.update`.

    Args:
        force: forces on the sole, n (N).
        zmp: ZMP from the center of the sole, n x 2 (m).
        period: sampling period (s).
    """
    share = period / (period + CELL_TIME_CONSTANT)
    signals = np.column_stack([force, force * (zmp[:, 0] + 1j * zmp[:, 1])])
    initial = (1.0 - share) * signals[:1]  # the filter starts at the first sample
    filtered, _ = scipy.signal.lfilter([share], [1.0, share - 1.0], signals, axis=0, zi=initial)
    return filtered[:, 0].real, filtered[:, 1]
