"""Inverse kinematics of a trial: accurate with visible markers, and without spikes where markers are missing."""

from typing import Any

import numpy as np
import pytest

import poise
from poise.human import load_marker_set
from poise.human.fitting.filtered_motion import filter_motion
from poise.human.fitting.marker_tracking import BodyPoints, MarkerTracker
from poise.human.sample_trials import sample_motion
from poise.human.synthetic_walk import synthesize_walk
from poise.robots import BodyShape, Robot, landmarks

RIGHT: dict[str, Any] = {"height": 1.77, "mass": 75.0, "sex": "male"}


@pytest.fixture(scope="module")
def robot() -> Robot:
    return poise.load_robot("human", **RIGHT)


@pytest.fixture(scope="module")
def known_walk(robot: Robot) -> tuple[np.ndarray, np.ndarray]:
    """A walk with toes, fingers, wrists and head that move as well: times and configurations, exactly known."""
    time, q = sample_motion(robot, cycles=1)
    for joint, size in (
        ("left_toes_extension", 0.2), ("right_toes_extension", 0.2), ("left_fingers_flexion", 0.15),
        ("neck_rotation", 0.15), ("neck_extension", 0.1), ("left_wrist_flexion", 0.15), ("left_wrist_deviation", 0.1),
    ):  # fmt: skip
        q[:, robot.joint(joint).q] += size * np.sin(2.0 * np.pi * time)
    return time, q


@pytest.fixture(scope="module")
def tracker(robot: Robot) -> MarkerTracker:
    markers = load_marker_set("skin49").markers.values()
    locations = landmarks(BodyShape.of(**RIGHT))
    joints = [robot.model.frames[robot.model.getFrameId(marker.segment)].parentJoint for marker in markers]
    points = BodyPoints(robot.model, joints, [locations[str(marker.landmark)][1] for marker in markers])
    return MarkerTracker(robot, points, np.array([marker.weight for marker in markers]))


def angle_differences(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Differences of all joint angles."""
    return np.degrees(np.abs(a[:, 7:] - b[:, 7:]))


def test_jacobians_of_points_are_those_of_finite_differences(
    tracker: MarkerTracker, known_walk: tuple[np.ndarray, np.ndarray]
) -> None:
    import pinocchio

    points, model, q = tracker.points, tracker.robot.model, known_walk[1][20]
    _, J = points.positions_and_jacobians(q)
    rng = np.random.default_rng(0)
    v = rng.normal(size=model.nv)
    h = 1e-6
    ahead, behind = (points.positions(pinocchio.integrate(model, q, s * h * v)) for s in (1.0, -1.0))
    assert J @ v == pytest.approx((ahead - behind) / (2 * h), abs=1e-7)


def test_a_known_motion_is_recovered_to_a_twentieth_of_a_degree(
    tracker: MarkerTracker, known_walk: tuple[np.ndarray, np.ndarray]
) -> None:
    _, q = known_walk
    found = tracker.track(np.array([tracker.points.positions(each) for each in q]), q[0])
    assert angle_differences(found.q, q).max() < 0.05
    assert np.nanmax(found.errors) < 1e-4


def test_markers_that_drop_out_at_random_make_no_spikes(
    tracker: MarkerTracker, known_walk: tuple[np.ndarray, np.ndarray]
) -> None:
    """15 % of all markers in each frame, and gaps filled as `fit` does."""
    from poise.human import Trial, fill_gaps

    time, q = known_walk
    positions = np.array([tracker.points.positions(each) for each in q])
    positions[np.random.default_rng(1).random(positions.shape[:2]) < 0.15] = np.nan
    labels = tuple(f"m{k}" for k in range(positions.shape[1]))
    whole = fill_gaps(Trial("made", 100.0, time, labels, positions)).positions
    assert angle_differences(tracker.track(whole, q[0]).q, q)[5:-5].max() < 3.0  # a gap at the ends cannot be filled
    raw = angle_differences(tracker.track(positions, q[0]).q, q)
    legs = [k for k, joint in enumerate(tracker.robot.joints) if "hip" in joint.name or "knee" in joint.name]
    assert raw[:, legs].max() < 1.0


@pytest.mark.parametrize("label", ["LASIS", "RLFE", "LCAL", "RMFH1", "RLM", "LLHE", "RRS", "C7", "SEL"])
def test_a_marker_ten_centimetres_off_makes_no_spike(
    tracker: MarkerTracker, known_walk: tuple[np.ndarray, np.ndarray], label: str
) -> None:
    """In the filtered motion, which users receive, no joint jumps by 10 degrees between two frames."""
    time, q = known_walk
    positions = np.array([tracker.points.positions(each) for each in q])
    which = list(load_marker_set("skin49").markers).index(label)
    positions[40:60, which] += 0.1 * np.array([0.6, -0.48, 0.64])
    found = tracker.track(positions, q[0])
    assert found.ignored[40:60, which].sum() >= 15
    assert not found.ignored[:40].any()
    smooth = filter_motion(tracker.robot, time, found.q, 6.0).q
    spikes = np.degrees(np.abs(np.diff(smooth[:, 7:] - q[:, 7:], axis=0)))
    assert spikes.max() < 10.0
    assert (
        angle_differences(smooth, q)[45:55][:, [j.v - 6 for j in tracker.robot.joints if "knee" in j.name]].max() < 5.0
    )


def test_joints_stay_in_range_with_any_marker_positions(tracker: MarkerTracker, robot: Robot) -> None:
    rng = np.random.default_rng(2)
    positions = tracker.points.positions(robot.rest) + 0.3 * rng.normal(size=(len(tracker.weights), 3))
    found = tracker.track(positions[None], robot.rest).q[0]
    assert (found[7:] >= robot.limits.lower - 1e-12).all()
    assert (found[7:] <= robot.limits.upper + 1e-12).all()
    assert np.isfinite(found).all()


def test_without_visible_markers_the_posture_stays_the_same(tracker: MarkerTracker, robot: Robot) -> None:
    positions = np.full((5, len(tracker.weights), 3), np.nan)
    found = tracker.track(positions, robot.rest)
    assert found.q == pytest.approx(np.tile(robot.rest, (5, 1)), abs=1e-9)


def test_velocities_and_accelerations_are_those_of_the_motion(robot: Robot) -> None:
    """Of a walk that is a sum of sines, whose derivatives are known."""
    time = np.arange(250) / 200.0
    q, v, a = synthesize_walk(robot).at(time)
    moved = filter_motion(robot, time, q, None)
    assert moved.v[10:-10] == pytest.approx(v[10:-10], abs=1e-3)
    assert moved.a[10:-10] == pytest.approx(a[10:-10], abs=0.15)


def test_the_amplitude_at_the_cutoff_is_one_over_root_two(robot: Robot) -> None:
    """Half of the power is gone at the cut-off: 0.707 of the amplitude, there and back."""
    time = np.arange(600) / 100.0
    q = np.tile(robot.rest, (600, 1))
    knee = robot.joint("left_knee_flexion").q
    q[:, knee] = 0.5 + 0.2 * np.sin(2.0 * np.pi * 6.0 * time)
    moved = filter_motion(robot, time, q, 6.0)
    assert np.ptp(moved.q[200:400, knee]) / 0.4 == pytest.approx(np.sqrt(0.5), abs=0.01)
    assert "6 Hz" in moved.note
