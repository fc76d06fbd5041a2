"""Misspelt names are refused with similar names, or with a list."""

from __future__ import annotations

import pytest

from poise.errors import suggestion, unknown_name_error

NAMES = ["walk", "walks", "stand"]


@pytest.mark.parametrize("name", ["wlak", "WALK"])
def test_the_nearest_name_is_suggested_regardless_of_case(name: str) -> None:
    assert suggestion(name, NAMES) == "did you mean 'walk'?"


def test_more_names_are_suggested_on_request() -> None:
    assert suggestion("walkk", NAMES, max_matches=3) == "did you mean 'walk' or 'walks'?"


def test_without_a_near_name_all_are_listed_or_the_first_of_many() -> None:
    assert suggestion("xyz", NAMES) == "there are walk, walks, stand"
    assert suggestion("xyz", NAMES, max_listed=2) == "there are walk, walks, ..."
    assert suggestion("xyz", []) == "there are none"


def test_advice_takes_the_place_of_the_list_only() -> None:
    assert str(unknown_name_error("g1 has no stance", "sitting", NAMES, advice="declare it")).endswith(
        "'sitting'; declare it"
    )
    assert str(unknown_name_error("g1 has no stance", "stnad", NAMES, advice="declare it")).endswith(
        "did you mean 'stand'?"
    )
