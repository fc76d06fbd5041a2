"""Limbs of robots, and trajectories of their parts computed from recorded states."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio
import pytest

import poise
from poise.analysis import compute_trajectories, zmp_margin
from poise.errors import RecordingError
from poise.recording import Channel, Recording
from poise.robots import Robot, library_names, limbs, load_robot
from shared_data import require_models


@pytest.fixture(scope="module")
def robot() -> Robot:
    require_models()
    return load_robot("g1")


@pytest.fixture(scope="module")
def recording(robot: Robot) -> Recording:
    reach = poise.behaviors.Reach(robot)
    return poise.record(poise.KinematicController(reach), poise.IdealPlant(reach.start), 0.6)


@pytest.mark.needs_models
@pytest.mark.parametrize("name", library_names())
def test_every_joint_of_a_library_robot_belongs_to_one_limb(name: str) -> None:
    robot = load_robot(name)
    found = {limb.name: limb.joints for limb in limbs(robot)}
    assert sorted(joint for joints in found.values() for joint in joints) == sorted(j.name for j in robot.joints)
    assert "other joints" not in found
    assert len(found["left leg"]) == len(found["right leg"]) == (7 if name == "human" else 6)  # with toes
    assert len(found["left arm"]) == len(found["right arm"]) >= 4
    assert len(found.get("trunk", ())) <= 3  # Nao's chest is its base


def test_joints_beyond_a_foot_belong_to_its_leg_and_the_remaining_ones_to_other_joints(root: Path) -> None:
    robot = load_robot(root / "examples/biped.urdf")
    names = {joint.name for joint in robot.joints}
    assert [limb.name for limb in limbs(robot)] == ["other joints"]  # a URDF alone names no parts
    assert set(limbs(robot)[0].joints) == names

    knee = next(frame for frame in robot.frames.values() if "knee" in frame.name and frame.joint > 1)
    sole = {"frame": knee.name, "sole": [-0.1, 0.1, -0.05, 0.05]}
    below = [j.name for j in robot.joints if knee.joint in robot.model.supports[j.index].tolist()]
    leg = {limb.name: limb.joints for limb in limbs(load_robot(root / "examples/biped.urdf", feet={"left": sole}))}
    assert set(below) <= set(leg["left leg"])
    assert set(leg["left leg"]) | set(leg["other joints"]) == names


def test_positions_of_parts_and_center_of_mass_are_those_of_the_states(robot: Robot, recording: Recording) -> None:
    tracks = compute_trajectories(recording, robot)
    for i in (0, 40, 119):
        state = recording.state(i, robot)
        for k, part in enumerate(tracks.parts):
            assert tracks.positions[i, k] == pytest.approx(state.pose(part).translation, abs=1e-12)
            assert tracks.rotations[i, k] == pytest.approx(state.pose(part).rotation, abs=1e-12)
        assert tracks.center_of_mass[i] == pytest.approx(state.center_of_mass, abs=1e-12)
        assert tracks.support(i) == pytest.approx(state.support_polygon, abs=1e-12)
        assert tracks.ground_height[i] == pytest.approx(state.pose(robot.foot("right")).translation[2], abs=1e-12)


def test_velocities_are_the_differences_of_positions(robot: Robot, recording: Recording) -> None:
    tracks = compute_trajectories(recording, robot)
    h = recording.period
    middle = (tracks.velocities[1:] + tracks.velocities[:-1]) / 2
    assert np.diff(tracks.positions, axis=0) / h == pytest.approx(middle, abs=2e-2)
    assert np.diff(tracks.center_of_mass, axis=0) / h == pytest.approx(
        (tracks.center_of_mass_velocity[1:] + tracks.center_of_mass_velocity[:-1]) / 2, abs=2e-2
    )


def test_the_zmp_is_that_of_the_wrench_of_inverse_dynamics(robot: Robot, recording: Recording) -> None:
    tracks = compute_trajectories(recording, robot)
    v = np.asarray(recording["v"])
    acceleration = np.gradient(v, recording.period, axis=0)
    data = robot.model.createData()
    for i in (20, 60, 100):
        # The root wrench that pinocchio's Newton-Euler algorithm needs, moved to the ground below the world's origin.
        q = np.asarray(recording["q"])[i]
        pinocchio.forwardKinematics(robot.model, data, q)
        pinocchio.rnea(robot.model, data, q, v[i], acceleration[i])
        wrench = data.oMi[1].act(data.f[1])
        moment = wrench.angular - np.cross([0.0, 0.0, tracks.ground_height[i]], wrench.linear)
        assert tracks.zmp[i] == pytest.approx(np.array([-moment[1], moment[0]]) / wrench.linear[2], abs=2e-3)


def test_the_zmp_margin_is_the_least_distance_to_the_support_edges(robot: Robot, recording: Recording) -> None:
    tracks = compute_trajectories(recording, robot)
    inner = range(1, recording.samples - 1)
    assert np.nanmin(tracks.margins(tracks.zmp, inner)) == pytest.approx(zmp_margin(recording, robot), abs=1e-9)


def test_the_true_state_is_used_if_it_was_recorded(robot: Robot, recording: Recording) -> None:
    truth = np.array(recording["q"])
    truth[:, 0] += 0.5
    truth[:10] = np.nan
    channels = [*recording.channels.values(), Channel("true/q", "", truth, recording.labels["q"])]
    moved = (
        compute_trajectories(Recording(channels), robot).center_of_mass[:, 0]
        - compute_trajectories(recording, robot).center_of_mass[:, 0]
    )
    assert moved == pytest.approx([0.0] * 10 + [0.5] * 110, abs=1e-12)


def test_an_invalid_state_gives_nan_in_its_own_sample_only(robot: Robot, recording: Recording) -> None:
    q = np.array(recording["q"])
    q[5] = np.nan
    channels = [Channel("q", "", q, recording.labels["q"]) if c.key == "q" else c for c in recording.channels.values()]
    tracks = compute_trajectories(Recording(channels), robot)
    assert np.isnan(tracks.center_of_mass[5]).all()
    assert np.isfinite(np.delete(tracks.center_of_mass, 5, axis=0)).all()
    assert np.isnan(tracks.margins(tracks.center_of_mass[:, :2], [5])).all()


@pytest.mark.needs_models
def test_a_recording_of_another_robot_is_refused(recording: Recording) -> None:
    with pytest.raises(RecordingError, match="whose joints are not those of 'talos'"):
        compute_trajectories(recording, load_robot("talos"))
