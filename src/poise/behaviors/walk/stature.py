"""From a body that stands to what plans know of it."""

from __future__ import annotations

from poise.behaviors.upright import hip_height, leg_length, leg_strength
from poise.behaviors.walk.footing import footstep
from poise.plans.pace import Stature
from poise.robots import State


def stature(start: State) -> Stature:
    """What a plan knows of a body that stands on both feet."""
    robot = start.robot
    left, right = (footstep(start, robot.foot(side), 0.0) for side in ("left", "right"))
    sole = robot.feet[0].sole
    return Stature(
        leg=leg_length(robot),
        width=abs(left.place - right.place),
        height=float(start.center_of_mass[2]) - 0.5 * (left.z + right.z),
        hip=hip_height(start),
        sole=(sole.x_max - sole.x_min, sole.y_max - sole.y_min),
        strength=leg_strength(robot),
    )
