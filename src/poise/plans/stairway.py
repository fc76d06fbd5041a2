"""Stairway: stairs that a plan knows of, and where feet go on them."""

from __future__ import annotations

import math
from dataclasses import dataclass

from poise.plans.footsteps import Footstep

#: A sole is kept this far from the edge of a tread (m): what a step lands off its place.
CLEAR = 0.02


@dataclass(frozen=True)
class Stairway:
    """Stairs that rise along x.

    Args:
        begin: where the first one rises (m).
        rise: of one (m); negative ones lead down.
        run: depth of one (m).
        count: of them.
        back, front: how far a sole reaches behind and before its middle (m).
        clear: that a sole keeps from the edge of a tread (m).
        side: how far a sole reaches to either side of its middle (m); zero: feet point along x, more or less.

    >>> route = Route(pace, steps=20, ground=Stairway(0.4, 0.05, 0.3, 4, back=0.085, front=0.085).under)
    """

    begin: float
    rise: float
    run: float
    count: int
    back: float
    front: float
    clear: float = CLEAR
    side: float = 0.0

    def under(self, step: Footstep) -> Footstep:
        """The footstep on the stairs, moved along until its whole sole has one tread under it, if one is so deep."""
        c, s = abs(math.cos(step.yaw)), self.side * abs(math.sin(step.yaw))
        back, front = (max(end, end * c + s) + self.clear for end in (self.back, self.front))
        x = self._moved(step.x, back, front) if back + front <= self.run else step.x
        return step.moved(complex(x, step.y), self.rise * self._tread(x))

    def _tread(self, x: float) -> int:
        return min(max(math.floor((x - self.begin) / self.run) + 1, 0), self.count)

    def _moved(self, x: float, back: float, front: float) -> float:
        nearest = min(max(round((x - self.begin) / self.run), 0), self.count - 1)
        edge = self.begin + nearest * self.run
        low, high = edge - front, edge + back
        if not low < x < high:
            return x
        return low if x < edge else high
