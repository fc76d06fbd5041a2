"""Every library robot in MuJoCo has the masses and the equation of motion of its pinocchio model.

With R the base's rotation, MuJoCo's velocity is ``u = T⁻¹ v``, where T turns the base's linear part by Rᵀ, and

    M_u = Tᵀ M T,    h_u = Tᵀ (h + M Ṫ u),    Ṫ u = (-ω x v_base, 0).
"""

import mujoco
import numpy as np
import pinocchio
import pytest

from poise.plants import MujocoPlant
from poise.robots import Robot, State, library_names
from poise.robots.urdf import is_physical
from robot_states import installed_robot, random_state

pytestmark = pytest.mark.needs_models

#: Agreement of numbers up to a few thousand, computed twice in double precision.
TOLERANCE = 1e-9
SEEDS = range(5)


@pytest.fixture(scope="module", params=library_names())
def robot(request: pytest.FixtureRequest) -> Robot:
    return installed_robot(request.param)


@pytest.fixture(scope="module", params=SEEDS)
def seed(request: pytest.FixtureRequest) -> int:
    return int(request.param)


def airborne_random_state(robot: Robot, seed: int) -> State:
    """Some state far above the ground, with speeds around one."""
    state = random_state(robot, seed)
    q = state.q.copy()
    q[2] += 5.0
    return state.replace(q=q, contacts=())


def velocity_transform(state: State) -> np.ndarray:
    """T of v = T u."""
    T = np.eye(state.robot.model.nv)
    T[:3, :3] = pinocchio.Quaternion(state.q[3:7]).matrix().T
    return T


def plant_and_model_terms(robot: Robot, seed: int) -> tuple[MujocoPlant, State, pinocchio.Data]:
    """A plant in some state, the state, and pinocchio's terms of it."""
    state = airborne_random_state(robot, seed)
    data = robot.model.createData()
    pinocchio.computeAllTerms(robot.model, data, state.q, state.v)
    data.M[:] = np.triu(data.M) + np.triu(data.M, 1).T
    return MujocoPlant(state), state, data


def test_the_mass_matrix_of_the_simulated_robot_is_that_of_the_controller(robot: Robot, seed: int) -> None:
    plant, state, data = plant_and_model_terms(robot, seed)
    M = np.zeros((robot.model.nv, robot.model.nv))
    mujoco.mj_fullM(plant.model, plant.data, M)
    T = velocity_transform(state)
    assert np.abs(M - T.T @ data.M @ T).max() < TOLERANCE


def test_its_bias_forces_are_those_of_the_controller(robot: Robot, seed: int) -> None:
    plant, state, data = plant_and_model_terms(robot, seed)
    T, turned = velocity_transform(state), np.zeros(robot.model.nv)
    turned[:3] = -np.cross(state.v[3:6], state.v[:3])
    h = T.T @ (data.nle + data.M @ turned)
    assert np.abs(plant.data.qfrc_bias - h).max() < TOLERANCE


def test_its_center_of_mass_is_that_of_the_controller(robot: Robot, seed: int) -> None:
    plant, state, _ = plant_and_model_terms(robot, seed)
    assert np.abs(plant.data.subtree_com[1] - state.center_of_mass).max() < TOLERANCE
    assert plant.model.body_mass.sum() == pytest.approx(robot.mass, rel=1e-12)


def test_torques_accelerate_it_as_the_controller_expects(robot: Robot, seed: int) -> None:
    """MuJoCo's forward dynamics against pinocchio's, which share no code."""
    plant, state, data = plant_and_model_terms(robot, seed)
    # Below the limits, and without end stops: random states may lie beyond the range of a joint.
    torque = np.random.default_rng(seed).uniform(-0.2, 0.2, len(robot.joints)) * robot.limits.torque
    plant.model.jnt_limited[:] = 0
    plant.data.ctrl[:] = torque
    mujoco.mj_forward(plant.model, plant.data)
    a = pinocchio.aba(robot.model, data, state.q, state.v, np.concatenate([np.zeros(6), torque]))
    expected = a.copy()
    R = pinocchio.Quaternion(state.q[3:7]).matrix()
    expected[:3] = R @ (a[:3] + np.cross(state.v[3:6], state.v[:3]))
    assert np.abs(plant.data.qacc - expected).max() < 1e-6 * (1.0 + np.abs(expected).max())


def test_states_survive_the_conversion_to_the_engine_and_back(robot: Robot, seed: int) -> None:
    state = airborne_random_state(robot, seed)
    found = MujocoPlant(state).truth()
    assert np.abs(found.q - state.q).max() < 1e-12
    assert np.abs(found.v - state.v).max() < 1e-12
    assert found.time == state.time


def test_limits_of_joints_and_motors_are_those_of_the_robot(robot: Robot) -> None:
    plant = MujocoPlant(robot)
    for i, joint in enumerate(robot.joints):
        low, high = plant.model.joint(joint.name).range
        assert (low, high) == (robot.limits.lower[i], robot.limits.upper[i])
        motor = plant.model.actuator(joint.name)
        assert tuple(motor.ctrlrange) == (-robot.limits.torque[i], robot.limits.torque[i])
        assert motor.id == i


def test_the_engine_accepts_every_inertia_as_it_is(robot: Robot) -> None:
    """Errors of a URDF are repaired when the robot is loaded, for both models."""
    plant = MujocoPlant(robot)
    for joint in range(1, robot.model.njoints):
        body, inertia = plant.model.body(robot.model.names[joint]), robot.model.inertias[joint]
        assert is_physical(inertia)
        assert np.sort(body.inertia) == pytest.approx(np.linalg.eigvalsh(inertia.inertia), rel=1e-9)
        assert body.mass[0] == pytest.approx(inertia.mass, rel=1e-12)


def test_corners_of_the_soles_are_those_of_the_controller(robot: Robot) -> None:
    """The lowest points of the balls under a sole are the corners of its rectangle."""
    start = robot.stance("standing")
    plant = MujocoPlant(start.replace(contacts=()))
    for foot in robot.feet:
        pose = start.pose(foot)
        for i, corner in enumerate(foot.corners):
            ball = plant.data.geom(f"{foot.name} {i}")
            lowest = ball.xpos - pose.rotation[:, 2] * plant.model.geom(f"{foot.name} {i}").size[0]
            assert lowest == pytest.approx(pose.act(corner), abs=1e-9)
