"""Pushes have their exact impulse, loads their weight, and model errors their size."""

import mujoco
import numpy as np
import pytest

from poise.errors import UsageError
from poise.plants import Load, ModelError, MujocoPlant, PositionServos, Push
from simulated_robots import airborne_state, biped, momentum, run_standing, run_torques

PUSH = np.array([40.0, -25.0, 10.0])


def pushed_momentum(push: Push, period: float = 1e-4) -> np.ndarray:
    """Change of momentum by a push in flight, without the effect of gravity."""
    plants = [MujocoPlant(airborne_state(biped()), pushes=pushes, period=period) for pushes in ([push], [])]
    with_push, without = (run_torques(plant, 0.05)[-1] for plant in plants)
    return momentum(with_push) - momentum(without)


# -- pushes ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("duration", [0.02, 0.0137, 0.00042])
@pytest.mark.parametrize("time", [0.005, 0.00871])
def test_a_push_changes_the_momentum_by_force_times_duration(duration: float, time: float) -> None:
    """Also for a push that begins and ends within steps of the simulation."""
    change = pushed_momentum(Push(PUSH, duration, time))
    assert change[:3] == pytest.approx(duration * PUSH, rel=2e-3, abs=1e-6)


def test_the_impulse_does_not_depend_on_the_rate_of_the_simulation() -> None:
    coarse, fine = (pushed_momentum(Push(PUSH, 0.0133, 0.0061), period) for period in (2e-3, 1e-4))
    assert coarse[:3] == pytest.approx(fine[:3], rel=0.02)


def test_a_push_at_a_frame_turns_the_robot_about_its_center_of_mass() -> None:
    """``ΔL = (p - c) x F Δt``, by a push too short for the robot to have turned."""
    robot, duration = biped(), 1e-3
    for frame in (robot.foot("left"), robot.hand("left"), robot.frame("right_shank")):
        start = airborne_state(robot)
        arm = start.pose(frame).translation - start.center_of_mass
        plants = [MujocoPlant(start, pushes=pushes, period=1e-5) for pushes in ([Push(PUSH, duration, 0.0, frame)], [])]
        with_push, without = (run_torques(plant, duration)[-1] for plant in plants)
        change = momentum(with_push) - momentum(without)
        assert change[:3] == pytest.approx(duration * PUSH, rel=1e-3)
        assert change[3:] == pytest.approx(
            duration * np.cross(arm, PUSH), abs=float(2e-3 * duration * np.linalg.norm(PUSH))
        )


def test_a_push_without_a_frame_acts_at_the_center_of_mass_of_the_base() -> None:
    robot, duration = biped(), 1e-3
    start = airborne_state(robot)
    center = start.pose(robot.frame("root_joint")).act(robot.model.inertias[1].lever)
    plants = [MujocoPlant(start, pushes=pushes, period=1e-5) for pushes in ([Push(PUSH, duration, 0.0)], [])]
    with_push, without = (run_torques(plant, duration)[-1] for plant in plants)
    change = momentum(with_push) - momentum(without)
    assert change[3:] == pytest.approx(duration * np.cross(center - start.center_of_mass, PUSH), abs=1e-5)


def test_pushes_add_up_and_end() -> None:
    one, other = Push((10, 0, 0), 0.02, 0.0), Push((0, 5, 0), 0.02, 0.01)
    plant = MujocoPlant(airborne_state(biped()), pushes=[one, other], period=1e-3)
    applied = []
    for _ in range(40):
        run_torques(plant, 1e-3)
        applied.append(plant.data.xfrc_applied[1, :2].copy())
    expected = [[10.0 * (i < 20), 5.0 * (10 <= i < 30)] for i in range(40)]
    assert np.array(applied) == pytest.approx(np.array(expected), abs=1e-9)


def test_a_push_is_read_from_the_command_line() -> None:
    push = Push.parse("80,-5,0.5,0.1@2.25")
    assert (tuple(np.asarray(push.force)), push.duration, push.time, push.frame) == ((80.0, -5.0, 0.5), 0.1, 2.25, None)


@pytest.mark.parametrize(
    "text", ["", "80,0,0", "80,0,0,0.1", "80,0,0.1@1", "a,0,0,0.1@1", "80,0,0,0.1@", "80,0,nan,0.1@1"]
)
def test_a_bad_push_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(UsageError, match="is not a push; expected FX,FY,FZ,DURATION@TIME") as caught:
        Push.parse(text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["80,0,0,0@1", "80,0,0,-0.1@1", "80,0,0,0.1@-1"])
def test_a_push_that_never_acts_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(UsageError, match=f"the push '{text}' never acts; expected a positive DURATION"):
        Push.parse(text)


# -- loads -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("string", [0.0, 0.3])
def test_feet_carry_the_load_too(string: float) -> None:
    robot = biped()
    plant = MujocoPlant(robot, loads=[Load(robot.frame("pelvis"), 2.0, string_length=string)])
    run_standing(plant, 1.0)
    assert plant.readings().forces.total[2] == pytest.approx(9.81 * (robot.mass + 2.0), rel=0.005)
    assert not plant.fallen


def test_a_hung_load_hangs_straight_down_by_its_string() -> None:
    robot = biped()
    start = robot.stance("standing")
    load = Load(robot.foot("left"), 1.0, position=(0.02, 0.01, 0.3), string_length=0.25)
    plant = MujocoPlant(start, loads=[load])
    knot = start.pose(load.frame).act(np.array([0.02, 0.01, 0.3]))
    body = plant.data.body("load 0")
    assert body.xipos == pytest.approx(knot - [0.0, 0.0, 0.25], abs=3e-4)  # the start is pressed into the ground


def test_a_hung_load_swings_as_a_pendulum() -> None:
    """Its period is ``2π √((l² + 2 r² / 5) / (g l))``; a robot three hundred times as heavy hardly moves with it."""
    robot, string, mass = biped(), 0.4, 0.1
    load = Load(robot.frame("pelvis"), mass, string_length=string)
    plant = MujocoPlant(robot, loads=[load], actuators=PositionServos())
    plant.data.qvel[int(plant.model.joint("load 0").dofadr[0]) + 1] = 0.3
    swings, side = [], 0.0
    for _ in range(3000):
        run_torques(plant, 1e-3)
        x = plant.data.body("load 0").xipos[0] - plant.data.body("root_joint").xpos[0]
        if side < 0.0 <= x:
            swings.append(plant.time)
        side = x
    radius = (mass / 1000.0 * 3 / (4 * np.pi)) ** (1 / 3)
    expected = 2 * np.pi * np.sqrt((string**2 + 0.4 * radius**2) / (9.81 * string))
    assert len(swings) > 1
    assert np.diff(swings) == pytest.approx(expected, rel=0.02)


def test_joints_are_found_beside_those_of_a_load() -> None:
    """A load on the first leg has coordinates between those of the robot."""
    robot = biped()
    start = airborne_state(robot)
    with_load = MujocoPlant(start, loads=[Load(robot.frame("left_foot"), 0.5, string_length=0.2)])
    assert with_load.model.nq == robot.model.nq + 4
    assert with_load.truth().q == pytest.approx(start.q, abs=1e-12)
    torque = np.linspace(-1.0, 1.0, len(robot.joints))
    with_load.data.ctrl[:] = torque
    mujoco.mj_forward(with_load.model, with_load.data)
    for joint, value in zip(robot.joints, torque, strict=True):
        address = int(with_load.model.joint(joint.name).dofadr[0])
        assert with_load.data.qfrc_actuator[address] == pytest.approx(value)


# -- model errors ------------------------------------------------------------------------------------------------------


def test_a_heavier_robot_is_heavier_in_every_link() -> None:
    robot = biped()
    plain, heavy = MujocoPlant(robot), MujocoPlant(robot, model_error=ModelError(mass=0.1))
    matrices = []
    for plant in (plain, heavy):
        M = np.zeros((robot.model.nv, robot.model.nv))
        mujoco.mj_fullM(plant.model, plant.data, M)
        matrices.append(M)
    assert matrices[1] == pytest.approx(1.1 * matrices[0], rel=1e-6, abs=1e-6)
    assert heavy.readings().forces.total[2] == pytest.approx(1.1 * 9.81 * robot.mass, rel=1e-3)


def test_friction_damping_and_armature_errors_are_applied_to_the_model() -> None:
    robot = biped()
    error = ModelError(friction=-0.25, damping=0.5, dry_friction=0.3, armature=0.01)
    plant = MujocoPlant(robot, friction=0.8, model_error=error)
    assert plant.model.geom("ground").friction[0] == pytest.approx(0.6)
    for joint in robot.joints:
        found = plant.model.joint(joint.name)
        values = (found.damping[0], found.frictionloss[0], found.armature[0])
        assert values == pytest.approx((0.5, 0.3, 0.01 + robot.model.armature[joint.v]))


def test_dry_friction_holds_a_joint_until_it_is_overcome() -> None:
    robot = biped()
    plants = [MujocoPlant(airborne_state(robot), model_error=ModelError(dry_friction=0.5)) for _ in range(2)]
    held = run_torques(plants[0], 0.05, lambda time: 0.3)[-1]
    moved = run_torques(plants[1], 0.05, lambda time: 2.0)[-1]
    assert np.abs(held.v[6:]).max() < 1e-2
    assert np.abs(moved.v[6:]).max() > 1.0
