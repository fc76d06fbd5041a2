"""Squats whose depth and frequency a user changes while they go on."""

from __future__ import annotations

import math

import numpy as np
import pinocchio
from numpy.typing import NDArray

from poise.plans.course import STILL, Wanted

Array = NDArray[np.float64]

#: k (1/s): what is changed is taken over to 95 % within a second.
SOON = 5.0
#: Who is asked for nothing and squats by less (m) stands: less than what anybody sees.
LEAST = 1e-4


class Squats:
    """How far the centre of mass is below where it stands, like a cosine whose depth and frequency may change::

        h = -d (1 - cos φ) / 2        d̈ = k² (d* - d) - 2 k ḋ        φ̈ = k (ω* - φ̇)

    with d* the wanted depth and ω* the wanted frequency. Both come so smoothly that ḣ never jumps: servos could not
    follow that.

    Attributes:
        height, rate, acceleration: h (m) and its derivatives, now.

    >>> squats = Squats()
    >>> squats.advance(0.001, depth=0.05, frequency=0.5)
    """

    def __init__(self) -> None:
        self.rest()

    def rest(self) -> None:
        """Stands, at once."""
        self._deep = self._deepening = self._phase = self._turning = 0.0
        self.height = self.rate = self.acceleration = 0.0

    def advance(self, period: float, depth: float, frequency: float) -> None:
        """One period (s) later, with a depth (m; zero: to stand) and a frequency (1/s) that are wanted."""
        wanted = math.tau * frequency
        if depth == 0.0 and self._deep < LEAST:
            return self.rest()
        if self._deep == 0.0:
            self._turning = wanted
        d2 = SOON**2 * (depth - self._deep) - 2.0 * SOON * self._deepening
        p2 = SOON * (wanted - self._turning)
        self._deepening += period * d2
        self._deep += period * self._deepening
        self._turning += period * p2
        self._phase = (self._phase + period * self._turning) % math.tau
        d, d1, p1, c, s = self._deep, self._deepening, self._turning, math.cos(self._phase), math.sin(self._phase)
        self.height = -0.5 * d * (1.0 - c)
        self.rate = -0.5 * (d1 * (1.0 - c) + d * p1 * s)
        self.acceleration = -0.5 * (d2 * (1.0 - c) + 2.0 * d1 * p1 * s + d * (p2 * s + p1**2 * c))


class SquatCourse:
    """Squats as a course for a body on position servos; it goes on for as long as somebody advances them.

    Args:
        center: of mass, as seen from the reference sole, when it stands (m, 3).
        other: reference_from_other.
        squats: see there.

    >>> SquatCourse(*standing(start), squats).sample(0.0).center_rate
    """

    seconds = math.inf

    def __init__(self, center: Array, other: pinocchio.SE3, squats: Squats) -> None:
        self._top, self._other, self._squats = np.array(center), other, squats

    def sample(self, time: float) -> Wanted:
        """What is wanted now; time is told by whoever advances the squats."""
        up = np.array([0.0, 0.0, 1.0])
        return Wanted(self._top + self._squats.height * up, self._squats.rate * up, self._other, STILL)
