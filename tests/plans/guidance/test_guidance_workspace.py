"""Workspace and LegReach: dimensions derived from a robot agree with its kinematics."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pinocchio
import pytest
from guidance_checks import ROBOTS, limits_of, random_goals, robot_of, separation, start_of

import poise
from poise import constraints, tasks
from poise.errors import RobotError
from poise.hierarchy import PoseSolution, solve_pose
from poise.plans import Footstep, NavigationPoints, Workspace
from poise.state import Snapshot

each_robot = pytest.mark.parametrize("name", ROBOTS)


@each_robot
def test_two_displacements_from_the_edge_of_the_stand_on_region_make_a_step_at_most(name: str) -> None:
    workspace, _ = limits_of(name)
    r, d = workspace.stand_on * workspace.sole_half.real, workspace.trunk_displacement[0]
    assert 0.0 < 2.0 * (r + d) <= workspace.longest_step + 1e-9


@each_robot
def test_standing_is_inside_all_boundaries(name: str) -> None:
    workspace, legs = limits_of(name)
    points = start_of(name)
    assert workspace.widths[0] <= workspace.width <= workspace.widths[1]
    height = points.center[2] - points.feet["left"].z
    assert workspace.com_heights[0] < height <= workspace.com_heights[1]
    assert legs.shortest < legs.longest < legs.hip_to_ankle
    for side, hand in points.hands.items():
        low, high = workspace.hand_box[side]
        assert (hand.position > low).all()
        assert (hand.position < high).all()
        assert math.dist(hand.position, workspace.shoulders[side]) < workspace.arm_reach


@each_robot
@pytest.mark.parametrize("yaw", [-0.35, -0.1, 0.0, 0.1, 0.35])
def test_feet_at_the_narrowest_width_never_overlap(name: str, yaw: float) -> None:
    workspace, _ = limits_of(name)
    points = start_of(name)
    for forward in np.linspace(-workspace.longest_step, workspace.longest_step, 21):
        left = Footstep("left", float(forward), workspace.least_width(yaw), yaw)
        feet = points.replace(feet={"left": left, "right": Footstep("right", 0.0, 0.0)})
        assert separation(feet, workspace.foot_half) >= workspace.gap - 1e-9


def test_numbers_of_a_prototype() -> None:
    """Feet of mighty are 72 mm wide and stay 78 mm apart; those of G1 at most as far as its ankles allow, 0.26 m."""
    assert limits_of("mighty")[0].widths[0] == pytest.approx(0.078, abs=0.002)
    assert limits_of("g1")[0].widths[1] == pytest.approx(0.26, abs=0.015)


def test_the_attitude_of_a_hand_is_guided_only_where_arms_have_six_joints() -> None:
    assert limits_of("mighty")[0].hand_attitude == limits_of("nao")[0].hand_attitude == 0.0
    assert limits_of("g1")[0].hand_attitude > 0.0
    assert limits_of("talos")[0].hand_attitude > 0.0


def test_a_robot_without_two_feet_is_refused_in_one_line() -> None:
    robot = replace(robot_of("g1"), feet=robot_of("g1").feet[:1])
    with pytest.raises(RobotError, match="1 feet; guidance needs two"):
        Workspace.of(robot)


@each_robot
def test_slack_is_the_extension_margin_of_the_longest_leg(name: str) -> None:
    """At the highest center of mass, the leg that reaches less far has exactly the reserve left."""
    _, legs = limits_of(name)
    points = start_of(name)
    points = points.replace(
        feet={**points.feet, "left": points.feet["left"].with_place(points.feet["left"].place + 0.05)}
    )
    points = points.replace(center=np.array([*points.center[:2], legs.highest_com(points)]))
    least = min(
        float(legs.extension_margin(points.center[None], points.attitude[2:], foot.position[None], side)[0])
        for side, foot in points.feet.items()
    )
    assert least == pytest.approx(0.02 * legs.hip_to_ankle, abs=1e-9)


@each_robot
def test_slack_and_roll_of_many_are_those_of_each(name: str) -> None:
    _, legs = limits_of(name)
    random = np.random.default_rng(0)
    center, soles = random.normal(size=(5, 3)) + np.array([0.0, 0.0, 2.0]), random.normal(size=(5, 3))
    yaw, heading = random.normal(size=5), random.normal(size=5)
    for measure in (legs.extension_margin, legs.leg_roll, legs.leg_pitch):
        many = measure(center, yaw, soles, "left", heading)
        each = [
            measure(center[i : i + 1], yaw[i : i + 1], soles[i : i + 1], "left", heading[i : i + 1])[0]
            for i in range(5)
        ]
        assert many == pytest.approx(each)


def solve_points(name: str, points: NavigationPoints) -> PoseSolution:
    """The posture of navigation points: feet < center of mass < hands < trunk < posture."""
    robot = robot_of(name)
    start = robot.stance("standing")
    middle = sum(foot.position for foot in points.feet.values()) / 2.0
    turn = pinocchio.SE3(pinocchio.rpy.rpyToMatrix(0.0, 0.0, points.attitude[2]), np.array([*middle[:2], 0.0]))  # type: ignore[index]
    q = start.q.copy()
    q[:7] = pinocchio.SE3ToXYZQUAT(turn * pinocchio.XYZQUATToSE3(q[:7]))
    feet = []
    for side, step in points.feet.items():
        foot = robot.foot(side)
        feet.append(tasks.Pose(foot, pinocchio.SE3(step.rotation, step.position - step.rotation @ foot.sole.center)))
    assert robot.chest is not None
    upright = points.trunk @ start.pose(robot.chest).rotation
    hierarchy = poise.Hierarchy(
        always=[constraints.JointRange(robot)],
        levels=[
            poise.Level("feet", feet),
            poise.Level("center", [tasks.CenterOfMass(target=points.center)]),
            poise.Level(
                "hands", [tasks.Position(robot.hand(side), points.hand_position(side)) for side in points.hands]
            ),
            poise.Level("trunk", [tasks.Orientation(robot.chest, upright)]),
            poise.Level("posture", [tasks.Posture(start)]),
        ],
    )
    return solve_pose(hierarchy, start.replace(q=q), iterations=60, tolerance=1e-5)


@each_robot
def test_inverse_kinematics_reaches_every_goal_inside_the_geometric_workspace(name: str) -> None:
    """Feet within 2 mm and center of mass within 5 mm in all of 50 random goals but two; and the legs are as long and
    lean as in the geometric model, within a tenth of the leg and 0.15 rad: the center of mass moves in the trunk.
    """
    robot, (_, legs) = robot_of(name), limits_of(name)
    start = robot.stance("standing")
    world_from_base = pinocchio.XYZQUATToSE3(start.q[:7])
    missed, lengths, leans = 0, [], []
    for index, (_, _, goal) in enumerate(random_goals(name, 500, seed=5)):
        if index % 10:
            continue
        points = goal.points
        found = solve_points(name, points)
        if found.errors["feet"] > 2e-3 or found.errors["center"] > 5e-3:
            missed += 1
            continue
        moved = pinocchio.XYZQUATToSE3(found.state.q[:7])
        for side, foot in points.feet.items():
            hip = moved.act(world_from_base.actInv(start.center_of_mass + legs.hips[side]))
            line = foot.rotation.T @ (hip - foot.position) - legs.ankles[side]
            where = points.center[None], points.attitude[2:], foot.position[None], side, np.array([foot.yaw])
            lengths.append(np.linalg.norm(line) - (legs.longest - legs.extension_margin(*where)[0]))
            leans.append(math.atan2(line[1], line[2]) - legs.leg_roll(*where)[0])
    assert missed <= 2
    assert np.percentile(np.abs(lengths), 95) < 0.1 * legs.hip_to_ankle
    assert np.percentile(np.abs(leans), 95) < 0.15


@pytest.mark.parametrize("name", [name for name in ROBOTS if name != "nao"])  # its head collides with its shoulders
def test_no_posture_of_random_goals_collides_with_itself(name: str) -> None:
    """The boundaries alone keep hands clear of thighs and trunk, and the legs clear of each other."""
    robot = robot_of(name)
    bodies, snapshot = constraints.SelfCollision(robot, shapes="meshes"), Snapshot(robot)
    for index, (_, _, goal) in enumerate(random_goals(name, 400, seed=11)):
        if index % 10 == 0:
            gaps = bodies.value(snapshot.at(solve_points(name, goal.points).state))
            assert gaps.min() > 0.0, index
