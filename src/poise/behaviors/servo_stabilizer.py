"""Stabilizer: balance through position servos by shifting the reference's centre of mass and tilting its soles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pinocchio

from poise.arrays import Array
from poise.geometry import so3
from poise.parameters import check_parameters, gain_parameter
from poise.robots import Foot, Robot
from poise.state import SensorReadings, Snapshot

#: A robot whose soles feel less than this share of its weight is not standing.
LEAST_LOAD = 0.2
#: The centre of mass is shifted by no more than this share of half a sole's length.
LARGEST_SHIFT = 0.8
#: Soles are turned by no more than this (rad): a servo that needs more is being pushed over.
LARGEST_SOLE_TILT = 0.15


@dataclass(frozen=True)
class ServoStabilizerSettings:
    """Gains of a stabilizer. Soles that meet the ground hammer on their cells: hence the filters."""

    admittance: float = gain_parameter(
        6.0, "A: rate at which the centre of mass yields to a misplaced pressure", zero=True
    )
    divergence: float = gain_parameter(4.0, "k_x: feedback of the DCM", zero=True)
    upright: float = gain_parameter(0.6, "k_t: share of the trunk's tilt that the soles undo", "", zero=True)
    leak: float = gain_parameter(1.0, "rate at which a shift is forgotten", zero=True)
    smooth: float = gain_parameter(0.02, "time constant of the filters on pressure and tilt", "s", zero=True)

    def __post_init__(self) -> None:
        check_parameters(self, "stabilizer")


@dataclass(frozen=True, eq=False)
class Observation:
    """The real body, moved so that its stance sole lies on that of the reference.

    Attributes:
        center, velocity: of the centre of mass (m, m/s, 3).
        zmp: where the ground pushes, by the force cells (m, as x + i y); None: nothing was felt.
        tilt: of the real trunk beyond that of the reference (rad, about x and y).
        shift: reference_from_world, planar; its inverse moves the reference to where the robot is.
    """

    center: Array
    velocity: Array
    zmp: complex | None
    tilt: tuple[float, float]
    shift: pinocchio.SE3


def observe_body(
    real: Snapshot, reference: Snapshot, stance: Foot, readings: SensorReadings | None, part: object
) -> Observation:
    """What matters of the real body, as the reference would see it.

    Where the real robot is in the world does not matter for its balance: slip moves both feet and body alike.
    """
    shift = planar_pose(reference.pose(stance), stance) * planar_pose(real.pose(stance), stance).inverse()
    R = shift.rotation
    tilt = so3.log(R @ real.pose(part).rotation @ reference.pose(part).rotation.T)  # type: ignore[arg-type]
    return Observation(
        np.asarray(shift.act(np.array(real.center_of_mass))),
        R @ real.center_of_mass_velocity,
        None if readings is None else measured_zmp(real, readings, shift),
        (float(tilt[0]), float(tilt[1])),
        shift,
    )


def planar_pose(pose: pinocchio.SE3, foot: Foot) -> pinocchio.SE3:
    """The middle of a sole and its yaw, without its tilt."""
    return pinocchio.SE3(so3.yaw_matrix(so3.yaw_of(pose.rotation)), pose.act(foot.sole.center))


def measured_zmp(real: Snapshot, readings: SensorReadings, shift: pinocchio.SE3) -> complex | None:
    """Where the force cells of all soles feel the weight, in the reference's world (m)."""
    robot: Robot = real.robot
    total, moment = 0.0, np.zeros(3)
    cells: Mapping[str, Array] = readings.cells
    for foot in robot.feet:
        forces = cells.get(foot.name)
        if forces is None:
            continue
        forces = np.maximum(np.nan_to_num(forces, nan=0.0, posinf=0.0, neginf=0.0), 0.0)
        pose = real.pose(foot)
        total += float(forces.sum())
        moment += forces @ (foot.corners @ pose.rotation.T + pose.translation)
    if total < LEAST_LOAD * robot.weight:
        return None
    x, y, _ = shift.act(moment / total)
    return complex(x, y)


class ServoStabilizer:
    """Shifts the centre of mass of the reference until the ground pushes where the real body needs it.

        z_d = u + (1 + k_x/ω) (ξ - ξ_ref)        clipped to the soles by the caller
        ḋ   = A (z - z_d) - leak · d

    with u the planned and z the felt place of the pressure, ξ the divergent component of the real body and d the shift:
    a centre of mass that is moved ahead faster presses less on the toes.

    Attributes:
        shift, rate: d and ḋ (m, m/s, as x + i y).
    """

    def __init__(self, settings: ServoStabilizerSettings, sole_half_length: float) -> None:
        self.settings, self.largest_shift = settings, LARGEST_SHIFT * sole_half_length
        self.shift = self.rate = 0j
        self._zmp_error = 0j
        self._tilt = 0j

    def step(self, measured: complex | None, target: complex, period: float) -> None:
        """One period later."""
        settings = self.settings
        share = period / (period + settings.smooth)
        self._zmp_error += share * ((0j if measured is None else measured - target) - self._zmp_error)
        self.rate = settings.admittance * self._zmp_error - settings.leak * self.shift
        shift = self.shift + period * self.rate
        if abs(shift) > self.largest_shift:
            shift *= self.largest_shift / abs(shift)
            self.rate = (shift - self.shift) / period
        self.shift = shift

    def sole_rotation(self, tilt: tuple[float, float], period: float) -> Array:
        """The turn of standing soles against a tilt, as a rotation in world axes, one period later."""
        settings = self.settings
        self._tilt += period / (period + settings.smooth) * (settings.upright * complex(*tilt) - self._tilt)
        x, y = (max(-LARGEST_SOLE_TILT, min(LARGEST_SOLE_TILT, angle)) for angle in (self._tilt.real, self._tilt.imag))
        return np.asarray(pinocchio.exp3(np.array([x, y, 0.0])))
