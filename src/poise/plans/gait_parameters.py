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

from poise.plans.footsteps import Footstep, Gait
from poise.plans.style import Style
from poise.robots import SIDES, State, hip_height, leg_length, leg_strength
from poise.state import natural_frequency

Point = TypeVar("Point", complex, NDArray[np.float64])


@dataclass(frozen=True)
class Timing:
    """Durations of a step, in seconds.

    Args:
        single: on one foot.
        double: on both, before it.
    """

    single: float
    double: float

    @property
    def whole(self) -> float:
        """Of single and double support together."""
        return self.single + self.double


def before_single(foot: Point, end: Point, seconds: float, omega: float) -> Point:
    """ξ so many seconds before it is to be at `end`, on one foot."""
    return foot + (end - foot) * math.exp(-omega * seconds)


def before_double(last: Point, foot: Point, end: Point, left: float, whole: float, omega: float) -> tuple[Point, Point]:
    """ξ and z with `left` seconds of a double support of `whole` seconds to go, at whose end ξ is to be at `end`."""
    rate = (foot - last) / whole
    z = foot - rate * left
    lead = rate / omega
    return z + lead + (end - foot - lead) * math.exp(-omega * left), z


def where_to_begin(feet: Sequence[Point], end: Point, timing: Timing, omega: float) -> Point:
    """ξ at the begin of the double support from feet[0] to feet[1], so that after the last of the feet it is at `end`.

    >>> where_to_begin([left, right, left_again], end=left_again, timing=Timing(0.4, 0.1), omega=3.5)
    """
    for last, foot in zip(reversed(feet[:-1]), reversed(feet[1:]), strict=True):
        end = before_single(foot, end, timing.single, omega)
        end, _ = before_double(last, foot, end, timing.double, timing.double, omega)
    return end


def steady_offset(stride: Point, other: Point, timing: Timing, omega: float, turn: float = 0.0) -> Point:
    """Where ξ is at the end of a single support, seen from its foot, in a walk that repeats itself every two steps.

    One step back, ``b = c(stride) + ε b'`` with ``c(u) = u (1 - e^{-ω T_d}) / (ω T_d)`` and ``ε = e^{-ω (T_s + T_d)}``;
    two steps back it is itself, turned.

    Args:
        stride: from this foot to the next (m).
        other: from the next foot to the one after.
        turn: how far two steps turn the walk (rad); points are then complex numbers.
    """
    share = -math.expm1(-omega * timing.double) / (omega * timing.double)
    shrink = math.exp(-omega * timing.whole)
    ahead = share * (stride + shrink * other)
    if turn == 0.0:
        return ahead / (1.0 - shrink**2)
    return ahead / (1.0 - shrink**2 * cmath.exp(1j * turn))  # type: ignore[return-value]


# -- Gait parameters -------------------------------------------------------------------------------------------------


#: Forward and to the left (m/s), and turning to the left (rad/s).
Speed = tuple[float, float, float]

#: The leg (m) for which styles give their durations; others take times as the root of their length, like pendulums.
LEG = 0.8
#: Faster walks make steps longer and quicker alike, the ratio of both stays, as it does with people [Sekiya1996]; but
#: no quicker than this share of the style's own time.
HURRY = 0.75
#: Both feet stand for no less than this, s for a leg of 0.8 m.
SHORTEST = 0.05
#: A leg is not stretched beyond this share of its length: straight knees neither push nor yield. At the end of a step
#: the foot is so many step lengths ahead of, or behind, the hip.
STRETCH, ASTRIDE = 0.965, 0.6
#: Hips are as high as the steps allow, but no higher than standing by more than this share of the leg: the less knees
#: are bent, the less they and the ankles have to bear.
HIGHER = 0.05


@dataclass(frozen=True)
class BodyDimensions:
    """What a plan knows of a body.

    Args:
        leg: length of a straight leg from its first joint to the sole (m), see `poise.robots.leg_length`.
        width: between the middles of the feet, standing (m).
        height: of the centre of mass above the ground, standing (m).
        hip: likewise of the hips.
        sole: length and width of a sole (m).
        strength: largest torque of a leg's joint as a share of m g times the leg.
    """

    leg: float
    width: float
    height: float
    hip: float
    sole: tuple[float, float]
    strength: float = 0.4

    @classmethod
    def of(cls, start: State) -> BodyDimensions:
        """Of a robot that stands on both feet."""
        robot = start.robot
        left, right = (Footstep.of(start, robot.foot(side)) for side in SIDES)
        return cls(
            leg=leg_length(robot),
            width=abs(left.place - right.place),
            height=float(start.center_of_mass[2]) - 0.5 * (left.z + right.z),
            hip=hip_height(start),
            sole=robot.feet[0].sole.size,
            strength=leg_strength(robot),
        )


@dataclass(frozen=True)
class Pace:
    """How a body walks, in metres and seconds.

    Attributes:
        gait: what each step adds.
        timing: its durations (s).
        lift: height of a step (m).
        height: of the centre of mass above the ground (m).
        omega: ω of a pendulum of that height (1/s).
    """

    gait: Gait
    timing: Timing
    lift: float
    height: float
    omega: float


def paced(style: Style, body: BodyDimensions, speed: Speed | None = None) -> Pace:
    """The pace of a style on a body.

    Args:
        speed: (forward m/s, to the left m/s, turning rad/s) instead of the style's own step lengths; faster walks
            have quicker steps.
    """
    slower = math.sqrt(body.leg / LEG)
    timing = Timing(slower * style.single_support, slower * style.double_support)
    if speed is None:
        gait = Gait(style.step_length * body.leg, style.lateral_step * body.leg, style.turn, body.width)
    else:
        own = abs(style.step_length) * body.leg / timing.whole
        quicker = max(min(math.sqrt(own / max(math.hypot(*speed[:2]), 1e-9)), 1.0), HURRY)
        # Both feet give up most of their time: the swinging leg needs what there is.
        double = max(quicker**2 * timing.double, min(SHORTEST * slower, timing.double))
        timing = Timing(quicker * timing.whole - double, double)
        gait = Gait.of_speed(speed, timing.whole, body.width)
    height = body.height - max(_stretched(body, gait), -HIGHER * body.leg) + style.height * body.leg
    return Pace(gait, timing, style.step_height * body.leg, height, natural_frequency(height))


def _stretched(body: BodyDimensions, gait: Gait) -> float:
    """How much lower the hips must be for steps of this length (m)."""
    away = ASTRIDE * math.hypot(gait.forward, 2.0 * gait.sideways)
    reach = STRETCH * body.leg
    return body.hip - math.sqrt(max(reach**2 - away**2, (0.7 * reach) ** 2))
