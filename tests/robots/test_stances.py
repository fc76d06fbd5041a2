"""Balanced stances: soles flat, weight over their middle, x forward, base as upright as in the URDF."""

from pathlib import Path

import numpy as np
import pinocchio
import pytest

from poise.errors import RobotError
from poise.robots import load_robot
from small_robots import BIPED, BIPED_PARTS, PENDULUM, write_urdf

CROOKED = {"{side}_hip_pitch": -0.5, "{side}_knee": 0.6, "{side}_ankle_pitch": -0.2, "{side}_hip_roll": [0.1, -0.1]}


def test_an_initial_stance_is_corrected_until_it_is_balanced(tmp_path: Path) -> None:
    parts = BIPED_PARTS | {"stances": {"seed": {"joints": BIPED_PARTS["stances"]["standing"]["joints"]}}}
    biped = load_robot(write_urdf(tmp_path, BIPED), **parts)
    state = biped.stance("seed")
    for foot in biped.feet:
        assert state.pose(foot).rotation == pytest.approx(np.eye(3), abs=1e-9)
        assert state.pose(foot).translation[[0, 2]] == pytest.approx(0.0, abs=1e-9)
    assert state.center_of_mass[:2] == pytest.approx(state.support_center, abs=1e-9)
    assert state.pose(biped.frame("pelvis")).rotation == pytest.approx(np.eye(3), abs=1e-9)
    assert sum(state.pose(foot).translation for foot in biped.feet) == pytest.approx(0.0, abs=1e-9)
    assert state.q[biped.joint("left_knee").q] == pytest.approx(state.q[biped.joint("right_knee").q])


def test_a_stance_that_is_not_balanced_keeps_its_angles_and_comes_to_the_origin(tmp_path: Path) -> None:
    parts = BIPED_PARTS | {"stances": {"crooked": {"joints": CROOKED, "balanced": False}}}
    biped = load_robot(write_urdf(tmp_path, BIPED), **parts)
    state = biped.stance("crooked")
    assert state.q[biped.joint("left_hip_roll").q] == 0.1
    assert state.q[biped.joint("right_hip_roll").q] == -0.1
    middle = pinocchio.SE3.Interpolate(*(state.pose(foot) for foot in biped.feet), 0.5)
    assert middle.homogeneous == pytest.approx(np.eye(4), abs=1e-9)


def test_a_base_that_is_drawn_turned_round_still_looks_forward(tmp_path: Path) -> None:
    turned = BIPED_PARTS["feet"] | {"rotation": [0.0, 0.0, np.pi]}
    biped = load_robot(write_urdf(tmp_path, BIPED), **(BIPED_PARTS | {"feet": turned}))
    state = biped.stance("standing")
    assert state.pose(biped.frame("pelvis")).rotation[:, 0] == pytest.approx([-1.0, 0.0, 0.0], abs=1e-9)
    assert state.pose(biped.foot("left")).rotation[:, 0] == pytest.approx([1.0, 0.0, 0.0], abs=1e-9)


def test_a_stance_out_of_reach_is_an_error(tmp_path: Path) -> None:
    path = write_urdf(tmp_path, BIPED)
    far = BIPED_PARTS | {"feet": {"frame": "{side}_foot", "position": [0, 0, -0.05], "sole": [2.0, 3.0, -0.1, 0.1]}}
    with pytest.raises(RobotError, match=r"stances.standing\] (cannot be balanced|puts)"):
        load_robot(path, **far)


def test_without_feet_a_stance_is_its_angles(tmp_path: Path) -> None:
    pendulum = load_robot(write_urdf(tmp_path, PENDULUM), stances={"up": {"joints": {"hinge": 1.0}}})
    assert pendulum.stance("up").q == pytest.approx([0, 0, 0, 0, 0, 0, 1, 1.0])
    assert pendulum.stance("up").contacts == ()
    assert pendulum.stance("up") is pendulum.stance("up")


def test_a_joint_whose_range_excludes_zero_rests_at_its_nearest_end(tmp_path: Path) -> None:
    pendulum = load_robot(write_urdf(tmp_path, PENDULUM), limits={"lower": {"hinge": 0.2}})
    assert pendulum.rest[7] == 0.2


def test_a_locked_joint_may_still_be_named_in_a_stance(tmp_path: Path) -> None:
    biped = load_robot(write_urdf(tmp_path, BIPED), **BIPED_PARTS, locked={"{side}_knee": 0.5})
    assert len(biped.joints) == 8
    state = biped.stance("standing")
    assert state.center_of_mass[:2] == pytest.approx(state.support_center, abs=1e-9)
