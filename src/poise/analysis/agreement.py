"""Agreement: how alike two curves are, in shape and in size."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poise.analysis.gait_error import GaitError

Array = NDArray[np.float64]


class Agreement(NamedTuple):
    """A curve x against a reference y, where both are known.

    Attributes:
        samples: at how many.
        correlation: of Pearson, -1 to 1: 1 where the shapes are the same, whatever size and offset. NaN if one of them
            does not move.
        error: ``sqrt(mean (x - y)²)``, in their unit.
        peak, reference_peak: the largest deviation of y from zero, and that of x to the same side, signed.
        range, reference_range: largest less smallest of x and of y.
    """

    samples: int
    correlation: float
    error: float
    peak: float
    reference_peak: float
    range: float
    reference_range: float

    @property
    def peak_ratio(self) -> float:
        """Peak of x over that of y; NaN if y is zero."""
        return self.peak / self.reference_peak if self.reference_peak else math.nan

    @property
    def range_ratio(self) -> float:
        """Range of x over that of y; NaN if y does not move."""
        return self.range / self.reference_range if self.reference_range else math.nan


#: What two curves that are never known at once have in common.
NOTHING = Agreement(0, *[math.nan] * 6)


def agreement(values: ArrayLike, reference: ArrayLike) -> Agreement:
    """Compares two curves of one length; samples at which one of them is not finite do not count.

    >>> agreement([0.0, 1.0, 0.0, -2.0], [0.0, 2.0, 0.0, -4.0])[1:5]
    (1.0, 1.118033988749895, -2.0, -4.0)
    """
    x, y = np.asarray(values, dtype=np.float64), np.asarray(reference, dtype=np.float64)
    if x.shape != y.shape or x.ndim != 1:
        raise GaitError(f"curves of shapes {x.shape} and {y.shape} cannot be compared; give two of one length")
    both = np.isfinite(x) & np.isfinite(y)
    x, y = x[both], y[both]
    if not len(x):
        return NOTHING
    reference_peak = float(y[np.argmax(np.abs(y))])
    peak = float(x.max() if reference_peak > 0.0 else x.min())
    error = float(np.sqrt(np.mean((x - y) ** 2)))
    return Agreement(len(x), correlation(x, y), error, peak, reference_peak, float(np.ptp(x)), float(np.ptp(y)))


def correlation(x: Array, y: Array) -> float:
    """Of Pearson; NaN if one of the two does not move."""
    a, b = x - x.mean(), y - y.mean()
    size = math.sqrt(float(a @ a) * float(b @ b))
    return float(a @ b) / size if size > 0.0 else math.nan
