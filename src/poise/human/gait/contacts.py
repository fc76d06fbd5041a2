"""Contacts: where the feet are during a cycle, which of them stand, and where the ground would have to push.

The same rule serves the simulated motion and the reference: a foot stands from its strike to its toe-off, by the phases
of the cycle, and is then supported by its whole sole and the tip of its toes, also while it rolls. That is what force
plates say: in two trials of one person their center of pressure was inside the hull of these points in all 82 frames
that bore the whole weight, but in 62 and 67 % of them inside that of the points less than 2 cm above their lowest one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio
from numpy.typing import NDArray

from poise.analysis.cycle_quality import support_hulls
from poise.analysis.gait_cycle import Cycle
from poise.human.gait.reference import POINTS, Reference
from poise.robots.parts import SIDES, Side
from poise.state.balance import zmp

Array = NDArray[np.float64]
Marks = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Contacts:
    """n moments of a motion.

    Attributes:
        points: places of the points under the feet, in the order of `Reference.points`, n x 8 x 3, m.
        center: of mass, n x 3, m.
        zmp: zero-moment point, n x 2, m.
        hulls: support polygon of each moment, (k, 2), m.
    """

    points: Array
    center: Array
    zmp: Array
    hulls: list[Array]

    def point(self, side: Side, name: str) -> Array:
        """Places of one point, n x 3, m: ``contacts.point("left", "heel")``."""
        return self.points[:, len(POINTS) * SIDES.index(side) + POINTS.index(name)]


def contacts(reference: Reference, cycle: Cycle, time: Array, q: Array, v: Array, a: Array, ground: float) -> Contacts:
    """Works out the contacts of a motion at n times of a cycle.

    Args:
        reference: whose body and points.
        cycle: says which foot stands when.
        time, q, v, a: the motion; n (s), n x nq, n x nv, n x nv.
        ground: height of the ground, m.
    """
    robot = reference.robot
    model, data = robot.model, robot.model.createData()
    points, center, rate = np.empty((len(q), len(reference.points), 3)), np.empty((len(q), 3)), np.empty((len(q), 6))
    soles = np.empty((len(q), len(SIDES), 5, 3))
    for k in range(len(q)):
        # Places every joint, too: the frames below are those of this posture.
        pinocchio.computeCentroidalMomentumTimeVariation(model, data, q[k], v[k], a[k])
        center[k], rate[k] = data.com[0], data.dhg.vector
        for i, point in enumerate(reference.points):
            points[k, i] = pinocchio.updateFramePlacement(model, data, point.index).translation
        for i, side in enumerate(SIDES):
            foot = robot.foot(side)
            pose = pinocchio.updateFramePlacement(model, data, foot.index)
            soles[k, i, :4] = foot.corners @ pose.rotation.T + pose.translation
            soles[k, i, 4] = points[k, len(POINTS) * i + POINTS.index("toe_tip")]
    push = zmp(center, rate[:, :3] / robot.mass, rate[:, 3:], robot.mass, ground)
    touching = np.repeat(np.column_stack([standing(cycle, side, time) for side in SIDES]), 5, axis=1)
    return Contacts(points, center, push, support_hulls(soles.reshape(len(q), -1, 3), touching))


def standing(cycle: Cycle, side: Side, time: Array) -> Marks:
    """When a foot stands, by the phases of a cycle, at n times (s)."""
    if side == cycle.side:
        return time < cycle.off
    return (time < cycle.opposite_off) | (time >= cycle.opposite_strike)


def alone(cycle: Cycle, side: Side, time: Array) -> Marks:
    """When a foot stands and the other one swings, at n times (s)."""
    other: Side = "left" if side == "right" else "right"
    return standing(cycle, side, time) & ~standing(cycle, other, time)
