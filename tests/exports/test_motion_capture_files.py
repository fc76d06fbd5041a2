"""BVH files read by an independent reader, MOT and TRC files read back, compared with pinocchio."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import bvhsdk
import numpy as np
import pinocchio
import pytest
from random_motions import biped, make_recording, rail, random_configurations, random_recording

from poise import exports, human
from poise.exports.motion_capture_files import Skeleton, joint_centers, zxy_angles
from poise.geometry import so3
from poise.human import fit, sample_trial
from poise.recording import Channel, Recording
from poise.robots import Robot, library_names, load_robot

#: x forward, y left, z up is z, x, y of the file.
AXES = [1, 2, 0]
SAMPLES = 12


def robots() -> list[Any]:
    return [*(pytest.param(name, marks=pytest.mark.needs_models) for name in library_names()), "biped"]


def load(name: str) -> Robot:
    return biped() if name == "biped" else load_robot(name)


def origins(robot: Robot, q: np.ndarray) -> dict[str, np.ndarray]:
    """Positions of the joints, by pinocchio, in the axes of the file."""
    data = robot.model.createData()
    pinocchio.forwardKinematics(robot.model, data, q)
    names = ["base", *list(robot.model.names)[2:]]
    return {name: data.oMi[i + 1].translation[AXES] for i, name in enumerate(names)}


@pytest.mark.parametrize("name", robots())
def test_an_independent_reader_finds_the_joint_positions_of_pinocchio(name: str, tmp_path: Path) -> None:
    robot = load(name)
    q = random_configurations(robot, SAMPLES, seed=3, period=0.1, size=1.5)
    path = exports.save(make_recording(robot, q, period=0.1), tmp_path / "m.bvh", rate=10.0)
    animation = bvhsdk.ReadFile(str(path))
    joints = animation.getlistofjoints()
    assert (animation.frames, animation.frametime) == (SAMPLES, pytest.approx(0.1))
    assert len(joints) == len(robot.joints) + 1
    for frame in range(SAMPLES):
        meant = origins(robot, q[frame])
        for joint in joints:
            assert np.abs(joint.getPosition(frame) - meant[joint.name]).max() < 1e-4 * robot.height


@pytest.mark.parametrize("name", robots())
def test_chains_end_in_the_parts_that_the_robot_has_there(name: str, tmp_path: Path) -> None:
    robot = load(name)
    q = random_configurations(robot, 3, seed=5, period=0.1)
    animation = bvhsdk.ReadFile(str(exports.save(make_recording(robot, q, 0.1), tmp_path / "m.bvh", rate=10.0)))
    parents = set(robot.model.parents)
    last = [joint for joint in range(2, robot.model.njoints) if joint not in parents]
    data = robot.model.createData()
    for frame in range(3):
        pinocchio.framesForwardKinematics(robot.model, data, q[frame])
        for joint in last:
            found = animation.getJoint(robot.model.names[joint]).getEndSitePosition(frame)
            carried = [data.oMf[f.index].translation[AXES] for f in robot.frames.values() if f.joint == joint]
            reach = max(np.linalg.norm(point - data.oMi[joint].translation[AXES]) for point in carried)
            distance = min(np.linalg.norm(point - found) for point in carried)
            assert distance < 1e-4 * robot.height or reach < 0.015 * robot.height


def test_offsets_are_those_of_the_robot_with_all_joints_at_zero(tmp_path: Path) -> None:
    robot = biped()
    text = exports.save(random_recording(robot), tmp_path / "m.bvh").read_text()
    rest = origins(robot, np.concatenate([np.zeros(3), robot.rest[3:7], np.zeros(robot.model.nq - 7)]))
    found = dict(re.findall(r"(?:ROOT|JOINT) (\S+)\n\s*{\n\s*OFFSET (.*)", text))
    assert found.keys() == rest.keys()
    for joint in robot.joints:
        parent = robot.model.names[robot.model.parents[joint.index]]
        above = rest["base" if parent == "root_joint" else parent]
        assert np.abs(np.array(found[joint.name].split(), dtype=float) - (rest[joint.name] - above)).max() < 2e-6
    assert found["base"].split() == ["0.000000"] * 3


def test_the_file_has_the_shape_that_readers_expect(tmp_path: Path) -> None:
    robot = biped()
    lines = exports.save(random_recording(robot, 100), tmp_path / "m.bvh").read_text().splitlines()
    assert lines[0] == "HIERARCHY"
    assert lines[4] == "  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation"
    assert sum(line.strip() == "CHANNELS 3 Zrotation Xrotation Yrotation" for line in lines) == len(robot.joints)
    assert sum(line.strip() == "End Site" for line in lines) == len(set(range(2, 18)) - set(robot.model.parents))
    start = lines.index("MOTION")
    assert lines[start + 1 : start + 3] == ["Frames: 60", "Frame Time: 0.01666667"]
    rows = lines[start + 3 :]
    assert [len(row.split()) for row in rows] == [6 + 3 * len(robot.joints)] * 60


def test_a_joint_that_slides_moves_in_the_file(tmp_path: Path) -> None:
    robot = rail(tmp_path)
    q = random_configurations(robot, SAMPLES)
    animation = bvhsdk.ReadFile(str(exports.save(make_recording(robot, q), tmp_path / "m.bvh", rate=100.0)))
    for frame in range(SAMPLES):
        for name, place in origins(robot, q[frame]).items():
            assert np.abs(animation.getJoint(name).getPosition(frame) - place).max() < 1e-5


def zxy_rotation(angles: np.ndarray) -> np.ndarray:
    """Rz(a) Rx(b) Ry(c) of angles (..., 3)."""
    axes = ([0, 0, 1], [1, 0, 0], [0, 1, 0])
    a, b, c = (so3.exp(angles[..., i, None] * np.array(axis, dtype=float)) for i, axis in enumerate(axes))
    return a @ b @ c


def test_angles_give_the_rotation_back() -> None:
    random = np.random.default_rng(2)
    R = so3.exp(random.normal(0.0, 2.0, (300, 5, 3)))
    assert np.abs(zxy_rotation(zxy_angles(R)) - R).max() < 1e-12


@pytest.mark.parametrize("axis", np.eye(3))
def test_a_hinge_that_bends_beyond_a_right_angle_keeps_bending_in_one_number(axis: np.ndarray) -> None:
    bend = np.linspace(0.0, 3.0, 200)
    angles = zxy_angles(so3.exp(np.outer(bend, axis))[:, None])[:, 0]
    assert np.abs(angles[:, [1, 2, 0]] - np.outer(bend, axis)).max() < 1e-7


def test_angles_are_correct_at_gimbal_lock() -> None:
    random = np.random.default_rng(4)
    angles = random.uniform(-3.0, 3.0, (100, 2, 3))
    angles[..., 1] = np.pi / 2 * random.choice([-1.0, 1.0], (100, 2))
    R = zxy_rotation(angles)
    assert np.abs(zxy_rotation(zxy_angles(R)) - R).max() < 1e-7


def test_angles_do_not_jump_where_the_motion_does_not() -> None:
    robot = biped()
    _, rotation = Skeleton.of(robot).local_transforms(
        exports.Trajectory.of(random_recording(robot, 400, seed=1, period=0.005))
    )
    angles = zxy_angles(rotation)[:, 1:]  # the base turns freely, and may pass through gimbal lock
    assert np.abs(np.diff(angles, axis=0)).max() < 0.1


# -- MOT and TRC files -------------------------------------------------------------------------------------------------


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
def test_points_of_a_robot_have_the_positions_of_pinocchio(name: str, tmp_path: Path) -> None:
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
def test_each_joint_center_has_one_point_and_coincident_centers_share_it(name: str) -> None:
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


def test_the_markers_of_a_person_are_exported_as_measured(tmp_path: Path) -> None:
    walk, static = sample_trial(cycles=1, plates=False)
    positions = walk.positions.copy()
    positions[10:40, 3] = np.nan  # longer than the gaps that are filled
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


def test_a_file_has_one_rate_even_if_the_samples_were_uneven(tmp_path: Path) -> None:
    robot = biped()
    even = random_recording(robot, 20)
    late = np.array(even.time)
    late[10:] += 0.013
    channels = [Channel("time", "s", late), *(c for name, c in even.channels.items() if name != "time")]
    path = exports.save(Recording(channels, even.provenance, robot), tmp_path / "m.trc")
    trial = human.read_trial(path, up="y")
    assert trial.rate == pytest.approx(100.0, rel=1e-3)
    assert trial.duration == pytest.approx(late[-1] - late[0], abs=0.01)


def test_the_header_of_a_marker_file_names_the_trial_and_not_the_temporary_file(tmp_path: Path) -> None:
    path = exports.save(random_recording(biped(), 5), tmp_path / "m.trc")
    assert path.read_text().splitlines()[0].endswith(f"\t{biped().name}.trc")
    assert [each.name for each in tmp_path.iterdir()] == ["m.trc"]
