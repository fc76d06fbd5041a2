"""Foot-guided mode: goals for each command, and notes about deviations from it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from guidance_checks import ROBOTS, guide_point, limits_of, start_of

from poise.plans import Footstep

each_robot = pytest.mark.parametrize("name", ROBOTS)


@each_robot
def test_a_guided_foot_steps_in_the_heading_of_the_stance_foot(name: str) -> None:
    workspace, _ = limits_of(name)
    points = start_of(name)
    turned = {side: replace(foot, yaw=0.5) for side, foot in points.feet.items()}
    right = turned["right"]
    turned["left"] = turned["left"].with_place(right.place + 1j * workspace.width * right.heading)
    goal = guide_point(points.replace(feet=turned, attitude=np.array([0.0, 0.0, 0.5])), name, "left foot", 0.5)
    moved = (goal.points.feet["left"].place - turned["left"].place) * right.heading.conjugate()
    assert goal.step == "left"
    assert goal.points.lifted is None
    assert moved == pytest.approx(0.5 * workspace.foot_displacement[0], abs=1e-9)
    assert workspace.lift[0] < goal.lift < workspace.lift[1]


@each_robot
def test_a_foot_is_lifted_moved_in_the_air_and_landed(name: str) -> None:
    workspace, _ = limits_of(name)
    start = start_of(name)
    up = guide_point(start, name, "left foot", 0, 0, 1).points
    assert up.lifted == "left"
    assert up.feet["left"].z == pytest.approx(workspace.foot_displacement[2], abs=1e-6)
    assert up.center[:2] == pytest.approx(up.feet["right"].position_xy)
    ahead = guide_point(up, name, "left foot", 0.5).points
    assert ahead.lifted == "left"
    assert ahead.feet["left"].x - up.feet["left"].x == pytest.approx(0.5 * workspace.foot_displacement[0])
    still = guide_point(ahead, name, "left foot")
    assert still.step is None
    assert still.points.lifted == "left"
    down = guide_point(ahead, name, "left foot", 0, 0, -1).points
    assert down.lifted is None
    assert down.feet["left"].z == pytest.approx(0.0, abs=1e-9)
    assert down.feet["left"].place == pytest.approx(ahead.feet["left"].place)
    assert down.center[:2] == pytest.approx(sum(foot.position_xy for foot in down.feet.values()) / 2.0)


@each_robot
def test_the_stance_foot_is_guided_only_after_the_other_has_landed(name: str) -> None:
    up = guide_point(start_of(name), name, "left foot", 0, 0, 1).points
    goal = guide_point(up, name, "right foot", 1)
    assert goal.step == "left"
    assert goal.points.lifted is None
    assert any("the left foot lands first" in note for note in goal.notes)
    assert guide_point(goal.points, name, "right foot", 0.3).step == "right"


@each_robot
def test_a_still_stick_on_grounded_feet_is_no_step(name: str) -> None:
    goal = guide_point(start_of(name), name, "right foot")
    assert goal.step is None
    assert goal.notes == ()
    assert goal.points.center[:2] == pytest.approx(sum(foot.position_xy for foot in goal.points.feet.values()) / 2.0)


@each_robot
def test_a_foot_beyond_its_boundary_is_projected_or_discarded(name: str) -> None:
    points = start_of(name)
    for _ in range(9):
        points = guide_point(points, name, "left foot", 1).points
    goal = guide_point(points, name, "left foot", 1)
    assert goal.projected
    assert "beyond its boundary, projected" in goal.notes[0]
    goal = guide_point(points, name, "left foot", 1, discard=True)
    assert goal.points is points
    assert "discarded" in goal.notes[0]


@each_robot
def test_the_trunk_turns_to_the_middle_of_the_feet(name: str) -> None:
    goal = guide_point(start_of(name), name, "left foot", 0, 0.3, 0, 0, 0, 1).points
    assert goal.attitude[2] == pytest.approx(0.5 * goal.feet["left"].yaw)
    assert goal.feet["left"].yaw == pytest.approx(limits_of(name)[0].foot_turn)


@each_robot
def test_known_ground_moves_a_step_and_gives_its_height(name: str) -> None:
    workspace, _ = limits_of(name)
    rise, forward = 0.1 * workspace.leg, 0.5 * workspace.foot_displacement[0]

    def ground(step: Footstep) -> Footstep:
        return (
            step.with_place(step.place + 0.002, rise)
            if step.x > start.feet["left"].x + 0.001
            else step.with_place(step.place, 0.0)
        )

    start = start_of(name)
    goal = guide_point(start, name, "left foot", 0.5, ground=ground)
    assert goal.points.feet["left"].x - start.feet["left"].x == pytest.approx(forward + 0.002)
    assert goal.points.feet["left"].z == pytest.approx(rise)
    assert goal.points.center[2] - start.center[2] == pytest.approx(0.5 * rise, abs=0.05 * workspace.leg)
    lifted = guide_point(start, name, "left foot", 0.5, 0, 0.1, ground=ground)
    assert lifted.points.feet["left"].z > rise
