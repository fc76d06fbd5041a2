"""Joint limits: range, speed and acceleration are always compatible and hold against any other task.

The oracle is a simulation of all joints at once: desired velocities are clipped to the bounds and integrated.
"""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poise import constraints, tasks
from poise.hierarchy import Hierarchy, Level
from poise.robots import Robot
from poise.state import Snapshot
from poise.tasks import ACCELERATION, VELOCITY, Assembly
from robot_states import PERIOD, installed_robot, layout, run_closed_loop

KINDS = (constraints.JointRange, constraints.JointSpeed, constraints.JointAcceleration)
ORDERS = st.sampled_from([VELOCITY, ACCELERATION])
ROBOTS = st.sampled_from(["g1", "talos", "romeo"])


class SimulatedJoints:
    """Simulation of all joints of a robot with their three limits."""

    def __init__(self, robot: Robot, order: int, period: float = PERIOD, **settings: Any) -> None:
        self.order, self.period = order, period
        self.limits, self.count = robot.limits, len(robot.joints)
        self.snapshot = Snapshot(robot).at(robot.stance("standing"))
        limits = [kind(robot, **settings) for kind in KINDS]
        self.assembly = Assembly(self.snapshot, [("always", limits)], layout(robot, order, period))

    @property
    def q(self) -> np.ndarray:
        return self.snapshot.q[7:]

    @property
    def v(self) -> np.ndarray:
        return self.snapshot.v[6:]

    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper bounds of the next speed, one line per kind of limit."""
        self.assembly.write()
        lower, upper = (a.reshape(3, self.count).copy() for a in (self.assembly.stack.lower, self.assembly.stack.upper))
        if self.order == ACCELERATION:
            lower, upper = self.v + self.period * lower, self.v + self.period * upper
        return lower, upper

    def step(self, velocity: np.ndarray | float) -> None:
        """Take the allowed speed nearest to the desired one; at acceleration order it is reached linearly."""
        lower, upper = self.bounds()
        v = np.clip(velocity, lower.max(axis=0), upper.min(axis=0))
        self.q[:] += self.period * (v if self.order == VELOCITY else 0.5 * (self.v + v))
        self.v[:] = v

    def outside(self) -> np.ndarray:
        """Distance of each joint outside its range."""
        return np.maximum(0.0, np.maximum(self.limits.lower - self.q, self.q - self.limits.upper))

    def can_stop(self) -> np.ndarray:
        """Whether each joint is inside and slow enough to stay there: v² / 2A plus the motion of one period."""
        ahead = np.where(self.v > 0.0, self.limits.upper - self.q, self.q - self.limits.lower)
        distance = self.v**2 / (2.0 * self.limits.acceleration) + np.abs(self.v) * self.period
        return (self.outside() == 0.0) & (distance <= ahead)


def random_positions(joints: SimulatedJoints, seed: int, excess: float) -> np.ndarray:
    """A state that may be outside the range (by up to `excess` rad) and too fast (by up to 1 + 2 excess times)."""
    random = np.random.default_rng(seed)
    limits = joints.limits
    joints.q[:] = random.uniform(limits.lower - excess, limits.upper + excess)
    joints.v[:] = (1.0 + 2.0 * excess) * limits.velocity * random.uniform(-1.0, 1.0, joints.count)
    return random.normal(0.0, 1.0, (1000, joints.count))


def desired_velocities(kind: str, noise: np.ndarray, tick: int) -> np.ndarray:
    """Desired velocities: constant to one side, alternating, random, or zero."""
    return {
        "up": np.full(noise.shape[1], 1e6),
        "down": np.full(noise.shape[1], -1e6),
        "to and fro": np.full(noise.shape[1], 1e6 if tick // 40 % 2 else -1e6),
        "anything": 30.0 * noise[tick],
        "nothing": np.zeros(noise.shape[1]),
    }[kind]


PATTERNS = st.sampled_from(["up", "down", "to and fro", "anything", "nothing"])


@given(name=ROBOTS, order=ORDERS, seed=st.integers(0, 10**6), period=st.sampled_from([0.0005, 0.002, 0.005, 0.02]))
def test_the_limits_have_a_point_in_common_in_every_state(name: str, order: int, seed: int, period: float) -> None:
    joints = SimulatedJoints(installed_robot(name), order, period)
    random_positions(joints, seed, excess=1.0)
    lower, upper = joints.bounds()
    assert (lower <= upper).all()
    assert (lower.max(axis=0) <= upper.min(axis=0) + 1e-9).all()


@given(name=ROBOTS, order=ORDERS, seed=st.integers(0, 10**6), pattern=PATTERNS)
def test_a_joint_that_can_stop_in_time_never_leaves_its_range(name: str, order: int, seed: int, pattern: str) -> None:
    joints = SimulatedJoints(installed_robot(name), order)
    noise = random_positions(joints, seed, excess=0.0)
    safe = np.zeros(joints.count, dtype=bool)
    for tick in range(300):
        safe |= joints.can_stop()
        joints.step(desired_velocities(pattern, noise, tick))
        assert (joints.outside()[safe] <= 1e-9).all()


@given(name=ROBOTS, order=ORDERS, seed=st.integers(0, 10**6), pattern=PATTERNS, excess=st.floats(0.0, 0.5))
def test_speed_and_acceleration_stay_within_their_limits(
    name: str, order: int, seed: int, pattern: str, excess: float
) -> None:
    joints = SimulatedJoints(installed_robot(name), order)
    noise = random_positions(joints, seed, excess)
    limits = joints.limits
    for tick in range(150):
        before = joints.v.copy()
        joints.step(desired_velocities(pattern, noise, tick))
        change = np.abs(joints.v - before)
        assert (change <= limits.acceleration * PERIOD + 1e-9).all()
        too_fast = np.abs(before) > limits.velocity
        assert (np.abs(joints.v)[~too_fast] <= limits.velocity[~too_fast] + 1e-9).all()
        assert (np.abs(joints.v)[too_fast] < np.abs(before)[too_fast]).all(), "joints that are too fast slow down"


@given(name=ROBOTS, order=ORDERS, seed=st.integers(0, 10**6), pattern=PATTERNS)
def test_every_joint_outside_its_range_returns_and_stays_inside(name: str, order: int, seed: int, pattern: str) -> None:
    joints = SimulatedJoints(installed_robot(name), order)
    noise = random_positions(joints, seed, excess=0.5)
    safe = np.zeros(joints.count, dtype=bool)
    for tick in range(900):
        safe |= joints.can_stop()
        joints.step(desired_velocities(pattern, noise, tick))
        assert (joints.outside()[safe] <= 1e-9).all()
    assert joints.outside().max() < 1e-5  # 37 % every tenth of a second


@pytest.mark.parametrize("order", [VELOCITY, ACCELERATION])
def test_the_way_back_has_the_time_constant_of_the_recovery(order: int) -> None:
    joints = SimulatedJoints(installed_robot("g1"), order, recovery=0.2)
    joints.q[:], joints.v[:] = joints.limits.upper + 0.1, 0.0
    left = []
    for _ in range(200):
        joints.step(1e6)
        left.append(joints.outside().copy())
    if order == VELOCITY:
        after = np.log(np.array(left)[100] / np.array(left)[180]) / (80 * PERIOD)
        assert after == pytest.approx(5.0, rel=0.03)
    else:  # critically damped, with both poles there
        time = PERIOD * np.arange(1, 201)
        assert np.array(left)[:, 3] == pytest.approx(0.1 * (1.0 + 5.0 * time) * np.exp(-5.0 * time), rel=0.05)


@pytest.mark.parametrize("name", ["g1", "romeo"])
def test_a_joint_pushed_to_its_end_arrives_with_maximum_deceleration(name: str) -> None:
    joints = SimulatedJoints(installed_robot(name), VELOCITY)
    limits = joints.limits
    joints.q[:], joints.v[:] = limits.lower, 0.0
    hardest = np.zeros(joints.count)
    for _ in range(4000):
        before = joints.v.copy()
        joints.step(1e6)
        hardest = np.maximum(hardest, (before - joints.v) / PERIOD)
    assert joints.q == pytest.approx(limits.upper, abs=1e-6)
    assert joints.v == pytest.approx(0.0, abs=1e-4)
    assert (hardest <= limits.acceleration + 1e-6).all()
    assert (hardest > 0.75 * limits.acceleration).all()


@pytest.mark.parametrize("name", ["g1", "romeo"])
def test_at_acceleration_order_a_joint_meets_its_end_without_a_jump(name: str) -> None:
    """Torques follow accelerations, so these must not jump: a wall in speed would stop the joint within a period."""
    joints = SimulatedJoints(installed_robot(name), ACCELERATION)
    limits = joints.limits
    middle, acceleration = 0.5 * (limits.lower + limits.upper), 2.0  # rad/s²
    joints.q[:], joints.v[:] = middle, 0.0
    last, jump = np.full(joints.count, acceleration), np.zeros(joints.count)
    for _ in range(4000):
        before = joints.v.copy()
        joints.step(before + PERIOD * acceleration)
        now = (joints.v - before) / PERIOD
        jump, last = np.maximum(jump, np.abs(now - last)), now
        assert joints.outside().max() <= 1e-9
    assert joints.q == pytest.approx(limits.upper, abs=1e-3)
    k, fastest = 10.0, np.sqrt(2.0 * acceleration * (limits.upper - middle))
    slope = k**2 * fastest + 2.0 * k * acceleration  # of the bound k² (q_max - q) - 2 k v, at most
    assert (jump < PERIOD * slope).all()


@given(seed=st.integers(0, 10**6))
def test_far_from_every_range_limit_only_speed_and_acceleration_are_limited(seed: int) -> None:
    """Where a joint could stop even from its greatest speed, the range allows that speed."""
    joints = SimulatedJoints(installed_robot("g1"), VELOCITY)
    random_positions(joints, seed, excess=0.0)
    limits = joints.limits
    distance = limits.velocity**2 / (2.0 * limits.acceleration) + 2.0 * limits.velocity * PERIOD
    lower, upper = joints.bounds()
    far = (limits.upper - joints.q > distance) & (joints.q - limits.lower > distance)
    assert (upper[0][far] >= limits.velocity[far]).all()
    assert (lower[0][far] <= -limits.velocity[far]).all()


def test_margin_scale_and_acceleration_are_the_given_ones() -> None:
    robot = installed_robot("g1")
    snapshot, some = Snapshot(robot).at(robot.stance("standing")), robot.joints[3:6]
    places = [joint.v - 6 for joint in some]
    inside = constraints.JointRange(robot, joints=some, margin=0.1)
    assert inside.lower == pytest.approx(robot.limits.lower[places] + 0.1)
    assert inside.upper == pytest.approx(robot.limits.upper[places] - 0.1)
    slow = constraints.JointSpeed(robot, joints=some, scale=0.1).rows(snapshot, layout(robot, VELOCITY))
    assert slow.upper == pytest.approx(0.1 * robot.limits.velocity[places])
    assert slow.labels == tuple(joint.name for joint in some)
    soft = constraints.JointAcceleration(robot, joints=some, acceleration=3.0)
    assert soft.rows(snapshot, layout(robot, VELOCITY)).upper == pytest.approx(3.0 * PERIOD)
    assert soft.rows(snapshot, layout(robot, ACCELERATION)).upper == pytest.approx(3.0)


def test_rows_of_limits_pick_their_joints() -> None:
    robot = installed_robot("g1")
    snapshot = Snapshot(robot).at(robot.stance("standing"))
    rows = constraints.JointRange(robot, joints=robot.joints[4:9]).rows(snapshot, layout(robot, VELOCITY))
    v = np.random.default_rng(0).normal(size=robot.model.nv)
    assert rows.A @ v == pytest.approx(v[10:15])
    assert (rows.name, rows.unit) == ("joint range", "rad/s")


@pytest.mark.parametrize("order", [VELOCITY, ACCELERATION])
@pytest.mark.parametrize("name", ["g1", "romeo"])
def test_a_posture_beyond_the_range_is_held_at_the_range(name: str, order: int) -> None:
    """In the closed loop of a controller: every joint is sent beyond one of its ends, fast."""
    robot = installed_robot(name)
    start = robot.stance("standing")
    beyond = np.where(np.arange(len(robot.joints)) % 2, robot.limits.upper + 0.5, robot.limits.lower - 0.5)
    push = tasks.Posture(beyond, joints=robot.joints, dynamics=tasks.Decay(30.0))
    hierarchy = Hierarchy([kind(robot) for kind in KINDS], [Level("push", [push])])
    steps = run_closed_loop(hierarchy, start, 4.0, order=order)
    q, v = np.array([s.state.q[7:] for s in steps]), np.array([s.state.v[6:] for s in steps])
    limits = robot.limits
    assert (q <= limits.upper + 1e-9).all()
    assert (q >= limits.lower - 1e-9).all()
    assert (np.abs(v) <= limits.velocity + 1e-9).all()
    assert (np.abs(np.diff(v, axis=0)) / PERIOD <= limits.acceleration + 1e-6).all()
    assert q[-1] == pytest.approx(np.clip(beyond, limits.lower, limits.upper), abs=1e-3)
    assert not any(step.command.fallback for step in steps)


@pytest.mark.parametrize("order", [VELOCITY, ACCELERATION])
@pytest.mark.parametrize("name", ["g1", "talos", "romeo", "mighty"])
def test_a_joint_that_must_stop_at_one_end_is_not_constrained_by_the_other(name: str, order: int) -> None:
    """Just before one end, at any speed: the smooth recovery from the far end must not prevent the stop."""
    robot, random = installed_robot(name), np.random.default_rng(0)
    start, limits, snapshot = robot.stance("standing"), robot.limits, Snapshot(robot)
    for speed in (0.0, 0.1, 0.5, 1.0, 5.0, 30.0):
        for end, sign in ((limits.upper, 1.0), (limits.lower, -1.0)):
            q, v = start.q.copy(), np.zeros(robot.model.nv)
            q[7:] = end - sign * random.uniform(0.0, 2e-3, len(end))
            v[6:] = sign * speed
            rows = constraints.JointRange(robot).rows(snapshot.at(start.replace(q=q, v=v)), layout(robot, order))
            assert (rows.lower <= rows.upper).all(), (speed, sign)
