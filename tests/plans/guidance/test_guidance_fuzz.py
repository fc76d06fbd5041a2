"""Random commands: every goal is a feasible stance, and no command leaves the robot stuck."""

from __future__ import annotations

import math

import numpy as np
import pytest
from guidance_checks import ROBOTS, faults, limits_of, random_goals, start_of

from poise.plans import GUIDING_MODES, Footstep, GuidingMode, NavigationPoints, OperatorCommand, Stairway, guided_goal
from poise.plans.footsteps import TREAD_CLEARANCE

each_robot = pytest.mark.parametrize("name", ROBOTS)
each_count = pytest.mark.parametrize("count", [1000, pytest.param(2000, marks=pytest.mark.slow)])


@each_robot
@each_count
@pytest.mark.parametrize("discard", [False, True])
def test_every_goal_of_random_commands_is_a_feasible_stance(name: str, discard: bool, count: int) -> None:
    workspace, legs = limits_of(name)
    for index, (points, stick, goal) in enumerate(random_goals(name, count, seed=7, discard=discard)):
        assert not faults(goal, workspace, legs), (index, stick, points.lifted, goal.notes)


@each_robot
@each_count
def test_every_goal_on_stairs_is_a_feasible_stance(name: str, count: int) -> None:
    workspace, legs = limits_of(name)
    half = workspace.sole_half.real
    stairs = Stairway(
        0.4 * workspace.leg + half, -0.1 * workspace.leg, 2.5 * half + 2.0 * TREAD_CLEARANCE, 5, half, half
    )
    for index, (points, stick, goal) in enumerate(random_goals(name, count, seed=3, ground=stairs.place_on_tread)):
        assert not faults(goal, workspace, legs), (index, stick, points.lifted, goal.notes)
        for foot in goal.points.stance_feet:
            if abs(math.remainder(foot.yaw, math.tau)) < 1e-9:
                assert foot.z == pytest.approx(stairs.place_on_tread(foot).z, abs=1e-9)


@each_robot
def test_a_foot_that_is_moved_is_the_only_one_that_moves(name: str) -> None:
    for points, _, goal in random_goals(name, 500, seed=1):
        for side, foot in points.feet.items():
            assert goal.step == side or goal.points.feet[side] == foot
        assert goal.points.last_moved == (goal.step or points.last_moved)


@each_robot
def test_guiding_twice_gives_the_same_goal(name: str) -> None:
    workspace, legs = limits_of(name)
    for points, stick, goal in random_goals(name, 200, seed=2):
        again = guided_goal(points, stick, workspace, legs)
        assert np.array_equal(again.points.center, goal.points.center)
        assert again.notes == goal.notes
        assert dict(again.points.feet) == dict(goal.points.feet)


@each_robot
def test_a_stick_that_is_no_number_moves_nothing(name: str) -> None:
    points, (workspace, legs) = start_of(name), limits_of(name)
    for mode in GUIDING_MODES:
        goal = guided_goal(points, OperatorCommand(mode, (math.nan,) * 6, math.nan), workspace, legs)
        assert goal.step is None
        assert not faults(goal, workspace, legs)
        assert goal.points.center[:2] == pytest.approx(points.center[:2], abs=1e-9)


def one_foot_points(name: str) -> NavigationPoints:
    workspace, legs = limits_of(name)
    return guided_goal(start_of(name), OperatorCommand("right foot", (0, 0, 1, 0, 0, 0)), workspace, legs).points


def guide_point(
    points: NavigationPoints, name: str, mode: GuidingMode, axes: tuple[float, ...], count: int = 40
) -> NavigationPoints:
    workspace, legs = limits_of(name)
    for _ in range(count):
        points = guided_goal(points, OperatorCommand(mode, axes), workspace, legs).points  # type: ignore[arg-type]
    return points


@each_robot
@pytest.mark.parametrize("begin", [start_of, one_foot_points])
@pytest.mark.parametrize(("axis", "sign"), [(0, 1.0), (0, -1.0), (1, 1.0), (1, -1.0)])
def test_a_constant_stick_carries_the_trunk_along(name: str, begin, axis: int, sign: float) -> None:  # type: ignore[no-untyped-def]
    """Forward, 40 segments move at least nine tenths of the commanded distance; sideways, where feet limit each other,
    a tenth of a leg in every three segments.
    """
    workspace, _ = limits_of(name)
    start = begin(name)
    axes = tuple(sign if i == axis else 0.0 for i in range(6))
    end = guide_point(start, name, "trunk", axes)
    least = 0.9 * 40 * workspace.trunk_displacement[0] if axis == 0 else 40 / 3 * 0.1 * workspace.leg
    assert sign * (end.center[axis] - start.center[axis]) > least
    feet = sum(foot.position_xy for foot in end.feet.values()) / 2.0
    assert abs(feet[axis] - end.center[axis]) < workspace.longest_step  # type: ignore[index]  # and the feet came along


@each_robot
@pytest.mark.parametrize("begin", [start_of, one_foot_points])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_constant_yaw_stick_turns_trunk_and_feet(name: str, begin, sign: float) -> None:  # type: ignore[no-untyped-def]
    workspace, _ = limits_of(name)
    end = guide_point(begin(name), name, "trunk", (0, 0, 0, 0, 0, sign))
    assert sign * end.attitude[2] > 0.9 * 40 * workspace.trunk_turn[2]
    for foot in end.feet.values():
        assert abs(foot.yaw - end.attitude[2]) < workspace.largest_trunk_yaw + workspace.toes[1]


@each_robot
@pytest.mark.parametrize("axes", [(1, 0), (-1, 0), (0, 1), (0, -1)])
def test_a_hand_carries_the_body_along_in_every_direction(name: str, axes: tuple[float, float]) -> None:
    """By more than a leg in 40 segments, also inwards and backwards, where the box of the hand ends."""
    workspace, _ = limits_of(name)
    start = start_of(name)
    end = guide_point(start, name, "left hand", (*axes, 0, 0, 0, 0))
    along = float(np.dot(axes, (end.center - start.center)[:2]))
    assert along > workspace.leg


@each_robot
def test_with_discarding_a_constant_forward_stick_still_walks(name: str) -> None:
    """Since 2 (r + d) <= L: no step of equation (4) is beyond the boundary."""
    workspace, legs = limits_of(name)
    points = start = start_of(name)
    for _ in range(40):
        points = guided_goal(points, OperatorCommand("trunk", (1, 0, 0, 0, 0, 0)), workspace, legs, discard=True).points
    assert points.center[0] - start.center[0] > 0.9 * 40 * workspace.trunk_displacement[0]


def ground_with_hole(step: Footstep) -> Footstep:
    """Ground that exists only behind x = 0.01: footsteps ahead of it are moved back."""
    return step.with_place(complex(min(step.x, 0.01), step.y), 0.0)


@each_robot
def test_a_lifted_foot_always_finds_a_place_to_land(name: str) -> None:
    workspace, legs = limits_of(name)
    points = one_foot_points(name)
    for axes in ((1, 0, 0, 0, 0, 0), (1, -1, 0, 0, 0, -1), (1, 0, 1, 0, 0, 0)):
        points = guided_goal(points, OperatorCommand("right foot", axes), workspace, legs, ground_with_hole).points
    goal = guided_goal(points, OperatorCommand("right foot", (1, 0, -1, 0, 0, 0)), workspace, legs, ground_with_hole)
    assert goal.points.lifted is None
    assert goal.points.feet["right"].x <= 0.01 + 1e-9
