"""Gait cycles: only complete ones are returned, and errors name the missing events."""

from __future__ import annotations

import numpy as np
import pytest

from poise.analysis import (
    TOE_OFF_PERCENT,
    CycleCurves,
    GaitCycle,
    GaitEvent,
    best_cycle,
    cycles_from_stance,
    events_from_markers,
    gait_cycles,
    normalize_cycle,
    normalize_cycles,
    resample,
    stride_lengths,
)
from poise.errors import GaitError
from synthetic_gaits import STANCE_SHARE, STRIDE_LENGTH, STRIDE_TIME, WALKING_SPEED, SyntheticGait


def walk_events(strides: int, first: float = 0.0) -> list[GaitEvent]:
    """Events of a walk of 1 s strides: stance 60 %, double support 10 % each."""
    events = []
    for k in range(strides):
        t = first + k
        events += [GaitEvent(t, "right", "initial_contact"), GaitEvent(t + 0.1, "left", "toe_off")]
        events += [GaitEvent(t + 0.5, "left", "initial_contact"), GaitEvent(t + 0.6, "right", "toe_off")]
    return [*events, GaitEvent(first + strides, "right", "initial_contact")]


def test_a_cycle_has_four_phases_in_the_order_of_its_events() -> None:
    (cycle,) = gait_cycles(walk_events(1, first=2.0))
    assert cycle == GaitCycle("right", 2.0, 2.6, 3.0, opposite_toe_off=2.1, opposite_initial_contact=2.5)
    assert [phase.name for phase in cycle.phases] == [
        "first double support", "single support", "second double support", "swing",
    ]  # fmt: skip
    assert [phase.end for phase in cycle.phases] == list(cycle.times[1:])
    assert cycle.event_percents == pytest.approx((0, 10, 50, 60, 100))
    assert (cycle.stance, cycle.double_support, cycle.cadence) == pytest.approx((60, 20, 120))


def test_all_cycles_of_both_feet_are_found_in_the_order_of_time() -> None:
    cycles = gait_cycles(reversed(walk_events(3)))
    assert [cycle.side for cycle in cycles] == ["right", "left", "right", "left", "right"]
    assert [cycle.initial_contact for cycle in cycles] == pytest.approx([0.0, 0.5, 1.0, 1.5, 2.0])


def test_the_best_cycle_is_the_one_farthest_from_the_ends_of_the_file() -> None:
    assert best_cycle(walk_events(4), first=0.0, last=4.0).initial_contact == pytest.approx(1.5)
    assert best_cycle(walk_events(4), first=0.0, last=4.0, side="right").initial_contact == pytest.approx(1.0)
    assert best_cycle(walk_events(4), first=-5.0, last=4.0, side="right").initial_contact == pytest.approx(0.0)


@pytest.mark.parametrize(
    ("events", "words"),
    [
        ([], "the right foot has no initial contact, two are needed"),
        (walk_events(1)[:-1], "the right foot has one initial contact, two are needed"),
        (
            [e for e in walk_events(1) if (e.side, e.kind) != ("left", "toe_off")],
            "the left foot has no toe-off between",
        ),
        (
            [*walk_events(1), GaitEvent(0.7, "left", "initial_contact")],
            r"the left foot has more than one \(2\) initial contact",
        ),
        ([*walk_events(1)[:-1], GaitEvent(9.0, "right", "initial_contact")], "9.0 s between .* are a pause"),
    ],
)
def test_without_a_cycle_the_error_names_the_missing_event(events: list[GaitEvent], words: str) -> None:
    with pytest.raises(GaitError, match=words) as caught:
        best_cycle(events, 0.0, 1.0, side="right")
    assert caught.value.missing
    assert "\n" not in str(caught.value)


def test_running_has_no_complete_walking_cycle() -> None:
    run = [GaitEvent(0.0, "right", "initial_contact"), GaitEvent(0.2, "right", "toe_off"),
           GaitEvent(0.3, "left", "initial_contact"), GaitEvent(0.5, "left", "toe_off"),
           GaitEvent(0.6, "right", "initial_contact")]  # fmt: skip
    with pytest.raises(GaitError, match="do not alternate"):
        best_cycle(run, 0.0, 0.6, side="right")


@pytest.mark.parametrize("belt", [0.0, WALKING_SPEED])
def test_stride_speed_and_width_are_those_of_the_walk(belt: float) -> None:
    gait = SyntheticGait(angle=0.5, treadmill=belt > 0.0)
    events = events_from_markers(gait.time, gait.heel, gait.toe, gait.pelvis)
    cycle = best_cycle(events, gait.time[0], gait.time[-1])
    found = stride_lengths(cycle, gait.time, gait.heel, gait.direction, belt)
    assert found == pytest.approx((STRIDE_LENGTH, WALKING_SPEED, STRIDE_LENGTH / 2, 0.10), rel=0.02)
    assert cycle.stance == pytest.approx(100 * STANCE_SHARE, abs=2.0)
    assert cycle.double_support == pytest.approx(200 * (STANCE_SHARE - 0.5), abs=3.0)
    assert np.isclose(cycle.cadence, 120.0 / STRIDE_TIME, rtol=0.02)


def test_a_cycle_of_one_foot_has_a_stance_but_no_phases() -> None:
    cycle = GaitCycle("left", 1.0, 1.6, 2.0)
    assert cycle.stance == pytest.approx(60.0)
    assert np.isnan(cycle.double_support)
    with pytest.raises(GaitError, match="the events of the other foot"):
        _ = cycle.phases


def test_cycles_from_stance_begin_at_initial_contact() -> None:
    time = np.arange(0.0, 4.0, 0.01)
    phase = np.remainder(time - 0.25, 1.0)
    stance = phase < 0.6
    stance[(time > 1.40) & (time < 1.45)] = False  # the plate loses the foot for less than a tenth of a second
    found = cycles_from_stance(time, stance, "left")
    assert [cycle.initial_contact for cycle in found] == pytest.approx([0.25, 1.25, 2.25], abs=0.011)
    assert [cycle.end for cycle in found] == pytest.approx([1.25, 2.25, 3.25], abs=0.011)
    assert [cycle.stance for cycle in found] == pytest.approx([60.0] * 3, abs=1.5)


def test_a_foot_that_stands_from_the_first_frame_or_pauses_makes_no_cycle() -> None:
    time = np.arange(0.0, 6.0, 0.01)
    assert cycles_from_stance(time, (time < 0.5) | (time > 1.0), "left") == ()
    late = ((time > 0.5) & (time < 1.0)) | ((time > 4.5) & (time < 5.0))
    assert cycles_from_stance(time, late, "right") == ()


def test_linear_resampling_is_that_of_numpy() -> None:
    rng = np.random.default_rng(3)
    time, values, moments = np.cumsum(rng.uniform(0.001, 0.1, 60)), rng.normal(size=(60, 2, 3)), rng.uniform(-1, 5, 200)
    found = resample(time, values, moments)
    for i, j in np.ndindex(2, 3):
        assert found[:, i, j] == pytest.approx(np.interp(moments, time, values[:, i, j]), abs=1e-12)


def test_a_spline_reproduces_a_cubic_and_a_straight_line_cuts_its_peak() -> None:
    time, moments = np.linspace(0.0, 1.0, 6), np.linspace(0.0, 1.0, 101)
    values = time * (1.0 - time) * (time + 2.0)
    expected = moments * (1.0 - moments) * (moments + 2.0)
    assert resample(time, values, moments, "spline") == pytest.approx(expected, abs=1e-12)
    assert resample(time, values, moments).max() < expected.max() - 1e-3


def test_values_next_to_a_gap_are_nan_except_at_samples() -> None:
    time, values = np.arange(5.0), np.array([0.0, 1.0, np.nan, 3.0, 4.0])
    found = resample(time, values, [0.5, 1.0, 1.0 + 1e-9, 1.5, 2.0, 3.0 - 1e-9, 3.0, 9.0])
    assert found == pytest.approx([0.5, 1.0, 1.0, np.nan, np.nan, 3.0, 3.0, 4.0], nan_ok=True)


def test_texts_and_codes_are_those_of_the_sample_before() -> None:
    assert resample([0.0, 1.0, 2.0], ["a", "b", "c"], [-1.0, 0.9, 1.0, 1.99, 5.0]).tolist() == ["a", "a", "b", "b", "c"]
    assert resample([0.0, 1.0], [3, 7], [0.99]).tolist() == [3]


def test_on_the_phase_normalised_scale_toe_off_is_at_sixty_per_cent() -> None:
    time = np.linspace(0.0, 3.0, 301)
    short, long = GaitCycle("left", 0.5, 0.9, 1.5), GaitCycle("left", 1.5, 2.3, 2.5)
    for cycle in (short, long):
        moments = normalize_cycle(time, time, cycle, toe_off=TOE_OFF_PERCENT)
        assert moments[[0, 60, 100]] == pytest.approx([cycle.initial_contact, cycle.toe_off, cycle.end])
        assert np.diff(moments[:61]) == pytest.approx((cycle.toe_off - cycle.initial_contact) / 60)
        assert normalize_cycle(time, time, cycle) == pytest.approx(np.linspace(cycle.initial_contact, cycle.end, 101))


@pytest.mark.filterwarnings("error")
def test_curves_of_cycles_have_a_mean_and_a_band_that_ignore_missing_values() -> None:
    time = np.linspace(0.0, 3.0, 301)
    cycles = [GaitCycle("left", 0.5, 1.1, 1.5), GaitCycle("left", 1.5, 2.3, 2.5)]
    found = normalize_cycles(time, np.where(time < 1.5, 1.0, 3.0), cycles)
    assert (found.count, found.toe_off) == (2, pytest.approx(70.0))  # type: ignore[comparison-overlap]
    assert found.mean[:-1] == pytest.approx(2.0)
    assert (found.low[:-1] == 1.0).all()
    assert (found.high == 3.0).all()
    assert found.deviation[:-1] == pytest.approx(np.sqrt(2.0))
    partly = CycleCurves(np.array([[1.0, np.nan, np.nan], [3.0, 5.0, np.nan]]))
    assert partly.mean == pytest.approx([2.0, 5.0, np.nan], nan_ok=True)
    assert partly.low == pytest.approx([1.0, 5.0, np.nan], nan_ok=True)
    assert np.isnan(normalize_cycles(time, time, []).mean).all()
