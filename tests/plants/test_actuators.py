"""Actuators: motors apply torques up to their limits; servos hold and follow their targets."""

from pathlib import Path

import numpy as np
import pytest

from drawn_robots import ROBOTS
from poise import constraints, tasks
from poise.control import Command, KinematicController
from poise.hierarchy import Hierarchy, Level
from poise.plants import MujocoPlant, PositionServos, Push, servo_gains, steps
from poise.recording import load_recording, record
from poise.robots import Robot
from robot_states import installed_robot
from simulated_robots import airborne_state, biped, run_standing, torque_command


def standing_hierarchy(robot: Robot) -> Hierarchy:
    start = robot.stance("standing")
    return Hierarchy(
        always=[constraints.JointRange(robot), constraints.JointSpeed(robot)],
        levels=[
            Level("feet", [tasks.HoldPose(foot, at=start) for foot in robot.feet]),
            Level("balance", [tasks.CenterOfMass(target=start.support_center, axes="xy")]),
            Level("posture", [tasks.Posture(target=start)]),
        ],
    )


# -- motors ------------------------------------------------------------------------------------------------------------


def test_torques_beyond_their_limits_are_cut_off_and_counted_by_joint() -> None:
    robot = biped()
    plant = MujocoPlant(airborne_state(robot))
    torques = np.zeros(len(robot.joints))
    torques[[1, 4]] = 3.0 * robot.limits.torque[[1, 4]] * [1.0, -1.0]
    torques[2] = robot.limits.torque[2]  # to the last bit
    for _ in range(5):
        plant.apply(torque_command(robot, torques))
        plant.advance()
    applied = plant.data.actuator_force
    assert applied[[1, 4]] == pytest.approx(robot.limits.torque[[1, 4]] * [1.0, -1.0])
    assert applied[2] == pytest.approx(robot.limits.torque[2])
    assert plant.saturation_counts.tolist() == [5 * (i in (1, 4)) for i in range(len(torques))]
    assert plant.counts == {"torque saturated": 5}


def test_a_command_without_torques_on_motors_is_noted_with_a_hint_to_servos() -> None:
    robot = biped()
    plant = MujocoPlant(robot)
    plant.apply(Command(np.zeros(robot.model.nv), None, None, 0.002))
    plant.advance()
    assert "PositionServos()" in plant.notes[0]
    assert not plant.data.ctrl.any()


def test_the_summary_of_a_kinematic_controller_on_motors_names_the_fall_and_its_cause(tmp_path: Path) -> None:
    robot = biped()
    plant = MujocoPlant(robot)
    path = tmp_path / "fall.poise"
    recording = record(KinematicController(standing_hierarchy(robot)), plant, seconds=1.5, path=path)
    assert plant.fall
    for text in (recording.summary(), load_recording(path).summary()):
        lines = text.splitlines()
        assert lines[1] == plant.fall
        assert lines[2].startswith("plant: no torque: ")
        assert "TorqueController" in lines[2]


# -- servos ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ROBOTS)
def test_a_kinematic_controller_stands_on_servos_and_survives_a_small_push(name: str) -> None:
    """A tenth of the push that causes a fall: an impulse of 0.1 m/s."""
    robot = installed_robot(name)
    start = robot.stance("standing")
    push = Push((robot.mass, 0, 0), duration=0.1, time=0.5)
    plant = MujocoPlant(robot, actuators=PositionServos(), pushes=[push])
    sway = []
    for _ in steps(KinematicController(standing_hierarchy(robot), period=0.005), plant, 3.0):
        sway.append(float(np.abs(plant.truth().center_of_mass - start.center_of_mass)[:2].max()))
    assert not plant.fallen
    assert max(sway[:100]) < 1e-3  # before the push
    assert max(sway) < 0.02
    assert sway[-1] < 2e-3
    assert plant.readings().forces.total[2] == pytest.approx(9.81 * robot.mass, rel=0.01)


def test_servos_hold_their_start_without_position_targets() -> None:
    robot = biped()
    plant = MujocoPlant(robot, actuators=PositionServos())
    for _ in range(200):
        plant.apply(Command(np.zeros(robot.model.nv), None, None, 0.005))
        plant.advance()
    assert np.abs(plant.truth().q[7:] - plant.start.q[7:]).max() < 1e-3
    assert not plant.counts


def test_servos_follow_the_velocities_of_commands() -> None:
    robot = biped()
    plant = MujocoPlant(airborne_state(robot), actuators=PositionServos())
    velocity = np.zeros(robot.model.nv)
    velocity[6:] = np.linspace(-1.0, 1.0, len(robot.joints))
    for _ in range(40):
        plant.apply(Command(velocity, None, None, 0.005))
        plant.advance()
    truth = plant.truth()
    assert truth.q[7:] - plant.start.q[7:] == pytest.approx(0.2 * velocity[6:], abs=5e-3)
    assert truth.v[6:] == pytest.approx(velocity[6:], abs=0.05)


def test_a_target_stays_within_reach_of_its_joint() -> None:
    """The torque of a joint at its end stop stays within the limit of its servo, and the joint turns back at once."""
    robot = biped()
    plant = MujocoPlant(airborne_state(robot, height=20.0), actuators=PositionServos())
    away = np.zeros(robot.model.nv)
    away[8] = 4.0
    for velocity, count in ((away, 200), (-away, 40)):
        for _ in range(count):
            plant.apply(Command(velocity, None, None, 0.005))
            plant.advance()
        assert np.isfinite(plant.truth().q).all()
    assert plant.truth().q[9] < robot.limits.upper[2] - 0.5
    assert plant.saturation_counts[2] > 0


def test_a_velocity_that_is_no_number_stops_the_targets() -> None:
    robot = biped()
    plant = MujocoPlant(robot, actuators=PositionServos())
    for velocity in (np.full(robot.model.nv, np.nan), np.zeros(2), None):
        plant.apply(Command(velocity, None, None, 0.005))  # type: ignore[arg-type]
        plant.advance()
    assert plant.counts == {"velocity not finite": 1, "no velocity": 2}
    assert np.abs(plant.truth().q[7:] - plant.start.q[7:]).max() < 1e-3


def test_usual_gains_are_critical_and_give_the_full_torque_at_a_degree() -> None:
    robot = biped()
    start = robot.stance("standing")
    K, D = servo_gains(PositionServos(), start)
    assert pytest.approx(K * 0.02) == robot.limits.torque
    assert (D > 0.0).all()
    K, D = servo_gains(PositionServos(stiffness=300.0, damping=np.full(10, 7.0)), start)
    assert (K == 300.0).all()
    assert (D == 7.0).all()


# -- visual meshes -----------------------------------------------------------------------------------------------------


@pytest.mark.needs_models
def test_visual_meshes_do_not_change_the_motion() -> None:
    robot = installed_robot("g1")
    plain, drawn = MujocoPlant(robot), MujocoPlant(robot, visuals=True)
    assert drawn.model.nmesh > 20
    assert drawn.notes == []
    for plant in (plain, drawn):
        run_standing(plant, 0.05)
    assert np.array_equal(plain.truth().q, drawn.truth().q)


@pytest.mark.needs_models
def test_bodies_that_may_collide_do_not_do_so_in_the_stance() -> None:
    robot = installed_robot("g1")
    plant = MujocoPlant(robot, self_collision=True)
    run_standing(plant, 0.2)
    assert not plant.fallen
    assert plant.readings().forces.total[2] == pytest.approx(9.81 * robot.mass, rel=1e-3)
    assert plant.data.ncon == 8
