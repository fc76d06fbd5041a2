"""The stance "carrying": both hands in front of the body, ready to hold a box."""

import numpy as np
import pinocchio
import pytest

from poise.robots import Robot, load_robot
from robot_states import not_none

#: Talos is not quite symmetric: its left and right arms differ by some millimeters in its model (m).
ASYMMETRY = 0.005
#: The smallest distance of a joint of the arms to the end of its range (rad): three degrees.
MARGIN = 0.05


@pytest.fixture(
    scope="module",
    params=[
        "hoap3",
        "nao",
        pytest.param("g1", marks=pytest.mark.needs_models),
        pytest.param("talos", marks=pytest.mark.needs_models),
    ],
)
def robot(request: pytest.FixtureRequest) -> Robot:
    return load_robot(request.param)


def hands(robot: Robot) -> list[np.ndarray]:
    """Positions of the left and the right hand (m)."""
    return [robot.stance("carrying").pose(robot.hand(side)).translation for side in ("left", "right")]


def test_both_hands_are_level_and_symmetric(robot: Robot) -> None:
    left, right = hands(robot)
    assert left[2] == pytest.approx(right[2], abs=1e-3)
    assert left == pytest.approx(right * [1.0, -1.0, 1.0], abs=ASYMMETRY)


def test_hands_are_before_chest_and_base_and_no_wider_than_the_shoulders(robot: Robot) -> None:
    state = robot.stance("carrying")
    chest, base = state.pose(not_none(robot.chest)).translation, state.q[:3]
    for hand in hands(robot):
        assert hand[0] > max(chest[0], base[0]) + 0.05
    left, right = hands(robot)
    assert 0.05 < left[1] - right[1] < 2.0 * shoulder(robot) + 0.01


def shoulder(robot: Robot) -> float:
    """Lateral position of the shoulder: of the outermost joint above the elbow (m)."""
    state, chain = robot.stance("standing"), robot.model.supports[robot.hand("left").joint]
    arm = [joint for joint in chain if joint not in list(robot.model.supports[robot.hand("right").joint])]
    return max(float(robot._kinematics(state).oMi[joint].translation[1]) for joint in arm[:3])


def arms(robot: Robot) -> set[int]:
    """Joints that move one hand only."""
    left, right = (set(map(int, robot.model.supports[robot.hand(side).joint])) for side in ("left", "right"))
    return left ^ right


def test_legs_and_trunk_stand_as_in_standing(robot: Robot) -> None:
    """Balanced again because of the mass of the arms: ankles and hips differ by a few degrees."""
    standing, carrying = robot.stance("standing"), robot.stance("carrying")
    for joint in robot.joints:
        if joint.index not in arms(robot):
            assert carrying.q[joint.q] == pytest.approx(standing.q[joint.q], abs=0.12), joint.name


def test_a_tenth_of_its_mass_is_within_the_strength_of_the_arms(robot: Robot) -> None:
    """At rest, ``τ = g(q) - Σ Jᵀ F`` with half of the weight F at each hand; a fifth is left to move it."""
    state, model = robot.stance("carrying"), robot.model
    data, axes = model.createData(), pinocchio.LOCAL_WORLD_ALIGNED
    torque = pinocchio.computeGeneralizedGravity(model, data, state.q).copy()
    for hand in robot.hands:
        J = pinocchio.computeFrameJacobian(model, data, state.q, hand.index, axes)
        torque += J[2] * 0.5 * 0.1 * 9.81 * robot.mass
    for joint, limit in zip(robot.joints, robot.limits.torque, strict=True):
        if joint.index in arms(robot):
            assert abs(torque[joint.v]) < 0.8 * limit, joint.name


def test_no_joint_of_the_arms_is_near_its_stop(robot: Robot) -> None:
    state = robot.stance("carrying")
    for joint, low, high in zip(robot.joints, robot.limits.lower, robot.limits.upper, strict=True):
        if joint.index in arms(robot):
            assert low + MARGIN <= state.q[joint.q] <= high - MARGIN, joint.name
