"""Footing: where the soles of a person are, and when they stand, by how they move.

A foot stands where one of the points under it is low and slow: less than 4 cm above the lowest places of that foot, and
below 0.4 m/s (against the belt of a treadmill). Events of the trial have the last word between a strike and the next
toe-off of the same foot, or between a toe-off and the next strike; laboratories often mark only some of them.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import pinocchio

from poise.analysis.walking_direction import belt_speed, walking_direction
from poise.human.torques.moved import Array, Marks, Moved
from poise.robots.parts import SIDES, Side

#: Points under a foot, as the human of the library names them.
POINTS = ("heel", "first_metatarsal", "fifth_metatarsal", "toe_tip")
#: A point that is higher than this above the lowest places of its foot does not touch, m: soles of a fitted body are
#: one to two centimetres off the floor.
LOW = 0.04
#: A point that is faster than this does not stand, m/s: swinging feet have 0.5 m/s even at the turn of the heel.
SLOW = 0.4
#: Events are at frames but for rounding, s.
ROUNDED = 1e-6
#: How far an event may be from what the motion says, s: beyond it an event tells nothing of a foot on its own.
APART = 0.1
#: Between a strike and a toe-off no more than this passes in a walk, s; longer ones have an event missing between them.
STANCE = 2.0


@dataclass(frozen=True, eq=False)
class Footing:
    """Feet over n frames.

    Attributes:
        points: by side, n x 4 x 3, m, in the order of `POINTS`.
        low: by side, n x 4: which of them are near the ground.
        stands: by side, n: when the foot stands.
    """

    points: dict[Side, Array]
    low: dict[Side, Marks]
    stands: dict[Side, Marks]

    def middle(self, side: Side) -> Array:
        """Halfway between heel and tip of the toes, n x 3, m."""
        return np.asarray((self.points[side][:, 0] + self.points[side][:, 3]) / 2.0)


def footing(moved: Moved) -> Footing:
    """Follows the soles of a person through a trial."""
    points = _points(moved)
    belt = _belt(moved, points)
    low, stands = {}, {}
    for side, own in points.items():
        ground = float(np.percentile(own[..., 2].min(axis=1), 5.0))
        low[side] = own[..., 2] < ground + LOW
        stands[side] = _told(moved, side, _still(moved.time, own, low[side], belt))
    return Footing(points, low, stands)


def _points(moved: Moved) -> dict[Side, Array]:
    robot = moved.robot
    model, data = robot.model, robot.model.createData()
    frames = {side: [robot.frame(f"{side}_{name}").index for name in POINTS] for side in SIDES}
    found = {side: np.empty((len(moved.time), len(POINTS), 3)) for side in SIDES}
    for k, q in enumerate(moved.q):
        pinocchio.framesForwardKinematics(model, data, q)
        for side in SIDES:
            found[side][k] = [data.oMf[frame].translation for frame in frames[side]]
    return found


def _belt(moved: Moved, points: dict[Side, Array]) -> Array:
    """Velocity of the ground, (3,), m/s: that of a treadmill, else zero."""
    heel = {side: own[:, 0] for side, own in points.items()}
    ball = {side: own[:, 1] for side, own in points.items()}
    d = walking_direction(moved.q[:, :3], heel, ball)
    return -belt_speed(moved.time, ball, d) * d if len(moved.time) > 2 else np.zeros(3)


def _still(time: Array, points: Array, low: Marks, belt: Array) -> Marks:
    if len(time) < 3:
        return np.asarray(low.any(axis=1))
    speed = np.linalg.norm(np.gradient(points, time, axis=0) - belt, axis=2)
    return np.asarray((low & (speed < SLOW)).any(axis=1))


def _told(moved: Moved, side: Side, stands: Marks) -> Marks:
    """The same, corrected between pairs of events."""
    found, time = stands.copy(), moved.time
    own = sorted((event for event in moved.trial.events if event.side == side), key=lambda event: event.time)
    for one, two in itertools.pairwise(own):
        if one.kind != two.kind and two.time - one.time < STANCE:
            found[(time >= one.time - ROUNDED) & (time < two.time - ROUNDED)] = one.kind == "strike"
    if own:  # shortly before the first event and after the last one it is that event which counts
        first, last = own[0], own[-1]
        found[(time >= first.time - APART) & (time < first.time - ROUNDED)] = first.kind == "off"
        found[(time >= last.time - ROUNDED) & (time < last.time + APART)] = last.kind == "strike"
    return found
