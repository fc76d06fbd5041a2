"""Gait parameters of a style on one robot, and the divergent component of motion (DCM) over its steps.

With c the center of mass (CoM) at height h, ``ω = sqrt(g / h)`` and the DCM ``ξ = c + ċ / ω``, the robot moves as
``ξ̇ = ω (ξ - z)``, away from the zero moment point (ZMP) z. A step has a double support of T_d seconds, in which z moves
in a straight line from the last foot p₋ to the next one p, and a single support of T_s seconds with z at p. Integrated
backwards from the final value ξ_end::

    ξ(start of single support) = p + (ξ_end - p) e^{-ω T_s}
    ξ(start of double support) = p₋ + u + (ξ(start of single support) - p - u) e^{-ω T_d},   u = (p - p₋) / (ω T_d)

A point of the plane is a complex number ``x + i y``: ten times faster in Python than an array of two, and rotated by a
multiplication. The functions also accept arrays.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from poise.plans.center_height import hip_height_over, walking_heights
from poise.plans.footsteps import Footstep, StepGeometry
from poise.plans.style import Style
from poise.robots import (
    SIDES,
    State,
    ankle_position,
    ankle_range,
    hip_height,
    hip_offset,
    leg_length,
    leg_strength,
    side_sign,
    swing_limits,
)
from poise.state import natural_frequency

Point = TypeVar("Point", complex, NDArray[np.float64])


@dataclass(frozen=True)
class StepTiming:
    """Durations of a step, in seconds.

    Args:
        single_support: duration of the single support (s).
        double_support: duration of the double support before it (s).
    """

    single_support: float
    double_support: float

    @property
    def step(self) -> float:
        """Duration of a step: single and double support (s)."""
        return self.single_support + self.double_support


def dcm_in_single_support(foot: Point, end_dcm: Point, seconds: float, omega: float) -> Point:
    """Return ξ in a single support with the ZMP at `foot`, `seconds` before ξ reaches `end_dcm`."""
    return foot + (end_dcm - foot) * math.exp(-omega * seconds)


def dcm_in_double_support(
    last: Point, foot: Point, end_dcm: Point, remaining: float, duration: float, omega: float
) -> tuple[Point, Point]:
    """Return ξ and z in a double support from `last` to `foot`, `remaining` seconds before its end.

    Args:
        last, foot: positions of z at the start and at the end (m).
        end_dcm: ξ at the end (m).
        remaining: seconds until the end.
        duration: duration of the double support (s).
        omega: ω (1/s).
    """
    rate = (foot - last) / duration
    z = foot - rate * remaining
    lead = rate / omega
    return z + lead + (end_dcm - foot - lead) * math.exp(-omega * remaining), z


@dataclass(frozen=True)
class PressureRoll:
    """Path of the ZMP under a stance foot: from heel to toe, in a straight line over the single support.

    Args:
        begin, end: distance of the ZMP ahead of the middle of the sole at begin and end of the single support (m).
        inward: its distance from the middle of the sole towards the other foot (m).
    """

    begin: float = 0.0
    end: float = 0.0
    inward: float = 0.0

    def offsets(self, foot: Footstep) -> tuple[complex, complex]:
        """Return the ZMP relative to the middle of the sole at begin and end of the single support on a foot (m)."""
        aside = -1j * side_sign(foot.side) * self.inward
        return (self.begin + aside) * foot.heading, (self.end + aside) * foot.heading

    def points(self, foot: Footstep) -> tuple[complex, complex]:
        """Return the ZMP at begin and end of the single support on a foot (m)."""
        begin, end = self.offsets(foot)
        return foot.place + begin, foot.place + end


def initial_dcm(feet: Sequence[Point], end_dcm: Point, timing: StepTiming, omega: float) -> Point:
    """Return ξ at the start of the double support from feet[0] to feet[1] for which ξ ends at `end_dcm`.

    ξ reaches `end_dcm` at the end of the single support on the last foot.

    >>> initial_dcm([left, right, left_again], end_dcm=left_again, timing=StepTiming(0.4, 0.1), omega=3.5)
    """
    for last, foot in zip(reversed(feet[:-1]), reversed(feet[1:]), strict=True):
        end_dcm = dcm_in_single_support(foot, end_dcm, timing.single_support, omega)
        end_dcm, _ = dcm_in_double_support(last, foot, end_dcm, timing.double_support, timing.double_support, omega)
    return end_dcm


def steady_dcm_offset(
    stride: Point,
    other: Point,
    timing: StepTiming,
    omega: float,
    turn: float = 0.0,
    rolls: Sequence[tuple[Point, Point]] | None = None,
) -> Point:
    """Return ξ at the end of a single support, relative to its foot (m), in a walk that repeats every two steps.

    With b this offset and b' that of the next step, ``b = c(stride) + ε b'`` where ``c(u) = u (1 - e^{-ω T_d}) /
    (ω T_d)`` and ``ε = e^{-ω (T_s + T_d)}``. After two steps the offset is b again, rotated by `turn`. With a ZMP that
    rolls from `begin` to `end` under each foot, ``c(u)`` is the ξ from which both ramps lead to the next foot.

    Args:
        stride: vector from this foot to the next (m).
        other: vector from the next foot to the one after (m).
        timing: durations of a step.
        omega: ω (1/s).
        turn: rotation of the walk in two steps (rad); if not zero, points must be complex numbers.
        rolls: ZMP at begin and end of the single support on this foot and the two next, relative to each (m); None: in
            the middle.
    """
    single, double = timing.single_support, timing.double_support
    decay = math.exp(-omega * timing.step)

    def change(step: Point, number: int) -> Point:
        (_, last), (begin, end) = (0.0 * step, 0.0 * step), (0.0 * step, 0.0 * step)
        if rolls is not None:
            (_, last), (begin, end) = rolls[number], rolls[number + 1]
        landed, _ = dcm_in_double_support(step + begin, step + end, step, single, single, omega)
        offset, _ = dcm_in_double_support(last, step + begin, landed, double, double, omega)
        return offset

    two_steps = change(stride, 0) + decay * change(other, 1)
    if turn == 0.0:
        return two_steps / (1.0 - decay**2)
    return two_steps / (1.0 - decay**2 * cmath.exp(1j * turn))  # type: ignore[return-value]


# -- Gait parameters -------------------------------------------------------------------------------------------------


#: Walking speed: forward and to the left (m/s), and turning to the left (rad/s).
Speed = tuple[float, float, float]

#: Leg length (m) to which the durations of styles refer; durations scale with the square root of the leg length, as for
#: pendulums.
REFERENCE_LEG_LENGTH = 0.8
#: Faster walks have longer and quicker steps, with a constant ratio of step length to step frequency, as in humans
#: [Sekiya1996]; but no step is shorter in time than this fraction of the step duration of the style.
SHORTEST_STEP_SHARE = 0.7
#: Sideways, each second step has twice the length: steps are as quick as in a walk ahead that is faster by this factor.
LATERAL_CADENCE = 2.5
#: Shortest double support, s for a leg of 0.8 m.
SHORTEST_DOUBLE_SUPPORT = 0.05
#: Distance of the planned ZMP from the middle of the sole towards the other foot: at most this fraction of half the
#: width of the sole, and of the distance of the feet. In the middle of a swing the measured center of pressure is
#: further outwards than the ZMP of a pendulum, by the changing angular momentum of the swing leg.
INWARD_SHARE, INWARD_WIDTH = 0.3, 0.05
#: Largest extension of a leg in a recovery, as a fraction of its length: a straight knee can neither push nor absorb.
LARGEST_EXTENSION = 0.965
#: Step length from which the feet roll fully, in leg lengths. Where the ZMP begins and ends under a stance foot, as
#: fractions of half the sole. Fraction of the torque of the ankle that this may need.
FULL_ROLL_STEP, ROLL_FROM_HEEL, ROLL_TO_TOE, ANKLE_USE = 0.25, 0.3, 0.7, 0.65
#: Least flexion of the knee in mid-stance, whatever the style (rad), and that of a flat-footed walk.
LEAST_FLEXION = 0.1
FLAT_FOOTED_FLEXION = 2.0 * math.acos(LARGEST_EXTENSION)
#: Smallest gap between the soles of an adapted step, and additional gap of a planned step, in leg lengths: a planned
#: step at the limit could only be adapted outwards.
LEAST_GAP, PLANNED_GAP = 0.04, 0.02
#: Largest lateral distance of the feet in a walk, in leg lengths, and smallest one as a fraction of that of standing.
#: Robots whose feet are farther apart when they stand would sway, and people walk with less: about 0.15 leg lengths.
WIDEST_WALK, NARROWEST_WALK = 0.25, 0.75


@dataclass(frozen=True)
class BodyDimensions:
    """Dimensions of a robot that plans depend on.

    Args:
        leg_length: length of a straight leg from its first joint to the sole (m), see `poise.robots.leg_length`.
        stance_width: distance between the middles of the feet when standing (m).
        com_height: height of the CoM above the ground when standing (m).
        hip_height: height of the hips above the ground when standing (m).
        sole_size: length and width of a sole (m).
        leg_strength: largest torque of a leg joint, divided by m g times the leg length.
        widest_walk: largest lateral distance of the feet in a walk, in leg lengths.
        swing_acceleration: largest accelerations of a swing foot ahead and sideways (m/s²), and its largest speed
            (m/s), see `poise.robots.swing_limits`.
        swing_speed: its largest speed (m/s).
        ankle_range: distances behind and ahead of the middle of a sole at which the ankle can hold the weight (m).
        ankle_height: height of the ankle above the sole (m).
        ankle_offset: distance of the ankle ahead of the middle of the sole (m).
        hip_offset: distance of the hips ahead of the CoM when standing (m).
        flat_footed: whether walks keep their feet flat and their knees bent, because the controller cannot let the feet
            roll.
    """

    leg_length: float
    stance_width: float
    com_height: float
    hip_height: float
    sole_size: tuple[float, float]
    leg_strength: float = 0.4
    widest_walk: float = WIDEST_WALK
    swing_acceleration: tuple[float, float] = (50.0, 50.0)
    swing_speed: float = 5.0
    ankle_range: tuple[float, float] = (math.inf, math.inf)
    ankle_height: float = 0.0
    ankle_offset: float = 0.0
    hip_offset: float = 0.0
    flat_footed: bool = False

    @property
    def least_step_width(self) -> float:
        """Smallest lateral distance between the middles of the feet at which they keep a gap (m)."""
        return self.sole_size[1] + LEAST_GAP * self.leg_length

    @property
    def walking_width(self) -> float:
        """Lateral distance between the middles of the feet in a walk (m): that of standing, or less."""
        least = max(self.least_step_width + PLANNED_GAP * self.leg_length, NARROWEST_WALK * self.stance_width)
        return min(self.stance_width, max(self.widest_walk * self.leg_length, least))

    def with_standing_width(self) -> BodyDimensions:
        """Return the same dimensions for flat-footed walks whose feet are as far apart as in standing."""
        return replace(self, widest_walk=math.inf, flat_footed=True)

    @classmethod
    def of(cls, start: State) -> BodyDimensions:
        """Measure the dimensions of a robot that stands on both feet."""
        robot = start.robot
        left, right = (Footstep.of(start, robot.foot(side)) for side in SIDES)
        ankle = ankle_position(robot) - robot.feet[0].sole.center
        swing_acceleration, swing_speed = swing_limits(start)
        return cls(
            leg_length=leg_length(robot),
            stance_width=abs(left.place - right.place),
            com_height=float(start.center_of_mass[2]) - 0.5 * (left.z + right.z),
            hip_height=hip_height(start),
            sole_size=robot.feet[0].sole.size,
            leg_strength=leg_strength(robot),
            swing_acceleration=swing_acceleration,
            swing_speed=swing_speed,
            ankle_range=ankle_range(start),
            ankle_height=float(ankle[2]),
            ankle_offset=float(ankle[0]),
            hip_offset=hip_offset(start),
        )


@dataclass(frozen=True)
class GaitParameters:
    """Gait of a robot in meters and seconds.

    Attributes:
        step_geometry: displacement of each step.
        timing: durations of a step (s).
        step_height: lift of the swing foot (m).
        com_height: mean height of the CoM above the ground (m).
        omega: natural frequency ω of a pendulum of that height (1/s).
        bounce: amplitude of the oscillation of the height of the CoM in each step (m).
        roll: path of the ZMP under a stance foot.
        heel_rise: pitch of the rear foot about its front edge at the end of double support (rad).
        heel_strike: pitch with which a foot lands on its heel (rad).
    """

    step_geometry: StepGeometry
    timing: StepTiming
    step_height: float
    com_height: float
    omega: float
    bounce: float = 0.0
    roll: PressureRoll = PressureRoll()
    heel_rise: float = 0.0
    heel_strike: float = 0.0


def gait_of_style(style: Style, body: BodyDimensions, speed: Speed | None = None) -> GaitParameters:
    """Return the gait parameters of a style on a robot.

    Args:
        style: style, with lengths relative to the leg length.
        body: dimensions of the robot.
        speed: (forward m/s, to the left m/s, turning rad/s) instead of the step lengths of the style; steps become
            quicker if the speed exceeds that of the style.
    """
    time_scale = math.sqrt(body.leg_length / REFERENCE_LEG_LENGTH)
    timing = StepTiming(time_scale * style.single_support, time_scale * style.double_support)
    width = style.step_width * body.walking_width
    if speed is None:
        step_geometry = StepGeometry(
            style.step_length * body.leg_length,
            style.lateral_step * body.leg_length,
            style.step_turn,
            width,
            body.stance_width,
        )
    else:
        own_speed = abs(style.step_length) * body.leg_length / timing.step
        time_factor = max(
            min(math.sqrt(own_speed / max(math.hypot(speed[0], LATERAL_CADENCE * speed[1]), 1e-9)), 1.0),
            SHORTEST_STEP_SHARE,
        )
        # The double support is shortened most, because the swing leg needs the remaining time.
        double = max(
            time_factor * timing.double_support, min(SHORTEST_DOUBLE_SUPPORT * time_scale, timing.double_support)
        )
        timing = StepTiming(time_factor * timing.step - double, double)
        step_geometry = StepGeometry.from_speed(speed, timing.step, width, body.stance_width)
    # Short steps need no roll, and neither do those to the side or backwards.
    share = 0.0 if body.flat_footed else min(max(step_geometry.forward / (FULL_ROLL_STEP * body.leg_length), 0.0), 1.0)
    half = 0.5 * body.sole_size[0]
    toe = body.ankle_offset + ANKLE_USE * (body.ankle_range[1] - body.ankle_offset)
    toe = min(ROLL_TO_TOE * half, max(toe, 0.0))
    inward = min(INWARD_SHARE * 0.5 * body.sole_size[1], INWARD_WIDTH * width)
    roll = PressureRoll(-share * ROLL_FROM_HEEL * half, share * toe, share * inward)
    heel_rise, heel_strike = share * style.heel_rise, share * style.heel_strike
    mean, bounce = walking_heights(
        body,
        max(style.knee_flexion, FLAT_FOOTED_FLEXION) if body.flat_footed else style.knee_flexion,
        step_geometry.forward,
        2.0 * step_geometry.sideways,
        timing.step,
        timing.double_support / timing.step,
        (half + body.ankle_offset) * math.sin(heel_strike),
        (half - body.ankle_offset) * math.sin(heel_rise),
        share,
    )
    highest = hip_height_over(body, body.hip_offset - body.ankle_offset, LEAST_FLEXION) - bounce
    hips = min(mean + style.com_height_offset * body.leg_length, highest)
    height = body.com_height - body.hip_height + hips
    return GaitParameters(
        step_geometry,
        timing,
        style.step_height * body.leg_length,
        height,
        natural_frequency(height),
        bounce,
        roll,
        heel_rise,
        heel_strike,
    )
