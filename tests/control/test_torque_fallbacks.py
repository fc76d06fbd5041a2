"""The order of fallbacks in physics: the solution within the budget, the weighted solution, a damped hold."""

from collections.abc import Callable

import numpy as np
import pytest
from standing_hierarchies import standing
from standing_trials import ROBOTS, StandingTrial, behavior_failing_at_times, is_fault_time, standing_state

from poise import constraints, tasks
from poise.control import TorqueController
from poise.hierarchy import Hierarchy, Level
from poise.plants import MujocoPlant
from poise.robots import State
from poise.solvers import Lexicographic, Program, Solution, Weighted
from poise.state import Snapshot
from robot_states import installed_robot, not_none


@ROBOTS
@pytest.mark.parametrize("solver", [Lexicographic, Weighted])
def test_constraints_that_contradict_each_other_are_met_in_the_middle(name: str, solver: type) -> None:
    """A hand must be 5 cm higher and 5 cm lower; a weighted solver reports that it relaxed, or holds."""
    start = standing_state(name)
    hand = start.robot.hand("left")
    place = start.pose(hand).translation
    above = constraints.HalfSpace(hand, (0, 0, -1), -(place[2] + 0.05), name="above")
    below = constraints.HalfSpace(hand, (0, 0, 1), place[2] - 0.05, name="below")
    hierarchy = standing(start)
    trial = StandingTrial(start, hierarchy.replace(always=[*hierarchy.always, above, below]), solver=solver())
    words = {reason.partition(":")[0] for reason in trial.fallbacks()}
    assert words == set() if solver is Lexicographic else words <= {"relaxed", "weighted", "hold"}
    solution = next(step.command.solution for step in reversed(trial.steps) if step.command.solution is not None)
    assert "above" in solution.explain()
    assert trial.stands()


@ROBOTS
def test_torque_limits_near_zero_are_respected(name: str) -> None:
    """Torque limits of nearly zero are allowed, too: the robot falls with torques within these limits."""
    start = standing_state(name)
    robot = start.robot
    weak = constraints.TorqueLimit(robot, scale=1e-3)
    trial = StandingTrial(start, standing(start).replace(always=[weak]), seconds=0.4)
    assert {reason.partition(":")[0] for reason in trial.fallbacks()} <= {"contact lost"}
    assert max(np.abs(not_none(step.command.torque) / robot.limits.torque).max() for step in trial.steps) < 1.1e-3


@ROBOTS
def test_a_solver_without_time_still_stands(name: str) -> None:
    trial = StandingTrial(standing_state(name), solver=Lexicographic(budget=0.0))
    assert {reason.partition(":")[0] for reason in trial.fallbacks()} <= {"budget", "weighted"}
    assert sum(trial.fallbacks().values()) == len(trial.steps)
    assert trial.stands()


class FaultySolver:
    """A solver with invalid solutions while it fails: not finite, or physically impossible."""

    def __init__(self, nonsense: Callable[[np.ndarray], np.ndarray]) -> None:
        self.solver, self.nonsense, self.calls = Lexicographic(), nonsense, 0

    def solve(self, program: Program) -> Solution:
        solution = self.solver.solve(program)
        self.calls += 1
        if is_fault_time(0.002 * (self.calls - 1)):
            solution.x = self.nonsense(solution.x)
        return solution


NONSENSE: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "nan": lambda x: np.full_like(x, np.nan),
    "infinite": lambda x: np.full_like(x, np.inf),
    "enormous": lambda x: 1e100 * x,
    "wild": lambda x: x + 1.0,
}


@ROBOTS
@pytest.mark.parametrize("nonsense", NONSENSE)
def test_a_solution_against_physics_is_replaced_by_the_weighted_one(name: str, nonsense: str) -> None:
    trial = StandingTrial(standing_state(name), solver=FaultySolver(NONSENSE[nonsense]))
    assert trial.fallbacks() == {"weighted: the solution is infeasible": trial.ticks()}
    assert trial.stands()


@pytest.mark.parametrize("name", ["g1", "talos", "romeo", "icub"])
@pytest.mark.parametrize("period", [0.002, 0.01])
def test_a_long_hold_keeps_standing_and_recovers_from_a_push(name: str, period: float) -> None:
    start = standing_state(name)
    robot = start.robot

    def fails() -> object:
        raise ValueError("no plan")

    plant = MujocoPlant(start)

    def world(time: float) -> None:
        plant.data.xfrc_applied[1, :3] = (0.05 * 9.81 * robot.mass, 0.0, 0.0) if 0.5 <= time < 0.6 else 0.0

    behavior = behavior_failing_at_times(standing(start), fails, end=2.0)
    trial = StandingTrial(start, behavior, plant=plant, world=world, seconds=2.0, period=period)
    assert set(trial.fallbacks()) == {"hold: ValueError: no plan"}
    assert trial.stands()


def test_a_hold_in_the_air_keeps_the_posture() -> None:
    robot = installed_robot("g1")
    q = robot.stance("standing").q.copy()
    q[2] += 3.0
    rates = np.concatenate([np.zeros(6), np.full(robot.model.nv - 6, 0.3)])
    start = State(robot, q, rates)

    def behavior(snapshot: Snapshot) -> Hierarchy:
        if snapshot.time > 0.001:
            raise ValueError("no plan")
        return Hierarchy(levels=[Level("posture", [tasks.Posture(start)])])

    plant, controller = MujocoPlant(start), TorqueController(behavior)
    for _ in range(200):
        plant.apply(controller.step(plant.state()))
        plant.advance()
    assert not_none(controller.command).fallback.startswith("hold")
    assert np.abs(plant.truth().v[6:]).max() < 0.1
    assert plant.truth().q[7:] == pytest.approx(q[7:], abs=0.1)
