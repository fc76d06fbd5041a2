"""`poise.view`: a page that shows the robot of a running program."""

from __future__ import annotations

import io
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from PIL import Image

import poise
from open_studio import chromium
from poise import constraints, tasks
from poise.viewer import LiveView
from poise.viewer.live_view import target_points
from waiting import wait_until

pytestmark = pytest.mark.needs_models
TARGET = (0.35, 0.25, 0.95)


@pytest.fixture(scope="module")
def start() -> poise.State:
    return poise.load_robot("g1").stance("standing")


@pytest.fixture
def controller(start: poise.State) -> poise.KinematicController:
    robot = start.robot
    hierarchy = poise.Hierarchy(
        always=[constraints.JointRange(robot), constraints.JointSpeed(robot)],
        levels=[
            poise.Level("feet", [tasks.HoldPose(foot, at=start) for foot in robot.feet]),
            poise.Level("reach", [tasks.Position(robot.hand("left"), target=TARGET)]),
            poise.Level("gaze", [tasks.Gaze(robot.gaze, target=TARGET)] if robot.gaze else []),
            poise.Level("posture", [tasks.Posture(target=start)]),
        ],
    )
    return poise.KinematicController(hierarchy, period=0.01)


@pytest.fixture
def view(start: poise.State, controller: poise.KinematicController) -> Iterator[LiveView]:
    with poise.view(start, controller=controller, open_browser=False) as view:
        yield view


def test_targets_are_those_of_the_tasks_and_not_of_the_feet_that_stay(controller: poise.KinematicController) -> None:
    hierarchy: Any = controller.behavior
    assert target_points(hierarchy, 0.0)
    assert all(np.array_equal(point, TARGET) for point in target_points(hierarchy, 0.0))


def test_a_motion_is_shown_in_real_time(
    view: LiveView, start: poise.State, controller: poise.KinematicController
) -> None:
    before = time.monotonic()
    poise.record(controller, poise.IdealPlant(start), seconds=0.5, view=view)
    assert time.monotonic() - before >= 0.45


def test_a_motion_begun_again_does_not_wait_for_the_end_of_the_first(view: LiveView, start: poise.State) -> None:
    view.show(start.replace(time=100.0))
    before = time.monotonic()
    view.show(start)
    view.show(start.replace(time=0.01))
    assert time.monotonic() - before < 50.0


def test_a_closed_view_costs_a_program_nothing_and_does_not_stop_it(
    view: LiveView, start: poise.State, controller: poise.KinematicController
) -> None:
    view.close()
    view.close()
    recording = poise.record(controller, poise.IdealPlant(start), seconds=0.1, view=view)
    assert recording.samples == 10


def test_a_view_that_is_closed_has_left_its_port(start: poise.State) -> None:
    with poise.view(start, open_browser=False) as first:
        port = int(first.url.rsplit(":", 1)[1])
    with poise.view(start, open_browser=False, port=port) as second:
        assert second.url == first.url


@pytest.mark.parametrize(
    ("arguments", "words"),
    [({"robot": "g1"}, "expected a robot or a state"), ({"speed": -1.0}, "expected a number, zero or more")],
)
def test_an_invalid_robot_or_speed_is_refused_in_one_line(
    arguments: dict[str, Any], words: str, start: poise.State
) -> None:
    with pytest.raises(poise.PoiseError, match=words) as caught:
        poise.view(**{"robot": start, "open_browser": False, **arguments})
    assert "\n" not in str(caught.value)


def test_record_opens_a_view_and_closes_it(
    start: poise.State, controller: poise.KinematicController, capsys: pytest.CaptureFixture[str]
) -> None:
    recording = poise.record(controller, poise.IdealPlant(start), seconds=0.1, view=True)
    assert recording.samples == 10
    assert "view: http://127.0.0.1:" in capsys.readouterr().err


def test_a_browser_shows_the_moving_robot_and_its_target(
    view: LiveView, start: poise.State, controller: poise.KinematicController
) -> None:
    with chromium(with_3d=True) as browser:
        page = browser.new_page(viewport={"width": 480, "height": 400})
        page.goto(view.url)
        assert view.wait_for_page(60.0)

        def picture() -> np.ndarray[Any, Any]:
            return np.asarray(Image.open(io.BytesIO(page.screenshot())).convert("RGB"), dtype=int)

        wait_until(lambda: picture().std() > 15.0, "a robot on the page")
        before = picture()
        poise.record(controller, poise.IdealPlant(start), seconds=1.0, view=view)
        wait_until(lambda: (np.abs(picture() - before).sum(axis=2) > 60).sum() > 300, "the arm at another place")

        def has_target_color() -> bool:
            red, green, blue = np.moveaxis(picture(), 2, 0)
            return bool(((red > 150) & (green < 90) & (blue > 80)).any())

        wait_until(has_target_color, "the ball at the target")
        page.close()
