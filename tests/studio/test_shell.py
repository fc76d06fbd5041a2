"""The page in a real browser, against a hub without a simulation."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fake_hub import CONTROLS, FakeHub
from open_studio import begin_again, find_browser, open_page, studio
from poise.studio import Server
from waiting import wait_until

pytest_plugins = ("page_fixtures",)

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
def hub_and_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[FakeHub, Server]]:
    folder = tmp_path_factory.mktemp("output")
    (folder / "walk-g1-1.poise").write_bytes(b"recorded" * 1000)
    with studio(folder) as both:
        yield both


@pytest.fixture(scope="module")
def shared_page(browser: Any, hub_and_server: tuple[FakeHub, Server]) -> Iterator[Any]:
    with open_page(browser, hub_and_server[1]) as opened:
        yield opened


@pytest.fixture
def page(shared_page: Any, hub: FakeHub) -> Iterator[Any]:
    begin_again(shared_page, hub)
    yield shared_page
    assert shared_page.errors == []


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


def test_a_choice_a_switch_and_a_button_send_their_values(page: Any, hub: FakeHub) -> None:
    page.get_by_role("combobox", name="preset").select_option("proud")
    page.get_by_role("switch", name="arms swing").uncheck()
    page.get_by_role("button", name="push", exact=True).click()
    wait_until(lambda: hub.command_values("control") == [["preset", "proud"], ["arms", False], ["push", True]])


def test_a_name_is_sent_when_it_is_complete_and_its_letters_drive_nothing(page: Any, hub: FakeHub) -> None:
    field = page.get_by_role("textbox", name="name")
    field.fill("was")
    assert hub.command_values("control") == []
    field.press("Enter")
    wait_until(lambda: hub.command_values("control") == [["style_name", "was"]])
    hub.show_frame(2, values={"style_name": "other"})
    wait_until(lambda: field.input_value() == "other")
    assert hub.command_values("stick") == []


def test_a_slider_marks_where_the_motion_ends(page: Any, hub: FakeHub) -> None:
    marks = page.locator(".control", has=page.get_by_role("slider", name="step length")).locator(".range-marks")
    marks.wait_for()
    assert marks.get_attribute("title") == "Keeps balance from 0.10 to 0.45 m (simulated)"
    gradient = marks.evaluate("element => getComputedStyle(element).backgroundImage")
    assert "16.6667%" in gradient, "0.1 of 0 to 0.6"
    assert "75%" in gradient
    assert "Keeps balance" in page.get_by_role("slider", name="step length").get_attribute("aria-description")
    assert page.locator(".range-marks:visible").count() == 1, "without a range there are no marks"
    opacity = "element => Number(getComputedStyle(element).opacity)"
    simulated_opacity = marks.evaluate(opacity)
    hub.show_frame(2, feasible_ranges={"style.step_length": [0.1, 0.45, False]})
    estimate = "Keeps balance from 0.10 to 0.45 m (first estimate, not simulated yet)"
    wait_until(lambda: marks.get_attribute("title") == estimate)
    assert marks.evaluate(opacity) < simulated_opacity, "an estimate looks different"
    hub.show_frame(3, feasible_ranges={"style.step_length": [0.2, 0.2, True]})
    wait_until(lambda: marks.get_attribute("title") == "Does not keep balance (simulated)")
    hub.show_frame(4, feasible_ranges={})
    marks.wait_for(state="hidden")


def test_new_options_appear_without_a_new_control(page: Any, hub: FakeHub) -> None:
    preset = page.get_by_role("combobox", name="preset")
    preset.evaluate("element => element.dataset.mine = 'yes'")
    first = {**hub.controls[0], "options": ["neutral", "mine"], "option_labels": ["neutral style", "my style"]}
    hub.controls = [first, *hub.controls[1:]]
    hub.hello_version += 1
    preset.locator("option", has_text="my style").wait_for(state="attached")
    assert page.locator("select[data-mine]").count() == 1
    preset.select_option("mine")
    wait_until(lambda: hub.command_values("control") == [["preset", "mine"]])


def test_fits_and_exports_show_their_progress_and_are_cancelled(page: Any, hub: FakeHub) -> None:
    export = {"name": "w.mp4", "activity": "w.mp4: exporting", "progress": 0.25, "seconds": 12.4}
    fit = {"name": "fit", "activity": "fitting the body", "progress": None, "seconds": 3.0}
    hub.show_frame(2, jobs=[export, fit])
    jobs = page.get_by_role("list", name="Fits and exports in progress")
    jobs.get_by_text("fitting the body").wait_for()
    bars = jobs.get_by_role("progressbar")
    assert bars.first.evaluate("bar => bar.value") == 0.25
    assert not bars.last.evaluate("bar => bar.hasAttribute('value')"), "its progress is unknown"
    assert "12 s" in jobs.inner_text()
    jobs.get_by_role("button", name="Cancel w.mp4").click()
    wait_until(lambda: hub.command_values("cancel_job") == ["w.mp4"])
    hub.show_frame(3)
    jobs.wait_for(state="hidden")


def test_the_time_of_steps_is_compared_with_the_period(page: Any, hub: FakeHub) -> None:
    page.get_by_text("3 of 2000 steps longer than the period, longest 7.25 ms").wait_for()
    assert page.locator("#timing-period").inner_text() == "ms, period 5 ms"
    assert page.locator("#timing-late.highlighted").count() == 0, "below 1 %"
    hub.show_frame(2, timing={"late": 21, "steps": 2000, "worst_ms": 7.25, "period_ms": 5.0})
    page.locator("#timing-late.highlighted").get_by_text("21 of 2000").wait_for()
    for width in (1024, 1280, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        caption = page.locator("figcaption:visible", has=page.locator("#timing-period"))
        assert caption.evaluate("each => each.scrollWidth - each.clientWidth") == 0
    hub.show_frame(3, timing={"late": 0, "steps": 2000, "worst_ms": 1.5, "period_ms": 5.0})
    page.get_by_text("0 of 2000 steps").wait_for()
    assert page.locator("#timing-late.highlighted").count() == 0


def test_a_browser_without_webgl_shows_a_notice_and_the_rest_of_the_page_works(
    browser: Any, hub: FakeHub, hub_and_server: Any
) -> None:
    hub.reset()
    without = "HTMLCanvasElement.prototype.getContext = ((get) => function (kind, ...more) {\n"
    without += "  return kind.startsWith('webgl') ? null : get.call(this, kind, ...more); })"
    without += "(HTMLCanvasElement.prototype.getContext);"
    with open_page(browser, hub_and_server[1], before=without) as page:
        page.get_by_role("alert").filter(has_text="it has no WebGL").wait_for()
        assert page.locator("#view").is_hidden()
        page.get_by_text("balanced: 2.3 cm to spare").wait_for()
        assert page.errors == []


SMALL_WINDOWS = ((390, 844), (844, 390), (820, 1180))


def boxes_over_the_robot(page: Any) -> list[str]:
    """Elements that lie over the middle of the view, where the robot is: a third of its width, all of its height."""
    return page.evaluate(  # type: ignore[no-any-return]
        """() => {
          const view = document.getElementById("view").getBoundingClientRect();
          const [left, right] = [view.left + view.width / 3, view.right - view.width / 3];
          const over = (box) => box.width > 0 && box.height > 0 && box.left < right && box.right > left &&
            box.top < view.bottom - 1 && box.bottom > view.top + 1;
          const boxes = "button, .stick, .message, .banner, .panel, .tabs, p, li, input, figure";
          return [...document.querySelectorAll(boxes)].filter((element) =>
            element.checkVisibility() && over(element.getBoundingClientRect()))
            .map((element) => element.id || element.className || element.textContent);
        }"""
    )


def test_small_windows_show_the_robot_and_can_drive_it(page: Any, hub: FakeHub) -> None:
    hub.post_message("error", "a message that would lie over the robot if it could " * 3)
    page.get_by_role("log").get_by_text("a message that").wait_for()
    for width, height in SMALL_WINDOWS:
        page.set_viewport_size({"width": width, "height": height})
        size = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.scrollHeight]")
        assert size == [width, height], "the page itself does not scroll"
        view = page.locator("#view").bounding_box()
        assert view["width"] >= min(380, 0.6 * width)
        assert view["height"] >= 280
        assert boxes_over_the_robot(page) == []
        assert page.get_by_role("tab", name="Reach").is_visible()
        for button in ("Pause", "Reset", "Record", "Undo", "Keys"):
            box = page.get_by_role("button", name=button, exact=True).bounding_box()
            assert 0 <= box["x"] <= width - box["width"], button
        hub.commands.clear()
        assert page.locator(".labeled-stick:visible").all_inner_texts() == ["walk", "turn"]
        stick = page.locator("#stick-move").bounding_box()
        middle = (stick["x"] + stick["width"] / 2, stick["y"] + stick["height"] / 2)
        page.mouse.move(*middle)
        page.mouse.down()
        page.mouse.move(middle[0], middle[1] - 200)
        wait_until(lambda: [1, 0, 0] in hub.command_values("stick"))
        page.mouse.up()
        wait_until(lambda: hub.command_values("stick")[-1] == [0, 0, 0])
        for panel, content in (
            ("Status", "#levels"), ("Plots", "#plot-forces"), ("Files", "#files"), ("Controls", "#controls"),
        ):  # fmt: skip
            page.locator("#panel-tabs").get_by_role("tab", name=panel).click()
            box = page.locator(content).bounding_box()
            assert box["y"] >= (view["y"] if height < 600 else view["y"] + view["height"])
    page.set_viewport_size({"width": 1440, "height": 900})
    assert not page.locator("#panel-tabs").is_visible()


def test_the_longest_state_takes_no_room_from_the_tabs(page: Any, hub: FakeHub) -> None:
    hub.show_frame(2, real_time_factor=0.15)
    page.get_by_text("slower than real time").wait_for()
    for width, height in ((390, 844), (1024, 768), (1280, 800), (1360, 800), (1440, 900)):
        page.set_viewport_size({"width": width, "height": height})
        assert page.evaluate("document.documentElement.scrollWidth") == width
        tabs = page.evaluate("[scenes.scrollWidth, scenes.clientWidth]")
        assert tabs[0] <= tabs[1], f"the tabs are cut off at {width} pixels"
        light = page.locator(".status-light").bounding_box()
        assert (light["width"], light["height"]) == (10, 10)


@pytest.mark.parametrize("size", [(390, 844), (820, 1180), (1023, 768)])
def test_the_view_keeps_its_size_when_the_state_changes(page: Any, hub: FakeHub, size: tuple[int, int]) -> None:
    page.set_viewport_size({"width": size[0], "height": size[1]})
    heights = []
    for number, (factor, label) in enumerate(((0.99, "live"), (0.15, "slower than real time"))):
        hub.show_frame(2 + number, real_time_factor=factor)
        page.locator(f"#status[title='{label}']").wait_for()
        heights.append(page.locator("#view").bounding_box()["height"])
    assert heights[0] == heights[1]


def test_messages_do_not_cover_the_robot(page: Any, hub: FakeHub) -> None:
    for number in range(4):
        hub.post_message("error", f"message {number} " + "with many words " * 6)
    page.get_by_role("log").get_by_text("message 3").wait_for()
    for width, height in ((1024, 768), (1280, 800), (1440, 900)):
        page.set_viewport_size({"width": width, "height": height})
        assert [each for each in boxes_over_the_robot(page) if each != "walk-keys"] == []


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
    page.get_by_role("button", name="Pause", exact=True).click()
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
    expected = {
        "record": False,
        "time_scale": 0.25,
        "reset": None,
        "scene": "reach",
        "robot": "nao",
        "limb": "left arm",
    }
    assert {name: hub.command_values(name) for name in expected} == {name: [value] for name, value in expected.items()}


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


def test_controls_are_redrawn_only_when_they_change(page: Any, hub: FakeHub) -> None:
    page.get_by_role("slider", name="step length").evaluate("element => element.dataset.mine = 'yes'")
    hub.scene, hub.hello_version = "stand", hub.hello_version + 1
    page.locator('[role="tab"][aria-selected="true"]', has_text="Stand").wait_for()
    assert page.locator("[data-mine]").count() == 1


def test_tables_status_texts_and_plots_show_the_frame(page: Any, hub: FakeHub) -> None:
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
    colored = "canvas => canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some(v => v > 0)"
    for plot in ("balance", "forces", "torques", "times"):
        wait_until(lambda plot=plot: page.locator(f"#plot-{plot}").evaluate(colored))  # type: ignore[misc]
    assert page.locator("#legend-forces").inner_text().startswith("left foot")
    assert "knee" in page.locator("#legend-torques").inner_text()


def test_mixed_units_and_long_names_leave_all_columns_of_the_table_visible(page: Any, hub: FakeHub) -> None:
    tasks = [{"name": "height_of_the_center_of_mass_above_left_sole", "error": 1.23e-4, "unit": "m, rad"}]
    level = {"name": "style", "slack": 6.08, "unit": "m/s², rad/s², kg m²/s², N m", "saturated": 3, "tasks": tasks}
    hub.show_frame(2, levels=[level])
    row = page.locator("#levels tbody tr.level", has_text="style")
    row.wait_for()
    for width in (1024, 1279, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("levels.parentElement.scrollWidth - levels.parentElement.clientWidth") == 0
    assert row.locator("td").nth(2).inner_text() == "6.08"
    assert row.locator("td").nth(2).get_attribute("title") == "over rows in m/s², rad/s², kg m²/s², N m"
    assert page.locator("#levels tr.task td").first.inner_text() == "height of the center of mass above left sole"


def test_a_scene_that_is_being_loaded_shows_nothing_of_the_one_before(page: Any, hub: FakeHub) -> None:
    hub.show_frame(2, replay={"file": "walk.poise", "time": 0.1, "duration": 4.0, "loop": True, "uses_controls": False})
    page.get_by_role("group", name="Replay").wait_for()
    hub.current_frame = None
    hub.controls, hub.scene, hub.hello_version = [], "reach", hub.hello_version + 1
    page.locator("#status[title='loading']").wait_for()
    assert page.locator("#status-lines").inner_text() == ""
    assert page.locator("#levels tbody tr").count() == 0
    assert page.locator("#limits").inner_text() == page.locator("#explanation").inner_text() == ""
    assert not page.get_by_role("group", name="Replay").is_visible()
    assert page.locator("#phase").inner_text() == ""
    colored = "canvas => canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some(v => v > 0)"
    assert not any(page.locator(f"#plot-{plot}").evaluate(colored) for plot in ("balance", "forces", "times"))
    hub.controls, hub.hello_version = CONTROLS, hub.hello_version + 1
    hub.show_frame(3)
    page.get_by_text("balanced: 2.3 cm to spare").wait_for()


def test_a_control_without_effect_is_greyed_out_and_cannot_be_used(page: Any, hub: FakeHub) -> None:
    arms = page.locator(".control", has_text="arms swing")
    arms.evaluate("element => element.dataset.mine = 'yes'")
    hub.controls = [{**each, "enabled": each["name"] != "arms"} for each in CONTROLS]
    hub.hello_version += 1
    page.locator(".control.disabled", has_text="arms swing").wait_for()
    assert arms.evaluate("element => element.inert")
    assert page.locator(".control.disabled").count() == 1
    hub.controls, hub.hello_version = CONTROLS, hub.hello_version + 1
    wait_until(lambda: not arms.evaluate("element => element.inert"))
    assert arms.evaluate("element => element.dataset.mine") == "yes", "it is not drawn anew"


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


def test_messages_are_shown_in_a_live_region_and_listed_among_the_events(page: Any, hub: FakeHub) -> None:
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


@pytest.mark.parametrize(
    ("content", "expected"), [(b"=" * 900_000, "too large: the limit is 2 kB"), (b"?", "is no TOML")]
)
def test_a_file_that_is_too_large_or_malformed_shows_why(
    page: Any, hub: FakeHub, content: bytes, expected: str
) -> None:
    choose_file(page, content)
    page.get_by_role("log").get_by_text(expected).wait_for()


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
    replay = {"file": "walk-g1-1.poise", "time": 2.0, "duration": 8.0, "loop": True, "uses_controls": False}
    hub.show_frame(2, replay=replay)
    slider = page.get_by_role("slider", name="Time of the replay")
    wait_until(lambda: slider.input_value() == "2")
    slider.fill("5")
    wait_until(lambda: hub.command_values("replay")[-1] == {"file": "walk-g1-1.poise", "time": 5})
    page.get_by_role("button", name="Pause replay").click()
    page.get_by_role("button", name="Loop").click()
    page.get_by_role("combobox", name="Speed of the replay").select_option("4")
    wait_until(lambda: hub.command_values("replay_speed") == [4])
    assert (hub.command_values("play"), hub.command_values("loop")) == ([False], [False])
    assert page.locator(".control-panel").evaluate("panel => panel.inert"), "the controls are those of the live robot"
    assert page.get_by_role("combobox", name="Slow motion").count() == 0
    page.get_by_role("button", name="Back to live").click()
    wait_until(lambda: hub.command_values("replay")[-1] is None)


def test_every_control_has_a_name_and_every_id_is_one_elements(page: Any, hub: FakeHub) -> None:
    hub.post_message("error", "something to dismiss")
    replay = {"file": "walk-g1-1.poise", "time": 2.0, "duration": 8.0, "loop": True, "uses_controls": True}
    hub.show_frame(2, replay=replay)
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


def test_every_control_is_reached_by_the_keyboard_and_the_focus_is_visible(page: Any) -> None:
    focusable = page.evaluate(
        """[...document.querySelectorAll('button, input, select, a[href], summary, .stick')].filter((element) =>
             element.tabIndex >= 0 && !element.disabled && element.checkVisibility()).map((element, number) =>
             (element.dataset.focusNumber = number))"""
    )
    focused, outlined = set(), True
    for _ in range(3 * len(focusable)):
        page.keyboard.press("Tab")
        number, outline = page.evaluate(
            """(() => { const element = document.activeElement;
               const shown = element.type === 'file' ? element.nextElementSibling : element;
               return [element.dataset.focusNumber ?? '', getComputedStyle(shown).outlineStyle]; })()"""
        )
        if number:
            focused.add(int(number))
            outlined &= outline != "none"
        if len(focused) == len(focusable):
            break
    assert focused == set(focusable)
    assert outlined


def test_a_page_reports_a_lost_connection_and_reconnects(browser: Any, tmp_path: Path) -> None:
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


def test_two_pages_show_the_same_and_closing_one_does_not_change_the_other(
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


def test_nothing_but_panels_scrolls(page: Any) -> None:
    page.get_by_text("balanced: 2.3 cm to spare").wait_for()
    for width in (1024, 1440):
        page.set_viewport_size({"width": width, "height": 768})
        size = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.scrollHeight]")
        assert size == [width, 768]
        inner = page.evaluate(
            """[...document.querySelectorAll('header, .status-panel .panel, .control-panel, .plots')].map(
               (element) => element.scrollWidth - element.clientWidth)"""
        )
        assert max(inner) <= 0
