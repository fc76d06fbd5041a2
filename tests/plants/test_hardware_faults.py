"""Hardware faults: faulty outputs from their time on; all other values stay bit-identical."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pinocchio import exp3

from poise import load_recording, record
from poise.control import Command, ControlStep
from poise.errors import PoiseError, RobotError, UsageError
from poise.plants import (
    ForceCellFault,
    HardwareFault,
    MujocoPlant,
    PlantError,
    PositionServos,
    Push,
    Sensors,
    SwappedSoleSensors,
    WeakMotor,
)
from poise.plants.engine.drives_and_faults import SensorFaults
from poise.robots import load_robot
from poise.state import ContactForces
from robot_states import not_none
from simulated_robots import PERIOD, StandingController, airborne_state, biped, run_standing, run_torques
from small_robots import PENDULUM, write_urdf

BREAKS = 0.05
PUSH = Push((20.0, 5.0, 0.0), 0.1, 0.0)


def pushed_steps(seconds: float = 0.1, sensors: Sensors = Sensors(), **changes: Any) -> list[ControlStep]:  # noqa: B008
    """A standing biped that is pushed, so that every cell changes at every tick."""
    return run_standing(MujocoPlant(biped(), pushes=[PUSH], sensors=sensors, seed=4, **changes), seconds)


def cells(steps: list[ControlStep], side: str) -> np.ndarray:
    return np.array([not_none(step.readings).cells[biped().foot(side).name] for step in steps])


def wrenches(steps: list[ControlStep], side: str) -> np.ndarray:
    return np.array([not_none(step.readings).forces[biped().foot(side).name] for step in steps])


def steps_before(steps: list[ControlStep], time: float = BREAKS) -> int:
    """Number of steps before a time."""
    return sum(step.state.time < time - 1e-9 for step in steps)


# -- cells -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sensors", [Sensors(), Sensors(noise=0.01, force_step=0.25)], ids=["exact", "noisy"])
@pytest.mark.parametrize("fault", ["dead", "stuck", "nan"])
def test_a_faulty_cell_gives_its_fault_value_and_all_others_measure(fault: str, sensors: Sensors) -> None:
    whole = pushed_steps(sensors=sensors)
    broken = pushed_steps(sensors=sensors, faults=[ForceCellFault(BREAKS, "left", 2, fault)])  # type: ignore[arg-type]
    n, expected = steps_before(whole), cells(whole, "left")
    assert 0 < n < len(whole)
    expected[n:, 2] = {"dead": 0.0, "stuck": expected[n - 1, 2], "nan": np.nan}[fault]
    assert np.array_equal(cells(broken, "left"), expected, equal_nan=True)
    assert np.array_equal(cells(broken, "right"), cells(whole, "right"))
    for side in ("left", "right"):  # the ankle has a sensor of its own
        assert np.array_equal(wrenches(broken, side), wrenches(whole, side))


def test_a_cell_stuck_from_the_beginning_repeats_its_first_value() -> None:
    whole, broken = pushed_steps(), pushed_steps(faults=[ForceCellFault(-1.0, "right", 0, "stuck")])
    assert (cells(broken, "right")[:, 0] == cells(whole, "right")[0, 0]).all()


def test_a_dead_cell_that_gets_stuck_stays_at_zero() -> None:
    broken = pushed_steps(faults=[ForceCellFault(0.08, "left", 1, "stuck"), ForceCellFault(BREAKS, "left", 1, "dead")])
    assert (cells(broken, "left")[steps_before(broken) :, 1] == 0.0).all()


def test_cells_that_get_stuck_in_turn_repeat_their_last_values() -> None:
    faults = [ForceCellFault(BREAKS + i * PERIOD, "left", i, "stuck") for i in range(4)]
    whole, broken = pushed_steps(), pushed_steps(faults=faults)
    n = steps_before(whole)
    assert np.array_equal(cells(broken, "left")[-1], np.diag(cells(whole, "left")[n - 1 : n + 3]))


def test_a_fault_is_delayed_like_every_measurement() -> None:
    sensors = Sensors(delay=0.006)
    whole, broken = (
        pushed_steps(sensors=sensors, faults=faults) for faults in ([], [ForceCellFault(BREAKS, "left", 0)])
    )
    differ = cells(whole, "left")[:, 0] != cells(broken, "left")[:, 0]
    assert int(differ.argmax()) == steps_before(whole, BREAKS + 0.006)


def test_readings_from_before_a_fault_do_not_change_later() -> None:
    faults = [ForceCellFault(BREAKS, "left", 0, "nan"), SwappedSoleSensors(0.07)]
    plant = MujocoPlant(biped(), pushes=[PUSH], faults=faults)
    all_readings, read = [], []
    controller = StandingController(plant.start)
    for _ in range(50):
        all_readings.append(plant.readings())
        read.append(plant.readings().cells[biped().foot("left").name].copy())
        plant.apply(controller.step(plant.state()))
        plant.advance()
    later = [readings.cells[biped().foot("left").name] for readings in all_readings]
    assert np.array_equal(later, read, equal_nan=True)


# -- soles -------------------------------------------------------------------------------------------------------------


def test_swapped_sole_sensors_exchange_their_readings() -> None:
    whole, broken = pushed_steps(), pushed_steps(faults=[SwappedSoleSensors(BREAKS)])
    n = steps_before(whole)
    for side, other in (("left", "right"), ("right", "left")):
        assert np.array_equal(cells(broken, side)[:n], cells(whole, side)[:n])
        assert np.array_equal(cells(broken, side)[n:], cells(whole, other)[n:])
        assert np.array_equal(wrenches(broken, side)[:n], wrenches(whole, side)[:n])
        assert not np.array_equal(wrenches(broken, side)[n:], wrenches(whole, side)[n:])
        # Soles are parallel to a ten-thousandth even when pushed, and each carries 150 N.
        assert wrenches(broken, side)[n:] == pytest.approx(wrenches(whole, other)[n:], abs=0.1)
    points = [np.array([not_none(step.readings).forces.points for step in steps]) for steps in (whole, broken)]
    assert np.array_equal(points[0], points[1])


def test_a_swapped_wrench_is_the_same_in_the_axes_of_the_sole() -> None:
    """Sensors turn with their soles: ``R_rᵀ F_faulty = R_lᵀ F_true``, also with one foot turned out."""
    random = np.random.default_rng(0)
    turns = np.array([exp3(random.standard_normal(3)) for _ in range(3)])
    true_forces = ContactForces(
        ("left", "hand", "right"), random.standard_normal((3, 6)), random.standard_normal((3, 3))
    )
    faulty = SensorFaults({}, ("left", "right")).faulty_forces(true_forces, turns)
    for one, other in ((0, 2), (2, 0)):
        inside = turns[other].T @ true_forces.wrenches[other].reshape(2, 3).T
        assert inside == pytest.approx(turns[one].T @ faulty.wrenches[one].reshape(2, 3).T)
    assert np.array_equal(faulty["hand"], true_forces["hand"])
    assert np.array_equal(faulty.points, true_forces.points)


def test_soles_that_are_swapped_twice_are_right_again() -> None:
    whole, broken = pushed_steps(), pushed_steps(faults=[SwappedSoleSensors(0.02), SwappedSoleSensors(BREAKS)])
    n = steps_before(whole)
    assert np.array_equal(cells(broken, "left")[n:], cells(whole, "left")[n:])


def test_a_faulty_cell_of_swapped_soles_appears_at_the_other_foot() -> None:
    broken = pushed_steps(faults=[ForceCellFault(0.0, "left", 3, "nan"), SwappedSoleSensors(BREAKS)])
    n = steps_before(broken)
    assert np.isnan(cells(broken, "left")[:n, 3]).all()
    assert np.isnan(cells(broken, "right")[n:, 3]).all()
    assert np.isfinite(cells(broken, "left")[n:]).all()


def test_sensor_faults_do_not_move_a_robot_without_sensor_feedback() -> None:
    """Only the readings change: states, contacts and forces of the engine are the same to the last bit."""
    faults = [
        ForceCellFault(0.0, "left", 0, "nan"),
        ForceCellFault(0.02, "right", 1, "stuck"),
        SwappedSoleSensors(BREAKS),
    ]
    for whole, broken in zip(pushed_steps(), pushed_steps(faults=faults), strict=True):
        assert np.array_equal(whole.state.q, broken.state.q)
        assert np.array_equal(whole.state.v, broken.state.v)
        assert whole.state.contacts == broken.state.contacts


def test_a_recording_contains_the_readings_of_faulty_cells(tmp_path: Path) -> None:
    plant = MujocoPlant(biped(), faults=[ForceCellFault(0.01, "left", 0, "nan")])
    record(StandingController(plant.start), plant, 0.03).save(tmp_path / "broken.poise")
    cell_readings = load_recording(tmp_path / "broken.poise")[f"measured/cells/{biped().foot('left').name}"]
    assert np.isnan(cell_readings[-1]).tolist() == [True, False, False, False]


# -- motors ------------------------------------------------------------------------------------------------------------


def test_a_weak_motor_gives_its_share_from_its_time_on() -> None:
    robot = biped()
    joint, share = robot.joints[3], 0.25
    limit = float(robot.limits.torque[3])
    plant = MujocoPlant(airborne_state(robot), faults=[WeakMotor(0.005, joint.name, share)])
    torques = []
    for _ in range(10):
        run_torques(plant, 0.001, lambda time: 0.9 * limit)
        torques.append(float(plant.data.actuator(joint.name).force[0]))
    assert torques == pytest.approx([0.9 * limit] * 5 + [share * limit] * 5)
    assert plant.saturation_counts[3] == 4  # the first of the five commands was applied before the fault


def test_a_weak_servo_gives_its_share_and_counts_it() -> None:
    robot = biped()
    knee = next(i for i, joint in enumerate(robot.joints) if joint.name == "left_knee")
    limit, share = float(robot.limits.torque[knee]), 0.05
    plants = [
        MujocoPlant(robot, actuators=PositionServos(), faults=faults)
        for faults in ([], [WeakMotor(0.02, "left_knee", share)])
    ]
    forces = np.zeros((2, 40))
    for k, plant in enumerate(plants):
        for i in range(40):
            plant.apply(Command(np.zeros(robot.model.nv), None, None, 0.001))
            plant.advance()
            forces[k, i] = plant.data.actuator("left_knee").force[0]
    whole, weak = np.abs(forces)
    assert np.array_equal(whole[:20], weak[:20])
    assert weak[20:] == pytest.approx(share * limit)
    assert (whole[20:] > 2.0 * share * limit).all()
    assert plants[1].saturation_counts[knee] == 19  # it takes effect at the next command
    assert robot.limits.torque[knee] == limit  # the model of the controller has no fault


def test_a_motor_without_torque_hangs_loose_and_may_become_whole_again() -> None:
    robot = biped()
    faults = [WeakMotor(0.006, "left_knee", 1.0), WeakMotor(0.002, "left_knee", 0.0)]
    plant = MujocoPlant(airborne_state(robot), faults=faults)
    forces = []
    for _ in range(9):
        run_torques(plant, 0.001, lambda time: 1.0)
        forces.append(float(plant.data.actuator("left_knee").force[0]))
    assert forces == pytest.approx([1.0] * 2 + [0.0] * 4 + [1.0] * 3)


# -- parsing and errors ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cell:left:2:dead@1.5", ForceCellFault(1.5, "left", 2, "dead")),
        ("cell:right:0:stuck@1", ForceCellFault(1.0, "right", 0, "stuck")),
        ("cell:left:3:nan@1", ForceCellFault(1.0, "left", 3, "nan")),
        ("swapped@2", SwappedSoleSensors(2.0)),
        ("weak:left_knee:0.3@1", WeakMotor(1.0, "left_knee", 0.3)),
    ],
)
def test_a_fault_is_read_from_the_command_line(text: str, expected: HardwareFault) -> None:
    assert HardwareFault.parse(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "swapped",
        "swapped@",
        "swapped@soon",
        "swapped@nan",
        "swapped:left@1",
        "cell:left:2@1",
        "cell:left:4:dead@1",
        "cell:left:-1:dead@1",
        "cell:left:1.5:dead@1",
        "cell:middle:1:dead@1",
        "cell:left:1:broken@1",
        "cell:left:1:dead",
        "weak:left_knee@1",
        "weak::0.3@1",
        "weak:left_knee:1.3@1",
        "weak:left_knee:nan@1",
        "weak:left_knee:half@1",
    ],
)
def test_a_malformed_fault_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(
        UsageError, match=r"is not a hardware fault; expected cell:SIDE:CORNER.* like cell:left:2:"
    ) as caught:
        HardwareFault.parse(text)
    assert "\n" not in str(caught.value)


def test_an_unknown_joint_is_refused_when_the_plant_is_built() -> None:
    with pytest.raises(RobotError, match="has no joint 'left_kne'; did you mean 'left_knee'"):
        MujocoPlant(biped(), faults=[WeakMotor(1.0, "left_kne", 0.3)])


@pytest.mark.parametrize("fault", [ForceCellFault(1.0, "left", 0), SwappedSoleSensors(1.0)])
def test_a_robot_without_feet_has_no_soles_to_break(tmp_path: Path, fault: HardwareFault) -> None:
    pendulum = load_robot(write_urdf(tmp_path, PENDULUM), stances={"standing": {"joints": {"hinge": 1.0}}})
    with pytest.raises(PoiseError, match="left foot"):
        MujocoPlant(pendulum, faults=[fault])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: HardwareFault(1.0), "HardwareFault is an abstract class"),
        (lambda: ForceCellFault(float("nan"), "left", 0), "ForceCellFault.time is nan"),
        (lambda: ForceCellFault(1.0, "both", 0), "ForceCellFault.side is 'both'"),
        (lambda: ForceCellFault(1.0, "left", True), "ForceCellFault.corner is True"),
        (lambda: ForceCellFault(1.0, "left", 4), "ForceCellFault.corner is 4; expected a whole number from 0 to 3"),
        (lambda: ForceCellFault(1.0, "left", 0, "loud"), "expected one of dead, stuck, nan"),  # type: ignore[arg-type]
        (lambda: WeakMotor(1.0, "left_knee", -0.1), "WeakMotor.torque_fraction is -0.1"),
        (lambda: WeakMotor(1.0, 3, 0.5), "WeakMotor.joint is 3"),  # type: ignore[arg-type]
        (lambda: MujocoPlant(biped(), faults=["swapped@1"]), "faults is"),  # type: ignore[list-item]
    ],
)
def test_an_invalid_fault_is_refused_in_one_line(wrong: object, message: str) -> None:
    with pytest.raises(PlantError, match=message) as caught:
        wrong()  # type: ignore[operator]
    assert "\n" not in str(caught.value)
