"""Simulated sensors: contact forces from MuJoCo, and the state, with the noise and resolution of real sensors.

MuJoCo gives the force f of a contact in the contact's axes (normal, two tangents), at a point p. In world axes it is
``F = Cᵀ f`` on the second of the two surfaces and -F on the first. The wrench on a part is the sum of all F, and of all
``(p - o) x F`` about its reference point o (the middle of a sole, the origin of any other part).
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
    """Map from the geoms of a model to contact sensors: four for a sole, one for any other part, in the order of parts.

    Args:
        robot: the robot.
        model: its MuJoCo model.
        parts: parts that can touch the environment.
    """

    def __init__(self, robot: Robot, model: mujoco.MjModel, parts: Sequence[Frame]) -> None:
        self.sites = np.array([model.site(part.name).id for part in parts], dtype=np.int64)
        counts = [4 if isinstance(part, Foot) else 1 for part in parts]
        size = sum(counts)
        #: Index of the part of each sensor; the last entry is for geoms without a sensor.
        self.parts: Indices = np.repeat(np.arange(len(parts) + 1), [*counts, 1])
        corners = np.flatnonzero(np.repeat([isinstance(part, Foot) for part in parts], counts))
        #: Matrices that sum over sensors: to parts, and to the corners of soles.
        self.to_parts: Array = (self.parts == np.arange(len(parts))[:, None]).astype(np.float64)
        self.to_corners: Array = (np.arange(size + 1) == corners[:, None]).astype(np.float64)
        #: Index of the sensor of each geom; the last index for a geom without a sensor.
        self.of_geom: Indices = np.full(model.ngeom, size)
        self.is_world: NDArray[np.bool_] = model.geom_bodyid == 0
        begins = np.cumsum([0, *counts])
        for part, begin in zip(parts, begins, strict=False):
            body = model.body(robot.model.names[part.joint]).id
            if not isinstance(part, Foot):  # forces on the capsules around a hand count as forces on the hand
                self.of_geom[model.geom_bodyid == body] = begin
        for part, begin, count in zip(parts, begins, counts, strict=False):
            for i in range(count):
                self.of_geom[model.geom(f"{part.name} {i}").id] = begin + i


class ContactReadings:
    """Contact forces of the environment on the parts of a robot after one step, computed on demand.

    Attributes:
        points: reference points of the parts (k, 3), in the world (m).
        rotations: world_from_part of each part (k, 3, 3).
    """

    def __init__(self, contact_map: ContactMap, data: mujoco.MjData) -> None:
        self._contact_map = contact_map
        self.points: Array = data.site_xpos.take(contact_map.sites, axis=0)
        self.rotations: Array = data.site_xmat.take(contact_map.sites, axis=0).reshape(-1, 3, 3)
        contact, count = data.contact, data.ncon
        first, second = contact.geom[:, 0], contact.geom[:, 1]
        a, b = contact_map.of_geom.take(first), contact_map.of_geom.take(second)
        with_environment = contact_map.is_world.take(first) != contact_map.is_world.take(second)
        self._sensor_index: Indices = np.minimum(a, b)
        # 1: the part is the second surface, -1: the first, 0: neither, or a contact between bodies of the robot
        self._sign: Array = np.sign(a - b) * with_environment
        # Every contact has three rows, and contact rows come last; there are none if the engine ran out of memory.
        begin = data.nefc - 3 * count
        self._force: Array = data.efc_force[begin:].reshape(count, 3).copy() if begin >= 0 else np.zeros((count, 3))
        self._frames: Array = contact.frame.copy()
        self._points: Array = contact.pos.copy()

    @property
    def normal_forces(self) -> Array:
        """Sum of the normal forces on each part (N)."""
        return self._contact_map.to_parts.take(self._sensor_index, axis=1) @ (np.abs(self._sign) * self._force[:, 0])

    @cached_property
    def wrenches(self) -> Array:
        """Force and moment about the reference point of each part, in world axes (k, 6; N, N m)."""
        F = self._forces
        arm = self._points - self.points.take(self._contact_map.parts.take(self._sensor_index), axis=0, mode="clip")
        moment = arm[:, _NEXT] * F[:, _AFTER] - arm[:, _AFTER] * F[:, _NEXT]
        wrenches: Array = self._contact_map.to_parts.take(self._sensor_index, axis=1) @ np.concatenate(
            [F, moment], axis=1
        )
        return wrenches

    @cached_property
    def cells(self) -> Array:
        """Force along the sole's normal at each corner of all soles, sole by sole (N)."""
        normals = self.rotations[:, :, 2].take(self._contact_map.parts.take(self._sensor_index), axis=0, mode="clip")
        along: Array = np.einsum("ni,ni->n", self._forces, normals)
        cells: Array = self._contact_map.to_corners.take(self._sensor_index, axis=1) @ along
        return cells

    @cached_property
    def _forces(self) -> Array:
        """Force of each contact on the robot, in world axes (n, 3; N)."""
        in_world: Array = (self._force[:, None, :] @ self._frames.reshape(-1, 3, 3))[:, 0]
        return self._sign[:, None] * in_world


def check_contact_dimension(model: mujoco.MjModel) -> None:
    """Raise `PlantError` unless all contacts have three rows (a normal, two tangents) and elliptic friction cones."""
    can_collide = (model.geom_contype | model.geom_conaffinity) != 0
    if model.opt.cone != mujoco.mjtCone.mjCONE_ELLIPTIC or (model.geom_condim[can_collide] != 3).any():
        raise PlantError("contacts must have three rows and elliptic cones; set condim 3 for every geom", "condim")


# -- Sensor model: noise and resolution ------------------------------------------------------------------------------


#: A part is in contact if the normal force on it is above this fraction of the weight, and above this number of
#: standard deviations of the noise, so that unloaded hands do not flicker (3e-7 of the ticks) ...
CONTACT_THRESHOLD, NOISE_DEVIATIONS = 0.01, 5.0
#: ... but at most this fraction of the weight: below the load of a foot just after initial contact or just before
#: toe-off, which controllers assume to be 5 %.
LARGEST_CONTACT_THRESHOLD = 0.04
#: Standard deviation of measured forces at noise level 1 (N).
FORCE_NOISE = 20.0
#: Reading of an accelerometer at rest due to gravity, in world axes (m/s²).
GRAVITY_REACTION = np.array([0.0, 0.0, GRAVITY])


@dataclass(frozen=True, eq=False, slots=True)
class TrueSample:
    """True values at one instant.

    Attributes:
        q, v: configuration and velocity in pinocchio's convention.
        acceleration: acceleration of the base's origin, in world axes (m/s²).
        contact_readings: contact forces on the parts.
    """

    q: Array
    v: Array
    acceleration: Array
    contact_readings: ContactReadings


class SensorModel:
    """Sensors of a robot: converts true samples to the measured values that a controller receives.

    Args:
        robot: the robot.
        parts: parts that can touch the environment, feet and others.
        sensors: noise, delay and resolution.
        weight: weight of the robot (N).
        random: random generator of the noise.
    """

    def __init__(
        self, robot: Robot, parts: Sequence[Frame], sensors: Sensors, weight: float, random: np.random.Generator
    ) -> None:
        self.robot, self.parts, self.sensors = robot, tuple(parts), sensors
        self.names = tuple(part.name for part in parts)
        self.feet = tuple(part.name for part in parts if isinstance(part, Foot))
        self._random = random
        self._scale, self._slices = _noise_deviations(robot.model.nv, len(parts), len(self.feet), sensors.noise)
        noise = NOISE_DEVIATIONS * FORCE_NOISE * sensors.noise
        self._threshold = max(CONTACT_THRESHOLD * weight, min(noise, LARGEST_CONTACT_THRESHOLD * weight))
        self.exact = sensors == Sensors(delay=sensors.delay)

    def draw_noise(self) -> Array | None:
        """Draw the noise of one tick; None for sensors without noise."""
        return self._scale * self._random.standard_normal(len(self._scale)) if self.sensors.noise else None

    def state(self, sample: TrueSample, noise: Array | None, time: float) -> State:
        """Return the measured state at a time (s)."""
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
        """Return the parts whose measured normal force is above the contact threshold."""
        normal_forces = sample.contact_readings.normal_forces
        if noise is not None:
            normal_forces = normal_forces + noise[self._slices["wrenches"]][2::6]
        threshold = self._threshold
        return tuple([part for part, N in zip(self.parts, normal_forces.tolist(), strict=True) if threshold < N])

    def wrenches(self, sample: TrueSample, noise: Array | None) -> Array:
        """Return the measured forces and moments on the parts, in world axes (k, 6; N, N m)."""
        wrenches, step = sample.contact_readings.wrenches, self.sensors.force_step
        if noise is not None:
            wrenches = wrenches + noise[self._slices["wrenches"]].reshape(-1, 6)
        if step:
            R, steps = sample.contact_readings.rotations, np.array([step, 0.1 * step])[:, None]
            local = np.einsum("kji,kaj->kai", R, wrenches.reshape(-1, 2, 3))  # in the axes of the part
            wrenches = np.einsum("kij,kaj->kai", R, steps * np.round(local / steps)).reshape(-1, 6)
        return wrenches

    def cells(self, sample: TrueSample, noise: Array | None) -> Mapping[str, Array]:
        """Return the measured forces at the corners of each sole (N, 4), by the name of the foot."""
        cells, step = sample.contact_readings.cells, self.sensors.force_step
        if noise is not None:
            cells = cells + noise[self._slices["cells"]]
        if step:
            cells = step * np.round(cells / step)
        return dict(zip(self.feet, cells.reshape(-1, 4), strict=True))

    def imu(self, sample: TrueSample, noise: Array | None) -> Imu:
        """Return the measured orientation of the base, and its angular velocity and specific force in base axes."""
        R = pinocchio.Quaternion(sample.q[3:7]).matrix()
        orientation, angular_velocity, acceleration = (
            sample.q[3:7],
            sample.v[3:6],
            R.T @ (sample.acceleration + GRAVITY_REACTION),
        )
        if noise is not None:
            rotation_noise, angular_velocity_noise, acceleration_noise = noise[self._slices["imu"]].reshape(3, 3)
            rotation = pinocchio.Quaternion(pinocchio.exp3(rotation_noise))
            orientation = (pinocchio.Quaternion(orientation) * rotation).coeffs()
            angular_velocity = angular_velocity + angular_velocity_noise
            acceleration = acceleration + acceleration_noise
        return Imu(orientation, angular_velocity, acceleration)


def _noise_deviations(nv: int, parts: int, feet: int, level: float) -> tuple[Array, dict[str, slice]]:
    """Return the standard deviations of all noise (table in `Sensors`) as one vector, and the slices of quantities."""
    pieces = {
        "q": np.full(nv, 0.1),
        "v": np.concatenate([np.full(6, 1.0), np.full(nv - 6, 5.0)]),
        "wrenches": np.tile([*3 * [FORCE_NOISE], *3 * [0.1 * FORCE_NOISE]], parts),
        "cells": np.full(4 * feet, FORCE_NOISE),
        "imu": np.repeat([0.1, 1.0, 10.0], 3),
    }
    ends = np.cumsum([len(piece) for piece in pieces.values()])
    slices = {name: slice(end - len(piece), end) for (name, piece), end in zip(pieces.items(), ends, strict=True)}
    return level * np.concatenate(list(pieces.values())), slices


# -- Sensor readings -------------------------------------------------------------------------------------------------


class LazySensorReadings(SensorReadings):
    """A `SensorReadings` that stores a sample and its noise, and computes forces, cells and IMU on demand.

    The control loop creates one at every tick, and most of them are never used.
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
    def velocities(self) -> Array:
        return self._measured_state.v[6:]

    @property
    def truth(self) -> State:
        return self._true_state
