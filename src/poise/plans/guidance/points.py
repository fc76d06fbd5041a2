"""The navigation points: what an operator guides, and what follows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pinocchio
from numpy.typing import NDArray

from poise.plans.footsteps import Footstep
from poise.robots.parts import Side

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class HandPoint:
    """A hand as the body sees it.

    Args:
        position: in the body frame, whose origin is the centre of mass and whose axes are the trunk's (m, 3).
        attitude: turn from its home attitude, a rotation vector in the trunk's axes (rad, 3).
    """

    position: Array
    attitude: Array


@dataclass(frozen=True, eq=False)
class Points:
    """The navigation points ``r`` at one instant: trunk (its place is the centre of mass), feet and hands.

    Args:
        center: p_B, the centre of mass (m, 3).
        attitude: roll, pitch and yaw of the trunk (rad, 3); yaw is not wrapped, and zero is upright and along x.
        feet: both, by side: the middle of the sole, its yaw, and its height, which is above the ground if it is lifted.
        hands: by side; empty for a robot without any.
        lifted: the foot in the air, if the robot stands on one.
        last: the foot that moved last; who has the choice moves the other one.
    """

    center: Array
    attitude: Array
    feet: Mapping[Side, Footstep]
    hands: Mapping[Side, HandPoint]
    lifted: Side | None = None
    last: Side = "right"

    @property
    def trunk(self) -> Array:
        """world_from_trunk, as a rotation."""
        return np.asarray(pinocchio.rpy.rpyToMatrix(*self.attitude))

    @property
    def standing(self) -> tuple[Footstep, ...]:
        """The feet on the ground."""
        return tuple(foot for side, foot in self.feet.items() if side != self.lifted)

    def hand(self, side: Side) -> Array:
        """Where a hand is in the world (m, 3)."""
        return self.center + self.trunk @ self.hands[side].position

    def replace(self, **changes: Any) -> Points:
        """The same, but for what is named."""
        return replace(self, **changes)
