"""Laws of the ZMP regulation: center-of-mass (CoM) shift, foot roll trim, servo deflection and angular momentum."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import pinocchio

from poise.arrays import Array
from poise.parameters import FormerNames, check_parameters, gain_parameter, parameter
from poise.robots import GRAVITY, Foot, Robot, State
from poise.state import Snapshot, natural_frequency
from poise.tasks import LiveTarget, TunableWeight

#: Postures of the comfort task: the middle of the joint ranges, as in the paper, or the initial stance.
COMFORT_POSTURES = ("middle", "stance")


@dataclass(frozen=True)
class ZmpBalanceSettings(FormerNames):
    """Gains for a robot on position servos; the data file of a robot may override them (``[servos.zmp_balance]``).

    When the CoM moves back, the zero moment point (ZMP) first moves ahead before it follows, the more the stiffer the
    servos are: too large K_p or K_d make the robot oscillate and fall. Sideways, smaller gains are needed: two legs
    side by side are stiffer in that direction. A lower stiffness, for which drives have a gain, is gentler to people
    and gears.
    """

    proportional: float = gain_parameter(0.1, "K_p of the ZMP regulation, [Galdeano2014] eq. (13)", "", zero=True)
    derivative: float = gain_parameter(0.01, "K_d of the ZMP regulation", "s", zero=True)
    lateral_scale: float = gain_parameter(0.3, "factor on both gains in the lateral direction", "", zero=True)
    integral: float = gain_parameter(0.3, "K_i: integral gain of the remaining error", zero=True)
    filter_time: float = gain_parameter(0.1, "time constant of the filter on the force cells", "s", zero=True)
    momentum_recovery_gain: float = gain_parameter(
        0.0, "gain of the rotation of arms and trunk when the ZMP is at the edge of the soles", "", zero=True
    )
    zmp_regulation: bool = parameter(True, "whether the ZMP is regulated, or the center of mass alone")
    stiffness: float = gain_parameter(1.0, "stiffness of the servos, as a fraction of that in the robot's data", "")
    feet_gain: float = gain_parameter(50.0, "gain of the feet")
    com_gain: float = gain_parameter(20.0, "gain of the center of mass")
    comfort_gain: float = gain_parameter(4.0, "β of the joints' comfort, eq. (14)")
    hand_gain: float = gain_parameter(10.0, "gain of the hands, if they have a task")
    comfort_posture: str = parameter(
        "middle", "comfortable joint angles: the middle of their ranges, or the first stance", choices=COMFORT_POSTURES
    )

    former_names = MappingProxyType(
        {
            "across": "lateral_scale",
            "trim": "integral",
            "smooth": "filter_time",
            "spin": "momentum_recovery_gain",
            "regulate": "zmp_regulation",
            "feet": "feet_gain",
            "center": "com_gain",
            "beta": "comfort_gain",
            "hands": "hand_gain",
            "comfort": "comfort_posture",
        }
    )

    def __post_init__(self) -> None:
        check_parameters(self, "ZMP balance")


# -- ZMP regulator ---------------------------------------------------------------------------------------------------


#: Limit of the integral trim as a fraction of half the sole length: a larger error is not due to servo deflection but
#: to an external force.
LARGEST_TRIM = 0.6
#: Limit of the error that is integrated, as a fraction of half the sole length: larger errors are pushes.
LARGEST_LEARNT_ERROR = 0.08


@dataclass(frozen=True, slots=True)
class SoleLoad:
    """Measured load of a sole.

    Attributes:
        force: normal force A (N).
        zmp: ZMP relative to the middle of the sole (m, as x + i y in its axes).
    """

    force: float
    zmp: complex


def sole_load(foot: Foot, forces: Sequence[float]) -> SoleLoad:
    """Return the load of a sole from its four force cells (N).

    Equivalent to `poise.state.balance.sole_pressure` at one instant, at a fifth of the cost. The cells are at the
    corners of a rectangle, counter-clockwise from front left.
    """
    a, b, c, d = (force if force > 0.0 else 0.0 for force in forces)
    force = a + b + c + d
    if not force > 0.0:
        return SoleLoad(0.0, 0j)
    length, width = foot.sole.half_size
    return SoleLoad(force, complex(length * (a + d - b - c) / force, width * (a + b - c - d) / force))


def zmp_error(left: SoleLoad, right: SoleLoad) -> complex:
    """Return ε_ZMP (m), [Galdeano2014] equations (9) to (12), with the desired ZMP in the middle of each sole::

        ε_ZMP     = a dZMP_left + (1 - a) dZMP_right
        a         = A_left / (A_left + A_right)
        dZMP_side = ZMP_side_desired - ZMP_side_measured

    A lifted foot has no force and does not count; if both have none, the error is zero.
    """
    both = left.force + right.force
    if not both > 0.0:
        return 0j
    share = left.force / both
    return share * -left.zmp + (1.0 - share) * -right.zmp


class ZmpRegulator:
    """ZMP regulation: correction added to the error of the CoM, eq. (13)::

        ε_CoM&ZMP = ε_CoM + K_p ε_ZMP + K_d dε_ZMP/dt        (+ K_i ∫ ε_ZMP dt, a trim beyond the paper)

    with a first-order low-pass filter on ε_ZMP, because cells are noisy and impacts of the soles disturb them.

    Args:
        settings: gains.
        length: half the length of a sole (m).

    Attributes:
        error: filtered ε_ZMP (m, as x + i y).
        shift: correction of the CoM (m, as x + i y).
    """

    def __init__(self, settings: ZmpBalanceSettings, length: float) -> None:
        self.settings, self._largest_trim, self._largest_learnt_error = (
            settings,
            LARGEST_TRIM * length,
            LARGEST_LEARNT_ERROR * length,
        )
        self.error = self.shift = self._trim = 0j

    def step(self, error: complex, period: float, trust: float = 1.0) -> complex:
        """Update and return the correction (m).

        Args:
            error: current ε_ZMP (m).
            period: sampling period (s).
            trust: fraction of the regulation that acts, from 0 to 1; the integral trim is kept.
        """
        settings, before = self.settings, self.error
        self.error += period / (period + settings.filter_time) * (trust * error - before)
        rate = (self.error - before) / period
        learnt = self.error * min(1.0, self._largest_learnt_error / max(abs(self.error), 1e-9))
        self._trim += trust * settings.integral * period * learnt
        if abs(self._trim) > self._largest_trim:
            self._trim *= self._largest_trim / abs(self._trim)
        added = settings.proportional * self.error + settings.derivative * rate
        self.shift = complex(added.real, settings.lateral_scale * added.imag) + self._trim
        return self.shift


# -- Foot roll trim --------------------------------------------------------------------------------------------------


#: Largest relative roll of the soles (rad): the deflection of the servos.
LARGEST_ROLL = 0.06


class FootRollTrim:
    """Integral correction of the relative roll of the soles, from the ZMP under each.

    In equation (9) the errors of both soles cancel if both load their inner edges, and no shift of the CoM corrects
    this. Deflection of the servos in the legs has this effect. With y the lateral ZMP under each sole, and a the
    fraction of the weight on the left::

        φ̇ = - K_i 4 a (1 - a) G (y_left - y_right) / 2

    with G = m g / K the deflection of a servo of stiffness K per meter. In single support the roll does not change.

    Attributes:
        roll: roll φ of the right sole about its x axis relative to the left one (rad).
    """

    def __init__(self, robot: Robot, settings: ZmpBalanceSettings) -> None:
        largest_torque = float(robot.limits.torque.max())
        stiffness = settings.stiffness * largest_torque / robot.servos.saturation_error
        self._rate = settings.integral * robot.weight / stiffness
        self.roll = 0.0

    def step(self, left: SoleLoad, right: SoleLoad, period: float, trust: float = 1.0) -> float:
        """Update and return the roll (rad), after one period (s), scaled by the trust from 0 to 1."""
        both = left.force + right.force
        if both > 0.0:
            share = left.force / both
            zmp_difference = 0.5 * (left.zmp.imag - right.zmp.imag)
            self.roll -= trust * period * self._rate * 4.0 * share * (1.0 - share) * zmp_difference
            self.roll = min(max(self.roll, -LARGEST_ROLL), LARGEST_ROLL)
        return self.roll


# -- Servo deflection ------------------------------------------------------------------------------------------------


class ServoDeflection:
    """Compensation of the static deflection of servos, as angles added to the joint commands.

    A servo of stiffness K with a torque τ has an error of τ / K. At rest, with the fraction s of the weight on the
    middle of one sole and the rest on the middle of the other::

        τ = g(q) - s J_aᵀ w - (1 - s) J_bᵀ w        w the weight, upwards

    The added angles are relative to those at the start: the regulation corrects the initial deflection, as it corrects
    all other unmodelled effects.

    Args:
        robot: robot with servos.
        reference: initial state, standing.
        stiffness: stiffness of the servos, as a fraction of that in the data of the robot.
        share: initial fraction of the weight on the first foot.
    """

    def __init__(self, robot: Robot, reference: Snapshot, stiffness: float = 1.0, share: float = 0.5) -> None:
        self._robot, self._data = robot, robot.model.createData()
        self._compliance = robot.servos.saturation_error / (stiffness * robot.limits.torque)
        self._weight = robot.weight
        self._feet = [(foot, foot.sole.center if foot.sole.center.any() else None) for foot in robot.feet]
        self._initial_angles = np.zeros(len(robot.joints))
        self._initial_angles = self.angles(reference, share)

    def angles(self, reference: Snapshot, share: float) -> Array:
        """Return the angles to add to the joint commands (rad), for a fraction of the weight on the first foot."""
        torque = pinocchio.computeGeneralizedGravity(self._robot.model, self._data, reference.q)[6:]
        for (foot, middle), part in zip(self._feet, (share, 1.0 - share), strict=True):
            J = reference.jacobian(foot)
            up = J[2, 6:]  # Jacobian of the height of the middle of the sole
            if middle is not None:
                x, y, _ = reference.rotation(foot) @ middle
                up = up + y * J[3, 6:] - x * J[4, 6:]
            torque = torque - (part * self._weight) * up
        return np.asarray(self._compliance * torque - self._initial_angles)


# -- Angular momentum recovery ---------------------------------------------------------------------------------------


#: Distances of the capture point from the middle of the support, as fractions of its half size, at which the recovery
#: begins and is full: nearer, the ankles alone bring the body back. HOAP-3 bears pushes of 25 and 35 N in four
#: directions if it begins at 0.5 and at 0.7; at 0.7 its arms do not move after 25 N, at 0.85 it falls after 35 N
#: backwards.
RECOVERY_BEGIN, RECOVERY_FULL = 0.7, 0.8
#: Largest angular momentum as a fraction of m h sqrt(g h): beyond it, joints of small robots reach their speed limits.
LARGEST_MOMENTUM = 0.23
#: Tolerated angular momentum as a fraction of m h sqrt(g h), with which arms and trunk return afterwards.
MOMENTUM_TOLERANCE = 0.02
#: Decay rate of the angular momentum, in ω: slow, since its decay loads the ground contact.
MOMENTUM_DECAY = 1.4
#: Time constant of the filter on the capture point (s): short enough to react during a push of 0.1 s.
FILTER_TIME = 0.005
#: Time in which arms and trunk return to the posture before the recovery (s), the last part of it fading, and the
#: weight of that posture relative to the comfort of the joints.
RETURN_TIME, RETURN_FADE, RETURN_WEIGHT = 3.0, 1.0, 30.0


class AngularMomentumRecovery:
    """Angular momentum command when the capture point approaches the edge of the support.

    The ZMP of flat soles is limited to their edge. Rotation of the body adds to it: a moment L̇ about the CoM acts like
    a ZMP that is L̇ / (m g) further out. With o the position of the capture point between `RECOVERY_BEGIN` and
    `RECOVERY_FULL`, from 0 to 1 along each axis, and d = `MOMENTUM_DECAY`::

        L̇* = k m g h (ẑ x o) - d ω (1 - |o|) L*

    The ZMP is not used for o: it is at the edge during each push of some strength, whether or not the robot can stop
    without rotating. At the joint limits of arms and trunk, the strict priorities of the hierarchy keep the higher
    levels unaffected. Afterwards all joints return to the posture before the recovery.

    Args:
        start: initial state on both feet.
        foot: foot whose sole size is used.
        share: gain k.

    Attributes:
        momentum: live target L* about x and y (kg m²/s).
        tolerance: tolerated deviation from it (kg m²/s).
        posture, posture_weight: live target and weight of the posture to which the joints return; the weight is zero
            unless a recovery acts or has acted less than `RETURN_TIME` ago.
    """

    def __init__(self, start: State, foot: Foot, share: float) -> None:
        robot = start.robot
        self._half = foot.sole.half_size
        height = float(start.center_of_mass[2] - start.pose(foot).translation[2])
        self._omega = natural_frequency(height)
        self._moment = share * robot.weight * height
        unit = robot.mass * height * math.sqrt(GRAVITY * height)
        self._largest_momentum, self.tolerance = LARGEST_MOMENTUM * unit, MOMENTUM_TOLERANCE * unit
        self._fade = MOMENTUM_DECAY * self._omega
        self.momentum = LiveTarget(np.zeros(2))
        self.posture, self.posture_weight = LiveTarget(start.q[7:]), TunableWeight(0.0)
        self._value = self._capture_point = 0j
        self._return_time = 0.0

    def capture_point(self, center: Array, velocity: Array, middle: Array) -> complex:
        """Return the capture point relative to the middle of the support (m), from position and velocity of the CoM."""
        # As `state.capture_point`, with ω computed once, because this runs in every period.
        x, y = (center - middle)[:2] + velocity[:2] / self._omega
        return complex(x, y)

    def step(self, capture_point: complex, spread: complex, posture: Array, period: float, trust: float = 1.0) -> None:
        """Update the targets for one period.

        Args:
            capture_point: capture point relative to the middle of the support (m).
            spread: half size of the support beyond that of one sole (m): zero on one foot.
            posture: current joint angles of the reference (rad).
            period: sampling period (s).
            trust: fraction of the recovery that acts, from 0 to 1.
        """
        self._capture_point += period / (period + FILTER_TIME) * (trust * capture_point - self._capture_point)
        length, width = self._half
        x = _edge_share(self._capture_point.real, length + spread.real)
        y = _edge_share(self._capture_point.imag, width + spread.imag)
        edge = complex(-y, x)
        self._value += period * (self._moment * edge - self._fade * max(1.0 - abs(edge), 0.0) * self._value)
        if abs(self._value) > self._largest_momentum:
            self._value *= self._largest_momentum / abs(self._value)
        target = self._value * (1.0 + self.tolerance / self._largest_momentum)  # the least tolerated is L* at its limit
        self.momentum.value[:] = target.real, target.imag
        self._return_time = RETURN_TIME if edge else max(self._return_time - period, 0.0)
        self.posture_weight.value[...] = RETURN_WEIGHT * min(self._return_time / RETURN_FADE, 1.0)
        if not self._return_time:
            self.posture.value[:] = posture


def _edge_share(z: float, half: float) -> float:
    """Return the position of z between the start and the end of the recovery, from 0 to 1, with the sign of z."""
    return math.copysign(min(max(abs(z) / half - RECOVERY_BEGIN, 0.0) / (RECOVERY_FULL - RECOVERY_BEGIN), 1.0), z)
