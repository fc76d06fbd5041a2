"""Standing on one foot, a cup in the hand of the other side."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pinocchio

from poise import constraints, tasks
from poise.errors import PoiseError
from poise.hierarchy import Hierarchy, Level, solve_pose
from poise.robots import Robot, State

#: In fractions of the robot's height: how far the free foot is lifted, and where the hand with the cup is, forward
#: of the supporting foot, beside it and up.
LIFT = 0.08
CUP = (0.20, 0.20, 0.64)
#: Damping of the chest, which Romeo cannot hold upright so: undamped, what cannot be had would shake the whole posture.
CALM = 0.3


def one_foot_stance(robot: Robot, side: Literal["left", "right"] = "right") -> State:
    """The robot on one foot, upright, its centre of mass above the middle of that sole, the other foot lifted.

    The hand of the free side holds a cup in front; the other hand hangs. Raises a PoiseError when the robot cannot
    stand so.
    """
    start = robot.stance("standing")
    free: Literal["left", "right"] = "left" if side == "right" else "right"
    outward = 1.0 if free == "left" else -1.0
    support, swing, hand = robot.foot(side), robot.foot(free), robot.hand(free)
    world_from_support = start.pose(support)
    middle = world_from_support.act(support.sole.center)
    lifted = pinocchio.SE3(start.pose(swing))
    lifted.translation += robot.height * np.array([-0.02, 0.02 * outward, LIFT])
    cup = world_from_support.act(robot.height * np.array([CUP[0], outward * CUP[1], CUP[2]]))
    upright = [tasks.Orientation(robot.chest, start.pose(robot.chest))] if robot.chest else []
    hierarchy = Hierarchy(
        always=[constraints.JointRange(robot, margin=0.02)],
        levels=[
            Level("support", [tasks.HoldPose(support, at=start)]),
            Level("balance", [tasks.CenterOfMass(middle[:2], axes="xy")]),
            Level("free foot", [tasks.Pose(swing, lifted)]),
            Level("chest", upright, damping=CALM),
            Level("cup", [tasks.Position(hand, cup)]),
            Level("posture", [tasks.Posture(start)]),
        ],
    )
    posed = solve_pose(hierarchy, start)
    short = [name for name in posed.unmet if name in ("support", "balance", "free foot")]
    if short:
        raise PoiseError(f"{robot.name} cannot stand on its {side} foot: {', '.join(short)} could not be met")
    return posed.state.replace(contacts=(support,))
