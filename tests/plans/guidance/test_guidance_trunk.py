"""Trunk-guided mode: the center of mass follows the command, and the feet step when needed."""

from __future__ import annotations

import numpy as np
import pytest
from guidance_checks import ROBOTS, guide_point, limits_of, start_of

from poise.plans import Goal

each_robot = pytest.mark.parametrize("name", ROBOTS)


@each_robot
def test_a_trunk_that_stays_in_the_stand_on_region_needs_no_step(name: str) -> None:
    workspace, _ = limits_of(name)
    points = start_of(name)
    goal = guide_point(points, name, "trunk", 0.3, 0, 0, 0, 0.5, 0.5)
    assert goal.step is None
    assert goal.points.center - points.center == pytest.approx(
        [0.3 * workspace.trunk_displacement[0], 0.0, 0.0], abs=1e-9
    )
    assert goal.points.attitude == pytest.approx([0.0, 0.5 * workspace.trunk_turn[1], 0.5 * workspace.trunk_turn[2]])


@each_robot
def test_a_still_trunk_does_not_move(name: str) -> None:
    points = guide_point(start_of(name), name, "trunk", 0.3, 0.2).points
    goal = guide_point(points, name, "trunk")
    assert goal.step is None
    assert np.array_equal(goal.points.center, points.center)
    away = points.replace(center=points.center + np.array([1.0, 0.0, 0.0]))
    assert guide_point(away, name, "trunk").points.center[:2] == pytest.approx(
        sum(foot.position_xy for foot in points.feet.values()) / 2.0
    )


@each_robot
def test_feet_abreast_take_turns(name: str) -> None:
    points = start_of(name)
    for last, first in (("left", "right"), ("right", "left")):
        goal = Goal(points.replace(last_moved=last))
        while goal.step is None:
            goal = guide_point(goal.points, name, "trunk", 1)
        assert goal.step == first


@each_robot
def test_sideways_the_foot_on_that_side_steps_first(name: str) -> None:
    """The other foot would step into it."""
    for sign, side in ((1.0, "left"), (-1.0, "right")):
        sides, points = [], start_of(name)
        for _ in range(20):
            goal = guide_point(points, name, "trunk", 0, sign)
            sides += [goal.step] if goal.step else []
            points = goal.points
        assert side in sides
        assert len(set(sides)) == 2


@each_robot
def test_on_one_foot_the_trunk_makes_the_lifted_foot_land(name: str) -> None:
    up = guide_point(start_of(name), name, "right foot", 0, 0, 1).points
    goal = guide_point(up, name, "trunk", 1)
    assert goal.step == "right"
    assert goal.points.lifted is None
    assert guide_point(up, name, "trunk", 0, 0, 0, 0, 0.5).points.lifted == "right"  # bending needs no step
    assert guide_point(up, name, "trunk").points.lifted == "right"


@each_robot
def test_hands_go_home_with_the_trunk_and_stay_with_the_feet(name: str) -> None:
    workspace, _ = limits_of(name)
    points = guide_point(start_of(name), name, "left hand", 0.2, 0, 1).points
    moved = points.hands["left"].position
    assert np.linalg.norm(moved - workspace.home_hands["left"].position) > 0.01
    assert np.array_equal(guide_point(points, name, "right foot", 0.5).points.hands["left"].position, moved)
    assert guide_point(points, name, "trunk", 0.1).points.hands["left"] is workspace.home_hands["left"]


@each_robot
def test_a_trunk_that_goes_too_low_is_projected_onto_its_lowest(name: str) -> None:
    workspace, _ = limits_of(name)
    points = start_of(name)
    for _ in range(20):
        goal = guide_point(points, name, "trunk", 0, 0, -1)
        points = goal.points
    assert points.center[2] >= workspace.com_heights[0] - 1e-9
    assert any(note.startswith("trunk height") and note.endswith("projected") for note in goal.notes)


def test_a_body_too_high_for_its_feet_crouches_and_reports_it() -> None:
    points = start_of("nao")
    for _ in range(9):
        goal = guide_point(points, "nao", "left foot", 1)
        points = goal.points
    workspace, legs = limits_of("nao")
    tall = points.replace(center=np.array([*points.center[:2], workspace.com_heights[1]]))
    goal = guide_point(tall, "nao", "left foot")
    assert goal.points.center[2] == pytest.approx(legs.highest_com(goal.points), abs=1e-9)
    assert any(note.startswith("trunk: lowered by") for note in goal.notes)
    assert not goal.projected
