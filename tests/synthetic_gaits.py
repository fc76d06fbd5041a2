"""Synthetic gaits with known initial contacts and toe-offs."""

from __future__ import annotations

import numpy as np

from poise.arrays import Array
from poise.robots import Side

#: Duration (s) and length (m) of a stride, and the fraction of it in stance.
STRIDE_TIME, STRIDE_LENGTH, STANCE_SHARE = 1.1, 1.32, 0.62
WALKING_SPEED = STRIDE_LENGTH / STRIDE_TIME
#: Initial contacts of the left foot come half a stride after those of the right foot.
PHASE_SHIFT = {"left": 0.5 * STRIDE_TIME, "right": 0.0}


class SyntheticGait:
    """Trajectories of heels, forefeet and pelvis over some seconds, along any horizontal axis.

    A heel swings, moves at 0.9 m/s over the last 60 ms, which is slower than the pelvis, and stops abruptly: so its
    largest lead is 60 ms before its initial contact. A forefoot rests until toe-off and is at once faster than the
    pelvis.
    """

    def __init__(
        self, seconds: float = 4.0, rate: float = 100.0, start: float = 0.2, angle: float = 0.0, treadmill: bool = False
    ) -> None:
        self.time = start + np.arange(round(seconds * rate) + 1) / rate
        self.direction = np.array([np.cos(angle), np.sin(angle), 0.0])
        self.across = np.array([-np.sin(angle), np.cos(angle), 0.0])
        belt_travel = WALKING_SPEED * self.time if treadmill else np.zeros_like(self.time)
        self.pelvis = self._trajectory(WALKING_SPEED * self.time + 0.15 - belt_travel, 0.0, 0.95 + 0 * self.time)
        self.heel: dict[Side, Array] = {}
        self.toe: dict[Side, Array] = {}
        for side, phase_shift in PHASE_SHIFT.items():
            y = 0.05 if side == "left" else -0.05
            heel, up = _swing(self.time - phase_shift, STANCE_SHARE - 0.12, 0.9)
            toe, high = _swing(self.time - phase_shift, STANCE_SHARE, 0.0)
            self.heel[side] = self._trajectory(heel + WALKING_SPEED * phase_shift - belt_travel, y, 0.05 + up)  # type: ignore[index]
            self.toe[side] = self._trajectory(toe + 0.16 + WALKING_SPEED * phase_shift - belt_travel, y, 0.04 + high)  # type: ignore[index]

    def initial_contacts(self, side: str) -> Array:
        """Return the known initial contacts within the trial."""
        return self._times_within(PHASE_SHIFT[side])

    def toe_offs(self, side: str) -> Array:
        """Return the known toe-offs within the trial."""
        return self._times_within(PHASE_SHIFT[side] + STANCE_SHARE * STRIDE_TIME)

    def _times_within(self, first: float) -> Array:
        times = first + STRIDE_TIME * np.arange(-3, 20)
        return times[(times > self.time[0]) & (times < self.time[-1])]

    def _trajectory(self, along: Array, lateral: float, height: Array) -> Array:
        out = along[:, None] * self.direction + lateral * self.across
        out[:, 2] = height
        return out


def _swing(t: Array, stance: float, landing: float) -> tuple[Array, Array]:
    """Return the distance along the walk of a point with stance and swing, and its height above stance (m)."""
    stride, phase = np.divmod(t / STRIDE_TIME, 1.0)
    s = np.linspace(0.0, 1.0, 20001)  # of the swing
    seconds = (1.0 - stance) * STRIDE_TIME
    end = 1.0 - 0.06 / seconds
    last = landing if landing else 1.6  # toes stop at once as well, but are never slower than the pelvis before
    profile = np.where(s < end, np.abs(np.sin(np.pi * s / end)) ** 0.5, 0.0)
    base = np.where(s < end, np.maximum(last, 1.5), last)
    scale = (STRIDE_LENGTH - np.trapezoid(base, s) * seconds) / (np.trapezoid(profile, s) * seconds)
    distance = np.concatenate([[0.0], np.cumsum((base + scale * profile)[:-1] * np.diff(s)) * seconds])
    x = np.clip((phase - stance) / (1.0 - stance), 0.0, 1.0)
    return stride * STRIDE_LENGTH + np.interp(x, s, distance), 0.06 * np.sin(np.pi * x) ** 2
