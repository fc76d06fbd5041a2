"""Reach: how far the end of a limb can be from its socket, as the hinge between them allows.

A limb is a socket (hip, shoulder), a hinge (knee, elbow) and an end (ankle, hand). Whatever the joints of the socket
do, the distance of the end depends on the hinge alone: with its axis a through h, turned by δ from where it is,

    e(δ) = h + exp([a] δ) (e - h),    reach(δ) = |e(δ) - s|

Real sockets are several joints whose axes do not quite meet: s is the point that is nearest to them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio
from numpy.typing import NDArray

from poise.robots import Robot

Array = NDArray[np.float64]

#: The hinge is tried at this many angles: a degree apart, between which the reach changes by less than 1e-4 of itself.
ANGLES = 721
#: A hinge does not fold by more than this from straight (rad): then calf meets thigh on most robots.
FOLDED = 2.0


@dataclass(frozen=True, eq=False)
class Reach:
    """A limb in the standing stance (m, in the world).

    Args:
        socket, end: places.
        length: of the straight limb, whether or not its hinge can be straight.
        longest, shortest: reach within the range of the hinge.
        joints: of the limb, from the socket outwards, as numbers of the model's joints.
        hinge: which of them.
        upper, lower: from socket to hinge, from hinge to end.
    """

    socket: Array
    end: Array
    length: float
    longest: float
    shortest: float
    joints: tuple[int, ...]
    hinge: int
    upper: float
    lower: float

    def folded(self, angle: float) -> float:
        """Reach (m) when the line to the socket and the lower part make an angle (rad) at the end, as an ankle does:

        s cos θ + sqrt(t² - s² sin² θ),    s and t the lower and the upper part.
        """
        c, s = math.cos(angle), math.sin(angle)
        return self.lower * c + math.sqrt(max(self.upper**2 - (self.lower * s) ** 2, 0.0))


def reach_of(robot: Robot, joints: Sequence[int], tip: Array | None, bend: float) -> Reach:
    """The reach of a limb.

    Args:
        joints: its joints from the trunk outwards.
        tip: the end in the world, standing; None for the point where the axes beyond the hinge meet (the ankle).
        bend: how far from straight the hinge stays (rad).
    """
    placed = axes(robot)
    lines = [placed[joint] for joint in joints]
    end = lines[-1][0] if tip is None else tip
    # The hinge is across the limb and in its middle, far from both ends.
    first, span = lines[0][0], end - lines[0][0]
    along = span / np.linalg.norm(span)
    across = [float(np.linalg.norm(np.cross(axis, along))) for _, axis in lines]
    inside = [min(float(np.linalg.norm(place - first)), float(np.linalg.norm(end - place))) for place, _ in lines]
    at = int(np.argmax(np.multiply(across, inside)))
    before = lines[:at] or lines[:1]
    if tip is None:  # an axis along the leg says little about where on it the hip is
        before = sorted(before, key=lambda line: abs(float(line[1] @ along)))
    # The first joints of an arm, where it has more than two, move the shoulder itself.
    before = before[:2] if tip is None else before[-2:]
    socket = meeting(before, near=lines[max(at - 1, 0)][0])
    if tip is None and lines[at + 1 :]:
        end = meeting(lines[at + 1 :], near=end)
    place, axis = lines[at]
    joint = next(joint for joint in robot.joints if joint.index == joints[at])
    angle, row = float(robot.stance("standing").q[joint.q]), joint.v - 6
    turns = np.linspace(-np.pi, np.pi, ANGLES)
    distances = _distances(turns, place, axis, end, socket)
    straight = float(turns[distances.argmax()])
    allowed = (turns + angle >= robot.limits.lower[row]) & (turns + angle <= robot.limits.upper[row])
    bent = np.abs(turns - straight)
    allowed &= (bent >= bend) & (bent <= FOLDED)
    reaches = distances[allowed] if allowed.any() else distances[ANGLES // 2 : ANGLES // 2 + 1]
    longest, shortest = float(reaches.max()), float(reaches.min())
    upper, lower = (float(np.linalg.norm(place - to)) for to in (socket, end))
    return Reach(socket, end, float(distances.max()), longest, shortest, tuple(joints), joints[at], upper, lower)


def chain(robot: Robot, joint: int, stop: int = 1) -> tuple[int, ...]:
    """Numbers of the joints from the base, or from one called `stop`, to a joint, which is the last."""
    found: list[int] = []
    while joint > 1 and joint != stop:
        found.append(joint)
        joint = int(robot.model.parents[joint])
    return tuple(reversed(found))


def meeting(lines: Sequence[tuple[Array, Array]], near: Array) -> Array:
    """The point with the least sum of squared distances to lines (place, direction), the nearest to `near` if there are
    many:  sum (I - a aᵀ) s = sum (I - a aᵀ) p."""
    A = sum((np.eye(3) - np.outer(axis, axis) for _, axis in lines), np.zeros((3, 3)))
    b = sum(((np.eye(3) - np.outer(axis, axis)) @ place for place, axis in lines), np.zeros(3))
    return np.asarray(near + np.linalg.pinv(A, rcond=1e-6) @ (b - A @ near))


def axes(robot: Robot) -> dict[int, tuple[Array, Array]]:
    """Place (m) and unit axis of every actuated joint in the world, standing, by the joint's number."""
    model = robot.model
    data = model.createData()
    pinocchio.computeJointJacobians(model, data, robot.stance("standing").q)
    found = {}
    for joint in robot.joints:
        jacobian = pinocchio.getJointJacobian(model, data, joint.index, pinocchio.LOCAL_WORLD_ALIGNED)
        found[joint.index] = data.oMi[joint.index].translation.copy(), jacobian[3:, joint.v].copy()
    return found


def _distances(turns: Array, place: Array, axis: Array, end: Array, socket: Array) -> Array:
    """|e(δ) - s| for each turn δ of the hinge (Rodrigues' formula)."""
    arm = end - place
    c, s = np.cos(turns)[:, None], np.sin(turns)[:, None]
    turned = c * arm + s * np.cross(axis, arm) + (1.0 - c) * (axis @ arm) * axis
    return np.asarray(np.linalg.norm(place + turned - socket, axis=1))
