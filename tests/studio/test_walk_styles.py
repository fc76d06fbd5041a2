"""Styles in the scene Walk: their names, blends, balance check and files."""

from __future__ import annotations

from typing import Any

import pytest

from poise.plans import PARAMETERS, STYLES, BodyDimensions, Style, check_walk
from poise.studio.scene_base import terrain_name
from poise.studio.scene_runner import SceneRunner
from poise.studio.scenes.walk import WalkScene
from poise.studio.style_check_worker import RangeReply, StyleReply, StyleRequest, replies
from robot_states import installed_robot
from waiting import wait_until

pytestmark = pytest.mark.needs_models


class InstantChecker:
    """Checks styles at once, in this process."""

    def __init__(self) -> None:
        self.arrived: list[StyleReply | RangeReply] = []
        self.requests: list[StyleRequest] = []
        self.running = self.available = True
        self.with_ranges = False

    def request(self, style: Style, body: BodyDimensions, com_reference: str, repair: bool) -> int:
        request = StyleRequest(len(self.requests) + 1, style, body, com_reference, repair)
        self.requests.append(request)
        answers = replies(request)
        self.arrived += list(answers) if self.with_ranges else [next(answers)]
        return request.number

    def replies(self) -> list[StyleReply | RangeReply]:
        arrived, self.arrived = self.arrived, []
        return arrived


@pytest.fixture(scope="module")
def built_scene() -> WalkScene:
    scene = WalkScene(installed_robot("g1"))
    SceneRunner(scene)
    return scene


@pytest.fixture
def scene(built_scene: WalkScene) -> Any:
    """The scene with its first style, and a checker without a process."""
    built_scene.checker = InstantChecker()  # type: ignore[assignment]
    built_scene.own_styles.clear()
    built_scene.keep_balance = True
    built_scene.set_control("blend_style", "nothing")
    built_scene.set_control("preset", "neutral")
    built_scene.before_frame()
    return built_scene


#: Single-support time (s) so short that the ZMP leaves the soles of G1.
TOO_SHORT = 0.25


def test_a_blend_shows_both_styles_and_the_share(scene: WalkScene) -> None:
    scene.set_control("preset", "proud")
    scene.set_control("blend_style", "sad")
    scene.set_control("blend_share", 0.4)
    shown = scene.values()
    assert (shown["preset"], shown["blend_style"], shown["blend_share"]) == ("proud", "sad", 0.4)
    assert "style: 60 % proud (A), 40 % sad (B)" in scene.status_lines()
    expected = 0.6 * STYLES["proud"].chest_pitch + 0.4 * STYLES["sad"].chest_pitch
    assert shown["style.chest_pitch"] == pytest.approx(expected)


def test_an_own_style_keeps_its_name_and_can_be_chosen_again(scene: WalkScene) -> None:
    text = STYLES["proud"].replace(name="my walk", arm_lift=0.2).to_toml()
    message = scene.set_control("file", WalkScene.parse_upload("file", "any.toml", text.encode()))
    assert message == "", "the page says already that the file is loaded"
    assert scene.values()["preset"] == scene.values()["style_name"] == "my walk"
    scene.set_control("style.chest_pitch", 0.1)
    assert scene.values()["style_name"] == "my walk", "a change of an own style keeps its name"
    assert scene.controls_changed
    scene.set_control("preset", "sad")
    options = {control.name: control.as_json().get("options", ()) for control in scene.controls()}
    assert "my walk" in options["preset"]
    assert "my walk" in options["blend_style"]
    scene.set_control("preset", "my walk")
    assert (scene.style.arm_lift, scene.style.chest_pitch) == (0.2, 0.1)


def test_a_changed_preset_gets_a_name_of_its_own_and_can_be_renamed(scene: WalkScene) -> None:
    scene.set_control("style.chest_pitch", 0.1)
    assert scene.style.name == "neutral 2"
    assert STYLES["neutral"].chest_pitch == 0.0
    scene.set_control("style_name", "  bent\n walk ")
    assert scene.values()["preset"] == "bent  walk"
    assert list(scene.own_styles) == ["bent  walk"]
    message = scene.set_control("style_name", "proud")  # that of a preset
    assert message == "'proud' is taken: this style is now 'proud 2'"
    assert list(scene.own_styles) == ["proud 2"]


def test_a_saved_style_is_loaded_as_it_was(scene: WalkScene) -> None:
    joint = scene.robot.joints[-1].name
    style = STYLES["proud"].replace(name="with rest", rest_posture={joint: 0.25}, chest_pitch=0.11)
    scene.set_control("file", WalkScene.parse_upload("file", "x.toml", style.to_toml().encode()))
    name, text = WalkScene.file_to_save("save", scene.values())
    assert name == "with rest.toml"
    assert Style.from_toml(text.encode(), name) == style


def test_what_is_saved_of_the_scene_brings_styles_and_blend_back(scene: WalkScene) -> None:
    scene.set_control("style.chest_pitch", 0.1)
    scene.set_control("blend_style", "sad")
    scene.set_control("blend_share", 0.3)
    saved, style = scene.saved_state(), scene.style
    other = WalkScene(scene.robot)
    other.checker = InstantChecker()  # type: ignore[assignment]
    other.restore(saved)
    assert other.saved_state() == saved
    assert other.style == style


def test_keep_balance_repairs_a_style_before_the_robot_walks_with_it_and_says_so(scene: WalkScene) -> None:
    assert scene.walk is not None
    body = scene.walk.body
    scene.set_control("style.single_support", TOO_SHORT)
    assert scene.values()["style.single_support"] == TOO_SHORT, "the slider is where it was dragged"
    assert not check_walk(scene.style, body).feasible
    assert scene.walk.style.single_support == STYLES["neutral"].single_support
    (message,) = scene.before_frame()
    assert message.startswith("repaired: ")
    assert any(line.startswith("Changed to keep balance: ") for line in scene.status_lines())
    assert scene.walk.style == scene.style
    assert check_walk(scene.style, body).feasible
    assert scene.style.name == "neutral 2"


def test_without_keep_balance_every_style_is_walked(scene: WalkScene) -> None:
    assert scene.walk is not None
    scene.set_control("keep_balance", False)
    scene.set_control("style.single_support", TOO_SHORT)
    assert scene.walk.style.single_support == TOO_SHORT
    assert scene.before_frame() == []
    scene.set_control("repair", True)
    assert scene.before_frame()[0].startswith("repaired: ")
    scene.set_control("repair", True)
    assert scene.before_frame() == ["nothing to repair"]


def test_what_does_not_matter_for_balance_is_applied_at_once_and_not_checked(scene: Any) -> None:
    count = len(scene.checker.requests)
    scene.set_control("style.chest_pitch", 0.2)
    assert scene.walk.style.chest_pitch == 0.2
    assert len(scene.checker.requests) == count


def test_a_worker_that_fails_leaves_the_sliders_in_charge(scene: Any) -> None:
    scene.checker.running = scene.checker.available = False
    scene.checker.request = lambda *_, **__: 0
    scene.set_control("style.single_support", TOO_SHORT)
    scene.before_frame()
    assert scene.walk.style.single_support == TOO_SHORT


def test_marks_of_a_slider_are_where_walking_ends(scene: Any) -> None:
    body, style = scene.walk.body, STYLES["neutral"]
    request = StyleRequest(1, style, body, "dcm", repair=False)
    ranges = {reply.parameter: reply for reply in replies(request) if isinstance(reply, RangeReply)}
    assert set(ranges) >= {"step_length", "lateral_step", "single_support", "double_support"}
    assert "sway" not in ranges, "of the sinusoid reference only"
    marked = 0
    for name in ("lateral_step", "single_support"):
        low, high, declared = ranges[name].low, ranges[name].high, PARAMETERS[name]
        beyond = (declared.high - declared.low) / 100.0
        for inside, outside in ((low, low - beyond), (high, high + beyond)):
            assert check_walk(style.replace(**{name: inside}), body).feasible
            if declared.low < inside < declared.high:
                marked += 1
                assert not check_walk(style.replace(**{name: outside}), body).feasible
    assert marked == 1, "short steps"
    assert ranges["step_turn"][2:] == (PARAMETERS["step_turn"].low, PARAMETERS["step_turn"].high)


def test_the_worker_process_checks_repairs_and_finds_ranges() -> None:
    scene = WalkScene(installed_robot("g1"))
    SceneRunner(scene)
    try:
        assert scene.walk is not None
        scene.set_control("style.single_support", TOO_SHORT)
        messages: list[str] = []
        wait_until(lambda: messages.extend(scene.before_frame()) or messages, "the repair")  # type: ignore[func-returns-value]
        assert check_walk(scene.walk.style, scene.walk.body).feasible
        ranges = scene.feasible_ranges()
        wait_until(lambda: scene.before_frame() or "style.step_length" in ranges, "a range", lambda: len(ranges))
        low, high = ranges["style.step_length"]
        assert low < scene.style.step_length <= high  # a repair ends at the boundary
    finally:
        scene.checker.close()


def test_grounds_have_names(scene: WalkScene) -> None:
    (terrain,) = (control.as_json() for control in scene.controls() if control.name == "terrain")
    assert len(terrain["option_labels"]) == len(terrain["options"])
    assert dict(zip(terrain["options"], terrain["option_labels"], strict=True))["flat"] == "flat floor"
    assert terrain_name("slope:-5") == "slope, 5° down"
    assert terrain_name("stairs:0.05,0.3,4") == "stairs, 4 steps of 5 cm up"
