"""The OpenSim model of a person has the body of Poise: masses, places of all segments, markers; and its dynamics."""

from __future__ import annotations

import json
import subprocess
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pinocchio
import pytest
from scipy.spatial.transform import Rotation

import poise
from benchmarks.peers.processes import OPENSIM, cache_folder, interpreter
from poise import exports, human
from poise.exports.opensim_files import TO_OPENSIM, coordinate_name, coordinate_names, coordinates, opensim_model
from poise.recording import Recording
from poise.robots import Robot


@cache
def person() -> Robot:
    return poise.load_robot("human", height=1.63, mass=58.0, sex="female", shape={"tibial_torsion": (0.3, 0.1)})


def numbers(element: ElementTree.Element, path: str) -> np.ndarray:
    return np.array([float(word) for word in (element.findtext(path) or "").split()])


def segment_poses(model: ElementTree.Element, values: dict[str, float]) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Place all bodies of an OpenSim model by its own rules: offset frame, three rotations, three translations."""
    poses = {"ground": (np.eye(3), np.zeros(3))}
    for joint in model.iter("CustomJoint"):
        parent_frame, child_frame = joint.findall("frames/PhysicalOffsetFrame")
        parent = (parent_frame.findtext("socket_parent") or "").rsplit("/", 1)[-1]
        child = (child_frame.findtext("socket_parent") or "").rsplit("/", 1)[-1]
        R, p = poses[parent]
        p = p + R @ numbers(parent_frame, "translation")
        R = R @ Rotation.from_euler("XYZ", numbers(parent_frame, "orientation")).as_matrix()
        turn, shift = np.eye(3), np.zeros(3)
        for axis in joint.findall("SpatialTransform/TransformAxis"):
            value = values.get(axis.findtext("coordinates") or "", 0.0)
            if (axis.get("name") or "").startswith("rotation"):
                turn = turn @ Rotation.from_rotvec(value * numbers(axis, "axis")).as_matrix()
            else:
                shift = shift + value * numbers(axis, "axis")
        poses[child] = (R @ turn, p + R @ shift)
    return poses


def test_segments_are_where_those_of_the_robot_are_in_any_posture() -> None:
    robot = person()
    rng = np.random.default_rng(7)
    q = np.concatenate([rng.normal(size=3), Rotation.random(rng=rng).as_quat(), rng.uniform(-1.0, 1.0, 36)])
    values = dict(zip(coordinate_names(robot), coordinates(robot, q[None])[0], strict=True))
    lengths = ("pelvis_tx", "pelvis_ty", "pelvis_tz")
    values = {name: value if name in lengths else np.radians(value) for name, value in values.items()}
    poses = segment_poses(opensim_model(robot), values)
    data = robot.model.createData()
    pinocchio.forwardKinematics(robot.model, data, q)
    for joint, body in (("left_knee_flexion", "tibia_l"), ("right_toes_extension", "toes_r"), ("neck_rotation", "head"),
                        ("left_fingers_flexion", "fingers_l"), ("right_ankle_inversion", "calcn_r")):  # fmt: skip
        placed = data.oMi[robot.joint(joint).index]
        np.testing.assert_allclose(poses[body][1], TO_OPENSIM @ placed.translation, atol=1e-9)
        np.testing.assert_allclose(poses[body][0], TO_OPENSIM @ placed.rotation @ TO_OPENSIM.T, atol=1e-9)


def test_masses_and_centre_of_mass_are_those_of_the_person() -> None:
    robot = person()
    model = opensim_model(robot, mass=61.0)
    bodies = list(model.iter("Body"))
    masses = np.array([numbers(body, "mass")[0] for body in bodies])
    assert masses.sum() == pytest.approx(61.0)
    poses = segment_poses(model, {})
    center = (
        sum(
            mass * (poses[body.get("name") or ""][1] + poses[body.get("name") or ""][0] @ numbers(body, "mass_center"))
            for mass, body in zip(masses, bodies, strict=True)
        )
        / masses.sum()
    )
    data = robot.model.createData()
    expected = pinocchio.centerOfMass(robot.model, data, pinocchio.neutral(robot.model))
    np.testing.assert_allclose(center, TO_OPENSIM @ expected, atol=1e-9)
    for body in bodies:  # a solid body: no principal moment exceeds the sum of the others
        xx, yy, zz, xy, xz, yz = numbers(body, "inertia")
        low, middle, high = np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        assert low > 0.0
        assert high <= low + middle + 1e-9


def test_names_are_those_of_opensims_full_body_models() -> None:
    assert coordinate_name("left_knee_flexion") == "knee_angle_l"
    assert coordinate_name("right_ankle_inversion") == "subtalar_angle_r"
    assert coordinate_name("lumbar_bending") == "lumbar_bending"
    assert len(set(coordinate_names(person()))) == 42


def test_robots_are_refused_in_one_line() -> None:
    with pytest.raises(exports.ExportError, match="'hoap3' is not the human model"):
        opensim_model(poise.load_robot("hoap3"))


@pytest.fixture(scope="module")
def torques() -> human.Torques:
    walk, static = human.sample_trial(cycles=1)
    return human.compute_torques(human.fit(walk, static))


def test_a_fit_is_written_with_its_markers_and_forces_with_their_wrench(torques: human.Torques, tmp_path: Path) -> None:
    recording = torques.recording()
    exports.save(recording, tmp_path / "grf.mot", "grf")
    forces = human.read_ground_forces(tmp_path / "grf.mot")
    assert set(forces.force) == {"r", "l"}
    wrenches = torques.foot_wrenches
    for side in ("left", "right"):
        force = wrenches.force[side] @ TO_OPENSIM.T  # type: ignore[index]
        moment = wrenches.moment[side] @ TO_OPENSIM.T  # type: ignore[index]
        heavy = force[:, 1] > 20.0
        letter = side[0]
        written = np.cross(forces.point[letter], forces.force[letter]) + forces.torque[letter]
        np.testing.assert_allclose(forces.force[letter][heavy], force[heavy], atol=1e-6)
        np.testing.assert_allclose(written[heavy], moment[heavy], atol=1e-5)
    exports.save(recording, tmp_path / "body.osim")
    assert ElementTree.parse(tmp_path / "body.osim").getroot().get("Version") == "40000"


@pytest.mark.slow
def test_opensim_loads_the_body_and_its_inverse_dynamics_agree(torques: human.Torques, tmp_path: Path) -> None:
    python = interpreter(cache_folder() / OPENSIM.environment.folder_name)
    if not python.exists():
        pytest.skip("no environment of OpenSim; 'python -m benchmarks.peers opensim' builds it")
    recording: Recording = torques.recording()
    for kind, name in (("osim", "body.osim"), ("opensim", "motion.mot"), ("grf", "forces.mot")):
        exports.save(recording, tmp_path / name, kind)
    requests = [
        {"load": {"model": str(tmp_path / "body.osim")}},
        {"id": {"model": str(tmp_path / "body.osim"), "motion": str(tmp_path / "motion.mot"),
                "forces": str(tmp_path / "forces.mot"), "out": str(tmp_path / "moments.sto")}},
    ]  # fmt: skip
    result = subprocess.run(
        [str(python), str(OPENSIM.script)], input="\n".join(map(json.dumps, requests)) + "\n",
        capture_output=True, text=True, timeout=300, check=True,
    )  # fmt: skip
    answers = [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]
    assert answers[1]["mass"] == pytest.approx(torques.mass, rel=1e-9)
    assert answers[1]["coordinates"] == 42
    reference = human.read_motion(tmp_path / "moments.sto")
    inner = slice(10, -10)  # splines of both programs differ at the ends
    for joint in torques.robot.joints:
        ours = torques.joint_torque(joint.name, include_unknown=True)[inner]
        column = reference.column(f"{coordinate_name(joint.name)}_moment")
        theirs = np.interp(torques.time, reference.time, column)[inner]
        assert np.sqrt(np.mean((ours - theirs) ** 2)) < 0.2
        if np.std(ours) > 0.5:
            assert np.corrcoef(ours, theirs)[0, 1] > 0.99, joint.name
