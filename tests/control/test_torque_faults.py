"""The safety contract in physics: after any fault, commands are finite, within limits, and name their fallback.

A robot stands in MuJoCo with a fault between `BEGIN` and `END`. Every fallback is named in its command and counted in
the recording, and the robot stands again afterwards where physics allows it.
"""

import numpy as np
import pytest
from standing_hierarchies import standing
from standing_trials import BEGIN, END, ROBOTS, StandingTrial, behavior_failing_at_times, is_fault_time, standing_state

from poise import tasks
from poise.control import TorqueController
from poise.errors import TaskError
from poise.hierarchy import Level
from poise.plants import MujocoPlant
from poise.robots import State

# -- states ------------------------------------------------------------------------------------------------------------


@ROBOTS
@pytest.mark.parametrize(
    ("seconds", "entry"),
    [(0.002, "joint"), (0.05, "joint"), (0.05, "base"), (0.05, "rate")]
    + [pytest.param(0.002, entry, marks=pytest.mark.slow) for entry in ("base", "rate")],
)
def test_a_state_with_nan_repeats_the_previous_torques(name: str, seconds: float, entry: str) -> None:
    def view(state: State) -> State:
        q, v = state.q.copy(), state.v.copy()
        if is_fault_time(state.time, BEGIN + seconds):
            {"joint": q[9:10], "base": q[2:5], "rate": v[8:]}[entry][:] = np.nan
        return State._unchecked(state.robot, q, v, state.time, state.contacts)

    trial = StandingTrial(standing_state(name), view=view)
    assert trial.fallbacks() == {"hold: the state has NaN or infinite entries": round(seconds / 0.002)}
    assert trial.stands()


@ROBOTS
def test_a_missing_sample_repeats_the_previous_torques(name: str) -> None:
    trial = StandingTrial(standing_state(name), view=lambda state: None if is_fault_time(state.time) else state)
    assert trial.fallbacks() == {"hold: no state was measured": trial.ticks()}
    assert trial.stands()


@ROBOTS
@pytest.mark.parametrize("jump", [0.1, 5.0, -0.2, 1e9])
def test_a_late_tick_and_a_clock_that_jumps_cause_no_fall(name: str, jump: float) -> None:
    """Also in the middle of a change of hierarchies, which follows the clock."""
    start = standing_state(name)
    first, then = standing(start), standing(start).with_tasks("posture", tasks.Posture(start))

    def view(state: State) -> State:
        return state.replace(time=state.time + jump) if state.time >= END else state

    trial = StandingTrial(start, lambda snapshot: first if snapshot.time < BEGIN else then, view)
    assert trial.fallbacks() == {}
    assert trial.stands()


@ROBOTS
def test_late_ticks_cause_no_fall(name: str) -> None:
    """For a while the controller runs at every tenth tick only: the plant repeats the last command."""
    start = standing_state(name)
    plant, controller = MujocoPlant(start), TorqueController(standing(start))
    command = controller.step(plant.state())
    for tick in range(500):
        if not is_fault_time(0.002 * tick, 0.5) or tick % 10 == 0:
            command = controller.step(plant.state())
            assert command.fallback == ""
        plant.apply(command)
        plant.advance()
    assert not plant.fallen
    assert plant.truth().center_of_mass == pytest.approx(start.center_of_mass, abs=2e-3)


# -- behaviors and tasks -----------------------------------------------------------------------------------------------


@ROBOTS
@pytest.mark.parametrize("seconds", [0.05, 0.5])
def test_a_behavior_that_raises_causes_a_hold(name: str, seconds: float) -> None:
    def fails() -> object:
        raise ZeroDivisionError("no step to take")

    start = standing_state(name)
    trial = StandingTrial(start, behavior_failing_at_times(standing(start), fails, BEGIN + seconds), seconds=1.2)
    assert trial.fallbacks() == {"hold: ZeroDivisionError: no step to take": round(seconds / 0.002)}
    assert trial.stands()


@ROBOTS
def test_a_behavior_that_returns_none_causes_a_hold(name: str) -> None:
    start = standing_state(name)
    trial = StandingTrial(start, behavior_failing_at_times(standing(start), lambda: None))
    assert trial.fallbacks() == {"hold: PoiseError: the behavior returned None; expected a Hierarchy": trial.ticks()}
    assert trial.stands()


@ROBOTS
@pytest.mark.parametrize("level", ["contact", "balance", "chest", "posture"])
def test_a_task_may_be_removed_for_a_while(name: str, level: str) -> None:
    start = standing_state(name)
    without = standing(start).without_level(level)
    trial = StandingTrial(start, behavior_failing_at_times(standing(start), lambda: without), seconds=1.2)
    assert trial.fallbacks() == {}
    assert trial.stands(tolerance=5e-3)


@ROBOTS
def test_a_target_that_raises_causes_a_hold(name: str) -> None:
    """The target raises an error in the middle of a step."""
    start = standing_state(name)

    class FailingTarget:
        def sample(self, time: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
            if is_fault_time(time):
                raise KeyError("target")
            return start.center_of_mass, np.zeros(3), np.zeros(3)

    trial = StandingTrial(start, standing(start).with_tasks("balance", tasks.CenterOfMass(FailingTarget())))
    assert trial.fallbacks() == {"hold: KeyError: 'target'": trial.ticks()}
    assert trial.stands()


# -- targets -----------------------------------------------------------------------------------------------------------


class VanishingTarget:
    """A target with another value while it fails."""

    def __init__(self, value: np.ndarray, elsewhere: float) -> None:
        self.value, self.elsewhere = value, np.full_like(value, elsewhere)

    def sample(self, time: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.elsewhere if is_fault_time(time) else self.value, np.zeros(3), np.zeros(3)


@ROBOTS
@pytest.mark.parametrize(
    ("elsewhere", "level"),
    [(np.nan, "balance"), (1e300, "balance"), (np.nan, "reach"), (np.inf, "reach"), (-np.inf, "reach")]
    + [
        pytest.param(*each, marks=pytest.mark.slow)
        for each in [(np.inf, "balance"), (-np.inf, "balance"), (1e300, "reach")]
    ],
)
def test_an_invalid_target_causes_a_hold_that_names_it(name: str, elsewhere: float, level: str) -> None:
    start = standing_state(name)
    hand = start.robot.hand("left")
    reach = tasks.Position(hand, VanishingTarget(start.pose(hand).translation, elsewhere), name="reach")
    balance = tasks.CenterOfMass(
        VanishingTarget(start.center_of_mass, elsewhere), dynamics=tasks.Decay(4.0), name="balance"
    )
    hierarchy = {
        "balance": standing(start).with_tasks("balance", balance),
        "reach": standing(start).with_level(Level("reach", [reach]), before="posture"),
    }[level]
    trial = StandingTrial(start, hierarchy)
    assert trial.fallbacks() == {f"hold: the bounds of '{level}' are not finite": trial.ticks()}
    assert trial.stands()


@ROBOTS
@pytest.mark.parametrize("far", [10.0, 1e6])
def test_a_hand_target_far_away_causes_no_fall(name: str, far: float) -> None:
    start = standing_state(name)
    hand = start.robot.hand("left")
    reach = tasks.Position(hand, VanishingTarget(start.pose(hand).translation, far))
    trial = StandingTrial(start, standing(start).with_level(Level("reach", [reach]), before="posture"), seconds=1.5)
    assert trial.fallbacks() == {}
    assert trial.stands(tolerance=0.01)


def test_a_live_target_refuses_invalid_positions() -> None:
    point = tasks.LiveTarget((0.4, 0.2, 1.0))
    for wrong in ((np.nan, 0.0, 0.0), (np.inf, 0.0, 0.0), (0.0, 0.0)):
        with pytest.raises(TaskError, match="expected 3 finite numbers"):
            point.set(wrong)
    assert point.sample(0.0)[0] == pytest.approx([0.4, 0.2, 1.0])
