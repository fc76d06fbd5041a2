"""The scene Navigate in a real browser with the real simulation, guided by a gamepad through a whole scenario.

With POISE_SCREENSHOTS the view is opened too, and screenshots of the page are saved in that folder.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio
import pytest

from open_studio import chromium, open_page, running_hub
from poise.robots import Frame
from poise.studio import Hub, Server
from waiting import wait_until

pytestmark = [pytest.mark.timeout(600)]

#: Folder for screenshots; those of the documentation are made by docs/pictures/screenshots.py.
PICTURES = os.environ.get("POISE_SCREENSHOTS", "")
#: A standard gamepad with the axes `window.held` and the pressed buttons `window.down`.
PAD = """
    window.held = [0, 0, 0, 0];
    window.down = {};
    navigator.getGamepads = () => [{
        id: "pad of a test", index: 0, connected: true, mapping: "standard", axes: window.held, timestamp: 0,
        buttons: Array.from({ length: 17 }, (_, i) => ({ value: window.down[i] ?? 0, pressed: window.down[i] > 0.5 })),
    }];
"""
#: Buttons of a standard pad.
LEFT_SHOULDER, LEFT_TRIGGER, RIGHT_TRIGGER, X, Y = 4, 6, 7, 2, 3


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    with running_hub("nao", tmp_path_factory.mktemp("output")) as hub:
        yield hub


@pytest.fixture(scope="module")
def page(hub: Hub) -> Iterator[Any]:
    server = Server(hub, "127.0.0.1", 0)
    server.start()
    with (
        chromium(with_3d=bool(PICTURES)) as browser,
        open_page(browser, server, viser=bool(PICTURES), before=PAD) as page,
    ):
        yield page
        assert page.errors == []
    server.stop()


@pytest.fixture
def guided_page(page: Any, hub: Hub) -> Any:
    """mighty in the scene Navigate, chosen on the page, after a reset and without input."""
    page.evaluate("held = [0, 0, 0, 0]; down = {}")
    if hub.hello()["robot"] != "mighty":
        page.get_by_label("Robot", exact=True).select_option("mighty")
        wait_until(lambda: hub.hello()["robot"] == "mighty" and hub.hello()["controls"])
    if hub.hello()["scene"] != "navigate":
        page.get_by_role("tab", name="Navigate").click()
        wait_until(lambda: hub.hello()["scene"] == "navigate" and hub.hello()["controls"])
    page.locator("#guidance-move").wait_for()
    wait_until(lambda: current_frame(hub)["guidance"])
    began = current_frame(hub)["time"]
    page.get_by_role("button", name="Reset").click()
    wait_until(lambda: current_frame(hub)["time"] < max(began, 0.2) or current_frame(hub)["time"] < 0.5)
    press_button(page, hub, Y, "trunk")
    if PICTURES:
        page.frame_locator("#view").locator("canvas").last.wait_for()
    return page


def current_frame(hub: Hub) -> dict[str, Any]:
    return wait_until(hub.frame)


def press_button(page: Any, hub: Hub, button: int, mode: str) -> None:
    """Press a button of the gamepad until the simulation has received it and the page shows it."""
    page.evaluate(f"down = {{ [{button}]: 1 }}")
    wait_until(lambda: current_frame(hub)["guidance"]["mode"] == mode)
    page.evaluate("down = {}")
    page.locator(f'[data-mode="{mode}"][aria-pressed="true"]').wait_for()


def frame_position(hub: Hub, frame: Frame) -> np.ndarray:
    """Position of a part of the robot in the last frame."""
    view_frame, robot = hub._latest_view, hub._load_robot("mighty")
    assert view_frame is not None
    x, y, z, *turn = view_frame.poses["robot"][frame.joint]
    joint = pinocchio.SE3(pinocchio.Quaternion(*turn).matrix(), np.array([x, y, z]))
    return np.asarray((joint * robot.model.frames[frame.index].placement).translation)


def step_is_planned(hub: Hub) -> bool:
    """Whether a step is planned and drawn."""
    accepted = (hub._latest_view.plans or {}).get("accepted")  # type: ignore[union-attr]
    if accepted is None or not len(accepted.footprints):
        return False
    feet = np.array([frame_position(hub, foot) for foot in hub._load_robot("mighty").feet])
    return bool(np.linalg.norm(feet[:, :2] - accepted.footprints[0].mean(axis=0)[:2], axis=1).min() > 0.05)


def robot_stands(hub: Hub) -> bool:
    return bool(current_frame(hub)["status_lines"][0].startswith("stands"))


def take_screenshot(page: Any, hub: Hub, name: str, when: Callable[[Hub], bool] | None = None) -> None:
    """Save a screenshot of the page, if enabled; the simulation is paused until the view has drawn it."""
    if PICTURES:
        Path(PICTURES).mkdir(parents=True, exist_ok=True)
        if when is not None:
            hub.handle_command("time_scale", 0.1)
            wait_until(lambda: when(hub))
            hub.handle_command("time_scale", 1)
        hub.handle_command("play", False)
        wait_until(lambda: not current_frame(hub)["playing"])
        page.wait_for_timeout(1500)
        page.screenshot(path=str(Path(PICTURES) / f"studio_navigate{name}.png"))
        hub.handle_command("play", True)


def test_a_gamepad_guides_trunk_hand_and_foot_and_the_page_shows_projections(guided_page: Any, hub: Hub) -> None:
    page, robot = guided_page, hub._load_robot("mighty")
    page.get_by_role("heading", name="Gamepad: pad of a test").wait_for()
    left, right = robot.foot("left"), robot.foot("right")
    start = {foot.side: frame_position(hub, foot) for foot in robot.feet}

    page.evaluate("held = [0, -1, 0, 0]")  # the trunk ahead: it walks, one foot after the other
    wait_until(lambda: hub._latest_view.plans.get("accepted") is not None)  # type: ignore[union-attr]
    wait_until(lambda: all(frame_position(hub, foot)[0] > start[foot.side][0] + 0.06 for foot in robot.feet))
    take_screenshot(page, hub, "", step_is_planned)
    page.evaluate("held = [0, 0, 0, 0]")
    wait_until(lambda: robot_stands(hub))
    assert {row["mode"] for row in current_frame(hub)["guidance"]["segments"]} == {"trunk"}

    press_button(page, hub, X, "left hand")
    hand, stood = frame_position(hub, robot.hand("left")), frame_position(hub, right)
    page.evaluate(f"held = [0, -1, 0, 0]; down = {{ [{RIGHT_TRIGGER}]: 1 }}")
    wait_until(lambda: frame_position(hub, robot.hand("left"))[2] > hand[2] + 0.04)
    take_screenshot(page, hub, "_hand")
    assert np.linalg.norm(frame_position(hub, right) - stood) < 0.02, "the arm is long enough: no step"
    page.evaluate("held = [0, 0, 0, 0]; down = {}")

    press_button(page, hub, LEFT_SHOULDER, "left foot")
    page.evaluate(f"down = {{ [{RIGHT_TRIGGER}]: 1 }}")
    wait_until(lambda: frame_position(hub, left)[2] > frame_position(hub, right)[2] + 0.015)
    page.locator("#guidance-notes").get_by_text("beyond its boundary, projected").first.wait_for()  # higher than it can
    page.locator("#segments td.projected").first.wait_for()
    take_screenshot(page, hub, "_foot")
    page.evaluate("down = {}")
    wait_until(lambda: robot_stands(hub))
    assert "left foot in the air" in current_frame(hub)["status_lines"][0], "it stays there after the release"
    page.evaluate(f"down = {{ [{LEFT_TRIGGER}]: 1 }}")
    wait_until(
        lambda: (
            current_frame(hub)["phase"] == "double support"
            and frame_position(hub, left)[2] < frame_position(hub, right)[2] + 0.003
        )
    )
    page.evaluate("down = {}")
    assert not current_frame(hub)["fall_reason"]


def test_a_short_key_press_makes_one_step(guided_page: Any, hub: Hub) -> None:
    page = guided_page
    page.locator("#guidance-move").focus()
    page.keyboard.press("4")
    wait_until(lambda: current_frame(hub)["guidance"]["mode"] == "left hand")
    page.keyboard.press("r")
    wait_until(lambda: any(row["mode"] == "left hand" for row in current_frame(hub)["guidance"]["segments"]))


def test_a_page_that_freezes_leaves_the_stick_centred(guided_page: Any, hub: Hub) -> None:
    page = guided_page
    page.evaluate("held = [0, -1, 0, 0]")
    wait_until(lambda: current_frame(hub)["guidance"]["axes"][0] == 1.0)
    page.evaluate("() => { setTimeout(() => { const end = Date.now() + 3000; while (Date.now() < end); }, 0); }")
    wait_until(lambda: current_frame(hub)["input_timed_out"])
    assert current_frame(hub)["guidance"]["axes"] == [0.0] * 6
    wait_until(lambda: current_frame(hub)["guidance"]["axes"][0] == 1.0)  # it is back, and the stick is still held
    page.evaluate("held = [0, 0, 0, 0]")
    wait_until(lambda: robot_stands(hub))
    assert not current_frame(hub)["fall_reason"]


def test_the_stairs_and_the_door_are_chosen_on_the_page_and_stepped_down(guided_page: Any, hub: Hub) -> None:
    page, robot = guided_page, hub._load_robot("mighty")
    page.get_by_label("world", exact=True).select_option("stairs and door")
    wait_until(lambda: current_frame(hub)["guidance"]["has_target"])
    page.get_by_text("m to go").wait_for()
    page.locator("#legend-target").wait_for()
    page.evaluate("held = [0, -1, 0, 0]")
    start = min(frame_position(hub, foot)[2] for foot in robot.feet)
    wait_until(lambda: min(frame_position(hub, foot)[2] for foot in robot.feet) < start - 0.015)  # a step is 2 cm
    take_screenshot(page, hub, "_stairs", step_is_planned)
    page.evaluate("held = [0, 0, 0, 0]")
    assert not current_frame(hub)["fall_reason"]
    page.get_by_label("world", exact=True).select_option("flat")
    wait_until(lambda: not current_frame(hub)["guidance"]["has_target"])
