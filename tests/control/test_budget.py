"""The time budget of controllers: half a period by default, physics always met, counted as a fallback."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from standing_hierarchies import standing
from standing_trials import StandingTrial, standing_state

from poise.control import KinematicController, PositionController, TorqueController, hierarchy_controller
from poise.hierarchy import Hierarchy
from poise.recording import record_steps
from poise.solvers import Lexicographic, Weighted
from robot_states import not_none


@pytest.mark.parametrize("make", [KinematicController, PositionController, TorqueController])
@pytest.mark.parametrize("period", [0.002, 0.005])
def test_the_default_budget_is_half_a_period(
    make: Callable[..., TorqueController], period: float, budget_share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hierarchy_controller, "BUDGET_SHARE", budget_share)
    hierarchy: Hierarchy = standing(standing_state("g1"))
    solver = make(hierarchy, period=period).solver
    assert isinstance(solver, Lexicographic)
    assert solver.budget == pytest.approx(0.5 * period)
    assert solver.required_levels == 1


def test_a_given_solver_keeps_its_own_budget() -> None:
    hierarchy = standing(standing_state("g1"))
    for budget in (None, 1e-4, math.inf):
        solver = TorqueController(hierarchy, Lexicographic(budget)).solver
        assert isinstance(solver, Lexicographic)
        assert solver.budget == budget
        assert solver.required_levels == 1
    assert isinstance(TorqueController(hierarchy, Weighted()).solver, Weighted)


def test_physics_is_met_without_any_time() -> None:
    """Only the required level is solved, at every tick; the robot is pushed, so that its limits are active."""
    start = standing_state("g1")

    def world(time: float) -> None:
        trial_plant.data.xfrc_applied[1, :3] = (80.0, 40.0, 0.0) if 0.1 <= time < 0.2 else 0.0

    from poise.plants import MujocoPlant

    trial_plant = MujocoPlant(start)
    trial = StandingTrial(start, solver=Lexicographic(0.0), plant=trial_plant, world=world, seconds=0.4)
    fallbacks = trial.fallbacks()
    assert set(fallbacks) == {"budget: lexicographic"}
    assert fallbacks["budget: lexicographic"] == len(trial.steps)
    for step in trial.steps:
        solution = not_none(step.command.solution)
        assert np.abs(solution.slack[0]).max() <= 1e-7  # of the equation of motion per kg, torques and friction
    assert record_steps(trial.steps, start.robot).fallbacks() == {"budget": len(trial.steps)}
