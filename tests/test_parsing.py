"""Parsing of numbers and checks of arguments, with one-line errors of the caller's class."""

from __future__ import annotations

import doctest
import math
from fractions import Fraction

import numpy as np
import pytest

from poise import parsing
from poise.errors import UsageError
from poise.parsing import check_number, check_positive, check_vector, format_value, is_number, rename_former_keys


@pytest.mark.parametrize("value", [0, -3, 2.5, np.float32(0.5), np.int64(7), Fraction(1, 3)])
def test_finite_numbers_of_every_library_are_numbers(value: object) -> None:
    assert is_number(value)


@pytest.mark.parametrize(
    "value", [True, np.bool_(True), "1", None, math.nan, -math.inf, 10**400, 1j, [1.0], np.ones(1)]
)
def test_nothing_else_is_a_number(value: object) -> None:
    assert not is_number(value)


def test_a_number_outside_its_bounds_raises_the_requested_error() -> None:
    with pytest.raises(KeyError) as caught:
        check_number(-0.5, "friction", KeyError, low=0.0, high=2.0, unit="N/N")
    assert caught.value.args == ("friction is -0.5; expected a finite number from 0 up to 2 N/N",)
    with pytest.raises(LookupError, match="mass is 0; expected a positive number of kg"):
        check_positive(0, "mass", LookupError, "kg")
    assert check_number(2, "friction", KeyError, high=2.0) == 2.0


def test_a_vector_is_a_copy_of_the_right_size() -> None:
    numbers = np.arange(3.0)
    found = check_vector(numbers, 3, "force", ValueError)
    found[0] = 5.0
    assert numbers[0] == 0.0
    assert check_vector(2, 3, "gain", ValueError, broadcast=True).tolist() == [2.0, 2.0, 2.0]
    wrong = {
        "is 'up'; expected 3 numbers in N": "up",
        "has shape (); expected 3 numbers in N": 2,
        "has shape (1, 3); expected 3 numbers in N": [[1, 2, 3]],
        "is (1, 2, nan); expected finite numbers in N": (1, 2, math.nan),
    }
    for message, values in wrong.items():
        with pytest.raises(KeyError) as caught:
            check_vector(values, 3, "force", KeyError, "N")  # type: ignore[arg-type]
        assert caught.value.args == (f"force {message}",)


def test_a_long_value_is_shown_on_one_short_line() -> None:
    text = format_value(np.eye(30))
    assert "\n" not in text
    assert len(text) == 60


def test_the_examples_of_the_documentation_hold() -> None:
    assert doctest.testmod(parsing).failed == 0


def test_former_keys_become_current_ones_and_others_stay() -> None:
    former = {"turn": "step_turn", "rest": "rest_posture"}
    assert rename_former_keys({"turn": 1, "sway": 2, "rest_posture": 3}, former) == {
        "step_turn": 1,
        "sway": 2,
        "rest_posture": 3,
    }


@pytest.mark.parametrize("values", [{"turn": 1, "step_turn": 2}, {"step_turn": 2, "turn": 1}])
def test_a_value_under_its_former_and_its_present_key_is_refused(values: dict[str, int]) -> None:
    with pytest.raises(UsageError, match="'turn' is the former name of 'step_turn'; give only"):
        rename_former_keys(values, {"turn": "step_turn"})
