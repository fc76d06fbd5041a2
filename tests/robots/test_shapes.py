"""Shapes are read on first use, from the addresses in the URDF."""

from pathlib import Path

import numpy as np
import pinocchio
import pytest

from poise.errors import RobotError
from poise.robots import load_robot, shape_vertices
from poise.robots.urdf import vertical_extent
from small_robots import joint, link, mesh, robot, write_urdf

TRIANGLE = "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 2\nendloop\nendfacet"
STL = f"solid one\n{TRIANGLE}\nendsolid one\n"


def with_mesh(folder: Path, address: str) -> Path:
    write_urdf(folder, STL, "arm_description/meshes/one.stl")
    text = robot(link("base", shape=mesh(address)), link("bob"), joint("hinge", "base", "bob"))
    return write_urdf(folder, text, "arm_description/urdf/arm.urdf")


@pytest.mark.parametrize(
    "address",
    ["package://arm_description/meshes/one.stl", "package:///arm_description/meshes/one.stl", "../meshes/one.stl"],
)
def test_a_mesh_is_found_near_its_urdf(tmp_path: Path, address: str) -> None:
    arm = load_robot(with_mesh(tmp_path, address))
    assert arm.visual_geometry.ngeoms == 1
    assert arm.collision_geometry.ngeoms == 0
    assert arm.visual_geometry is arm.visual_geometry
    assert arm.height == pytest.approx(2.0)


def test_a_mesh_is_found_in_a_named_package_folder(tmp_path: Path) -> None:
    path = with_mesh(tmp_path / "here", "package://arm_meshes/one.stl")
    write_urdf(tmp_path / "there", STL, "arm_meshes/one.stl")
    with pytest.raises(RobotError, match="packages="):
        _ = load_robot(path).visual_geometry
    assert load_robot(path, packages=[str(tmp_path / "there")]).visual_geometry.ngeoms == 1


@pytest.mark.parametrize("address", ["package://arm_description/meshes/two.stl", "two.stl", "bad.stl"])
def test_a_missing_mesh_is_an_error_only_when_shapes_are_loaded(
    tmp_path: Path, address: str, capfd: pytest.CaptureFixture[str]
) -> None:
    path = with_mesh(tmp_path, address)
    write_urdf(tmp_path, "hello", "arm_description/urdf/bad.stl")
    arm = load_robot(path)
    assert arm.height == pytest.approx(0.3)  # falls back to the frames
    with pytest.raises(RobotError) as caught:
        _ = arm.visual_geometry
    assert str(caught.value).startswith(f"{path}: ")
    assert address.split("/")[-1] in caught.value.element
    assert "\n" not in str(caught.value)
    assert capfd.readouterr() == ("", "")


def test_shapes_of_locked_joints_move_to_the_joint_before(tmp_path: Path) -> None:
    box = '<visual><geometry><box size="0.2 0.2 0.4"/></geometry></visual>'
    text = robot(link("base"), link("bob", shape=box), joint("hinge", "base", "bob"))
    arm = load_robot(write_urdf(tmp_path, text), locked={"hinge": np.pi / 2})
    shape = arm.visual_geometry.geometryObjects[0]
    assert shape.parentJoint == 1
    assert vertical_extent(arm.model, pinocchio.neutral(arm.model), arm.visual_geometry) == pytest.approx((-0.4, -0.2))


@pytest.mark.parametrize("shape", ['<sphere radius="0.2"/>', '<cylinder radius="0.2" length="0.5"/>'])
def test_points_of_a_round_shape_are_on_its_surface_and_all_around_it(tmp_path: Path, shape: str) -> None:
    text = robot(link("base", shape=f"<visual><geometry>{shape}</geometry></visual>"))
    points = shape_vertices(load_robot(write_urdf(tmp_path, text)).visual_geometry.geometryObjects[0])
    if "sphere" in shape:
        assert np.linalg.norm(points, axis=1) == pytest.approx(0.2)
    else:
        assert np.linalg.norm(points[:, :2], axis=1) == pytest.approx(0.2)
        assert np.abs(points[:, 2]) == pytest.approx(0.25)
    directions = np.random.default_rng(3).normal(size=(100, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    reach = 0.2 if "sphere" in shape else 0.2 * np.hypot(*directions.T[:2]) + 0.25 * np.abs(directions[:, 2])
    found = (directions @ points.T).max(axis=1)
    assert (found <= reach + 1e-12).all()
    assert (found > 0.98 * reach).all()
