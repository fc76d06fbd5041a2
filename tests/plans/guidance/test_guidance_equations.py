"""Equations of the guiding modes: both sides, evaluated with vectors as in [Sugihara2008]."""

from __future__ import annotations

import numpy as np
import pytest
from guidance_checks import limits_of, start_of
from hypothesis import given
from hypothesis import strategies as st

from poise.plans import OperatorCommand, guided_goal
from poise.plans.guidance.guiding_modes import (
    distance_from_shoulder,
    goal_center_of_one_foot_standing,
    goal_center_of_one_step,
    goal_center_of_traction,
    goal_shoulder,
)
from poise.plans.guidance.synergy import goal_foot_of_a_step

#: Points towards the ground.
GRAVITY = np.array([0.0, 0.0, -1.0])

vectors = st.tuples(*[st.floats(-2.0, 2.0)] * 3)


@given(center=vectors, stance=vectors)
def test_equation_3_of_one_foot_standing(center, stance) -> None:  # type: ignore[no-untyped-def]
    p_B, p_RF = np.array(center), np.array(stance)
    expected = p_RF + ((p_B - p_RF) @ GRAVITY) * GRAVITY
    assert goal_center_of_one_foot_standing(center, stance) == pytest.approx(expected, abs=1e-12)


@given(center=vectors, foot=vectors, stance=vectors)
def test_equation_3_of_one_step(center, foot, stance) -> None:  # type: ignore[no-untyped-def]
    p_B, p_LF, p_RF = np.array(center), np.array(foot), np.array(stance)
    expected = (p_LF + p_RF) / 2.0 + ((p_B - p_RF) @ GRAVITY) * GRAVITY
    assert goal_center_of_one_step(center, foot, stance) == pytest.approx(expected, abs=1e-12)


@given(goal=vectors, center=vectors, stance=vectors)
def test_equation_4_of_the_stepping_foot(goal, center, stance) -> None:  # type: ignore[no-untyped-def]
    dp_B, p_B, p_RF = np.array(goal), np.array(center), np.array(stance)
    expected = 2.0 * (dp_B - ((p_B - p_RF) @ GRAVITY) * GRAVITY) - p_RF
    found = goal_foot_of_a_step(goal, center, stance)
    assert found == pytest.approx(expected, abs=1e-12)
    assert (np.array(found) + p_RF)[:2] / 2.0 == pytest.approx(dp_B[:2], abs=1e-12)  # the middle is below the goal


@given(hand=vectors, shoulder=vectors, center=vectors, longest=st.floats(0.05, 2.0))
def test_equations_5_to_7_of_the_traction(hand, shoulder, center, longest) -> None:  # type: ignore[no-untyped-def]
    dp_LH, p_LS, p_B = np.array(hand), np.array(shoulder), np.array(center)
    distance = np.linalg.norm(dp_LH - p_LS)
    assert distance_from_shoulder(hand, shoulder) == pytest.approx(distance, abs=1e-12)
    dp_LS = p_LS if distance <= longest else p_LS + (distance - longest) / distance * (dp_LH - p_LS)
    found = goal_shoulder(hand, shoulder, longest)
    assert found == pytest.approx(dp_LS, abs=1e-12)
    assert np.linalg.norm(dp_LH - found) == pytest.approx(min(distance, longest), abs=1e-9)
    assert goal_center_of_traction(center, found, shoulder) == pytest.approx(p_B + (dp_LS - p_LS), abs=1e-12)


def test_a_goal_of_the_foot_guided_mode_satisfies_equation_3() -> None:
    points, (workspace, legs) = start_of("talos"), limits_of("talos")
    stepped = guided_goal(points, OperatorCommand("left foot", (0.5, 0.1, 0, 0, 0, 0)), workspace, legs).points
    left, right = (stepped.feet[side].position for side in ("left", "right"))
    expected = (left + right) / 2.0 + ((points.center - right) @ GRAVITY) * GRAVITY
    assert stepped.center == pytest.approx(expected, abs=1e-9)
    lifted = guided_goal(points, OperatorCommand("left foot", (0, 0, 1, 0, 0, 0)), workspace, legs).points
    assert lifted.lifted == "left"
    assert lifted.center == pytest.approx(right + ((points.center - right) @ GRAVITY) * GRAVITY, abs=1e-9)


def test_a_step_of_the_trunk_guided_mode_satisfies_equation_4() -> None:
    points, (workspace, legs) = start_of("g1"), limits_of("g1")
    goal = guided_goal(points, OperatorCommand("trunk", (1, 0, 0, 0, 0, 0)), workspace, legs)
    assert goal.step is not None
    assert not goal.projected
    stance = points.feet["right" if goal.step == "left" else "left"]
    target = points.center[:2] + np.array([workspace.trunk_displacement[0], 0.0])
    assert goal.points.feet[goal.step].position_xy == pytest.approx(2.0 * target - stance.position_xy, abs=1e-9)
    assert goal.points.center[:2] == pytest.approx(target, abs=1e-9)


def test_a_hand_pulls_the_body_by_equations_5_to_7() -> None:
    points, (workspace, legs) = start_of("talos"), limits_of("talos")
    hand = points.hand_position("left") + np.array([0.4 * workspace.hand_displacement, 0.0, 0.0])
    shoulder = points.center + workspace.shoulders["left"]
    assert np.linalg.norm(hand - shoulder) > workspace.arm_reach
    goal = guided_goal(points, OperatorCommand("left hand", (0.4, 0, 0, 0, 0, 0)), workspace, legs)
    excess = 1.0 - workspace.arm_reach / np.linalg.norm(hand - shoulder)
    assert goal.step is None
    assert goal.points.center - points.center == pytest.approx(excess * (hand - shoulder), abs=1e-9)
    assert goal.points.hand_position("left") == pytest.approx(hand, abs=1e-9)
