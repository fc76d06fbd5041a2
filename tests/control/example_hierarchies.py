"""Example hierarchies for the tests of controllers."""

from __future__ import annotations

from typing import Any

import numpy as np

from poise import constraints, tasks
from poise.hierarchy import Behavior, Hierarchy, Level
from poise.robots import Robot, State
from poise.solvers import Program
from poise.state import Snapshot


def joint_limits(robot: Robot) -> list[tasks.Task]:
    """Return the constraints on joint ranges, speeds and accelerations."""
    return [constraints.JointRange(robot), constraints.JointSpeed(robot), constraints.JointAcceleration(robot)]


def point_near_hand(state: State, by: np.ndarray | tuple[float, float, float] = (0.0, 0.0, 0.0)) -> np.ndarray:
    """Return a point beside the left hand; `by` is in fractions of the robot's height."""
    robot = state.robot
    return state.pose(robot.hand("left")).translation + robot.height * np.asarray(by)


def reach_hierarchy(
    start: State, by: np.ndarray | tuple[float, float, float] = (0.10, 0.04, 0.15), always: bool = True
) -> Hierarchy:
    """Return a hierarchy with levels for feet, balance, left hand and posture."""
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
    """Behavior that switches from one hierarchy to another at a given time."""

    def __init__(self, first: Hierarchy, then: Hierarchy, at: float) -> None:
        self.first, self.then, self.at = first, then, at

    def __call__(self, snapshot: Snapshot) -> Hierarchy:
        return self.first if snapshot.time < self.at - 1e-9 else self.then


class FailingPosture(tasks.Posture):
    """Posture task that raises an error between two times."""

    def __init__(self, start: State, error: Exception, begin: float, end: float) -> None:
        super().__init__(start)
        self.error, self.begin, self.end = error, begin, end

    def bind_error(self, snapshot: Snapshot, task_rows: Any, layout: Any) -> list[Any]:
        def write() -> None:
            if self.begin <= snapshot.time < self.end:
                raise self.error

        return [write, *super().bind_error(snapshot, task_rows, layout)]


def costs(program: Program, x: np.ndarray) -> np.ndarray:
    """Return the weighted violation of each level, computed from its rows."""
    found = np.zeros(len(program))
    for k, group in enumerate(program.levels):
        for rows in group:
            value = rows.A @ x
            found[k] += rows.weight @ (value - np.clip(value, rows.lower, rows.upper)) ** 2
    return found
