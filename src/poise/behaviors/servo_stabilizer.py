"""Stabilizer for position servos: shifts the center of mass (CoM) of the reference and tilts its soles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import pinocchio

from poise.arrays import Array
from poise.geometry import so3
from poise.parameters import FormerNames, check_parameters, gain_parameter
from poise.robots import Foot, Robot, contact_points
from poise.state import SensorReadings, Snapshot

#: Smallest total force on the soles, as a fraction of the weight, for which the robot counts as standing.
LEAST_LOAD = 0.2
#: Largest shift of the CoM as a fraction of half the sole length.
LARGEST_SHIFT = 0.8
#: Largest tilt of the soles (rad): a robot that needs more is falling.
LARGEST_SOLE_TILT = 0.15


@dataclass(frozen=True)
class ServoStabilizerSettings(FormerNames):
    """Gains of the stabilizer. Impacts of the soles disturb the force cells: hence the filters."""

    admittance: float = gain_parameter(6.0, "A: rate at which the center of mass yields to a ZMP error", zero=True)
    servo_dcm_gain: float = gain_parameter(4.0, "k_x: gain of the DCM on position servos", zero=True)
    tilt_gain: float = gain_parameter(0.6, "k_t: fraction of the trunk tilt that the soles correct", "", zero=True)
    shift_decay: float = gain_parameter(1.0, "decay rate of the shift", zero=True)
    filter_time: float = gain_parameter(0.02, "time constant of the filters on ZMP and tilt", "s", zero=True)

    former_names = MappingProxyType(
        {
            "divergence": "servo_dcm_gain",
            "upright": "tilt_gain",
            "leak": "shift_decay",
            "smooth": "filter_time",
        }
    )

    def __post_init__(self) -> None:
        check_parameters(self, "stabilizer")


@dataclass(frozen=True, eq=False)
class Observation:
    """State of the real robot, moved such that its stance sole coincides with that of the reference.

    Attributes:
        center, velocity: position and velocity of the CoM (m, m/s, 3).
        zmp: zero moment point (ZMP) measured by the force cells (m, as x + i y); None: too little force.
        tilt: rotation of the real trunk relative to that of the reference (rad, about x and y).
        shift: planar transform reference_from_world; its inverse moves the reference to the real robot.
    """

    center: Array
    velocity: Array
    zmp: complex | None
    tilt: tuple[float, float]
    shift: pinocchio.SE3


def observe_body(
    real: Snapshot, reference: Snapshot, stance: Foot, readings: SensorReadings | None, part: object
) -> Observation:
    """Return the state of the real robot in the frame of the reference.

    The position of the real robot in the world is irrelevant for its balance: slip moves feet and body alike.

    Args:
        real, reference: measured and reference state.
        stance: foot whose soles are made to coincide.
        readings: sensor readings with the forces of the cells; None: no ZMP.
        part: frame of the trunk.
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
    """Return the pose of the middle of a sole with its yaw only, without tilt."""
    return pinocchio.SE3(so3.yaw_matrix(so3.yaw_of(pose.rotation)), pose.act(foot.sole.center))


def measured_zmp(real: Snapshot, readings: SensorReadings, shift: pinocchio.SE3) -> complex | None:
    """Return the ZMP measured by all force cells, in the frame of the reference (m); None if the force is too small."""
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
        moment += forces @ contact_points(foot, pose.rotation, pose.translation)
    if total < LEAST_LOAD * robot.weight:
        return None
    x, y, _ = shift.act(moment / total)
    return complex(x, y)


class ServoStabilizer:
    """Admittance control of the ZMP: shift of the CoM of the reference, and tilt of its soles.

        z_d = u + (1 + k_x/ω) (ξ - ξ_ref)        clipped to the soles by the caller
        ḋ   = A (z - z_d) - λ d

    with u the planned and z the measured ZMP, ξ the divergent component of motion (DCM) of the real robot, d the shift
    and λ its decay rate: accelerating the CoM forward moves the ZMP back.

    Attributes:
        shift, rate: d and ḋ (m, m/s, as x + i y).
    """

    def __init__(self, settings: ServoStabilizerSettings, sole_half_length: float) -> None:
        self.settings, self.largest_shift = settings, LARGEST_SHIFT * sole_half_length
        self.shift = self.rate = 0j
        self._zmp_error = 0j
        self._tilt = 0j

    def step(self, measured: complex | None, target: complex, period: float) -> None:
        """Update the shift for one period, from the measured and the target ZMP (m); None: no measurement."""
        settings = self.settings
        share = period / (period + settings.filter_time)
        self._zmp_error += share * ((0j if measured is None else measured - target) - self._zmp_error)
        self.rate = settings.admittance * self._zmp_error - settings.shift_decay * self.shift
        shift = self.shift + period * self.rate
        if abs(shift) > self.largest_shift:
            shift *= self.largest_shift / abs(shift)
            self.rate = (shift - self.shift) / period
        self.shift = shift

    def sole_rotation(self, tilt: tuple[float, float], period: float) -> Array:
        """Update and return the rotation of the stance soles against a tilt of the trunk (rad), in world axes."""
        settings = self.settings
        self._tilt += period / (period + settings.filter_time) * (settings.tilt_gain * complex(*tilt) - self._tilt)
        x, y = (max(-LARGEST_SOLE_TILT, min(LARGEST_SOLE_TILT, angle)) for angle in (self._tilt.real, self._tilt.imag))
        return np.asarray(pinocchio.exp3(np.array([x, y, 0.0])))
