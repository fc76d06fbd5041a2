"""Courses: where centre of mass and feet are to be, over time, without a word about what bears the weight."""

from __future__ import annotations

import math
from typing import NamedTuple, Protocol

import numpy as np
import pinocchio
from numpy.typing import NDArray

from poise.errors import PoiseError
from poise.geometry.curves import minimum_jerk

Array = NDArray[np.float64]
STILL = np.zeros(6)


class Wanted(NamedTuple):
    """What is wanted at one time, all seen from the middle of the reference sole, in its axes.

    Attributes:
        center, center_rate: of the centre of mass (m, m/s, 3).
        other, other_rate: reference_from_other, the other sole (its middle), and its rate: velocity (m/s) as seen from
            the reference sole, angular velocity relative to it (rad/s).
        share: of the weight that the reference sole bears, if all goes as planned.
    """

    center: Array
    center_rate: Array
    other: pinocchio.SE3
    other_rate: Array
    share: float = 0.5


class Course(Protocol):
    """Something with references over time; asking twice gives the same answer."""

    @property
    def seconds(self) -> float: ...

    def sample(self, time: float) -> Wanted: ...


class Standing:
    """Nothing moves: the first scenario of [Galdeano2014].

    Args:
        center: of mass, as seen from the reference sole (m).
        other: reference_from_other.
        seconds: how long.
    """

    def __init__(self, center: Array, other: pinocchio.SE3, seconds: float = 5.0) -> None:
        self.seconds = seconds
        self._wanted = Wanted(np.array(center), STILL[:3], other, STILL)

    def sample(self, time: float) -> Wanted:
        return self._wanted


class Squatting:
    """The centre of mass goes down and up like a cosine, in so many cycles: the second scenario.

    Args:
        center, other: as of `Standing`, at the top.
        depth: how far down (m).
        frequency: 1/s.
        cycles: how many, after `begin` seconds.
    """

    def __init__(
        self, center: Array, other: pinocchio.SE3, depth: float, frequency: float, cycles: float, begin: float = 0.0
    ) -> None:
        for name, value in (("depth", depth), ("frequency", frequency), ("cycles", cycles)):
            if not (isinstance(value, (int, float)) and 0.0 < value < math.inf):
                raise PoiseError(f"a squat's {name} is {value!r}; expected a positive number")
        self._top, self._other = np.array(center), other
        self.depth, self.frequency, self.cycles, self.begin = depth, frequency, cycles, begin
        self.seconds = begin + cycles / frequency

    def sample(self, time: float) -> Wanted:
        turns = self.frequency * (time - self.begin)
        if not 0.0 < turns < self.cycles:
            return Wanted(self._top, STILL[:3], self._other, STILL)
        angle, rate = math.tau * turns, math.tau * self.frequency
        down = np.array([0.0, 0.0, -0.5 * self.depth])
        return Wanted(self._top + (1.0 - math.cos(angle)) * down, rate * math.sin(angle) * down, self._other, STILL)


def eased(elapsed: float, seconds: float) -> tuple[float, float]:
    """From 0 to 1 with minimum jerk, and its rate (1/s)."""
    s, rate, _ = minimum_jerk(min(max(elapsed / seconds, 0.0), 1.0))
    return float(s), float(rate) / seconds
