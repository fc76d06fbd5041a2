"""DampedHold: torques that keep a posture when no solution is to be had."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from poise.robots import Robot
from poise.state import Snapshot

Array = NDArray[np.float64]

#: At this deviation a joint holds against its posture with all that its motor has (rad): stiff enough for ankles to
#: carry a body that leans, which takes the weight times the height of its centre per rad.
GIVES = 0.2
#: Damping over stiffness, s; that of a body which leans on its ankles dies out within half a second.
LAG = 0.05
#: Most damping that a joint bears in discrete time, as a share of its own inertia over the period.
BEARS = 0.3
#: Time constant of the average of torques before the hold, s.
MEMORY = 0.05


class DampedHold:
    """``τ = τ₀ + K (q₀ - q) - D v`` per joint, within its limits.

    τ₀ is the average of the torques before, which bore the weight; q₀ the posture when the hold began; stiffness K and
    damping D follow from the motors' limits and the inertia that each joint moves. Without a state the torque before
    is kept.
    """

    def __init__(self, robot: Robot, period: float) -> None:
        self.limit: Array = np.array(robot.limits.torque)
        inertia = np.diag(Snapshot(robot).at(robot.stance("standing")).mass_matrix)[6:]
        self.stiffness: Array = self.limit / GIVES
        self.damping: Array = np.minimum(LAG * self.stiffness, BEARS * inertia / period)
        # A joint whose damping is cut may not stay stiffer than it can damp.
        self.stiffness = np.minimum(self.stiffness, self.damping / LAG)
        self._joints = np.array([joint.q for joint in robot.joints])
        self._keeping = np.exp(-period / MEMORY)
        self._average: Array | None = None
        self._last: Array = np.zeros(len(self.limit))
        self._posture: Array | None = None

    def remember(self, torque: Array) -> None:
        """Takes note of a torque that was good; a hold that was is over."""
        self._average = torque if self._average is None else torque + self._keeping * (self._average - torque)
        self._last, self._posture = torque, None

    def torque(self, snapshot: Snapshot | None) -> Array:
        """The torques of the hold; the snapshot is None when the state is not known."""
        if snapshot is not None and snapshot.finite:
            q, v = snapshot.q[self._joints], snapshot.v[6:]
            if self._posture is None:
                self._posture = q
            steady = np.zeros(len(self.limit)) if self._average is None else self._average
            self._last = steady + self.stiffness * (self._posture - q) - self.damping * v
        return np.asarray(np.clip(self._last, -self.limit, self.limit))
