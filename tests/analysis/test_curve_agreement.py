"""Agreement of two curves: correlation, error, peaks and ranges."""

from __future__ import annotations

import math

import numpy as np
import pytest

from poise.analysis import agreement
from poise.analysis.gait_curves import NO_AGREEMENT
from poise.errors import GaitError

CURVE = np.sin(np.linspace(0.0, 6.0, 50)) - 0.3


def test_size_and_offset_do_not_change_the_correlation() -> None:
    assert agreement(3.0 * CURVE + 1.0, CURVE).correlation == pytest.approx(1.0)
    assert agreement(-CURVE, CURVE).correlation == pytest.approx(-1.0)


def test_the_peak_has_the_direction_of_the_reference_peak() -> None:
    found = agreement([3.0, 0.0, -1.0], [1.0, 0.0, -2.0])
    assert (found.peak, found.reference_peak, found.peak_ratio) == (-1.0, -2.0, 0.5)
    assert (found.range, found.reference_range) == (4.0, 3.0)


def test_samples_missing_in_either_curve_are_ignored() -> None:
    gap = CURVE.copy()
    gap[10:20] = np.nan
    found = agreement(gap, CURVE)
    assert (found.samples, found.error) == (40, 0.0)
    assert agreement(np.full(50, np.nan), CURVE) is NO_AGREEMENT


def test_the_correlation_with_a_constant_curve_is_nan() -> None:
    assert math.isnan(agreement(np.ones(50), CURVE).correlation)
    assert math.isnan(agreement(CURVE, np.zeros(50)).peak_ratio)


def test_curves_of_different_length_are_refused() -> None:
    with pytest.raises(GaitError, match="two of the same length"):
        agreement(CURVE, CURVE[:-1])
