"""Tasks relative to a moving frame: compiled rows against their definition in Python."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio
import pytest

from poise import tasks
from poise.hierarchy import Hierarchy, Level
from poise.robots import Robot, State
from poise.state import DRIFT, Snapshot
from poise.tasks import ACCELERATION, VELOCITY, Assembly, MotionTask
from robot_states import installed_robot, layout, not_none, random_state

ORDERS = pytest.mark.parametrize("order", [VELOCITY, ACCELERATION])
POSE = pinocchio.SE3(pinocchio.exp3(np.array([0.3, -0.8, 2.0])), np.array([0.1, -0.2, 0.3]))
POINT = np.array([0.03, -0.1, 0.5])
TWIST = np.array([0.1, 0.2, -0.3, 0.4, -0.5, 0.6])


def feed_forward(value: Any, rate: Any, acceleration: Any) -> tasks.FeedForwardTarget:
    target = tasks.FeedForwardTarget(value)
    target.set(value, rate, acceleration)
    return target


TASKS: dict[str, Callable[[Robot], MotionTask]] = {
    "foot": lambda r: tasks.RelativePose(r.foot("right"), r.foot("left"), POSE),
    "foot, its place": lambda r: tasks.RelativePose(r.foot("right"), r.foot("left"), POSE, axes="zx", rotation_axes=""),
    "foot, its turns": lambda r: tasks.RelativePose(r.foot("right"), r.foot("left"), POSE, axes="", rotation_axes="zy"),
    "moving foot": lambda r: tasks.RelativePose(
        r.foot("left"), r.foot("right"), feed_forward(POSE, TWIST, 2.0 * TWIST)
    ),
    "moving foot, some": lambda r: tasks.RelativePose(
        r.foot("left"), r.foot("right"), feed_forward(POSE, TWIST, 2.0 * TWIST), axes="y", rotation_axes="xz"
    ),
    "hand": lambda r: tasks.RelativePose(r.hand("left"), r.foot("left"), POSE),
    "one frame on another": lambda r: tasks.RelativePose(r.foot("left"), not_none(r.chest), POSE),
    "a frame and itself": lambda r: tasks.RelativePose(r.foot("left"), r.foot("left"), POSE),
    "center of mass": lambda r: tasks.CenterOfMass(POINT, frame=r.foot("left")),
    "center of mass xz": lambda r: tasks.CenterOfMass(POINT[:2], axes="xz", frame=r.hand("right")),
    "moving center of mass": lambda r: tasks.CenterOfMass(
        feed_forward(POINT, TWIST[:3], TWIST[3:]), frame=r.foot("right")
    ),
    "moving center of mass, yz of three": lambda r: tasks.CenterOfMass(
        feed_forward(POINT, TWIST[:3], TWIST[3:]), axes="yz", frame=r.foot("right")
    ),
    "moving center of mass, yz of two": lambda r: tasks.CenterOfMass(
        feed_forward(POINT[:2], TWIST[:2], TWIST[2:4]), axes="yz", frame=r.foot("right")
    ),
}


@pytest.fixture(scope="module", params=["g1", "nao"])
def robot(request: pytest.FixtureRequest) -> Robot:
    return installed_robot(request.param)


@ORDERS
@pytest.mark.parametrize("name", TASKS)
def test_error_rows_and_drift_are_those_that_the_task_defines(robot: Robot, name: str, order: int) -> None:
    task, snapshot = TASKS[name](robot), Snapshot(robot)
    assembly = Assembly(snapshot, [("alone", [task])], layout(robot, order))
    for seed in range(5):
        snapshot.at(random_state(robot, seed))
        assembly.write()
        assert assembly.column("error") == pytest.approx(task.value(snapshot), abs=1e-12)
        assert np.abs(assembly.stack.A - task.jacobian(snapshot)).max() < 1e-12
        if order == ACCELERATION:
            assert assembly.column("drift") == pytest.approx(task.drift(snapshot), abs=1e-10)
        rate, acceleration = task.target_rate(0.0), task.target_acceleration(0.0)
        assert assembly.column("target_rate") == pytest.approx(0.0 if rate is None else rate, abs=0.0)
        target_acceleration = 0.0 if acceleration is None else acceleration
        assert assembly.column("target_acceleration") == pytest.approx(target_acceleration, abs=0.0)


@pytest.mark.parametrize("name", TASKS)
def test_the_drift_is_how_the_rate_changes_when_no_joint_accelerates(robot: Robot, name: str) -> None:
    """Central differences along constant v: of ``J v``, which for turns is an angular velocity in the axes of a."""
    task, state, snapshot = TASKS[name](robot), random_state(robot, 7), Snapshot(robot)
    h = 1e-5  # s; errors of h² and of rounding over h are both below 1e-6

    def rate(time: float) -> np.ndarray:
        q = pinocchio.integrate(robot.model, state.q, time * state.v)
        at = snapshot.at(State(robot, q, state.v))
        return task.jacobian(at) @ state.v

    difference = (rate(h) - rate(-h)) / (2.0 * h)
    snapshot.at(state).compute(DRIFT)
    assembly = Assembly(snapshot, [("alone", [task])], layout(robot, ACCELERATION))
    assembly.write()
    assert assembly.column("drift") == pytest.approx(difference, abs=1e-5 * (1.0 + np.abs(difference).max()))


def test_joints_that_carry_both_frames_do_not_change_the_relative_pose(robot: Robot) -> None:
    task = tasks.RelativePose(robot.foot("right"), robot.foot("left"), POSE)
    rows = task.rows(Snapshot(robot).at(random_state(robot, 3)), layout(robot, VELOCITY))
    both = set(robot.model.supports[robot.foot("left").joint]) & set(robot.model.supports[robot.foot("right").joint])
    columns = [robot.model.idx_vs[j] + i for j in both for i in range(robot.model.nvs[j])]
    assert set(range(6)) <= set(columns), "the base is one of them"
    assert not rows.A[:, columns].any()


def test_a_feed_forward_target_is_followed_from_tick_to_tick(robot: Robot) -> None:
    """The rows have the current value of the target, not that at the time of binding."""
    start = robot.stance("standing")
    left, right = robot.feet
    foot, center = tasks.FeedForwardTarget(start.pose(left).actInv(start.pose(right))), tasks.FeedForwardTarget(POINT)
    levels = [
        Level("feet", [tasks.RelativePose(right, left, foot)]),
        Level("balance", [tasks.CenterOfMass(center, frame=left)]),
    ]
    snapshot = Snapshot(robot).at(start)
    groups = list(Hierarchy(levels=levels).groups())
    assembly = Assembly(snapshot, groups, layout(robot, VELOCITY))
    assembly.write()
    before = assembly.column("error").copy()
    foot.set(pinocchio.SE3(foot.value.rotation, foot.value.translation + np.array([0.01, 0.02, 0.03])))
    center.set(POINT + 0.1, 0.2)
    assembly.write()
    moved = assembly.column("error") - before
    assert moved == pytest.approx([-0.01, -0.02, -0.03, 0.0, 0.0, 0.0, -0.1, -0.1, -0.1])
    assert assembly.column("target_rate") == pytest.approx([0.0] * 6 + [0.2] * 3)
