"""Laws: how the posture goes to its target; references of `poise.tasks` whose gains follow the phases of a gait cycle.

A task with gain g, its derivative ġ, and damping k asks for ``ë = -(g k + ġ) e - (g + k) ė``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from poise.human.gait.paths import Timetable

#: The time to go is never counted as less, s: six periods of 5 ms. Gains would grow beyond all bounds.
SOON = 0.03


@dataclass(frozen=True)
class DecayPerPhase:
    """Critical damping with ``w = c / T``, T the duration of the phase: ``ë = -w² e - 2 w ė``.

    A phase then ends with the part ``(1 + c) exp(-c)`` of the error that it began with, be it short or long: with c = 6
    1.7 % of it.
    """

    timetable: Timetable
    share: float
    speed: float = np.inf
    acceleration: float = np.inf
    varies: bool = True

    def gains(self, time: float) -> tuple[float, float, float]:
        w = self.share / self.timetable.duration(time)
        return w, 0.0, w


@dataclass(frozen=True)
class TimeToGo:
    """The error vanishes, and its rate with it, when the phase ends: ``ë = -6 e / τ² - 4 ė / τ`` with τ the time to go.

    It is the acceleration of the cubic that ends at rest at the target, found anew at every tick.
    """

    timetable: Timetable
    speed: float = np.inf
    acceleration: float = np.inf
    varies: bool = True

    def gains(self, time: float) -> tuple[float, float, float]:
        left = max(self.timetable.left(time), SOON)
        return 2.0 / left, 2.0 / left**2, 2.0 / left
