"""The stance on one foot, on every robot of the library."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from poise import load_robot
from poise.behaviors import Reach, one_foot_stance
from poise.errors import RobotError
from poise.robots import library_names
from robot_states import installed_robot
from small_robots import BIPED, BIPED_PARTS, write_urdf

pytestmark = pytest.mark.needs_models

each_robot = pytest.mark.parametrize("name", library_names())
each_side = pytest.mark.parametrize("side", ["left", "right"])


@each_robot
@each_side
def test_it_stands_on_that_foot_alone_and_is_in_balance(name: str, side: str) -> None:
    robot = installed_robot(name)
    state = one_foot_stance(robot, side)  # type: ignore[arg-type]
    support = robot.foot(side)
    start = robot.stance("standing").pose(support)
    assert state.contacts == (support,)
    np.testing.assert_allclose(state.pose(support).homogeneous, start.homogeneous, atol=1e-4)
    np.testing.assert_allclose(state.center_of_mass[:2], state.support_center, atol=1e-4)
    assert not state.v.any()


@each_robot
@each_side
def test_the_other_foot_is_lifted_and_flat(name: str, side: str) -> None:
    robot = installed_robot(name)
    state = one_foot_stance(robot, side)  # type: ignore[arg-type]
    free = robot.foot("left" if side == "right" else "right")
    pose = state.pose(free)
    assert pose.translation[2] > 0.05 * robot.height
    assert pose.rotation[2, 2] > 0.999


@each_robot
@each_side
def test_every_joint_is_inside_its_range(name: str, side: str) -> None:
    robot = installed_robot(name)
    angles = one_foot_stance(robot, side).q[7:]  # type: ignore[arg-type]
    assert (robot.limits.lower <= angles).all()
    assert (angles <= robot.limits.upper).all()


@each_robot
def test_the_cup_is_held_in_front_and_above_the_knee(name: str) -> None:
    robot = installed_robot(name)
    state = one_foot_stance(robot, "right")
    relative_position = state.pose(robot.foot("right")).actInv(state.pose(robot.hand("left")).translation)
    assert relative_position[0] > 0.05 * robot.height
    assert relative_position[2] > 0.4 * robot.height


def test_a_robot_without_hands_stands_on_one_foot_but_does_not_reach(tmp_path: Path) -> None:
    robot = load_robot(write_urdf(tmp_path, BIPED), **BIPED_PARTS)
    state = one_foot_stance(robot, "left")
    np.testing.assert_allclose(state.center_of_mass[:2], state.support_center, atol=1e-3)
    with pytest.raises(RobotError, match="declares no right hand"):
        Reach(robot)
