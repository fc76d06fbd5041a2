"""Fallbacks: every command is finite and names the fallback that replaced the solution."""

from collections.abc import Callable

import numpy as np
import pytest
from example_hierarchies import FailingPosture, SwitchBehavior, joint_limits, point_near_hand, reach_hierarchy

from poise import constraints, tasks
from poise.control import KinematicController
from poise.errors import PoiseError, TaskError
from poise.hierarchy import Hierarchy, Level
from poise.plants import IdealPlant
from poise.robots import State
from poise.solvers import Lexicographic, Program, Solution
from poise.state import Snapshot
from poise.tasks import ACCELERATION, VELOCITY
from robot_states import (
    PERIOD,
    commanded_velocities,
    installed_robot,
    joint_motion,
    not_none,
    random_state,
    run_closed_loop,
)

ROBOT = installed_robot("g1")
START = ROBOT.stance("standing")
ORDERS = pytest.mark.parametrize("order", [VELOCITY, ACCELERATION])


def corrupt_state(state: State, entry: int, value: float, array: str = "q") -> State:
    """A state as reported by a failing sensor, which the constructor of State refuses."""
    q, v = state.q.copy(), state.v.copy()
    (q if array == "q" else v)[entry] = value
    return State._unchecked(ROBOT, q, v, state.time, state.contacts)


def stays_inside_limits(found: list) -> None:
    q, v = joint_motion(found)
    bounds = ROBOT.limits
    assert np.isfinite(commanded_velocities(found)).all()
    assert (q <= bounds.upper + 1e-9).all()
    assert (q >= bounds.lower - 1e-9).all()
    assert (np.abs(v) <= bounds.velocity + 1e-9).all()
    assert (np.abs(np.diff(v, axis=0)) <= bounds.acceleration * PERIOD + 1e-9).all()


# -- states ------------------------------------------------------------------------------------------------------------


@ORDERS
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("array", ["q", "v"])
def test_a_state_that_is_not_finite_causes_a_hold(order: int, value: float, array: str) -> None:
    controller = KinematicController(reach_hierarchy(START), order=order)
    command = controller.step(corrupt_state(START, 9, value, array))
    assert command.fallback == "hold: the state has NaN or infinite entries"
    assert not command.velocity.any(), "before the first motion, a hold does not move"
    assert command.solution is None
    assert command.errors is None


@ORDERS
@pytest.mark.parametrize("value", [1e9, -1e9, 1e200])
@pytest.mark.parametrize("array", ["q", "v"])
def test_an_implausibly_large_state_causes_a_hold_and_no_limit_is_violated(
    order: int, value: float, array: str
) -> None:
    """With squares of such speeds, rounding would exceed all limits."""
    controller, plant, found = KinematicController(reach_hierarchy(START), order=order), IdealPlant(START), []
    for tick in range(80):
        corrupt = tick % 10 == 7
        state = plant.state()
        command = controller.step(corrupt_state(state, int(tick // 10), value, array) if corrupt else state)
        assert command.fallback == ("hold: the state has entries beyond 1e+06" if corrupt else "")
        plant.apply(command)
        plant.advance()
        found.append(command.velocity)
    joints = [joint.v for joint in ROBOT.joints]
    assert (np.abs(np.array(found)[:, joints]) <= ROBOT.limits.velocity + 1e-9).all()


@ORDERS
def test_a_hold_decays_and_the_motion_continues_with_the_next_valid_state(order: int) -> None:
    controller, plant = KinematicController(reach_hierarchy(START), order=order), IdealPlant(START)
    for _ in range(60):
        plant.apply(controller.step(plant.state()))
        plant.advance()
    speeds = [np.abs(not_none(controller.command).velocity).max()]
    for _ in range(20):
        command = controller.step(corrupt_state(plant.state(), 9, np.nan))
        assert command.fallback.startswith("hold")
        assert np.isfinite(command.velocity).all()
        if order == ACCELERATION:
            assert np.isfinite(not_none(command.acceleration)).all()
        speeds.append(np.abs(command.velocity).max())
    assert speeds[0] > 0.1
    assert (np.diff(speeds) < 0.0).all()
    assert speeds[-1] < 0.02 * speeds[0]
    for _ in range(500):
        command = controller.step(plant.state())
        plant.apply(command)
        plant.advance()
        assert command.fallback == ""
    goal = point_near_hand(START, (0.10, 0.04, 0.15))
    assert plant.state().pose(ROBOT.hand("left")).translation == pytest.approx(goal, abs=1e-3)


@ORDERS
def test_a_start_far_outside_the_limits_comes_back_within_them(order: int) -> None:
    q, v = START.q.copy(), np.zeros(ROBOT.model.nv)
    bounds = ROBOT.limits
    q[7:12] = bounds.upper[:5] + 0.3
    q[12:17] = bounds.lower[5:10] - 0.2
    v[6:] = 1.5 * bounds.velocity * np.where(np.arange(29) % 2, 1.0, -1.0)
    back = Hierarchy(joint_limits(ROBOT), [Level("posture", [tasks.Posture(START, dynamics=tasks.Decay(5.0))])])
    found = run_closed_loop(back, START.replace(q=q, v=v), 3.0, order=order)
    angles, rates = joint_motion(found)
    assert np.isfinite(angles).all()
    assert (np.abs(np.diff(rates, axis=0)) <= bounds.acceleration * PERIOD + 1e-9).all()
    assert (angles[-1] <= bounds.upper + 1e-6).all()
    assert (angles[-1] >= bounds.lower - 1e-6).all()
    assert (np.abs(rates[-1]) <= bounds.velocity + 1e-9).all()
    assert angles[-1] == pytest.approx(START.q[7:], abs=0.05)


@ORDERS
@pytest.mark.parametrize("seed", range(4))
def test_a_random_fast_start_gives_finite_commands(order: int, seed: int) -> None:
    found = run_closed_loop(reach_hierarchy(START), random_state(ROBOT, seed, speed=5.0), 0.5, order=order)
    assert np.isfinite(commanded_velocities(found)).all()


# -- tasks and behaviors that fail -------------------------------------------------------------------------------------

ERRORS = [
    ValueError("odd"),
    ZeroDivisionError("nothing to divide by"),
    FloatingPointError("underflow"),
    KeyError("missing"),
    IndexError("too far"),
    TypeError("a word"),
    np.linalg.LinAlgError("singular"),
    TaskError("no target"),
    PoiseError("anything"),
]


@ORDERS
@pytest.mark.parametrize("error", ERRORS, ids=lambda e: type(e).__name__)
def test_a_task_that_raises_causes_a_hold_that_names_the_error(order: int, error: Exception) -> None:
    hierarchy = reach_hierarchy(START).with_level(Level("odd", [FailingPosture(START, error, 0.2, 0.25)]))
    found = run_closed_loop(hierarchy, START, 0.4, order=order)
    held = [step for step in found if step.command.fallback]
    assert len(held) == 10
    assert all(0.2 <= step.state.time < 0.25 for step in held)
    for step in held:
        assert step.command.fallback.startswith(f"hold: {type(error).__name__}")
        assert str(error.args[0]) in step.command.fallback
        assert np.isfinite(step.command.velocity).all()
    assert np.isfinite(commanded_velocities(found)).all()


def test_a_task_that_raises_at_the_first_step_is_an_error_of_the_program() -> None:
    hierarchy = reach_hierarchy(START).with_level(Level("odd", [FailingPosture(START, ValueError("odd"), 0.0, 1.0)]))
    with pytest.raises(ValueError, match="odd"):
        KinematicController(hierarchy).step(START)


MISTAKES: dict[str, tuple[Callable[[Snapshot], object], str]] = {
    "nothing": (lambda snapshot: None, "the behavior returned None; expected a Hierarchy"),
    "a level": (lambda snapshot: Level("posture"), "expected a Hierarchy"),
    "another robot": (lambda snapshot: reach_hierarchy(installed_robot("talos").stance("standing")), "is for talos"),
    "a task that does not fit": (
        lambda snapshot: Hierarchy(levels=[Level("posture", [tasks.Posture([0.1, 0.2])])]),
        "2 angles for 29 joints",
    ),
}


@ORDERS
@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_behavior_that_fails_while_running_causes_a_hold(order: int, mistake: str) -> None:
    returns, words = MISTAKES[mistake]
    hierarchy = reach_hierarchy(START)

    def behavior(snapshot: Snapshot) -> Hierarchy:
        return returns(snapshot) if 0.1 <= snapshot.time < 0.15 else hierarchy  # type: ignore[return-value]

    found = run_closed_loop(behavior, START, 0.3, order=order)
    held = [step for step in found if step.command.fallback]
    assert {round(step.state.time / PERIOD) for step in held} == set(range(20, 30))
    assert all(words in step.command.fallback for step in held), held[0].command.fallback
    assert np.isfinite(commanded_velocities(found)).all()


class FaultySolver:
    """A solver with invalid solutions after some calls."""

    def __init__(self) -> None:
        self.solver, self.count = Lexicographic(), 0

    def solve(self, program: Program) -> Solution:
        solution = self.solver.solve(program)
        self.count += 1
        if self.count > 50:
            solution.x = np.full_like(solution.x, np.nan)
        return solution


@ORDERS
def test_a_solution_that_is_not_finite_causes_a_hold(order: int) -> None:
    found = run_closed_loop(reach_hierarchy(START), START, 0.4, order=order, solver=FaultySolver())
    assert not any(step.command.fallback for step in found[:50])
    assert all(step.command.fallback == "hold: the solution is not finite" for step in found[50:])
    assert np.isfinite(commanded_velocities(found)).all()
    assert np.abs(found[-1].command.velocity).max() < 0.01


@ORDERS
def test_a_solver_without_time_is_reported(order: int) -> None:
    found = run_closed_loop(reach_hierarchy(START), START, 0.1, order=order, solver=Lexicographic(budget=0.0))
    assert all(step.command.fallback == "budget: lexicographic" for step in found)
    assert np.isfinite(commanded_velocities(found)).all()


# -- contradictions ----------------------------------------------------------------------------------------------------


@ORDERS
def test_tasks_that_contradict_each_other_meet_where_their_weights_balance(order: int) -> None:
    hand, place = ROBOT.hand("left"), point_near_hand(START)
    to_the_left = tasks.Position(hand, place + np.array([0.0, 0.1, 0.0]), weight=3.0)
    to_the_right = tasks.Position(hand, place - np.array([0.0, 0.1, 0.0]), weight=1.0)
    feet = Level("feet", [tasks.HoldPose(foot, at=START) for foot in ROBOT.feet])
    end = run_closed_loop(
        Hierarchy(joint_limits(ROBOT), [feet, Level("torn", [to_the_left, to_the_right])]), START, 2.0, order=order
    )[-1]
    assert end.state.pose(hand).translation - place == pytest.approx([0.0, 0.05, 0.0], abs=1e-3)
    assert end.command.fallback == ""


@ORDERS
def test_contradicting_constraints_meet_in_the_middle(order: int) -> None:
    hand, place = ROBOT.hand("left"), point_near_hand(START)
    above = constraints.HalfSpace(hand, (0, 0, -1), -(place[2] + 0.05), name="above")
    below = constraints.HalfSpace(hand, (0, 0, 1), place[2] - 0.05, name="below")
    found = run_closed_loop(
        Hierarchy([above, below], [Level("posture", [tasks.Posture(START)])]), START, 2.0, order=order
    )
    assert found[-1].state.pose(hand).translation[2] == pytest.approx(place[2], abs=1e-3)
    assert np.isfinite(commanded_velocities(found)).all()
    assert "above" in not_none(found[-1].command.solution).explain()


# -- targets that jump -------------------------------------------------------------------------------------------------


class JumpingTarget:
    """A target that jumps by half a metre at every tick, with a rate of zero."""

    def sample(self, time: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        random = np.random.default_rng(round(time / PERIOD))
        return point_near_hand(START) + random.uniform(-0.5, 0.5, 3), np.zeros(3), np.zeros(3)


@ORDERS
def test_a_target_that_jumps_at_every_tick_violates_no_limit(order: int) -> None:
    hierarchy = reach_hierarchy(START).with_tasks("reach", tasks.Position(ROBOT.hand("left"), JumpingTarget()))
    found = run_closed_loop(hierarchy, START, 1.0, order=order)
    stays_inside_limits(found)
    assert not any(step.command.fallback for step in found)


@ORDERS
@pytest.mark.parametrize("ramp", [0.0, 0.2])
def test_a_new_hierarchy_at_every_tick_violates_no_limit(order: int, ramp: float) -> None:
    base, hand, jumping = reach_hierarchy(START), ROBOT.hand("left"), JumpingTarget()

    def behavior(snapshot: Snapshot) -> Hierarchy:
        return base.with_tasks("reach", tasks.Position(hand, jumping.sample(snapshot.time)[0]))

    found = run_closed_loop(behavior, START, 0.5, order=order, ramp=ramp)
    stays_inside_limits(found)
    assert not any(step.command.fallback for step in found)


@ORDERS
def test_levels_added_and_removed_in_any_order_violate_no_limit(order: int) -> None:
    base = reach_hierarchy(START)
    names = [level.name for level in base.levels]

    def behavior(snapshot: Snapshot) -> Hierarchy:
        random = np.random.default_rng(round(snapshot.time / PERIOD) // 3)
        order = list(random.permutation(names))
        return base.reorder(order) if random.random() < 0.5 else base.reorder(order).without_level(order[-1])

    found = run_closed_loop(behavior, START, 0.5, order=order)
    stays_inside_limits(found)


def test_a_change_that_fails_leaves_the_old_hierarchy_for_the_next_tick() -> None:
    base = reach_hierarchy(START)
    wrong = base.with_tasks("posture", tasks.Posture([0.1]))
    found = run_closed_loop(SwitchBehavior(base, wrong, at=0.2), START, 0.3)
    assert [bool(step.command.fallback) for step in found] == [False] * 40 + [True] * 20
    speeds = np.abs(commanded_velocities(found)).max(axis=1)
    assert speeds[-1] < 0.1 * speeds[39]
