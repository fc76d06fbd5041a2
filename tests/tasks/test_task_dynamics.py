"""Task dynamics in simulation: the error follows the documented curve."""

from collections.abc import Callable

import numpy as np
import pinocchio
import pytest

from poise import constraints, tasks
from poise.geometry import minimum_jerk
from poise.hierarchy import Hierarchy, Level
from poise.robots import Robot, State
from poise.state import Snapshot
from poise.tasks import ACCELERATION, VELOCITY, MotionTask
from robot_states import installed_robot, layout, not_none, random_state, run_closed_loop
from task_examples import TASKS_AT_TARGET

FINE = 0.001  # s: the error of a simulated curve is proportional to it
ORDERS = pytest.mark.parametrize("order", [VELOCITY, ACCELERATION])

#: Tasks whose error follows the task dynamics exactly, from any start.
EXACT = (
    "position",
    "position xz",
    "orientation",
    "pose",
    "relative pose",
    "direction",
    "gaze",
    "center of mass",
    "center of mass from a foot",
    "posture",
)


@pytest.fixture(scope="module")
def robot() -> Robot:
    return installed_robot("g1")


def single_task(task: tasks.Task) -> Hierarchy:
    return Hierarchy(levels=[Level("task", [task])])


def follow(
    task: MotionTask, start: State, seconds: float, order: int, period: float = FINE
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times, errors and rates of the only task of a robot."""
    steps = run_closed_loop(single_task(task), start, seconds, order=order, period=period, ramp=0.0)
    assert not any(step.command.fallback for step in steps)
    times = np.array([step.state.time for step in steps]) - start.time
    errors = np.array([not_none(step.command.errors).values(0) for step in steps])
    rates = np.array([not_none(step.command.solution).program.A @ step.state.v for step in steps])
    return times, errors, rates


def with_dynamics(name: str, robot: Robot, seed: int, dynamics: object) -> tuple[MotionTask, State]:
    """A task whose target is another state than the one it starts from, at rest."""
    task = TASKS_AT_TARGET[name](robot, random_state(robot, seed + 50))
    task.dynamics = dynamics
    return task, random_state(robot, seed).replace(v=np.zeros(robot.model.nv), time=0.0)


# -- Decay -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EXACT)
def test_an_error_decays_exponentially(robot: Robot, name: str) -> None:
    """e(t) = e(0) exp(-g t)"""
    task, start = with_dynamics(name, robot, 1, tasks.Decay(4.0))
    times, errors, _ = follow(task, start, 0.75, VELOCITY)
    curve = np.exp(-4.0 * times)[:, None] * errors[0]
    assert errors == pytest.approx(curve, abs=4e-3 * np.abs(errors[0]).max())


@pytest.mark.parametrize("name", EXACT)
def test_an_error_at_rest_decays_with_critical_damping(robot: Robot, name: str) -> None:
    """e(t) = e(0) (1 + g t) exp(-g t), at acceleration order"""
    task, start = with_dynamics(name, robot, 2, tasks.Decay(6.0))
    times, errors, _ = follow(task, start, 0.75, ACCELERATION)
    curve = ((1.0 + 6.0 * times) * np.exp(-6.0 * times))[:, None] * errors[0]
    assert errors == pytest.approx(curve, abs=8e-3 * np.abs(errors[0]).max())


@ORDERS
@pytest.mark.parametrize("rate", [90.0, 300.0, 5000.0])
def test_a_gain_beyond_the_sampling_rate_neither_overshoots_nor_diverges(robot: Robot, order: int, rate: float) -> None:
    """Without a limit the error is multiplied by 1 - g T in one period: 0.1, -2 and -49 for these rates."""
    task, start = with_dynamics("posture", robot, 3, tasks.Decay(rate))
    _, errors, _ = follow(task, start, 0.5, order, period=0.01)
    begin = errors[0]
    assert (errors * np.sign(begin) >= -1e-9).all()
    assert np.abs(errors[-1]).max() < 1e-6 * np.abs(begin).max()


def test_damping_is_the_second_pole(robot: Robot) -> None:
    """Poles -g and -k: e(t) = e(0) (k exp(-g t) - g exp(-k t)) / (k - g)"""
    g, k = 4.0, 15.0
    task, start = with_dynamics("position", robot, 3, tasks.Decay(g, damping=k))
    times, errors, _ = follow(task, start, 1.0, ACCELERATION)
    curve = (k * np.exp(-g * times) - g * np.exp(-k * times)) / (k - g)
    assert errors == pytest.approx(curve[:, None] * errors[0], abs=5e-3 * np.abs(errors[0]).max())


@ORDERS
def test_joints_near_the_end_of_a_wide_range_drift_slower_to_its_middle(robot: Robot, order: int) -> None:
    """Rate -β ε_i with ε_i = 2 (q_i - q_med) / (q_max - q_min)², [Galdeano2014] (14) and (15)."""
    task = tasks.JointComfort(robot, beta=1.5)
    snapshot = Snapshot(robot).at(random_state(robot, 4, speed=0.0))
    limits = robot.limits
    epsilon = 2.0 * (snapshot.q[7:] - 0.5 * (limits.lower + limits.upper)) / (limits.upper - limits.lower) ** 2
    rows = task.rows(snapshot, layout(robot, order))
    assert rows.lower == pytest.approx(-1.5 * epsilon * (1.0 if order == VELOCITY else 1.5))


# -- MinimumJerk -------------------------------------------------------------------------------------------------------


@ORDERS
@pytest.mark.parametrize("name", ["position", "orientation", "center of mass", "posture"])
def test_the_error_follows_the_minimum_jerk_curve(robot: Robot, name: str, order: int) -> None:
    """e(t) = e(begin) (1 - s((t - begin) / duration)), until the largest gain is reached."""
    dynamics = tasks.MinimumJerk(duration=1.2, begin=0.2, rate=40.0)
    task, start = with_dynamics(name, robot, 5, dynamics)
    times, errors, rates = follow(task, start, 1.6, order)
    s, s_rate, _ = minimum_jerk(np.clip((times - 0.2) / 1.2, 0.0, 1.0))
    size = np.abs(errors[0]).max()
    assert errors == pytest.approx((1.0 - s)[:, None] * errors[0], abs=6e-3 * size)
    assert np.abs(errors[-1]).max() < 2e-3 * size
    if name != "orientation":  # whose Jacobian gives angular velocities
        expected = -s_rate[:, None] / 1.2 * errors[0]
        assert rates == pytest.approx(expected, abs=0.04 * np.abs(expected).max())


@ORDERS
def test_minimum_jerk_demands_no_motion_before_it_begins(robot: Robot, order: int) -> None:
    task, start = with_dynamics("position", robot, 6, tasks.MinimumJerk(duration=1.0, begin=0.5))
    _, errors, rates = follow(task, start, 0.49, order)
    assert errors[-1] == pytest.approx(errors[0], abs=1e-9)
    assert rates == pytest.approx(0.0, abs=1e-9)


@ORDERS
def test_minimum_jerk_starts_softer_than_a_decay(robot: Robot, order: int) -> None:
    """Its purpose in [Saab2012]: no peak of acceleration at the start."""
    peaks = []
    for dynamics in (tasks.Decay(5.0), tasks.MinimumJerk(duration=0.9)):
        task, start = with_dynamics("position", robot, 7, dynamics)
        _, _, rates = follow(task, start, 0.1, order)
        peaks.append(np.abs(np.diff(rates, axis=0)).max() / FINE)
    assert peaks[1] < 0.6 * peaks[0]


def test_the_gain_of_minimum_jerk_is_its_own_derivative_and_never_more_than_the_rate() -> None:
    dynamics = tasks.MinimumJerk(duration=1.5, begin=0.3, rate=20.0, damping=12.0)
    for time in np.linspace(-0.5, 3.0, 351):
        gain, gain_rate, damping = dynamics.gains(time)
        assert 0.0 <= gain <= 20.0
        assert gain_rate >= 0.0
        assert damping == 12.0
        ahead, behind = dynamics.gains(time + 1e-6)[0], dynamics.gains(time - 1e-6)[0]
        if max(ahead, gain, behind) < 20.0:
            assert gain_rate == pytest.approx((ahead - behind) / 2e-6, abs=1e-2)
    assert dynamics.gains(0.3)[0] == 0.0
    assert dynamics.gains(2.0) == (20.0, 0.0, 12.0)


# -- limits on speed and acceleration ----------------------------------------------------------------------------------


@ORDERS
def test_a_speed_limit_holds_for_the_length_of_the_rate_and_keeps_its_direction(robot: Robot, order: int) -> None:
    task, start = with_dynamics("position", robot, 8, tasks.Decay(8.0, speed=0.25))
    _, errors, rates = follow(task, start, 3.0, order)
    speed = np.linalg.norm(rates, axis=1)
    assert speed.max() <= 0.25 * 1.0002  # the Jacobian is that of the end of the period
    assert speed.max() > 0.22
    assert np.cross(errors[1:], errors[0]) == pytest.approx(0.0, abs=float(2e-3 * np.linalg.norm(errors[0]) ** 2))
    assert np.linalg.norm(errors[-1]) < 2e-3


@ORDERS
@pytest.mark.parametrize(("speed", "expected"), [((0.2, 0.6), (0.2, 0.6)), (0.3, (0.3, 0.3))])
def test_position_and_orientation_of_a_pose_have_their_own_limits(
    robot: Robot, order: int, speed: float | tuple[float, float], expected: tuple[float, float]
) -> None:
    task, start = with_dynamics("pose", robot, 9, tasks.Decay(8.0, speed=speed))
    _, _, rates = follow(task, start, 0.6, order)
    for part, limit in zip((rates[:, :3], rates[:, 3:]), expected, strict=True):
        fastest = np.linalg.norm(part, axis=1).max()
        assert 0.75 * limit < fastest <= limit * 1.0002


def test_the_second_of_a_pair_of_limits_is_that_of_orientations(robot: Robot) -> None:
    state, dynamics = random_state(robot, 10), tasks.Decay(speed=(0.1, 1.0))
    hand, foot = robot.hand("left"), robot.foot("left")
    pose = state.pose(hand)
    assert tasks.Position(hand, pose.translation, dynamics=dynamics).groups(robot) == [(3, 0.1, np.inf)]
    assert tasks.Orientation(hand, pose, dynamics=dynamics).groups(robot) == [(3, 1.0, np.inf)]
    assert tasks.Pose(hand, pose, axes="", dynamics=dynamics).groups(robot) == [(3, 1.0, np.inf)]
    relative = tasks.RelativePose(hand, foot, pose, axes="", rotation_axes="z", dynamics=dynamics)
    assert relative.groups(robot) == [(1, 1.0, np.inf)]
    both = tasks.Pose(hand, pose, axes="xy", rotation_axes="z", dynamics=dynamics)
    assert both.groups(robot) == [(2, 0.1, np.inf), (1, 1.0, np.inf)]


def test_a_limit_on_acceleration_holds_for_its_length(robot: Robot) -> None:
    task, start = with_dynamics("position", robot, 11, tasks.Decay(8.0, acceleration=1.5))
    _, errors, rates = follow(task, start, 3.0, ACCELERATION)
    acceleration = np.linalg.norm(np.diff(rates, axis=0), axis=1) / FINE
    assert acceleration.max() <= 1.5 * 1.02  # the drift over one period
    assert acceleration.max() > 1.4
    assert np.linalg.norm(errors[-1]) < 1e-3


@ORDERS
def test_intervals_are_limited_side_by_side(robot: Robot, order: int) -> None:
    start = random_state(robot, 12, speed=0.0)
    place = start.pose(robot.hand("left")).translation
    dynamics = tasks.Decay(8.0, speed=0.2)
    task = tasks.Position(robot.hand("left"), place + np.array([0.5, -0.5, 0.02]), tolerance=0.05, dynamics=dynamics)
    _, errors, rates = follow(task, start, 2.5 if order == VELOCITY else 5.0, order)
    assert np.abs(rates).max() <= 0.2 * 1.0002
    # At acceleration order the rate settles where limit and damping balance, at k / (g + k) of the limit.
    assert np.abs(rates[:, :2]).max(axis=0) == pytest.approx(0.2 if order == VELOCITY else 0.1, rel=0.01)
    assert np.abs(errors[-1]).max() < 1e-2


# -- intervals ---------------------------------------------------------------------------------------------------------


@ORDERS
def test_inside_an_interval_a_task_demands_no_motion(robot: Robot, order: int) -> None:
    start = random_state(robot, 13, speed=0.0)
    place = start.pose(robot.hand("left")).translation
    task = tasks.Position(robot.hand("left"), place + np.array([0.03, -0.01, 0.0]), tolerance=(0.05, 0.05, 0.05))
    rows = task.rows(Snapshot(robot).at(start), layout(robot, order))
    assert (rows.lower < 0.0).all()
    assert (rows.upper > 0.0).all()
    _, errors, _ = follow(task, start, 0.2, order)
    assert not errors.any()
    assert np.array_equal(run_closed_loop(single_task(task), start, 0.2, order=order)[-1].state.q, start.q)


@ORDERS
def test_from_outside_a_task_comes_to_the_nearest_bound_and_not_beyond(robot: Robot, order: int) -> None:
    start = random_state(robot, 14, speed=0.0)
    hand = robot.hand("left")
    place = start.pose(hand).translation
    low, high = np.array([-0.3, -0.1, 0.2]), np.array([-0.2, 0.1, 0.4])
    task = tasks.Position(hand, place, tolerance=(low, high), dynamics=tasks.Decay(8.0))
    still = single_task(task).with_level(Level("rest", [tasks.LeastVelocity(damping=30.0)]))
    steps = run_closed_loop(still, start, 1.5, order=order, period=FINE, ramp=0.0)
    displacement = np.array([step.state.pose(hand).translation for step in steps]) - place
    assert displacement[-1, [0, 2]] == pytest.approx([-0.2, 0.2], abs=5e-3)
    assert (np.diff(displacement[:, 2]) >= -1e-9).all(), "it comes from below and does not turn back"
    assert (np.diff(displacement[:, 0]) <= 1e-9).all(), "it comes from above and does not turn back"


@ORDERS
@pytest.mark.parametrize("dynamics", [tasks.Decay(5.0), tasks.MinimumJerk(1.0), tasks.Decay(9.0, 3.0, 0.1, 1.0)])
def test_the_bounds_of_an_interval_never_cross(robot: Robot, order: int, dynamics: object) -> None:
    for seed in range(20):
        task, _ = with_dynamics("pose", robot, seed, dynamics)
        task.tolerance = (-np.arange(6) / 10, np.arange(6) / 20)
        state = random_state(robot, seed).replace(time=0.05 * seed)
        rows = task.rows(Snapshot(robot).at(state), layout(robot, order))
        assert (rows.lower <= rows.upper).all()


# -- moving targets ----------------------------------------------------------------------------------------------------


def circle(center: np.ndarray, axes: int = 3) -> tasks.SplineTarget:
    """Ten points on a loop of 10 cm, a turn in 2.5 s, which starts and ends at rest in the middle."""
    angles = np.linspace(0.0, 2.0 * np.pi, 10)
    points = center + 0.1 * np.column_stack([np.sin(angles), 1.0 - np.cos(angles), np.sin(2.0 * angles)])[:, :axes]
    return tasks.SplineTarget(np.linspace(0.0, 2.5, 10), points)


def rotated_pose(pose: pinocchio.SE3) -> pinocchio.SE3:
    return pinocchio.SE3(
        pinocchio.exp3(np.array([0.4, -0.5, 0.6])) @ pose.rotation, pose.translation + np.array([0.1, 0.1, 0.2])
    )


MOVING: dict[str, Callable[[Robot, State], MotionTask]] = {
    "position": lambda r, s: tasks.Position(r.hand("left"), circle(s.pose(r.hand("left")).translation)),
    "orientation": lambda r, s: tasks.Orientation(
        not_none(r.chest),
        tasks.MinimumJerkTarget(
            s.pose(not_none(r.chest)).rotation, rotated_pose(s.pose(not_none(r.chest))).rotation, 2.0
        ),
    ),
    "pose": lambda r, s: tasks.Pose(
        r.hand("left"), tasks.MinimumJerkTarget(s.pose(r.hand("left")), rotated_pose(s.pose(r.hand("left"))), 2.0)
    ),
    "relative pose": lambda r, s: tasks.RelativePose(
        r.hand("left"),
        r.foot("left"),
        tasks.MinimumJerkTarget(
            s.pose(r.foot("left")).actInv(s.pose(r.hand("left"))),
            rotated_pose(s.pose(r.foot("left")).actInv(s.pose(r.hand("left")))),
            2.0,
        ),
    ),
    "gaze": lambda r, s: tasks.Gaze(r.gaze, circle(s.pose(r.gaze).act(0.8 * np.array(r.gaze.axis)))),
    "center of mass": lambda r, s: tasks.CenterOfMass(circle(s.center_of_mass)),
    "center of mass xy": lambda r, s: tasks.CenterOfMass(circle(s.center_of_mass[:2], 2), axes="xy"),
    "center of mass from a foot": lambda r, s: tasks.CenterOfMass(
        circle(s.pose(r.foot("left")).actInv(s.center_of_mass)), frame=r.foot("left")
    ),
}


@ORDERS
@pytest.mark.parametrize("name", MOVING)
def test_a_moving_target_is_followed_without_lag(robot: Robot, name: str, order: int) -> None:
    """Without feedforward the error would be some 60 mm or mrad: a rate of 0.3 over a gain of 5/s."""
    start = random_state(robot, 15, speed=0.0).replace(time=0.0)
    _, errors, rates = follow(MOVING[name](robot, start), start, 2.4, order)
    assert np.abs(rates).max() > 0.15, "it moves"
    assert np.abs(errors).max() < 6e-4


@ORDERS
def test_an_error_beside_a_moving_target_decays_as_beside_one_at_rest(robot: Robot, order: int) -> None:
    start = random_state(robot, 16, speed=0.0).replace(time=0.0)
    hand = robot.hand("left")
    offset = np.array([0.1, -0.2, 0.1])
    task = tasks.Position(hand, circle(start.pose(hand).translation + offset), dynamics=tasks.Decay(4.0))
    times, errors, _ = follow(task, start, 2.0, order)
    curve = np.exp(-4.0 * times) * (1.0 if order == VELOCITY else 1.0 + 4.0 * times)
    assert errors == pytest.approx(-curve[:, None] * offset, abs=2e-3)


@ORDERS
def test_rates_are_followed_at_both_orders(robot: Robot, order: int) -> None:
    momentum = np.array([4.0, 0.0, -2.0])
    start = random_state(robot, 17, speed=0.0)
    steps = run_closed_loop(single_task(tasks.LinearMomentum(momentum)), start, 1.5, order=order, ramp=0.0)
    snapshot = Snapshot(robot).at(steps[-1].state)
    assert snapshot.momentum[:3] == pytest.approx(momentum, abs=0.02)
    assert not not_none(steps[-1].command.errors).values(0).any(), "a rate has no error in position"


def test_a_rate_inside_its_interval_is_left_alone(robot: Robot) -> None:
    snapshot = Snapshot(robot).at(random_state(robot, 18))
    task = tasks.AngularMomentum(1.0, axes="z", tolerance=(-0.5, 2.0))
    rows = task.rows(snapshot, layout(robot, VELOCITY))
    assert (rows.lower, rows.upper) == (pytest.approx([0.5]), pytest.approx([3.0]))  # type: ignore[comparison-overlap]


@ORDERS
def test_regions_are_approached_like_any_bound(robot: Robot, order: int) -> None:
    """ė <= g (b - e): half the way to a wall in no less than log(2) / g."""
    start = random_state(robot, 19, speed=0.0)
    hand = robot.hand("left")
    x = start.pose(hand).translation[0]
    wall = constraints.HalfSpace(hand, (1.0, 0.0, 0.0), x + 0.2, dynamics=tasks.Decay(6.0))
    push = tasks.Position(hand, start.pose(hand).translation + np.array([1.0, 0.0, 0.0]), dynamics=tasks.Decay(30.0))
    steps = run_closed_loop(Hierarchy([wall], [Level("push", [push])]), start, 1.5, order=order, period=FINE, ramp=0.0)
    displacement = np.array([step.state.pose(hand).translation[0] - x for step in steps])
    times = np.array([step.state.time for step in steps]) - start.time
    assert (displacement <= 0.2 + 1e-4).all()
    assert (displacement <= 0.2 * (1.0 - np.exp(-6.0 * times)) + 2e-3).all()
    assert displacement[-1] == pytest.approx(0.2, abs=2e-3)
