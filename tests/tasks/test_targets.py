"""Targets: rates and accelerations against finite differences."""

import numpy as np
import pinocchio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poise import tasks

STEP = 1e-5
NUMBERS = st.floats(-2.0, 2.0)
TIMES = st.floats(-0.5, 3.5)


def paths() -> st.SearchStrategy[tasks.SplineTarget]:
    """Paths of three components through two to six points, some gaps short."""

    def path(gaps: list[float], seed: int) -> tasks.SplineTarget:
        points = np.random.default_rng(seed).normal(0, 1, (len(gaps) + 1, 3))
        return tasks.SplineTarget(np.concatenate([[0.0], np.cumsum(gaps)]), points)

    return st.builds(path, st.lists(st.floats(0.1, 1.0), min_size=1, max_size=5), st.integers(0, 1000))


def random_pose(seed: int) -> pinocchio.SE3:
    random = np.random.default_rng(seed)
    return pinocchio.SE3(pinocchio.exp3(random.normal(0, 0.8, 3)), random.normal(0, 1, 3))


def same_slopes(target: tasks.Target, time: float, jerk: float) -> None:
    """Both derivatives against central differences, whose error is proportional to the jerk."""
    (before, rate_before, _), (_, rate, acceleration), (after, rate_after, _) = (
        target.sample(time + s) for s in (-STEP, 0.0, STEP)
    )
    assert rate == pytest.approx((after - before) / (2 * STEP), abs=1e-8 + jerk * STEP**2)
    assert acceleration == pytest.approx((rate_after - rate_before) / (2 * STEP), abs=1e-6 + jerk * STEP)


@given(path=paths(), where=st.floats(0.02, 0.98), knot=st.integers(0, 5))
def test_rate_and_acceleration_of_a_path_are_its_slopes(path: tasks.SplineTarget, where: float, knot: int) -> None:
    i = knot % (len(path.times) - 1)
    t = (1.0 - where) * path.times[i] + where * path.times[i + 1]
    same_slopes(path, t, jerk=1e4)


@given(path=paths())
def test_a_path_goes_through_its_points_with_continuous_acceleration(path: tasks.SplineTarget) -> None:
    for time, point in zip(path.times, path.points, strict=True):
        assert path.sample(time)[0] == pytest.approx(point, abs=1e-12)
    for time in path.times[1:-1]:
        before, after = path.sample(time - 1e-9)[2], path.sample(time + 1e-9)[2]
        assert before == pytest.approx(after, abs=1e-4)


@given(path=paths(), away=st.floats(1e-6, 100.0))
def test_a_path_waits_at_its_ends(path: tasks.SplineTarget, away: float) -> None:
    for time, point in ((path.times[0] - away, path.points[0]), (path.times[-1] + away, path.points[-1])):
        value, rate, acceleration = path.sample(time)
        assert value == pytest.approx(point)
        assert not rate.any()
        assert not acceleration.any()
    for end in (path.times[0], path.times[-1]):
        assert path.sample(end)[1] == pytest.approx(0.0, abs=1e-9)


def test_a_path_of_numbers_is_one_of_vectors_with_one_component() -> None:
    value, rate, acceleration = tasks.SplineTarget([0.0, 1.0], [0.2, 0.4]).sample(0.5)
    assert value == pytest.approx([0.3])
    assert rate.shape == acceleration.shape == (1,)


@given(seed=st.integers(0, 1000), time=TIMES, duration=st.floats(0.3, 3.0), begin=st.floats(-0.5, 0.5))
def test_rate_and_acceleration_of_a_minimum_jerk_target_of_vectors_are_its_slopes(
    seed: int, time: float, duration: float, begin: float
) -> None:
    start, goal = np.random.default_rng(seed).normal(0, 1, (2, 3))
    minimum_jerk_target = tasks.MinimumJerkTarget(start, goal, duration, begin)
    same_slopes(minimum_jerk_target, time, jerk=60.0 * np.abs(goal - start).max() / duration**3)


@given(seed=st.integers(0, 1000), time=st.floats(0.0, 1.5), kind=st.sampled_from(["rotation", "pose"]))
def test_rate_and_acceleration_of_a_minimum_jerk_target_of_poses_are_its_twists(
    seed: int, time: float, kind: str
) -> None:
    start, goal = random_pose(seed), random_pose(seed + 1)
    if kind == "rotation":
        minimum_jerk_target = tasks.MinimumJerkTarget(start.rotation, goal.rotation, duration=1.5)
    else:
        minimum_jerk_target = tasks.MinimumJerkTarget(start, goal, duration=1.5)

    def place(s: float) -> tuple[np.ndarray, np.ndarray]:
        value = minimum_jerk_target.sample(time + s)[0]
        return (np.zeros(3), value) if kind == "rotation" else (value.translation, value.rotation)

    def twist(s: float) -> np.ndarray:
        rate = minimum_jerk_target.sample(time + s)[1]
        return np.append(np.zeros(3), rate) if kind == "rotation" else rate

    (p0, R0), (p1, R1) = place(-STEP), place(STEP)
    turning = pinocchio.log3(R1 @ R0.T) / (2 * STEP)
    assert twist(0.0) == pytest.approx(np.append((p1 - p0) / (2 * STEP), turning), abs=1e-6)
    _, _, acceleration = minimum_jerk_target.sample(time)
    if kind == "rotation":
        acceleration = np.append(np.zeros(3), acceleration)
    assert acceleration == pytest.approx((twist(STEP) - twist(-STEP)) / (2 * STEP), abs=1e-3)


@pytest.mark.parametrize("kind", ["vector", "rotation", "pose", "matrix"])
def test_a_minimum_jerk_target_starts_and_ends_at_rest_at_its_given_values(kind: str) -> None:
    start, goal = random_pose(1), random_pose(2)
    ends = {
        "vector": (start.translation, goal.translation),
        "rotation": (start.rotation, goal.rotation),
        "pose": (start, goal),
        "matrix": (start.homogeneous, goal.homogeneous),
    }[kind]
    minimum_jerk_target = tasks.MinimumJerkTarget(*ends, duration=2.0, begin=1.0)
    for time, end in ((-3.0, ends[0]), (1.0, ends[0]), (3.0, ends[1]), (9.0, ends[1])):
        value, rate, acceleration = minimum_jerk_target.sample(time)
        if isinstance(value, pinocchio.SE3):
            value = value.homogeneous
        if isinstance(end, pinocchio.SE3):
            end = end.homogeneous
        assert value == pytest.approx(np.asarray(end), abs=1e-12)
        assert rate == pytest.approx(0.0, abs=1e-12)
        assert acceleration == pytest.approx(0.0, abs=1e-12)


def test_a_minimum_jerk_target_moves_straight_and_turns_about_one_axis() -> None:
    start, goal = random_pose(3), random_pose(4)
    minimum_jerk_target = tasks.MinimumJerkTarget(start, goal, duration=1.0)
    displacement, turn = goal.translation - start.translation, pinocchio.log3(goal.rotation @ start.rotation.T)
    for time in np.linspace(0.1, 0.9, 7):
        _, rate, _ = minimum_jerk_target.sample(time)
        assert np.cross(rate[:3], displacement) == pytest.approx(0.0, abs=1e-9)
        assert np.cross(rate[3:], turn) == pytest.approx(0.0, abs=1e-9)


@given(path=paths(), time=TIMES)
def test_sampling_twice_gives_the_same_values(path: tasks.SplineTarget, time: float) -> None:
    first, second = path.sample(time), path.sample(time)
    assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))


def test_a_target_copies_its_arguments() -> None:
    pose, points = random_pose(5), np.zeros((2, 3))
    expected = pose.homogeneous.copy()
    minimum_jerk_target, path = (
        tasks.MinimumJerkTarget(pose, random_pose(6), 1.0),
        tasks.SplineTarget([0.0, 1.0], points),
    )
    pose.translation = np.full(3, 9.0)
    points[:] = 9.0
    assert minimum_jerk_target.sample(0.0)[0].homogeneous == pytest.approx(expected)
    assert path.sample(0.5)[0] == pytest.approx(0.0)


def test_spline_and_minimum_jerk_targets_are_targets_and_numbers_are_not() -> None:
    assert isinstance(tasks.SplineTarget([0.0, 1.0], [[0.0], [1.0]]), tasks.Target)
    assert isinstance(tasks.MinimumJerkTarget([0.0], [1.0], 1.0), tasks.Target)
    assert not isinstance(np.zeros(3), tasks.Target)
