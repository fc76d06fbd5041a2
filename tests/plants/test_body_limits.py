"""Self-collision and speed limits of motors: bodies that do not pass through each other, and joints that stay slow."""

from __future__ import annotations

import numpy as np
import pytest

from poise.constraints import body_overlap
from poise.plants import HardwareFault, MujocoPlant, PositionServos
from poise.robots import Robot, library_names
from poise.runs import Walk
from robot_states import installed_robot
from simulated_robots import airborne_state, biped, run_standing, torque_command

HIP_ROLL = {"left": "left_hip_roll_joint", "right": "right_hip_roll_joint"}


def largest_overlap_of_closing_legs(robot: Robot, self_collision: bool) -> float:
    """Overlap of bodies (m) of a robot in the air whose hips press its legs together for half a second."""
    plant = MujocoPlant(airborne_state(robot), self_collision=self_collision)
    names = [joint.name for joint in robot.joints]
    torque = np.zeros(len(names))
    torque[names.index(HIP_ROLL["left"])], torque[names.index(HIP_ROLL["right"])] = -20.0, 20.0
    postures = []
    for _ in range(250):
        hold = 40.0 * (plant.start.q[7:] - plant.truth().q[7:]) - 2.0 * plant.truth().v[6:]
        plant.apply(torque_command(robot, np.where(torque, torque, hold)))
        plant.advance()
        postures.append(plant.truth().q)
    return body_overlap(robot, np.array(postures)[::5])


@pytest.mark.needs_models
def test_legs_that_are_pressed_together_stop_at_each_other_only_with_self_collision() -> None:
    robot = installed_robot("g1")
    assert largest_overlap_of_closing_legs(robot, self_collision=False) > 0.03
    assert largest_overlap_of_closing_legs(robot, self_collision=True) < 0.01


@pytest.mark.needs_models
@pytest.mark.parametrize("name", library_names())
def test_a_robot_stands_without_touching_itself(name: str) -> None:
    robot = installed_robot(name)
    for start in robot.stances:
        plant = MujocoPlant(robot.stance(start), self_collision=True, speed_limits=True)
        assert plant.model.npair > 50
        assert plant.notes == []
        if start == "standing":
            run_standing(plant, 0.2)
            assert not plant.fallen
        geoms = plant.data.contact.geom
        assert (plant.model.geom_bodyid[geoms] == 0).any(axis=1).all()


def test_a_robot_without_shapes_has_no_self_collision() -> None:
    plant = MujocoPlant(biped(), self_collision=True)
    assert plant.model.npair == 0


# -- speed limits ------------------------------------------------------------------------------------------------------


def fastest_joint(speed_limits: bool, **arguments: object) -> tuple[float, MujocoPlant]:
    """Largest speed of a knee that is driven by its largest torque in the air, in fractions of its limit."""
    robot = biped()
    plant = MujocoPlant(airborne_state(robot), speed_limits=speed_limits, **arguments)  # type: ignore[arg-type]
    knee = next(i for i, joint in enumerate(robot.joints) if "knee" in joint.name)
    torque = np.zeros(len(robot.joints))
    torque[knee] = robot.limits.torque[knee]
    fastest = 0.0
    for _ in range(100):
        plant.apply(torque_command(robot, torque))
        plant.advance()
        fastest = max(fastest, abs(float(plant.truth().v[6 + knee])) / robot.limits.velocity[knee])
    return fastest, plant


def test_a_motor_has_no_torque_beyond_its_speed_limit() -> None:
    free, plant = fastest_joint(speed_limits=False)
    assert free > 1.2
    assert not plant.counts["speed limited"]
    limited, plant = fastest_joint(speed_limits=True)
    assert 0.85 < limited < 1.0
    assert plant.counts["speed limited"]


def test_the_torque_follows_the_line_between_both_limits() -> None:
    robot = biped()
    limit, top = robot.limits.torque, robot.limits.velocity
    start = airborne_state(robot)
    for share in (0.0, 0.5, 0.92, 0.97, 1.1):
        v = np.zeros(robot.model.nv)
        v[6:] = share * top
        for sign in (1.0, -1.0):
            plant = MujocoPlant(start.replace(v=v), speed_limits=True)
            plant.apply(torque_command(robot, sign * limit, period=0.001))
            plant.advance()
            expected = limit * min(1.0, max(0.0, (1.0 - share) / 0.1)) if sign > 0.0 else -limit
            assert plant.joint_torques() == pytest.approx(expected, abs=1e-9)


def test_servos_and_weak_motors_obey_the_speed_limit() -> None:
    robot = biped()
    v = np.zeros(robot.model.nv)
    v[6:] = 1.1 * robot.limits.velocity
    start = airborne_state(robot)
    plant = MujocoPlant(start.replace(v=v), speed_limits=True, actuators=PositionServos())
    plant.apply(torque_command(robot, period=0.001))
    plant.advance()
    assert (plant.joint_torques() <= 1e-9).all()
    joint = robot.joints[0].name
    weak = MujocoPlant(start, speed_limits=True, faults=[HardwareFault.parse(f"weak:{joint}:0.3@0")])
    weak.apply(torque_command(robot, robot.limits.torque, period=0.001))
    weak.advance()
    assert weak.joint_torques()[0] == pytest.approx(0.3 * robot.limits.torque[0])
    assert weak.joint_torques()[1] == pytest.approx(robot.limits.torque[1])


@pytest.mark.needs_models
def test_a_run_passes_both_options_to_its_plant() -> None:
    plant = Walk(self_collision=True, speed_limits=True, steps=1).build().plant  # type: ignore[call-arg]
    assert isinstance(plant, MujocoPlant)
    assert plant.model.npair > 0
    assert plant.model.actuator_forcelimited.all()
