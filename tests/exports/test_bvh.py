"""Skeletons: what an independent reader makes of the file is where the robot is."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import bvhsdk
import numpy as np
import pinocchio
import pytest
from random_motions import biped, make_recording, rail, random_configurations, random_recording

from poise import exports
from poise.exports.bvh import Skeleton, zxy_angles
from poise.geometry import so3
from poise.robots import Robot, library_names, load_robot

#: x forward, y left, z up is z, x, y of the file.
AXES = [1, 2, 0]
SAMPLES = 12


def robots() -> list[Any]:
    return [*(pytest.param(name, marks=pytest.mark.needs_models) for name in library_names()), "biped"]


def load(name: str) -> Robot:
    return biped() if name == "biped" else load_robot(name)


def origins(robot: Robot, q: np.ndarray) -> dict[str, np.ndarray]:
    """Where the joints are, by pinocchio, in the axes of the file."""
    data = robot.model.createData()
    pinocchio.forwardKinematics(robot.model, data, q)
    names = ["base", *list(robot.model.names)[2:]]
    return {name: data.oMi[i + 1].translation[AXES] for i, name in enumerate(names)}


@pytest.mark.parametrize("name", robots())
def test_an_independent_reader_finds_every_joint_where_pinocchio_has_it(name: str, tmp_path: Path) -> None:
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


def test_angles_are_whole_where_two_axes_fall_together() -> None:
    random = np.random.default_rng(4)
    given = random.uniform(-3.0, 3.0, (100, 2, 3))
    given[..., 1] = np.pi / 2 * random.choice([-1.0, 1.0], (100, 2))
    R = zxy_rotation(given)
    assert np.abs(zxy_rotation(zxy_angles(R)) - R).max() < 1e-7


def test_angles_do_not_jump_where_the_motion_does_not() -> None:
    robot = biped()
    _, rotation = Skeleton.of(robot).local_transforms(
        exports.Trajectory.of(random_recording(robot, 400, seed=1, period=0.005))
    )
    angles = zxy_angles(rotation)[:, 1:]  # the base turns freely, and may pass where two axes fall together
    assert np.abs(np.diff(angles, axis=0)).max() < 0.1
