"""The state predicted from an old measurement and the commands since, against a plant that executes them exactly."""

from __future__ import annotations

import numpy as np
import pinocchio
import pytest
from standing_hierarchies import standing

from poise.control import Command, DelayCompensation, TorqueController
from poise.errors import PoiseError, UsageError
from poise.plants import IdealPlant, MujocoPlant, steps
from poise.robots import Frame, State
from poise.runs import Walk
from poise.runs.world import World
from poise.state import Contact
from simulated_robots import biped

PERIOD = 0.002
ROBOT = biped()
FEET = frozenset(ROBOT.feet)


def moving_states(delay: float, ticks: int = 60) -> tuple[list[State], DelayCompensation]:
    """True states of a robot with random smooth accelerations, and a predictor that knows the accelerations."""
    random = np.random.default_rng(2)
    amplitude, rate = random.uniform(-20.0, 20.0, ROBOT.model.nv), random.uniform(5.0, 20.0, ROBOT.model.nv)
    plant = IdealPlant(ROBOT.stance("standing").replace(v=random.uniform(-1.0, 1.0, ROBOT.model.nv)))
    predictor, states = DelayCompensation(delay), [plant.state()]
    for _ in range(ticks):
        state = plant.state()
        a = amplitude * np.sin(rate * state.time)
        predictor.add(state.time, PERIOD, a, FEET)
        plant.apply(Command(state.v, a, None, PERIOD))
        plant.advance()
        states.append(plant.state())
    return states, predictor


@pytest.mark.parametrize("delay", [0.002, 0.01, 0.03])
def test_the_prediction_is_the_state_of_a_plant_that_executes_the_commands(delay: float) -> None:
    states, predictor = moving_states(delay)
    now, measured = states[-1], states[-1 - round(delay / PERIOD)]
    predicted = predictor.predict(measured.replace(time=now.time))
    assert predicted.time == now.time
    assert predicted.v == pytest.approx(now.v, abs=1e-9)
    assert predicted.q[7:] == pytest.approx(now.q[7:], abs=1e-9)
    assert np.abs(pinocchio.difference(ROBOT.model, now.q, predicted.q)).max() < 20.0 * delay**3
    assert np.abs(now.q - measured.q).max() > 0.5 * delay


def test_a_delay_between_two_ticks_uses_a_part_of_a_command() -> None:
    predictor = DelayCompensation(0.003)
    a = np.linspace(-1.0, 1.0, ROBOT.model.nv)
    predictor.add(0.0, PERIOD, a, FEET)
    predictor.add(PERIOD, PERIOD, -2.0 * a, FEET)
    start = ROBOT.stance("standing").replace(time=2 * PERIOD)
    predicted = predictor.predict(start)
    assert predicted.v == pytest.approx(0.001 * a - 2.0 * PERIOD * a)
    moved = 0.001 * a * (PERIOD + 0.0005) - 2.0 * PERIOD * a * 0.5 * PERIOD
    assert predicted.q[7:] - start.q[7:] == pytest.approx(moved[6:], abs=1e-15)


def test_nothing_is_predicted_without_a_delay_before_the_first_command_or_from_invalid_numbers() -> None:
    start = ROBOT.stance("standing")
    assert DelayCompensation(0.01).predict(start) is start
    for delay, a in ((0.0, 1.0), (0.01, np.nan), (0.01, np.inf)):
        predictor = DelayCompensation(delay)
        predictor.add(0.0, PERIOD, np.full(ROBOT.model.nv, a), FEET)
        later = start.replace(time=PERIOD)
        assert predictor.predict(later) is later


def test_the_plan_decides_on_contacts_that_changed_within_the_delay_and_the_measurement_on_others() -> None:
    left, right = ROBOT.feet
    hand: Frame = ROBOT.frame("root_joint")
    predictor, zero = DelayCompensation(0.01), np.zeros(ROBOT.model.nv)

    def contacts(tick: int, *measured: Frame) -> set[Frame]:
        state = ROBOT.stance("standing").replace(time=PERIOD * tick, contacts=measured)
        return set(predictor.predict(state).contacts)

    for tick in range(10):
        predictor.add(PERIOD * tick, PERIOD, zero, frozenset({left, right}))
    assert contacts(10, left) == {left}  # the plan is older than the delay: the right foot is in the air
    predictor.add(PERIOD * 10, PERIOD, zero, frozenset({right}))
    assert contacts(11, left, right, hand) == {right, hand}
    for tick in range(11, 20):
        predictor.add(PERIOD * tick, PERIOD, zero, frozenset({right}))
    assert contacts(20, left, right) == {left, right}  # it still touches, against the plan
    predictor.add(PERIOD * 20, PERIOD, zero, frozenset({left, right}))
    assert contacts(21, right) == {left, right}


@pytest.mark.parametrize("delay", [-0.001, 0.3, float("nan"), "1"])
def test_a_delay_that_cannot_be_compensated_is_refused(delay: object) -> None:
    with pytest.raises(PoiseError, match=r"delay is .*; expected seconds, from 0 to 0\.2"):
        DelayCompensation(delay)  # type: ignore[arg-type]


def test_a_controller_computes_the_command_for_the_predicted_state() -> None:
    """On a plant that executes its commands, it gives the commands of a controller that measures at once.

    The right foot may turn on its place: the legs have no yaw joints, and with both soles held the contacts would be
    nearly dependent, so that rounding decides whether they are, and with it the command.
    """
    start = ROBOT.stance("standing")
    left, right = ROBOT.feet
    hierarchy = standing(start, [Contact(left), Contact(right, corners=[right.sole.center])])
    prompt, late = TorqueController(hierarchy), TorqueController(hierarchy, delay=0.01)
    assert late.delay == 0.01
    plant, past = IdealPlant(start.replace(v=np.full(ROBOT.model.nv, 0.01))), []
    for tick in range(40):
        state = plant.state()
        past.append(state)
        first, second = prompt.step(state), late.step(past[max(tick - 5, 0)].replace(time=state.time))
        # Accelerations, since internal forces between the feet are not unique.
        assert second.acceleration == pytest.approx(first.acceleration, abs=1e-4)
        plant.apply(second)
        plant.advance()


# -- in physics --------------------------------------------------------------------------------------------------------


def test_a_run_compensates_the_delay_of_its_world_unless_told_otherwise() -> None:
    assert World(delay=20.0).assumed_delay_seconds == pytest.approx(0.02)
    assert World(delay=20.0, assumed_delay=5.0).assumed_delay_seconds == pytest.approx(0.005)
    assert World(delay=500.0).assumed_delay_seconds == 0.2
    with pytest.raises(UsageError):
        World(assumed_delay=300.0)


@pytest.mark.needs_models
def test_g1_walks_with_a_delay_of_thirty_milliseconds_only_if_it_is_compensated() -> None:
    errors = []
    for assumed in (None, 0.0):
        setup = Walk(steps=4, speed=(0.3, 0.0, 0.0), delay=30.0, assumed_delay=assumed).build()  # type: ignore[call-arg]
        assert isinstance(setup.plant, MujocoPlant)
        worst = 0.0
        for _ in steps(setup.controller, setup.plant, 4.0):
            worst = max(worst, abs(setup.behavior.dcm_error))
        errors.append(worst)
    assert errors[0] < 0.02
    assert errors[1] > 3.0 * errors[0]
