"""Feet and the ground: footsteps and sole poses of feet, and an estimate of the slope and height of the ground."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pinocchio

from poise.arrays import Array
from poise.geometry import so3
from poise.plans import Phase
from poise.robots import Foot, State

#: x, y and z.
Point = Sequence[float] | Array
LEVEL = np.eye(3)


def sole_pose(foot: Foot, place: Point, yaw: float, tilt: Array = LEVEL) -> pinocchio.SE3:
    """world_from_foot with the middle of the sole at a place (m), turned by a yaw (rad) on ground of this tilt."""
    R = tilt @ so3.yaw_matrix(yaw)
    return pinocchio.SE3(R, np.asarray(place) - R @ foot.sole.center)


def sole_motion(
    foot: Foot,
    place: tuple[Point, Point, Point],
    yaw: tuple[float, float, float],
    tilt: Array = LEVEL,
) -> tuple[pinocchio.SE3, tuple[float, ...], tuple[float, ...]]:
    """Pose, twist and its rate of the foot's frame, in world axes, linear parts first.

    The frame is off the middle by r, which turns with ψ: ``ṙ = ψ̇ ẑ x r`` and ``r̈ = ψ̈ ẑ x r - ψ̇² r`` (as on level
    ground; on a slope the difference is of second order in its tilt).

    Args:
        place: of the middle of the sole, its rate and acceleration.
        yaw: ψ, ψ̇ and ψ̈ (rad, rad/s, rad/s²).
    """
    pose = sole_pose(foot, place[0], yaw[0], tilt)
    x, y = (pose.translation - np.asarray(place[0]))[:2].tolist()
    v, a, (_, turning, faster) = place[1], place[2], yaw
    twist = (v[0] - turning * y, v[1] + turning * x, v[2], 0.0, 0.0, turning)
    rate = (a[0] - faster * y - turning**2 * x, a[1] + faster * x - turning**2 * y, a[2], 0.0, 0.0, faster)
    return pose, twist, rate


# -- Footing: what a walk feels of the ground, and of its own weight -------------------------------------------------


#: How much of the slope under one foot is believed: uneven ground tilts feet either way, a slope the same way.
FEELING = 0.07
#: What is felt less than this (rise per metre) is unevenness: boxes of 2 cm under a foot come to that, on average.
EVEN = 0.04
#: Rate at which another height, of the ground or of the walk, is taken over, critically damped, 1/s: a stair of 5 cm
#: takes a quarter of gravity.
LEVELLING = 7.0
#: How fast a wrong weight is learnt, 1/s³, and how wrong it may be, m/s²: in half a second, up to a third of gravity.
WEIGHING, HEAVIEST = 300.0, 3.0


class Footing:
    """The ground under a walk.

    Attributes:
        level: height at which the centre of mass is carried (m).
        heavier: acceleration (m/s²) that a body heavier than believed lacks.
    """

    def __init__(self, start: State) -> None:
        feet = start.robot.feet
        self._felt = sum((sloped(start.pose(foot).rotation[:, 2]) for foot in feet), 0j) / len(feet)
        self.level = float(start.center_of_mass[2])
        self.heavier = self._rate = 0.0

    @property
    def slope(self) -> complex:
        """How far the ground rises per metre along x and along y, as x + i y."""
        return self._felt if abs(self._felt) > EVEN else 0j

    @property
    def tilt(self) -> Array:
        """From level to the ground."""
        return tilted(self.slope)

    def stood(self, normal: Array) -> None:
        """A sole stood with this normal."""
        self._felt += FEELING * (sloped(normal) - self._felt)

    def carry(self, phase: Phase, height: float, actual: float, period: float) -> tuple[float, float, float]:
        """Height of the centre of mass (m), its rate and acceleration, on the way to be so high above the ground.

        Args:
            height: above the ground (m).
            actual: where the centre of mass is (m).
        """
        # The lower of both feet is the one whose leg might become too short.
        floor = min(phase.support.z, phase.goal.z if phase.kind == "single" else phase.last.z)
        acceleration = LEVELLING * (LEVELLING * (floor + height - self.level) - 2.0 * self._rate)
        self._rate += period * acceleration
        self.level += period * self._rate
        # Who is lighter or heavier than believed would hover or sink: what is missing is learnt.
        heavier = self.heavier + WEIGHING * (self.level - actual) * period
        self.heavier = min(max(heavier, -HEAVIEST), HEAVIEST)
        return self.level, self._rate, acceleration + self.heavier


def sloped(normal: Array) -> complex:
    """How far ground with this normal rises per metre along x and along y, as x + i y."""
    return -complex(normal[0], normal[1]) / max(float(normal[2]), 0.7)


def tilted(slope: complex) -> Array:
    """The rotation from level ground to ground of this slope."""
    up = np.array([-slope.real, -slope.imag, 1.0])
    turn = pinocchio.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), up / np.linalg.norm(up))
    return np.asarray(turn.toRotationMatrix())
