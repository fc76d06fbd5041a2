"""The view in a real browser: every robot is seen, by every client alike, and points can be dragged with a mouse."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from drawn_robots import ROBOTS
from open_studio import chromium
from PIL import Image

from poise.robots import load_robot
from poise.studio.scenery import Scenery
from poise.studio.viewer import Viewer
from waiting import Patience, until

SIZE = {"width": 480, "height": 400}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium(solid=True) as browser:
        yield browser


@pytest.fixture(scope="module")
def viewer() -> Iterator[Viewer]:
    viewer = Viewer()
    yield viewer
    viewer.close()


@pytest.fixture(scope="module")
def said() -> list[str]:
    """Errors that pages wrote to their consoles."""
    return []


@pytest.fixture(scope="module")
def page(browser: Any, viewer: Viewer, said: list[str]) -> Iterator[Any]:
    page = opened(browser, viewer, said)
    yield page
    page.close()


def opened(browser: Any, viewer: Viewer, said: list[str]) -> Any:
    page = browser.new_page(viewport=SIZE)
    page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    count = len(viewer._server.get_clients())
    page.goto(f"http://127.0.0.1:{viewer.port}/?fixedDpr=1")  # else it draws coarser when the machine is busy
    until(lambda: page.wait_for_timeout(50) or len(viewer._server.get_clients()) > count, "the page's client")
    return page


def picture(page: Any) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(page.screenshot())).convert("RGB"), dtype=np.int16)


def settled(page: Any, good: Callable[[np.ndarray], bool], what: str) -> np.ndarray:
    """A picture that is as it should be and stays the same."""
    patience, last = Patience(what), picture(page)
    while True:
        page.wait_for_timeout(200)
        now = picture(page)
        if good(now) and (np.abs(now - last) > 8).mean() < 0.001:
            return now
        last = now
        patience.spend()


def other(some: np.ndarray, more: np.ndarray) -> float:
    """Share of the points of two pictures that differ to the eye."""
    return float((np.abs(some - more).max(axis=2) > 12).mean())


def empty(viewer: Viewer, page: Any) -> np.ndarray:
    viewer.figures({})
    viewer.gizmos({}, lambda *_: None)
    nothing = Scenery({}, np.zeros((0, 2, 3)), np.zeros((0, 3)), None, None, {}, np.zeros(3))
    viewer.show(nothing)
    return settled(page, lambda now: now.std() > 2.0, "the ground is there")


@pytest.mark.parametrize("name", ROBOTS)
def test_every_robot_is_seen_in_the_middle_and_whole(viewer: Viewer, page: Any, said: list[str], name: str) -> None:
    before = empty(viewer, page)
    viewer.figures({"robot": (load_robot(name), None)})
    viewer.show(Scenery.of(load_robot(name).stance("standing")))
    # The ground moves with the camera of another robot: what is of the robot are its darkest and its brightest points.
    seen = settled(page, lambda now: other(now, before) > 0.03, f"{name} is there")
    changed = np.abs(seen - before).max(axis=2) > 60
    rows, columns = np.nonzero(changed)
    top, bottom = np.quantile(rows, [0.005, 0.995])  # a line of the ground may be among them
    assert 0.01 < changed.mean() < 0.4
    assert 10 < top < bottom < SIZE["height"] - 10
    assert bottom - top > 0.45 * SIZE["height"]
    assert abs(np.median(columns) - SIZE["width"] / 2) < 0.15 * SIZE["width"]
    assert said == []


def test_neither_panel_nor_logo_nor_note_of_viser_is_seen(viewer: Viewer, page: Any) -> None:
    empty(viewer, page)
    assert page.get_by_role("button").locator("visible=true").count() == 0
    assert page.get_by_text("Connected").locator("visible=true").count() == 0
    assert page.locator("a").locator("visible=true").count() == 0


def test_a_second_client_sees_the_same(viewer: Viewer, browser: Any, page: Any, said: list[str]) -> None:
    robot = load_robot("nao")
    before = empty(viewer, page)
    viewer.figures({"robot": (robot, None), "ghost": (robot, (0.2, 0.4, 0.8, 0.35))})
    scenery = Scenery.of(robot.stance("standing"))
    beside = scenery.poses["robot"] + np.array([0.0, 0.25, 0.0, 0.0, 0.0, 0.0, 0.0])
    scenery = scenery._replace(
        poses={**scenery.poses, "ghost": beside},
        forces=np.array([[[0.3, 0.0, 0.0], [0.3, 0.0, 0.3]]]),
        follow=np.array([0.1, 0.1, 0.3]),
    )
    viewer.show(scenery)
    second = opened(browser, viewer, said)
    both = [settled(each, lambda now: other(now, before) > 0.03, "the robot is there") for each in (page, second)]
    assert other(*both) < 0.01
    second.close()
    until(lambda: page.wait_for_timeout(20) or len(viewer._server.get_clients()) == 1, "a client less")
    viewer.show(scenery)
    assert said == []


def test_a_point_dragged_with_the_mouse_is_told_where_it_went(viewer: Viewer, page: Any) -> None:
    before, told = empty(viewer, page), []
    robot = load_robot("nao")
    viewer.figures({"robot": (robot, None)})
    start = np.array([0.0, 0.0, 0.5 * viewer._size])  # in the middle of the picture, which is framed on the robot
    viewer.gizmos({"target": tuple(start)}, lambda name, place: told.append((name, place)))
    scenery = Scenery.of(robot.stance("standing"), follow=np.zeros(3))
    viewer.show(scenery)
    settled(page, lambda now: other(now, before) > 0.03, "the point is there")
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
    until(lambda: page.wait_for_timeout(50) or told, "the drag")
    page.mouse.up()
    page.wait_for_timeout(500)
    names, places = zip(*told, strict=True)
    assert set(names) == {"target"}
    assert np.allclose(np.array(places)[:, :2], start[:2], atol=1e-6)
    assert (np.diff([start[2], *np.array(places)[:, 2]]) > -1e-9).all()
    assert 0.03 < places[-1][2] - start[2] < 0.3
    assert np.allclose(client.camera.look_at, upright)  # the camera did not turn
