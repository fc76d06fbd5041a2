"""Recovery from a push: its tasks against Newton and Euler, and its height and phases against the pendulum."""

from __future__ import annotations

import math

import numpy as np
import pinocchio
import pytest

from poise import constraints
from poise.behaviors import Walk
from poise.behaviors.recovery import HeightDrop, Recovery
from poise.behaviors.recovery_tasks import GroundReaction
from poise.plans import LARGEST_EXTENSION, BodyDimensions, Footstep, GaitPhase
from poise.robots import GRAVITY
from poise.state import Snapshot
from poise.tasks import FeedForwardTarget
from robot_states import installed_robot

BODY = BodyDimensions(leg_length=0.8, stance_width=0.2, com_height=0.75, hip_height=0.76, sole_size=(0.2, 0.08))
RIGHT, LEFT = Footstep("right", 0.0, -0.1), Footstep("left", 0.0, 0.1)
STANDING = GaitPhase("standing", 0.0, math.inf, RIGHT, LEFT, RIGHT)


@pytest.mark.needs_models
@pytest.mark.parametrize("seed", range(3))
def test_the_ground_reaction_acts_at_the_commanded_point(seed: int) -> None:
    """With c̈_z = 0, ``z_x = c_x - (h c̈_x + L̇_y / m) / g`` and ``z_y = c_y - (h c̈_y - L̇_x / m) / g``."""
    robot = installed_robot("g1")
    random = np.random.default_rng(seed)
    stance = robot.stance("standing")
    q = pinocchio.integrate(robot.model, stance.q, 0.1 * random.normal(size=robot.model.nv))
    v, vdot = random.normal(size=robot.model.nv), random.normal(size=robot.model.nv)
    state, height = stance.replace(q=q, v=v), 0.7
    data = robot.model.createData()
    pinocchio.computeCentroidalMomentumTimeVariation(robot.model, data, q, v, vdot)
    force, moment = data.dhg.linear, data.dhg.angular
    zmp = data.com[0][:2] - height / GRAVITY * np.array(
        [
            force[0] / robot.mass + moment[1] / (robot.mass * height),
            force[1] / robot.mass - moment[0] / (robot.mass * height),
        ]
    )
    snapshot = Snapshot(robot).at(state)
    task = GroundReaction(FeedForwardTarget(np.zeros(3)), robot.mass, height)
    acceleration = task.jacobian(snapshot) @ vdot + task.drift(snapshot)
    assert data.com[0][:2] - height / GRAVITY * acceleration == pytest.approx(zmp, abs=1e-9)


@pytest.mark.needs_models
def test_a_sole_may_tip_but_not_slide_or_turn() -> None:
    walk = Walk(installed_robot("g1"), steps=0)
    walking, recovering = (walk.task_set.hierarchies[name].level("contact").tasks for name in ("left", "recover left"))
    assert [task.labels(walk.robot) for task in walking] == [("x", "y", "z", "about x", "about y", "about z")]
    assert [task.labels(walk.robot) for task in recovering] == [("x", "y", "z", "about z")]
    snapshot = Snapshot(walk.robot).at(walk.start)
    fixed, tipping = (constraints.RigidContact(walk.robot.foot("right"), rotation_axes=axes) for axes in ("xyz", "z"))
    assert tipping.jacobian(snapshot) == pytest.approx(fixed.jacobian(snapshot)[[0, 1, 2, 5]], abs=1e-12)


@pytest.mark.parametrize("span", [0.1, 0.3, 0.5])
def test_the_body_sinks_until_the_leg_reaches(span: float) -> None:
    drop = HeightDrop(BODY).required(BODY.com_height, 0.0, span)
    leg = math.hypot(span, BODY.hip_height - drop)
    assert leg <= LARGEST_EXTENSION * BODY.leg_length + 1e-9 or drop == pytest.approx(0.3 * BODY.leg_length)
    if drop > 0.0:
        assert leg >= LARGEST_EXTENSION * BODY.leg_length - 1e-9, "no deeper than needed"


def test_a_drop_is_reached_in_time_and_never_faster_than_a_fall() -> None:
    drop, period = HeightDrop(BODY), 0.002
    for tick in range(100):
        drop.advance(0.06, 0.2 - tick * period, period)
        assert 0.0 < drop.load < 1.6
    assert drop.value == pytest.approx(0.06, abs=0.006)
    for _ in range(1500):
        drop.advance(0.0, math.inf, period)
        assert drop.load > 0.0
    assert drop.value == pytest.approx(0.0, abs=1e-3)


def test_a_recovery_ends_after_a_calm_time_only() -> None:
    recovery = Recovery(BODY)
    recovery.update(STANDING, 0.0, 0.05)
    assert not recovery.active
    recovery.update(STANDING, 0.1, 0.1)
    for time in np.arange(0.11, 0.5, 0.01):
        recovery.update(STANDING, float(time), 0.03 if time < 0.3 else 0.0)
        assert recovery.active == (time < 0.45), time
