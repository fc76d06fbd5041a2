"""Laws of the ZMP regulation: centre-of-mass shift, foot roll trim, servo deflection and angular momentum."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio

from poise.arrays import Array
from poise.parameters import check_parameters, gain_parameter, parameter
from poise.robots import GRAVITY, Foot, Robot, State
from poise.state import Snapshot, natural_frequency
from poise.tasks import LiveTarget

#: What joints are comfortable in: the middle of their ranges, as in the paper, or the stance they started in.
COMFORT_POSTURES = ("middle", "stance")


@dataclass(frozen=True)
class ZmpBalanceSettings:
    """Gains of a body on position servos; a robot's data file may have its own (``[servos.regulation]``).

    A centre of mass that is led back makes the ZMP go ahead before it follows, the more the stiffer the servos: too
    much of K_p or K_d shakes the robot over. Across the feet less of both is needed: two legs beside each other are
    stiff where one behind the other yields. A body that gives way a little is kinder to people and gears; drives have
    a gain for that.
    """

    proportional: float = gain_parameter(0.1, "K_p of the ZMP regulation, [Galdeano2014] eq. (13)", "", zero=True)
    derivative: float = gain_parameter(0.01, "K_d of the ZMP regulation", "s", zero=True)
    across: float = gain_parameter(0.3, "share of both gains across the feet", "", zero=True)
    trim: float = gain_parameter(0.3, "K_i: rate at which the error that is left is taken out", zero=True)
    smooth: float = gain_parameter(0.1, "time constant of the filter on the force cells", "s", zero=True)
    spin: float = gain_parameter(
        0.0, "how strongly arms and trunk turn when the ZMP is at the edge of the soles", "", zero=True
    )
    regulate: bool = parameter(True, "whether the ZMP is regulated, or the centre of mass alone")
    stiffness: float = gain_parameter(1.0, "stiffness of the servos, as a share of what the robot's data say", "")
    feet: float = gain_parameter(50.0, "rate of the feet")
    center: float = gain_parameter(20.0, "rate of the centre of mass")
    beta: float = gain_parameter(4.0, "β of the joints' comfort, eq. (14)")
    hands: float = gain_parameter(10.0, "rate of the hands, where these have a task")
    comfort: str = parameter(
        "middle", "comfortable joint angles: the middle of their ranges, or the first stance", choices=COMFORT_POSTURES
    )

    def __post_init__(self) -> None:
        check_parameters(self, "regulated")


# -- ZMP regulator ---------------------------------------------------------------------------------------------------


#: What is learnt about where the weight really is, at most, as a share of half a sole's length: more is no sagging of
#: servos but somebody who leans on the robot.
LARGEST_TRIM = 0.6
#: What is learnt from errors grows no further beyond this share of it: these are pushes.
LARGEST_LEARNT_ERROR = 0.08


@dataclass(frozen=True, slots=True)
class SoleLoad:
    """What a sole feels.

    Attributes:
        force: A, the force on it (N).
        zmp: where, seen from its middle (m, as x + i y in its axes).
    """

    force: float
    zmp: complex


def sole_load(foot: Foot, forces: Sequence[float]) -> SoleLoad:
    """What a sole feels by its four cells (N): `poise.state.balance.sole_pressure` of one instant, a fifth as costly.

    The corners of a sole are those of a rectangle, from the front left one on, counter-clockwise.
    """
    a, b, c, d = (force if force > 0.0 else 0.0 for force in forces)
    force = a + b + c + d
    if not force > 0.0:
        return SoleLoad(0.0, 0j)
    length, width = foot.sole.half_size
    return SoleLoad(force, complex(length * (a + d - b - c) / force, width * (a + b - c - d) / force))


def zmp_error(left: SoleLoad, right: SoleLoad) -> complex:
    """ε_ZMP, [Galdeano2014] equations (9) to (12), with the desired places in the middle of each sole::

        ε_ZMP     = a dZMP_left + (1 - a) dZMP_right
        a         = A_left / (A_left + A_right)
        dZMP_side = ZMP_side_desired - ZMP_side_measured

    A foot that is lifted feels nothing and does not count; of two, nothing is known, and the error is zero.
    """
    both = left.force + right.force
    if not both > 0.0:
        return 0j
    share = left.force / both
    return share * -left.zmp + (1.0 - share) * -right.zmp


class ZmpRegulator:
    """What is added to the error of the centre of mass, eq. (13)::

        ε_CoM&ZMP = ε_CoM + K_p ε_ZMP + K_d dε_ZMP/dt        (+ K_i ∫ ε_ZMP dt, a trim beyond the paper)

    with a filter of first order on ε_ZMP, for cells are noisy and soles hammer on them.

    Args:
        settings: the gains.
        length: half of a sole's length (m).

    Attributes:
        error: ε_ZMP, filtered (m).
        shift: what is added (m, as x + i y).
    """

    def __init__(self, settings: ZmpBalanceSettings, length: float) -> None:
        self.settings, self._largest_trim, self._largest_learnt_error = (
            settings,
            LARGEST_TRIM * length,
            LARGEST_LEARNT_ERROR * length,
        )
        self.error = self.shift = self._trim = 0j

    def step(self, error: complex, period: float, trust: float = 1.0) -> complex:
        """One period later.

        Args:
            error: ε_ZMP now (m).
            trust: share of the regulation that acts, from 0 to 1; what was learnt before stays.
        """
        settings, before = self.settings, self.error
        self.error += period / (period + settings.smooth) * (trust * error - before)
        rate = (self.error - before) / period
        learnt = self.error * min(1.0, self._largest_learnt_error / max(abs(self.error), 1e-9))
        self._trim += trust * settings.trim * period * learnt
        if abs(self._trim) > self._largest_trim:
            self._trim *= self._largest_trim / abs(self._trim)
        added = settings.proportional * self.error + settings.derivative * rate
        self.shift = complex(added.real, settings.across * added.imag) + self._trim
        return self.shift


# -- Foot roll trim --------------------------------------------------------------------------------------------------


#: Soles are turned against each other by no more than this (rad): what servos sag by.
LARGEST_ROLL = 0.06


class FootRollTrim:
    """A roll of one sole against the other, learnt from where both press.

    Equation (9) weighs the errors of both soles against each other: two that press on their inner edges cancel out, and
    no shift of the centre of mass helps them. Legs that sag do just that. With y the ZMP under each sole, across, and
    a the share of the weight on the left::

        φ̇ = - K_i 4 a (1 - a) G (y_left - y_right) / 2

    with G = m g / K, what a servo of stiffness K sags by, per metre. A foot that bears alone learns nothing.

    Attributes:
        roll: φ, of the right sole about its x axis, seen from the left one (rad).
    """

    def __init__(self, robot: Robot, settings: ZmpBalanceSettings) -> None:
        largest_torque = float(robot.limits.torque.max())
        stiffness = settings.stiffness * largest_torque / robot.servos.saturation_error
        self._rate = settings.trim * robot.weight / stiffness
        self.roll = 0.0

    def step(self, left: SoleLoad, right: SoleLoad, period: float, trust: float = 1.0) -> float:
        """One period later."""
        both = left.force + right.force
        if both > 0.0:
            share = left.force / both
            zmp_difference = 0.5 * (left.zmp.imag - right.zmp.imag)
            self.roll -= trust * period * self._rate * 4.0 * share * (1.0 - share) * zmp_difference
            self.roll = min(max(self.roll, -LARGEST_ROLL), LARGEST_ROLL)
        return self.roll


# -- Servo deflection under a weight that passes from foot to foot ---------------------------------------------------


class ServoDeflection:
    """What must be added to the angles of joints so that they are reached although servos are springs.

    A servo of stiffness K that bears τ is off its target by τ / K. At rest, with the share s of the weight on one sole
    and the rest on the other, in their middles::

        τ = g(q) - s J_aᵀ w - (1 - s) J_bᵀ w        w the weight, upwards

    Added is what this changes since the start: what servos give there is for the regulation to find out, as it finds
    out all else that nobody told it of.

    Args:
        robot: with servos.
        reference: how it stands at the start.
        stiffness: of the servos, as a share of what their data say.
        share: of the weight on the first foot there.
    """

    def __init__(self, robot: Robot, reference: Snapshot, stiffness: float = 1.0, share: float = 0.5) -> None:
        self._robot, self._data = robot, robot.model.createData()
        self._compliance = robot.servos.saturation_error / (stiffness * robot.limits.torque)
        self._weight = robot.weight
        self._feet = [(foot, foot.sole.center if foot.sole.center.any() else None) for foot in robot.feet]
        self._initial_angles = np.zeros(len(robot.joints))
        self._initial_angles = self.angles(reference, share)

    def angles(self, reference: Snapshot, share: float) -> Array:
        """To be added to the joints (rad)."""
        torque = pinocchio.computeGeneralizedGravity(self._robot.model, self._data, reference.q)[6:]
        for (foot, middle), part in zip(self._feet, (share, 1.0 - share), strict=True):
            J = reference.jacobian(foot)
            up = J[2, 6:]  # how the middle of the sole rises
            if middle is not None:
                x, y, _ = reference.rotation(foot) @ middle
                up = up + y * J[3, 6:] - x * J[4, 6:]
            torque = torque - (part * self._weight) * up
        return np.asarray(self._compliance * torque - self._initial_angles)


# -- Angular momentum recovery ---------------------------------------------------------------------------------------


#: Nothing turns while the ZMP is within this share of the half sole: what standing and squatting need.
EDGE_SHARE = 0.65
#: Most angular momentum, as a share of m h sqrt(g h): with more, joints of small robots are at the limits of speed.
LARGEST_MOMENTUM = 0.18
#: It is given back at this rate, in ω: slowly, since the ground has to take it.
MOMENTUM_DECAY = 1.4
#: Time constant of the filter on the ZMP (s): a push of 0.1 s is to be met while it lasts.
FILTER_TIME = 0.005


class AngularMomentumRecovery:
    """Angular momentum that is asked of the body when the ZMP comes to the edge of the soles.

    A flat sole can push no further out than its edge. What is missing then, the body gains by turning: a moment L̇ about
    its centre of mass acts like a ZMP that is L̇ / (m g) further out. So, with z the ZMP and o how far it is beyond
    `EDGE_SHARE` on its way to the edge, from 0 to 1 and along each axis::

        L̇* = k m g h (ẑ x o) - FADE ω (1 - |o|) L*

    Where arms and trunk come to the ends of their ranges, the strict order of the levels sees to the rest.

    Args:
        start: on both feet.
        foot: whose sole counts.
        share: k.

    Attributes:
        momentum: L* about x and y (kg m²/s), live.
    """

    def __init__(self, start: State, foot: Foot, share: float) -> None:
        robot = start.robot
        self._half = foot.sole.half_size
        height = float(start.center_of_mass[2] - start.pose(foot).translation[2])
        self._moment = share * robot.weight * height
        self._largest_momentum = LARGEST_MOMENTUM * robot.mass * height * math.sqrt(GRAVITY * height)
        self._fade = MOMENTUM_DECAY * natural_frequency(height)
        self.momentum = LiveTarget(np.zeros(2))
        self._value = self._filtered_zmp = 0j

    def step(self, error: complex, period: float, trust: float = 1.0) -> None:
        """One period later, with ε_ZMP (m)."""
        self._filtered_zmp += period / (period + FILTER_TIME) * (-trust * error - self._filtered_zmp)
        x, y = (
            _edge_share(z, half)
            for z, half in zip((self._filtered_zmp.real, self._filtered_zmp.imag), self._half, strict=True)
        )
        edge = complex(-y, x)
        self._value += period * (self._moment * edge - self._fade * max(1.0 - abs(edge), 0.0) * self._value)
        if abs(self._value) > self._largest_momentum:
            self._value *= self._largest_momentum / abs(self._value)
        self.momentum.value[:] = self._value.real, self._value.imag


def _edge_share(z: float, half: float) -> float:
    """How far on the way from `EDGE_SHARE` to the edge, with the sign of z."""
    return math.copysign(min(max(abs(z) / half - EDGE_SHARE, 0.0) / (1.0 - EDGE_SHARE), 1.0), z)
