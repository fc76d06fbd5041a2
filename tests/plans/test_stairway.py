"""Stairway: each sole lies completely on one tread."""

from __future__ import annotations

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from poise.plans import Footstep, Stairway
from poise.plans.footsteps import TREAD_CLEARANCE


def tread(stairs: Stairway, x: float) -> int:
    """Number of edges behind a point."""
    return sum(1 for i in range(stairs.count) if x >= stairs.begin + i * stairs.run)


@given(
    x=st.floats(-1.0, 3.0),
    rise=st.sampled_from([0.05, -0.05, 0.12]),
    run=st.floats(0.26, 0.5),
    count=st.integers(1, 6),
    back=st.floats(0.05, 0.11),
    front=st.floats(0.05, 0.11),
)
def test_a_whole_sole_has_one_tread_under_it(
    x: float, rise: float, run: float, count: int, back: float, front: float
) -> None:
    stairs = Stairway(0.4, rise, run, count, back, front)
    found = stairs.place_on_tread(Footstep("left", x, 0.1, 0.0))
    treads = {tread(stairs, found.x + share) for share in (-back, 0.0, front)}
    assert len(treads) == 1
    assert found.z == pytest.approx(rise * treads.pop())
    assert (found.side, found.y, found.yaw) == ("left", 0.1, 0.0)
    assert abs(found.x - x) <= max(back, front) + TREAD_CLEARANCE + 1e-9, "no further than necessary"
    assert stairs.place_on_tread(found).x == pytest.approx(found.x, abs=1e-9), "idempotent"


@given(x=st.floats(-1.0, 3.0))
def test_a_sole_that_is_clear_of_edges_stays(x: float) -> None:
    stairs = Stairway(0.4, 0.05, 0.4, 3, 0.1, 0.1)
    assume(min(abs(x - (0.4 + 0.4 * i)) for i in range(3)) > 0.1 + TREAD_CLEARANCE)
    assert stairs.place_on_tread(Footstep("right", x, 0.0)).x == x


def test_on_treads_too_short_for_a_sole_footsteps_are_not_moved() -> None:
    stairs = Stairway(0.4, 0.05, 0.15, 5, 0.1, 0.1)
    for i in range(40):
        x = 0.05 * i
        found = stairs.place_on_tread(Footstep("left", x, 0.0))
        assert found.x == x
        assert found.z == pytest.approx(0.05 * tread(stairs, x))


def test_before_and_after_the_stairs_the_ground_is_level() -> None:
    stairs = Stairway(0.4, 0.05, 0.3, 4, 0.1, 0.1)
    assert stairs.place_on_tread(Footstep("left", -3.0, 0.0)).z == 0.0
    assert stairs.place_on_tread(Footstep("left", 9.0, 0.0)).z == pytest.approx(0.2)
    assert math.isclose(stairs.place_on_tread(Footstep("left", 5.0, 0.0)).x, 5.0)
