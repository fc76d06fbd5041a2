"""Navigation points (trunk, feet and hands), and the goal of all of them at the end of a motion segment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pinocchio

from poise.arrays import Array
from poise.plans.footsteps import Footstep
from poise.robots import Side


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
class NavigationPoints:
    """The navigation points ``r`` at one instant: trunk (its place is the centre of mass), feet and hands.

    Args:
        center: p_B, the centre of mass (m, 3).
        attitude: roll, pitch and yaw of the trunk (rad, 3); yaw is not wrapped, and zero is upright and along x.
        feet: both, by side: the middle of the sole, its yaw, and its height, which is above the ground if it is lifted.
        hands: by side; empty for a robot without any.
        lifted: the foot in the air, if the robot stands on one.
        last_moved: the foot that moved last; who has the choice moves the other one.
    """

    center: Array
    attitude: Array
    feet: Mapping[Side, Footstep]
    hands: Mapping[Side, HandPoint]
    lifted: Side | None = None
    last_moved: Side = "right"

    @property
    def trunk(self) -> Array:
        """world_from_trunk, as a rotation."""
        return np.asarray(pinocchio.rpy.rpyToMatrix(*self.attitude))

    @property
    def stance_feet(self) -> tuple[Footstep, ...]:
        """The feet on the ground."""
        return tuple(foot for side, foot in self.feet.items() if side != self.lifted)

    def hand_position(self, side: Side) -> Array:
        """Where a hand is in the world (m, 3)."""
        return self.center + self.trunk @ self.hands[side].position

    def replace(self, **changes: Any) -> NavigationPoints:
        """The same, but for what is named."""
        return replace(self, **changes)


# -- Goal ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Goal:
    """The goal set ``ᵈr`` of a motion segment.

    Args:
        points: where everything is to be at its end, at rest.
        step: the foot that moves, if one does; `points.lifted` tells whether it ends in the air.
        lift: how high that foot is lifted above the higher of both ends (m).
        notes: what was not done as commanded, one sentence each: projected, discarded, a foot that must land first.
        bulge: how far that foot goes out of the way of the other one in the middle of its swing (m, as x + i y).
        projected: whether the command was beyond a boundary of the workspace.
    """

    points: NavigationPoints
    step: Side | None = None
    lift: float = 0.0
    notes: tuple[str, ...] = ()
    projected: bool = False
    bulge: complex = 0j
