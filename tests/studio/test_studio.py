"""The studio in a real browser with the real simulation; its view is tested in test_studio_view.py."""

from __future__ import annotations

import math
import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio
import pytest

import poise
from open_studio import open_page
from poise.studio import Hub, Server
from poise.studio.scenes import all_scenes
from robot_states import not_none
from waiting import wait_until

pytest_plugins = ("page_fixtures",)

pytestmark = [
    pytest.mark.needs_models,
    pytest.mark.timeout(600),
]

#: A gamepad with the axes `window.held`.
PAD = """
    window.held = [0, 0, 0, 0];
    navigator.getGamepads = () => window.held && [{
        id: "pad of a test", index: 0, connected: true, mapping: "standard", axes: window.held, buttons: [],
        timestamp: 0,
    }];
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("output")


@pytest.fixture(scope="module")
def hub(folder: Path) -> Iterator[Hub]:
    hub = Hub("g1", folder)
    hub.start()
    wait_until(hub.frame)
    yield hub
    hub.stop()


@pytest.fixture(scope="module")
def server(hub: Hub) -> Iterator[Server]:
    server = Server(hub, "127.0.0.1", 0)
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def shared_page(browser: Any, server: Server) -> Iterator[Any]:
    with open_page(browser, server, before=PAD) as page:
        yield page


@pytest.fixture
def page(shared_page: Any, hub: Hub) -> Iterator[Any]:
    """The shell with a standing robot in the scene Walk, without input."""
    shared_page.evaluate("held = [0, 0, 0, 0]; document.querySelectorAll('.message').forEach((each) => each.remove())")
    open_scene(shared_page, hub, "Walk")
    yield shared_page
    assert shared_page.errors == []


def open_scene(page: Any, hub: Hub, title: str) -> None:
    """Open a scene and reset it."""
    name = next(each.name for each in all_scenes() if each.title == title)
    if hub.hello()["scene"] != name:
        page.get_by_role("tab", name=title).click()
        wait_until(lambda: hub.hello()["scene"] == name and hub.hello()["controls"])
    for control, value in (("walking", False), ("squatting", False), ("preset", "neutral")):
        hub.handle_command("control", [control, value])
    hub.handle_command("play", False)  # otherwise a busy page returns from its click long after the start
    page.get_by_role("button", name="Play", exact=True).wait_for()  # the bar has its final layout: no click misses
    page.get_by_role("button", name="Reset").click()
    wait_until(lambda: (hub.frame() or {"time": 9.0})["time"] < 0.1)
    hub.handle_command("play", True)
    wait_until(lambda: current_frame(hub)["playing"])


def current_frame(hub: Hub) -> dict[str, Any]:
    return wait_until(hub.frame)


def pitch(hub: Hub) -> float:
    """Forward pitch of the chest, in degrees."""
    robot = hub._load_robot(hub.hello()["robot"])
    assert robot.chest is not None
    view_frame = hub._latest_view
    assert view_frame is not None
    w, x, y, z = view_frame.poses["robot"][robot.chest.joint, 3:]
    return math.degrees(math.asin(max(-1.0, min(1.0, 2.0 * (w * y - x * z)))))


def test_a_slider_changes_the_walk(page: Any, hub: Hub) -> None:
    """Twice as high steps: the feet that swing are twice as high, more or less."""
    page.get_by_role("switch", name="walk").click()
    heights = {}
    for value in ("0.05", "0.12"):
        page.get_by_label("step height as a number").fill(value)
        page.get_by_label("step height as a number").press("Enter")
        wait_until(lambda value=value: current_frame(hub)["values"]["style.step_height"] == float(value))  # type: ignore[misc]
        heights[value] = _highest_step(hub, since=current_frame(hub)["time"] + 1.0)
    assert heights["0.12"] > heights["0.05"] + 0.02
    assert not current_frame(hub)["fall_reason"]


def _highest_step(hub: Hub, since: float, seconds: float = 2.0) -> float:
    robot = hub._load_robot("g1")
    highest = 0.0
    wait_until(lambda: current_frame(hub)["time"] > since)

    def looked() -> bool:
        nonlocal highest
        view_frame = hub._latest_view
        assert view_frame is not None
        ankles = [view_frame.poses["robot"][foot.joint, 2] for foot in robot.feet]
        highest = max(highest, max(ankles) - min(ankles))
        return current_frame(hub)["time"] > since + seconds

    wait_until(looked)
    return highest


@pytest.mark.slow  # page and scene have their own tests
def test_choosing_proud_leans_the_chest_back(page: Any, hub: Hub) -> None:
    page.get_by_role("switch", name="walk").click()
    upright = wait_until(lambda: current_frame(hub)["time"] > 1.0 and pitch(hub))
    page.get_by_label("style", exact=True).select_option("proud")
    wait_until(lambda: pitch(hub) < upright - 7.0)
    wait_until(lambda: float(page.get_by_label("chest pitch", exact=True).input_value()) < 0.0)  # the slider follows


@pytest.mark.slow  # page and scene have their own tests
def test_a_gamepad_walks_the_robot_and_unplugging_it_stops_the_walk(page: Any, hub: Hub) -> None:
    page.evaluate("held = [0, -1, 0, 0]")
    wait_until(lambda: current_frame(hub)["phase"].endswith(" support"))
    begin = not_none(hub._latest_view.camera_target)[0]  # type: ignore[union-attr]
    wait_until(lambda: not_none(hub._latest_view.camera_target)[0] > begin + 0.3)  # type: ignore[union-attr]
    page.evaluate("held = null")  # unplugged
    wait_until(lambda: current_frame(hub)["phase"] == "standing")
    assert not current_frame(hub)["fall_reason"]


def test_a_page_that_freezes_leaves_no_robot_walking(page: Any, hub: Hub) -> None:
    """The script of the page waits, without using the processor."""
    page.evaluate("held = [0, -1, 0, 0]")
    wait_until(lambda: current_frame(hub)["phase"].endswith(" support"))
    debugger = page.context.new_cdp_session(page)
    debugger.send("Debugger.enable")
    debugger.send("Debugger.pause")
    try:
        wait_until(lambda: current_frame(hub)["input_timed_out"])
        wait_until(lambda: current_frame(hub)["phase"] == "standing")
    finally:
        debugger.send("Debugger.resume")
        debugger.detach()


def test_the_browser_closing_leaves_no_robot_walking(page: Any, hub: Hub) -> None:
    page.get_by_role("switch", name="walk").click()
    wait_until(lambda: current_frame(hub)["phase"].endswith(" support"))
    page.goto("about:blank")
    wait_until(lambda: current_frame(hub)["phase"] == "standing")
    assert current_frame(hub)["values"]["walking"] is False
    page.goto(page.address)
    page.get_by_role("tab", name="Walk").wait_for()


def test_the_push_button_pushes(page: Any, hub: Hub) -> None:
    open_scene(page, hub, "Stand & squat")
    page.get_by_label("direction as a number").fill("90")
    page.get_by_label("direction as a number").press("Enter")
    wait_until(lambda: current_frame(hub)["values"]["push.direction"] == 90.0)
    rested = current_frame(hub)["plots"]["center_of_mass"][1]
    page.get_by_role("button", name="push", exact=True).click()
    wait_until(lambda: current_frame(hub)["plots"]["center_of_mass"][1] > rested + 0.008)
    page.get_by_text("pushed with").first.wait_for()


@pytest.mark.slow  # page and scene have their own tests
def test_a_dragged_target_is_reached(browser: Any, server: Server, hub: Hub) -> None:
    """After a drag in the view (tested with a mouse elsewhere), the simulation moves the hand to the target."""
    with open_page(browser, server) as page:
        open_scene(page, hub, "Reach")
        robot = hub._load_robot("g1")
        before = np.array(hub._latest_view.drag_handles["right hand"])  # type: ignore[union-attr]
        hub._on_drag("right hand", tuple(before + np.array([0.1, -0.05, 0.2])))

        def hand_reached_target() -> bool:
            view_frame = hub._latest_view
            assert view_frame is not None
            target = np.array(view_frame.drag_handles["right hand"])
            hand = robot.hand("right")
            joint = view_frame.poses["robot"][hand.joint]
            w, x, y, z = joint[3:]
            place = pinocchio.SE3(pinocchio.Quaternion(w, x, y, z).matrix(), joint[:3])
            local = robot.model.frames[hand.index].placement
            return bool(
                np.linalg.norm(target - before) > 0.1 and np.linalg.norm((place * local).translation - target) < 0.01
            )

        wait_until(hand_reached_target)


@pytest.mark.slow  # page and scene have their own tests
def test_tasks_are_reordered_and_become_boxes(page: Any, hub: Hub) -> None:
    open_scene(page, hub, "Reach")
    names = [item["name"] for item in current_frame(hub)["values"]["task_order"]]
    page.get_by_role("button", name=f"Move {names[1]} down").click()
    wait_until(
        lambda: [item["name"] for item in current_frame(hub)["values"]["task_order"]][1:3] == [names[2], names[1]]
    )

    def tasks_are_ordered() -> bool:
        levels = [level["name"] for level in current_frame(hub)["levels"]]
        return {names[1], names[2]} <= set(levels) and levels.index(names[2]) < levels.index(names[1])

    wait_until(tasks_are_ordered)
    page.locator(f'[data-item="{names[1]}"] select').select_option("box")
    wait_until(
        lambda: (
            [item["constraint_type"] for item in current_frame(hub)["values"]["task_order"] if item["name"] == names[1]]
            == ["box"]
        )
    )
    assert not current_frame(hub)["fall_reason"]


def test_a_style_is_saved_and_loaded_and_an_invalid_one_is_refused(page: Any, hub: Hub, tmp_path: Path) -> None:
    page.get_by_label("style", exact=True).select_option("sad")
    wait_until(lambda: current_frame(hub)["values"]["preset"] == "sad")
    with page.expect_download() as waited:
        page.get_by_role("link", name="save this style").click()
    saved = tmp_path / "mine.toml"
    waited.value.save_as(saved)
    text = saved.read_text()
    assert poise.plans.Style.load(saved).step_length == poise.plans.STYLES["sad"].step_length

    saved.write_text(text.replace('name = "sad"', 'name = "mine"').replace("step_height = 0.03", "step_height = 0.1"))
    page.get_by_label("load a style").set_input_files(saved)
    wait_until(lambda: current_frame(hub)["values"]["style.step_height"] == 0.1)

    bad = tmp_path / "bad.toml"
    bad.write_text("step_height = = 3")
    page.get_by_label("load a style").set_input_files(bad)
    page.get_by_text("is not a TOML file").first.wait_for()
    bad.write_text("step_height = 33.0")
    page.get_by_label("load a style").set_input_files(bad)
    page.get_by_text("step_height is 33.0; expected").first.wait_for()
    large = tmp_path / "large.toml"
    large.write_text("#" * 300_000)
    page.get_by_label("load a style").set_input_files(large)
    page.get_by_text("too large").first.wait_for()
    assert current_frame(hub)["values"]["style.step_height"] == 0.1, "nothing was lost"
    assert page.get_by_label("style", exact=True).input_value() == "mine", "a custom style keeps its name"


def test_a_recording_is_downloaded_replayed_and_exported(page: Any, hub: Hub, tmp_path: Path) -> None:
    page.get_by_role("switch", name="walk").click()
    page.get_by_role("button", name="Record").click()
    wait_until(lambda: current_frame(hub)["recording"]["seconds"] > 1.5)
    name = current_frame(hub)["recording"]["file"]
    page.get_by_role("button", name="Record").or_(page.get_by_role("button", name="Stop")).first.click()
    wait_until(
        lambda: (
            any(file["name"] == name for file in hub.hello()["files"]) and not current_frame(hub)["recording"]["active"]
        )
    )
    with page.expect_download() as waited:
        page.get_by_role("link", name=f"Download {name}").click()
    waited.value.save_as(tmp_path / name)
    recording = poise.load_recording(tmp_path / name)
    assert recording.duration > 1.0
    assert recording.provenance["robot"] == "g1"

    page.get_by_role("button", name=f"Replay {name}").click()
    slider = page.get_by_label("Time of the replay in seconds")
    slider.wait_for()
    wait_until(lambda: current_frame(hub)["replay"]["time"] > 0.1)  # it plays at once
    assert page.locator("#stick-move").is_hidden(), "a replay cannot be driven"
    page.get_by_role("button", name="Pause replay").click()
    wait_until(lambda: not current_frame(hub)["playing"])
    slider.fill("0.5")
    wait_until(
        lambda: current_frame(hub)["replay"]["file"] == name and abs(current_frame(hub)["replay"]["time"] - 0.5) < 0.02
    )
    at = int(np.searchsorted(recording.time - recording.time[0], 0.5))
    forces = {foot: recording[f"measured/force/{foot}"][at, 2] for foot in ("left_sole", "right_sole")}
    shown = current_frame(hub)["plots"]["forces"]
    assert {foot: shown[foot] for foot in forces} == pytest.approx(forces, abs=0.06)
    page.get_by_label("Speed of the replay").select_option("0.5")
    page.get_by_role("button", name="Loop").click()
    wait_until(lambda: current_frame(hub)["time_scale"] == 0.5 and not current_frame(hub)["replay"]["loop"])
    state = recording.state(int(np.searchsorted(recording.time - recording.time[0], 0.5)), hub._load_robot("g1"))
    wait_until(lambda: np.allclose(not_none(hub._current_view()).poses["robot"][1, :3], state.q[:3], atol=1e-6))
    page.get_by_role("button", name="Back to live").click()
    wait_until(lambda: current_frame(hub)["replay"]["file"] == "")
    page.locator("#stick-move").wait_for()

    page.get_by_label(f"Export {name}", exact=True).click()
    page.get_by_role("button", name=f"Export {name} as BVH").click()
    page.get_by_role("button", name=re.compile("Cancel .*bvh")).wait_for()
    wait_until(lambda: any(file["name"].endswith(".bvh") for file in hub.hello()["files"]))


def test_a_crash_is_reported_and_the_recording_is_preserved(page: Any, hub: Hub, folder: Path) -> None:
    page.get_by_label("style", exact=True).select_option("cautious")
    wait_until(lambda: current_frame(hub)["values"]["preset"] == "cautious")
    page.get_by_role("button", name="Record").click()
    wait_until(lambda: current_frame(hub)["recording"]["seconds"] > 0.6)
    name, number = current_frame(hub)["recording"]["file"], hub._simulation.pid
    assert number is not None
    os.kill(number, signal.SIGKILL)
    page.get_by_text("the simulation process ended").first.wait_for()
    wait_until(
        lambda: hub._simulation.pid != number and current_frame(hub)["time"] < 3.0 and current_frame(hub)["playing"]
    )
    wait_until(lambda: current_frame(hub)["values"]["preset"] == "cautious")
    assert poise.load_recording(folder / name).samples > 100


@pytest.mark.slow  # page and scene have their own tests
def test_two_pages_show_the_same_and_either_drives(browser: Any, page: Any, server: Server, hub: Hub) -> None:
    with open_page(browser, server) as other:
        other.get_by_label("style", exact=True).select_option("proud")
        wait_until(lambda: page.get_by_label("style", exact=True).input_value() == "proud")
        page.get_by_role("button", name="Pause", exact=True).click()
        other.get_by_role("button", name="Play", exact=True).wait_for()
        stopped = current_frame(hub)["time"]
        page.get_by_role("button", name="Play", exact=True).click()
        wait_until(lambda: current_frame(hub)["time"] > stopped + 0.2)


def test_another_robot_can_be_chosen(page: Any, hub: Hub) -> None:
    page.get_by_label("Robot").select_option("nao")
    wait_until(lambda: hub.hello()["robot"] == "nao" and "left leg" in hub.hello()["limbs"])
    wait_until(lambda: current_frame(hub)["time"] > 0.5 and current_frame(hub)["plots"]["support"])
    assert not current_frame(hub)["fall_reason"]
    page.get_by_label("Robot").select_option("g1")
    wait_until(lambda: hub.hello()["robot"] == "g1" and hub.hello()["controls"])
