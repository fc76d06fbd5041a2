"""Clock: a controller and a simulation that tick at their own rates."""

from __future__ import annotations

import math
from typing import Any


class Clock:
    """Counts steps of a simulation so that they keep up with the periods of a controller.

    The time of the simulation is ``begin + steps · period``, counted and never summed up. After n periods T of the
    controller it has made ``floor(n T / period)`` steps: where the ratio is no whole number, it takes a step more now
    and then, and is never more than one step behind.

    Args:
        begin: s.
        period: of the simulation (s).
    """

    def __init__(self, begin: float, period: float) -> None:
        self.begin, self.period, self.steps = begin, period, 0
        self._from, self._ticks, self._tick = 0.0, 0, period

    @property
    def time(self) -> float:
        """s."""
        return self.begin + self.steps * self.period

    def due(self, tick: Any) -> int:
        """How many steps to make for one more period of the controller (s); the last good one if it is none."""
        good = isinstance(tick, (int, float)) and 0.0 < tick < math.inf
        if good and tick != self._tick:
            self._from, self._ticks, self._tick = self._from + self._ticks * self._tick, 0, float(tick)
        self._ticks += 1
        passed = self._from + self._ticks * self._tick
        # A millionth of a step: more than rounding of a day, and far less than a step.
        return max(math.floor(passed / self.period + 1e-6) - self.steps, 0)
