"""Readings, layouts and operators: from raw device values to operator commands."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poise.devices import (
    FLIGHT_STICK,
    GAMEPAD,
    KEYBOARD,
    LAYOUTS,
    Axis,
    InputElement,
    InputLayout,
    Operator,
    Reading,
    Throttle,
)
from poise.devices.input_layout import DEAD_ZONE
from poise.errors import UsageError
from poise.plans import COMMAND_AXES, GUIDING_MODES, OperatorCommand

ANYTHING = st.one_of(st.floats(), st.none(), st.text(max_size=3), st.integers())
BUTTONS = st.frozensets(st.one_of(st.integers(0, 16), st.sampled_from(["KeyW", "Digit2", "KeyN"])))


def deflected_axes(stick: OperatorCommand) -> dict[str, float]:
    """The axes that are not zero, by name."""
    return {name: value for name, value in zip(COMMAND_AXES, stick.axes, strict=True) if value}


def flight_stick_reading(*axes: float, **other: Any) -> Reading:
    return Reading((*axes, *(0.0,) * (5 - len(axes))), throttles=(0.5, 0.5), **other)


@pytest.mark.parametrize(
    ("layout", "reading", "expected"),
    [
        (FLIGHT_STICK, flight_stick_reading(0, 0, 0, 0, -1), {"forward": 1}),
        (FLIGHT_STICK, flight_stick_reading(0, 0, 0, -1), {"left": 1}),
        (FLIGHT_STICK, flight_stick_reading(hat=(1, -1)), {"forward": -1, "left": -1}),
        (FLIGHT_STICK, flight_stick_reading(buttons={3}), {"up": 1}),
        (FLIGHT_STICK, flight_stick_reading(buttons={4}), {"up": -1}),
        (FLIGHT_STICK, flight_stick_reading(buttons={3, 4}), {}),
        (FLIGHT_STICK, flight_stick_reading(1), {"roll": 1}),
        (FLIGHT_STICK, flight_stick_reading(0, -1), {"pitch": 1}),
        (FLIGHT_STICK, flight_stick_reading(0, 0, 1), {"yaw": -1}),
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
def test_a_layout_maps_each_input_of_a_device_to_an_axis(
    layout: InputLayout, reading: Reading, expected: dict[str, float]
) -> None:
    assert deflected_axes(Operator(layout).update(reading)) == expected


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_every_axis_of_a_stick_can_be_moved_and_every_mode_reached(layout: InputLayout) -> None:
    assert all(layout.axes[name] for name in COMMAND_AXES)
    operator, modes = Operator(layout), set()
    for _ in GUIDING_MODES:
        operator.update(Reading((0.0,) * 5))
        modes.add(operator.update(Reading((0.0,) * 5, buttons=layout.next_mode)).mode)
    assert modes == set(GUIDING_MODES)
    assert set(layout.modes.values()) in (set(), set(GUIDING_MODES))


@given(st.floats(-1.5, 1.5), st.floats(-1.5, 1.5))
def test_beyond_the_dead_zone_an_axis_begins_at_zero_ends_at_one_and_never_falls(x: float, y: float) -> None:
    def value(x: float) -> float:
        return Axis(0).value(Reading((x,)), DEAD_ZONE)

    assert value(DEAD_ZONE) == value(-DEAD_ZONE) == 0.0
    assert value(1.0) == 1.0
    assert value(-x) == -value(x)
    assert (value(x) <= value(y)) == (x <= y) or value(x) == value(y)
    assert abs(value(x)) <= abs(x)


def test_each_throttle_lifts_its_foot_and_both_count_half_where_none_is_guided() -> None:
    reading = Reading((0.0,) * 5, throttles=(1.0, 0.25))
    lifts = {mode: Operator(FLIGHT_STICK, mode).update(reading).lift for mode in GUIDING_MODES}
    assert lifts == {"left foot": 1.0, "right foot": 0.25} | dict.fromkeys(("trunk", "left hand", "right hand"), 0.625)
    assert Operator(FLIGHT_STICK).update(Reading((0.0,) * 5)).lift == 0.5  # a stick without throttles


def test_the_hat_of_a_gamepad_and_two_keys_set_the_step_height() -> None:
    for hat, lift in (((0, 1), 1.0), ((0, 0), 0.5), ((0, -1), 0.0)):
        assert Operator(GAMEPAD).update(Reading((0.0,) * 4, hat=hat)).lift == lift
    for keys, lift in ((["KeyT"], 1.0), ([], 0.5), (["KeyG"], 0.0)):
        assert Operator(KEYBOARD).update(Reading(buttons=keys)).lift == lift


def test_a_button_press_of_any_length_switches_the_mode_once() -> None:
    operator = Operator(FLIGHT_STICK, "left foot")
    held, let_go = flight_stick_reading(buttons={5}), flight_stick_reading()
    modes = [operator.update(reading).mode for reading in (let_go, held, held, held, let_go, held)]
    assert modes == ["left foot", *["right foot"] * 4, "trunk"]


def test_the_toggle_goes_round_in_both_directions() -> None:
    operator = Operator(FLIGHT_STICK, "left foot")
    assert operator.update(flight_stick_reading(buttons={6})).mode == GUIDING_MODES[-1]
    operator.update(flight_stick_reading())
    assert operator.update(flight_stick_reading(buttons={5})).mode == GUIDING_MODES[0]


@pytest.mark.parametrize("layout", [GAMEPAD, KEYBOARD])
def test_some_buttons_choose_a_mode_at_once(layout: InputLayout) -> None:
    operator = Operator(layout)
    for button, mode in layout.modes.items():
        operator.update(Reading((0.0,) * 4))
        assert operator.update(Reading((0.0,) * 4, buttons={button})).mode == mode


@pytest.mark.parametrize(
    "gone", [None, Reading(), Reading((math.nan, -1.0, 0.0, 0.0)), Reading((0.0, -1.0), throttles=(math.inf, 0.0))]
)
def test_an_unplugged_or_nan_device_is_a_centered_stick_in_the_same_mode(gone: Reading | None) -> None:
    operator = Operator(GAMEPAD)
    assert not operator.update(Reading((0.0, -1.0, 0.0, 0.0), buttons={4})).is_zero
    stick = operator.update(gone)
    assert stick.is_zero
    assert stick.mode == "left foot"
    assert operator.read(3.0) is stick


def test_a_button_that_is_down_when_the_device_comes_back_switches_nothing() -> None:
    operator, down = Operator(GAMEPAD), Reading((0.0,) * 4, buttons={0})
    operator.update(Reading())
    assert operator.update(down).mode == "trunk"
    operator.update(Reading((0.0,) * 4))
    assert operator.update(down).mode == "left hand"


def test_keys_that_are_all_up_are_no_unplugged_keyboard() -> None:
    operator = Operator(KEYBOARD)
    operator.update(Reading())
    assert operator.update(Reading(buttons={"Digit1"})).mode == "left foot"


def test_an_operator_reads_the_latest_stick_and_begins_with_a_centered_one() -> None:
    operator = Operator(GAMEPAD, "RIGHT_HAND")
    assert operator.read(0.0) == OperatorCommand("right hand")
    stick = operator.update(Reading((0.3, 0.9, 0.0, 0.0)))
    assert operator.read(math.nan) is stick


@given(
    st.sampled_from(list(LAYOUTS.values())),
    st.lists(st.builds(Reading, st.lists(ANYTHING, max_size=8), BUTTONS, st.tuples(ANYTHING, ANYTHING)), max_size=6),
)
def test_any_reading_gives_finite_commands_inside_their_ranges(layout: InputLayout, readings: list[Reading]) -> None:
    operator = Operator(layout)
    for reading in readings:
        stick = operator.update(reading)
        assert all(-1.0 <= value <= 1.0 for value in stick.axes)
        assert 0.0 <= stick.lift <= 1.0
        assert stick.mode in GUIDING_MODES


@pytest.mark.parametrize(
    ("change", "word"),
    [({"axes": {"sideways": ()}}, "sideways"), ({"modes": {1: "head"}}, "head"), ({"dead_zone": 1.0}, "dead_zone")],
)
def test_an_invalid_layout_is_refused_in_one_line(change: dict[str, Any], word: str) -> None:
    with pytest.raises(UsageError, match=word) as caught:
        replace(GAMEPAD, **change)
    assert "\n" not in str(caught.value)


def test_an_operator_without_a_layout_or_with_an_unknown_mode_is_refused() -> None:
    with pytest.raises(UsageError, match="Layout"):
        Operator("gamepad")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="did you mean 'left hand'"):
        Operator(GAMEPAD, "lefthandd")


@pytest.mark.parametrize("part", [Axis(9), Throttle(9)])
def test_an_absent_input_has_the_value_zero(part: InputElement) -> None:
    assert part.value(Reading((1.0,), throttles=(1.0,)), DEAD_ZONE) == 0.0
