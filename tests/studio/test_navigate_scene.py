"""The scene Navigate without a browser: what is held, what it means, what becomes of it and what is shown of that."""

from __future__ import annotations

import math
from typing import Any, get_args

import numpy as np
import pytest

from poise.control import PositionController
from poise.devices import FLIGHT_STICK, GAMEPAD, KEYBOARD, Operator
from poise.plans import AXES, MODES
from poise.plans.segment.segment import Outcome
from poise.studio import scene_runner as deadman
from poise.studio.operator_input import Hands, Pad, Person, codes, legend
from poise.studio.page_session import wish
from poise.studio.scene_runner import Stage
from poise.studio.scenery import Scenery
from poise.studio.scenes import scene
from poise.studio.scenes.navigate import BECAME
from poise.studio.telemetry import Sketch
from robot_states import robot_of

STILL = (0.0,) * 6
AHEAD = (1.0, 0.0, 0.0, 0.0, 0.0, 0.0)
REST = Pad(True, (0.0,) * 4, (0.0,) * 17)


class Clock:
    """A clock that goes when it is told to."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        monkeypatch.setattr(deadman.time, "monotonic", lambda: self.now)


def pad(axes: tuple[float, ...] = (0.0,) * 4, **pressed: float) -> Pad:
    """A standard pad; buttons as b4=1.0."""
    buttons = [pressed.get(f"b{number}", 0.0) for number in range(17)]
    return Pad(True, axes, tuple(buttons))


def told(keys: tuple[str, ...] = (), pad: Any = None, axes: tuple[float, ...] = STILL) -> dict[str, Any]:
    """As a page says it."""
    return {"keys": list(keys), "pad": pad, "axes": list(axes)}


# -- what is held ------------------------------------------------------------------------------------------------------


def test_a_standard_pad_is_read_as_the_gamepad_layout_has_it() -> None:
    given = pad((0.0, -1.0, 0.5, 0.0), b7=1.0, b15=1.0, b2=1.0)
    stick = Operator(GAMEPAD).take(given.reading)
    forward, left, up, roll, _, yaw = stick.axes
    assert (forward, left, up, roll) == (1.0, 0.0, 1.0, 1.0)
    assert yaw == pytest.approx(-(0.5 - GAMEPAD.dead) / (1.0 - GAMEPAD.dead))
    assert stick.mode == "left hand"


def test_any_other_device_is_read_as_the_flight_stick_of_the_paper() -> None:
    levers = -1.0, 1.0
    stick = Operator(FLIGHT_STICK, "left foot").take(Pad(False, (1.0, 0.0, 0.0, 0.0, -1.0, *levers), ()).reading)
    assert stick.axes[AXES.index("forward")] == 1.0
    assert stick.axes[AXES.index("roll")] == 1.0
    assert stick.lift == 1.0, "the first lever is pushed away"


@pytest.mark.parametrize(
    "nonsense",
    [None, 7, [], {"keys": 3, "pad": 4, "axes": "abcdef"}, {"axes": [1.0]}, {"axes": [math.nan] * 6},
     {"pad": {"axes": ["a", None], "buttons": {}}}],
)  # fmt: skip
def test_nonsense_is_not_held(nonsense: object) -> None:
    hands = Hands.of(nonsense)
    assert hands.rest
    person = Person()
    person.take(hands)
    assert person.stick.axes == STILL


def test_only_hands_get_through_to_the_simulation() -> None:
    good = '{"do": "hands", "with": {"keys": ["KeyW"], "pad": null, "axes": [0, 0, 0, 0, 0, 1]}}'
    assert wish(good) == ("hands", {"keys": ["KeyW"], "pad": None, "axes": [0, 0, 0, 0, 0, 1]})
    padded = '{"keys": [], "pad": {"standard": true, "axes": [0.5], "buttons": [1]}, "axes": [0, 0, 0, 0, 0, 0]}'
    assert not isinstance(wish(f'{{"do": "hands", "with": {padded}}}'), str)
    for bad in (
        "7", "[]", padded.replace("[0, 0, 0, 0, 0, 0]", "[0, 0, 0]"), padded.replace('"keys": []', '"keys": [1]'),
        padded.replace("0, 0]}", "0, 2]}"), padded.replace("[0.5]", '["a"]'), padded.replace("true", "1"),
    ):  # fmt: skip
        assert "'hands' cannot be" in str(wish(f'{{"do": "hands", "with": {bad}}}')), bad


def test_the_legend_names_every_key_that_the_page_takes() -> None:
    shown = " ".join(used for used, _ in legend(KEYBOARD))
    for code in codes(KEYBOARD):
        name = code.removeprefix("Key").removeprefix("Digit")
        assert name in shown or code.startswith("Arrow"), code
    for layout in (KEYBOARD, GAMEPAD, FLIGHT_STICK):
        assert all(used and does for used, does in legend(layout))


# -- a person at a page ------------------------------------------------------------------------------------------------


def test_of_all_devices_the_strongest_counts() -> None:
    person = Person()
    person.take(Hands(frozenset({"KeyQ"}), pad((0.0, -0.5, 0.0, 0.0)), (-1.0, 0.25, 0.0, 0.0, 0.0, 0.0)))
    forward, left, *_, yaw = person.read(0.0).axes
    assert (forward, left, yaw) == (-1.0, 0.25, 1.0)


def test_the_guided_point_is_the_one_that_was_chosen_last_wherever() -> None:
    person = Person()
    person.take(Hands(frozenset({"Digit1"})))
    assert person.mode == "left foot"
    person.take(Hands(pad=REST))
    person.take(Hands(pad=pad(b1=1.0)))
    assert person.mode == "right hand"  # type: ignore[comparison-overlap]
    person.mode = "trunk"  # type: ignore[unreachable]
    person.take(Hands(pad=pad(b1=1.0)))
    assert person.mode == "trunk", "the button was only held on"
    person.take(Hands(pad=REST))
    person.take(Hands(pad=pad(b0=1.0)))
    assert person.mode == "left hand", "the one after the trunk"


def test_a_tap_is_heard_once_and_what_is_let_go_after_it_was_heard_is_over() -> None:
    person = Person()
    person.take(Hands(frozenset({"KeyW"})))
    person.take(Hands())
    assert person.read(0.0).axes[0] == 1.0, "pressed and let go before it was asked"
    assert person.read(0.5).axes == STILL
    person.take(Hands(frozenset({"KeyW"})))
    assert person.read(1.0).axes[0] == 1.0
    person.take(Hands())
    assert person.read(1.5).axes == STILL


def test_the_lift_is_that_of_the_page_and_what_a_device_adds() -> None:
    person = Person()
    person.lift = 0.3
    person.take(Hands(pad=REST))
    assert person.stick.lift == pytest.approx(0.3)
    person.take(Hands(pad=pad(b12=1.0)))
    assert person.stick.lift == pytest.approx(0.8)


# -- dead-man ----------------------------------------------------------------------------------------------------------


def test_half_a_second_after_the_last_word_the_stick_is_centred(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    stage = Stage(scene("navigate")(robot_of("mighty")))
    person = stage.scene.person  # type: ignore[attr-defined]
    stage.touch(told(keys=("KeyW",)))
    clock.now += 0.4
    stage.tick()
    assert person.stick.axes[0] == 1.0
    clock.now += 0.2
    stage.tick()
    assert person.stick.axes == STILL
    assert stage.deadman.stopped
    stage.touch(told(keys=("KeyW",)))
    assert person.stick.axes[0] == 1.0
    assert not stage.deadman.stopped


def test_a_pad_that_nobody_touches_may_be_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    watch = deadman.DeadMan()
    watch.touch(Hands(pad=REST))
    clock.now += 60.0
    assert not watch.dropped
    watch.touch(Hands(pad=pad((0.0, -1.0, 0.0, 0.0))))
    clock.now += 0.6
    assert watch.dropped
    assert not watch.dropped, "told once"  # type: ignore[unreachable]


# -- the scene ---------------------------------------------------------------------------------------------------------


def ran(stage: Stage, hands: dict[str, Any], seconds: float) -> list[str]:
    """Holds something for some seconds; all notes that were given."""
    notes: list[str] = []
    for _ in range(round(seconds / stage.period)):
        stage.touch(hands)  # each time: a busy machine may need half a second for a few periods
        stage.tick()
        notes += stage.scene.guide()["notes"]  # type: ignore[index]
    assert not stage.fell
    return notes


def soles(stage: Stage) -> list[float]:
    """Heights of the left and the right sole."""
    state, robot = stage.main.plant.state(), stage.scene.robot
    return [float(state.pose(robot.foot(side)).act(robot.foot(side).sole.center)[2]) for side in ("left", "right")]


def test_mighty_walks_reaches_and_stands_on_one_foot_as_it_is_told() -> None:
    """The trunk is pushed ahead: it walks. The left hand: it moves, the feet do not. The left foot: up, and down again.
    What is beyond a boundary is projected, and the page is told."""
    stage = Stage(scene("navigate")(robot_of("mighty")))
    robot, plant = robot_of("mighty"), stage.main.plant
    ran(stage, told(axes=AHEAD), 2.0)
    assert plant.state().center_of_mass[0] > 0.05
    ran(stage, told(), 1.5)

    stage.scene.do("mode", "left hand")
    feet = [plant.state().pose(foot).translation for foot in robot.feet]
    hand = plant.state().pose(robot.hand("left")).translation
    ran(stage, told(keys=("KeyR", "KeyW")), 1.5)
    assert np.linalg.norm(plant.state().pose(robot.hand("left")).translation - hand) > 0.03
    for foot, before in zip(robot.feet, feet, strict=True):
        assert plant.state().pose(foot).translation == pytest.approx(before, abs=0.01)

    stage.scene.do("mode", "left foot")
    notes = ran(stage, told(keys=("KeyR",)), 3.0)
    left, right = soles(stage)
    assert left > right + 0.01
    assert any("beyond its boundary, projected" in note for note in notes)
    rows = stage.scene.guide()["segments"]  # type: ignore[index]
    assert rows[0]["outcome"] == "projected"
    assert rows[0]["mode"] == "left foot"
    assert any("as far as it can" in line for line in stage.scene.words())
    ran(stage, told(keys=("KeyF",)), 2.5)
    left, right = soles(stage)
    assert left == pytest.approx(right, abs=0.004)


def test_what_is_going_to_be_is_drawn_before_it_is() -> None:
    """A segment with a step is drawn when it begins, with the footprint where the foot then lands."""
    robot = robot_of("mighty")
    stage = Stage(scene("navigate")(robot))
    sketch = Sketch(robot)
    navigate = stage.scene.navigate  # type: ignore[attr-defined]
    assert sketch.scenery(stage).plans == {}
    while navigate.segment is None or navigate.segment.goal.step is None:
        stage.touch(told(keys=("KeyW",)))
        stage.tick()
    assert stage.now < navigate.begun + 0.02
    segment, plans = navigate.segment, sketch.scenery(stage).plans
    assert plans is not None
    assert set(plans) == {"accepted", "next"}
    accepted = plans["accepted"]
    foot = segment.goal.points.feet[segment.goal.step]
    assert accepted.soles.mean(axis=1) == pytest.approx(np.array([[foot.x, foot.y, foot.z]]), abs=1e-9)
    assert accepted.center == pytest.approx(segment.goal.points.center)
    centers, soles = accepted.paths
    assert centers[0] == pytest.approx(segment.beginning.points.center, abs=1e-9)
    assert soles[-1] == pytest.approx((foot.x, foot.y, foot.z), abs=1e-9)
    assert soles[:, 2].max() > 0.005, "it is lifted on its way"
    while navigate.segment is segment:
        stage.touch(told(keys=("KeyW",)))
        stage.tick()
    state = stage.main.plant.state()
    there = state.pose(robot.foot(foot.side)).act(robot.foot(foot.side).sole.center)
    assert there[:2] == pytest.approx((foot.x, foot.y), abs=0.01)


def test_standing_still_draws_nothing_and_tells_of_nothing() -> None:
    stage = Stage(scene("navigate")(robot_of("mighty")))
    ran(stage, told(), 1.2)
    assert stage.scene.plans() == {}
    assert stage.scene.guide()["segments"] == []  # type: ignore[index]
    assert stage.scene.words() == ["stands; the trunk is guided"]


def test_discarding_is_a_choice() -> None:
    stage = Stage(scene("navigate")(robot_of("mighty")))
    stage.scene.do("rule", "discarded")
    stage.scene.do("mode", "left foot")
    notes = ran(stage, told(axes=(0.0, -1.0, 0.0, 0.0, 0.0, 0.0)), 1.5)
    assert any("discarded" in note for note in notes)
    assert stage.scene.guide()["segments"][0]["outcome"] == "discarded"  # type: ignore[index]


def test_the_stairs_stand_where_the_guidance_thinks_and_the_door_is_told_of() -> None:
    stage = Stage(scene("navigate")(robot_of("mighty")))
    stage.scene.do("world", "stairs and door")
    assert stage.scene.stale
    stage.reset()
    assert len(stage.scene.things) == 2
    stage.tick()
    assert "m to go" in stage.scene.words()[-1]
    ran(stage, told(axes=AHEAD), 3.0)
    for foot in robot_of("mighty").feet:
        x, y, z = stage.main.plant.state().pose(foot).act(foot.sole.center)
        assert z == pytest.approx(stage.scene.ground.elevation(x, y), abs=0.03)
    assert "place" in stage.scene.plans()
    facts = {"scene": "navigate", **stage.scene.facts()}
    assert stage.scene.replayed(facts, robot_of("mighty"))[0].floor == stage.scene.ground.floor  # type: ignore[attr-defined, index, union-attr]
    assert stage.scene.replayed({}, robot_of("mighty")) is None


def test_there_are_words_for_every_outcome() -> None:
    assert {*get_args(Outcome)} - {"commanded"} < BECAME.keys()


def test_a_scenery_without_plans_is_still_one() -> None:
    assert Scenery.of(robot_of("mighty").stance("standing")).plans is None


@pytest.mark.parametrize("mode", MODES)
def test_every_point_has_a_hint(mode: str) -> None:
    assert {each["name"]: each["hint"] for each in scene("navigate").guided["modes"]}[mode]


@pytest.mark.needs_models
@pytest.mark.parametrize("name", ["g1", "talos", "romeo", "icub", "nao"])
def test_robots_with_motors_and_with_servos_are_guided_and_told_of(name: str) -> None:
    robot = robot_of(name)
    stage = Stage(scene("navigate")(robot))
    assert isinstance(stage.main.controller, PositionController) == (name == "nao")
    for _ in range(40):
        stage.touch(told(axes=AHEAD))
        stage.tick()
    assert not stage.fell
    assert not list(stage.events)
    sketch = Sketch(robot)
    numbers = sketch.numbers(stage, "left leg")
    assert any(numbers["plots"]["torques"].values()), "who stands strains his legs, on servos too"
    assert {"feet", "center", "hands", "trunk"} <= {level["name"] for level in numbers["levels"]}
    assert np.isfinite(sketch.scenery(stage).plans["next"].support).all()  # type: ignore[index]
