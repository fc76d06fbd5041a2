"""Cycles are complete or not there, and say what is missing."""

from __future__ import annotations

import numpy as np
import pytest

from made_gaits import LENGTH, SPEED, STANCE, STRIDE, Gait
from poise.analysis import Cycle, GaitEvent, best_cycle, events_from_markers, gait_cycles, lengths
from poise.errors import GaitError


def walk(strides: int, first: float = 0.0) -> list[GaitEvent]:
    """Events of a walk of 1 s strides: stance 60 %, double support 10 % each."""
    events = []
    for k in range(strides):
        t = first + k
        events += [GaitEvent(t, "right", "strike"), GaitEvent(t + 0.1, "left", "off")]
        events += [GaitEvent(t + 0.5, "left", "strike"), GaitEvent(t + 0.6, "right", "off")]
    return [*events, GaitEvent(first + strides, "right", "strike")]


def test_a_cycle_has_four_phases_in_the_order_of_its_events() -> None:
    (cycle,) = gait_cycles(walk(1, first=2.0))
    assert cycle == Cycle("right", 2.0, 2.1, 2.5, 2.6, 3.0)
    assert [phase.name for phase in cycle.phases] == [
        "first double support", "single support", "second double support", "swing",
    ]  # fmt: skip
    assert [phase.end for phase in cycle.phases] == list(cycle.times[1:])
    assert cycle.shares == pytest.approx((0, 10, 50, 60, 100))
    assert (cycle.stance, cycle.double_support, cycle.cadence) == pytest.approx((60, 20, 120))


def test_all_cycles_of_both_feet_are_found_in_the_order_of_time() -> None:
    cycles = gait_cycles(reversed(walk(3)))
    assert [cycle.side for cycle in cycles] == ["right", "left", "right", "left", "right"]
    assert [cycle.strike for cycle in cycles] == pytest.approx([0.0, 0.5, 1.0, 1.5, 2.0])


def test_the_best_cycle_is_the_one_farthest_from_the_ends_of_the_file() -> None:
    assert best_cycle(walk(4), first=0.0, last=4.0).strike == pytest.approx(1.5)
    assert best_cycle(walk(4), first=0.0, last=4.0, side="right").strike == pytest.approx(1.0)
    assert best_cycle(walk(4), first=-5.0, last=4.0, side="right").strike == pytest.approx(0.0)


@pytest.mark.parametrize(
    ("events", "words"),
    [
        ([], "the right foot has no strike, two are needed"),
        (walk(1)[:-1], "the right foot has one strike, two are needed"),
        ([e for e in walk(1) if (e.side, e.kind) != ("left", "off")], "the left foot has no off between the strikes"),
        ([*walk(1), GaitEvent(0.7, "left", "strike")], r"the left foot has more than one \(2\) strike"),
        ([*walk(1)[:-1], GaitEvent(9.0, "right", "strike")], "9.0 s lie between .* which is a pause"),
    ],
)
def test_without_a_cycle_the_error_says_what_is_missing(events: list[GaitEvent], words: str) -> None:
    with pytest.raises(GaitError, match=words) as caught:
        best_cycle(events, 0.0, 1.0, side="right")
    assert caught.value.missing
    assert "\n" not in str(caught.value)


def test_a_run_is_no_walk() -> None:
    run = [GaitEvent(0.0, "right", "strike"), GaitEvent(0.2, "right", "off"), GaitEvent(0.3, "left", "strike"),
           GaitEvent(0.5, "left", "off"), GaitEvent(0.6, "right", "strike")]  # fmt: skip
    with pytest.raises(GaitError, match="do not take turns"):
        best_cycle(run, 0.0, 0.6, side="right")


@pytest.mark.parametrize("belt", [0.0, SPEED])
def test_stride_speed_and_width_are_those_that_were_walked(belt: float) -> None:
    gait = Gait(angle=0.5, belt=belt > 0.0)
    events = events_from_markers(gait.time, gait.heel, gait.toe, gait.pelvis)
    cycle = best_cycle(events, gait.time[0], gait.time[-1])
    found = lengths(cycle, gait.time, gait.heel, gait.direction, belt)
    assert found == pytest.approx((LENGTH, SPEED, LENGTH / 2, 0.10), rel=0.02)
    assert cycle.stance == pytest.approx(100 * STANCE, abs=2.0)
    assert cycle.double_support == pytest.approx(200 * (STANCE - 0.5), abs=3.0)
    assert np.isclose(cycle.cadence, 120.0 / STRIDE, rtol=0.02)
