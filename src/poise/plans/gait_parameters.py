"""Gait parameters of a style on one robot, and the divergent component of motion (DCM) over its steps.

With c the centre of mass at height h, ``ω = sqrt(g / h)`` and ``ξ = c + ċ / ω``, the body moves as ``ξ̇ = ω (ξ - z)``,
away from the zero moment point z. A step has a double support of T_d seconds, in which z passes in a straight line from
the last foot p₋ to the next one p, and a single support of T_s seconds with z at p. Backwards from where ξ is to end::

    ξ(begin of single support) = p + (ξ_end - p) e^{-ω T_s}
    ξ(begin of double support) = p₋ + u + (ξ(begin of single support) - p - u) e^{-ω T_d},   u = (p - p₋) / (ω T_d)

A point of the plane is a complex number ``x + i y``, which Python handles ten times faster than an array of two, and
which turns by a product; arrays do as well.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from poise.plans.footsteps import Footstep, StepGeometry
from poise.plans.style import Style
from poise.robots import SIDES, State, hip_height, leg_length, leg_strength
from poise.state import natural_frequency

Point = TypeVar("Point", complex, NDArray[np.float64])


@dataclass(frozen=True)
class StepTiming:
    """Durations of a step, in seconds.

    Args:
        single_support: on one foot.
        double_support: on both, before it.
    """

    single_support: float
    double_support: float

    @property
    def step(self) -> float:
        """Of single and double support together."""
        return self.single_support + self.double_support


def dcm_in_single_support(foot: Point, end_dcm: Point, seconds: float, omega: float) -> Point:
    """ξ so many seconds before it is to be at `end_dcm`, on one foot."""
    return foot + (end_dcm - foot) * math.exp(-omega * seconds)


def dcm_in_double_support(
    last: Point, foot: Point, end_dcm: Point, remaining: float, duration: float, omega: float
) -> tuple[Point, Point]:
    """ξ and z, `remaining` seconds before the end of a double support of `duration` seconds, where ξ is `end_dcm`."""
    rate = (foot - last) / duration
    z = foot - rate * remaining
    lead = rate / omega
    return z + lead + (end_dcm - foot - lead) * math.exp(-omega * remaining), z


def initial_dcm(feet: Sequence[Point], end_dcm: Point, timing: StepTiming, omega: float) -> Point:
    """ξ at the begin of the double support from feet[0] to feet[1], such that it is at `end_dcm` after the last foot.

    >>> initial_dcm([left, right, left_again], end_dcm=left_again, timing=StepTiming(0.4, 0.1), omega=3.5)
    """
    for last, foot in zip(reversed(feet[:-1]), reversed(feet[1:]), strict=True):
        end_dcm = dcm_in_single_support(foot, end_dcm, timing.single_support, omega)
        end_dcm, _ = dcm_in_double_support(last, foot, end_dcm, timing.double_support, timing.double_support, omega)
    return end_dcm


def steady_dcm_offset(stride: Point, other: Point, timing: StepTiming, omega: float, turn: float = 0.0) -> Point:
    """Where ξ is at the end of a single support, seen from its foot, in a walk that repeats itself every two steps.

    One step back, ``b = c(stride) + ε b'`` with ``c(u) = u (1 - e^{-ω T_d}) / (ω T_d)`` and ``ε = e^{-ω (T_s + T_d)}``;
    two steps back it is itself, turned.

    Args:
        stride: from this foot to the next (m).
        other: from the next foot to the one after.
        turn: how far two steps turn the walk (rad); points are then complex numbers.
    """
    share = -math.expm1(-omega * timing.double_support) / (omega * timing.double_support)
    shrink = math.exp(-omega * timing.step)
    ahead = share * (stride + shrink * other)
    if turn == 0.0:
        return ahead / (1.0 - shrink**2)
    return ahead / (1.0 - shrink**2 * cmath.exp(1j * turn))  # type: ignore[return-value]


# -- Gait parameters -------------------------------------------------------------------------------------------------


#: Forward and to the left (m/s), and turning to the left (rad/s).
Speed = tuple[float, float, float]

#: The leg (m) for which styles give their durations; others take times as the root of their length, like pendulums.
REFERENCE_LEG_LENGTH = 0.8
#: Faster walks make steps longer and quicker alike, the ratio of both stays, as it does with people [Sekiya1996]; but
#: no quicker than this share of the style's own time.
SHORTEST_STEP_SHARE = 0.75
#: Both feet stand for no less than this, s for a leg of 0.8 m.
SHORTEST_DOUBLE_SUPPORT = 0.05
#: A leg is not stretched beyond this share of its length: straight knees neither push nor yield. At the end of a step
#: the foot is so many step lengths ahead of, or behind, the hip.
LARGEST_EXTENSION, FOOT_FROM_HIP = 0.965, 0.6
#: Hips are as high as the steps allow, but no higher than standing by more than this share of the leg: the less knees
#: are bent, the less they and the ankles have to bear.
LARGEST_HIP_RAISE = 0.05


@dataclass(frozen=True)
class BodyDimensions:
    """What a plan knows of a body.

    Args:
        leg_length: length of a straight leg from its first joint to the sole (m), see `poise.robots.leg_length`.
        stance_width: between the middles of the feet, standing (m).
        com_height: of the centre of mass above the ground, standing (m).
        hip_height: likewise of the hips.
        sole_size: length and width of a sole (m).
        leg_strength: largest torque of a leg's joint as a share of m g times the leg.
    """

    leg_length: float
    stance_width: float
    com_height: float
    hip_height: float
    sole_size: tuple[float, float]
    leg_strength: float = 0.4

    @classmethod
    def of(cls, start: State) -> BodyDimensions:
        """Of a robot that stands on both feet."""
        robot = start.robot
        left, right = (Footstep.of(start, robot.foot(side)) for side in SIDES)
        return cls(
            leg_length=leg_length(robot),
            stance_width=abs(left.place - right.place),
            com_height=float(start.center_of_mass[2]) - 0.5 * (left.z + right.z),
            hip_height=hip_height(start),
            sole_size=robot.feet[0].sole.size,
            leg_strength=leg_strength(robot),
        )


@dataclass(frozen=True)
class GaitParameters:
    """How a body walks, in metres and seconds.

    Attributes:
        step_geometry: what each step adds.
        timing: its durations (s).
        step_height: height of a step (m).
        com_height: of the centre of mass above the ground (m).
        omega: ω of a pendulum of that height (1/s).
    """

    step_geometry: StepGeometry
    timing: StepTiming
    step_height: float
    com_height: float
    omega: float


def gait_of_style(style: Style, body: BodyDimensions, speed: Speed | None = None) -> GaitParameters:
    """The pace of a style on a body.

    Args:
        speed: (forward m/s, to the left m/s, turning rad/s) instead of the style's own step lengths; faster walks
            have quicker steps.
    """
    time_scale = math.sqrt(body.leg_length / REFERENCE_LEG_LENGTH)
    timing = StepTiming(time_scale * style.single_support, time_scale * style.double_support)
    if speed is None:
        step_geometry = StepGeometry(
            style.step_length * body.leg_length, style.lateral_step * body.leg_length, style.turn, body.stance_width
        )
    else:
        own_speed = abs(style.step_length) * body.leg_length / timing.step
        time_factor = max(min(math.sqrt(own_speed / max(math.hypot(*speed[:2]), 1e-9)), 1.0), SHORTEST_STEP_SHARE)
        # Both feet give up most of their time: the swinging leg needs what there is.
        double = max(
            time_factor**2 * timing.double_support, min(SHORTEST_DOUBLE_SUPPORT * time_scale, timing.double_support)
        )
        timing = StepTiming(time_factor * timing.step - double, double)
        step_geometry = StepGeometry.from_speed(speed, timing.step, body.stance_width)
    height = (
        body.com_height
        - max(_hip_drop(body, step_geometry), -LARGEST_HIP_RAISE * body.leg_length)
        + style.height * body.leg_length
    )
    return GaitParameters(step_geometry, timing, style.step_height * body.leg_length, height, natural_frequency(height))


def _hip_drop(body: BodyDimensions, step_geometry: StepGeometry) -> float:
    """How much lower the hips must be for steps of this length (m)."""
    foot_distance = FOOT_FROM_HIP * math.hypot(step_geometry.forward, 2.0 * step_geometry.sideways)
    reach = LARGEST_EXTENSION * body.leg_length
    return body.hip_height - math.sqrt(max(reach**2 - foot_distance**2, (0.7 * reach) ** 2))
