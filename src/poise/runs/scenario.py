"""The scenario of [Sugihara2008], section V: walk down stairs, cross a room, and put the left hand to a door."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from poise.arrays import Array
from poise.devices import FootGoal, GoalOperator, GuidanceGoal, HandGoal, TrunkGoal
from poise.errors import UsageError
from poise.geometry import so3
from poise.plans import Footstep, Workspace, standing_points
from poise.plants import Plant, StairsAndDoor
from poise.robots import Robot, Side, State

#: Time limit (s): more than twice the time of the slowest library robot.
TIME_LIMIT = 120.0
#: Tolerance of the hand at the door and of the feet on the floor (m).
DOOR_TOLERANCE = 0.01
#: Distance by which the arm does not yet reach the door after the approach, as a fraction of the leg length: the hand
#: then pulls the body forward, and the robot decides to step.
APPROACH_SHORTFALL = 0.5


@dataclass(frozen=True, eq=False)
class Scenario:
    """Stairs, room and door scaled to a robot, and the goals on the way through them.

    Attributes:
        robot: robot to guide.
        workspace: reach of its feet and hands.
        stage: stairs, floor and door.

    >>> scenario = Scenario.of(robot)
    >>> plant = poise.MujocoPlant(robot, ground=scenario.stage, objects=scenario.stage.objects)
    >>> navigate = behaviors.Navigate(robot, scenario.operator(plant), ground=scenario.stage.under)
    """

    robot: Robot
    workspace: Workspace
    stage: StairsAndDoor

    @classmethod
    def of(cls, robot: Robot) -> Scenario:
        """Scale the scenario to a robot; `UsageError` if it has no left hand or cannot take the stairs."""
        if not any(hand.side == "left" for hand in robot.hands):
            raise UsageError(
                f"{robot.name} has no left hand, which the scenario needs at the door; choose another robot"
            )
        workspace = Workspace.of(robot)
        stage = StairsAndDoor.of(robot, workspace)
        if 2.0 * (stage.sole_half_size[0] + stage.edge_clearance) > workspace.longest_step:
            raise UsageError(
                f"{robot.name} cannot step from tread to tread: its longest step is "
                f"{100 * workspace.longest_step:.0f} cm and its soles are {200 * stage.sole_half_size[0]:.0f} cm long;"
                " choose another robot, e.g. mighty or g1"
            )
        return cls(robot, workspace, stage)

    @property
    def goals(self) -> tuple[GuidanceGoal, ...]:
        """Goals of the operator, in order.

        On the stairs, the left foot leads down to the near end of each tread. The right foot follows to the far end of
        the same tread, from where the next tread is within one step.
        """
        stage, feet = self.stage, standing_points(self.robot).feet
        back = stage.sole_half_size[0] + stage.edge_clearance
        left, right = feet["left"].y, feet["right"].y
        far = [edge - back for edge in stage.edges[1:]]
        far.append(stage.edges[-1] + back + (stage.run - 2.0 * back))
        goals: list[GuidanceGoal] = [FootGoal("right", stage.first_edge - back, right)]
        for edge, end in zip(stage.edges, far, strict=True):
            goals += [FootGoal("left", edge + back, left), FootGoal("right", end, right)]
        x, y, z = stage.target.tolist()
        return (*goals, TrunkGoal(*self.door_approach), HandGoal("left", x, y, z))

    @property
    def door_approach(self) -> tuple[float, float]:
        """Horizontal position of the trunk in front of the door (m)."""
        workspace, points = self.workspace, standing_points(self.robot)
        x, y, z = self.stage.target.tolist()
        sx, _, sz = workspace.shoulders["left"]
        shoulder = self.stage.floor + float(points.center[2]) + sz
        reach = math.sqrt(max(workspace.arm_reach**2 - (z - shoulder) ** 2, 0.0))
        aside = float(points.hand_position("left")[1])
        return x - reach - sx - APPROACH_SHORTFALL * workspace.leg, y - aside

    def operator(self, plant: Plant) -> GoalOperator:
        """Return an operator that guides the robot through the goals and sees the hands of the plant."""
        hands = self.robot.hands

        def hand_positions() -> dict[Side, Array]:
            state = plant.state()
            return {hand.side: np.array(state.pose(hand).translation) for hand in hands}

        return GoalOperator(self.goals, self.workspace, TIME_LIMIT, hand_positions)

    def assess(self, last: State, completed: bool) -> tuple[dict[str, Any], list[str]]:
        """Evaluate the end of a run.

        Args:
            last: last state of the robot.
            completed: whether the operator finished all goals.

        Returns:
            Measures by name, and the reasons for failure; none if it succeeded.
        """
        hand_error = float(np.linalg.norm(last.pose(self.robot.hand("left")).translation - self.stage.target))
        feet = [self._foot_in_room(last, foot.side) for foot in self.robot.feet]
        reasons = []
        if not completed:
            reasons.append("the operator did not finish the scenario")
        for foot, there in feet:
            if not there:
                reasons.append(f"{foot.side} foot is not in the room, but at x = {foot.x:.2f} m, z = {foot.z:.3f} m")
        if hand_error > DOOR_TOLERANCE:
            reasons.append(f"left hand is {1e3 * hand_error:.0f} mm from the door")
        return {
            "done": completed,
            "hand_to_door_m": hand_error,
            "feet_in_room": sum(there for _, there in feet),
        }, reasons

    def _foot_in_room(self, state: State, side: Side) -> tuple[Footstep, bool]:
        foot = self.robot.foot(side)
        pose = state.pose(foot)
        x, y, z = pose.act(foot.sole.center).tolist()
        step = Footstep(side, x, y, so3.yaw_of(pose.rotation), z)
        return step, self.stage.is_in_room(step, DOOR_TOLERANCE)
