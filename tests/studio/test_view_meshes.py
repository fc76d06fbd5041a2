"""Shapes of robots as few triangles: no more than allowed, near the original, and the same from disk."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from drawn_robots import ROBOTS
from scipy.spatial import cKDTree

from damaged_files import DAMAGES
from poise.cache import store, stored
from poise.rendering import Mesh, figure
from poise.robots import Robot, load_robot
from poise.studio import view_meshes as triangles
from poise.studio.view_meshes import MOST, Piece, pieces

BIPED = Path(__file__).parents[2] / "examples/biped.urdf"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("POISE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def robot() -> Robot:
    return load_robot(BIPED)


def same(some: tuple[Piece, ...], others: tuple[Piece, ...]) -> bool:
    return [(p.joint, p.color, p.points.tobytes(), p.faces.tobytes()) for p in some] == [
        (p.joint, p.color, p.points.tobytes(), p.faces.tobytes()) for p in others
    ]


def never(robot: Robot, most: int) -> None:
    raise AssertionError("these shapes were to come from the cache")


def sampled(mesh: Mesh, count: int) -> np.ndarray:
    """Points on a surface, everywhere equally likely."""
    random = np.random.default_rng(0)
    areas = triangles._areas(mesh)
    which = random.choice(len(areas), count, p=areas / areas.sum())
    u, v = random.random((2, count, 1))
    u, v = np.where(u + v > 1.0, 1.0 - u, u), np.where(u + v > 1.0, 1.0 - v, v)
    a, b, c = (mesh.points[mesh.faces[which, i]] for i in range(3))
    return a + u * (b - a) + v * (c - a)


@pytest.mark.parametrize("name", ROBOTS)
def test_no_piece_has_more_triangles_than_allowed_and_each_joint_with_shapes_has_one(name: str) -> None:
    robot = load_robot(name)
    found = pieces(robot)
    assert all(0 < len(piece.faces) <= MOST for piece in found)
    assert len({(piece.joint, piece.color) for piece in found}) == len(found)
    assert {piece.joint for piece in found} == {shape.joint for shape in figure(robot).shapes}


@pytest.mark.parametrize("name", ROBOTS)
def test_a_robot_of_few_triangles_is_within_a_hundredth_of_its_height_of_the_original(name: str) -> None:
    robot = load_robot(name)
    whole = {(joint, color): mesh for joint, color, mesh in triangles.made(robot, triangles.ALL)}
    away, missing = [], []
    for piece in pieces(robot):
        few = Mesh(piece.points.astype(float), piece.faces.astype(np.int64))
        original = whole[piece.joint, piece.color]
        count = 50 + int(5e3 * triangles._areas(original).sum())  # as many points as it has surface
        away.append(cKDTree(sampled(original, 20_000)).query(sampled(few, count))[0])
        missing.append(cKDTree(sampled(few, 20_000)).query(sampled(original, count))[0])
    # Points that were drawn at random are some mm from each other, and screws may go.
    for distances in map(np.concatenate, (away, missing)):
        assert np.quantile(distances, 0.98) < 0.01 * robot.height


def test_what_is_read_from_the_cache_is_what_was_made(robot: Robot, monkeypatch: pytest.MonkeyPatch) -> None:
    fresh = pieces(robot)
    monkeypatch.setattr(triangles, "made", never)
    assert same(pieces(load_robot(BIPED)), fresh)


@pytest.mark.parametrize("damage", [*DAMAGES, "faces beyond", "not finite"])
def test_a_damaged_cache_is_ignored_and_mended(robot: Robot, folder: Path, damage: str) -> None:
    fresh = pieces(robot)
    (file,) = folder.iterdir()
    arrays = stored(file.stem)
    assert arrays is not None
    match damage:
        case "faces beyond":
            store(file.stem, {**arrays, "faces": arrays["faces"] + np.uint32(10**6)})
        case "not finite":
            store(file.stem, {**arrays, "points": np.full_like(arrays["points"], np.nan)})
        case _:
            DAMAGES[damage](file)
    assert same(pieces(robot), fresh)
    assert damage == "folder" or stored(file.stem) is not None


def test_where_no_cache_can_be_written_shapes_are_made_all_the_same(
    robot: Robot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("POISE_CACHE", str(tmp_path / "file" / "below"))
    assert same(pieces(robot), pieces(robot))


def test_another_limit_or_another_description_is_another_entry(robot: Robot, folder: Path, tmp_path: Path) -> None:
    pieces(robot)
    pieces(robot, 100)
    assert len(list(folder.iterdir())) == 2
    changed = tmp_path / "biped.urdf"
    changed.write_text(BIPED.read_text().replace("</robot>", "<!-- another --></robot>"))
    pieces(load_robot(changed))
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
        limits = triangles._shares(meshes, MOST)
        assert sum(limits) <= max(MOST, 0)
        assert all(0 <= limit <= n for limit, n in zip(limits, sizes, strict=True))
        assert sum(sizes) > MOST or limits == sizes.tolist()
