"""What sensors make of the truth: noise and steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio
from numpy.typing import NDArray

from poise.plants.engine.touch import Touch
from poise.plants.sensors import Sensors
from poise.robots import Foot, Frame, Robot, State
from poise.state import Imu

Array = NDArray[np.float64]

#: A part is in contact when the normal force on it is above this share of the weight: above the noise of any force cell
#: (a thousandth of its range), and below what a foot carries when it has just touched down or is about to leave, which
#: controllers take for 5 %.
TOUCHING = 0.01
#: Gravity, which an accelerometer feels as if the robot were pushed up (m/s²).
UP = np.array([0.0, 0.0, 9.81])


@dataclass(frozen=True, eq=False, slots=True)
class Sample:
    """The truth at one instant.

    Attributes:
        q, v: as pinocchio has them.
        acceleration: of the base's origin, in world axes (m/s²).
        touch: forces on the parts.
    """

    q: Array
    v: Array
    acceleration: Array
    touch: Touch


class Sensing:
    """The sensors of one robot: from samples to what a controller receives.

    Args:
        robot: whose sensors they are.
        parts: what can touch, feet and others.
        sensors: how good they are.
        weight: of the robot, in N.
        random: where noise comes from.
    """

    def __init__(
        self, robot: Robot, parts: Sequence[Frame], sensors: Sensors, weight: float, random: np.random.Generator
    ) -> None:
        self.robot, self.parts, self.sensors = robot, tuple(parts), sensors
        self.names = tuple(part.name for part in parts)
        self.feet = tuple(part.name for part in parts if isinstance(part, Foot))
        self._threshold = TOUCHING * weight
        self._random = random
        self._scale, self._places = _deviations(robot.model.nv, len(parts), len(self.feet), sensors.noise)
        self.exact = sensors == Sensors(delay=sensors.delay)

    def noise(self) -> Array | None:
        """New values for one tick; None for sensors without noise."""
        return self._scale * self._random.standard_normal(len(self._scale)) if self.sensors.noise else None

    def state(self, sample: Sample, noise: Array | None, time: float) -> State:
        """What a controller sees."""
        if self.exact:
            return State._trusted(self.robot, sample.q, sample.v, time, self.contacts(sample, noise))
        q, v, step = sample.q, sample.v, self.sensors.encoder_step
        if noise is not None:
            q = pinocchio.integrate(self.robot.model, q, noise[self._places["q"]])
            v = v + noise[self._places["v"]]
        if step:
            q = np.concatenate([q[:7], step * np.round(q[7:] / step)])
        return State._trusted(self.robot, q, v, time, self.contacts(sample, noise))

    def contacts(self, sample: Sample, noise: Array | None) -> tuple[Frame, ...]:
        """The parts that feel a force."""
        pressures = sample.touch.pressures
        if noise is not None:
            pressures = pressures + noise[self._places["wrenches"]][2::6]
        threshold = self._threshold
        return tuple([part for part, N in zip(self.parts, pressures.tolist(), strict=True) if threshold < N])

    def wrenches(self, sample: Sample, noise: Array | None) -> Array:
        """Forces and moments on the parts, in world axes."""
        wrenches, step = sample.touch.wrenches, self.sensors.force_step
        if noise is not None:
            wrenches = wrenches + noise[self._places["wrenches"]].reshape(-1, 6)
        if step:
            R, steps = sample.touch.rotations, np.array([step, 0.1 * step])[:, None]
            inside = np.einsum("kji,kaj->kai", R, wrenches.reshape(-1, 2, 3))  # in the axes of the part
            wrenches = np.einsum("kij,kaj->kai", R, steps * np.round(inside / steps)).reshape(-1, 6)
        return wrenches

    def cells(self, sample: Sample, noise: Array | None) -> Mapping[str, Array]:
        """Per foot the forces on the corners of its sole (N, 4)."""
        cells, step = sample.touch.cells, self.sensors.force_step
        if noise is not None:
            cells = cells + noise[self._places["cells"]]
        if step:
            cells = step * np.round(cells / step)
        return dict(zip(self.feet, cells.reshape(-1, 4), strict=True))

    def imu(self, sample: Sample, noise: Array | None) -> Imu:
        """Orientation, angular velocity, acceleration of the base."""
        R = pinocchio.Quaternion(sample.q[3:7]).matrix()
        orientation, turning, felt = sample.q[3:7], sample.v[3:6], R.T @ (sample.acceleration + UP)
        if noise is not None:
            turn, spin, shake = noise[self._places["imu"]].reshape(3, 3)
            orientation = (pinocchio.Quaternion(orientation) * pinocchio.Quaternion(pinocchio.exp3(turn))).coeffs()
            turning, felt = turning + spin, felt + shake
        return Imu(orientation, turning, felt)


def _deviations(nv: int, parts: int, feet: int, level: float) -> tuple[Array, dict[str, slice]]:
    """Standard deviations of all noise in one vector, as the table in `Sensors` has them, and where which stand."""
    pieces = {
        "q": np.full(nv, 0.1),
        "v": np.concatenate([np.full(6, 1.0), np.full(nv - 6, 5.0)]),
        "wrenches": np.tile([20.0, 20.0, 20.0, 2.0, 2.0, 2.0], parts),
        "cells": np.full(4 * feet, 20.0),
        "imu": np.repeat([0.1, 1.0, 10.0], 3),
    }
    ends = np.cumsum([len(piece) for piece in pieces.values()])
    places = {name: slice(end - len(piece), end) for (name, piece), end in zip(pieces.items(), ends, strict=True)}
    return level * np.concatenate(list(pieces.values())), places
