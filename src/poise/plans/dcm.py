"""Divergent component of motion (DCM): where it must be now for the body to end up over its next footsteps.

With c the centre of mass at height h, ``ω = sqrt(g / h)`` and ``ξ = c + ċ / ω``, the body moves as ``ξ̇ = ω (ξ - z)``,
away from the zero moment point z. A step has a double support of T_d seconds, in which z passes in a straight line from
the last foot p₋ to the next one p, and a single support of T_s seconds with z at p. Backwards from where ξ is to end::

    ξ(begin of single support) = p + (ξ_end - p) e^{-ω T_s}
    ξ(begin of double support) = p₋ + u + (ξ(begin of single support) - p - u) e^{-ω T_d},   u = (p - p₋) / (ω T_d)

A point of the plane is a complex number ``x + i y``, which Python handles ten times faster than an array of two, and
which turns by a product; arrays do as well.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Point = TypeVar("Point", complex, NDArray[np.float64])


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


def before_single(foot: Point, end: Point, seconds: float, omega: float) -> Point:
    """ξ so many seconds before it is to be at `end`, on one foot."""
    return foot + (end - foot) * math.exp(-omega * seconds)


def before_double(last: Point, foot: Point, end: Point, left: float, whole: float, omega: float) -> tuple[Point, Point]:
    """ξ and z with `left` seconds of a double support of `whole` seconds to go, at whose end ξ is to be at `end`."""
    rate = (foot - last) / whole
    z = foot - rate * left
    lead = rate / omega
    return z + lead + (end - foot - lead) * math.exp(-omega * left), z


def where_to_begin(feet: Sequence[Point], end: Point, timing: Timing, omega: float) -> Point:
    """ξ at the begin of the double support from feet[0] to feet[1], so that after the last of the feet it is at `end`.

    >>> where_to_begin([left, right, left_again], end=left_again, timing=Timing(0.4, 0.1), omega=3.5)
    """
    for last, foot in zip(reversed(feet[:-1]), reversed(feet[1:]), strict=True):
        end = before_single(foot, end, timing.single, omega)
        end, _ = before_double(last, foot, end, timing.double, timing.double, omega)
    return end


def steady_offset(stride: Point, other: Point, timing: Timing, omega: float, turn: float = 0.0) -> Point:
    """Where ξ is at the end of a single support, seen from its foot, in a walk that repeats itself every two steps.

    One step back, ``b = c(stride) + ε b'`` with ``c(u) = u (1 - e^{-ω T_d}) / (ω T_d)`` and ``ε = e^{-ω (T_s + T_d)}``;
    two steps back it is itself, turned.

    Args:
        stride: from this foot to the next (m).
        other: from the next foot to the one after.
        turn: how far two steps turn the walk (rad); points are then complex numbers.
    """
    share = -math.expm1(-omega * timing.double) / (omega * timing.double)
    shrink = math.exp(-omega * timing.whole)
    ahead = share * (stride + shrink * other)
    if turn == 0.0:
        return ahead / (1.0 - shrink**2)
    return ahead / (1.0 - shrink**2 * cmath.exp(1j * turn))  # type: ignore[return-value]
