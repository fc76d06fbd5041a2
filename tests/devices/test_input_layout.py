"""Readings, layouts and operators: from what a hand does to a stick."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poise.devices import FLIGHT_STICK, GAMEPAD, KEYBOARD, LAYOUTS, Axis, Layout, Operator, Part, Reading, Throttle
from poise.devices.input_layout import DEAD
from poise.errors import UsageError
from poise.plans import AXES, MODES, Stick

ANYTHING = st.one_of(st.floats(), st.none(), st.text(max_size=3), st.integers())
BUTTONS = st.frozensets(st.one_of(st.integers(0, 16), st.sampled_from(["KeyW", "Digit2", "KeyN"])))


def pushed(stick: Stick) -> dict[str, float]:
    """The axes that are not zero, by name."""
    return {name: value for name, value in zip(AXES, stick.axes, strict=True) if value}


def flown(*axes: float, **other: Any) -> Reading:
    return Reading((*axes, *(0.0,) * (5 - len(axes))), throttles=(0.5, 0.5), **other)


@pytest.mark.parametrize(
    ("layout", "reading", "expected"),
    [
        (FLIGHT_STICK, flown(0, 0, 0, 0, -1), {"forward": 1}),
        (FLIGHT_STICK, flown(0, 0, 0, -1), {"left": 1}),
        (FLIGHT_STICK, flown(hat=(1, -1)), {"forward": -1, "left": -1}),
        (FLIGHT_STICK, flown(buttons={3}), {"up": 1}),
        (FLIGHT_STICK, flown(buttons={4}), {"up": -1}),
        (FLIGHT_STICK, flown(buttons={3, 4}), {}),
        (FLIGHT_STICK, flown(1), {"roll": 1}),
        (FLIGHT_STICK, flown(0, -1), {"pitch": 1}),
        (FLIGHT_STICK, flown(0, 0, 1), {"yaw": -1}),
        (GAMEPAD, Reading((0, -1, 0, 0)), {"forward": 1}),
        (GAMEPAD, Reading((1, 0, 0, 0)), {"left": -1}),
        (GAMEPAD, Reading((0, 0, -1, 0)), {"yaw": 1}),
        (GAMEPAD, Reading((0, 0, 0, -1)), {"pitch": 1}),
        (GAMEPAD, Reading(throttles=(0, 1)), {"up": 1}),
        (GAMEPAD, Reading(throttles=(1, 0)), {"up": -1}),
        (GAMEPAD, Reading((0,) * 4, hat=(1, 0)), {"roll": 1}),
        (KEYBOARD, Reading(buttons={"KeyW"}), {"forward": 1}),
        (KEYBOARD, Reading(buttons={"KeyW", "ArrowUp"}), {"forward": 1}),
        (KEYBOARD, Reading(buttons={"KeyW", "KeyS"}), {}),
        (KEYBOARD, Reading(buttons={"KeyA", "KeyE", "KeyR"}), {"left": 1, "yaw": -1, "up": 1}),
        (KEYBOARD, Reading(buttons={"ArrowLeft", "KeyL", "KeyI"}), {"yaw": 1, "roll": 1, "pitch": 1}),
    ],
)
def test_a_layout_says_what_each_part_of_a_device_means(
    layout: Layout, reading: Reading, expected: dict[str, float]
) -> None:
    assert pushed(Operator(layout).take(reading)) == expected


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_every_axis_of_a_stick_can_be_moved_and_every_mode_reached(layout: Layout) -> None:
    assert all(layout.axes[name] for name in AXES)
    operator, seen = Operator(layout), set()
    for _ in MODES:
        operator.take(Reading((0.0,) * 5))
        seen.add(operator.take(Reading((0.0,) * 5, buttons=layout.following)).mode)
    assert seen == set(MODES)
    assert set(layout.modes.values()) in (set(), set(MODES))


@given(st.floats(-1.5, 1.5), st.floats(-1.5, 1.5))
def test_beyond_the_dead_zone_an_axis_begins_at_zero_ends_at_one_and_never_falls(x: float, y: float) -> None:
    def value(x: float) -> float:
        return Axis(0).value(Reading((x,)), DEAD)

    assert value(DEAD) == value(-DEAD) == 0.0
    assert value(1.0) == 1.0
    assert value(-x) == -value(x)
    assert (value(x) <= value(y)) == (x <= y) or value(x) == value(y)
    assert abs(value(x)) <= abs(x)


def test_each_throttle_lifts_its_foot_and_both_count_half_where_none_is_guided() -> None:
    reading = Reading((0.0,) * 5, throttles=(1.0, 0.25))
    lifts = {mode: Operator(FLIGHT_STICK, mode).take(reading).lift for mode in MODES}
    assert lifts == {"left foot": 1.0, "right foot": 0.25} | dict.fromkeys(("trunk", "left hand", "right hand"), 0.625)
    assert Operator(FLIGHT_STICK).take(Reading((0.0,) * 5)).lift == 0.5  # a stick without throttles


def test_the_pad_of_a_gamepad_and_two_keys_say_how_high_a_foot_is_lifted() -> None:
    for hat, lift in (((0, 1), 1.0), ((0, 0), 0.5), ((0, -1), 0.0)):
        assert Operator(GAMEPAD).take(Reading((0.0,) * 4, hat=hat)).lift == lift
    for keys, lift in ((["KeyT"], 1.0), ([], 0.5), (["KeyG"], 0.0)):
        assert Operator(KEYBOARD).take(Reading(buttons=keys)).lift == lift


def test_a_press_switches_the_mode_once_however_long_it_lasts() -> None:
    operator = Operator(FLIGHT_STICK, "left foot")
    held, let_go = flown(buttons={5}), flown()
    modes = [operator.take(reading).mode for reading in (let_go, held, held, held, let_go, held)]
    assert modes == ["left foot", *["right foot"] * 4, "trunk"]


def test_the_toggle_goes_round_in_both_directions() -> None:
    operator = Operator(FLIGHT_STICK, "left foot")
    assert operator.take(flown(buttons={6})).mode == MODES[-1]
    operator.take(flown())
    assert operator.take(flown(buttons={5})).mode == MODES[0]


@pytest.mark.parametrize("layout", [GAMEPAD, KEYBOARD])
def test_some_buttons_choose_a_mode_at_once(layout: Layout) -> None:
    operator = Operator(layout)
    for button, mode in layout.modes.items():
        operator.take(Reading((0.0,) * 4))
        assert operator.take(Reading((0.0,) * 4, buttons={button})).mode == mode


@pytest.mark.parametrize(
    "gone", [None, Reading(), Reading((math.nan, -1.0, 0.0, 0.0)), Reading((0.0, -1.0), throttles=(math.inf, 0.0))]
)
def test_a_device_that_is_unplugged_or_says_nan_is_a_centred_stick_in_the_same_mode(gone: Reading | None) -> None:
    operator = Operator(GAMEPAD)
    assert not operator.take(Reading((0.0, -1.0, 0.0, 0.0), buttons={4})).still
    stick = operator.take(gone)
    assert stick.still
    assert stick.mode == "left foot"
    assert operator.read(3.0) is stick


def test_a_button_that_is_down_when_the_device_comes_back_switches_nothing() -> None:
    operator, down = Operator(GAMEPAD), Reading((0.0,) * 4, buttons={0})
    operator.take(Reading())
    assert operator.take(down).mode == "trunk"
    operator.take(Reading((0.0,) * 4))
    assert operator.take(down).mode == "left hand"


def test_keys_that_are_all_up_are_no_unplugged_keyboard() -> None:
    operator = Operator(KEYBOARD)
    operator.take(Reading())
    assert operator.take(Reading(buttons={"Digit1"})).mode == "left foot"


def test_an_operator_reads_the_latest_stick_and_begins_with_a_centred_one() -> None:
    operator = Operator(GAMEPAD, "RIGHT_HAND")
    assert operator.read(0.0) == Stick("right hand")
    stick = operator.take(Reading((0.3, 0.9, 0.0, 0.0)))
    assert operator.read(math.nan) is stick


@given(
    st.sampled_from(list(LAYOUTS.values())),
    st.lists(st.builds(Reading, st.lists(ANYTHING, max_size=8), BUTTONS, st.tuples(ANYTHING, ANYTHING)), max_size=6),
)
def test_whatever_a_device_says_its_sticks_are_finite_and_inside(layout: Layout, readings: list[Reading]) -> None:
    operator = Operator(layout)
    for reading in readings:
        stick = operator.take(reading)
        assert all(-1.0 <= value <= 1.0 for value in stick.axes)
        assert 0.0 <= stick.lift <= 1.0
        assert stick.mode in MODES


@pytest.mark.parametrize(
    ("change", "word"),
    [({"axes": {"sideways": ()}}, "sideways"), ({"modes": {1: "head"}}, "head"), ({"dead": 1.0}, "dead")],
)
def test_a_layout_that_means_nothing_is_refused_in_one_line(change: dict[str, Any], word: str) -> None:
    with pytest.raises(UsageError, match=word) as caught:
        replace(GAMEPAD, **change)
    assert "\n" not in str(caught.value)


def test_an_operator_without_a_layout_or_with_an_unknown_mode_is_refused() -> None:
    with pytest.raises(UsageError, match="Layout"):
        Operator("gamepad")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="did you mean 'left hand'"):
        Operator(GAMEPAD, "lefthandd")


@pytest.mark.parametrize("part", [Axis(9), Throttle(9)])
def test_what_a_device_does_not_have_asks_for_nothing(part: Part) -> None:
    assert part.value(Reading((1.0,), throttles=(1.0,)), DEAD) == 0.0
