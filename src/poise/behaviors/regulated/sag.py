"""Sag: by how much servos give way under a weight that passes from foot to foot."""

from __future__ import annotations

import numpy as np
import pinocchio
from numpy.typing import NDArray

from poise.robots import Robot
from poise.state import Snapshot

Array = NDArray[np.float64]


class Sag:
    """What must be added to the angles of joints so that they are reached although servos are springs.

    A servo of stiffness K that bears τ is off its target by τ / K. At rest, with the share s of the weight on one sole
    and the rest on the other, in their middles::

        τ = g(q) - s J_aᵀ w - (1 - s) J_bᵀ w        w the weight, upwards

    Added is what this changes since the start: what servos give there is for the regulation to find out, as it finds
    out all else that nobody told it of.

    Args:
        robot: with servos.
        reference: how it stands at the start.
        stiffness: of the servos, as a share of what their data say.
        share: of the weight on the first foot there.
    """

    def __init__(self, robot: Robot, reference: Snapshot, stiffness: float = 1.0, share: float = 0.5) -> None:
        self._robot, self._data = robot, robot.model.createData()
        self._soft = robot.servos.full_torque / (stiffness * robot.limits.torque)
        self._weight = 9.81 * robot.mass
        self._feet = [(foot, foot.sole.center if foot.sole.center.any() else None) for foot in robot.feet]
        self._first = np.zeros(len(robot.joints))
        self._first = self.angles(reference, share)

    def angles(self, reference: Snapshot, share: float) -> Array:
        """To be added to the joints (rad)."""
        torque = pinocchio.computeGeneralizedGravity(self._robot.model, self._data, reference.q)[6:]
        for (foot, middle), part in zip(self._feet, (share, 1.0 - share), strict=True):
            J = reference.jacobian(foot)
            up = J[2, 6:]  # how the middle of the sole rises
            if middle is not None:
                x, y, _ = reference.rotation(foot) @ middle
                up = up + y * J[3, 6:] - x * J[4, 6:]
            torque = torque - (part * self._weight) * up
        return np.asarray(self._soft * torque - self._first)
