"""GoalOperator: it guides feet, trunk and hands to their goals by observing the robot."""

from __future__ import annotations

import numpy as np
import pytest

from poise.devices import FootGoal, GoalOperator, HandGoal, TrunkGoal
from poise.plans import LegReach, NavigationPoints, OperatorCommand, Workspace, guided_goal, standing_points
from robot_states import installed_robot


def reach_goals(operator: GoalOperator, most: int = 60) -> tuple[NavigationPoints, list[OperatorCommand]]:
    """Final points of a robot that reaches each goal exactly, and the commands."""
    robot = installed_robot("mighty")
    legs = LegReach.of(robot)
    points, sticks = standing_points(robot), []
    for k in range(most):
        operator.observe(points)
        sticks.append(operator.read(0.5 * k))
        if operator.finished:
            break
        points = guided_goal(points, sticks[-1], operator.workspace, legs).points
    return points, sticks


@pytest.fixture(scope="module")
def workspace() -> Workspace:
    return Workspace.of(installed_robot("mighty"))


def test_a_foot_is_lifted_moved_and_put_down(workspace: Workspace) -> None:
    points, sticks = reach_goals(GoalOperator([FootGoal("left", 0.08, 0.05)], workspace))
    assert points.feet["left"].place == pytest.approx(0.08 + 0.05j, abs=0.004)
    assert points.lifted is None
    ups = [stick.axes[2] for stick in sticks]
    assert (ups[0], ups[-3]) == (1.0, -1.0)
    assert {stick.mode for stick in sticks} == {"left foot"}


def test_a_trunk_goal_moves_and_turns_the_trunk(workspace: Workspace) -> None:
    points, _ = reach_goals(GoalOperator([TrunkGoal(0.3, 0.1, 0.2)], workspace))
    middle = 0.5 * (points.feet["left"].place + points.feet["right"].place)
    assert middle == pytest.approx(0.3 + 0.1j, abs=0.12 * workspace.leg)
    assert points.attitude[2] == pytest.approx(0.2, abs=0.06)


def test_a_hand_goal_beyond_the_arm_moves_the_body(workspace: Workspace) -> None:
    goal = (0.35, 0.16, 0.3)
    points, sticks = reach_goals(GoalOperator([HandGoal("left", *goal)], workspace))
    assert points.hand_position("left") == pytest.approx(goal, abs=0.004)
    assert points.center[0] > 0.1
    assert {stick.mode for stick in sticks} == {"left hand"}


def test_an_operator_with_hand_feedback_compensates_the_lag_of_the_hand(workspace: Workspace) -> None:
    """The hand is 1 cm below its commanded position: the command is 1 cm above the goal."""
    goal, robot = np.array([0.12, 0.16, 0.3]), installed_robot("mighty")
    observations: list[NavigationPoints] = []
    lag = np.array([0.0, 0.0, 0.01])
    operator = GoalOperator(
        [HandGoal("left", *goal)],
        workspace,
        hand_positions=lambda: {"left": observations[-1].hand_position("left") - lag},
    )
    legs, points = LegReach.of(robot), standing_points(robot)
    for k in range(30):
        observations.append(points)
        operator.observe(points)
        stick = operator.read(0.5 * k)
        points = guided_goal(points, stick, workspace, legs).points
    assert operator.finished
    assert points.hand_position("left") == pytest.approx(goal + lag, abs=0.004)


def test_goals_are_executed_in_order_and_then_the_stick_is_centered(workspace: Workspace) -> None:
    operator = GoalOperator([TrunkGoal(0.1, 0.0), HandGoal("right", 0.25, -0.15, 0.28)], workspace)
    _, sticks = reach_goals(operator)
    modes = list(dict.fromkeys(stick.mode for stick in sticks))
    assert (modes, operator.finished, operator.current) == (["trunk", "right hand"], True, 2)
    assert sticks[-1] == sticks[-2] == OperatorCommand("right hand")


def test_an_operator_without_an_observation_gives_a_zero_command(workspace: Workspace) -> None:
    assert GoalOperator([TrunkGoal(1.0, 0.0)], workspace).read(0.0).is_zero


def test_without_goals_the_stick_stays_centered(workspace: Workspace) -> None:
    operator = GoalOperator([], workspace)
    _, sticks = reach_goals(operator)
    assert operator.finished
    assert all(stick.is_zero for stick in sticks)
