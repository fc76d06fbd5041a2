"""Footsteps: where the feet go, from a speed or from the parameters of a style."""

from __future__ import annotations

import cmath
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from poise.robots.parts import Side

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Footstep:
    """A foot on the ground.

    Args:
        side: which foot.
        x, y: middle of its sole in the world (m).
        yaw: where its toes point (rad, not wrapped: a walk may turn many times).
        z: height of the ground there (m).
    """

    side: Side
    x: float
    y: float
    yaw: float = 0.0
    z: float = 0.0

    @property
    def place(self) -> complex:
        """Middle of the sole, from above, as x + i y (m)."""
        return complex(self.x, self.y)

    @property
    def heading(self) -> complex:
        """Where the toes point, of length one."""
        return cmath.exp(1j * self.yaw)

    def moved(self, place: complex, z: float | None = None) -> Footstep:
        """The same foot elsewhere."""
        return Footstep(self.side, place.real, place.imag, self.yaw, self.z if z is None else z)

    @property
    def point(self) -> Array:
        """Middle of the sole, from above (m, 2)."""
        return np.array([self.x, self.y])

    @property
    def rotation(self) -> Array:
        """world_from_foot of a flat foot."""
        c, s = math.cos(self.yaw), math.sin(self.yaw)
        return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])

    @property
    def position(self) -> Array:
        """Middle of the sole (m, 3)."""
        return np.array([self.x, self.y, self.z])


def other(side: Side) -> Side:
    return "left" if side == "right" else "right"


@dataclass(frozen=True)
class Gait:
    """What each step adds.

    Args:
        forward: m per step, negative backwards.
        sideways: m per step of both feet together, positive to the left.
        turn: rad per step, positive to the left.
        width: between the middles of the feet (m).
    """

    forward: float = 0.0
    sideways: float = 0.0
    turn: float = 0.0
    width: float = 0.2

    def after(self, support: Footstep, z: float | None = None) -> Footstep:
        """Where the other foot goes while this one stands.

        The feet walk on both sides of a line that turns by `turn` per step. Sideways, only the foot on the side that
        the walk goes to steps out, by twice the amount; the other follows.
        """
        side = other(support.side)
        outward = 1.0 if side == "left" else -1.0
        aside = outward * self.width + 2.0 * self.sideways * (self.sideways * outward > 0.0)
        at = support.place + complex(self.forward, aside) * cmath.exp(1j * (support.yaw + 0.5 * self.turn))
        return Footstep(side, at.real, at.imag, support.yaw + self.turn, support.z if z is None else z)

    def beside(self, support: Footstep) -> Footstep:
        """Where the other foot goes to end side by side."""
        return Gait(width=self.width).after(support)

    @classmethod
    def of_speed(cls, speed: tuple[float, float, float], step_seconds: float, width: float) -> Gait:
        """The gait that walks at (vx, vy, turning rate) in m/s and rad/s."""
        vx, vy, wz = speed
        return cls(vx * step_seconds, vy * step_seconds, wz * step_seconds, width)
