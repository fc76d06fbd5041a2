"""Hand-guided mode, and hands in all modes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from guidance_checks import ROBOTS, guide_point, limits_of, start_of

from poise.plans import GUIDING_MODES, OperatorCommand, Workspace, guided_goal
from poise.plans.guidance.guiding_modes import GUIDES

each_robot = pytest.mark.parametrize("name", ROBOTS)


def test_every_mode_has_its_map() -> None:
    assert set(GUIDES) == set(GUIDING_MODES)


@each_robot
def test_a_hand_within_reach_moves_alone(name: str) -> None:
    workspace, _ = limits_of(name)
    points = guide_point(start_of(name), name, "left hand", 0, 0, 1).points
    goal = guide_point(points, name, "left hand", 0.1, 0, 0.5)
    assert goal.step is None
    assert goal.points.center == pytest.approx(points.center, abs=1e-9)
    moved = goal.points.hand_position("left") - points.hand_position("left")
    assert moved == pytest.approx([0.1 * workspace.hand_displacement, 0.0, 0.5 * workspace.hand_displacement], abs=1e-9)
    assert np.array_equal(goal.points.hands["right"].position, points.hands["right"].position)


def test_the_attitude_of_a_hand_is_guided_or_reported_as_ignored() -> None:
    workspace, _ = limits_of("g1")
    points = start_of("g1")
    for _ in range(9):
        goal = guide_point(points, "g1", "right hand", 0, 0, 0, 0, 0, 1)
        points = goal.points
    assert points.hands["right"].attitude == pytest.approx([0.0, 0.0, workspace.hand_attitude])
    assert goal.projected
    goal = guide_point(start_of("mighty"), "mighty", "right hand", 0, 0, 0, 0, 0, 1)
    assert not goal.points.hands["right"].attitude.any()
    assert "too few joints" in goal.notes[0]


def test_a_robot_without_hands_reports_it_and_does_not_move() -> None:
    workspace, legs = limits_of("g1")
    points = start_of("g1").replace(hands={})
    handless: Workspace = replace(workspace, home_hands={}, shoulders={}, hand_box={}, arm_reach=0.0)
    goal = guided_goal(points, OperatorCommand("left hand", (1.0,) * 6), handless, legs)
    assert goal.points is points
    assert goal.notes == ("left hand: the robot has none; nothing moves",)
    for mode in GUIDING_MODES:
        assert not guided_goal(
            points, OperatorCommand(mode, (1.0, 0.0, 0.0, 0.0, 0.0, 0.0)), handless, legs
        ).points.hands
