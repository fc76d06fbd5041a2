"""Targets never exceed their limits of speed and acceleration, and stop at their goals without overshoot."""

import numpy as np
import pinocchio
import pytest

from poise.shield.limited_motion import LimitedAngles, LimitedPose, shorten

PERIOD, SPEED, ACCELERATION = 0.002, 2.0, 10.0


@pytest.mark.parametrize("seed", range(3))
def test_angles_keep_their_limits_and_arrive(seed: int) -> None:
    random = np.random.default_rng(seed)
    motion = LimitedAngles(4, np.full(4, SPEED), np.full(4, ACCELERATION))
    motion.restart(np.ones(4, dtype=bool), random.uniform(-1, 1, 4), random.uniform(-9, 9, 4))
    goal = random.uniform(-2, 2, 4)
    for k in range(1800):
        if k in (200, 450):  # a goal that jumps while the target moves
            goal = random.uniform(-2, 2, 4)
        before, speed = motion.value.copy(), motion.rate.copy()
        motion.advance(goal, PERIOD)
        assert np.abs(motion.rate).max() <= SPEED + 1e-9
        assert np.abs(motion.rate - speed).max() <= ACCELERATION * PERIOD + 1e-9
        np.testing.assert_allclose(motion.value - before, 0.5 * PERIOD * (motion.rate + speed), atol=1e-12)
    np.testing.assert_allclose(motion.value, goal, atol=1e-6)
    np.testing.assert_allclose(motion.rate, 0.0, atol=1e-6)


def test_a_step_takes_the_time_of_bang_bang_motion_and_does_not_overshoot() -> None:
    motion = LimitedAngles(1, np.array([SPEED]), np.array([ACCELERATION]))
    distance = 1.5
    values: list[float] = []
    while not values or abs(values[-1] - distance) > 1e-4:
        motion.advance(np.array([distance]), PERIOD)
        values.append(float(motion.value[0]))
    assert len(values) * PERIOD == pytest.approx(distance / SPEED + SPEED / ACCELERATION, abs=0.03)
    assert max(values) <= distance + 1e-6


def test_a_blocked_joint_keeps_its_target_near() -> None:
    motion = LimitedAngles(2, np.full(2, SPEED), np.full(2, ACCELERATION))
    q, v, near = np.zeros(2), np.zeros(2), np.array([0.05, 10.0])
    for _ in range(1000):
        motion.hold_near(q, v, near)
        motion.advance(np.ones(2), PERIOD)
    assert motion.value[0] <= 0.05 + SPEED * PERIOD
    assert motion.value[1] == pytest.approx(1.0)


@pytest.mark.parametrize("seed", range(3))
def test_a_pose_arrives_in_position_and_rotation_within_its_limits(seed: int) -> None:
    random = np.random.default_rng(seed)
    motion = LimitedPose((1.0, 3.0), (6.0, 20.0))
    motion.restart(pinocchio.SE3.Random(), random.normal(0.0, 1.0, 6))
    goal = pinocchio.SE3.Random()
    for _ in range(1500):
        before, twist = motion.pose.copy(), motion.twist.copy()
        motion.advance(goal.translation, goal.rotation, PERIOD)
        for part, speed, acceleration in ((slice(0, 3), 1.0, 6.0), (slice(3, 6), 3.0, 20.0)):
            assert np.linalg.norm(motion.twist[part]) <= speed + 1e-9
            assert np.linalg.norm(motion.twist[part] - twist[part]) <= acceleration * PERIOD + 1e-9
        moved = 0.5 * PERIOD * (motion.twist + twist)
        np.testing.assert_allclose(motion.pose.translation - before.translation, moved[:3], atol=1e-12)
        turned = pinocchio.log3(motion.pose.rotation @ before.rotation.T)
        np.testing.assert_allclose(turned, moved[3:], atol=1e-9)
    assert np.linalg.norm(pinocchio.log6(goal.actInv(motion.pose)).vector) < 1e-5


def test_a_pose_without_a_wished_rotation_does_not_turn() -> None:
    motion = LimitedPose((1.0, 3.0), (6.0, 20.0))
    for _ in range(100):
        motion.advance(np.ones(3), None, PERIOD)
    np.testing.assert_allclose(motion.pose.rotation, np.eye(3), atol=1e-12)


def test_shorten_keeps_short_vectors() -> None:
    np.testing.assert_allclose(shorten(np.array([3.0, 4.0, 0.0]), 1.0), [0.6, 0.8, 0.0])
    np.testing.assert_allclose(shorten(np.array([0.3, 0.4, 0.0]), 1.0), [0.3, 0.4, 0.0])
