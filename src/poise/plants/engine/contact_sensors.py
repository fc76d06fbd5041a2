"""Simulated sensors: contact forces of MuJoCo, and the state, with the noise and resolution of real sensors.

At a contact MuJoCo has a force f in axes (normal, two tangents) of the contact, at a point p. In world axes it is
``F = Cᵀ f`` on the second of the two surfaces and -F on the first. A part feels the sum of F and, about its point o
(the middle of a sole, the origin of any other part), of ``(p - o) x F``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pinocchio
from numpy.typing import NDArray

from poise.arrays import Array
from poise.extras import mujoco
from poise.plants.plant_errors import PlantError
from poise.plants.simulation_setup import Sensors
from poise.robots import GRAVITY, Foot, Frame, Robot, State
from poise.state import ContactForces, Imu, SensorReadings

Indices = NDArray[np.int64]

_NEXT, _AFTER = np.array([1, 2, 0]), np.array([2, 0, 1])


class ContactMap:
    """Which surfaces of a model feel for which part: four for a sole, one for any other part, in the order of parts.

    Args:
        robot: whose parts they are.
        model: of MuJoCo.
        parts: what can touch.
    """

    def __init__(self, robot: Robot, model: mujoco.MjModel, parts: Sequence[Frame]) -> None:
        self.sites = np.array([model.site(part.name).id for part in parts], dtype=np.int64)
        counts = [4 if isinstance(part, Foot) else 1 for part in parts]
        size = sum(counts)
        #: Number of the part of each feeler, and one more for what is none.
        self.parts: Indices = np.repeat(np.arange(len(parts) + 1), [*counts, 1])
        corners = np.flatnonzero(np.repeat([isinstance(part, Foot) for part in parts], counts))
        #: Sums over feelers: to parts, and to the corners of soles.
        self.to_parts: Array = (self.parts == np.arange(len(parts))[:, None]).astype(np.float64)
        self.to_corners: Array = (np.arange(size + 1) == corners[:, None]).astype(np.float64)
        #: Number of the feeler of each geom; the last for a geom that is none.
        self.of_geom: Indices = np.full(model.ngeom, size)
        self.is_world: NDArray[np.bool_] = model.geom_bodyid == 0
        begins = np.cumsum([0, *counts])
        for part, begin in zip(parts, begins, strict=False):
            body = model.body(robot.model.names[part.joint]).id
            if not isinstance(part, Foot):  # capsules around a hand feel for it
                self.of_geom[model.geom_bodyid == body] = begin
        for part, begin, count in zip(parts, begins, counts, strict=False):
            for i in range(count):
                self.of_geom[model.geom(f"{part.name} {i}").id] = begin + i


class ContactReadings:
    """What the parts of a robot feel after one step, worked out as far as it is asked for.

    Attributes:
        points: of the parts (k, 3), in the world.
        rotations: world_from_part of each (k, 3, 3).
    """

    def __init__(self, contact_map: ContactMap, data: mujoco.MjData) -> None:
        self._contact_map = contact_map
        self.points: Array = data.site_xpos.take(contact_map.sites, axis=0)
        self.rotations: Array = data.site_xmat.take(contact_map.sites, axis=0).reshape(-1, 3, 3)
        contact, count = data.contact, data.ncon
        first, second = contact.geom[:, 0], contact.geom[:, 1]
        a, b = contact_map.of_geom.take(first), contact_map.of_geom.take(second)
        apart = contact_map.is_world.take(first) != contact_map.is_world.take(second)
        self._sensor_index: Indices = np.minimum(a, b)
        self._sign: Array = np.sign(a - b) * apart  # on the second surface, on the first, or on none of ours
        # Every contact here has three rows, and those of contacts come last; none if the engine ran out of memory.
        begin = data.nefc - 3 * count
        self._force: Array = data.efc_force[begin:].reshape(count, 3).copy() if begin >= 0 else np.zeros((count, 3))
        self._frames: Array = contact.frame.copy()
        self._points: Array = contact.pos.copy()

    @property
    def normal_forces(self) -> Array:
        """Per part the sum of the normal forces on it (N)."""
        return self._contact_map.to_parts.take(self._sensor_index, axis=1) @ (np.abs(self._sign) * self._force[:, 0])

    @cached_property
    def wrenches(self) -> Array:
        """Per part its force and the moment about its point, in world axes (k, 6)."""
        F = self._forces
        arm = self._points - self.points.take(self._contact_map.parts.take(self._sensor_index), axis=0, mode="clip")
        moment = arm[:, _NEXT] * F[:, _AFTER] - arm[:, _AFTER] * F[:, _NEXT]
        wrenches: Array = self._contact_map.to_parts.take(self._sensor_index, axis=1) @ np.concatenate(
            [F, moment], axis=1
        )
        return wrenches

    @cached_property
    def cells(self) -> Array:
        """Per corner of all soles in turn the force along the sole's normal (N)."""
        normals = self.rotations[:, :, 2].take(self._contact_map.parts.take(self._sensor_index), axis=0, mode="clip")
        along: Array = np.einsum("ni,ni->n", self._forces, normals)
        cells: Array = self._contact_map.to_corners.take(self._sensor_index, axis=1) @ along
        return cells

    @cached_property
    def _forces(self) -> Array:
        """On our surfaces, in world axes (n, 3)."""
        turned: Array = (self._force[:, None, :] @ self._frames.reshape(-1, 3, 3))[:, 0]
        return self._sign[:, None] * turned


def check_contact_dimension(model: mujoco.MjModel) -> None:
    """Makes sure that every contact of a model has three rows: a normal and two tangents, without pyramids."""
    touching = (model.geom_contype | model.geom_conaffinity) != 0
    if model.opt.cone != mujoco.mjtCone.mjCONE_ELLIPTIC or (model.geom_condim[touching] != 3).any():
        raise PlantError("the contacts of this model are not of three rows; give every geom condim 3", "condim")


# -- What sensors make of the truth: noise and steps -----------------------------------------------------------------


#: A part is in contact when the normal force on it is above this share of the weight: above the noise of any force cell
#: (a thousandth of its range), and below what a foot carries when it has just touched down or is about to leave, which
#: controllers take for 5 %.
CONTACT_THRESHOLD = 0.01
#: Gravity, which an accelerometer feels as if the robot were pushed up (m/s²).
GRAVITY_REACTION = np.array([0.0, 0.0, GRAVITY])


@dataclass(frozen=True, eq=False, slots=True)
class TrueSample:
    """The truth at one instant.

    Attributes:
        q, v: as pinocchio has them.
        acceleration: of the base's origin, in world axes (m/s²).
        contact_readings: forces on the parts.
    """

    q: Array
    v: Array
    acceleration: Array
    contact_readings: ContactReadings


class SensorModel:
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
        self._threshold = CONTACT_THRESHOLD * weight
        self._random = random
        self._scale, self._slices = _noise_deviations(robot.model.nv, len(parts), len(self.feet), sensors.noise)
        self.exact = sensors == Sensors(delay=sensors.delay)

    def draw_noise(self) -> Array | None:
        """New values for one tick; None for sensors without noise."""
        return self._scale * self._random.standard_normal(len(self._scale)) if self.sensors.noise else None

    def state(self, sample: TrueSample, noise: Array | None, time: float) -> State:
        """What a controller sees."""
        if self.exact:
            return State._unchecked(self.robot, sample.q, sample.v, time, self.contacts(sample, noise))
        q, v, step = sample.q, sample.v, self.sensors.encoder_step
        if noise is not None:
            q = pinocchio.integrate(self.robot.model, q, noise[self._slices["q"]])
            v = v + noise[self._slices["v"]]
        if step:
            q = np.concatenate([q[:7], step * np.round(q[7:] / step)])
        return State._unchecked(self.robot, q, v, time, self.contacts(sample, noise))

    def contacts(self, sample: TrueSample, noise: Array | None) -> tuple[Frame, ...]:
        """The parts that feel a force."""
        normal_forces = sample.contact_readings.normal_forces
        if noise is not None:
            normal_forces = normal_forces + noise[self._slices["wrenches"]][2::6]
        threshold = self._threshold
        return tuple([part for part, N in zip(self.parts, normal_forces.tolist(), strict=True) if threshold < N])

    def wrenches(self, sample: TrueSample, noise: Array | None) -> Array:
        """Forces and moments on the parts, in world axes."""
        wrenches, step = sample.contact_readings.wrenches, self.sensors.force_step
        if noise is not None:
            wrenches = wrenches + noise[self._slices["wrenches"]].reshape(-1, 6)
        if step:
            R, steps = sample.contact_readings.rotations, np.array([step, 0.1 * step])[:, None]
            local = np.einsum("kji,kaj->kai", R, wrenches.reshape(-1, 2, 3))  # in the axes of the part
            wrenches = np.einsum("kij,kaj->kai", R, steps * np.round(local / steps)).reshape(-1, 6)
        return wrenches

    def cells(self, sample: TrueSample, noise: Array | None) -> Mapping[str, Array]:
        """Per foot the forces on the corners of its sole (N, 4)."""
        cells, step = sample.contact_readings.cells, self.sensors.force_step
        if noise is not None:
            cells = cells + noise[self._slices["cells"]]
        if step:
            cells = step * np.round(cells / step)
        return dict(zip(self.feet, cells.reshape(-1, 4), strict=True))

    def imu(self, sample: TrueSample, noise: Array | None) -> Imu:
        """Orientation, angular velocity, acceleration of the base."""
        R = pinocchio.Quaternion(sample.q[3:7]).matrix()
        orientation, angular_velocity, acceleration = (
            sample.q[3:7],
            sample.v[3:6],
            R.T @ (sample.acceleration + GRAVITY_REACTION),
        )
        if noise is not None:
            turn, spin, shake = noise[self._slices["imu"]].reshape(3, 3)
            orientation = (pinocchio.Quaternion(orientation) * pinocchio.Quaternion(pinocchio.exp3(turn))).coeffs()
            angular_velocity, acceleration = angular_velocity + spin, acceleration + shake
        return Imu(orientation, angular_velocity, acceleration)


def _noise_deviations(nv: int, parts: int, feet: int, level: float) -> tuple[Array, dict[str, slice]]:
    """Standard deviations of all noise in one vector, as the table in `Sensors` has them, and where which stand."""
    pieces = {
        "q": np.full(nv, 0.1),
        "v": np.concatenate([np.full(6, 1.0), np.full(nv - 6, 5.0)]),
        "wrenches": np.tile([20.0, 20.0, 20.0, 2.0, 2.0, 2.0], parts),
        "cells": np.full(4 * feet, 20.0),
        "imu": np.repeat([0.1, 1.0, 10.0], 3),
    }
    ends = np.cumsum([len(piece) for piece in pieces.values()])
    slices = {name: slice(end - len(piece), end) for (name, piece), end in zip(pieces.items(), ends, strict=True)}
    return level * np.concatenate(list(pieces.values())), slices


# -- Measured --------------------------------------------------------------------------------------------------------


class LazySensorReadings(SensorReadings):
    """A `SensorReadings` that keeps a sample and its noise, and makes forces, cells and IMU of them on demand.

    A control loop makes one at every tick, and most are never looked at.
    """

    __slots__ = ("_cells", "_forces", "_measured_state", "_noise", "_sample", "_sensor_model", "_true_state")
    _cells: Mapping[str, Array] | None
    _forces: ContactForces | None
    _sensor_model: SensorModel
    _sample: TrueSample
    _noise: Array | None
    _measured_state: State
    _true_state: State

    def __init__(
        self,
        sensor_model: SensorModel,
        sample: TrueSample,
        noise: Array | None,
        measured_state: State,
        true_state: State,
    ) -> None:
        set_field = object.__setattr__  # the class is frozen
        set_field(self, "_sensor_model", sensor_model)
        set_field(self, "_sample", sample)
        set_field(self, "_noise", noise)
        set_field(self, "_measured_state", measured_state)
        set_field(self, "_true_state", true_state)
        set_field(self, "_cells", None)
        set_field(self, "_forces", None)

    @property
    def forces(self) -> ContactForces:
        if self._forces is None:
            wrenches = self._sensor_model.wrenches(self._sample, self._noise)
            forces = ContactForces(self._sensor_model.names, wrenches, self._sample.contact_readings.points)
            object.__setattr__(self, "_forces", forces)
        return self._forces  # type: ignore[return-value]

    @property
    def cells(self) -> Mapping[str, Array]:
        if self._cells is None:
            object.__setattr__(self, "_cells", self._sensor_model.cells(self._sample, self._noise))
        return self._cells  # type: ignore[return-value]

    @property
    def imu(self) -> Imu:
        return self._sensor_model.imu(self._sample, self._noise)

    @property
    def positions(self) -> Array:
        return self._measured_state.q[7:]

    @property
    def rates(self) -> Array:
        return self._measured_state.v[6:]

    @property
    def truth(self) -> State:
        return self._true_state
