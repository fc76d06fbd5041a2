"""Pacing: how many periods are due, so that simulated time runs beside that of the clock."""

from __future__ import annotations

import time

#: What is late by more than this (s) is given up: a robot that hurries to catch up would be seen to jump.
PATIENCE = 0.1
#: The real-time factor is that of about the last second.
MEMORY = 1.0


class Pacer:
    """Tells how many periods to simulate now.

    Args:
        period: of the controller (s).

    Attributes:
        pace: simulated seconds per second that are wanted: 1, or less in slow motion.
        factor: simulated seconds per second that are reached.
    """

    def __init__(self, period: float) -> None:
        self.period, self.pace, self.factor = period, 1.0, 1.0
        self._last = time.monotonic()
        self._owed = 0.0

    def due(self) -> int:
        """Periods to simulate, since it was asked last."""
        now = time.monotonic()
        elapsed, self._last = now - self._last, now
        self._owed = min(self._owed + self.pace * elapsed, PATIENCE)
        count = int(self._owed / self.period)
        self._owed -= count * self.period
        if elapsed > 0.0:
            share = min(elapsed / MEMORY, 1.0)
            self.factor += share * (count * self.period / elapsed - self.factor)
        return count

    def rest(self) -> None:
        """Nothing is simulated for now."""
        self._last, self._owed, self.factor = time.monotonic(), 0.0, self.pace

    @property
    def wait(self) -> float:
        """Seconds until the next period is due, in real time."""
        return max((self.period - self._owed) / self.pace - (time.monotonic() - self._last), 0.0)
