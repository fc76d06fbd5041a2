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
    """Pose of a hand in the body frame.

    Args:
        position: position in the body frame, whose origin is the center of mass and whose axes are those of the trunk
            (m, 3).
        attitude: rotation from its home attitude, a rotation vector in the axes of the trunk (rad, 3).
    """

    position: Array
    attitude: Array


@dataclass(frozen=True, eq=False)
class NavigationPoints:
    """Navigation points ``r`` at one instant: trunk (at the center of mass), feet and hands.

    Args:
        center: p_B, the center of mass in the world (m, 3).
        attitude: roll, pitch and yaw of the trunk (rad, 3); yaw is not wrapped, and zero is upright and along x.
        feet: both feet by side: middle of the sole, yaw and height, which is above the ground if the foot is lifted.
        hands: hands by side; empty for a robot without hands.
        lifted: side of the foot in the air, if the robot stands on one foot.
        last_moved: side of the foot that moved last; if both feet are equally good, the other one steps next.
    """

    center: Array
    attitude: Array
    feet: Mapping[Side, Footstep]
    hands: Mapping[Side, HandPoint]
    lifted: Side | None = None
    last_moved: Side = "right"

    @property
    def trunk(self) -> Array:
        """Rotation world_from_trunk."""
        return np.asarray(pinocchio.rpy.rpyToMatrix(*self.attitude))

    @property
    def stance_feet(self) -> tuple[Footstep, ...]:
        """The feet on the ground."""
        return tuple(foot for side, foot in self.feet.items() if side != self.lifted)

    def hand_position(self, side: Side) -> Array:
        """Return the position of a hand in the world (m, 3)."""
        return self.center + self.trunk @ self.hands[side].position

    def replace(self, **changes: Any) -> NavigationPoints:
        """Return a copy with the given fields changed."""
        return replace(self, **changes)


# -- Goal ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Goal:
    """Goal ``ᵈr`` of a motion segment.

    Args:
        points: navigation points at the end of the segment, at rest.
        step: side of the foot that moves, if any; `points.lifted` tells whether it ends in the air.
        lift: lift of that foot above the higher of both ends (m).
        notes: deviations from the command, one sentence each: projected, discarded, a foot that must land first.
        bulge: horizontal detour of that foot around the other one in the middle of its swing (m, as x + i y).
        projected: whether the command was beyond a boundary of the workspace.
    """

    points: NavigationPoints
    step: Side | None = None
    lift: float = 0.0
    notes: tuple[str, ...] = ()
    projected: bool = False
    bulge: complex = 0j
