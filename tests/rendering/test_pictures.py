"""Pictures show robots and marks at their projected positions."""

from __future__ import annotations

import ctypes.util
import platform
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio
import pytest
from PIL import Image
from scipy.spatial import ConvexHull

from drawn_robots import ROBOTS
from poise.errors import PoiseError
from poise.rendering import Camera, OffscreenRenderer, Overlays, picture, save_picture
from poise.rendering.opengl_context import open_context
from poise.robots import Robot, State, load_robot, shape_vertices

WIDTH, HEIGHT = 240, 180


def link(name: str, shape: str = "") -> str:
    inertial = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
    visual = f"<visual><geometry>{shape}</geometry></visual>" if shape else ""
    return f'<link name="{name}">{inertial}{visual}</link>'


def pendulum(folder: Path, base: str = '<box size="0.2 0.3 0.4"/>', bob: str = '<sphere radius="0.1"/>') -> Robot:
    """A body with an arm of half a meter, hanging down, on a hinge about y."""
    limit = '<limit lower="-1.5" upper="1.5" effort="50" velocity="8"/>'
    ends = '<parent link="base"/><child link="bob"/><origin xyz="0 0 -0.5"/><axis xyz="0 1 0"/>'
    hinge = f'<joint name="hinge" type="revolute">{ends}{limit}</joint>'
    file = folder / "pendulum.urdf"
    file.write_text(f'<robot name="pendulum">{link("base", base)}{link("bob", bob)}{hinge}</robot>')
    return load_robot(file)


def pendulum_state(robot: Robot, x: float = 0.0, angle: float = 0.0) -> State:
    """The pendulum with its base a meter above the ground."""
    return State(robot, np.array([x, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, angle]))


@pytest.fixture(scope="module", autouse=True)
def graphics() -> None:
    try:
        open_context(16, 16).free()
    except PoiseError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module", params=ROBOTS)
def standing_state(request: pytest.FixtureRequest) -> State:
    return load_robot(request.param).stance("standing")


def differing_pixels(image: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Pixels of two pictures that differ visibly."""
    return np.abs(image.astype(int) - other.astype(int)).max(axis=-1) > 4


def visual_vertices(state: State) -> np.ndarray:
    """Vertices of all visual shapes in the world, by pinocchio alone."""
    model, shapes = state.robot.model, state.robot.visual_geometry
    data = model.createData()
    pinocchio.forwardKinematics(model, data, state.q)
    poses = [data.oMi[shape.parentJoint] * shape.placement for shape in shapes.geometryObjects]
    points = zip(poses, shapes.geometryObjects, strict=True)
    return np.concatenate([shape_vertices(shape) @ pose.rotation.T + pose.translation for pose, shape in points])


def test_every_vertex_of_a_library_robot_is_where_the_camera_projects_it(standing_state: State) -> None:
    points = visual_vertices(standing_state)
    camera = Camera((1.0, 0.4, 0.1)).fit_to(points, WIDTH, HEIGHT)
    q = standing_state.q.copy()
    q[0] -= 1e3
    empty = picture(standing_state.replace(q=q, contacts=()), WIDTH, HEIGHT, camera)
    drawn = differing_pixels(picture(standing_state, WIDTH, HEIGHT, camera), empty)
    x, y = camera.project(points, WIDTH, HEIGHT).T
    assert 0 <= x.min() < x.max() < WIDTH
    assert 0 <= y.min() < y.max() < HEIGHT
    assert drawn[y.astype(int), x.astype(int)].mean() > 0.98  # except for half pixels at the edge
    assert np.flatnonzero(drawn.any(axis=1))[0] == pytest.approx(y.min(), abs=2)


def test_a_picture_has_the_given_size_and_shows_something(standing_state: State) -> None:
    image = picture(standing_state, WIDTH, HEIGHT)
    assert (image.shape, image.dtype) == ((HEIGHT, WIDTH, 3), np.uint8)  # type: ignore[comparison-overlap]
    assert image.std() > 10


def test_different_postures_give_different_pictures_and_equal_ones_equal(tmp_path: Path) -> None:
    robot = pendulum(tmp_path)
    camera = Camera((0.0, -1.0, 0.1), target=(0.0, 0.0, 0.7), distance=3.0)
    hanging, again, moved = (picture(pendulum_state(robot, x=x), WIDTH, HEIGHT, camera) for x in (0.0, 0.0, 0.2))
    assert not differing_pixels(hanging, again).any()
    assert differing_pixels(hanging, moved).any()


@pytest.mark.parametrize("direction", [(1, 0, 0), (0, 1, 0.2), (-1, -1, 0.5), (0, 0, 1)])
def test_a_mark_is_where_the_camera_projects_it(tmp_path: Path, direction: tuple[float, float, float]) -> None:
    robot, point = pendulum(tmp_path), np.array([0.3, 0.4, 1.4])
    camera = Camera(direction, target=(0.1, 0.1, 1.1), distance=4.0)
    with OffscreenRenderer(robot, WIDTH, HEIGHT) as renderer:  # without overlays
        image = renderer.draw([pendulum_state(robot)], camera, Overlays({"mark": point})).astype(int)
    y, x = np.nonzero(image[..., 2] - image[..., 0] > 60)  # only the first mark is blue
    assert (x.mean() + 0.5, y.mean() + 0.5) == pytest.approx(tuple(camera.project(point, WIDTH, HEIGHT)[0]), abs=0.5)


def test_a_row_shows_each_state_in_its_own_part_at_the_same_scale(tmp_path: Path) -> None:
    robot = pendulum(tmp_path)
    row = picture(
        [pendulum_state(robot), pendulum_state(robot), pendulum_state(robot, angle=1.0)],
        3 * 90,
        120,
        labels=["one", "one", "two"],
    )
    one, same, two = np.split(row, 3, axis=1)
    assert not differing_pixels(one, same).any()
    assert differing_pixels(one, two).any()


def test_marks_can_be_given_for_each_state(tmp_path: Path) -> None:
    state = pendulum_state(pendulum(tmp_path))
    for marks in ({"a": (0.3, 0.4, 1.4)}, [{"a": (0.3, 0.4, 1.4)}, {}]):
        left, right = np.split(picture([state, state], 240, 120, marks=marks), 2, axis=1)
        assert differing_pixels(left, right).any() == isinstance(marks, list)


def test_a_ghost_is_fainter_than_a_solid_robot(tmp_path: Path) -> None:
    robot = pendulum(tmp_path)
    camera = Camera((0.0, -1.0, 0.0), target=(0.5, 0.0, 0.8), distance=6.0)
    here, there = pendulum_state(robot), pendulum_state(robot, x=1.0)
    empty = picture(pendulum_state(robot, x=1e3), WIDTH, HEIGHT, camera)
    both = picture([here, there], WIDTH, HEIGHT, camera, arrange="ghost")
    x, y = camera.project([[0.0, 0.0, 1.05], [1.0, 0.0, 1.05]], WIDTH, HEIGHT).astype(int).T
    ghost, solid = (np.abs(both[y, x].astype(int) - empty[y, x]).max(axis=-1)).tolist()
    assert 4 < ghost < solid


def test_a_box_can_be_looked_through(tmp_path: Path) -> None:
    state = pendulum_state(pendulum(tmp_path))
    camera = Camera((0.0, -1.0, 0.0), target=(0.0, 0.0, 1.0), distance=4.0)
    boxes = {"around": ((-0.5, -0.5, 0.4), (0.5, 0.5, 1.4))}
    plain, boxed = (picture(state, WIDTH, HEIGHT, camera, boxes=drawn_boxes) for drawn_boxes in ({}, boxes))
    (x, y), (i, j) = camera.project([[0.0, 0.0, 1.0], [0.4, 0.0, 1.3]], WIDTH, HEIGHT).astype(int)
    assert (boxed[y, x] != plain[y, x]).any()
    assert (boxed[j, i] != plain[j, i]).any()
    assert (boxed[y, x] != boxed[j, i]).any()  # the body is still distinguishable from the background


@pytest.mark.parametrize("shape", ["", '<cylinder radius="0.1" length="0.4"/>'])
def test_simple_solids_and_sticks_are_drawn_where_they_are(tmp_path: Path, shape: str) -> None:
    robot = pendulum(tmp_path, shape, "")
    camera = Camera((0.0, -1.0, 0.0), target=(0.0, 0.0, 0.9), distance=4.0)
    empty, image = (picture(pendulum_state(robot, x=x), WIDTH, HEIGHT, camera) for x in (1e3, 0.0))
    x, y = camera.project([[0.0, 0.0, 1.0]], WIDTH, HEIGHT)[0].astype(int)
    assert differing_pixels(empty, image)[y, x]


def test_a_mirrored_mesh_is_not_inside_out(tmp_path: Path) -> None:
    corners = np.array([[x, y, z] for x in (-0.2, 0.2) for y in (-0.2, 0.2) for z in (-0.2, 0.2)])
    hull = ConvexHull(corners)
    triangles = [t if np.linalg.det(corners[t]) > 0 else t[::-1] for t in hull.simplices]
    facet = "facet normal 0 0 0\nouter loop\n{}\nendloop\nendfacet"
    lines = [facet.format("\n".join("vertex {} {} {}".format(*corners[i]) for i in t)) for t in triangles]
    (tmp_path / "cube.stl").write_text("solid cube\n" + "\n".join(lines) + "\nendsolid cube\n")
    camera = Camera((1.0, -1.0, 0.5), target=(0.0, 0.0, 1.0), distance=3.0)
    images = [
        picture(
            pendulum_state(pendulum(tmp_path, f'<mesh filename="cube.stl" scale="{scale}"/>')), WIDTH, HEIGHT, camera
        )
        for scale in ("1 1 1", "1 -1 1")
    ]
    assert not differing_pixels(*images).any()


def test_a_saved_picture_can_be_read_again(tmp_path: Path) -> None:
    state = pendulum_state(pendulum(tmp_path))
    path = save_picture(tmp_path / "picture.png", state, width=WIDTH, height=HEIGHT)
    with Image.open(path) as file:
        assert file.format == "PNG"
        assert np.array_equal(np.asarray(file), picture(state, WIDTH, HEIGHT))


@pytest.mark.parametrize(
    ("path", "message"), [("no/such/folder/a.png", "no folder"), ("a.jpg", ".png"), (".png/a.png", "no folder")]
)
def test_a_picture_is_saved_only_as_png_in_a_folder_that_exists(tmp_path: Path, path: str, message: str) -> None:
    state = pendulum_state(pendulum(tmp_path))
    with pytest.raises(PoiseError, match=message):
        save_picture(tmp_path / path, state)
    (tmp_path / "taken.png").mkdir()
    with pytest.raises(PoiseError, match="is a folder"):
        save_picture(tmp_path / "taken.png", state, width=WIDTH, height=HEIGHT)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"width": 0}, "width is 0"),
        ({"height": 1e6}, "height is 1000000.0"),
        ({"labels": ["a", "b"]}, "2 labels for 1"),
        ({"arrange": "heap"}, "arrange is 'heap'"),
        ({"marks": {"a": (0, 0)}}, "mark 'a' is"),
        ({"marks": [{}, {}]}, "marks for 2 of 1"),
        ({"boxes": {"b": ((1, 1, 1), (0, 0, 0))}}, "lower corner first"),
        ({"boxes": {"b": (0, 0, 0)}}, "two corners"),
    ],
)
def test_invalid_options_of_a_picture_are_refused(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(PoiseError, match=message) as caught:
        picture(pendulum_state(pendulum(tmp_path)), **options)
    assert "\n" not in str(caught.value)


def test_only_states_can_be_drawn_and_ghosts_only_of_one_robot(tmp_path: Path) -> None:
    with pytest.raises(PoiseError, match="not a State"):
        picture([1])  # type: ignore[list-item]
    with pytest.raises(PoiseError, match="no states"):
        picture([])
    (tmp_path / "other").mkdir()
    two = [pendulum_state(pendulum(tmp_path)), pendulum_state(pendulum(tmp_path / "other"))]
    with pytest.raises(PoiseError, match="one robot"):
        picture(two, arrange="ghost")


@pytest.mark.parametrize(("kind", "message"), [("off", "unset it"), ("vulkan", "expected egl, osmesa or glfw")])
def test_a_wrong_choice_of_graphics_is_named(monkeypatch: pytest.MonkeyPatch, kind: str, message: str) -> None:
    monkeypatch.setenv("MUJOCO_GL", kind)
    with pytest.raises(PoiseError, match=message):
        open_context(16, 16)


def test_without_any_graphics_the_error_names_the_packages_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MUJOCO_GL", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(platform, "system", lambda: "Linux")
    monkeypatch.setattr(ctypes.util, "find_library", lambda name: None)
    with pytest.raises(PoiseError, match=r"libegl1.*libosmesa6"):
        open_context(16, 16)
