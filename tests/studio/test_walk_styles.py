"""Styles in the scene Walk: their names, blends, balance check and files."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from poise import runs
from poise.plans import PARAMETERS, STYLES, BodyDimensions, FeasibilityCheck, Style, StyleRepair, check_walk
from poise.studio.balanced_walk_scene import SEARCHING
from poise.studio.scene_base import terrain_name
from poise.studio.scene_runner import SceneRunner
from poise.studio.scenes.walk import WalkScene
from poise.studio.style_checker import RANGE_BISECTIONS, RangeReply, SimulatedCheck, StyleReply, StyleRequest, replies
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


class InstantSimulation:
    """Applies a function to walks at once, in this process; None: the answer is not known yet."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function, self.requests = function, list[Any]()

    def request(self, motion: runs.Walk) -> bool:
        self.requests.append(motion)
        return True

    def answer(self) -> Any:
        return self.function(self.requests[-1])


def status(scene: WalkScene) -> list[str]:
    """Status lines after another update of the simulated check, whatever the time."""
    scene._last_check = -math.inf
    return scene.status_lines()


@pytest.fixture(scope="module")
def built_scene() -> WalkScene:
    scene = WalkScene(installed_robot("g1"))
    SceneRunner(scene)
    return scene


@pytest.fixture
def scene(built_scene: WalkScene) -> Any:
    """The scene with its first style, and a checker without a process."""
    built_scene.checker = InstantChecker()  # type: ignore[assignment]
    built_scene.simulated_check = SimulatedCheck()
    built_scene.simulated_check.checker = InstantSimulation(lambda _: None)  # type: ignore[assignment]
    built_scene._passed_style = None
    built_scene._cancel_simulated_repair()
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


def test_a_custom_style_keeps_its_name_and_can_be_chosen_again(scene: WalkScene) -> None:
    text = STYLES["proud"].replace(name="my walk", arm_lift=0.2).to_toml()
    message = scene.set_control("file", WalkScene.parse_upload("file", "any.toml", text.encode()))
    assert message == "", "the page already shows that the file is loaded"
    assert scene.values()["preset"] == scene.values()["style_name"] == "my walk"
    scene.set_control("style.chest_pitch", 0.1)
    assert scene.values()["style_name"] == "my walk", "a change of a custom style keeps its name"
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


def test_the_saved_state_of_the_scene_restores_styles_and_blend(scene: WalkScene) -> None:
    scene.set_control("style.chest_pitch", 0.1)
    scene.set_control("blend_style", "sad")
    scene.set_control("blend_share", 0.3)
    saved, style = scene.saved_state(), scene.style
    other = WalkScene(scene.robot)
    other.checker = InstantChecker()  # type: ignore[assignment]
    other.restore(saved)
    assert other.saved_state() == saved
    assert other.style == style


def test_keep_balance_repairs_a_style_before_the_robot_walks_and_reports_it(scene: WalkScene) -> None:
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


def test_parameters_that_do_not_affect_balance_are_applied_at_once_without_a_check(scene: Any) -> None:
    count = len(scene.checker.requests)
    scene.set_control("style.chest_pitch", 0.2)
    assert scene.walk.style.chest_pitch == 0.2
    assert len(scene.checker.requests) == count


def test_after_a_failed_worker_the_sliders_apply_directly(scene: Any) -> None:
    scene.checker.running = scene.checker.available = False
    scene.checker.request = lambda *_, **__: 0
    scene.set_control("style.single_support", TOO_SHORT)
    scene.before_frame()
    assert scene.walk.style.single_support == TOO_SHORT


def test_slider_marks_are_at_the_limits_of_feasible_walking(scene: Any) -> None:
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


def simulate_narrow_steps(walk: runs.Walk) -> FeasibilityCheck:
    """Simulation in which large steps to the side fall, although the pendulum passes them."""
    walks = abs(walk.resolved_style().lateral_step) <= 0.09
    return FeasibilityCheck(0.05 if walks else -0.1, 2.0, "walks" if walks else "falls after 3 steps", True)


def test_marks_that_the_pendulum_sets_too_wide_are_narrowed_by_simulation(scene: Any) -> None:
    scene.checker.with_ranges = True
    scene.simulated_check.checker = InstantSimulation(simulate_narrow_steps)
    scene.set_control("keep_balance", False)
    scene.set_control("style.lateral_step", 0.02)
    scene.before_frame()
    first = scene.feasible_ranges()["style.lateral_step"]
    assert not first.simulated
    assert first.high > 0.1, "else this test sees nothing"
    status(scene), status(scene), status(scene)
    marks = scene.feasible_ranges()["style.lateral_step"]
    assert marks.simulated
    resolution = (first.high - 0.02) / 2**RANGE_BISECTIONS
    assert 0.09 - resolution <= marks.high <= 0.09
    assert -0.09 <= marks.low < 0.0


def test_a_style_that_falls_in_simulation_is_not_marked_as_balanced(scene: Any) -> None:
    scene.checker.with_ranges = True
    scene.set_control("keep_balance", False)
    scene.set_control("style.lateral_step", 0.12)
    scene.before_frame()
    low, high, simulated = scene.feasible_ranges()["style.lateral_step"]
    assert low < 0.12 < high, "the pendulum passes it"
    assert not simulated
    scene.simulated_check.checker = InstantSimulation(simulate_narrow_steps)
    status(scene), status(scene)
    assert set(scene.feasible_ranges().values()) >= {(0.12, 0.12, True)}
    assert all(each.simulated and each.low == each.high for each in scene.feasible_ranges().values())


def test_keep_balance_repairs_by_simulation_what_passes_the_pendulum_but_falls(scene: Any) -> None:
    falls = FeasibilityCheck(-0.1, 2.0, "falls after 3 steps", True)
    walks = FeasibilityCheck(0.05, 5.0, "walks", True)
    scene.simulated_check.checker = InstantSimulation(lambda walk: falls if walk.style.chest_pitch > 0.2 else walks)
    repairer = scene.simulated_check.repairer = InstantSimulation(lambda _: None)
    scene.set_control("style.chest_pitch", 0.1)
    status(scene), status(scene)
    scene.set_control("style.chest_pitch", 0.3)
    assert status(scene)[-1] != SEARCHING, "the slider may still be moving"
    assert status(scene)[-1] == SEARCHING
    assert [walk.style.chest_pitch for walk in repairer.requests] == [0.3]
    assert scene.style.chest_pitch == 0.3
    assert scene.walk.style.chest_pitch == 0.1, "meanwhile the robot walks as it did"
    better = scene.style.replace(single_support=0.6, chest_pitch=0.15)
    repairer.function = lambda _: StyleRepair(better, None, walks, ("single_support 0.5 -> 0.6 s",))
    assert "Changed to keep balance: single_support 0.5 -> 0.6 s." in status(scene)
    assert scene.before_frame() == ["repaired: single_support 0.5 -> 0.6 s"]
    assert scene.walk.style.single_support == scene.style.single_support == 0.6


def test_a_simulated_repair_that_finds_nothing_is_tried_once_and_said(scene: Any) -> None:
    falls = FeasibilityCheck(-0.1, 2.0, "falls after 3 steps", True)
    scene.simulated_check.checker = InstantSimulation(lambda _: falls)
    repairer = scene.simulated_check.repairer = InstantSimulation(lambda walk: StyleRepair(walk.style, None, falls, ()))
    scene.set_control("style.chest_pitch", 0.3)
    for _ in range(5):
        lines = status(scene)
    assert lines[-1] == "No change of steps and timing keeps the robot balanced with this style."
    assert scene.before_frame() == [lines[-1]]
    assert len({id(walk) for walk in repairer.requests}) == 1


def test_a_simulated_repair_ends_with_keep_balance_and_with_another_style(scene: Any) -> None:
    falls = FeasibilityCheck(-0.1, 2.0, "falls after 3 steps", True)
    scene.simulated_check.checker = InstantSimulation(lambda _: falls)
    repairer = scene.simulated_check.repairer = InstantSimulation(lambda _: None)
    scene.set_control("style.chest_pitch", 0.3)
    status(scene), status(scene)
    assert status(scene)[-1] == SEARCHING
    scene.set_control("style.chest_pitch", 0.25)
    assert SEARCHING not in status(scene)
    assert status(scene)[-1] == SEARCHING
    scene.set_control("keep_balance", False)
    assert SEARCHING not in status(scene)
    changed = scene.style.replace(single_support=0.6)
    repairer.function = lambda _: StyleRepair(changed, None, falls, ("single_support 0.5 -> 0.6 s",))
    status(scene)
    assert scene.style.single_support == STYLES["neutral"].single_support
    assert scene.walk.style.chest_pitch == 0.25, "the robot walks with every style now"


def test_the_worker_process_checks_repairs_and_finds_ranges() -> None:
    scene = WalkScene(installed_robot("g1"))
    SceneRunner(scene)
    try:
        assert scene.walk is not None
        scene.set_control("style.single_support", TOO_SHORT)
        messages: list[str] = []
        wait_until(lambda: messages.extend(scene.before_frame()) or messages, "the repair")  # type: ignore[func-returns-value]
        assert check_walk(scene.walk.style, scene.walk.body).feasible
        ranges = scene._ranges
        wait_until(lambda: scene.before_frame() or "style.step_length" in ranges, "a range", lambda: len(ranges))
        low, high, _ = scene.feasible_ranges()["style.step_length"]
        assert low < scene.style.step_length <= high  # a repair ends at the boundary
    finally:
        scene.checker.close()


def test_terrains_have_names(scene: WalkScene) -> None:
    (terrain,) = (control.as_json() for control in scene.controls() if control.name == "terrain")
    assert len(terrain["option_labels"]) == len(terrain["options"])
    assert dict(zip(terrain["options"], terrain["option_labels"], strict=True))["flat"] == "flat floor"
    assert terrain_name("slope:-5") == "slope, 5° down"
    assert terrain_name("stairs:0.05,0.3,4") == "stairs, 4 steps of 5 cm up"
