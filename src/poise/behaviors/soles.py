"""From the middle of a sole to the frame of its foot: where a task wants the foot, and how it moves there."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pinocchio
from numpy.typing import NDArray

from poise.robots import Foot

Array = NDArray[np.float64]
#: x, y and z.
Point = Sequence[float] | Array
LEVEL = np.eye(3)


def sole_pose(foot: Foot, place: Point, yaw: float, tilt: Array = LEVEL) -> pinocchio.SE3:
    """world_from_foot with the middle of the sole at a place (m), turned by a yaw (rad) on ground of this tilt."""
    c, s = math.cos(yaw), math.sin(yaw)
    R = tilt @ np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
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
