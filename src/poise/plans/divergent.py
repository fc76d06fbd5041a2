"""The divergent component of motion: where a walk must be, now, to end up over its next footsteps.

With c the centre of mass at height h, ``ω = sqrt(g / h)`` and ``ξ = c + ċ / ω``, the body moves as ``ξ̇ = ω (ξ - z)``,
away from the zero moment point z. A step has a double support of T_d seconds, in which z passes in a straight line from
the last foot p₋ to the next one p, and a single support of T_s seconds with z at p. Backwards from where ξ is to end::

    ξ(begin of single support) = p + (ξ_end - p) e^{-ω T_s}
    ξ(begin of double support) = p₋ + u + (ξ(begin of single support) - p - u) e^{-ω T_d},   u = (p - p₋) / (ω T_d)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

GRAVITY = 9.81


@dataclass(frozen=True)
class Timing:
    """Durations of a step, in seconds.

    Args:
        single: on one foot.
        double: on both, before it.
    """

    single: float
    double: float

    @property
    def whole(self) -> float:
        """Of single and double support together."""
        return self.single + self.double


def natural_frequency(height: float) -> float:
    """ω of a body whose centre of mass is so high (m) above the ground, 1/s."""
    return math.sqrt(GRAVITY / height)


def before_single(foot: Array, end: Array, seconds: float, omega: float) -> Array:
    """ξ so many seconds before it is to be at `end`, on one foot."""
    return np.asarray(foot + (end - foot) * math.exp(-omega * seconds))


def before_double(last: Array, foot: Array, end: Array, left: float, whole: float, omega: float) -> tuple[Array, Array]:
    """ξ and z with `left` seconds of a double support of `whole` seconds to go, at whose end ξ is to be at `end`."""
    rate = (foot - last) / whole
    z = foot - rate * left
    return np.asarray(z + rate / omega + (end - foot - rate / omega) * math.exp(-omega * left)), z


def where_to_begin(feet: Sequence[Array], end: Array, timing: Timing, omega: float) -> Array:
    """ξ at the begin of the double support from feet[0] to feet[1], so that after the last of the feet it is at `end`.

    >>> where_to_begin([left, right, left_again], end=left_again, timing=Timing(0.4, 0.1), omega=3.5)
    """
    for last, foot in zip(reversed(feet[:-1]), reversed(feet[1:]), strict=True):
        end = before_single(foot, end, timing.single, omega)
        end, _ = before_double(last, foot, end, timing.double, timing.double, omega)
    return end


def steady_offset(stride: Array, other: Array, timing: Timing, omega: float) -> Array:
    """Where ξ is at the end of a single support, seen from its foot, in a walk that repeats itself every two steps.

    Args:
        stride: from this foot to the next (m).
        other: from the next foot to the one after.
    """
    # ξ_end - p = b with b' of the other foot: both follow from each other through one step; solved by iteration, which
    # contracts by e^{-ω T} each time.
    b = np.zeros(2)
    for _ in range(20):
        for step in (other, stride):
            end = before_single(step, step + b, timing.single, omega)
            b, _ = before_double(np.zeros(2), step, end, timing.double, timing.double, omega)
    return b
