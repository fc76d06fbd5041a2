"""The page in a real browser, against a hub without a simulation."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fake_hub import CONTROLS, FakeHub
from open_studio import chromium, find_browser, open_page, studio
from poise.studio import Server
from waiting import wait_until

ROLES = (
    "button",
    "link",
    "tab",
    "slider",
    "spinbutton",
    "combobox",
    "switch",
    "checkbox",
    "textbox",
    "application",
    "img",
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as opened:
        yield opened


@pytest.fixture
def hub_and_server(tmp_path: Path) -> Iterator[tuple[FakeHub, Server]]:
    (tmp_path / "walk-g1-1.poise").write_bytes(b"recorded" * 1000)
    with studio(tmp_path) as both:
        yield both


@pytest.fixture
def page(browser: Any, hub_and_server: tuple[FakeHub, Server]) -> Iterator[Any]:
    with open_page(browser, hub_and_server[1]) as opened:
        yield opened
        assert opened.errors == []


@pytest.fixture
def hub(hub_and_server: tuple[FakeHub, Server]) -> FakeHub:
    return hub_and_server[0]


@pytest.mark.skipif("CI" not in os.environ, reason="a browser must be there on CI only")
def test_on_ci_there_is_a_browser() -> None:
    assert find_browser() is not None


def test_a_slider_sends_its_value_from_mouse_keys_and_field(page: Any, hub: FakeHub) -> None:
    slider = page.get_by_role("slider", name="step length")
    slider.focus()
    page.keyboard.press("ArrowRight")
    wait_until(lambda: hub.command_values("control") == [["style.step_length", 0.21]])
    slider.fill("0.5")
    wait_until(lambda: hub.command_values("control")[-1] == ["style.step_length", 0.5])
    field = page.get_by_role("spinbutton", name="step length as a number")
    assert field.input_value() == "0.50"
    field.fill("7")
    field.press("Enter")
    wait_until(lambda: hub.command_values("control")[-1] == ["style.step_length", 0.6])
    assert slider.input_value() == "0.6"


def test_a_choice_a_switch_and_a_button_send_what_they_are_for(page: Any, hub: FakeHub) -> None:
    page.get_by_role("combobox", name="preset").select_option("proud")
    page.get_by_role("switch", name="arms swing").uncheck()
    page.get_by_role("button", name="push", exact=True).click()
    wait_until(lambda: hub.command_values("control") == [["preset", "proud"], ["arms", False], ["push", True]])


def test_an_order_sends_the_whole_list_and_keeps_the_focus(page: Any, hub: FakeHub) -> None:
    order = next(control for control in CONTROLS if control["kind"] == "task_order")
    balance, left, gaze = order["items"]
    page.get_by_role("button", name="Move gaze up").click()
    wait_until(lambda: hub.command_values("control") == [["stack", [balance, gaze, left]]])
    page.keyboard.press("Enter")
    wait_until(lambda: hub.command_values("control")[-1] == ["stack", [gaze, balance, left]])
    page.get_by_role("combobox", name="Constraint type of left hand").select_option("equality")
    wait_until(lambda: hub.command_values("control")[-1][1][2]["constraint_type"] == "equality")
    weight = page.get_by_role("slider", name="Weight of gaze")
    assert weight.get_attribute("aria-valuetext").endswith(" 10")
    weight.fill("-1")
    wait_until(lambda: hub.command_values("control")[-1][1][0]["weight"] == pytest.approx(0.1))


def test_the_bar_sends_play_pace_reset_record_scene_robot_and_limb(page: Any, hub: FakeHub) -> None:
    page.get_by_role("button", name="Pause").click()
    wait_until(lambda: hub.command_values("play") == [False])
    hub.show_frame(2, playing=False, recording={"active": True, "seconds": 1.5, "file": "a"})
    page.get_by_role("button", name="Play", exact=True).click()
    wait_until(lambda: hub.command_values("play") == [False, True])
    page.get_by_role("button", name="Stop 1.5 s").click()
    page.get_by_role("combobox", name="Slow motion").select_option("0.25")
    page.get_by_role("button", name="Reset").click()
    page.get_by_role("tab", name="Reach").click()
    page.get_by_role("combobox", name="Robot").select_option("nao")
    page.get_by_role("combobox", name="Limb whose torques are shown").select_option("left arm")
    wait_until(lambda: hub.command_values("limb"))
    wanted = {"record": False, "time_scale": 0.25, "reset": None, "scene": "reach", "robot": "nao", "limb": "left arm"}
    assert {name: hub.command_values(name) for name in wanted} == {name: [value] for name, value in wanted.items()}


def test_controls_follow_the_simulation_but_not_while_they_are_held(page: Any, hub: FakeHub) -> None:
    slider = page.get_by_role("slider", name="step length")
    hub.show_frame(2, values={"style.step_length": 0.4, "preset": "sad", "arms": False})
    wait_until(lambda: slider.input_value() == "0.4")
    assert page.get_by_role("combobox", name="preset").input_value() == "sad"
    assert not page.get_by_role("switch", name="arms swing").is_checked()
    box = slider.bounding_box()
    page.mouse.move(box["x"] + 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    held = slider.input_value()
    hub.show_frame(3, values={"style.step_length": 0.5, "style.step_time": 1.0})
    wait_until(lambda: page.get_by_role("slider", name="step time").input_value() == "1")
    assert slider.input_value() == held != "0.4"
    page.mouse.up()
    hub.show_frame(4, values={"style.step_length": 0.5})
    hub_number = iter(range(5, 10**6))

    def follows_frames() -> bool:
        hub.show_frame(next(hub_number), values={"style.step_length": 0.5})
        return bool(slider.input_value() == "0.5")

    wait_until(follows_frames)


def test_controls_are_drawn_anew_only_when_they_are_others(page: Any, hub: FakeHub) -> None:
    page.get_by_role("slider", name="step length").evaluate("element => element.dataset.mine = 'yes'")
    hub.scene, hub.hello_version = "stand", 2
    page.locator('[role="tab"][aria-selected="true"]', has_text="Stand").wait_for()
    assert page.locator("[data-mine]").count() == 1


def test_tables_words_and_plots_show_the_frame(page: Any, hub: FakeHub) -> None:
    page.get_by_text("balanced: 2.3 cm to spare").wait_for()
    rows = page.locator("#levels tbody tr").all_inner_texts()
    assert [re.split(r"\s+", row)[0] for row in rows] == [
        "physics",
        "balance",
        "height",
        "center",
        "posture",
        "posture",
    ]
    assert "0.42 rad/s²" in rows[4].replace("\xa0", " ")
    assert page.locator("#limits").inner_text() == "left_knee_joint at its upper bound, 2.8 rad"
    for number in range(2, 30):
        hub.show_frame(number)
        page.wait_for_timeout(20)
    coloured = "canvas => canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some(v => v > 0)"
    for plot in ("balance", "forces", "torques", "times"):
        wait_until(lambda plot=plot: page.locator(f"#plot-{plot}").evaluate(coloured))  # type: ignore[misc]
    assert page.locator("#legend-forces").inner_text().startswith("left foot")
    assert "knee" in page.locator("#legend-torques").inner_text()


def test_a_fall_and_a_fallback_stand_over_the_view(page: Any, hub: FakeHub) -> None:
    hub.show_frame(2, fall_reason="the trunk touches the ground")
    page.get_by_role("alert").filter(has_text="Fell: the trunk touches the ground").wait_for()
    assert page.get_by_role("status").filter(has_text="fell").count() == 1
    hub.show_frame(3, fallback="not finite")
    page.get_by_role("alert").filter(has_text="Holding still: not finite").wait_for()
    hub.show_frame(4)
    page.get_by_role("alert").wait_for(state="hidden")


def test_numbers_that_are_missing_break_nothing(page: Any, hub: FakeHub) -> None:
    plots: dict[str, Any] = {
        "center_of_mass": [0, 0],
        "center_of_pressure": None,
        "capture_point": None,
        "support": [],
        "forces": {},
        "torques": {},
    }
    hub.show_frame(
        2,
        plots={**plots, "solver_ms": float("nan"), "control_ms": 1.0},
        levels=[],
        real_time_factor=float("nan"),
        phase="odd",
    )
    page.get_by_text("odd", exact=True).wait_for()


def test_messages_are_shown_in_a_live_region_and_kept_among_the_events(page: Any, hub: FakeHub) -> None:
    hub.post_message("error", "the simulation was restarted: it did not answer")
    message = page.get_by_role("log", name="Messages").get_by_text("it did not answer")
    message.wait_for()
    assert page.get_by_role("log").get_attribute("aria-live") == "polite"
    page.get_by_role("button", name="Dismiss: the simulation").click()
    message.wait_for(state="hidden")
    page.get_by_role("tab", name="Events").click()
    page.locator("#events").get_by_text("it did not answer").wait_for()
    assert page.locator("#events").get_by_text("3.21 s: hold: not finite").count() == 1


def choose_file(page: Any, content: bytes) -> None:
    files = [{"name": "mine.toml", "mimeType": "text/plain", "buffer": content}]
    page.get_by_label("load a style").set_input_files(files)


def test_a_file_is_uploaded(page: Any, hub: FakeHub) -> None:
    choose_file(page, b"name = 'mine'\n")
    page.get_by_role("log").get_by_text("'mine.toml' is loaded").wait_for()
    assert hub.uploads == [("load", "mine.toml", b"name = 'mine'\n")]


@pytest.mark.parametrize(("content", "said"), [(b"=" * 900_000, "too large: the limit is 2 kB"), (b"?", "is no TOML")])
def test_a_file_that_is_too_large_or_malformed_shows_why(page: Any, hub: FakeHub, content: bytes, said: str) -> None:
    choose_file(page, content)
    page.get_by_role("log").get_by_text(said).wait_for()


def test_a_save_control_and_a_file_are_downloaded(page: Any) -> None:
    for link, name, content in [
        ("save this style", "neutral style.toml", b"name = 'neutral'\n"),
        ("Download walk-g1-1.poise", "walk-g1-1.poise", b"recorded" * 1000),
    ]:
        with page.expect_download() as download:
            page.get_by_role("link", name=link).click()
        assert download.value.suggested_filename == name
        assert Path(download.value.path()).read_bytes() == content


def test_a_recording_is_exported_and_replayed(page: Any, hub: FakeHub) -> None:
    page.get_by_label("Export walk-g1-1.poise", exact=True).click()
    page.get_by_role("button", name="Export walk-g1-1.poise as BVH").click()
    wait_until(lambda: hub.command_values("export") == [{"file": "walk-g1-1.poise", "format": "bvh"}])
    page.get_by_role("button", name="Replay walk-g1-1.poise").click()
    wait_until(lambda: hub.command_values("replay") == [{"file": "walk-g1-1.poise", "time": 0}])
    hub.show_frame(2, replay={"file": "walk-g1-1.poise", "time": 2.0, "duration": 8.0})
    slider = page.get_by_role("slider", name="Time of the replay")
    wait_until(lambda: slider.input_value() == "2")
    slider.fill("5")
    wait_until(lambda: hub.command_values("replay")[-1] == {"file": "walk-g1-1.poise", "time": 5})
    page.get_by_role("button", name="Back to live").click()
    wait_until(lambda: hub.command_values("replay")[-1] is None)


def test_every_control_has_a_name_and_every_id_is_one_elements(page: Any, hub: FakeHub) -> None:
    hub.post_message("error", "something to dismiss")
    hub.show_frame(2, replay={"file": "walk-g1-1.poise", "time": 2.0, "duration": 8.0})
    page.get_by_role("slider", name="Time of the replay").wait_for()
    page.get_by_role("button", name="Dismiss").wait_for()
    for role in ROLES:
        every = page.get_by_role(role).count()
        named = page.get_by_role(role, name=re.compile(r"\S")).count()
        assert every == named, role
    assert page.get_by_role("slider").count() >= 5
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map(element => element.id)")
    assert len(ids) == len(set(ids))
    named = page.evaluate(
        """['for', 'aria-controls', 'aria-labelledby', 'aria-describedby'].flatMap((name) =>
           [...document.querySelectorAll(`[${name}]`)].map((element) => element.getAttribute(name)))"""
    )
    assert set(named) <= set(ids)
    wild = "button, input, select, textarea, a[href], summary, iframe"
    unnamed = page.evaluate(
        """(wild) => [...document.querySelectorAll(wild)].filter((element) => !element.labels?.length &&
           !(element.getAttribute('aria-label') || element.title || element.textContent.trim()))
           .map((element) => element.outerHTML)""",
        wild,
    )
    assert unnamed == []


def test_everything_is_reached_by_the_keyboard_and_the_focus_is_seen(page: Any) -> None:
    wanted = page.evaluate(
        """[...document.querySelectorAll('button, input, select, a[href], summary, .stick')].filter((element) =>
             element.tabIndex >= 0 && !element.disabled && element.checkVisibility()).map((element, number) =>
             (element.dataset.wanted = number))"""
    )
    seen, outlined = set(), True
    for _ in range(3 * len(wanted)):
        page.keyboard.press("Tab")
        number, outline = page.evaluate(
            """(() => { const element = document.activeElement;
               const shown = element.type === 'file' ? element.nextElementSibling : element;
               return [element.dataset.wanted ?? '', getComputedStyle(shown).outlineStyle]; })()"""
        )
        if number:
            seen.add(int(number))
            outlined &= outline != "none"
        if len(seen) == len(wanted):
            break
    assert seen == set(wanted)
    assert outlined


def test_a_page_says_that_the_studio_is_gone_and_finds_it_again(browser: Any, tmp_path: Path) -> None:
    with studio(tmp_path) as (_, server), open_page(browser, server) as page:
        server.stop()
        notice = page.get_by_role("log").get_by_text("The studio does not respond")
        notice.wait_for()
        assert page.get_by_role("status").filter(has_text="not connected").count() == 1
        with studio(tmp_path, server.port) as (hub, _):
            notice.wait_for(state="hidden")
            wait_until(lambda: hub.command_values("keep_alive"))
            page.get_by_role("button", name="Reset").click()
            wait_until(lambda: hub.command_values("reset") == [None])


def test_two_pages_see_the_same_and_one_that_leaves_takes_nothing_along(
    page: Any, browser: Any, hub_and_server: Any
) -> None:
    hub, server = hub_and_server
    with open_page(browser, server) as another:
        hub.show_frame(2, phase="both see this")
        page.get_by_text("both see this").wait_for()
        another.get_by_text("both see this").wait_for()
        assert hub.page_counts[-1] == 2
    wait_until(lambda: hub.page_counts[-1] == 1)
    hub.show_frame(3, phase="one is left")
    page.get_by_text("one is left").wait_for()


@pytest.mark.parametrize("width", [1024, 1440])
def test_nothing_but_panels_scrolls(browser: Any, hub_and_server: tuple[FakeHub, Server], width: int) -> None:
    with open_page(browser, hub_and_server[1], viewport={"width": width, "height": 768}) as page:
        page.get_by_text("balanced: 2.3 cm to spare").wait_for()
        size = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.scrollHeight]")
        assert size == [width, 768]
        inner = page.evaluate(
            """[...document.querySelectorAll('header, .status-panel .panel, .control-panel, .plots')].map(
               (element) => element.scrollWidth - element.clientWidth)"""
        )
        assert max(inner) <= 0
