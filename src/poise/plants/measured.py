"""Measured: what sensors said at one instant, worked out when somebody asks."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from poise.plants.measuring import Sample, Sensing
from poise.robots import State
from poise.state import ContactForces, Imu, Sensed

Array = NDArray[np.float64]


class Measured(Sensed):
    """A `Sensed` that keeps a sample and its noise, and makes forces, cells and IMU of them on demand.

    A control loop makes one at every tick, and most are never looked at.
    """

    __slots__ = ("_cells", "_forces", "_noise", "_sample", "_seen", "_sensing", "_true")
    _cells: Mapping[str, Array] | None
    _forces: ContactForces | None
    _sensing: Sensing
    _sample: Sample
    _noise: Array | None
    _seen: State
    _true: State

    def __init__(self, sensing: Sensing, sample: Sample, noise: Array | None, seen: State, true: State) -> None:
        put = object.__setattr__  # the class is frozen
        put(self, "_sensing", sensing)
        put(self, "_sample", sample)
        put(self, "_noise", noise)
        put(self, "_seen", seen)
        put(self, "_true", true)
        put(self, "_cells", None)
        put(self, "_forces", None)

    @property
    def forces(self) -> ContactForces:  # type: ignore[override]
        if self._forces is None:
            wrenches = self._sensing.wrenches(self._sample, self._noise)
            forces = ContactForces(self._sensing.names, wrenches, self._sample.touch.points)
            object.__setattr__(self, "_forces", forces)
        return self._forces  # type: ignore[return-value]

    @property
    def cells(self) -> Mapping[str, Array]:  # type: ignore[override]
        if self._cells is None:
            object.__setattr__(self, "_cells", self._sensing.cells(self._sample, self._noise))
        return self._cells  # type: ignore[return-value]

    @property
    def imu(self) -> Imu:  # type: ignore[override]
        return self._sensing.imu(self._sample, self._noise)

    @property
    def positions(self) -> Array:  # type: ignore[override]
        return self._seen.q[7:]

    @property
    def rates(self) -> Array:  # type: ignore[override]
        return self._seen.v[6:]

    @property
    def truth(self) -> State:  # type: ignore[override]
        return self._true
