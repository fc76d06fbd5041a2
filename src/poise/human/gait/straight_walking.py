"""Straight walking: which gait cycles of a motion are steps forward in a straight line.

A cycle counts if the pelvis travels, faces the direction of travel, and does not turn. Joint angles of turning,
side-stepping or backward gait are valid, but they must not be averaged with those of straight walking or compared with
its norm.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import pinocchio

from poise.analysis import GaitCycle
from poise.arrays import Array
from poise.errors import GaitError
from poise.human.gait.reference_walk import ReferenceWalk
from poise.robots import Side

#: Smallest displacement of the pelvis over a cycle (m): a third of the stride of a slow adult.
SMALLEST_STRIDE = 0.25
#: Largest angle between the direction that the pelvis faces and that of its displacement (rad). In straight gait, left
#: and right rotation of the pelvis cancel over a cycle; pathological gait has up to 15 degrees.
LARGEST_DRIFT = np.radians(30.0)
#: Largest change of the direction of the pelvis from the beginning of a cycle to its end (rad): below 5 degrees on a
#: straight line; a turn of 90 degrees within four cycles has 22.
LARGEST_TURN = np.radians(15.0)


class Straightness(NamedTuple):
    """Displacement of the pelvis over a cycle (m), mean angle between facing and travel, and turn (rad)."""

    displacement: float
    drift: float
    turn: float

    @property
    def reason(self) -> str:
        """Why the cycle is not straight walking; empty if it is."""
        if self.displacement < SMALLEST_STRIDE:
            return f"the pelvis moves by only {self.displacement:.2f} m"
        if abs(self.turn) > LARGEST_TURN:
            return f"the person turns by {abs(np.degrees(self.turn)):.0f} degrees"
        if abs(self.drift) > np.pi - LARGEST_DRIFT:
            return "the person walks backwards"
        if abs(self.drift) > LARGEST_DRIFT:
            return f"the person walks sideways, {abs(np.degrees(self.drift)):.0f} degrees from where the pelvis faces"
        return ""


def straightness(reference: ReferenceWalk, cycle: GaitCycle) -> Straightness:
    """Measure how straight a gait cycle is."""
    inside = (reference.time >= cycle.initial_contact - 1e-9) & (reference.time <= cycle.end + 1e-9)
    q = reference.q[inside]
    facing = np.unwrap(_facing(q))
    travel = q[-1, :2] - q[0, :2]
    drift = float(np.mean(facing)) - float(np.arctan2(travel[1], travel[0]))
    return Straightness(
        float(np.hypot(*travel)), float((drift + np.pi) % (2.0 * np.pi) - np.pi), float(facing[-1] - facing[0])
    )


def straight_cycle(reference: ReferenceWalk, cycles: Iterable[GaitCycle], side: Side | None = None) -> GaitCycle:
    """Return the straight gait cycle farthest from both ends of the motion, by default of the right foot if it has any.

    Raises:
        GaitError: no cycle is straight walking; the message has the reason of each.
    """
    first, last = float(reference.time[0]), float(reference.time[-1])
    known = [cycle for cycle in cycles if side in (None, cycle.side)]
    reasons = {cycle: straightness(reference, cycle).reason for cycle in known}
    straight = [cycle for cycle in known if not reasons[cycle]]
    if not straight:
        texts = dict.fromkeys(f"{cycle.initial_contact:.2f} to {cycle.end:.2f} s: {reasons[cycle]}" for cycle in known)
        raise GaitError(f"no gait cycle of straight walking: {'; '.join(list(texts)[:4]) or 'no complete cycle'}")
    preferred = [cycle for cycle in straight if side is None and cycle.side == "right"] or straight
    return max(preferred, key=lambda each: (min(each.initial_contact - first, last - each.end), -each.initial_contact))


def _facing(q: Array) -> Array:
    """Return the horizontal direction that the pelvis faces (n, rad)."""
    forward = np.array([pinocchio.Quaternion(*each[[6, 3, 4, 5]]).matrix()[:2, 0] for each in q])
    return np.asarray(np.arctan2(forward[:, 1], forward[:, 0]))
