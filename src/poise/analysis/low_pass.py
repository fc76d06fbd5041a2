"""Low pass: what is left of curves without what is faster than a cut-off."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.signal import butter, sosfiltfilt

Array = NDArray[np.float64]

#: A Butterworth filter of second order run forth and back has fallen to 1/√2 at this share of its own cut-off.
DOUBLE_PASS = (2.0**0.5 - 1.0) ** 0.25
#: Fewest samples that a filter can be run on forth and back.
FEWEST = 12


def low_passed(values: Array, rate: float, cutoff: float | None) -> Array:
    """Values (n, ...) through a Butterworth filter of second order, forth and back, so that nothing is delayed.

    They stay as they are without a cut-off, if it is beyond half of the rate, and where one is missing: a filter would
    spread the gap over all of them.

    Args:
        values: n samples in equal steps.
        rate: samples a second.
        cutoff: where the amplitude has fallen to 1/√2 after both passes, Hz.

    >>> low_passed(torque, 500.0, 6.0).shape == torque.shape
    True
    """
    if cutoff is None or len(values) < FEWEST or not 0.0 < cutoff < 0.5 * rate or not np.isfinite(values).all():
        return values
    # Of a sampled filter frequencies are those of tan(π f / rate).
    single = rate / math.pi * math.atan(math.tan(math.pi * cutoff / rate) / DOUBLE_PASS)
    sections = butter(2, single, fs=rate, output="sos")
    # Mirrored at the ends over three periods of the cut-off, after which the filter has come to rest.
    return np.asarray(sosfiltfilt(sections, values, axis=0, padlen=min(len(values) - 1, round(3.0 * rate / cutoff))))
