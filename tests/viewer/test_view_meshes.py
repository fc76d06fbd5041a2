"""Simplified meshes of robots: within the triangle limit, near the original, and equal when read from the cache."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial import cKDTree

from damaged_files import DAMAGES
from drawn_robots import ROBOTS
from poise.cache import load_arrays, save_arrays
from poise.rendering import Mesh, visual_model_of
from poise.robots import Robot, load_robot
from poise.viewer import view_meshes
from poise.viewer.view_meshes import MAX_TRIANGLES, MeshPart, mesh_parts

BIPED = Path(__file__).parents[2] / "examples/biped.urdf"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("POISE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def robot() -> Robot:
    return load_robot(BIPED)


def same_parts(some: tuple[MeshPart, ...], others: tuple[MeshPart, ...]) -> bool:
    return [(p.joint, p.color, p.points.tobytes(), p.faces.tobytes()) for p in some] == [
        (p.joint, p.color, p.points.tobytes(), p.faces.tobytes()) for p in others
    ]


def fail_if_called(robot: Robot, max_triangles: int) -> None:
    raise AssertionError("these shapes were to come from the cache")


def sample_surface(mesh: Mesh, count: int) -> np.ndarray:
    """Points on a surface with uniform density."""
    random = np.random.default_rng(0)
    areas = view_meshes._areas(mesh)
    which = random.choice(len(areas), count, p=areas / areas.sum())
    u, v = random.random((2, count, 1))
    u, v = np.where(u + v > 1.0, 1.0 - u, u), np.where(u + v > 1.0, 1.0 - v, v)
    a, b, c = (mesh.points[mesh.faces[which, i]] for i in range(3))
    return a + u * (b - a) + v * (c - a)


@pytest.mark.parametrize("name", ROBOTS)
def test_no_piece_has_more_triangles_than_allowed_and_each_joint_with_shapes_has_one(name: str) -> None:
    robot = load_robot(name)
    parts = mesh_parts(robot)
    assert all(0 < len(part.faces) <= MAX_TRIANGLES for part in parts)
    assert len({(part.joint, part.color) for part in parts}) == len(parts)
    assert {part.joint for part in parts} == {shape.joint for shape in visual_model_of(robot).shapes}


@pytest.mark.parametrize("name", ROBOTS)
def test_a_robot_of_few_triangles_is_within_a_hundredth_of_its_height_of_the_original(name: str) -> None:
    robot = load_robot(name)
    whole = {(joint, color): mesh for joint, color, mesh in view_meshes.simplified_meshes(robot, view_meshes.NO_LIMIT)}
    away, missing = [], []
    for part in mesh_parts(robot):
        few = Mesh(part.points.astype(float), part.faces.astype(np.int64))
        original = whole[part.joint, part.color]
        count = 50 + int(5e3 * view_meshes._areas(original).sum())  # in proportion to its surface
        away.append(cKDTree(sample_surface(original, 20_000)).query(sample_surface(few, count))[0])
        missing.append(cKDTree(sample_surface(few, 20_000)).query(sample_surface(original, count))[0])
    # Random points are some mm from each other, and screws may be simplified away.
    for distances in map(np.concatenate, (away, missing)):
        assert np.quantile(distances, 0.98) < 0.01 * robot.height


def test_meshes_read_from_the_cache_are_equal_to_the_computed_ones(
    robot: Robot, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh = mesh_parts(robot)
    monkeypatch.setattr(view_meshes, "simplified_meshes", fail_if_called)
    assert same_parts(mesh_parts(load_robot(BIPED)), fresh)


@pytest.mark.parametrize("damage", [*DAMAGES, "faces beyond", "not finite"])
def test_a_damaged_cache_is_ignored_and_replaced(robot: Robot, folder: Path, damage: str) -> None:
    fresh = mesh_parts(robot)
    (file,) = folder.iterdir()
    arrays = load_arrays(file.stem)
    assert arrays is not None
    match damage:
        case "faces beyond":
            save_arrays(file.stem, {**arrays, "faces": arrays["faces"] + np.uint32(10**6)})
        case "not finite":
            save_arrays(file.stem, {**arrays, "points": np.full_like(arrays["points"], np.nan)})
        case _:
            DAMAGES[damage](file)
    assert same_parts(mesh_parts(robot), fresh)
    assert damage == "folder" or load_arrays(file.stem) is not None


def test_without_a_writable_cache_the_meshes_are_computed(
    robot: Robot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("POISE_CACHE", str(tmp_path / "file" / "below"))
    assert same_parts(mesh_parts(robot), mesh_parts(robot))


def test_the_cache_key_contains_the_triangle_limit_and_the_description(
    robot: Robot, folder: Path, tmp_path: Path
) -> None:
    mesh_parts(robot)
    mesh_parts(robot, 100)
    assert len(list(folder.iterdir())) == 2
    changed = tmp_path / "biped.urdf"
    changed.write_text(BIPED.read_text().replace("</robot>", "<!-- another --></robot>"))
    mesh_parts(load_robot(changed))
    assert len(list(folder.iterdir())) == 3


def test_all_shares_of_triangles_fit_the_limit() -> None:
    random = np.random.default_rng(1)
    for _ in range(200):
        count = int(random.integers(1, 9))
        sizes = random.integers(1, 3000, count)
        meshes = [
            Mesh(random.normal(size=(30, 3)) * random.uniform(0.001, 1.0), random.integers(0, 30, (n, 3)))
            for n in sizes
        ]
        limits = view_meshes._triangle_budgets(meshes, MAX_TRIANGLES)
        assert sum(limits) <= max(MAX_TRIANGLES, 0)
        assert all(0 <= limit <= n for limit, n in zip(limits, sizes, strict=True))
        assert sum(sizes) > MAX_TRIANGLES or limits == sizes.tolist()
