"""Capsules and meshes are computed once for all robots with the same shapes; capsules are cached on disk."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from test_shapes import STL

from damaged_files import DAMAGES
from poise.cache import load_arrays, save_arrays
from poise.robots import Capsule, Robot, capsules, load_robot, shape_vertices
from poise.robots import collision_capsules as module
from poise.robots.urdf import CACHE_SIZE
from small_robots import joint, link, mesh, robot, write_urdf


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("POISE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def urdf(tmp_path: Path) -> Path:
    """An arm of two links, each with a mesh."""
    write_urdf(tmp_path, STL, "one.stl")
    text = robot(link("base", shape=mesh("one.stl")), link("bob", shape=mesh("one.stl")), joint("hinge", "base", "bob"))
    return write_urdf(tmp_path, text, "arm.urdf")


def clear_memory_cache() -> None:
    """Clear the cache in memory, as in another process."""
    module._recent_capsules.clear()


def fail_if_fitted(robot: Robot) -> tuple[Capsule, ...]:
    raise AssertionError("the capsules should have been read from the cache")


def equal_capsules(some: tuple[Capsule, ...], others: tuple[Capsule, ...]) -> bool:
    def bits(found: tuple[Capsule, ...]) -> list[tuple[object, ...]]:
        return [
            (c.links, c.joint, c.radius, *(part.tobytes() for part in (c.center, c.half_axis, c.points))) for c in found
        ]

    return bits(some) == bits(others)


def test_capsules_read_from_disk_are_the_fitted_ones(urdf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fresh = capsules(load_robot(urdf))
    assert {link for capsule in fresh for link in capsule.links} == {"base", "bob"}
    monkeypatch.setattr(module, "_fit_capsules", fail_if_fitted)
    assert capsules(load_robot(urdf)) is fresh
    clear_memory_cache()
    assert equal_capsules(capsules(load_robot(urdf)), fresh)


@pytest.mark.parametrize("damage", [*DAMAGES, "not finite", "no such link", "short"])
def test_a_damaged_file_is_ignored_and_replaced(urdf: Path, folder: Path, damage: str) -> None:
    fresh = capsules(load_robot(urdf))
    clear_memory_cache()
    (file,) = folder.iterdir()
    arrays = load_arrays(file.stem)
    assert arrays is not None
    match damage:
        case "not finite":
            save_arrays(file.stem, {**arrays, "solids": np.full_like(arrays["solids"], np.nan)})
        case "no such link":
            save_arrays(file.stem, {**arrays, "links": np.array(["tail"] * len(arrays["links"]))})
        case "short":
            save_arrays(file.stem, {**arrays, "points": arrays["points"][:-1]})
        case _:
            DAMAGES[damage](file)
    assert equal_capsules(capsules(load_robot(urdf)), fresh)
    assert damage == "folder" or module._from_arrays(load_arrays(file.stem), load_robot(urdf)) is not None


def test_a_mesh_that_changed_is_read_again(urdf: Path) -> None:
    before = load_robot(urdf)
    low = shape_vertices(before.visual_geometry.geometryObjects[0])
    slim = capsules(before)
    mesh = urdf.parent / "one.stl"
    mesh.write_text(STL.replace("vertex 0 1 2", "vertex 0 1 20"))
    after = load_robot(urdf)
    assert shape_vertices(after.visual_geometry.geometryObjects[0])[:, 2].max() == pytest.approx(10.0 * low[:, 2].max())
    assert capsules(after)[0].volume > 2.0 * slim[0].volume


def test_robots_with_the_same_shapes_share_meshes_but_not_where_they_are(urdf: Path) -> None:
    one, other = (load_robot(urdf).visual_geometry.geometryObjects[0] for _ in range(2))
    assert np.shares_memory(one.geometry.vertices(), other.geometry.vertices())
    one.placement.translation = np.ones(3)
    assert not np.any(load_robot(urdf).visual_geometry.geometryObjects[0].placement.translation)
    assert not np.any(other.placement.translation)


def test_a_mesh_in_a_custom_package_folder_is_read_each_time(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = robot(link("base", shape=mesh("package://far/one.stl")), link("bob"), joint("hinge", "base", "bob"))
    urdf = write_urdf(tmp_path / "here", text, "arm.urdf")
    far = write_urdf(tmp_path / "there", STL, "far/one.stl")
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(tmp_path / "there"))
    assert load_robot(urdf)._geometry.cache_key() is None
    slim = capsules(load_robot(urdf))
    far.write_text(STL.replace("vertex 0 1 2", "vertex 0 1 20"))
    assert capsules(load_robot(urdf))[0].volume > 2.0 * slim[0].volume
    assert not folder.exists()


def test_the_number_of_cached_shapes_is_bounded(urdf: Path) -> None:
    from poise.robots import urdf as shapes

    for number in range(CACHE_SIZE + 3):
        urdf.write_text(urdf.read_text().replace("</robot>", f"<!-- {number} --></robot>"))
        _ = load_robot(urdf).visual_geometry
    assert len(shapes._cached) == CACHE_SIZE
