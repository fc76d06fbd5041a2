"""Spin: arms and trunk turn with a push, for as long as the ground alone cannot hold the body."""

from __future__ import annotations

import math

import numpy as np

from poise.robots import Foot, State
from poise.tasks import Live

#: Nothing turns while the ZMP is within this share of the half sole: what standing and squatting need.
EDGE = 0.65
#: Most angular momentum, as a share of m h sqrt(g h): with more, joints of small robots are at the limits of speed.
MOST = 0.18
#: It is given back at this rate, in ω: slowly, since the ground has to take it.
FADE = 1.4
#: Time constant of the filter on the ZMP (s): a push of 0.1 s is to be met while it lasts.
QUICK = 0.005


class Spin:
    """Angular momentum that is asked of the body when the ZMP comes to the edge of the soles.

    A flat sole can push no further out than its edge. What is missing then, the body gains by turning: a moment L̇ about
    its centre of mass acts like a ZMP that is L̇ / (m g) further out. So, with z the ZMP and o how far it is beyond
    `EDGE` on its way to the edge, from 0 to 1 and along each axis::

        L̇* = k m g h (ẑ x o) - FADE ω (1 - |o|) L*

    Where arms and trunk come to the ends of their ranges, the strict order of the levels sees to the rest.

    Args:
        start: on both feet.
        foot: whose sole counts.
        share: k.

    Attributes:
        momentum: L* about x and y (kg m²/s), live.
    """

    def __init__(self, start: State, foot: Foot, share: float) -> None:
        sole, robot = foot.sole, start.robot
        self._half = 0.5 * (sole.x_max - sole.x_min), 0.5 * (sole.y_max - sole.y_min)
        height = float(start.center_of_mass[2] - start.pose(foot).translation[2])
        self._moment = share * 9.81 * robot.mass * height
        self._most = MOST * robot.mass * height * math.sqrt(9.81 * height)
        self._fade = FADE * math.sqrt(9.81 / height)
        self.momentum = Live(np.zeros(2))
        self._value = self._felt = 0j

    def step(self, error: complex, period: float, trust: float = 1.0) -> None:
        """One period later, with ε_ZMP (m)."""
        self._felt += period / (period + QUICK) * (-trust * error - self._felt)
        x, y = (_beyond(z, half) for z, half in zip((self._felt.real, self._felt.imag), self._half, strict=True))
        wanted = complex(-y, x)
        self._value += period * (self._moment * wanted - self._fade * max(1.0 - abs(wanted), 0.0) * self._value)
        if abs(self._value) > self._most:
            self._value *= self._most / abs(self._value)
        self.momentum.value[:] = self._value.real, self._value.imag


def _beyond(z: float, half: float) -> float:
    """How far on the way from `EDGE` to the edge, with the sign of z."""
    return math.copysign(min(max(abs(z) / half - EDGE, 0.0) / (1.0 - EDGE), 1.0), z)
