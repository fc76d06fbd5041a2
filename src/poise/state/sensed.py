"""What acts on a robot from outside, and what its sensors tell of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from poise.robots import State

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False, slots=True)
class ContactForces:
    """Forces of the world on the robot at some contacts, at one instant.

    Attributes:
        names: of the parts that touch, e.g. those of the feet's frames.
        wrenches: per contact the force (N) and its moment about the contact's point (N m), in world axes: (k, 6).
        points: per contact the point, in the world (m): (k, 3); of a sole its middle.
    """

    names: tuple[str, ...]
    wrenches: Array
    points: Array

    def __getitem__(self, name: str) -> Array:
        """The wrench at a contact; zeros where nothing touches."""
        return self.wrenches[self.names.index(name)] if name in self.names else np.zeros(6)

    @property
    def total(self) -> Array:
        """Sum of the forces (N, 3)."""
        return np.asarray(self.wrenches[:, :3].sum(axis=0))


@dataclass(frozen=True, eq=False, slots=True)
class Imu:
    """An inertial unit in the base.

    Attributes:
        orientation: world_from_base as a quaternion (x, y, z, w).
        angular_velocity: of the base in its own axes (rad/s).
        acceleration: of the base minus gravity, in its own axes (m/s²): at rest 9.81 upwards.
    """

    orientation: Array
    angular_velocity: Array
    acceleration: Array


@dataclass(frozen=True, eq=False, slots=True)
class Sensed:
    """What a plant's sensors say at the time of a state.

    Attributes:
        forces: of the world on every part that can touch; at a foot the 6-axis ankle sensor, moved to the sole.
        cells: per foot (by its name) the normal forces at the corners of its sole (N, 4).
        imu: in the base.
        positions, rates: of the joints, from their encoders (rad, rad/s).
        truth: the state that the plant is really in; only for judging, no robot knows it.
    """

    forces: ContactForces
    cells: Mapping[str, Array]
    imu: Imu
    positions: Array
    rates: Array
    truth: State
