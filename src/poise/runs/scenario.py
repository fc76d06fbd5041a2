"""The scenario of [Sugihara2008], section V: down the stairs, across the room, and the left hand to the door."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from poise.arrays import Array
from poise.devices import Errand, FootTo, HandTo, Pilot, TrunkTo
from poise.errors import UsageError
from poise.geometry import so3
from poise.plans import Footstep, Workspace, standing
from poise.plants import Plant, Stage
from poise.robots import Robot, Side, State

#: It may take so long (s): more than twice what the slowest of the library robots took.
LONGEST = 120.0
#: The hand is at the door within this (m); feet are on the floor within it.
AT = 0.01
#: The trunk is led to where the arm does not reach yet, by this share of the leg: then the hand pulls the body, and
#: the robot decides on a step.
SHORT = 0.5


@dataclass(frozen=True, eq=False)
class Scenario:
    """A robot, the world for it, and the way through that.

    >>> scenario = Scenario.of(robot)
    >>> plant = poise.MujocoPlant(robot, ground=scenario.stage, things=scenario.stage.things)
    >>> navigate = Navigate(robot, scenario.pilot(plant), ground=scenario.stage.under)
    """

    robot: Robot
    workspace: Workspace
    stage: Stage

    @classmethod
    def of(cls, robot: Robot) -> Scenario:
        if not any(hand.side == "left" for hand in robot.hands):
            raise UsageError(f"the scenario ends with the left hand at a door, and {robot.name} has no such hand")
        workspace = Workspace.of(robot)
        stage = Stage.of(robot, workspace)
        if 2.0 * (stage.half[0] + stage.clear) > workspace.step:
            raise UsageError(
                f"{robot.name} steps {100 * workspace.step:.0f} cm at most and its soles are "
                f"{200 * stage.half[0]:.0f} cm long:"
                " it cannot step from tread to tread; choose another robot, e.g. mighty or g1"
            )
        return cls(robot, workspace, stage)

    @property
    def errands(self) -> tuple[Errand, ...]:
        """What is done, in order: the left foot leads on the stairs, down to the near end of each tread; the right one
        follows to the far end of the same tread, from where the next is within a step."""
        stage, feet = self.stage, standing(self.robot).feet
        back = stage.half[0] + stage.clear
        left, right = feet["left"].y, feet["right"].y
        far = [edge - back for edge in stage.edges[1:]]
        far.append(stage.edges[-1] + back + (stage.run - 2.0 * back))
        found: list[Errand] = [FootTo("right", stage.begin - back, right)]
        for edge, end in zip(stage.edges, far, strict=True):
            found += [FootTo("left", edge + back, left), FootTo("right", end, right)]
        x, y, z = stage.target.tolist()
        return (*found, TrunkTo(*self.before_the_door), HandTo("left", x, y, z))

    @property
    def before_the_door(self) -> tuple[float, float]:
        """Where the trunk is led to (m, from above)."""
        workspace, points = self.workspace, standing(self.robot)
        x, y, z = self.stage.target.tolist()
        sx, _, sz = workspace.shoulders["left"]
        shoulder = self.stage.floor + float(points.center[2]) + sz
        reach = math.sqrt(max(workspace.arm**2 - (z - shoulder) ** 2, 0.0))
        aside = float(points.hand("left")[1])
        return x - reach - sx - SHORT * workspace.leg, y - aside

    def pilot(self, plant: Plant) -> Pilot:
        """Who guides a robot through it, with eyes for the real one."""
        hands = self.robot.hands

        def eyes() -> dict[Side, Array]:
            state = plant.state()
            return {hand.side: np.array(state.pose(hand).translation) for hand in hands}

        return Pilot(self.errands, self.workspace, LONGEST, eyes)

    def judged(self, last: State, done: bool) -> tuple[dict[str, Any], list[str]]:
        """How it ended, in numbers, and what is wrong with that."""
        off = float(np.linalg.norm(last.pose(self.robot.hand("left")).translation - self.stage.target))
        feet = [self._stands(last, foot.side) for foot in self.robot.feet]
        wrong = []
        if not done:
            wrong.append("the operator did not come to an end of the scenario")
        for foot, there in feet:
            if not there:
                wrong.append(f"{foot.side} foot is not in the room, but at x = {foot.x:.2f} m, z = {foot.z:.3f} m")
        if off > AT:
            wrong.append(f"left hand is {1e3 * off:.0f} mm from the door")
        return {"done": done, "hand_to_door_m": off, "feet_in_room": sum(there for _, there in feet)}, wrong

    def _stands(self, state: State, side: Side) -> tuple[Footstep, bool]:
        foot = self.robot.foot(side)
        pose = state.pose(foot)
        x, y, z = pose.act(foot.sole.center).tolist()
        step = Footstep(side, x, y, so3.yaw_of(pose.rotation), z)
        return step, self.stage.in_the_room(step, AT)
