"""IdealPlant integrates commands exactly, and the control loop yields every step."""

import math
from itertools import pairwise

import numpy as np
import pinocchio
import pytest

from poise import tasks
from poise.control import Command, Controller, ControlStep, KinematicController
from poise.errors import PoiseError
from poise.hierarchy import Hierarchy, Level
from poise.plants import IdealPlant, Plant, steps
from poise.robots import State
from robot_states import PERIOD, installed_robot, random_state

ROBOT = installed_robot("g1")
START = random_state(ROBOT, 1)
STILL = Hierarchy(levels=[Level("still", [tasks.Posture(START)])])


def velocity_command(v: np.ndarray, period: float = PERIOD) -> Command:
    return Command(v, None, None, period)


def acceleration_command(v: np.ndarray, a: np.ndarray, period: float = PERIOD) -> Command:
    return Command(v + period * a, a, None, period)


def test_a_velocity_is_taken_at_once_and_held_for_the_period() -> None:
    plant = IdealPlant(START)
    v = np.random.default_rng(2).normal(size=ROBOT.model.nv)
    plant.apply(velocity_command(v, 0.02))
    plant.advance()
    state = plant.state()
    assert state.time == pytest.approx(START.time + 0.02)
    assert np.array_equal(state.v, v)
    assert state.q[7:] == pytest.approx(START.q[7:] + 0.02 * v[6:])
    twist = pinocchio.Motion(0.02 * v[:6])  # of the base, in its own frame: a screw motion
    expected = pinocchio.XYZQUATToSE3(START.q[:7]) * pinocchio.exp6(twist)
    assert pinocchio.XYZQUATToSE3(state.q[:7]).isApprox(expected, 1e-12)


def test_many_short_periods_are_one_long_one() -> None:
    """The base's rotation is integrated exactly: a constant twist may be divided into any periods."""
    v = np.random.default_rng(3).normal(size=ROBOT.model.nv)
    ends = []
    for count in (1, 50):
        plant = IdealPlant(START)
        for _ in range(count):
            plant.apply(velocity_command(v, 0.5 / count))
            plant.advance()
        ends.append(plant.state().q)
    assert ends[0] == pytest.approx(ends[1], abs=1e-9)


def test_an_acceleration_is_constant_over_the_period() -> None:
    """q + v T + a T² / 2, v + a T"""
    plant = IdealPlant(START)
    a = np.random.default_rng(4).normal(size=ROBOT.model.nv)
    plant.apply(acceleration_command(START.v, a, 0.02))
    plant.advance()
    state = plant.state()
    assert state.v == pytest.approx(START.v + 0.02 * a)
    assert state.q[7:] == pytest.approx(START.q[7:] + 0.02 * START.v[6:] + 0.5 * 0.02**2 * a[6:])


def test_accelerations_follow_a_polynomial_without_drift() -> None:
    """A joint with the acceleration of a cubic, sampled at the middle of each period, ends on the cubic."""
    plant = IdealPlant(START.replace(v=np.zeros(ROBOT.model.nv), time=0.0))
    joint = ROBOT.joints[10]
    for k in range(200):
        a = np.zeros(ROBOT.model.nv)
        a[joint.v] = 6.0 * (k + 0.5) * PERIOD  # of t³, whose mean over a period it is
        plant.apply(acceleration_command(plant.state().v, a))
        plant.advance()
    end = plant.state()
    assert end.time == pytest.approx(1.0)
    assert end.v[joint.v] == pytest.approx(3.0)
    assert end.q[joint.q] - START.q[joint.q] == pytest.approx(1.0, abs=1e-4)


def test_the_quaternion_stays_of_unit_length() -> None:
    plant = IdealPlant(START)
    v = 5.0 * np.random.default_rng(5).normal(size=ROBOT.model.nv)
    for _ in range(2000):
        plant.apply(velocity_command(v))
        plant.advance()
    assert np.linalg.norm(plant.state().q[3:7]) == pytest.approx(1.0, abs=1e-12)
    plant.state().replace(time=0.0)  # which checks it


def test_without_a_command_nothing_happens_and_a_command_holds_until_the_next() -> None:
    plant = IdealPlant(START)
    plant.advance()
    assert plant.state() is START
    v = np.ones(ROBOT.model.nv)
    plant.apply(velocity_command(v))
    plant.advance()
    plant.advance()
    assert plant.state().time == pytest.approx(START.time + 2 * PERIOD)
    assert plant.state().q[7:] == pytest.approx(START.q[7:] + 2 * PERIOD)


def test_states_are_values() -> None:
    plant = IdealPlant(START)
    v = np.ones(ROBOT.model.nv)
    plant.apply(velocity_command(v))
    plant.advance()
    first = plant.state()
    q = first.q.copy()
    plant.apply(velocity_command(7.0 * v))
    plant.advance()
    assert np.array_equal(first.q, q)
    assert np.array_equal(first.v, np.ones(ROBOT.model.nv))
    for array in (first.q, first.v):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0


def test_contacts_stay_until_they_are_changed() -> None:
    plant = IdealPlant(START)
    plant.apply(velocity_command(np.zeros(ROBOT.model.nv)))
    plant.advance()
    assert plant.state().contacts == ROBOT.feet
    plant.stand_on((ROBOT.foot("left"),))
    plant.advance()
    assert plant.state().contacts == (ROBOT.foot("left"),)
    assert plant.robot is ROBOT


@pytest.mark.parametrize("start", [None, 5, START.q])
def test_a_plant_starts_from_a_state(start: object) -> None:
    with pytest.raises(PoiseError, match="expected a State") as caught:
        IdealPlant(start)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


# -- the loop ----------------------------------------------------------------------------------------------------------


def test_a_step_has_the_measured_state_and_its_command() -> None:
    plant = IdealPlant(START)
    found = list(steps(KinematicController(STILL), plant, 0.05))
    assert len(found) == 10
    for before, after in pairwise(found):
        assert isinstance(before, ControlStep)
        expected = pinocchio.integrate(ROBOT.model, before.state.q, PERIOD * before.command.velocity)
        assert after.state.q == pytest.approx(expected)
        assert after.state.time == pytest.approx(before.state.time + PERIOD)
        assert before.milliseconds > 0.0
    assert found[0].state is START
    assert plant.state().time == pytest.approx(START.time + 0.05)


@pytest.mark.parametrize(("seconds", "count"), [(0.0, 0), (0.004, 1), (0.1, 20), (1, 200), (0.3, 60)])
def test_there_is_one_step_per_period(seconds: float, count: int) -> None:
    assert len(list(steps(KinematicController(STILL), IdealPlant(START), seconds))) == count


def test_a_listener_may_stop_at_any_time() -> None:
    plant = IdealPlant(START)
    for step in steps(KinematicController(STILL), plant, 100.0):
        if step.state.time > START.time + 0.02:
            break
    assert plant.state().time < START.time + 0.05


@pytest.mark.parametrize("seconds", [-1.0, math.nan, math.inf, "long", None])
def test_seconds_are_a_number(seconds: object) -> None:
    with pytest.raises(PoiseError, match="seconds is") as caught:
        list(steps(KinematicController(STILL), IdealPlant(START), seconds))  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


def test_a_custom_plant_and_controller_run_in_the_loop() -> None:
    class MotionlessPlant(Plant):
        """A robot that does not move."""

        robot = ROBOT

        def state(self) -> State:
            return START

        def apply(self, command: Command) -> None: ...

        def advance(self) -> None: ...

    class IdleController(Controller):
        period = 0.01

        def step(self, state: State) -> Command:
            return velocity_command(np.zeros(ROBOT.model.nv), self.period)

    found = list(steps(IdleController(), MotionlessPlant(), 0.1))
    assert len(found) == 10
    assert all(step.state is START for step in found)


class WrongController(Controller):
    """A controller that returns the same object at every step, command or not."""

    period = PERIOD

    def __init__(self, output: object) -> None:
        self.output = output

    def step(self, state: State) -> Command:
        return self.output  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("output", "evidence"),
    [
        (None, "WrongController.step returned None; expected a Command"),
        (np.zeros(3), r"returned array\(\[0., 0., 0.\]\); expected a Command"),
        (velocity_command(np.zeros(3)), r"a velocity of shape \(3,\); expected 35 numbers for g1"),
        (Command(np.zeros(35), None, np.zeros(35), PERIOD), r"a torque of shape \(35,\); expected 29 numbers for g1"),
    ],
)
def test_a_controller_that_returns_no_command_for_the_robot_is_named(output: object, evidence: str) -> None:
    with pytest.raises(PoiseError, match=evidence):
        next(steps(WrongController(output), IdealPlant(START), 1.0))


def test_controllers_plants_and_commands_are_printed_in_one_short_line() -> None:
    controller, plant = KinematicController(STILL, period=PERIOD), IdealPlant(START)
    command = controller.step(START)
    assert repr(controller) == f"KinematicController(period {PERIOD:g} s, velocity order)"
    assert (repr(plant), repr(command)) == ("IdealPlant(g1)", f"Command(velocity for {PERIOD:g} s)")
