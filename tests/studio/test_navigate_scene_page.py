"""The page of a guided scene in a real browser, without a simulation: inputs are sent, guidance is shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fake_hub import FakeHub
from open_studio import open_page, studio
from poise.studio.operator_input import OperatorInput
from poise.studio.scenes import find_scene
from waiting import wait_until

pytest_plugins = ("page_fixtures",)

REST = {"mode": "trunk", "axes": [0] * 6, "lift": 0.5, "has_target": False, "notes": [], "segments": []}
NOTE = "left foot: 4 cm beyond its boundary, projected"
ROWS = [
    {"time": 3.5, "mode": "left foot", "seconds": 0.5, "margin": 12, "outcome": "projected", "notes": [NOTE]},
    {"time": 3.0, "mode": "trunk", "seconds": 0.7, "margin": 4, "outcome": "done", "notes": []},
]


@pytest.fixture
def page_and_hub(gamepad_page_and_hub: tuple[Any, FakeHub]) -> tuple[Any, FakeHub]:
    page, hub = gamepad_page_and_hub
    hub.stick_driven, hub.guidance = False, dict(find_scene("navigate").guidance_info)
    hub.hello_version += 1
    hub.show_frame(2, guidance=REST)
    page.locator("#guidance-move").wait_for()
    return page, hub


def last_input(hub: FakeHub) -> OperatorInput:
    """The last input that the simulation received."""
    return OperatorInput.from_page((hub.command_values("operator_input") or [None])[-1])


def test_a_page_without_a_guided_scene_shows_nothing_of_it(browser: Any, tmp_path: Path) -> None:
    with studio(tmp_path) as (hub, server), open_page(browser, server) as page:
        page.locator("#stick-move").wait_for()
        for name in ("#guidance-sticks", "#guidance-bar", "#guidance-panel", "#segments-panel", "#guidance-notes"):
            assert page.locator(name).is_hidden()
        page.keyboard.press("r")
        count = len(hub.command_values("keep_alive"))
        wait_until(lambda: len(hub.command_values("keep_alive")) > count + 2)
        assert hub.command_values("operator_input") == []


def test_pressed_keys_are_sent_repeatedly_until_they_are_released(page_and_hub: tuple[Any, FakeHub]) -> None:
    page, hub = page_and_hub
    page.keyboard.down("w")
    page.keyboard.down("r")
    wait_until(lambda: last_input(hub).keys == {"KeyW", "KeyR"})
    count = len(hub.command_values("operator_input"))
    wait_until(lambda: len(hub.command_values("operator_input")) >= count + 3)
    page.keyboard.up("w")
    page.keyboard.up("r")
    wait_until(lambda: last_input(hub).is_idle)
    count, alive = len(hub.command_values("operator_input")), len(hub.command_values("keep_alive"))
    wait_until(lambda: len(hub.command_values("keep_alive")) >= alive + 3)
    assert len(hub.command_values("operator_input")) == count, "the release is sent once"
    assert hub.command_values("stick") == [], "no stick commands are sent"


def test_the_state_of_a_gamepad_and_its_removal_are_sent(page_and_hub: tuple[Any, FakeHub]) -> None:
    page, hub = page_and_hub
    page.evaluate("pads.push(pad('standard', 4))")
    page.get_by_role("heading", name="Gamepad: Pad").wait_for()
    page.get_by_text("right trigger, left trigger").wait_for()
    page.evaluate("pads[0].axes[1] = -1; pads[0].buttons[7].value = 0.5; pads[0].buttons[2].value = 1")

    def gamepad_received() -> bool:
        gamepad = last_input(hub).gamepad
        return (
            gamepad is not None
            and gamepad.standard
            and gamepad.axes[1] == -1
            and gamepad.buttons[7] == 0.5
            and gamepad.buttons[2] == 1
        )

    wait_until(gamepad_received)
    page.evaluate("pads[0] = pad('standard', 4); pads[0].axes[0] = 0.05")
    wait_until(lambda: last_input(hub).is_idle)
    assert last_input(hub).gamepad is not None
    page.evaluate("pads.length = 0")
    wait_until(lambda: last_input(hub).gamepad is None)
    page.get_by_role("heading", name="Keyboard").wait_for()


def test_a_device_without_the_standard_layout_is_a_flight_stick_with_fixed_levers(
    page_and_hub: tuple[Any, FakeHub],
) -> None:
    page, hub = page_and_hub
    page.evaluate("pads.push(pad('', 7)); pads[0].axes[5] = -1")
    page.get_by_role("heading", name="Flight stick: Pad").wait_for()
    wait_until(lambda: last_input(hub).gamepad is not None)
    assert last_input(hub).is_idle
    page.evaluate("pads[0].axes[0] = 1")
    wait_until(lambda: last_input(hub).gamepad.axes[0] == 1)  # type: ignore[union-attr]
    assert not last_input(hub).gamepad.standard  # type: ignore[union-attr]
    assert page.get_by_role("dialog").count() == 0


@pytest.mark.parametrize(
    ("stick", "move", "axis", "value"),
    [("move", (0, -300), 0, 1), ("move", (-300, 0), 1, 1), ("up", (0, -300), 2, 1), ("lean", (300, 0), 3, 1),
     ("turn", (0, -300), 4, 1), ("turn", (-300, 0), 5, 1)],
)  # fmt: skip
def test_six_axes_are_on_the_screen(
    page_and_hub: tuple[Any, FakeHub], stick: str, move: tuple[int, int], axis: int, value: int
) -> None:
    page, hub = page_and_hub
    box = page.locator(f"#guidance-{stick}").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + move[0], y + move[1])
    wait_until(lambda: last_input(hub).axes == tuple(value if place == axis else 0 for place in range(6)))
    page.mouse.up()
    wait_until(lambda: last_input(hub).is_idle)


def test_the_guided_point_and_the_height_of_steps_are_chosen_on_the_page(page_and_hub: tuple[Any, FakeHub]) -> None:
    page, hub = page_and_hub
    assert page.locator('#modes [aria-pressed="true"]').inner_text() == "trunk"
    page.get_by_role("button", name="left hand", exact=True).click()
    wait_until(lambda: ["mode", "left hand"] in hub.command_values("control"))
    hub.show_frame(3, guidance={**REST, "mode": "left hand"})
    wait_until(lambda: page.locator('#modes [aria-pressed="true"]').inner_text() == "left hand")
    page.get_by_text("the body follows and the feet step").wait_for()
    page.get_by_label("Height of steps").fill("0.8")
    wait_until(lambda: ["lift", 0.8] in hub.command_values("control"))


def test_a_rebuilt_panel_shows_the_guided_point_of_a_paused_simulation(page_and_hub: tuple[Any, FakeHub]) -> None:
    page, hub = page_and_hub
    page.locator('#modes [aria-pressed="true"]').wait_for()
    modes = list(reversed(hub.guidance["modes"]))
    hub.guidance = {**hub.guidance, "modes": modes}
    hub.hello_version += 1  # no frame follows
    wait_until(lambda: page.locator("#modes button").first.inner_text() == modes[0]["name"])
    wait_until(lambda: page.locator('#modes [aria-pressed="true"]').all_inner_texts() == ["trunk"])


def test_outcomes_of_commands_are_shown_with_their_reasons(page_and_hub: tuple[Any, FakeHub]) -> None:
    page, hub = page_and_hub
    assert page.locator("#guidance-notes").is_hidden()
    page.get_by_text("None yet: move a stick.").wait_for()
    hub.show_frame(4, guidance={**REST, "notes": [NOTE], "segments": ROWS})
    page.locator("#guidance-notes").get_by_text(NOTE).wait_for()
    cells = page.locator("#segments tr").first.locator("td").all_inner_texts()
    assert cells == ["left foot", "3.5 s", "0.50 s", "projected"]
    assert page.locator("#segments tr").nth(1).inner_text() == NOTE
    hub.show_frame(5, guidance=REST)
    page.locator("#guidance-notes").wait_for(state="hidden")


def test_knobs_follow_the_commands_of_other_devices(page_and_hub: tuple[Any, FakeHub]) -> None:
    page, hub = page_and_hub
    hub.show_frame(6, guidance={**REST, "axes": [1, 0, 0, 0, 0, 0]})
    knob = page.locator("#guidance-move .knob")
    wait_until(lambda: knob.bounding_box()["y"] < page.locator("#guidance-move").bounding_box()["y"] + 20)


def test_a_page_without_focus_releases_all_inputs(page_and_hub: tuple[Any, FakeHub]) -> None:
    page, hub = page_and_hub
    page.keyboard.down("w")
    wait_until(lambda: last_input(hub).keys == {"KeyW"})
    page.evaluate("dispatchEvent(new Event('blur'))")
    wait_until(lambda: last_input(hub).is_idle)


def test_all_sticks_are_beside_the_robot_in_windows_of_every_size(page_and_hub: tuple[Any, FakeHub]) -> None:
    page, _ = page_and_hub
    for width, height in ((390, 844), (844, 390), (820, 1180), (1024, 768), (1280, 800), (1440, 900)):
        page.set_viewport_size({"width": width, "height": height})
        view, drawn = page.locator(".view").bounding_box(), page.locator("#view").bounding_box()
        left, right = drawn["x"] + drawn["width"] / 3, drawn["x"] + 2 * drawn["width"] / 3
        for name in ("move", "up", "lift", "lean", "turn"):
            box = page.locator(f"#guidance-{name}").bounding_box()
            assert box["x"] >= view["x"]
            assert box["x"] + box["width"] <= view["x"] + view["width"] + 0.5, name
            assert view["y"] <= box["y"] <= view["y"] + view["height"] - box["height"]
            below = box["y"] >= drawn["y"] + drawn["height"]
            assert below or box["x"] + box["width"] <= left or box["x"] >= right, f"{name} covers the robot"
    page.set_viewport_size({"width": 1440, "height": 900})
