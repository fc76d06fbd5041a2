"""The posture that a style rests in: arms raised or spread, head up or down, everything else as it stands."""

from __future__ import annotations

import numpy as np
import pinocchio
from numpy.typing import NDArray

from poise import tasks
from poise.constraints import JointRange
from poise.errors import UsageError
from poise.hierarchy import Hierarchy, Level, solve_pose
from poise.plans.style import Style
from poise.robots import Hand, Robot, State
from poise.robots.limbs import limbs

Array = NDArray[np.float64]


def joints_of(robot: Robot, *words: str) -> list[str]:
    """Names of the joints of limbs whose name has one of the words: "arm", "head", "leg", "trunk"."""
    return [name for limb in limbs(robot) for name in limb.joints if any(word in limb.name for word in words)]


def rest_posture(robot: Robot, style: Style) -> Array:
    """Angles of all joints (rad). A robot without a neck does not bow its head; its chest may."""
    stance = robot.stance("standing")
    loose = set(joints_of(robot, "arm", "head"))
    q = stance.q
    if style.arm_lift or style.arm_spread or style.head_pitch:
        q = _posed(robot, stance, style, loose).q
    angles = np.array([q[joint.q] for joint in robot.joints])
    names = [joint.name for joint in robot.joints]
    for name, angle in style.rest.items():
        if name not in names:
            continue  # a joint of another robot
        angles[names.index(name)] = angle
    return np.clip(angles, robot.limits.lower, robot.limits.upper)


def check_rest(robot: Robot, style: Style) -> None:
    """UsageError if a style names joints, and none of them is the robot's."""
    names = {joint.name for joint in robot.joints}
    if style.rest and not names & set(style.rest):
        given = ", ".join(style.rest)
        raise UsageError(f"style '{style.name}': rest names {given}, none of which {robot.name} has")


def _posed(robot: Robot, stance: State, style: Style, loose: set[str]) -> State:
    held = [joint for joint in robot.joints if joint.name not in loose]
    wishes: list[tasks.Task] = [
        tasks.Position(hand, _lifted(stance, hand, style), name=f"{hand.side} hand") for hand in robot.hands
    ]
    if robot.gaze is not None:
        axis = stance.pose(robot.gaze).rotation @ np.array(robot.gaze.axis)
        down = pinocchio.rpy.rpyToMatrix(0.0, style.head_pitch, 0.0) @ axis
        wishes.append(tasks.Direction(robot.gaze, robot.gaze.axis, down, name="gaze"))
    base = robot.frame("root_joint")
    hierarchy = Hierarchy(
        always=[JointRange(robot)],
        levels=[
            Level("body", [tasks.HoldPose(base, at=stance), tasks.Posture(stance, joints=held)]),
            Level("style", wishes, damping=0.05),
            Level("posture", [tasks.Posture(stance)]),
        ],
    )
    return solve_pose(hierarchy, stance, iterations=100).state


def _lifted(stance: State, hand: Hand, style: Style) -> Array:
    """Where a hand is when its arm is turned forward and outward about the shoulder (m)."""
    robot = stance.robot
    first = next(limb.joints[0] for limb in limbs(robot) if limb.name == f"{hand.side} arm")
    shoulder = stance.pose(robot.frame(first)).translation
    outward = 1.0 if hand.side == "left" else -1.0
    turn = pinocchio.rpy.rpyToMatrix(outward * style.arm_spread, 0.0, 0.0) @ pinocchio.rpy.rpyToMatrix(
        0.0, -style.arm_lift, 0.0
    )
    # A little nearer to the shoulder, so that no arm has to be stretched to its end.
    return np.asarray(shoulder + 0.97 * turn @ (stance.pose(hand).translation - shoulder))
