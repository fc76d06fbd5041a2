"""Standing hierarchies, and a stance on two planes with a hand at a wall, for the tests of torque control."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pinocchio

from poise import constraints, tasks
from poise.hierarchy import Hierarchy, Level, solve_pose
from poise.robots import Robot, State
from poise.state import Contact
from robot_states import not_none

TILT = np.radians(30.0)


class AcceleratingTarget:
    """Target at the current value and at rest, with an acceleration: the task has no error yet but accelerates."""

    def __init__(self, value: np.ndarray, acceleration: Sequence[float]) -> None:
        self.value, self.acceleration = np.array(value), np.array(acceleration)

    def sample(self, time: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.value, np.zeros_like(self.value), self.acceleration


def feet(robot: Robot) -> tuple[Contact, ...]:
    """Return contacts of both soles on level ground."""
    return tuple(Contact(foot) for foot in robot.feet)


def standing(start: State, contacts: Sequence[Contact] | None = None) -> Hierarchy:
    """Return a hierarchy that keeps contacts, center of mass, orientation of the chest and posture."""
    robot = start.robot
    parts = feet(robot) if contacts is None else contacts
    return Hierarchy(
        always=[constraints.JointRange(robot)],
        levels=[
            Level("contact", [constraints.RigidContact(contact) for contact in parts]),
            Level("balance", [tasks.CenterOfMass(start.center_of_mass, dynamics=tasks.Decay(4.0))]),
            Level("chest", [tasks.Orientation(not_none(robot.chest), start.pose(not_none(robot.chest)).rotation)]),
            Level("posture", [tasks.Posture(start, dynamics=tasks.Decay(5.0))]),
        ],
    )


def stance_on_two_planes(robot: Robot) -> tuple[State, tuple[Contact, ...]]:
    """The left sole on the floor, the right one on a plate that rises ahead by 30 degrees, the left hand at a wall.

    The wall stands to the left of the robot; its normal points back at it.
    """
    start = robot.stance("standing")
    left, right = robot.feet
    hand, size = robot.hand("left"), robot.height
    raised = pinocchio.SE3(pinocchio.rpy.rpyToMatrix(0.0, -TILT, 0.0), np.array([0.12, 0.0, 0.06]) * size)
    foot = pinocchio.SE3(
        start.pose(right).rotation @ raised.rotation, start.pose(right).translation + raised.translation
    )
    reach = start.pose(not_none(robot.chest)).translation + np.array([0.12, 0.24, 0.0]) * size
    above = start.pose(left).act(left.sole.center)[:2] * 0.6 + foot.act(right.sole.center)[:2] * 0.4
    hierarchy = Hierarchy(
        always=[constraints.JointRange(robot, margin=0.02)],
        levels=[
            Level("feet", [tasks.HoldPose(left, at=start), tasks.Pose(right, foot)]),
            Level("balance", [tasks.CenterOfMass(above, axes="xy")]),
            Level("hand", [tasks.Position(hand, reach)]),
            Level("chest", [tasks.Orientation(not_none(robot.chest), start.pose(not_none(robot.chest)).rotation)]),
            Level("posture", [tasks.Posture(start)]),
        ],
    )
    posed = solve_pose(hierarchy, start)
    assert not {"feet", "balance", "hand"} & set(posed.unmet), str(posed)
    state = posed.state.replace(contacts=(left, right, hand))
    wall = state.pose(hand).rotation.T @ np.array([0.0, -1.0, 0.0])
    return state, (Contact(left), Contact(right), Contact(hand, normal=wall))
