"""Targets out of reach: the arm stretches and the body comes to rest as near to the target as possible.

Measured during the last second of five, per joint: the change of velocity from tick to tick, and the remaining speed.
Without singularity damping the stretched arm of G1 moves at 29 rad/s.
"""

import numpy as np
import pytest
from example_hierarchies import point_near_hand, reach_hierarchy

from poise import tasks
from poise.control import ControlStep
from poise.hierarchy import Hierarchy
from poise.robots import Robot
from poise.tasks import ACCELERATION, VELOCITY
from robot_states import PERIOD, commanded_velocities, installed_robot, joint_motion, run_closed_loop

ORDERS = pytest.mark.parametrize("order", [VELOCITY, ACCELERATION])
#: Unreachable points relative to the hanging hand, in heights of the robot.
MAX_MAGNITUDE = {"in front": (0.8, 0.0, 0.25), "beside": (0.0, 0.8, 0.25), "above": (0.0, 0.0, 1.2)}


def with_damping(hierarchy: Hierarchy, much: float = 0.05) -> Hierarchy:
    """The same with least velocity inside the reaching level, so that no lower level can move the stretched arm."""
    reach = hierarchy.level("reach").tasks
    return hierarchy.with_tasks("reach", [*reach, tasks.LeastVelocity(weight=much**2)])


def reach_error(found: list[ControlStep], robot: Robot, where: str) -> np.ndarray:
    goal = point_near_hand(robot.stance("standing"), MAX_MAGNITUDE[where])
    return np.array([np.linalg.norm(s.state.pose(robot.hand("left")).translation - goal) for s in found])


@ORDERS
@pytest.mark.parametrize("where", MAX_MAGNITUDE)
@pytest.mark.parametrize("name", ["g1", "talos"])
def test_a_target_out_of_reach_breaks_nothing(name: str, where: str, order: int) -> None:
    robot = installed_robot(name)
    start = robot.stance("standing")
    found = run_closed_loop(reach_hierarchy(start, MAX_MAGNITUDE[where]), start, 2.0, order=order)
    q, v = joint_motion(found)
    bounds = robot.limits
    assert np.isfinite(commanded_velocities(found)).all()
    assert (q <= bounds.upper + 1e-9).all()
    assert (q >= bounds.lower - 1e-9).all()
    assert (np.abs(v) <= bounds.velocity + 1e-9).all()
    assert (np.abs(np.diff(v, axis=0)) <= bounds.acceleration * PERIOD + 1e-9).all()
    for foot in robot.feet:
        place = start.pose(foot).translation
        assert all(s.state.pose(foot).translation == pytest.approx(place, abs=2e-3) for s in found[::20])
    distance = reach_error(found, robot, where)
    assert distance[-1] < 0.8 * distance[0]
    assert not any(step.command.fallback for step in found)


#: Romeo with its hand above its head moves on at 0.6 rad/s, with changes of 0.1 rad/s a tick.
CALM = [
    (name, where)
    for name in ("g1", "talos", "romeo", "icub")
    for where in MAX_MAGNITUDE
    if (name, where) != ("romeo", "above")
]


@pytest.mark.parametrize(("name", "where"), CALM)
def test_a_stretched_arm_does_not_chatter(name: str, where: str) -> None:
    robot = installed_robot(name)
    start = robot.stance("standing")
    found = run_closed_loop(reach_hierarchy(start, MAX_MAGNITUDE[where]), start, 5.0)
    last = commanded_velocities(found)[-round(1.0 / PERIOD) :]
    assert np.abs(np.diff(last, axis=0)).max() < 0.1  # without singularity damping: up to 60 rad/s
    assert np.abs(last).max() < 0.5  # the rest is the posture, which converges slowly
    distance = reach_error(found, robot, where)
    assert distance[-1] < distance.min() + 0.01, "it stays at its smallest distance"


@pytest.mark.parametrize("where", MAX_MAGNITUDE)
@pytest.mark.parametrize("name", ["g1", "talos", "romeo", "icub"])
def test_at_acceleration_order_it_comes_to_rest_as_well(name: str, where: str) -> None:
    robot = installed_robot(name)
    start = robot.stance("standing")
    found = run_closed_loop(reach_hierarchy(start, MAX_MAGNITUDE[where]), start, 5.0, order=ACCELERATION)
    assert (
        np.abs(commanded_velocities(found)[-round(1.0 / PERIOD) :]).max() < 0.5
    )  # up to 2.9 rad/s if it were left to coast


@pytest.mark.parametrize("where", MAX_MAGNITUDE)
@pytest.mark.parametrize("name", ["g1", "talos", "icub"])
def test_a_stretched_arm_does_not_chatter_at_500_hertz(name: str, where: str) -> None:
    robot = installed_robot(name)
    start = robot.stance("standing")
    found = run_closed_loop(reach_hierarchy(start, MAX_MAGNITUDE[where]), start, 5.0, period=0.002)
    last = commanded_velocities(found)[-500:]
    assert np.abs(np.diff(last, axis=0)).max() < 0.15


def test_velocity_damping_in_its_level_does_not_keep_a_hand_from_a_reachable_target() -> None:
    robot = installed_robot("g1")
    start = robot.stance("standing")
    end = run_closed_loop(with_damping(reach_hierarchy(start)), start, 4.0)[-1].state
    assert end.pose(robot.hand("left")).translation == pytest.approx(
        point_near_hand(start, (0.10, 0.04, 0.15)), abs=1e-3
    )
    assert np.abs(end.v).max() < 5e-3
