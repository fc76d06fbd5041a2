"""The scenario of [Sugihara2008], section V: down the stairs, across the room, and the left hand to the door."""

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

#: It may take so long (s): more than twice what the slowest of the library robots took.
TIME_LIMIT = 120.0
#: The hand is at the door within this (m); feet are on the floor within it.
DOOR_TOLERANCE = 0.01
#: The trunk is led to where the arm does not reach yet, by this share of the leg: then the hand pulls the body, and
#: the robot decides on a step.
APPROACH_SHORTFALL = 0.5


@dataclass(frozen=True, eq=False)
class Scenario:
    """A robot, the world for it, and the way through that.

    >>> scenario = Scenario.of(robot)
    >>> plant = poise.MujocoPlant(robot, ground=scenario.stage, objects=scenario.stage.objects)
    >>> navigate = Navigate(robot, scenario.operator(plant), ground=scenario.stage.under)
    """

    robot: Robot
    workspace: Workspace
    stage: StairsAndDoor

    @classmethod
    def of(cls, robot: Robot) -> Scenario:
        if not any(hand.side == "left" for hand in robot.hands):
            raise UsageError(f"the scenario ends with the left hand at a door, and {robot.name} has no such hand")
        workspace = Workspace.of(robot)
        stage = StairsAndDoor.of(robot, workspace)
        if 2.0 * (stage.sole_half_size[0] + stage.edge_clearance) > workspace.longest_step:
            raise UsageError(
                f"{robot.name} steps {100 * workspace.longest_step:.0f} cm at most and its soles are "
                f"{200 * stage.sole_half_size[0]:.0f} cm long:"
                " it cannot step from tread to tread; choose another robot, e.g. mighty or g1"
            )
        return cls(robot, workspace, stage)

    @property
    def goals(self) -> tuple[GuidanceGoal, ...]:
        """What is done, in order: the left foot leads on the stairs, down to the near end of each tread; the right one
        follows to the far end of the same tread, from where the next is within a step."""
        stage, feet = self.stage, standing_points(self.robot).feet
        back = stage.sole_half_size[0] + stage.edge_clearance
        left, right = feet["left"].y, feet["right"].y
        far = [edge - back for edge in stage.edges[1:]]
        far.append(stage.edges[-1] + back + (stage.run - 2.0 * back))
        found: list[GuidanceGoal] = [FootGoal("right", stage.first_edge - back, right)]
        for edge, end in zip(stage.edges, far, strict=True):
            found += [FootGoal("left", edge + back, left), FootGoal("right", end, right)]
        x, y, z = stage.target.tolist()
        return (*found, TrunkGoal(*self.door_approach), HandGoal("left", x, y, z))

    @property
    def door_approach(self) -> tuple[float, float]:
        """Where the trunk is led to (m, from above)."""
        workspace, points = self.workspace, standing_points(self.robot)
        x, y, z = self.stage.target.tolist()
        sx, _, sz = workspace.shoulders["left"]
        shoulder = self.stage.floor + float(points.center[2]) + sz
        reach = math.sqrt(max(workspace.arm_reach**2 - (z - shoulder) ** 2, 0.0))
        aside = float(points.hand_position("left")[1])
        return x - reach - sx - APPROACH_SHORTFALL * workspace.leg, y - aside

    def operator(self, plant: Plant) -> GoalOperator:
        """Who guides a robot through it, with eyes for the real one."""
        hands = self.robot.hands

        def hand_positions() -> dict[Side, Array]:
            state = plant.state()
            return {hand.side: np.array(state.pose(hand).translation) for hand in hands}

        return GoalOperator(self.goals, self.workspace, TIME_LIMIT, hand_positions)

    def assess(self, last: State, done: bool) -> tuple[dict[str, Any], list[str]]:
        """How it ended, in numbers, and what is wrong with that."""
        hand_error = float(np.linalg.norm(last.pose(self.robot.hand("left")).translation - self.stage.target))
        feet = [self._foot_in_room(last, foot.side) for foot in self.robot.feet]
        reasons = []
        if not done:
            reasons.append("the operator did not come to an end of the scenario")
        for foot, there in feet:
            if not there:
                reasons.append(f"{foot.side} foot is not in the room, but at x = {foot.x:.2f} m, z = {foot.z:.3f} m")
        if hand_error > DOOR_TOLERANCE:
            reasons.append(f"left hand is {1e3 * hand_error:.0f} mm from the door")
        return {"done": done, "hand_to_door_m": hand_error, "feet_in_room": sum(there for _, there in feet)}, reasons

    def _foot_in_room(self, state: State, side: Side) -> tuple[Footstep, bool]:
        foot = self.robot.foot(side)
        pose = state.pose(foot)
        x, y, z = pose.act(foot.sole.center).tolist()
        step = Footstep(side, x, y, so3.yaw_of(pose.rotation), z)
        return step, self.stage.is_in_room(step, DOOR_TOLERANCE)
