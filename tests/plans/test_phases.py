"""Phases of a walk: single supports, double supports, start and stop."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest

from planned_walks import phases, plain_gait, standing
from poise.plans import FootstepPlan


def test_a_walk_goes_through_its_phases_in_order() -> None:
    names = [phase.name for phase in phases(FootstepPlan(plain_gait(), 4), 10)]
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


def test_only_the_swing_foot_moves() -> None:
    for phase in phases(FootstepPlan(plain_gait(), 6), 10):
        assert {phase.support.side, phase.other_foot.side} == {"left", "right"}
        if phase.kind == "single":
            assert phase.goal.side == phase.other_foot.side
            assert phase.stance_feet == (phase.support,)
        else:
            assert phase.goal == phase.support
            assert phase.stance_feet == (phase.support, phase.other_foot)
            assert phase.middle == pytest.approx(0.5 * (phase.support.place + phase.other_foot.place))


def test_the_landed_foot_is_the_next_stance_foot() -> None:
    found = list(phases(FootstepPlan(plain_gait(), 5), 10))
    for swing, after in pairwise(found):
        if swing.kind == "single":
            assert (after.support, after.other_foot) == (swing.goal, swing.support)
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
    support_foot, swing_foot = standing().first_support_feet(speed)
    assert support_foot.side == first
    assert swing_foot.side != first


def test_a_phase_is_over_after_its_seconds_and_standing_never_is() -> None:
    phase = next(phases(FootstepPlan(plain_gait(), 2), 10))
    assert not phase.is_over(phase.begin + 0.99 * phase.seconds)
    assert phase.is_over(phase.begin + phase.seconds)
    assert phase.elapsed(phase.begin + 0.25) == pytest.approx(0.25)
    rest = phase.standing_phase(3.0)
    assert (rest.name, rest.begin, rest.is_over(1e9)) == ("standing", 3.0, False)
    assert math.isinf(rest.seconds)
