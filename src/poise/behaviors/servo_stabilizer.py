"""Stabilizer: balance through position servos by shifting the reference's centre of mass and tilting its soles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pinocchio

from poise.arrays import Array
from poise.geometry import so3
from poise.parameters import check_parameters, gain
from poise.robots import Foot, Robot
from poise.state import Sensed, Snapshot

#: A robot whose soles feel less than this share of its weight is not standing.
LOADED = 0.2
#: The centre of mass is shifted by no more than this share of half a sole's length.
FARTHEST = 0.8
#: Soles are turned by no more than this (rad): a servo that needs more is being pushed over.
STEEPEST = 0.15


@dataclass(frozen=True)
class StabilizerSettings:
    """Gains of a stabilizer. Soles that meet the ground hammer on their cells: hence the filters."""

    admittance: float = gain(6.0, "A: rate at which the centre of mass yields to a misplaced pressure", zero=True)
    divergence: float = gain(4.0, "k_x: feedback of the DCM", zero=True)
    upright: float = gain(0.6, "k_t: share of the trunk's tilt that the soles undo", "", zero=True)
    leak: float = gain(1.0, "rate at which a shift is forgotten", zero=True)
    smooth: float = gain(0.02, "time constant of the filters on pressure and tilt", "s", zero=True)

    def __post_init__(self) -> None:
        check_parameters(self, "stabilizer")


@dataclass(frozen=True, eq=False)
class Seen:
    """The real body, moved so that its stance sole lies on that of the reference.

    Attributes:
        center, velocity: of the centre of mass (m, m/s, 3).
        pressure: where the ground pushes, by the force cells (m, as x + i y); None: nothing was felt.
        tilt: of the real trunk beyond that of the reference (rad, about x and y).
        shift: reference_from_world, planar; its inverse moves the reference to where the robot is.
    """

    center: Array
    velocity: Array
    pressure: complex | None
    tilt: tuple[float, float]
    shift: pinocchio.SE3


def seen(real: Snapshot, reference: Snapshot, stance: Foot, sensed: Sensed | None, part: object) -> Seen:
    """What matters of the real body, as the reference would see it.

    Where the real robot is in the world does not matter for its balance: slip moves both feet and body alike.
    """
    shift = planar(reference.pose(stance), stance) * planar(real.pose(stance), stance).inverse()
    R = shift.rotation
    tilt = so3.log(R @ real.pose(part).rotation @ reference.pose(part).rotation.T)  # type: ignore[arg-type]
    return Seen(
        np.asarray(shift.act(np.array(real.center_of_mass))),
        R @ real.center_of_mass_velocity,
        None if sensed is None else pressure(real, sensed, shift),
        (float(tilt[0]), float(tilt[1])),
        shift,
    )


def planar(pose: pinocchio.SE3, foot: Foot) -> pinocchio.SE3:
    """The middle of a sole and its yaw, without its tilt."""
    return pinocchio.SE3(so3.yaw_matrix(so3.yaw_of(pose.rotation)), pose.act(foot.sole.center))


def pressure(real: Snapshot, sensed: Sensed, shift: pinocchio.SE3) -> complex | None:
    """Where the force cells of all soles feel the weight, in the reference's world (m)."""
    robot: Robot = real.robot
    total, moment = 0.0, np.zeros(3)
    cells: Mapping[str, Array] = sensed.cells
    for foot in robot.feet:
        forces = cells.get(foot.name)
        if forces is None:
            continue
        forces = np.maximum(np.nan_to_num(forces, nan=0.0, posinf=0.0, neginf=0.0), 0.0)
        pose = real.pose(foot)
        total += float(forces.sum())
        moment += forces @ (foot.corners @ pose.rotation.T + pose.translation)
    if total < LOADED * robot.weight:
        return None
    x, y, _ = shift.act(moment / total)
    return complex(x, y)


class Stabilizer:
    """Shifts the centre of mass of the reference until the ground pushes where the real body needs it.

        z_d = u + (1 + k_x/ω) (ξ - ξ_ref)        clipped to the soles by the caller
        ḋ   = A (z - z_d) - leak · d

    with u the planned and z the felt place of the pressure, ξ the divergent component of the real body and d the shift:
    a centre of mass that is moved ahead faster presses less on the toes.

    Attributes:
        shift, rate: d and ḋ (m, m/s, as x + i y).
    """

    def __init__(self, settings: StabilizerSettings, farthest: float) -> None:
        self.settings, self.farthest = settings, FARTHEST * farthest
        self.shift = self.rate = 0j
        self._off = 0j
        self._tilt = 0j

    def step(self, felt: complex | None, wanted: complex, period: float) -> None:
        """One period later."""
        numbers = self.settings
        share = period / (period + numbers.smooth)
        self._off += share * ((0j if felt is None else felt - wanted) - self._off)
        self.rate = numbers.admittance * self._off - numbers.leak * self.shift
        shift = self.shift + period * self.rate
        if abs(shift) > self.farthest:
            shift *= self.farthest / abs(shift)
            self.rate = (shift - self.shift) / period
        self.shift = shift

    def soles(self, tilt: tuple[float, float], period: float) -> Array:
        """The turn of standing soles against a tilt, as a rotation in world axes, one period later."""
        numbers = self.settings
        self._tilt += period / (period + numbers.smooth) * (numbers.upright * complex(*tilt) - self._tilt)
        x, y = (max(-STEEPEST, min(STEEPEST, angle)) for angle in (self._tilt.real, self._tilt.imag))
        return np.asarray(pinocchio.exp3(np.array([x, y, 0.0])))
