"""MOT and TRC: what is read back from them is where the body was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pinocchio
import pytest
from random_motions import biped, make_recording, rail, random_configurations, random_recording

from poise import exports, human
from poise.exports.opensim import joint_centers
from poise.human import fit, sample_trial
from poise.recording import Channel, Recording
from poise.robots import Robot, library_names, load_robot


def robots() -> list[Any]:
    return [*(pytest.param(name, marks=pytest.mark.needs_models) for name in library_names()), "biped"]


def load(name: str) -> Robot:
    return biped() if name == "biped" else load_robot(name)


@pytest.mark.parametrize("name", robots())
def test_a_motion_file_holds_base_and_joints(name: str, tmp_path: Path) -> None:
    robot = load(name)
    q = random_configurations(robot, 12, seed=3, period=0.1, size=1.5)
    motion = human.read_motion(exports.save(make_recording(robot, q, period=0.1), tmp_path / "m.mot"))
    assert motion.in_degrees
    assert motion.time == pytest.approx(0.1 * np.arange(12))
    for joint in robot.joints:
        assert motion.column(joint.name) == pytest.approx(np.degrees(q[:, joint.q]), abs=1e-6)
    for k in range(12):
        yaw, roll, pitch = (np.radians(motion.column(f"base_{word}")[k]) for word in ("yaw", "roll", "pitch"))
        axes = (np.array([0.0, 0.0, yaw]), np.array([roll, 0.0, 0.0]), np.array([0.0, pitch, 0.0]))
        turn = np.linalg.multi_dot([pinocchio.exp3(axis) for axis in axes])
        assert turn == pytest.approx(pinocchio.Quaternion(*q[k, [6, 3, 4, 5]]).matrix(), abs=1e-8)
        assert [motion.column(f"base_t{axis}")[k] for axis in "xyz"] == pytest.approx(q[k, :3], abs=1e-8)


def test_a_sliding_joint_stays_in_metres(tmp_path: Path) -> None:
    robot = rail(tmp_path)
    q = random_configurations(robot, 5)
    motion = human.read_motion(exports.save(make_recording(robot, q), tmp_path / "m.mot", robot=robot))
    assert motion.column("rail") == pytest.approx(q[:, robot.joint("rail").q], abs=1e-9)
    assert motion.column("hinge") == pytest.approx(np.degrees(q[:, robot.joint("hinge").q]), abs=1e-6)


@pytest.mark.parametrize("name", robots())
def test_points_of_a_robot_are_where_pinocchio_has_them(name: str, tmp_path: Path) -> None:
    robot = load(name)
    q = random_configurations(robot, 6, seed=4, period=0.1)
    q[:, 2] += 1.0
    trial = human.read_trial(exports.save(make_recording(robot, q, period=0.1), tmp_path / "m.trc"), up="y")
    assert trial.rate == pytest.approx(10.0)
    data = robot.model.createData()
    parts = [part for part in (*robot.feet, *robot.hands, robot.head) if part is not None]
    for k in range(6):
        pinocchio.framesForwardKinematics(robot.model, data, q[k])
        for label, joint in joint_centers(robot).items():
            assert trial.marker(label)[k] == pytest.approx(data.oMi[joint].translation, abs=1e-6)
        for part in parts:
            assert trial.marker(part.name)[k] == pytest.approx(data.oMf[part.index].translation, abs=1e-6)


@pytest.mark.parametrize("name", robots())
def test_every_joint_center_has_a_point_and_no_place_has_two(name: str) -> None:
    robot = load(name)
    chosen = joint_centers(robot)
    data = robot.model.createData()
    for q in random_configurations(robot, 4, seed=8):
        pinocchio.forwardKinematics(robot.model, data, q)
        places = np.array([data.oMi[joint].translation for joint in chosen.values()])
        for joint in robot.joints:
            away = np.linalg.norm(places - data.oMi[joint.index].translation, axis=1)
            assert away.min() < 2e-3
        for child, parent in ((j, int(robot.model.parents[j])) for j in list(chosen.values())[1:]):
            assert np.linalg.norm(data.oMi[child].translation - data.oMi[parent].translation) > 1e-3


def test_the_markers_of_a_person_come_out_as_they_were_measured(tmp_path: Path) -> None:
    walk, static = sample_trial(cycles=1, plates=False)
    positions = walk.positions.copy()
    positions[10:40, 3] = np.nan  # longer than what is filled
    walk = walk.replace(positions=positions)
    recording = fit(walk, static).recording()
    trial = human.read_trial(exports.save(recording, tmp_path / "walk.trc"))
    assert trial.rate == pytest.approx(walk.rate)
    for label in trial.labels:
        assert trial.marker(label) == pytest.approx(walk.marker(label), abs=1e-6, nan_ok=True)
    assert np.isnan(trial.marker(walk.labels[3])[10:40]).all()
    slow = human.read_trial(exports.save(recording, tmp_path / "slow.trc", rate=walk.rate / 4.0))
    assert slow.marker("LASIS") == pytest.approx(walk.marker("LASIS")[::4], abs=1e-6)
    assert np.isnan(slow.marker(walk.labels[3])[3:10]).all()


def test_a_file_says_one_rate_even_if_the_samples_were_uneven(tmp_path: Path) -> None:
    robot = biped()
    even = random_recording(robot, 20)
    late = np.array(even.time)
    late[10:] += 0.013
    channels = [Channel("time", "s", late), *(c for name, c in even.channels.items() if name != "time")]
    path = exports.save(Recording(channels, even.provenance, robot), tmp_path / "m.trc")
    trial = human.read_trial(path, up="y")
    assert trial.rate == pytest.approx(100.0, rel=1e-3)
    assert trial.duration == pytest.approx(late[-1] - late[0], abs=0.01)


def test_a_marker_file_bears_the_name_of_what_moved_and_not_of_a_passing_one(tmp_path: Path) -> None:
    path = exports.save(random_recording(biped(), 5), tmp_path / "m.trc")
    assert path.read_text().splitlines()[0].endswith(f"\t{biped().name}.trc")
    assert [each.name for each in tmp_path.iterdir()] == ["m.trc"]
