"""The swinging foot: from where it is to a footstep that may still move."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from poise.geometry.curves import Quintic
from poise.plans.footsteps import Footstep

Array = NDArray[np.float64]

#: The foot is highest after this share of the swing: it leaves quickly and comes down slowly.
APEX = 0.45
#: How fast it touches down, m/s: so slow that the ground hardly notices, so fast that it arrives.
LANDING = 0.1
#: With less than this left, s, the curve is not bent any more.
FROZEN = 0.02


@dataclass
class Swing:
    """Where the middle of the sole is (x, y, z, yaw), how fast, and how its motion goes on.

    It is planned anew at every tick from its own last value, so a footstep that moves bends the curve and never makes
    it jump.

    Attributes:
        value, rate, acceleration: x, y, z (m) and yaw (rad) now.
        lift: height of the apex above the higher of both ends (m).
    """

    value: Array
    lift: float
    rate: Array = field(default_factory=lambda: np.zeros(4))
    acceleration: Array = field(default_factory=lambda: np.zeros(4))
    apex: float = 0.0

    @classmethod
    def of(cls, start: Footstep, goal: Footstep, lift: float) -> Swing:
        swing = cls(np.array([start.x, start.y, start.z, start.yaw]), lift)
        swing.apex = max(start.z, goal.z) + lift
        return swing

    def advance(self, goal: Footstep, elapsed: float, left: float, period: float) -> None:
        """Goes on for one period, with so many seconds since its begin and until touchdown."""
        if left <= FROZEN:
            # Straight on: level flight ends, the descent goes on until something is touched.
            self.value = self.value + period * self.rate
            self.acceleration = np.zeros(4)
            self.rate = np.array([0.0, 0.0, -LANDING, 0.0])
            return
        ends = np.array([goal.x, goal.y, goal.z, goal.yaw])
        end_rate = np.array([0.0, 0.0, -LANDING, 0.0])
        plane = Quintic((self.value, self.rate, self.acceleration), (ends, end_rate, np.zeros(4)), left)
        value, rate, acceleration = (np.array(part) for part in plane.sample(min(period, left)))
        up = APEX * (elapsed + left) - elapsed
        if up > FROZEN:
            rising = Quintic((self.value[2], self.rate[2], self.acceleration[2]), (self.apex, 0.0, 0.0), up).sample(
                min(period, up)
            )
            value[2], rate[2], acceleration[2] = (float(part) for part in rising)
        self.value, self.rate, self.acceleration = value, rate, acceleration
