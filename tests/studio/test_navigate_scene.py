"""The scene Navigate without a browser: operator input, commands, their outcomes and what is drawn."""

from __future__ import annotations

import math
from typing import Any, get_args

import numpy as np
import pytest

from poise.control import PositionController
from poise.devices import FLIGHT_STICK, GAMEPAD, KEYBOARD, Operator
from poise.plans import COMMAND_AXES, GUIDING_MODES
from poise.plans.segment.segment import Outcome
from poise.studio import scene_runner
from poise.studio.operator_input import Gamepad, OperatorInput, PageOperator, control_legend, key_codes
from poise.studio.page_session import parse_command
from poise.studio.scene_runner import SceneRunner
from poise.studio.scenes import find_scene
from poise.studio.scenes.navigate import OUTCOME_TEXT, NavigateScene
from poise.studio.telemetry import Telemetry
from poise.viewer.view_frame import ViewFrame
from robot_states import installed_robot

STILL = (0.0,) * 6
AHEAD = (1.0, 0.0, 0.0, 0.0, 0.0, 0.0)
REST = Gamepad(True, (0.0,) * 4, (0.0,) * 17)


class Clock:
    """A clock that is advanced by the test."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        monkeypatch.setattr(scene_runner.time, "monotonic", lambda: self.now)


def standard_gamepad(axes: tuple[float, ...] = (0.0,) * 4, **pressed: float) -> Gamepad:
    """A standard pad; buttons as b4=1.0."""
    buttons = [pressed.get(f"b{number}", 0.0) for number in range(17)]
    return Gamepad(True, axes, tuple(buttons))


def input_message(keys: tuple[str, ...] = (), gamepad: Any = None, axes: tuple[float, ...] = STILL) -> dict[str, Any]:
    """The message of a page."""
    return {"keys": list(keys), "gamepad": gamepad, "axes": list(axes)}


# -- operator input ----------------------------------------------------------------------------------------------------


def test_a_standard_gamepad_is_read_with_the_gamepad_layout() -> None:
    gamepad = standard_gamepad((0.0, -1.0, 0.5, 0.0), b7=1.0, b15=1.0, b2=1.0)
    stick = Operator(GAMEPAD).update(gamepad.reading)
    forward, left, up, roll, _, yaw = stick.axes
    assert (forward, left, up, roll) == (1.0, 0.0, 1.0, 1.0)
    assert yaw == pytest.approx(-(0.5 - GAMEPAD.dead_zone) / (1.0 - GAMEPAD.dead_zone))
    assert stick.mode == "left hand"


def test_any_other_device_is_read_as_the_flight_stick_of_the_paper() -> None:
    levers = -1.0, 1.0
    stick = Operator(FLIGHT_STICK, "left foot").update(Gamepad(False, (1.0, 0.0, 0.0, 0.0, -1.0, *levers), ()).reading)
    assert stick.axes[COMMAND_AXES.index("forward")] == 1.0
    assert stick.axes[COMMAND_AXES.index("roll")] == 1.0
    assert stick.lift == 1.0, "the first lever is pushed away"


@pytest.mark.parametrize(
    "nonsense",
    [None, 7, [], {"keys": 3, "gamepad": 4, "axes": "abcdef"}, {"axes": [1.0]}, {"axes": [math.nan] * 6},
     {"gamepad": {"axes": ["a", None], "buttons": {}}}],
)  # fmt: skip
def test_invalid_input_is_ignored(nonsense: object) -> None:
    operator_input = OperatorInput.from_page(nonsense)
    assert operator_input.is_idle
    operator = PageOperator()
    operator.set_input(operator_input)
    assert operator.stick.axes == STILL


def test_only_well_formed_input_reaches_the_simulation() -> None:
    good = '{"command": "operator_input", "value": {"keys": ["KeyW"], "gamepad": null, "axes": [0, 0, 0, 0, 0, 1]}}'
    assert parse_command(good) == ("operator_input", {"keys": ["KeyW"], "gamepad": None, "axes": [0, 0, 0, 0, 0, 1]})
    padded = '{"keys": [], "gamepad": {"standard": true, "axes": [0.5], "buttons": [1]}, "axes": [0, 0, 0, 0, 0, 0]}'
    assert not isinstance(parse_command(f'{{"command": "operator_input", "value": {padded}}}'), str)
    for bad in (
        "7", "[]", padded.replace("[0, 0, 0, 0, 0, 0]", "[0, 0, 0]"), padded.replace('"keys": []', '"keys": [1]'),
        padded.replace("0, 0]}", "0, 2]}"), padded.replace("[0.5]", '["a"]'), padded.replace("true", "1"),
    ):  # fmt: skip
        assert "'operator_input' cannot be" in str(parse_command(f'{{"command": "operator_input", "value": {bad}}}')), (
            bad
        )


def test_the_legend_names_every_key_that_the_page_takes() -> None:
    shown = " ".join(used for used, _ in control_legend(KEYBOARD))
    for code in key_codes(KEYBOARD):
        name = code.removeprefix("Key").removeprefix("Digit")
        assert name in shown or code.startswith("Arrow"), code
    for layout in (KEYBOARD, GAMEPAD, FLIGHT_STICK):
        assert all(used and does for used, does in control_legend(layout))


def test_the_legend_lists_directions_in_the_order_of_the_keys() -> None:
    legend = {does: used for used, does in control_legend(KEYBOARD)}
    directions = {  # axes: forward, left, up, roll to the right, bow, turn to the left
        "forward, back": (0, 1), "left, right": (1, 1), "up, down": (2, 1), "lean left, right": (3, -1),
        "lean forward, back": (4, 1), "turn left, right": (5, 1),
    }  # fmt: skip
    arrows = {"↑": "ArrowUp", "↓": "ArrowDown", "←": "ArrowLeft", "→": "ArrowRight"}
    for does, (axis, sign) in directions.items():
        for pair in legend[does].split(", "):
            for key, expected in zip(pair.split(), (sign, -sign), strict=True):
                operator = PageOperator()
                operator.set_input(OperatorInput(keys=frozenset({arrows.get(key, f"Key{key}")})))
                assert operator.stick.axes[axis] == expected, (key, does)
    assert {does: used for used, does in control_legend(GAMEPAD)}["up, down"] == "right trigger, left trigger"


# -- page operator -----------------------------------------------------------------------------------------------------


def test_of_all_devices_the_strongest_counts() -> None:
    operator = PageOperator()
    operator.set_input(
        OperatorInput(frozenset({"KeyQ"}), standard_gamepad((0.0, -0.5, 0.0, 0.0)), (-1.0, 0.25, 0.0, 0.0, 0.0, 0.0))
    )
    forward, left, *_, yaw = operator.read(0.0).axes
    assert (forward, left, yaw) == (-1.0, 0.25, 1.0)


def test_the_guided_point_is_the_last_one_chosen_on_any_device() -> None:
    operator = PageOperator()
    operator.set_input(OperatorInput(frozenset({"Digit1"})))
    assert operator.mode == "left foot"
    operator.set_input(OperatorInput(gamepad=REST))
    operator.set_input(OperatorInput(gamepad=standard_gamepad(b1=1.0)))
    assert operator.mode == "right hand"  # type: ignore[comparison-overlap]
    operator.mode = "trunk"  # type: ignore[unreachable]
    operator.set_input(OperatorInput(gamepad=standard_gamepad(b1=1.0)))
    assert operator.mode == "trunk", "the button was only held on"
    operator.set_input(OperatorInput(gamepad=REST))
    operator.set_input(OperatorInput(gamepad=standard_gamepad(b0=1.0)))
    assert operator.mode == "left hand", "the one after the trunk"


def test_a_short_key_press_counts_once_and_a_released_key_no_longer() -> None:
    operator = PageOperator()
    operator.set_input(OperatorInput(frozenset({"KeyW"})))
    operator.set_input(OperatorInput())
    assert operator.read(0.0).axes[0] == 1.0, "pressed and released before it was read"
    assert operator.read(0.5).axes == STILL
    operator.set_input(OperatorInput(frozenset({"KeyW"})))
    assert operator.read(1.0).axes[0] == 1.0
    operator.set_input(OperatorInput())
    assert operator.read(1.5).axes == STILL


def test_the_lift_is_the_sum_of_page_and_device() -> None:
    operator = PageOperator()
    operator.lift = 0.3
    operator.set_input(OperatorInput(gamepad=REST))
    assert operator.stick.lift == pytest.approx(0.3)
    operator.set_input(OperatorInput(gamepad=standard_gamepad(b12=1.0)))
    assert operator.stick.lift == pytest.approx(0.8)


# -- dead-man switch ---------------------------------------------------------------------------------------------------


def test_half_a_second_after_the_last_message_the_stick_is_centred(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    runner = SceneRunner(find_scene("navigate")(installed_robot("mighty")))
    operator = runner.scene.operator  # type: ignore[attr-defined]
    runner.set_input(input_message(keys=("KeyW",)))
    clock.now += 0.4
    runner.step()
    assert operator.stick.axes[0] == 1.0
    clock.now += 0.2
    runner.step()
    assert operator.stick.axes == STILL
    assert runner.deadman.timed_out
    runner.set_input(input_message(keys=("KeyW",)))
    assert operator.stick.axes[0] == 1.0
    assert not runner.deadman.timed_out


def test_an_idle_gamepad_does_not_time_out(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    watch = scene_runner.DeadManSwitch()
    watch.set_input(OperatorInput(gamepad=REST))
    clock.now += 60.0
    assert not watch.input_timed_out
    watch.set_input(OperatorInput(gamepad=standard_gamepad((0.0, -1.0, 0.0, 0.0))))
    clock.now += 0.6
    assert watch.input_timed_out
    assert not watch.input_timed_out, "reported once"  # type: ignore[unreachable]


# -- the scene ---------------------------------------------------------------------------------------------------------


def run_for(runner: SceneRunner, operator_input: dict[str, Any], seconds: float) -> list[str]:
    """Run with an input for some seconds; return all notes."""
    notes: list[str] = []
    for _ in range(round(seconds / runner.period)):
        runner.set_input(operator_input)  # each time: a busy machine may need half a second for a few periods
        runner.step()
        notes += runner.scene.guidance_status()["notes"]  # type: ignore[index]
    assert not runner.fall_reason
    return notes


def soles(runner: SceneRunner) -> list[float]:
    """Heights of the left and the right sole."""
    state, robot = runner.primary.plant.state(), runner.scene.robot
    return [float(state.pose(robot.foot(side)).act(robot.foot(side).sole.center)[2]) for side in ("left", "right")]


def test_mighty_walks_reaches_and_stands_on_one_foot_on_command() -> None:
    """Trunk forward: it walks. Left hand: it moves, the feet do not. Left foot: up, and down again. Goals beyond a
    boundary are projected, and the page shows it.
    """
    runner = SceneRunner(find_scene("navigate")(installed_robot("mighty")))
    robot, plant = installed_robot("mighty"), runner.primary.plant
    run_for(runner, input_message(axes=AHEAD), 2.0)
    assert plant.state().center_of_mass[0] > 0.05
    run_for(runner, input_message(), 1.5)

    runner.scene.set_control("mode", "left hand")
    feet = [plant.state().pose(foot).translation for foot in robot.feet]
    hand = plant.state().pose(robot.hand("left")).translation
    run_for(runner, input_message(keys=("KeyR", "KeyW")), 1.5)
    assert np.linalg.norm(plant.state().pose(robot.hand("left")).translation - hand) > 0.03
    for foot, before in zip(robot.feet, feet, strict=True):
        assert plant.state().pose(foot).translation == pytest.approx(before, abs=0.01)

    runner.scene.set_control("mode", "left foot")
    notes = run_for(runner, input_message(keys=("KeyR",)), 3.0)
    left, right = soles(runner)
    assert left > right + 0.01
    assert any("beyond its boundary, projected" in note for note in notes)
    rows = runner.scene.guidance_status()["segments"]  # type: ignore[index]
    assert rows[0]["outcome"] == "projected"
    assert rows[0]["mode"] == "left foot"
    assert any("as far as possible" in line for line in runner.scene.status_lines())
    run_for(runner, input_message(keys=("KeyF",)), 2.5)
    left, right = soles(runner)
    assert left == pytest.approx(right, abs=0.004)


def test_a_planned_step_is_drawn_before_it_begins() -> None:
    """A segment with a step is drawn when it begins, with the footprint where the foot then lands."""
    robot = installed_robot("mighty")
    runner = SceneRunner(find_scene("navigate")(robot))
    telemetry = Telemetry(robot)
    navigate = runner.scene.navigate  # type: ignore[attr-defined]
    assert telemetry.view_frame(runner).plans == {}
    while navigate.segment is None or navigate.segment.goal.step is None:
        runner.set_input(input_message(keys=("KeyW",)))
        runner.step()
    assert runner.time < navigate.segment_begin + 0.02
    segment, plans = navigate.segment, telemetry.view_frame(runner).plans
    assert plans is not None
    assert set(plans) == {"accepted", "next"}
    accepted = plans["accepted"]
    foot = segment.goal.points.feet[segment.goal.step]
    assert accepted.footprints.mean(axis=1) == pytest.approx(np.array([[foot.x, foot.y, foot.z]]), abs=1e-9)
    assert accepted.center_of_mass == pytest.approx(segment.goal.points.center)
    centers, soles = accepted.paths
    assert centers[0] == pytest.approx(segment.initial.points.center, abs=1e-9)
    assert soles[-1] == pytest.approx((foot.x, foot.y, foot.z), abs=1e-9)
    assert soles[:, 2].max() > 0.005, "it is lifted on its way"
    while navigate.segment is segment:
        runner.set_input(input_message(keys=("KeyW",)))
        runner.step()
    state = runner.primary.plant.state()
    there = state.pose(robot.foot(foot.side)).act(robot.foot(foot.side).sole.center)
    assert there[:2] == pytest.approx((foot.x, foot.y), abs=0.01)


def test_standing_still_has_no_plans_and_no_segments() -> None:
    runner = SceneRunner(find_scene("navigate")(installed_robot("mighty")))
    run_for(runner, input_message(), 1.2)
    assert runner.scene.plans() == {}
    assert runner.scene.guidance_status()["segments"] == []  # type: ignore[index]
    assert runner.scene.status_lines() == ["stands; the trunk is guided"]


def test_discarding_is_a_choice() -> None:
    runner = SceneRunner(find_scene("navigate")(installed_robot("mighty")))
    runner.scene.set_control("boundary_rule", "discarded")
    runner.scene.set_control("mode", "left foot")
    notes = run_for(runner, input_message(axes=(0.0, -1.0, 0.0, 0.0, 0.0, 0.0)), 1.5)
    assert any("discarded" in note for note in notes)
    assert runner.scene.guidance_status()["segments"][0]["outcome"] == "discarded"  # type: ignore[index]


def test_the_stairs_are_those_of_the_guidance_and_the_distance_to_the_door_is_shown() -> None:
    runner = SceneRunner(find_scene("navigate")(installed_robot("mighty")))
    runner.scene.set_control("world", "stairs and door")
    assert runner.scene.needs_reset
    runner.reset()
    assert isinstance(runner.scene, NavigateScene)
    assert len(runner.scene.obstacles) == 2
    runner.step()
    assert "m to go" in runner.scene.status_lines()[-1]
    run_for(runner, input_message(axes=AHEAD), 3.0)
    for foot in installed_robot("mighty").feet:
        x, y, z = runner.primary.plant.state().pose(foot).act(foot.sole.center)
        assert z == pytest.approx(runner.scene.ground.elevation(x, y), abs=0.03)
    assert "target" in runner.scene.plans()
    environment = runner.primary.plant.environment
    assert environment.plane.translation[2] == runner.scene.ground.floor  # type: ignore[attr-defined]
    assert (len(environment.ground), len(environment.objects)) == (3, 2)


def test_every_outcome_has_a_text() -> None:
    assert {*get_args(Outcome)} - {"commanded"} < OUTCOME_TEXT.keys()


def test_a_frame_of_a_state_has_no_plans() -> None:
    assert ViewFrame.from_state(installed_robot("mighty").stance("standing")).plans is None


@pytest.mark.parametrize("mode", GUIDING_MODES)
def test_every_point_has_a_hint(mode: str) -> None:
    assert {each["name"]: each["hint"] for each in find_scene("navigate").guidance_info["modes"]}[mode]


@pytest.mark.needs_models
@pytest.mark.parametrize("name", ["g1", "talos", "romeo", "icub", "nao"])
def test_robots_with_motors_and_with_servos_are_guided_and_shown(name: str) -> None:
    robot = installed_robot(name)
    runner = SceneRunner(find_scene("navigate")(robot))
    assert isinstance(runner.primary.controller, PositionController) == (name == "nao")
    for _ in range(40):
        runner.set_input(input_message(axes=AHEAD))
        runner.step()
    assert not runner.fall_reason
    assert not list(runner.events)
    telemetry = Telemetry(robot)
    numbers = telemetry.page_data(runner, "left leg")
    assert any(numbers["plots"]["torques"].values()), "standing needs leg torques, on servos too"
    assert {"contact", "balance", "hands", "trunk"} <= {level["name"] for level in numbers["levels"]}
    assert np.isfinite(telemetry.view_frame(runner).plans["next"].support).all()  # type: ignore[index]
