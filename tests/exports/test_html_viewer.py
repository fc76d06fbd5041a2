"""HTML export: one page without a network connection that shows the robot in its recorded poses."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio
import pytest
from browser import document, screenshot
from random_motions import biped, make_recording, random_configurations, random_recording

from drawn_robots import ROBOTS
from poise import exports
from poise.plants import CarriedBox, EnvironmentGeometry, Wall
from poise.recording import Recording
from poise.rendering import Mesh, shape_mesh, surface_with_normals, visual_model_of
from poise.rendering import scene_geometry as solids
from poise.rendering.scene_geometry import MAX_TRIANGLES
from poise.robots import Robot, load_robot

SOLIDS = {
    "box": (solids.box((0.1, 0.2, 0.3)), 8 * 0.1 * 0.2 * 0.3),
    "sphere": (solids.sphere(0.2), 4 / 3 * np.pi * 0.2**3),
    "cylinder": (solids.cylinder(0.2, 0.3), np.pi * 0.2**2 * 0.6),
    "capsule": (solids.capsule(0.2, 0.3), np.pi * 0.2**2 * 0.6 + 4 / 3 * np.pi * 0.2**3),
}


@pytest.fixture(scope="module")
def robot() -> Robot:
    return biped()


@pytest.fixture(scope="module")
def motion(robot: Robot) -> Recording:
    return random_recording(robot, 101, seed=2)


@pytest.fixture(scope="module")
def page(motion: Recording, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return exports.save(motion, tmp_path_factory.mktemp("scenes") / "m.html")


def content(page: Path) -> dict[str, Any]:
    found = re.search(r'<script id="data" type="application/json">(.*?)</script>', page.read_text(), re.DOTALL)
    assert found is not None
    data: dict[str, Any] = json.loads(found[1])
    return data


def numbers(text: str, kind: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), dtype=kind)


def test_nothing_is_fetched_from_anywhere(page: Path) -> None:
    text = page.read_text()
    assert not re.search(r"https?://|\bsrc=|\bhref=|@import|url\(|import\(|fetch\(|XMLHttp", text)
    assert "{{" not in text


def test_poses_are_those_of_the_motion(page: Path, motion: Recording, robot: Robot) -> None:
    data = content(page)
    poses = numbers(data["poses"], "<f4").reshape(len(data["time"]), data["frames"], 7)
    assert len(poses) == 31  # one second at 30 Hz, with both ends
    whole, kinematics = exports.Trajectory.of(motion), robot.model.createData()
    for time, pose in zip(data["time"], poses, strict=True):
        pinocchio.forwardKinematics(robot.model, kinematics, whole.at(np.array([time])).q[0])
        for joint in range(robot.model.njoints):
            found = pinocchio.XYZQUATToSE3(pose[joint].astype(float))
            assert np.abs(found.homogeneous - kinematics.oMi[joint].homogeneous).max() < 1e-5


def test_points_and_normals_survive_their_packing(page: Path, robot: Robot) -> None:
    data = content(page)
    packed = numbers(data["vertices"], np.dtype([("position", "<i2", 4), ("normal", "i1", 4)]))  # type: ignore[arg-type]
    index = numbers(data["indices"], "<u4")
    assert index.max() < len(packed)
    drawn = visual_model_of(robot)
    assert len(data["parts"]) == len(drawn.shapes)
    for part, shape in zip(data["parts"], drawn.shapes, strict=True):
        points = (
            data["scale"]
            * packed["position"][index[part["firstIndex"] : part["firstIndex"] + part["indexCount"]], :3]
            / 32767
        )
        meant = shape_mesh(drawn, shape).points
        assert part["frame"] == shape.joint
        assert np.abs(np.ptp(points, axis=0) - np.ptp(meant, axis=0)).max() < 1e-4
    assert np.abs(np.linalg.norm(packed["normal"][:, :3] / 127.0, axis=1) - 1.0).max() < 0.02


@pytest.mark.parametrize("name", SOLIDS)
def test_solids_are_closed_and_turned_outward(name: str) -> None:
    (points, faces), volume = SOLIDS[name]
    a, b, c = points[faces].transpose(1, 0, 2)
    found = float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6.0)  # divergence theorem
    assert 0.95 * volume < found <= volume * (1 + 1e-12)
    surface = surface_with_normals(0, (1, 1, 1, 1), Mesh(points, faces))
    sides = surface.points[surface.faces]
    across = np.cross(sides[:, 1] - sides[:, 0], sides[:, 2] - sides[:, 0])
    assert (np.einsum("ij,ikj->ik", across, surface.normals[surface.faces]) > 0.0).all()


def test_a_box_keeps_its_edges_and_a_ball_is_round() -> None:
    box = surface_with_normals(0, (1, 1, 1, 1), Mesh(*solids.box((1.0, 1.0, 1.0))))
    assert len(box.points) == 24  # each corner once for each of its three sides
    ball = surface_with_normals(0, (1, 1, 1, 1), Mesh(*solids.sphere(1.0)))
    middle = np.abs(ball.points[:, 2]) < 0.9
    assert np.einsum("ij,ij->i", ball.points, ball.normals)[middle].min() > 0.99


@pytest.mark.parametrize("name", ROBOTS)
def test_a_page_of_a_library_robot_is_small_and_true_to_its_shapes(name: str, tmp_path: Path) -> None:
    robot = load_robot(name)
    page = exports.save(random_recording(robot, 200, period=0.1), tmp_path / "m.html")
    assert page.stat().st_size < 6e6
    drawn = visual_model_of(robot)
    for shape in drawn.shapes:
        mesh = shape_mesh(drawn, shape)
        assert len(mesh.faces) <= 3 * MAX_TRIANGLES  # many separate pieces cannot be simplified further
        within = np.array([shape.corners.min(axis=0), shape.corners.max(axis=0)])
        found = np.array([mesh.points.min(axis=0), mesh.points.max(axis=0)])
        assert (found[0] > within[0] - 0.004).all()
        assert (found[1] < within[1] + 0.004).all()


def test_the_page_of_an_hour_of_motion_is_below_10_mb(robot: Robot, tmp_path: Path) -> None:
    q = np.tile(random_configurations(robot, 60), (60, 1))
    page = exports.save(make_recording(robot, q, period=1.0), tmp_path / "m.html")
    assert page.stat().st_size < 10e6
    assert content(page)["time"][-1] > 3590.0


def test_stairs_are_in_the_scene(motion: Recording, robot: Robot, tmp_path: Path) -> None:
    facts = {**motion.provenance, "terrain": "stairs:0.1,0.3,4"}
    stepped = Recording(motion.channels.values(), facts, robot)
    data = content(exports.save(stepped, tmp_path / "m.html"))
    assert len(data["parts"]) == len(visual_model_of(robot).shapes) + 4
    sloped = Recording(motion.channels.values(), {**motion.provenance, "terrain": "slope:10"}, robot)
    ground = np.reshape(content(exports.save(sloped, tmp_path / "n.html"))["ground"], (4, 4)).T
    assert ground[2, 0] == pytest.approx(np.sin(np.radians(10.0)))


def test_a_wall_and_a_box_in_the_hands_are_in_the_scene(tmp_path: Path) -> None:
    nao = load_robot("nao")
    start = nao.stance("carrying")
    wall = Wall(position=(0.8, 0.0, 0.5), normal=(-1.0, 0.0, 0.0), size=(1.0, 1.0))
    environment = EnvironmentGeometry.of(None, start, objects=[wall], carried_box=CarriedBox(0.3))
    standing = make_recording(nao, np.tile(start.q, (5, 1)), period=0.1)
    facts = {**standing.provenance, "environment": environment.facts()}
    data = content(exports.save(Recording(standing.channels.values(), facts, nao), tmp_path / "m.html"))
    frames = nao.model.njoints + 1
    assert data["frames"] == frames
    held = environment.held_box.pose_in(start)  # type: ignore[union-attr]
    poses = numbers(data["poses"], "<f4").reshape(len(data["time"]), frames, 7)
    assert np.allclose(poses[:, -1], pinocchio.SE3ToXYZQUAT(held), atol=1e-4)
    boxes = [part for part in data["parts"] if part["indexCount"] == 36]  # twelve triangles
    assert [part["color"][3] < 1.0 for part in boxes if part["frame"] == 0] == [True]  # the wall: seen through
    assert [part["frame"] for part in boxes].count(frames - 1) == 1


def test_html_in_a_title_is_escaped(motion: Recording, robot: Robot, tmp_path: Path) -> None:
    facts = {**motion.provenance, "behavior": "</script><b>{{DATA}}"}
    page = exports.save(Recording(motion.channels.values(), facts, robot), tmp_path / "m.html")
    assert "<b>" not in page.read_text()
    assert content(page)["title"] == "biped: </script><b>{{DATA}}"


def test_a_browser_shows_the_robot_and_moves_it(page: Path, tmp_path: Path) -> None:
    early, late = (screenshot(page, tmp_path, f"#t={time}") for time in (0.0, 0.5))
    assert early.shape == (480, 640, 3)
    scene = early[40:400]
    assert len(np.unique(scene.reshape(-1, 3), axis=0)) > 200  # not blank: shades of bodies, ground and sky
    moved = np.abs(early.astype(int) - late).max(axis=2)[40:400] > 30
    assert 0.005 < moved.mean() < 0.5


def test_the_motion_plays_by_itself_and_is_paused_at_a_requested_time(page: Path, tmp_path: Path) -> None:
    playing, waiting = document(page, tmp_path), document(page, tmp_path, "#t=0.25")
    assert 'data-state="playing"' in playing
    assert 'data-state="paused"' in waiting
    assert ">0.25 of 1.00 s</output>" in waiting
    assert 'id="notice" hidden' in waiting
