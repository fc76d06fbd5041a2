"""A start on ground that is not level.

Starts are given for a floor. On a slope each foot that carries the robot is turned with the plane and set down on it,
its middle above or below where it was; the base keeps its orientation, and the center of mass stands above the middle
of the soles again. What the posture has to give for that, it gives: ankles and knees mostly.
"""

from __future__ import annotations

import numpy as np
import pinocchio
from numpy.typing import NDArray

from poise.constraints import JointRange
from poise.hierarchy import Hierarchy, Level, solve_pose
from poise.plants.errors import PlantError
from poise.plants.ground import Ground
from poise.robots import Foot, State
from poise.tasks import CenterOfMass, Orientation, Pose, Posture

Array = NDArray[np.float64]

#: A sole this near to the plane lies on it (m, and rad for its tilt): less than contacts give way.
LYING = 1e-4


def placed(start: State, ground: Ground) -> State:
    """The start, with its soles on the plane of a ground; the same object if they lie on it already."""
    feet = [part for part in start.contacts if isinstance(part, Foot)]
    if np.abs(ground.plane.rotation[:, 2] - [0.0, 0.0, 1.0]).max() < LYING or not feet:
        return start  # steps and boxes leave the start level
    goals = [_on_plane(start, foot, ground) for foot in feet]
    if all(goal.isApprox(start.pose(foot), LYING) for goal, foot in zip(goals, feet, strict=True)):
        return start
    robot = start.robot
    above = np.mean([goal.act(foot.sole.center) for goal, foot in zip(goals, feet, strict=True)], axis=0)
    base = robot.frame(robot.model.names[1])
    found = solve_pose(
        Hierarchy(
            always=[JointRange(robot)],
            levels=[
                Level("soles", [Pose(foot, goal) for foot, goal in zip(feet, goals, strict=True)]),
                Level("balance", [CenterOfMass(target=above[:2], axes="xy")]),
                Level("base", [Orientation(base, start.pose(base))]),
                Level("posture", [Posture(start)]),
            ],
        ),
        start,
    )
    if {"soles", "balance"} & set(found.unmet):
        raise PlantError(f"{robot.name} cannot stand on {ground}; give a start whose soles lie on it", "ground")
    return State(robot, found.state.q, start.v, start.time, start.contacts)


def _on_plane(start: State, foot: Foot, ground: Ground) -> pinocchio.SE3:
    """world_from_foot with the sole on the plane."""
    pose = start.pose(foot)
    normal = ground.plane.rotation[:, 2]
    turn = pinocchio.Quaternion.FromTwoVectors(pose.rotation[:, 2], normal).matrix()
    rotation = turn @ pose.rotation
    middle = pose.act(foot.sole.center)
    middle[2] = ground.elevation(middle[0], middle[1])
    return pinocchio.SE3(rotation, middle - rotation @ foot.sole.center)
