"""Curves over the cycle: their steps, ranges, differences and spread."""

from __future__ import annotations

import numpy as np
import pytest

from poise.analysis import (
    TABLE_I,
    TABLE_I_JOINTS,
    GaitCycle,
    curves_over_people,
    normalize_cycle,
    range_of_motion,
    root_mean_square_error,
)
from poise.errors import GaitError


def cycle(begin: float, end: float) -> GaitCycle:
    return GaitCycle("right", begin, begin + 0.6 * (end - begin), end)


def test_the_table_has_six_rotations_of_the_right_leg_and_then_the_same_of_the_left() -> None:
    assert len(TABLE_I_JOINTS) == 12
    assert [name.removeprefix("right_") for name in TABLE_I_JOINTS[:6]] == [
        name.removeprefix("left_") for name in TABLE_I_JOINTS[6:]
    ]


def test_the_ranges_of_the_paper_differ_by_more_than_its_printed_differences() -> None:
    """Its printed differences sum to 70 degrees, 5.8 each; those of its ranges to 74: two of the left are misprints."""
    assert sum(abs(row.simulation - row.reference) for row in TABLE_I) == 70.0 + (12.0 - 9.0) + (14.0 - 13.0)


@pytest.mark.parametrize("rate", [50.0, 100.0, 997.0])
def test_a_cycle_has_the_same_101_values_at_every_frame_rate(rate: float) -> None:
    time = np.arange(-0.3, 1.6, 1.0 / rate)
    share = np.linspace(0.0, 1.0, 101)
    for k in (1, 3):
        values = np.sin(2 * np.pi * k * (time - 0.1) / 1.2)
        expected = np.sin(2 * np.pi * k * share)
        assert normalize_cycle(time, values, cycle(0.1, 1.3), kind="spline") == pytest.approx(
            expected, abs=2e-4 if rate < 60 else 1e-5
        )


def test_normalisation_keeps_the_shape_of_the_values() -> None:
    time = np.linspace(0.0, 1.0, 50)
    values = np.stack([np.stack([time, time**2]), np.stack([-time, 1 + time])]).transpose(2, 0, 1)
    found = normalize_cycle(time, values, cycle(0.2, 0.8), kind="spline")
    assert found.shape == (101, 2, 2)
    assert found[50, 0, 1] == pytest.approx(0.25)


def test_a_gap_stays_a_gap_in_its_own_column() -> None:
    time = np.linspace(0.0, 1.0, 101)
    values = np.stack([time, time], axis=1)
    values[40:61, 1] = np.nan
    found = normalize_cycle(time, values, cycle(0.0, 1.0), kind="spline")
    assert found[:, 0] == pytest.approx(np.linspace(0, 1, 101))
    assert np.flatnonzero(np.isnan(found[:, 1])).tolist() == list(range(40, 61))


def test_a_cycle_outside_the_motion_is_refused() -> None:
    with pytest.raises(GaitError, match=r"the motion from 0\.000 to 1\.000 s"):
        normalize_cycle([0.0, 0.5, 1.0], [0.0, 1.0, 0.0], cycle(0.5, 1.2))
    with pytest.raises(GaitError, match="one for each time"):
        normalize_cycle([0.0, 0.5, 1.0], [0.0, 1.0], cycle(0.0, 1.0))


def test_range_and_error_equal_their_formulas() -> None:
    share = np.linspace(0.0, 2.0 * np.pi, 100, endpoint=False)
    curves = np.stack([30.0 * np.sin(share), 5.0 + 2.0 * np.cos(share)], axis=1)
    assert range_of_motion(curves) == pytest.approx([60.0, 4.0])
    reference = np.stack([30.0 * np.sin(share), np.zeros(100)], axis=1)
    assert root_mean_square_error(curves, reference) == pytest.approx([0.0, np.sqrt(25.0 + 2.0)])
    assert root_mean_square_error(curves, reference, remove_offset=True) == pytest.approx([0.0, np.sqrt(2.0)])
    with pytest.raises(GaitError, match="the same shape"):
        root_mean_square_error(curves, reference[:50])


def test_mean_and_deviation_are_over_people() -> None:
    people = np.array([1.0, 2.0, 6.0])[:, None, None] * np.ones((3, 101, 12))
    spread = curves_over_people(people)
    assert spread.count == 3
    assert spread.mean == pytest.approx(np.full((101, 12), 3.0))
    assert spread.deviation == pytest.approx(np.full((101, 12), np.sqrt(7.0)))


@pytest.mark.filterwarnings("error")
def test_one_person_has_a_mean_but_no_deviation() -> None:
    spread = curves_over_people(np.ones((1, 101)))
    assert spread.mean == pytest.approx(np.ones(101))
    assert np.isnan(spread.deviation).all()
    with pytest.raises(GaitError, match="no curves given"):
        curves_over_people(np.ones((0, 101)))
