"""Synthetic walk: stance feet are at rest, the ZMP is under the feet, and rates are derivatives."""

from __future__ import annotations

import numpy as np
import pinocchio
import pytest

import poise
from poise.analysis import (
    ground_penetration,
    normative_band,
    root_mean_square_error,
    share_inside,
    sliding_distance,
    support_polygons,
)
from poise.human.synthetic_walk import CONTACT_PHASES, TOE_OFF, PeriodicMotion, ground_wrench, synthesize_walk

PHASES = np.arange(200) / 200
BODIES = [(1.77, 75.0, "male"), (1.61, 58.0, "female"), (1.30, 28.0, "male"), (2.05, 110.0, "male")]


@pytest.fixture(scope="module", params=BODIES, ids=lambda body: f"{body[0]} m")
def walk(request: pytest.FixtureRequest) -> PeriodicMotion:
    height, mass, sex = request.param
    return synthesize_walk(poise.load_robot("human", height=height, mass=mass, sex=sex))


def foot_points(walk: PeriodicMotion) -> np.ndarray:
    """Points under both feet over a cycle, (200, 8, 3), the left ones first."""
    robot, data = walk.robot, walk.robot.model.createData()
    frames = [robot.frame(f"{side}_{name}").index for side in ("left", "right") for name in CONTACT_PHASES]
    found = []
    for q in walk.at(PHASES * walk.period)[0]:
        pinocchio.framesForwardKinematics(robot.model, data, q)
        found.append([data.oMf[frame].translation.copy() for frame in frames])
    return np.array(found)


def stance_points() -> np.ndarray:
    """Which of these points are in stance, (200, 8)."""
    return np.array(
        [[a <= (phi + late) % 1.0 <= b for late in (0.5, 0.0) for a, b in CONTACT_PHASES.values()] for phi in PHASES]
    )


def test_feet_that_stand_neither_slide_nor_sink_nor_hover_by_more_than_half_a_centimetre(walk: PeriodicMotion) -> None:
    where, on = foot_points(walk), stance_points()
    assert ground_penetration(where[..., 2]).worst < 0.003
    assert where[on][:, 2].max() < 0.006
    assert max(sliding_distance(where[:, k], on[:, k]) for k in range(8) if k >= 4) < 0.006


def test_a_foot_that_swings_is_in_the_air(walk: PeriodicMotion) -> None:
    feet = foot_points(walk)[:, 4:, 2].min(axis=1)
    assert feet[(PHASES > TOE_OFF + 0.03) & (PHASES < 0.97)].min() > 0.001


def test_the_zero_moment_point_is_under_the_feet_at_every_instant(walk: PeriodicMotion) -> None:
    loaded = np.repeat([[(phi + late) % 1.0 <= TOE_OFF for late in (0.5, 0.0)] for phi in PHASES], 4, axis=1)
    _, point, _ = ground_wrench(walk, PHASES * walk.period)
    assert share_inside(point, support_polygons(foot_points(walk), loaded)) == 1.0


def test_the_ground_only_pushes_and_its_friction_is_enough(walk: PeriodicMotion) -> None:
    force, _, _ = ground_wrench(walk, PHASES * walk.period)
    weight = walk.robot.mass * 9.81
    assert force[:, 2].min() > 0.6 * weight
    assert force[:, 2].max() < 1.4 * weight
    assert force.mean(axis=0) == pytest.approx([0.0, 0.0, weight], abs=1e-3 * weight)  # steady: no net push
    assert (np.hypot(force[:, 0], force[:, 1]) / force[:, 2]).max() < 0.3


def test_velocities_and_accelerations_are_the_derivatives_of_the_configurations(walk: PeriodicMotion) -> None:
    model, h = walk.robot.model, 1e-4
    for time in (0.1, 0.47, 0.9):
        (before, at, after), (v0, v1, v2), (_, a, _) = walk.at([time - h, time, time + h])
        v = (pinocchio.difference(model, at, after) - pinocchio.difference(model, at, before)) / (2.0 * h)
        assert v1 == pytest.approx(v, abs=1e-5)
        assert a == pytest.approx((v2 - v0) / (2.0 * h), abs=1e-3)  # h² / 6 times the third derivative


def test_left_is_right_half_a_cycle_later(walk: PeriodicMotion) -> None:
    robot = walk.robot
    now, later = (walk.at(PHASES * walk.period + shift)[0] for shift in (0.0, walk.period / 2.0))
    for joint in robot.joints:
        if joint.name.startswith("right_"):
            other = robot.joint(joint.name.replace("right_", "left_"))
            assert now[:, joint.q] == pytest.approx(later[:, other.q], abs=1e-9)
    assert later[:, 0] - now[:, 0] == pytest.approx(walk.stride / 2.0, abs=1e-9)
    assert later[:, 1] == pytest.approx(-now[:, 1], abs=1e-9)


def test_joints_follow_the_normative_bands_within_human_variation(walk: PeriodicMotion) -> None:
    q = walk.at(PHASES * walk.period)[0]
    for joint, bar in [
        ("hip_flexion", 4.0),
        ("hip_adduction", 3.0),
        ("knee_flexion", 4.0),
        ("ankle_dorsiflexion", 5.0),
    ]:
        own = q[:, walk.robot.joint(f"right_{joint}").q]
        error = root_mean_square_error(own, normative_band(f"right_{joint}").at(PHASES + 0.035))
        assert np.degrees(error) < bar


def test_no_joint_meets_its_limit(walk: PeriodicMotion) -> None:
    q = walk.at(PHASES * walk.period)[0][:, 7:]
    assert (q > walk.robot.model.lowerPositionLimit[7:] + 0.05).all()
    assert (q < walk.robot.model.upperPositionLimit[7:] - 0.05).all()


def test_the_speed_is_that_of_a_comfortable_walk(walk: PeriodicMotion) -> None:
    """A Froude number of 0.10 to 0.20; at 0.5 people run."""
    leg = walk.coefficients[2, 0]
    assert 0.10 < (walk.stride / walk.period) ** 2 / (9.81 * leg) < 0.20
