"""
Motion segments: courses of limbs, and whether the ground can bear them.
"""

from collections.abc import Sequence

import numpy
from numpy.typing import NDArray

from poise.arrays import Array

class Masses:
    def __init__(self, mass: float, leg: float, hanging: float, roll: float, pitch: float) -> None: ...

class Reach:
    def __init__(self, hips: Sequence[float], ankles: Sequence[float], longest: float, shortest: float) -> None: ...

class Swing:
    def __init__(
        self,
        start: Sequence[float],
        rate: Sequence[float],
        goal: Sequence[float],
        lift: float,
        begin: float,
        seconds: float,
        cycloid: bool,
        bulge: Sequence[float],
    ) -> None: ...
    def at(self, times: Array) -> NDArray[numpy.float64]:
        """Place and yaw, rates and accelerations (3, n, 4)."""

class Limbs:
    def __init__(
        self,
        left: Sequence[float],
        right: Sequence[float],
        step: int,
        swing: Swing | None,
        left_hip: Sequence[float],
        right_hip: Sequence[float],
        attitude: Sequence[float],
        rate: Sequence[float],
        goal: Sequence[float],
        seconds: float,
    ) -> None: ...

def courses(
    times: Array, start: Array, rate: Array, goal: Array, begin: float, seconds: float
) -> NDArray[numpy.float64]: ...
def moments(body: Masses, limbs: Limbs, times: Array, center: Array, acceleration: Array) -> NDArray[numpy.float64]: ...
def judge(
    body: Masses,
    reach: Reach,
    limbs: Limbs,
    times: Array,
    center: Array,
    acceleration: Array,
    ends: Sequence[float],
    feet: Sequence[Sequence[Sequence[float]]],
    length: float,
    width: float,
    ground: float,
) -> tuple[float, float, float, float]: ...
