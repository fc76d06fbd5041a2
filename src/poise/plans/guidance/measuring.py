"""Measuring: what the workspace is made of, taken from a robot in its standing stance."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from poise.errors import RobotError
from poise.plans.footsteps import Footstep
from poise.plans.guidance.points import HandPoint, Points
from poise.plans.guidance.reach import chain, reach_of
from poise.robots import Robot
from poise.robots.parts import Foot, Side
from poise.robots.shapes import vertices

Array = NDArray[np.float64]

#: Elbows are never straighter than this (rad): straight ones are singular.
ELBOW = 0.15


def standing(robot: Robot) -> Points:
    """The navigation points in the standing stance."""
    start = robot.stance("standing")
    feet: dict[Side, Footstep] = {}
    for foot in robot.feet:
        x, y, z = start.pose(foot).act(foot.sole.center).tolist()
        feet[foot.side] = Footstep(foot.side, x, y, 0.0, z)
    center = np.asarray(start.center_of_mass).copy()
    hands = {hand.side: HandPoint(start.pose(hand).translation - center, np.zeros(3)) for hand in robot.hands}
    return Points(center, np.zeros(3), feet, hands)


def halves_of(robot: Robot) -> tuple[complex, complex]:
    """Half sizes of a sole, and of the whole foot around the sole's middle: its shapes may be larger."""
    foot = robot.feet[0]
    sole = foot.sole
    half = np.array([sole.x_max - sole.x_min, sole.y_max - sole.y_min]) / 2.0
    outline = np.maximum(half, _outline(robot, foot))
    return complex(*half), complex(*outline)


def _outline(robot: Robot, foot: Foot) -> Array:
    try:
        shapes = robot.collision_geometry.geometryObjects
    except RobotError:  # a robot whose meshes are not there still has soles
        return np.zeros(2)
    joint_from_sole = robot.model.frames[foot.index].placement
    found = [np.zeros(2)]
    for shape in shapes:
        if shape.parentJoint == foot.joint:
            points = vertices(shape) @ shape.placement.rotation.T + shape.placement.translation
            local = (points - joint_from_sole.translation) @ joint_from_sole.rotation - foot.sole.center
            found.append(np.abs(local[:, :2]).max(axis=0))
    return np.asarray(np.max(found, axis=0))


def arm_of(robot: Robot, joint: int, hand: Array) -> tuple[Array, float, int]:
    """Shoulder in the world, longest reach, number of joints that the legs do not share and the other arm neither."""
    others = [set(chain(robot, other.joint)) for other in robot.hands if other.joint != joint]
    shared = set().union(*others) if others else set()
    joints = tuple(number for number in chain(robot, joint) if number not in shared)
    reach = reach_of(robot, joints, hand, ELBOW)
    return reach.socket, reach.longest, len(joints)
