"""The state machine of a walk: left support, right support, double support."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest

from planned_walks import pace_of, phases, standing
from poise.plans import Route


def test_a_walk_goes_through_its_phases_in_order() -> None:
    names = [phase.name for phase in phases(Route(pace_of(), 4), 10)]
    support = ["right support", "left support"]
    assert names == [
        "starting",
        support[0],
        "double support",
        support[1],
        "double support",
        support[0],
        "double support",
        support[1],
        "stopping",
        "standing",
    ]


def test_only_the_foot_that_does_not_bear_moves() -> None:
    for phase in phases(Route(pace_of(), 6), 10):
        assert {phase.support.side, phase.last.side} == {"left", "right"}
        if phase.kind == "single":
            assert phase.goal.side == phase.last.side
            assert phase.standing == (phase.support,)
        else:
            assert phase.goal == phase.support
            assert phase.standing == (phase.support, phase.last)
            assert phase.middle == pytest.approx(0.5 * (phase.support.place + phase.last.place))


def test_the_foot_that_landed_bears_next_where_it_landed() -> None:
    found = list(phases(Route(pace_of(), 5), 10))
    for swing, after in pairwise(found):
        if swing.kind == "single":
            assert (after.support, after.last) == (swing.goal, swing.support)
            assert after.steps == swing.steps + 1


@pytest.mark.parametrize(
    ("speed", "first"),
    [
        ((0.3, 0.0, 0.0), "right"),
        ((0.0, 0.1, 0.0), "right"),
        ((0.0, -0.1, 0.0), "left"),
        ((0.0, 0.0, 0.3), "right"),
        ((0.0, 0.0, -0.3), "left"),
        ((0.0, 0.1, -0.3), "right"),
    ],
)
def test_the_foot_on_the_side_of_the_walk_steps_first(speed: tuple[float, float, float], first: str) -> None:
    stays, goes = standing().first_support(speed)
    assert stays.side == first
    assert goes.side != first


def test_a_phase_is_over_after_its_seconds_and_standing_never_is() -> None:
    phase = next(phases(Route(pace_of(), 2), 10))
    assert not phase.over(phase.begin + 0.99 * phase.seconds)
    assert phase.over(phase.begin + phase.seconds)
    assert phase.elapsed(phase.begin + 0.25) == pytest.approx(0.25)
    rest = phase.rest(3.0)
    assert (rest.name, rest.begin, rest.over(1e9)) == ("standing", 3.0, False)
    assert math.isinf(rest.seconds)
