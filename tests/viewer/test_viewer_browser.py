"""The viewer in a browser: robots are visible to every client, and points can be dragged with a mouse."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from PIL import Image
from scipy.ndimage import binary_opening

from drawn_robots import ROBOTS
from open_studio import chromium
from poise.robots import load_robot
from poise.viewer.view_frame import ViewFrame
from poise.viewer.viewer import Viewer
from waiting import StallTimer, wait_until

SIZE = {"width": 480, "height": 400}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium(with_3d=True) as browser:
        yield browser


@pytest.fixture(scope="module")
def viewer() -> Iterator[Viewer]:
    viewer = Viewer()
    yield viewer
    viewer.close()


@pytest.fixture(scope="module")
def console_errors() -> list[str]:
    """Errors that pages wrote to their consoles."""
    return []


@pytest.fixture(scope="module")
def page(browser: Any, viewer: Viewer, console_errors: list[str]) -> Iterator[Any]:
    page = open_view(browser, viewer, console_errors)
    yield page
    page.close()


def open_view(browser: Any, viewer: Viewer, console_errors: list[str]) -> Any:
    page = browser.new_page(viewport=SIZE)
    page.on("console", lambda message: console_errors.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: console_errors.append(str(error)))
    count = len(viewer._server.get_clients())
    page.goto(f"http://127.0.0.1:{viewer.port}/?fixedDpr=1")  # otherwise it draws coarser on a busy machine
    wait_until(lambda: page.wait_for_timeout(50) or len(viewer._server.get_clients()) > count, "the page's client")
    return page


def picture(page: Any) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(page.screenshot())).convert("RGB"), dtype=np.int16)


def wait_for_picture(page: Any, good: Callable[[np.ndarray], bool], description: str) -> np.ndarray:
    """A picture that satisfies a condition and does not change."""
    stall_timer, last = StallTimer(description), picture(page)
    while True:
        page.wait_for_timeout(200)
        now = picture(page)
        if good(now) and (np.abs(now - last) > 8).mean() < 0.001:
            return now
        last = now
        stall_timer.check()


def difference(some: np.ndarray, more: np.ndarray) -> float:
    """Share of the pixels of two pictures that differ visibly."""
    return float((np.abs(some - more).max(axis=2) > 12).mean())


def show_nothing(viewer: Viewer, page: Any) -> np.ndarray:
    viewer.set_figures({})
    viewer.set_drag_handles({}, lambda *_: None)
    nothing = ViewFrame({}, np.zeros((0, 2, 3)), np.zeros((0, 3)), None, None, {}, np.zeros(3))
    viewer.show(nothing)
    return wait_for_picture(page, lambda now: now.std() > 2.0, "the ground is there")


@pytest.mark.parametrize("name", ROBOTS)
def test_every_robot_is_completely_visible_in_the_middle(
    viewer: Viewer, page: Any, console_errors: list[str], name: str
) -> None:
    before = show_nothing(viewer, page)
    viewer.set_figures({"robot": (load_robot(name), None)})
    viewer.show(ViewFrame.from_state(load_robot(name).stance("standing")))
    picture_with_robot = wait_for_picture(page, lambda now: difference(now, before) > 0.03, f"{name} is there")
    # The camera, and with it the grid of the ground, moves with the robot: the opening removes its thin lines.
    changed = binary_opening(np.abs(picture_with_robot - before).max(axis=2) > 60, np.ones((4, 4)))
    rows, columns = np.nonzero(changed)
    top, bottom = np.quantile(rows, [0.005, 0.995])
    assert 0.01 < changed.mean() < 0.4
    assert 10 < top < bottom < SIZE["height"] - 10
    assert bottom - top > 0.45 * SIZE["height"]
    assert abs(np.median(columns) - SIZE["width"] / 2) < 0.15 * SIZE["width"]
    assert console_errors == []


def test_neither_panel_nor_logo_nor_note_of_viser_is_visible(viewer: Viewer, page: Any) -> None:
    show_nothing(viewer, page)
    assert page.get_by_role("button").locator("visible=true").count() == 0
    assert page.get_by_text("Connected").locator("visible=true").count() == 0
    assert page.locator("a").locator("visible=true").count() == 0


def test_a_second_client_shows_the_same(viewer: Viewer, browser: Any, page: Any, console_errors: list[str]) -> None:
    robot = load_robot("nao")
    before = show_nothing(viewer, page)
    viewer.set_figures({"robot": (robot, None), "ghost": (robot, (0.2, 0.4, 0.8, 0.35))})
    view_frame = ViewFrame.from_state(robot.stance("standing"))
    beside = view_frame.poses["robot"] + np.array([0.0, 0.25, 0.0, 0.0, 0.0, 0.0, 0.0])
    view_frame = view_frame._replace(
        poses={**view_frame.poses, "ghost": beside},
        forces=np.array([[[0.3, 0.0, 0.0], [0.3, 0.0, 0.3]]]),
        camera_target=np.array([0.1, 0.1, 0.3]),
    )
    viewer.show(view_frame)
    second = open_view(browser, viewer, console_errors)
    both = [
        wait_for_picture(each, lambda now: difference(now, before) > 0.03, "the robot is there")
        for each in (page, second)
    ]
    assert difference(*both) < 0.01
    second.close()
    wait_until(lambda: page.wait_for_timeout(20) or len(viewer._server.get_clients()) == 1, "a client less")
    viewer.show(view_frame)
    assert console_errors == []


def test_a_point_dragged_with_the_mouse_reports_its_position(viewer: Viewer, page: Any) -> None:
    before, drags = show_nothing(viewer, page), []
    robot = load_robot("nao")
    viewer.set_figures({"robot": (robot, None)})
    start = np.array(
        [0.0, 0.0, 0.5 * viewer._robot_height]
    )  # in the middle of the picture, which is framed on the robot
    viewer.set_drag_handles({"target": tuple(start)}, lambda name, place: drags.append((name, place)))
    view_frame = ViewFrame.from_state(robot.stance("standing"), camera_target=np.zeros(3))
    viewer.show(view_frame)
    wait_for_picture(page, lambda now: difference(now, before) > 0.03, "the point is there")
    client = next(iter(viewer._server.get_clients().values()))
    upright = client.camera.look_at
    assert np.allclose(upright[:2], 0.0, atol=1e-6)
    x, y = SIZE["width"] / 2, SIZE["height"] / 2
    page.mouse.move(x, y - 40)  # on its vertical arrow
    page.wait_for_timeout(500)
    page.mouse.down()
    for k in range(1, 11):
        page.mouse.move(x, y - 40 - 4 * k)
        page.wait_for_timeout(60)
    wait_until(lambda: page.wait_for_timeout(50) or drags, "the drag")
    page.mouse.up()
    page.wait_for_timeout(500)
    names, places = zip(*drags, strict=True)
    assert set(names) == {"target"}
    assert np.allclose(np.array(places)[:, :2], start[:2], atol=1e-6)
    assert (np.diff([start[2], *np.array(places)[:, 2]]) > -1e-9).all()
    assert 0.03 < places[-1][2] - start[2] < 0.3
    assert np.allclose(client.camera.look_at, upright)  # the camera did not turn
