"""Measures of a walk are those of motions whose formulas are known."""

from __future__ import annotations

import dataclasses
import itertools
import math
from pathlib import Path

import numpy as np
import pinocchio
import pytest

from poise.analysis import (
    STYLE_MEASURES,
    BodyTrajectories,
    StyleMeasures,
    analyze_walk,
    compute_trajectories,
    log_dimensionless_jerk,
    posture_frames,
    style_measures,
)
from poise.analysis.body_trajectories import arm_pitch, chest_pitch, gaze_pitch, in_heading_axes, standing_arm_pitch
from poise.analysis.walk_measures import arm_torque, joint_work, torque_shares
from poise.recording import Channel, CoordinateLabels, Recording
from poise.robots import Robot, leg_length
from poise.state import natural_frequency
from synthetic_walks import HEIGHT, SyntheticWalk, biped, synthetic_trajectories, z_rotations


@pytest.fixture(scope="module")
def robot() -> Robot:
    return biped()


def measures_of(robot: Robot, synthetic_walk: SyntheticWalk, forces: str = "measured/force") -> StyleMeasures:
    tracks = synthetic_trajectories(robot, synthetic_walk, forces)
    return style_measures(analyze_walk(tracks.recording, robot, tracks))


def make_recording(robot: Robot, q: np.ndarray, period: float = 0.005, **channels: np.ndarray) -> Recording:
    """A recording of configurations, with the velocities between them."""
    body = CoordinateLabels.of(robot)
    between = [pinocchio.difference(robot.model, a, b) / period for a, b in itertools.pairwise(q)]
    named = [Channel(name.replace("__", "/"), "", values, body.joints) for name, values in channels.items()]
    return Recording(
        [
            Channel("time", "s", period * np.arange(len(q))),
            Channel("q", "", q, body.q_labels),
            Channel("v", "", np.array([*between, between[-1]]), body.v_labels),
            *named,
        ],
        {"robot": robot.name},
        robot,
    )


def trajectories_of(robot: Robot, recording: Recording) -> BodyTrajectories:
    return compute_trajectories(recording, robot, posture_frames(robot).frames)


def turned_configuration(robot: Robot, yaw: float, pitch: np.ndarray) -> np.ndarray:
    """The stance with its base turned to a heading, then leaning forward."""
    q = np.tile(robot.stance("standing").q, (len(pitch), 1))
    for i, angle in enumerate(pitch):
        R = pinocchio.rpy.rpyToMatrix(0.0, float(angle), yaw)
        q[i, 3:7] = pinocchio.Quaternion(R).coeffs()
    return q


def test_every_measure_has_a_unit_and_a_description() -> None:
    assert list(STYLE_MEASURES) == [field.name for field in dataclasses.fields(StyleMeasures)]
    for name, measure in STYLE_MEASURES.items():
        assert len(measure.description) > 10, name
        assert not measure.description.endswith("."), name


@pytest.mark.parametrize(
    "synthetic_walk",
    [SyntheticWalk(), SyntheticWalk(length=-0.1, single=0.7, double=0.3, height=0.1), SyntheticWalk(turn=0.3)],
)
def test_steps_of_a_synthetic_walk_are_measured(robot: Robot, synthetic_walk: SyntheticWalk) -> None:
    found = measures_of(robot, synthetic_walk)
    assert found.step_length == pytest.approx(synthetic_walk.length, abs=1e-9)
    assert found.relative_step_length == pytest.approx(synthetic_walk.length / leg_length(robot), abs=1e-9)
    assert found.step_width == pytest.approx(synthetic_walk.width)
    assert found.step_height == pytest.approx(synthetic_walk.height, rel=1e-3)
    assert found.cadence == pytest.approx(60.0 / (synthetic_walk.single + synthetic_walk.double), rel=0.01)
    assert found.single_support == pytest.approx(synthetic_walk.single, abs=synthetic_walk.period)
    assert found.double_support == pytest.approx(synthetic_walk.double, abs=synthetic_walk.period)
    assert found.slip == pytest.approx(0.0, abs=1e-9)
    # The synthetic walk advances by half of two steps, along the chord of a turn.
    assert found.forward == pytest.approx(
        synthetic_walk.length / (synthetic_walk.single + synthetic_walk.double), rel=0.05
    )
    assert found.turning == pytest.approx(
        synthetic_walk.turn / (synthetic_walk.single + synthetic_walk.double), rel=0.01, abs=1e-9
    )
    assert found.sideways == pytest.approx(0.0, abs=0.02)


def test_the_sway_of_a_sine_is_its_amplitude(robot: Robot) -> None:
    for sway in (0.01, 0.05):
        assert measures_of(robot, SyntheticWalk(sway=sway)).sway == pytest.approx(sway, rel=0.02)
    # On a circle the path of the synthetic walk has corners, which add a little sway.
    assert measures_of(robot, SyntheticWalk(sway=0.05, turn=0.2)).sway == pytest.approx(0.05, rel=0.1)


def test_the_height_of_the_center_is_against_the_stance(robot: Robot) -> None:
    expected = HEIGHT - robot.stance("standing").center_of_mass[2]
    assert measures_of(robot, SyntheticWalk()).center_of_mass_height == pytest.approx(expected, abs=1e-9)


def test_the_dcm_is_ahead_of_the_center_of_mass_by_speed_over_natural_frequency(robot: Robot) -> None:
    tracks = synthetic_trajectories(robot, SyntheticWalk(sway=0.0))
    walk = analyze_walk(tracks.recording, robot, tracks)
    ahead_by = (walk.dcm - tracks.center_of_mass[:, :2])[walk.window]
    assert ahead_by[:, 0].mean() == pytest.approx(walk.speed.forward / float(natural_frequency(HEIGHT)), rel=1e-6)
    assert walk.natural_frequency == pytest.approx(float(natural_frequency(HEIGHT)))
    inside = walk.support_margins(walk.dcm, [step.after.begin for step in walk.steady_steps])
    assert style_measures(walk).dcm_margin == pytest.approx(inside.min())


def test_a_recorded_dcm_error_is_reported(robot: Robot) -> None:
    tracks = synthetic_trajectories(robot, SyntheticWalk())
    error = np.tile([0.03, 0.04], (tracks.recording.samples, 1))
    channels = [*tracks.recording.channels.values(), Channel("error/balance/dcm", "m", error)]
    object.__setattr__(tracks, "recording", Recording(channels))
    assert style_measures(analyze_walk(tracks.recording, robot, tracks)).dcm_error == pytest.approx(0.05)
    assert math.isnan(measures_of(robot, SyntheticWalk()).dcm_error)


def test_a_motion_without_steps_has_no_measures(robot: Robot) -> None:
    found = measures_of(robot, SyntheticWalk(steps=0))
    assert all(math.isnan(getattr(found, name)) for name in STYLE_MEASURES)


@pytest.mark.parametrize("yaw", [0.0, 2.5, -3.1])
def test_the_chest_leans_and_the_gaze_sinks_by_the_angle_of_the_base(robot: Robot, yaw: float) -> None:
    pitch = np.linspace(-0.5, 0.6, 30)
    recording = make_recording(robot, turned_configuration(robot, yaw, pitch))
    tracks, heading = trajectories_of(robot, recording), np.full(30, yaw)
    assert chest_pitch(tracks, heading) == pytest.approx(np.degrees(pitch), abs=1e-9)
    assert gaze_pitch(tracks, heading) == pytest.approx(np.degrees(pitch), abs=1e-9)


@pytest.mark.parametrize(("yaw", "lean"), [(0.0, 0.0), (2.0, 0.3)])
def test_the_swing_of_an_arm_is_that_of_its_shoulder(robot: Robot, yaw: float, lean: float) -> None:
    n = 200
    angle = 0.4 * np.sin(2.0 * math.pi * np.arange(n) / 100.0)
    q = turned_configuration(robot, yaw, np.full(n, lean))
    q[:, robot.joint("left_shoulder_pitch").q] += angle
    tracks = trajectories_of(robot, make_recording(robot, q))
    # The shoulder turns about the lateral axis: positive angles move the hand back.
    still = standing_arm_pitch(robot, "left")
    assert arm_pitch(tracks, "left") == pytest.approx(still - np.degrees(angle), abs=1e-6)
    assert np.ptp(arm_pitch(tracks, "right")) == pytest.approx(0.0, abs=1e-6)


def test_an_arm_that_goes_over_the_head_does_not_jump(robot: Robot) -> None:
    n = 300
    q = turned_configuration(robot, 0.0, np.zeros(n))
    q[:, robot.joint("left_shoulder_pitch").q] = -np.linspace(0.0, 1.5 * math.pi, n)
    assert np.ptp(arm_pitch(trajectories_of(robot, make_recording(robot, q)), "left")) == pytest.approx(270.0, abs=1e-6)


def test_angular_momentum_is_that_of_all_bodies_by_differences(robot: Robot) -> None:
    h, n = 1e-4, 6
    rng = np.random.default_rng(3)
    v = rng.normal(size=robot.model.nv)
    q = np.array([pinocchio.integrate(robot.model, robot.stance("standing").q, i * h * v) for i in range(n)])
    recording = make_recording(robot, q, h)
    momentum = trajectories_of(robot, recording).momentum
    data, model = robot.model.createData(), robot.model
    centers, turns = np.empty((n, model.njoints, 3)), np.empty((n, model.njoints, 3, 3))
    for i in range(n):
        pinocchio.forwardKinematics(model, data, q[i])
        for j in range(1, model.njoints):
            centers[i, j], turns[i, j] = data.oMi[j].act(model.inertias[j].lever), data.oMi[j].rotation
    masses = np.array([0.0, *(model.inertias[j].mass for j in range(1, model.njoints))])
    i, total = 2, np.zeros(3)
    middle = (masses[1:, None] * centers[i, 1:]).sum(axis=0) / masses.sum()
    for j in range(1, model.njoints):
        velocity = (centers[i + 1, j] - centers[i - 1, j]) / (2 * h)
        spin = pinocchio.log3(turns[i + 1, j] @ turns[i - 1, j].T) / (2 * h)
        inertia = turns[i, j] @ model.inertias[j].inertia @ turns[i, j].T
        total += masses[j] * np.cross(centers[i, j] - middle, velocity) + inertia @ spin
    between = (momentum[i, 3:] + momentum[i - 1, 3:]) / 2  # velocities are those between two samples
    assert between == pytest.approx(total, rel=1e-3, abs=float(1e-3 * np.linalg.norm(total)))


def test_angular_momentum_is_expressed_along_the_heading_and_normalised_by_size(robot: Robot) -> None:
    synthetic_walk = SyntheticWalk(heading=1.2)
    tracks = synthetic_trajectories(robot, synthetic_walk)
    own = np.array([1.0, 2.0, 3.0])
    tracks.momentum[:, 3:] = z_rotations(np.array([1.2]))[0] @ own
    walk = analyze_walk(tracks.recording, robot, tracks)
    assert walk.angular_momentum == pytest.approx(np.tile(own, (len(walk.angular_momentum), 1)))
    found = style_measures(walk)
    unit = 1.0 / (robot.mass * HEIGHT * math.sqrt(9.81 * HEIGHT))
    components = [found.angular_momentum_x, found.angular_momentum_y, found.angular_momentum_z]
    assert components == pytest.approx(unit * own)
    assert in_heading_axes(np.array([[0.0, 1.0, 5.0]]), np.array([math.pi / 2])) == pytest.approx(
        np.array([[1.0, 0.0, 5.0]])
    )


def test_work_and_shares_of_torques_are_those_of_the_formulas(robot: Robot) -> None:
    n, h = 101, 0.01
    q = turned_configuration(robot, 0.0, np.zeros(n))
    knee = robot.joint("left_knee")
    q[:, knee.q] += 0.5 * np.sin(np.linspace(0.0, 2.0 * math.pi, n))  # forth and back: a path of 2 rad
    torque = np.zeros((n, len(robot.joints)))
    torque[:, knee.v - 6] = 7.0
    torque[:, robot.joint("left_elbow").v - 6] = 0.25 * robot.limits.torque[robot.joint("left_elbow").v - 6]
    recording = make_recording(robot, q, h, command__torque=torque)
    assert joint_work(recording, robot, slice(0, n - 1)) == pytest.approx(7.0 * 2.0, rel=1e-3)
    names, shares = torque_shares(recording, robot)
    assert shares[5, names.index("left_knee")] == pytest.approx(7.0 / robot.limits.torque[knee.v - 6])
    assert arm_torque(recording, robot, slice(None)) == pytest.approx(0.25 / math.sqrt(6.0))  # one joint of six
    assert math.isnan(joint_work(make_recording(robot, q, h), robot, slice(None)))


def test_smoothness_is_that_of_the_center_by_strides(robot: Robot) -> None:
    tracks = synthetic_trajectories(robot, SyntheticWalk())
    walk = analyze_walk(tracks.recording, robot, tracks)
    each = [
        log_dimensionless_jerk(tracks.center_of_mass_velocity[s], tracks.recording.period) for s in walk.stride_samples
    ]
    assert style_measures(walk).center_of_mass_smoothness == pytest.approx(np.mean(each))


def test_every_measure_is_in_the_documentation(root: Path) -> None:
    text = (root / "docs/walking.md").read_text()
    for name, measure in STYLE_MEASURES.items():
        line = f"| `{name}` | {measure.unit or 'none'} | {measure.description.replace('|', '&#124;')} |"
        assert line in text, f"docs/walking.md does not describe {name}"
