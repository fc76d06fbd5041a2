"""The program of the house, as hierarchies for the tests of controllers."""

from __future__ import annotations

from typing import Any

import numpy as np

from poise import constraints, tasks
from poise.hierarchy import Behavior, Hierarchy, Level
from poise.robots import Robot, State
from poise.solvers import Program
from poise.state import Snapshot


def joint_limits(robot: Robot) -> list[tasks.Task]:
    """All that a joint must keep."""
    return [constraints.JointRange(robot), constraints.JointSpeed(robot), constraints.JointAcceleration(robot)]


def point_near_hand(state: State, by: np.ndarray | tuple[float, float, float] = (0.0, 0.0, 0.0)) -> np.ndarray:
    """A point beside the left hand; `by` is in fractions of the robot's height."""
    robot = state.robot
    return state.pose(robot.hand("left")).translation + robot.height * np.asarray(by)


def reach_hierarchy(
    start: State, by: np.ndarray | tuple[float, float, float] = (0.10, 0.04, 0.15), always: bool = True
) -> Hierarchy:
    """Feet, balance, the left hand to a point, posture."""
    robot = start.robot
    return Hierarchy(
        always=joint_limits(robot) if always else [],
        levels=[
            Level("feet", [tasks.HoldPose(foot, at=start) for foot in robot.feet]),
            Level("balance", [tasks.CenterOfMass(start.support_center, axes="xy")]),
            Level("reach", [tasks.Position(robot.hand("left"), point_near_hand(start, by))]),
            Level("posture", [tasks.Posture(start)]),
        ],
    )


class SwitchBehavior(Behavior):
    """A behavior that is one hierarchy until a time, then another."""

    def __init__(self, first: Hierarchy, then: Hierarchy, at: float) -> None:
        self.first, self.then, self.at = first, then, at

    def __call__(self, snapshot: Snapshot) -> Hierarchy:
        return self.first if snapshot.time < self.at - 1e-9 else self.then


class FailingPosture(tasks.Posture):
    """A posture that fails between two times."""

    def __init__(self, start: State, error: Exception, begin: float, end: float) -> None:
        super().__init__(start)
        self.error, self.begin, self.end = error, begin, end

    def bind_error(self, snapshot: Snapshot, task_rows: Any, layout: Any) -> list[Any]:
        def write() -> None:
            if self.begin <= snapshot.time < self.end:
                raise self.error

        return [write, *super().bind_error(snapshot, task_rows, layout)]


def costs(program: Program, x: np.ndarray) -> np.ndarray:
    """Weighted violation of each level, from its rows as a reader sees them."""
    found = np.zeros(len(program))
    for k, group in enumerate(program.levels):
        for rows in group:
            value = rows.A @ x
            found[k] += rows.weight @ (value - np.clip(value, rows.lower, rows.upper)) ** 2
    return found
