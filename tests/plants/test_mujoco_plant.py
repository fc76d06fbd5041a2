"""MujocoPlant: standing, falling and flight agree with mechanics, and the loop never raises."""

import math
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from poise.control import Command
from poise.plants import MujocoPlant, Push, Sensors, steps
from poise.robots import Robot, State, library_names, load_robot
from robot_states import installed_robot
from simulated_robots import (
    PERIOD,
    OpenLoopTorques,
    airborne_state,
    biped,
    energy,
    kinetic_energy,
    momentum,
    run_standing,
    run_torques,
    torque_command,
)
from small_robots import PENDULUM, write_urdf

GRAVITY = np.array([0.0, 0.0, -9.81])


def swing_torques(robot: Robot, share: float = 0.04) -> Callable[[float], np.ndarray]:
    """Torques of every joint that swing at their own rates, up to a share of their limits: no end stop is reached."""
    rates = np.linspace(20.0, 60.0, len(robot.joints))
    return lambda time: share * robot.limits.torque * np.cos(rates * time)


# -- standing ----------------------------------------------------------------------------------------------------------


@pytest.mark.needs_models
@pytest.mark.parametrize("name", library_names())
def test_forces_at_rest_carry_the_weight_evenly(name: str) -> None:
    """Bar: half a percent; measured: a hundredth of that."""
    robot = installed_robot(name)
    plant = MujocoPlant(robot)
    last = run_standing(plant, 1.0)[-1]
    weight = 9.81 * robot.mass
    assert last.readings is not None
    forces = last.readings.forces
    assert forces.total == pytest.approx([0.0, 0.0, weight], abs=1e-4 * weight)
    for foot in robot.feet:
        assert forces[foot.name][2] == pytest.approx(weight / 2, rel=1e-3)
    assert np.abs(plant.truth().v).max() < 1e-3
    assert not plant.fallen
    assert plant.notes == []


@pytest.mark.needs_models
@pytest.mark.parametrize("name", library_names())
def test_the_first_tick_is_as_quiet_as_the_last(name: str) -> None:
    """The start is lowered by the static penetration of the contacts, so that no foot has to land first."""
    robot = installed_robot(name)
    plant = MujocoPlant(robot)
    weight = 9.81 * robot.mass
    assert plant.state().contacts == robot.feet
    assert plant.readings().forces.total[2] == pytest.approx(weight, rel=1e-4)
    assert 0.0 < plant.start.q[2] - plant.truth().q[2] < 3e-4
    for step in run_standing(plant, 0.05):
        assert step.state.contacts == robot.feet
        assert step.readings is not None
        assert step.readings.forces.total[2] == pytest.approx(weight, rel=0.02)
        assert np.abs(step.state.v).max() < 0.05


def test_the_plant_starts_from_a_robot_or_a_state() -> None:
    robot = biped()
    assert MujocoPlant(robot).start is robot.stance("standing")
    start = airborne_state(robot, time=1.5)
    plant = MujocoPlant(start)
    assert plant.start is start
    assert plant.robot is robot
    assert plant.time == plant.state().time == 1.5


def test_a_robot_without_feet_and_hands_can_be_simulated_too(tmp_path: Path) -> None:
    robot = load_robot(write_urdf(tmp_path, PENDULUM))
    q = robot.rest.copy()
    q[2] += 2.0
    plant = MujocoPlant(State(robot, q))
    run_torques(plant, 0.1)
    assert plant.state().contacts == ()
    assert plant.readings().forces.wrenches.shape == (0, 6)
    assert plant.readings().cells == {}
    assert plant.truth().center_of_mass[2] == pytest.approx(plant.start.center_of_mass[2] - 0.5 * 9.81 * 0.01, abs=1e-3)


# -- flying ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weightless", [True, False])
def test_energy_changes_by_the_work_of_the_torques(weightless: bool) -> None:
    """Without contact and damping; the error of the integrator is of the first order in its step."""
    robot = biped()
    errors = []
    for period in (1e-3, 1e-4):
        plant = MujocoPlant(airborne_state(robot), period=period)
        if weightless:
            plant.model.opt.gravity[:] = 0.0
        measure, torque = kinetic_energy if weightless else energy, swing_torques(robot)
        states = run_torques(plant, 0.3, torque)
        power = [torque(a.time) @ (a.v + b.v)[6:] / 2 for a, b in pairwise(states)]
        work, done = period * float(np.sum(power)), period * float(np.sum(np.abs(power)))
        assert plant.data.nefc == 0
        assert done > 1.0  # although much of the work is negative
        # A fall converts a hundred times as much energy, so the error is relative to that.
        scale = done if weightless else kinetic_energy(states[-1])
        errors.append(abs(measure(states[-1]) - measure(states[0]) - work) / scale)
    assert errors[1] < 1e-3
    assert errors[1] < errors[0] / 5


def test_in_flight_only_gravity_changes_the_momentum() -> None:
    """With any joint torques, the center of mass falls on a parabola, and angular momentum is constant."""
    robot = biped()
    spin = np.zeros(robot.model.nv)
    spin[:6] = [0.3, -0.2, 1.0, 0.5, 0.4, -0.6]
    plant = MujocoPlant(airborne_state(robot, v=spin), period=1e-4)
    states = run_torques(plant, 0.3, swing_torques(robot))
    first, last = states[0], states[-1]
    drop = momentum(last)[:3] - momentum(first)[:3]
    assert drop == pytest.approx(0.3 * robot.mass * GRAVITY, abs=1e-3 * robot.mass)
    assert momentum(last)[3:] == pytest.approx(momentum(first)[3:], abs=2e-3)
    velocity = momentum(first)[:3] / robot.mass
    fallen = first.center_of_mass + 0.3 * velocity + 0.5 * 0.3**2 * GRAVITY
    assert last.center_of_mass == pytest.approx(fallen, abs=1e-3)
    assert last.contacts == ()


# -- falling -----------------------------------------------------------------------------------------------------------


@pytest.mark.needs_models
def test_a_robot_without_torques_falls_and_lies_on_the_ground() -> None:
    robot = installed_robot("g1")
    plant = MujocoPlant(robot)
    for _ in steps(OpenLoopTorques(robot), plant, 3.0):
        pass
    assert plant.fallen
    assert plant.fall.startswith("fell at 0.")
    assert "\n" not in plant.fall
    assert plant.data.contact.dist.min() > -0.01  # no penetration
    assert plant.truth().q[2] > 0.05
    assert not plant.failure


def crouching_state(robot: Robot) -> State:
    """Talos with its knees bent as far as they go, soles on the ground."""
    stance = robot.stance("standing")
    q = np.array(stance.q)
    for side in ("left", "right"):
        for number, angle in ((3, -1.2), (4, 2.3), (5, -1.1)):
            q[robot.joint(f"leg_{side}_{number}_joint").q] = angle
    crouch = stance.replace(q=q)
    q[2] -= min(crouch.pose(foot).act(corner)[2] for foot in robot.feet for corner in foot.corners)
    return stance.replace(q=q)


@pytest.mark.needs_models
def test_a_body_that_touches_the_ground_is_a_fall_unless_it_may() -> None:
    """Talos sinks down from a crouch: its thighs touch first."""
    robot = installed_robot("talos")
    start = crouching_state(robot)
    plant = MujocoPlant(start)
    for _ in steps(OpenLoopTorques(robot), plant, 1.0):
        if plant.fallen:
            break
    assert plant.fall.endswith("touches the ground")
    body = plant.fall.split(": ")[1].split()[0]
    joints = [robot.joint(name) for name in (body, body.replace("left", "right"), body.replace("right", "left"))]
    thighs = {joint.name: frame for joint in joints for frame in robot.frames.values() if frame.joint == joint.index}
    sitting = MujocoPlant(start, contact_frames=list(thighs.values()))
    for _ in steps(OpenLoopTorques(robot), sitting, plant.time):
        pass
    assert "leg" not in sitting.fall


def test_a_base_that_tilts_or_sinks_is_a_fall() -> None:
    robot = biped()
    spin = np.zeros(robot.model.nv)
    spin[4] = 10.0
    tilting = MujocoPlant(airborne_state(robot, v=spin))
    run_torques(tilting, 0.05)
    assert not tilting.fallen
    run_torques(tilting, 0.1)
    assert "tilted by more than 60 degrees" in tilting.fall
    sinking = MujocoPlant(airborne_state(robot, height=0.0))
    run_torques(sinking, 1.5)
    assert "below half of its height" in sinking.fall or "tilted" in sinking.fall


# -- time --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("tick", "period"), [(0.002, 0.001), (0.005, 0.002), (0.0033, 0.001), (0.001, 0.001)])
def test_controller_and_simulation_keep_their_own_rates(tick: float, period: float) -> None:
    robot = biped()
    plant = MujocoPlant(airborne_state(robot), period=period)
    for n in range(1, 1001):
        plant.apply(torque_command(robot, 0.0, tick))
        plant.advance()
        assert -1e-9 <= n * tick - plant.time < period - 1e-9
    assert plant.time == pytest.approx(math.floor(1000 * tick / period + 1e-6) * period, abs=1e-12)


def test_without_a_command_nothing_moves() -> None:
    plant = MujocoPlant(airborne_state(biped()))
    plant.advance()
    assert plant.time == 0.0
    assert np.array_equal(plant.truth().q, plant.start.q)


def test_reading_twice_gives_the_same_values() -> None:
    plant = MujocoPlant(biped(), sensors=Sensors(noise=0.01))
    assert plant.state() is plant.state()
    assert plant.truth() is plant.truth()
    first, second = plant.readings(), plant.readings()
    assert np.array_equal(first.forces.wrenches, second.forces.wrenches)
    assert np.array_equal(first.imu.acceleration, second.imu.acceleration)


def test_readings_do_not_change_later() -> None:
    """Readings of a step are read after the plant has advanced."""
    robot = biped()
    plant = MujocoPlant(robot)
    readings = plant.readings()
    forces, cells, truth = readings.forces.wrenches.copy(), dict(readings.cells), readings.truth.q.copy()
    run_torques(plant, 0.1)
    assert np.array_equal(readings.forces.wrenches, forces)
    assert all(np.array_equal(readings.cells[name], cells[name]) for name in cells)
    assert np.array_equal(readings.truth.q, truth)
    with pytest.raises(ValueError, match="read-only"):
        readings.truth.q[0] = 1.0


def test_seed_and_commands_decide_everything() -> None:
    robot = biped()

    def run(seed: int) -> list[np.ndarray]:
        plant = MujocoPlant(robot, seed=seed, sensors=Sensors(noise=0.01), pushes=[Push((30, 5, 0), 0.05, 0.1)])
        return [np.concatenate([step.state.q, step.state.v]) for step in run_standing(plant, 0.3)]

    assert all(np.array_equal(a, b) for a, b in zip(run(3), run(3), strict=True))
    assert not np.array_equal(run(3)[-1], run(4)[-1])


# -- invalid commands --------------------------------------------------------------------------------------------------


BAD: list[tuple[object, str]] = [
    (None, "no torque"),
    (np.zeros(3), "no torque"),
    ("strong", "no torque"),
    (np.nan, "torque not finite"),
    (np.inf, "torque not finite"),
    (1e300, "torque saturated"),
]


@pytest.mark.parametrize(("torque", "name"), BAD, ids=[f"{torque} is {name}" for torque, name in BAD])
def test_a_bad_torque_is_replaced_counted_and_noted_once(torque: object, name: str) -> None:
    robot = biped()
    if isinstance(torque, float):
        torque = np.full(len(robot.joints), torque)
    plant = MujocoPlant(robot)
    for _ in range(10):
        plant.apply(Command(np.zeros(robot.model.nv), None, torque, PERIOD))  # type: ignore[arg-type]
        plant.advance()
        assert np.isfinite(plant.state().q).all()
        assert np.isfinite(plant.state().v).all()
    assert plant.counts[name] == 10
    assert [note for note in plant.notes if note.startswith(name)] == plant.notes
    assert len(plant.notes) == 1


@pytest.mark.parametrize("period", [math.nan, -1.0, 0.0, math.inf, None])
def test_a_bad_period_is_that_of_the_command_before(period: object) -> None:
    robot = biped()
    plant = MujocoPlant(airborne_state(robot))
    plant.apply(torque_command(robot, 0.0, 0.004))
    plant.advance()
    plant.apply(torque_command(robot, 0.0, period))  # type: ignore[arg-type]
    plant.advance()
    assert plant.time == pytest.approx(0.008)


@pytest.mark.parametrize("delay", [0.0, 0.003])
@pytest.mark.parametrize("value", [math.nan, 1e12])
def test_a_failed_simulation_is_frozen_and_reported(
    value: float, delay: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    robot = biped()
    plant = MujocoPlant(robot, sensors=Sensors(delay=delay))
    for n in range(50):
        plant.apply(torque_command(robot))
        if n == 10:
            plant.data.qvel[8] = value
        plant.advance()
        state, readings = plant.state(), plant.readings()
        assert np.isfinite(state.q).all()
        assert np.isfinite(state.v).all()
        assert np.isfinite(readings.forces.wrenches).all()
        assert np.isfinite(readings.imu.acceleration).all()
    assert "the simulation failed at 0.022 s" in plant.failure
    assert plant.fallen
    assert plant.time == pytest.approx(0.1)
    assert not plant.truth().v.any()
    assert not list(tmp_path.iterdir())  # no log file of the engine
    assert capfd.readouterr() == ("", "")
