"""KinematicController: the reach hierarchy on every robot, at both orders, with every solver."""

from typing import Any

import numpy as np
import pytest
from example_hierarchies import joint_limits, point_near_hand, reach_hierarchy

from poise import constraints, tasks
from poise.control import KinematicController
from poise.errors import PoiseError, SolverError
from poise.hierarchy import Hierarchy, Level
from poise.plants import IdealPlant, steps
from poise.robots import Robot
from poise.solvers import Cascade, Lexicographic, NullSpace, Weighted
from poise.state import Snapshot
from poise.tasks import ACCELERATION, VELOCITY
from robot_states import PERIOD, commanded_velocities, installed_robot, joint_motion, not_none, run_closed_loop

ROBOTS = ["g1", "talos", "romeo", "icub"]
ORDERS = pytest.mark.parametrize("order", [VELOCITY, ACCELERATION])


@pytest.fixture(scope="module", params=ROBOTS)
def robot(request: pytest.FixtureRequest) -> Robot:
    return installed_robot(request.param)


def inside_limits(found: list, robot: Robot, acceleration: bool = True) -> None:
    q, v = joint_motion(found)
    bounds = robot.limits
    assert (q <= bounds.upper + 1e-9).all()
    assert (q >= bounds.lower - 1e-9).all()
    assert (np.abs(v) <= bounds.velocity + 1e-9).all()
    if acceleration:
        assert (np.abs(np.diff(v, axis=0)) <= bounds.acceleration * PERIOD + 1e-9).all()


@ORDERS
def test_the_reach_hierarchy_reaches_its_target_with_fixed_feet(robot: Robot, order: int) -> None:
    start = robot.stance("standing")
    found = run_closed_loop(reach_hierarchy(start), start, 3.0, order=order)
    end = found[-1].state
    assert end.pose(robot.hand("left")).translation == pytest.approx(
        point_near_hand(start, (0.10, 0.04, 0.15)), abs=1e-4
    )
    for step in found[::20]:
        for foot in robot.feet:
            assert step.state.pose(foot).translation == pytest.approx(start.pose(foot).translation, abs=3e-4)
    assert end.center_of_mass[:2] == pytest.approx(start.support_center, abs=1e-4)
    assert not any(step.command.fallback for step in found)
    assert all(not_none(step.command.solution).status == "optimal" for step in found)
    inside_limits(found, robot)


def test_the_weighted_solver_comes_near_the_target_and_respects_the_limits(robot: Robot) -> None:
    """Weighted compromises below `always`: the hand stays short of the target of strict priorities; limits hold."""
    start = robot.stance("standing")
    found = run_closed_loop(reach_hierarchy(start), start, 1.5, solver=Weighted())
    goal = point_near_hand(start, (0.10, 0.04, 0.15))
    left = np.linalg.norm(found[-1].state.pose(robot.hand("left")).translation - goal)
    assert 1e-3 < left < 0.4 * np.linalg.norm(point_near_hand(start) - goal)
    assert not any(step.command.fallback for step in found)
    inside_limits(found, robot)


@ORDERS
def test_where_all_are_equalities_the_closed_form_gives_the_same_motion(order: int) -> None:
    robot = installed_robot("g1")
    start = robot.stance("standing")
    hierarchy = reach_hierarchy(start, by=(0.02, 0.01, 0.02), always=False)
    strict, closed = (
        run_closed_loop(hierarchy, start, 0.5, order=order, solver=s) for s in (Lexicographic(), NullSpace())
    )
    assert commanded_velocities(closed) == pytest.approx(commanded_velocities(strict), abs=1e-6)
    assert not any(step.command.fallback for step in closed)


@ORDERS
def test_the_closed_form_reports_that_it_ignores_inequalities(order: int) -> None:
    robot = installed_robot("g1")
    start = robot.stance("standing")
    found = run_closed_loop(reach_hierarchy(start), start, 0.05, order=order, solver=NullSpace())
    assert all("relaxed" in step.command.fallback for step in found)
    assert np.isfinite(commanded_velocities(found)).all()


def test_the_slow_reference_gives_the_same_motion() -> None:
    robot = installed_robot("g1")
    start = robot.stance("standing")
    hierarchy = reach_hierarchy(start, by=(0.02, 0.01, 0.02))
    strict, slow = (run_closed_loop(hierarchy, start, 0.1, solver=s) for s in (Lexicographic(), Cascade()))
    assert commanded_velocities(slow) == pytest.approx(commanded_velocities(strict), abs=1e-6)


@ORDERS
def test_a_command_carries_its_solution_and_errors(order: int) -> None:
    robot = installed_robot("g1")
    start = robot.stance("standing")
    found = run_closed_loop(reach_hierarchy(start), start, 0.5, order=order)
    command, state = found[-1].command, found[-1].state
    assert command.period == PERIOD
    assert command.torque is None
    if order == VELOCITY:
        assert command.acceleration is None
        assert np.array_equal(command.velocity, not_none(command.solution).x)
    else:
        assert np.array_equal(not_none(command.acceleration), not_none(command.solution).x)
        assert command.velocity == pytest.approx(state.v + PERIOD * not_none(command.acceleration))
    assert not_none(command.solution).program.names == ("always", "feet", "balance", "reach", "posture")
    errors = command.errors
    words = [(label.level, label.name, label.unit) for label in not_none(errors).tasks]
    assert words[3:] == [
        ("feet", "hold left_sole", "m, rad"),
        ("feet", "hold right_sole", "m, rad"),
        ("balance", "center of mass", "m"),
        ("reach", "position of left_palm", "m"),
        ("posture", "posture", "rad"),
    ]
    missing = state.pose(robot.hand("left")).translation - point_near_hand(start, (0.10, 0.04, 0.15))
    assert not_none(errors).values(6) == pytest.approx(missing)
    assert not_none(errors).values(7) == pytest.approx(state.q[7:] - start.q[7:])
    assert not_none(errors).tasks[6].labels == ("x", "y", "z")
    assert len(not_none(errors)) == 8


def test_errors_inside_an_interval_are_zero() -> None:
    robot = installed_robot("g1")
    start = robot.stance("standing")
    task = tasks.Position(robot.hand("left"), point_near_hand(start) + np.array([0.2, 0.05, 0.0]), tolerance=0.1)
    command = KinematicController(Hierarchy(levels=[Level("reach", [task])])).step(start)
    assert not_none(command.errors).values(0) == pytest.approx([-0.1, 0.0, 0.0])


def test_old_commands_do_not_change_when_new_ones_are_made() -> None:
    robot = installed_robot("g1")
    start = robot.stance("standing")
    controller, plant = KinematicController(reach_hierarchy(start)), IdealPlant(start)
    copies = []
    for step in steps(controller, plant, 0.1):
        copies.append(
            (step, step.command.velocity.copy(), not_none(step.command.errors).values(6).copy(), step.state.q.copy())
        )
    for step, velocity, error, q in copies:
        assert np.array_equal(step.command.velocity, velocity)
        assert np.array_equal(not_none(step.command.errors).values(6), error)
        assert np.array_equal(step.state.q, q)
        assert not_none(step.command.solution).slack is not None


def test_repeating_a_motion_gives_the_same_commands(robot: Robot) -> None:
    start = robot.stance("standing")
    first, again = (commanded_velocities(run_closed_loop(reach_hierarchy(start), start, 0.3)) for _ in range(2))
    assert np.array_equal(first, again)


def test_one_controller_may_move_one_robot_after_the_other() -> None:
    first, second = installed_robot("g1"), installed_robot("talos")
    posture = [tasks.LeastVelocity()]
    controller = KinematicController(Hierarchy(levels=[Level("still", posture)]))
    for robot in (first, second, first):
        command = controller.step(robot.stance("standing"))
        assert command.velocity.shape == (robot.model.nv,)
        assert controller.robot is robot


def test_a_hierarchy_of_another_robot_is_refused_at_the_first_step() -> None:
    first, second = installed_robot("g1"), installed_robot("talos")
    controller = KinematicController(reach_hierarchy(first.stance("standing")))
    with pytest.raises(PoiseError, match="made for g1, the state is of talos"):
        controller.step(second.stance("standing"))


def test_the_same_tasks_in_another_object_are_no_change() -> None:
    """A behavior may build a hierarchy at every tick; with the same tasks it is not bound again."""
    robot = installed_robot("g1")
    start = robot.stance("standing")
    hierarchy = reach_hierarchy(start)

    def rebuilt_hierarchy(snapshot: Snapshot) -> Hierarchy:
        return Hierarchy(hierarchy.always, [Level(level.name, level.tasks) for level in hierarchy.levels])

    assert commanded_velocities(run_closed_loop(rebuilt_hierarchy, start, 0.4)) == pytest.approx(
        commanded_velocities(run_closed_loop(hierarchy, start, 0.4)), abs=1e-12
    )


@ORDERS
@pytest.mark.parametrize("period", [0.001, 0.002, 0.01, 0.02])
def test_the_target_is_reached_with_every_control_period(order: int, period: float) -> None:
    robot = installed_robot("g1")
    start = robot.stance("standing")
    found = run_closed_loop(reach_hierarchy(start), start, 3.0 if period > 0.001 else 2.0, order=order, period=period)
    goal = point_near_hand(start, (0.10, 0.04, 0.15))
    assert found[-1].state.pose(robot.hand("left")).translation == pytest.approx(goal, abs=1e-3)


@pytest.mark.parametrize("period", [0.04, 0.05, 0.1, 0.3])
def test_long_control_periods_do_not_make_stiff_tasks_diverge(period: float) -> None:
    """The feet are held with 50/s: sampled every 50 ms, a gain without a limit would overshoot by 150 %."""
    robot = installed_robot("g1")
    start = robot.stance("standing")
    found = run_closed_loop(reach_hierarchy(start), start, max(3.0, 20.0 * period), order=VELOCITY, period=period)
    goal = point_near_hand(start, (0.10, 0.04, 0.15))
    assert found[-1].state.pose(robot.hand("left")).translation == pytest.approx(goal, abs=1e-3)
    for foot in robot.feet:
        farthest = max(np.abs(step.state.pose(foot).translation - start.pose(foot).translation).max() for step in found)
        assert farthest < 1e-3  # m; the linearisation error of one step


@ORDERS
def test_a_motion_that_starts_moving_starts_where_it_is(order: int) -> None:
    robot = installed_robot("g1")
    start = robot.stance("standing")
    moving = start.replace(v=0.3 * np.random.default_rng(0).normal(size=robot.model.nv))
    still = Hierarchy([constraints.JointAcceleration(robot)], [Level("posture", [tasks.Posture(start)])])
    found = run_closed_loop(still, moving, 2.0, order=order)
    change = np.abs(found[0].command.velocity - moving.v)
    assert (change[6:] <= robot.limits.acceleration * PERIOD + 1e-9).all()
    assert np.abs(found[-1].state.v[6:]).max() < 0.1


def test_in_always_limits_stand_above_everything() -> None:
    """Even the foot tasks yield to limits: with low speed limits their velocities are reduced."""
    robot = installed_robot("g1")
    start = robot.stance("standing")
    feet = [tasks.Position(foot, start.pose(foot).translation + np.array([0.5, 0.0, 0.5])) for foot in robot.feet]
    hold = Level("pelvis", [tasks.LeastVelocity()])
    slow = Hierarchy([constraints.JointSpeed(robot, scale=0.01)], [hold, Level("feet", feet)])
    found = run_closed_loop(slow.reorder(["feet", "pelvis"]), start, 0.5)
    _, v = joint_motion(found)
    assert (np.abs(v) <= 0.01 * robot.limits.velocity + 1e-9).all()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"behavior": 5}, "behavior is 5; expected a Hierarchy"),
        ({"period": 0.0}, "period is 0.0; expected positive seconds"),
        ({"period": float("nan")}, "period is nan"),
        ({"period": "fast"}, "period is 'fast'"),
        ({"period": 5}, "period is 5; expected positive seconds, at most 1"),
        ({"order": 3}, "order is 3; expected poise.VELOCITY"),
        ({"ramp": -1.0}, "ramp is -1.0; expected seconds"),
        ({"ramp": float("inf")}, "ramp is inf"),
        ({"solver": 5}, "solver is 5; expected one of poise.solvers"),
    ],
)
def test_invalid_arguments_of_a_controller_are_refused_at_construction(settings: dict[str, Any], words: str) -> None:
    robot = installed_robot("g1")
    arguments = {"behavior": Hierarchy(joint_limits(robot)), **settings}
    with pytest.raises(PoiseError, match=words) as caught:
        KinematicController(**arguments)
    assert "\n" not in str(caught.value)
    if "solver" in settings:
        assert isinstance(caught.value, SolverError)


def test_a_hierarchy_that_does_not_fit_the_robot_is_refused_at_the_first_step() -> None:
    robot = installed_robot("g1")
    wrong = Hierarchy(levels=[Level("posture", [tasks.Posture([0.1, 0.2])])])
    with pytest.raises(PoiseError, match="2 angles for 29 joints"):
        KinematicController(wrong).step(robot.stance("standing"))
    with pytest.raises(PoiseError, match="the behavior returned 5; expected a Hierarchy"):
        KinematicController(lambda snapshot: 5).step(robot.stance("standing"))  # type: ignore[arg-type,return-value]
