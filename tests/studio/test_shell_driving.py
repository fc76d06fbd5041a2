"""Sticks, keys and gamepads in a real browser: the commands that they send, and release."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fake_hub import FakeHub
from open_studio import open_page, studio
from waiting import wait_until

pytest_plugins = ("page_fixtures",)

ZEROS = [0, 0, 0]
STANDARD = "{id: 'Pad (Vendor: 1)', mapping: 'standard', connected: true, axes: [0, 0, 0, 0], buttons: []}"
FLIGHT = "{id: 'Flight stick', mapping: '', connected: true, axes: [0, 0, -1, 0], buttons: []}"


@pytest.fixture
def page_and_hub(gamepad_page_and_hub: tuple[Any, FakeHub]) -> tuple[Any, FakeHub]:
    gamepad_page_and_hub[0].locator("#stick-move").wait_for()
    return gamepad_page_and_hub


def last_stick(hub: FakeHub) -> Any:
    return (hub.command_values("stick") or [None])[-1]


def test_a_page_is_alive(page_and_hub: tuple[Any, FakeHub]) -> None:
    wait_until(lambda: len(page_and_hub[1].command_values("keep_alive")) >= 3)
    assert page_and_hub[1].command_values("stick") == []


def test_a_gamepad_drives_and_its_centred_stick_is_sent_once(page_and_hub: tuple[Any, FakeHub]) -> None:
    page, hub = page_and_hub
    page.evaluate(f"pads.push({STANDARD})")
    page.get_by_text("gamepad: Pad").wait_for()
    page.evaluate("pads[0].axes = [0.05, -1, 0, 0]")
    wait_until(lambda: last_stick(hub) == [1, 0, 0])
    count = len(hub.command_values("stick"))
    wait_until(lambda: len(hub.command_values("stick")) >= count + 3)  # sent repeatedly while it is held
    page.evaluate("pads[0].axes = [1, 0, 0, 0]")
    wait_until(lambda: last_stick(hub) == [0, -1, 0])
    page.evaluate("pads[0].axes = [0, 0, -0.56, 0]")
    wait_until(lambda: last_stick(hub) == [0, 0, 0.5])  # (0.56 - 0.12) / (1 - 0.12)
    page.evaluate("pads[0].axes = [0.1, 0.1, 0.1, 0]")
    wait_until(lambda: last_stick(hub) == ZEROS)
    count = len(hub.command_values("keep_alive"))
    wait_until(lambda: len(hub.command_values("keep_alive")) >= count + 3)
    assert hub.command_values("stick").count(ZEROS) == 1
    assert last_stick(hub) == ZEROS


def test_an_unplugged_gamepad_releases_the_stick(page_and_hub: tuple[Any, FakeHub]) -> None:
    page, hub = page_and_hub
    page.evaluate(f"pads.push({STANDARD}); pads[0].axes = [0, -1, 0, 0]")
    wait_until(lambda: last_stick(hub) == [1, 0, 0])
    page.evaluate("pads.length = 0")
    wait_until(lambda: last_stick(hub) == ZEROS)


def test_an_unknown_device_is_assigned_by_moving_it_and_remembered(page_and_hub: tuple[Any, FakeHub]) -> None:
    page, hub = page_and_hub
    dialog = page.get_by_role("dialog", name="Assign the axes")

    def move_axis(axes: list[float], step: str) -> None:
        dialog.get_by_text(step).wait_for()
        page.evaluate(f"pads[0].axes = {axes}")
        dialog.get_by_text("Let it go").wait_for()
        page.evaluate("pads[0].axes = [0, 0, -1, 0]")

    page.evaluate(f"pads.push({FLIGHT})")
    page.get_by_text("its axes are not known").wait_for()
    page.evaluate("pads[0].axes = [0, 0.9, -1, 0]")
    dialog.get_by_text("Let it go").wait_for()
    page.evaluate("pads[0].axes = [0, 0, -1, 0]")
    move_axis([-0.9, 0, -1, 0], "fully left")
    move_axis([0, 0, 0.5, 0], "should turn")
    dialog.wait_for(state="hidden")
    assert all(stick == ZEROS for stick in hub.command_values("stick"))  # no stick commands during assignment
    page.evaluate("pads[0].axes = [0, 1, -1, 0]")
    wait_until(lambda: last_stick(hub) == [1, 0, 0])
    page.evaluate("pads[0].axes = [1, 0, -1, 0]")
    wait_until(lambda: last_stick(hub) == [0, -1, 0])
    page.evaluate("pads[0].axes = [0, 0, 1, 0]")
    wait_until(lambda: last_stick(hub) == [0, 0, 1])
    page.reload()
    page.locator("#stick-move").wait_for()
    page.evaluate(f"pads.push({FLIGHT}); pads[0].axes = [0, -1, -1, 0]")
    wait_until(lambda: last_stick(hub) == [-1, 0, 0])


def test_assigning_can_be_skipped_and_cancelled(page_and_hub: tuple[Any, FakeHub]) -> None:
    page, hub = page_and_hub
    dialog = page.get_by_role("dialog", name="Assign the axes")
    page.evaluate(f"pads.push({FLIGHT})")
    page.get_by_role("button", name="Assign axes").click()
    page.get_by_role("button", name="Cancel").click()
    dialog.wait_for(state="hidden")
    page.get_by_role("button", name="Assign axes").click()
    page.evaluate("pads[0].axes = [0, -1, -1, 0]")
    dialog.get_by_text("Let it go").wait_for()
    page.evaluate("pads[0].axes = [0, 0, -1, 0]")
    for _ in range(2):
        page.get_by_role("button", name="Skip").click()
    dialog.wait_for(state="hidden")
    page.evaluate("pads[0].axes = [1, -1, -1, 0]")
    wait_until(lambda: last_stick(hub) == [1, 0, 0])


KEYS = {
    "w": [1, 0, 0], "s": [-1, 0, 0], "a": [0, 1, 0], "d": [0, -1, 0], "q": [0, 0, 1], "e": [0, 0, -1],
    "ArrowUp": [1, 0, 0], "ArrowDown": [-1, 0, 0], "ArrowLeft": [0, 0, 1], "ArrowRight": [0, 0, -1],
}  # fmt: skip


def test_keys_drive_until_they_are_released(page_and_hub: tuple[Any, FakeHub]) -> None:
    page, hub = page_and_hub
    for key, stick in KEYS.items():
        page.keyboard.down(key)
        wait_until(lambda stick=stick: last_stick(hub) == stick)  # type: ignore[misc]
        page.keyboard.up(key)
        wait_until(lambda: last_stick(hub) == ZEROS)


def test_keys_in_the_view_drive_the_robot_and_not_its_camera(page_and_hub: tuple[Any, FakeHub]) -> None:
    page, hub = page_and_hub
    inner = next(frame for frame in page.frames if "/viser/" in frame.url)
    inner.evaluate("heard = []; addEventListener('keydown', (event) => heard.push(event.code), true)")
    inner.get_by_role("button", name="inner").focus()
    page.keyboard.down("w")
    page.keyboard.down("q")
    wait_until(lambda: last_stick(hub) == [1, 0, 1])
    page.keyboard.up("w")
    page.keyboard.up("q")
    wait_until(lambda: last_stick(hub) == ZEROS)
    page.keyboard.press("z")
    assert inner.evaluate("heard") == ["KeyZ"]


def test_only_text_and_number_fields_hold_the_keyboard(page_and_hub: tuple[Any, FakeHub]) -> None:
    page, hub = page_and_hub
    inner = next(frame for frame in page.frames if "/viser/" in frame.url)
    number = page.get_by_role("spinbutton", name="step length")
    for field in (number, inner.get_by_label("field")):
        field.focus()
        page.keyboard.press("w")
        page.keyboard.press("ArrowUp")
    page.get_by_role("tab", name="Walk").focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.textContent") == "Stand & squat"
    page.keyboard.press("Control+a")
    count = len(hub.command_values("keep_alive"))
    wait_until(lambda: len(hub.command_values("keep_alive")) > count)
    assert hub.command_values("stick") == []
    number.focus()
    page.keyboard.press("Enter")  # the number is set, and the keys drive the robot again
    page.keyboard.down("w")
    wait_until(lambda: last_stick(hub) == [1, 0, 0])
    page.keyboard.up("w")


def test_keys_drive_after_a_slider_a_choice_or_a_panel_was_used_with_the_mouse(
    page_and_hub: tuple[Any, FakeHub],
) -> None:
    page, hub = page_and_hub
    slider = page.get_by_role("slider", name="step length")
    touched = (slider, page.get_by_role("switch", name="arms swing"), page.get_by_role("region", name="Hierarchy"))
    for element in touched:
        element.click()
        value = slider.input_value()
        for key, stick in (("w", [1, 0, 0]), ("ArrowLeft", [0, 0, 1])):
            page.keyboard.down(key)
            wait_until(lambda stick=stick: last_stick(hub) == stick)  # type: ignore[misc]
            page.keyboard.up(key)
            wait_until(lambda: last_stick(hub) == ZEROS)
        assert slider.input_value() == value
    page.get_by_role("combobox", name="preset").focus()
    page.keyboard.down("s")  # a letter does not change the choice
    wait_until(lambda: last_stick(hub) == [-1, 0, 0])
    page.keyboard.up("s")
    assert page.get_by_role("combobox", name="preset").input_value() == "neutral"


def test_arrow_keys_move_a_slider_that_was_reached_with_the_tab_key(page_and_hub: tuple[Any, FakeHub]) -> None:
    page, hub = page_and_hub
    page.get_by_role("slider", name="step length").click()
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    time = page.get_by_role("slider", name="step time")
    if not time.evaluate("element => element === document.activeElement"):
        page.keyboard.press("Tab")
    before = time.input_value()
    page.keyboard.press("ArrowRight")
    wait_until(lambda: time.input_value() != before)
    assert hub.command_values("stick") == []


def test_undo_and_the_help_of_keys_have_a_key_each(page_and_hub: tuple[Any, FakeHub]) -> None:
    page, hub = page_and_hub
    page.get_by_role("slider", name="step length").click()
    page.keyboard.press("Control+z")
    wait_until(lambda: hub.command_values("undo") == [None])
    page.get_by_role("spinbutton", name="step length").focus()
    page.keyboard.press("Control+z")  # a field undoes its own text
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keys")
    dialog.get_by_text("walk forward, back").wait_for()
    page.keyboard.press("w")  # while the help is open, no key drives
    page.keyboard.press("Escape")
    dialog.wait_for(state="hidden")
    hub.stick_driven, hub.hello_version = False, hub.hello_version + 1
    page.locator("#stick-move").wait_for(state="hidden")
    page.keyboard.press("?")
    dialog.get_by_text("undo the last change").wait_for()
    assert dialog.get_by_text("walk forward").count() == 0
    assert hub.command_values("undo") == [None]
    assert hub.command_values("stick") == []


@pytest.mark.parametrize("event", ["blur", "pagehide"])
def test_a_page_without_focus_releases_the_stick(page_and_hub: tuple[Any, FakeHub], event: str) -> None:
    page, hub = page_and_hub
    page.keyboard.down("w")
    wait_until(lambda: last_stick(hub) == [1, 0, 0])
    page.evaluate(f"dispatchEvent(new Event('{event}'))")
    wait_until(lambda: last_stick(hub) == ZEROS)


def test_closing_the_page_releases_the_stick(page_and_hub: tuple[Any, FakeHub]) -> None:
    page, hub = page_and_hub
    page.keyboard.down("w")
    wait_until(lambda: last_stick(hub) == [1, 0, 0])
    page.goto("about:blank")
    wait_until(lambda: hub.page_counts[-1] == 0)
    assert last_stick(hub) == ZEROS


def test_an_on_screen_stick_follows_the_mouse_and_comes_back(page_and_hub: tuple[Any, FakeHub]) -> None:
    page, hub = page_and_hub
    box = page.locator("#stick-move").bounding_box()
    middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.move(*middle)
    page.mouse.down()
    page.mouse.move(middle[0], middle[1] - 300)  # far outside: it is held there
    wait_until(lambda: last_stick(hub) == [1, 0, 0])
    page.mouse.move(middle[0] + 300, middle[1])
    wait_until(lambda: last_stick(hub) == [0, -1, 0])
    page.mouse.up()
    wait_until(lambda: last_stick(hub) == ZEROS)


def test_fingers_on_both_sticks_walk_and_turn_at_once(browser: Any, tmp_path: Path) -> None:
    with studio(tmp_path) as (hub, server), open_page(browser, server, has_touch=True) as page:
        move, turn = (page.locator(name).bounding_box() for name in ("#stick-move", "#stick-turn"))
        touches = [
            {"x": move["x"] + move["width"] / 2, "y": move["y"] + 1, "id": 1},
            {"x": turn["x"] + 1, "y": turn["y"] + turn["height"] / 2, "id": 2},
        ]
        fingers = page.context.new_cdp_session(page)
        fingers.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": touches})
        wait_until(lambda: last_stick(hub) == [1, 0, 1])
        fingers.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        wait_until(lambda: last_stick(hub) == ZEROS)


def test_a_scene_that_cannot_be_driven_has_no_sticks_and_takes_no_keys(page_and_hub: tuple[Any, FakeHub]) -> None:
    page, hub = page_and_hub
    page.keyboard.down("w")
    wait_until(lambda: last_stick(hub) == [1, 0, 0])
    hub.stick_driven, hub.hello_version = False, hub.hello_version + 1
    page.locator("#stick-move").wait_for(state="hidden")
    wait_until(lambda: last_stick(hub) == ZEROS)
    count = len(hub.command_values("stick"))
    page.keyboard.press("s")
    alive = len(hub.command_values("keep_alive"))
    wait_until(lambda: len(hub.command_values("keep_alive")) > alive)
    assert len(hub.command_values("stick")) == count
