"""Arms raised beyond the shoulder: known motions are recovered, whatever the angles that describe them."""

import numpy as np
import pinocchio
import pytest

from poise.human import Trial, fit, load_marker_set, sample_trial
from poise.human.fitting.shoulders import ANGLES, beyond_shoulder_range, smallest_shoulder_angles
from poise.human.sample_trials import marker_locations, marker_positions, sample_motion, worn_markers
from poise.robots import SIDES, BodyShape, Robot, Side, load_robot

SHAPE = BodyShape.of(1.77, 75.0, "male")


def arm_directions(robot: Robot, q: np.ndarray, side: Side) -> np.ndarray:
    """Return the direction of the upper arm in the trunk over time (n x 3)."""
    data, out = robot.model.createData(), []
    torso, arm = robot.frame("torso").index, robot.frame(f"{side}_upper_arm").index
    for each in q:
        pinocchio.framesForwardKinematics(robot.model, data, each)
        out.append(-data.oMf[torso].rotation.T @ data.oMf[arm].rotation[:, 2])
    return np.array(out)


def set_arm(robot: Robot, q: np.ndarray, side: Side, elevation: float, plane: float, twist: float) -> None:
    """Point an upper arm: elevation from hanging, plane from lateral to forward, and a twist about itself (rad)."""
    across = 1.0 if side == "left" else -1.0
    outward = np.array([np.sin(plane), across * np.cos(plane), 0.0])
    swing = pinocchio.exp3(elevation * np.cross([0.0, 0.0, -1.0], outward))
    R = swing @ pinocchio.exp3(np.array([0.0, 0.0, -across * twist]))
    mirror = np.diag([1.0, 1.0 if side == "right" else -1.0, 1.0])
    R = mirror @ R @ mirror
    f, a, r = -np.arctan2(R[0, 2], R[2, 2]), np.arcsin(-R[1, 2]), np.arctan2(R[1, 0], R[1, 1])
    q[[robot.joint(f"{side}_{name}").q for name in ANGLES]] = f, a, r


@pytest.mark.parametrize(("plane", "highest"), [(-0.5, 2.3), (0.7, 2.8)])
def test_raised_arms_are_found_and_stay_continuous(plane: float, highest: float) -> None:
    robot = load_robot("human", height=1.77, mass=75.0, sex="male")
    _, q = sample_motion(robot, 1)
    share = 0.5 - 0.5 * np.cos(np.linspace(0.3, 2.3 * np.pi, len(q)))  # the first frame has raised arms, too
    for k, posture in enumerate(q):
        for side in ("left", "right"):
            set_arm(robot, posture, side, highest * (1.0 - share[k]) + 0.3, plane, -0.3)
            posture[robot.joint(f"{side}_elbow_flexion").q] = 0.5
    worn = worn_markers(load_marker_set("plug_in_gait"), static=False)
    positions = marker_positions(robot, q, marker_locations(worn, SHAPE))
    _, static = sample_trial(cycles=1, marker_set="plug_in_gait", noise=0.0)
    labels = tuple(marker.label for marker in worn)
    found = fit(Trial("raised arms", 100.0, np.arange(len(q)) / 100.0, labels, positions), static)
    assert found.quality.verdict == "good", str(found.quality)
    for side in SIDES:
        cosine = np.sum(arm_directions(robot, q, side) * arm_directions(found.robot, found.motion.q, side), axis=1)
        assert np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0)))[10:-10].max() < 6.0
        for name in ANGLES:
            angle = found.angles()[f"{side}_{name}"]
            assert np.isfinite(angle).all()
            assert np.abs(np.diff(angle)).max() < 1.0


def test_both_descriptions_of_a_posture_are_the_same_posture() -> None:
    robot, random = load_robot("human"), np.random.default_rng(1)
    q = np.tile(robot.rest, (20, 1))
    columns = [robot.joint(f"left_{name}").q for name in ANGLES]
    q[:, columns] = np.cumsum(random.normal(0.0, 0.1, (20, 3)), axis=0) + np.array([3.0, -2.0, 3.5])
    smallest = smallest_shoulder_angles(robot, q)
    assert arm_directions(robot, smallest, "left") == pytest.approx(arm_directions(robot, q, "left"), abs=1e-12)
    assert np.mean(smallest[:, columns] ** 2) < np.mean(q[:, columns] ** 2)
    assert np.abs(np.diff(smallest, axis=0)) == pytest.approx(np.abs(np.diff(q, axis=0)))


@pytest.mark.parametrize(("elevation", "plane", "beyond"), [
    (0.2, 0.0, False), (60.0, -90.0, False), (90.0, -40.0, False), (90.0, 130.0, False), (170.0, 0.0, False),
    (110.0, -90.0, True), (95.0, -70.0, True), (90.0, 165.0, True),
])  # fmt: skip
def test_directions_that_no_shoulder_reaches_are_named(elevation: float, plane: float, beyond: bool) -> None:
    robot = load_robot("human")
    for side in ("left", "right"):
        q = robot.rest.copy()
        set_arm(robot, q, side, np.radians(elevation), np.radians(plane), 0.0)
        expected = [np.sin(np.radians(elevation)) * np.sin(np.radians(plane)), -np.cos(np.radians(elevation))]
        assert arm_directions(robot, q[None], side)[0][[0, 2]] == pytest.approx(expected, abs=1e-9)
        assert bool(beyond_shoulder_range(robot, q[None], side)[0]) == beyond
