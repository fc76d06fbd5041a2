"""Sensors: exact by default; otherwise with the given delay, noise and resolution."""

import numpy as np
import pinocchio
import pytest

from poise.control import Command
from poise.plants import MujocoPlant, Push, Sensors, steps
from robot_states import installed_robot
from simulated_robots import PERIOD, OpenLoopTorques, airborne_state, biped, run_standing, run_torques, torque_command

GRAVITY = np.array([0.0, 0.0, -9.81])


def swing_torques(time: float) -> np.ndarray:
    return 8.0 * np.cos(np.linspace(5.0, 25.0, 10) * time)


# -- ideal sensors -----------------------------------------------------------------------------------------------------


def test_ideal_sensors_measure_the_true_state() -> None:
    robot = biped()
    plant = MujocoPlant(robot)
    for step in steps(OpenLoopTorques(robot, swing_torques), plant, 0.1):
        readings = step.readings
        assert readings is not None
        assert step.state is readings.truth
        assert np.array_equal(readings.positions, step.state.q[7:])
        assert np.array_equal(readings.velocities, step.state.v[6:])


def test_force_cells_and_ankle_sensor_agree() -> None:
    """Cells add up to the ankle's normal force, and their lever arms to its moment about the sole's axes."""
    robot = biped()
    plant = MujocoPlant(robot, pushes=[Push((20, 5, 0), 0.2, 0.0)])
    run_standing(plant, 0.1)
    readings, truth = plant.readings(), plant.truth()
    for foot in robot.feet:
        cells, wrench = readings.cells[foot.name], readings.forces[foot.name]
        R = truth.pose(foot).rotation
        force, moment = R.T @ wrench[:3], R.T @ wrench[3:]
        assert (cells >= -1e-9).all()
        assert cells.sum() == pytest.approx(force[2], rel=1e-6)
        arms = foot.corners - foot.sole.center
        assert moment[:2] == pytest.approx([cells @ arms[:, 1], -cells @ arms[:, 0]], abs=0.01 * cells.sum() * 0.1)
        assert np.ptp(cells) > 1.0  # the push loads the cells unequally


def test_measured_forces_explain_the_change_of_momentum() -> None:
    """``d/dt (m ċ) = Σ F + m g``, over a motion with impacts."""
    robot = biped()
    plant = MujocoPlant(airborne_state(robot, height=0.05), period=5e-4)
    impulse, states = np.zeros(3), [plant.truth()]
    for _ in range(600):
        plant.apply(torque_command(robot, swing_torques(plant.time), 5e-4))
        plant.advance()
        impulse += 5e-4 * (plant.readings().forces.total + robot.mass * GRAVITY)
        states.append(plant.truth())
    data = robot.model.createData()
    change = [pinocchio.computeCentroidalMomentum(robot.model, data, s.q, s.v).linear for s in (states[0], states[-1])]
    assert impulse == pytest.approx(change[1] - change[0], abs=0.03 * 0.3 * 9.81 * robot.mass)


def test_the_accelerometer_measures_gravity_at_rest_and_zero_in_flight() -> None:
    robot = biped()
    assert MujocoPlant(robot).readings().imu.acceleration == pytest.approx([0.0, 0.0, 9.81], abs=1e-6)
    standing = MujocoPlant(robot)
    run_standing(standing, 0.3)
    assert standing.readings().imu.acceleration == pytest.approx([0.0, 0.0, 9.81], abs=0.02)
    flight = MujocoPlant(airborne_state(robot))
    run_torques(flight, 0.02)
    assert flight.readings().imu.acceleration == pytest.approx(np.zeros(3), abs=1e-6)
    assert not flight.readings().forces.wrenches.any()
    imu, truth = standing.readings().imu, standing.truth()
    assert np.array_equal(imu.orientation, truth.q[3:7])
    assert np.array_equal(imu.angular_velocity, truth.v[3:6])


# -- delay -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("delay", [0.001, 0.004, 0.017])
def test_a_delay_is_exact(delay: float) -> None:
    """The measured state is the true one of the delay before, to the last bit; at first, the start."""
    robot = biped()
    start = airborne_state(robot)
    late = MujocoPlant(start, sensors=Sensors(delay=delay))
    states = [step.state for step in steps(OpenLoopTorques(robot, swing_torques), late, 0.06)]
    true = MujocoPlant(start)
    past = {0: true.truth()}
    for n in range(1, 61):
        torque = torque_command(
            robot, swing_torques(PERIOD * ((n - 1) // 2)), 0.001
        )  # as commanded in open loop at that tick
        true.apply(torque)
        true.advance()
        past[n] = true.truth()
    for n, state in enumerate(states):
        before = past[max(2 * n - round(delay / 0.001), 0)]
        assert np.array_equal(state.q, before.q)
        assert np.array_equal(state.v, before.v)
        assert state.time == pytest.approx(PERIOD * n)


def test_forces_and_imu_are_as_late_as_the_rest() -> None:
    robot = biped()
    plants = [MujocoPlant(robot, sensors=Sensors(delay=delay)) for delay in (0.0, 0.006)]
    prompt, late = (
        [step.readings for step in steps(OpenLoopTorques(robot, swing_torques), plant, 0.05)] for plant in plants
    )
    for now, then in zip(late[3:], prompt, strict=False):
        assert now is not None
        assert then is not None
        assert np.array_equal(now.forces.wrenches, then.forces.wrenches)
        assert np.array_equal(now.imu.acceleration, then.imu.acceleration)
        assert np.array_equal(now.positions, then.positions)


# -- noise -------------------------------------------------------------------------------------------------------------


def test_noise_has_the_deviations_of_the_table() -> None:
    robot, level = biped(), 0.02
    plant = MujocoPlant(robot, sensors=Sensors(noise=level), seed=5)
    command = Command(np.zeros(robot.model.nv), None, plant._simulation.holding_torque, 0.0001)  # nearly no time passes
    q, v, forces, cells, shakes = [], [], [], [], []
    for _ in range(3000):
        plant.apply(command)
        plant.advance()
        state, truth, readings = plant.state(), plant.truth(), plant.readings()
        exact = plant._simulation.sample().contact_readings
        q.append(pinocchio.difference(robot.model, truth.q, state.q))
        v.append(state.v - truth.v)
        forces.append(readings.forces.wrenches - exact.wrenches)
        cells.append(np.concatenate(list(readings.cells.values())) - exact.cells)
        shakes.append(readings.imu.angular_velocity - truth.v[3:6])
    assert np.std(q, axis=0) == pytest.approx(0.1 * level, rel=0.1)
    assert np.std(v, axis=0)[:6] == pytest.approx(level, rel=0.1)
    assert np.std(v, axis=0)[6:] == pytest.approx(5.0 * level, rel=0.1)
    assert np.std(forces, axis=0)[:, :3] == pytest.approx(20.0 * level, rel=0.1)
    assert np.std(forces, axis=0)[:, 3:] == pytest.approx(2.0 * level, rel=0.1)
    assert np.std(cells, axis=0) == pytest.approx(20.0 * level, rel=0.1)
    assert np.std(shakes, axis=0) == pytest.approx(level, rel=0.1)
    assert np.abs(np.mean(v, axis=0)).max() < 0.02
    assert plant.state().contacts == robot.feet


def test_noise_is_of_the_sensors_and_not_of_the_robot() -> None:
    robot = biped()
    quiet, noisy = MujocoPlant(robot), MujocoPlant(robot, sensors=Sensors(noise=0.05))
    for plant in (quiet, noisy):
        for _ in steps(OpenLoopTorques(robot, swing_torques), plant, 0.1):
            pass
    assert np.array_equal(quiet.truth().q, noisy.truth().q)
    assert not np.array_equal(noisy.truth().q, noisy.state().q)


@pytest.mark.needs_models
def test_the_noise_of_unloaded_hands_is_no_contact() -> None:
    robot = installed_robot("nao")  # light: a hundredth of its weight is 2.5 standard deviations of this noise
    plant = MujocoPlant(robot.stance("standing"), sensors=Sensors(noise=0.01), seed=7)
    command = Command(np.zeros(robot.model.nv), None, plant._simulation.holding_torque, 0.0001)
    for _ in range(1500):
        plant.apply(command)
        plant.advance()
        assert plant.state().contacts == robot.feet


# -- resolution --------------------------------------------------------------------------------------------------------


def test_angles_and_forces_come_in_steps() -> None:
    robot, angle, force = biped(), 1e-3, 0.5
    plant = MujocoPlant(robot, sensors=Sensors(encoder_step=angle, force_step=force))
    run_standing(plant, 0.1)
    state, truth, readings = plant.state(), plant.truth(), plant.readings()
    assert state.q[7:] / angle == pytest.approx(np.round(state.q[7:] / angle), abs=1e-6)
    assert np.abs(state.q[7:] - truth.q[7:]).max() <= angle / 2 + 1e-12
    assert np.array_equal(readings.positions, state.q[7:])
    assert np.array_equal(state.q[:7], truth.q[:7])
    exact = plant._simulation.sample().contact_readings
    for foot in robot.feet:
        cells = readings.cells[foot.name]
        assert cells / force == pytest.approx(np.round(cells / force), abs=1e-6)
    assert np.abs(readings.forces.wrenches[:, :3] - exact.wrenches[:, :3]).max() <= force
    assert np.abs(readings.forces.wrenches - exact.wrenches).max() > 0.0
