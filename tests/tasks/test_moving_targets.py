"""Moving targets: value, rate and acceleration enter the rows of the chosen axes."""

from typing import Any

import numpy as np
import pinocchio
import pytest

from poise import tasks
from poise.state import Snapshot
from poise.tasks import ACCELERATION, Assembly, Task
from robot_states import installed_robot, layout, not_none, random_state

ROBOT = installed_robot("g1")
STATE = random_state(ROBOT, 5)


class PassingTarget:
    """A target with given value, rate and acceleration, optionally as lists."""

    def __init__(self, value: Any, size: int, as_list: bool = False) -> None:
        random = np.random.default_rng(size)
        self.rate, self.acceleration = random.normal(size=size), random.normal(size=size)
        self.value, self.as_list = value, as_list

    def sample(self, time: float) -> tuple[Any, Any, Any]:
        if self.as_list:
            return list(self.value), list(self.rate), list(self.acceleration)
        return self.value, self.rate, self.acceleration


def bound_assembly(task: Task) -> Assembly:
    assembly = Assembly(Snapshot(ROBOT).at(STATE), [("task", [task])], layout(ROBOT, ACCELERATION))
    assembly.write()
    return assembly


def check(task: Task, target: PassingTarget, picked: list[int]) -> None:
    assembly = bound_assembly(task)
    assert assembly.column("target_rate") == pytest.approx(target.rate[picked])
    assert assembly.column("target_acceleration") == pytest.approx(target.acceleration[picked])


@pytest.mark.parametrize("axes", ["xyz", "xy", "yz", "zx", "z", "zyx"])
@pytest.mark.parametrize("as_list", [False, True])
def test_a_position_takes_the_rates_of_its_axes(axes: str, as_list: bool) -> None:
    hand, target = ROBOT.hand("left"), PassingTarget(np.array([0.4, 0.2, 1.0]), 3, as_list)
    task = tasks.Position(hand, target, axes)
    indices = ["xyz".index(axis) for axis in axes]
    check(task, target, indices)
    assert bound_assembly(task).column("error") == pytest.approx((STATE.pose(hand).translation - target.value)[indices])


@pytest.mark.parametrize("axes", ["xyz", "xy", "z", "yx"])
def test_an_orientation_takes_the_turns_about_its_axes(axes: str) -> None:
    target = PassingTarget(pinocchio.exp3(np.array([0.1, -0.2, 0.3])), 3)
    task = tasks.Orientation(not_none(ROBOT.chest), target, axes)
    indices = ["xyz".index(axis) for axis in axes]
    check(task, target, indices)
    turn = pinocchio.log3(STATE.pose(not_none(ROBOT.chest)).rotation @ target.value.T)
    assert bound_assembly(task).column("error") == pytest.approx(turn[indices])


@pytest.mark.parametrize(("axes", "rotation_axes"), [("xyz", "xyz"), ("z", "xy"), ("", "z"), ("yx", "")])
def test_a_pose_takes_the_components_of_a_twist(axes: str, rotation_axes: str) -> None:
    target = PassingTarget(pinocchio.SE3(pinocchio.exp3(np.array([0.1, -0.2, 0.3])), np.array([0.1, 0.1, 0.0])), 6)
    picked = ["xyz".index(axis) for axis in axes] + [3 + "xyz".index(axis) for axis in rotation_axes]
    check(tasks.Pose(ROBOT.foot("left"), target, axes, rotation_axes), target, picked)


@pytest.mark.parametrize("axes", ["xyz", "xy", "yz", "zx", "y"])
@pytest.mark.parametrize("spatial", [True, False])
@pytest.mark.parametrize("as_list", [False, True])
def test_a_center_of_mass_follows_targets_of_all_or_of_the_chosen_axes(axes: str, spatial: bool, as_list: bool) -> None:
    indices = ["xyz".index(axis) for axis in axes]
    size = 3 if spatial else len(axes)
    target = PassingTarget(np.arange(size, dtype=float), size, as_list)
    picked = indices if spatial else list(range(size))
    task = tasks.CenterOfMass(target, axes)
    check(task, target, picked)
    assert bound_assembly(task).column("error") == pytest.approx(STATE.center_of_mass[indices] - target.value[picked])
