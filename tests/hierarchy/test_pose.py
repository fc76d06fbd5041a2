"""solve_pose: the posture of a hierarchy, and the levels that it cannot meet."""

import numpy as np
import pytest
from numpy.typing import ArrayLike

from poise import constraints, tasks
from poise.errors import PoiseError
from poise.hierarchy import Hierarchy, Level, solve_pose
from poise.robots import Robot, State
from robot_states import installed_robot, random_state

ROBOTS = ["g1", "talos", "romeo", "icub"]


@pytest.fixture(scope="module", params=ROBOTS)
def robot(request: pytest.FixtureRequest) -> Robot:
    return installed_robot(request.param)


def stance_hierarchy(robot: Robot, *levels: Level) -> Hierarchy:
    """A hierarchy of both feet and balance, with further levels below."""
    start = robot.stance("standing")
    feet = Level("feet", [tasks.HoldPose(foot, at=start) for foot in robot.feet])
    balance = Level("balance", [tasks.CenterOfMass(start.support_center, axes="xy")])
    return Hierarchy([constraints.JointRange(robot)], [feet, balance, *levels])


def inside_ranges(robot: Robot, state: State) -> bool:
    q = state.q[7:]
    return bool((q >= robot.limits.lower - 1e-9).all() and (q <= robot.limits.upper + 1e-9).all())


def reach_level(robot: Robot, by: ArrayLike, dynamics: object = None) -> Level:
    start = robot.stance("standing")
    place = start.pose(robot.hand("left")).translation + robot.height * np.asarray(by)
    return Level("reach", [tasks.Position(robot.hand("left"), place, dynamics=dynamics)])  # type: ignore[arg-type]


def test_a_stance_is_found_from_a_disturbed_one(robot: Robot) -> None:
    random = np.random.default_rng(0)
    start = robot.stance("standing")
    disturbed = start.replace(q=start.q + np.concatenate([np.zeros(7), random.normal(0, 0.05, robot.model.nv - 6)]))
    posed = solve_pose(stance_hierarchy(robot, Level("posture", [tasks.Posture(start)])), disturbed)
    assert posed.converged
    assert "feet" not in posed.unmet
    assert "balance" not in posed.unmet
    for foot in robot.feet:
        assert posed.state.pose(foot).isApprox(start.pose(foot), 1e-9)
    assert posed.state.center_of_mass[:2] == pytest.approx(start.support_center, abs=1e-9)
    assert inside_ranges(robot, posed.state)
    assert not posed.state.v.any()


def test_a_squat_is_found(robot: Robot) -> None:
    start = robot.stance("standing")
    height = start.center_of_mass[2] - 0.06 * robot.height
    squat = Level("squat", [tasks.CenterOfMass((height,), axes="z")])
    posed = solve_pose(stance_hierarchy(robot, squat, Level("posture", [tasks.Posture(start)])), start)
    assert posed.converged
    assert posed.unmet == ("posture",)
    assert posed.errors["squat"] < 1e-9
    assert posed.state.center_of_mass[2] == pytest.approx(height)
    assert inside_ranges(robot, posed.state)


def test_a_hand_out_of_reach_is_named_and_higher_levels_are_met(robot: Robot) -> None:
    posed = solve_pose(stance_hierarchy(robot, reach_level(robot, [1.5, 0.0, 0.5])), robot.stance("standing"))
    assert posed.unmet == ("reach",)
    assert posed.errors["reach"] > 0.3
    assert posed.errors["feet"] < 1e-4
    assert posed.errors["balance"] < 1e-4
    assert inside_ranges(robot, posed.state)
    assert "not met" in str(posed)
    assert "reach" in posed.solution.explain()


def test_a_hand_out_of_reach_comes_as_near_as_it_can(robot: Robot) -> None:
    """Two formulations: the point itself, or the farthest reachable point in its direction."""
    start = robot.stance("standing")
    hand = robot.hand("left")
    short, long = (
        solve_pose(stance_hierarchy(robot, reach_level(robot, [s, 0.0, 0.0])), start, iterations=400)
        .state.pose(hand)
        .translation[0]
        for s in (0.2, 1.2)
    )
    assert long > short - 0.01 * robot.height


@pytest.mark.parametrize(
    "dynamics",
    [
        tasks.Decay(0.5),
        tasks.Decay(50.0),
        tasks.Decay(speed=0.01),
        tasks.MinimumJerk(1.0),
        tasks.MinimumJerk(1.0, -9.0),
    ],
    ids=["slow", "stiff", "limited", "not begun", "over"],
)
def test_the_dynamics_of_a_task_do_not_change_the_pose(dynamics: object) -> None:
    robot = installed_robot("g1")
    start = robot.stance("standing")
    plain, other = (
        solve_pose(stance_hierarchy(robot, reach_level(robot, [0.1, 0.05, 0.1], r)), start) for r in (None, dynamics)
    )
    assert other.converged
    assert other.unmet == ()
    assert other.state.q == pytest.approx(plain.state.q, abs=1e-6)


def test_a_moving_target_is_taken_as_it_stands_at_the_time_of_the_start() -> None:
    robot = installed_robot("g1")
    start = robot.stance("standing").replace(time=0.5)
    hand = robot.hand("left")
    place = start.pose(hand).translation
    path = tasks.SplineTarget([0.0, 1.0], [place, place + np.array([0.2, 0.0, 0.2])])
    posed = solve_pose(stance_hierarchy(robot, Level("reach", [tasks.Position(hand, path)])), start)
    assert posed.converged
    assert posed.state.pose(hand).translation == pytest.approx(place + np.array([0.1, 0.0, 0.1]), abs=1e-9)


def test_rate_tasks_do_not_change_the_pose() -> None:
    robot = installed_robot("g1")
    start = robot.stance("standing")
    goal = reach_level(robot, [0.1, 0.0, 0.1])
    fast = start.replace(v=np.ones(robot.model.nv))
    slow = Hierarchy(
        [
            constraints.JointRange(robot),
            constraints.JointSpeed(robot, scale=1e-6),
            constraints.JointAcceleration(robot),
        ],
        [Level("still", [tasks.LeastVelocity(), tasks.AngularMomentum()]), goal],
    )
    posed = solve_pose(slow, fast)
    assert posed.converged
    assert posed.unmet == ()


def test_a_joint_that_starts_outside_its_range_is_moved_inside() -> None:
    robot = installed_robot("g1")
    start = robot.stance("standing")
    q = start.q.copy()
    q[7 + 15] = robot.limits.upper[15] + 0.4
    posed = solve_pose(
        Hierarchy([constraints.JointRange(robot)], [reach_level(robot, [0.05, 0.0, 0.05])]), start.replace(q=q)
    )
    assert inside_ranges(robot, posed.state)
    assert posed.unmet == ()


@pytest.mark.parametrize("seed", range(6))
def test_ranges_hold_from_anywhere_to_anywhere(seed: int) -> None:
    robot = installed_robot("g1")
    random = np.random.default_rng(seed)
    far = reach_level(robot, random.normal(0, 0.4, 3))
    posed = solve_pose(Hierarchy([constraints.JointRange(robot)], [far]), random_state(robot, seed), iterations=60)
    assert inside_ranges(robot, posed.state)


def test_solving_twice_gives_the_same_pose() -> None:
    robot = installed_robot("g1")
    hierarchy, start = stance_hierarchy(robot, reach_level(robot, [0.1, 0.1, 0.1])), robot.stance("standing")
    first, second = solve_pose(hierarchy, start), solve_pose(hierarchy, start)
    assert np.array_equal(first.state.q, second.state.q)
    assert first.iterations == second.iterations


def test_solving_does_not_change_the_state_or_the_hierarchy() -> None:
    robot = installed_robot("g1")
    start, level = robot.stance("standing"), reach_level(robot, [0.1, 0.0, 0.0], tasks.MinimumJerk(2.0))
    q = start.q.copy()
    solve_pose(stance_hierarchy(robot, level), start)
    assert np.array_equal(start.q, q)
    assert isinstance(level.tasks[0].dynamics, tasks.MinimumJerk)  # type: ignore[attr-defined]


def test_invalid_arguments_are_refused_at_once() -> None:
    robot, other = installed_robot("g1"), installed_robot("talos")
    start, hierarchy = robot.stance("standing"), stance_hierarchy(robot)
    for arguments, words in (
        ((hierarchy, start.q), "takes a Hierarchy and a State"),
        ((start, hierarchy), "takes a Hierarchy and a State"),
        ((hierarchy, other.stance("standing")), "made for g1, the state is of talos"),
        ((hierarchy, start, 0), "iterations is 0"),
        ((hierarchy, start, 1.5), "iterations is 1.5"),
    ):
        with pytest.raises(PoiseError, match=words) as caught:
            solve_pose(*arguments)
        assert "\n" not in str(caught.value)
