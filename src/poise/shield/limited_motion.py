"""Targets that move towards a goal with limited speed and acceleration, and stop there without overshoot.

A target at a distance e from its goal moves towards it with velocity r. In one period T its velocity becomes u and it
moves by T (r + u) / 2. It can still stop at the goal with the acceleration A if u² / (2 A) is at most what is left::

    u = √(2 A |e| - A T r + (A T / 2)²) - A T / 2,   at most V and |e| / T - r / 2, at least 0

The velocity changes by at most A T per period. A vector is limited by its length.
"""

from __future__ import annotations

import math

import numpy as np
import pinocchio

from poise.arrays import Array, Mask
from poise.geometry import so3


class LimitedAngles:
    """Targets of joints, each limited on its own.

    Args:
        count: number of joints.
        speed, acceleration: V (rad/s) and A (rad/s²), one per joint.

    Attributes:
        value, rate, acceleration: of the targets.
    """

    def __init__(self, count: int, speed: Array, acceleration: Array) -> None:
        self._speed, self._largest = np.broadcast_to(speed, count), np.broadcast_to(acceleration, count)
        self.value, self.rate, self.acceleration = (np.zeros(count) for _ in range(3))

    def advance(self, goal: Array, period: float) -> None:
        """Move all targets towards their goals (rad) for one period (s)."""
        e, change = goal - self.value, self._largest * period
        approach = np.copysign(self.rate, self.rate * e)
        squared = 2.0 * self._largest * np.abs(e) - change * approach + (0.5 * change) ** 2
        speed = np.sqrt(np.maximum(squared, 0.0)) - 0.5 * change
        bound = np.minimum(self._speed, np.abs(e) / period - 0.5 * approach)
        u = np.copysign(np.maximum(np.minimum(speed, bound), 0.0), e)
        dv = np.clip(u - self.rate, -change, change)
        self.value += period * (self.rate + 0.5 * dv)
        self.rate += dv
        self.acceleration = dv / period

    def hold_near(self, q: Array, v: Array, distance: Array) -> None:
        """Keep the targets within a distance of the joints at q, v: what is blocked does not run away (rad, rad/s)."""
        blocked = np.abs(self.value - q) > distance
        if blocked.any():
            near = np.clip(self.value, q - distance, q + distance)
            self.value, self.rate = near, np.where(blocked, np.clip(v, -self._speed, self._speed), self.rate)
            self.acceleration = np.where(blocked, 0.0, self.acceleration)

    def restart(self, which: Mask, q: Array, v: Array) -> None:
        """Put some targets (a mask) at q with velocity v, at most V."""
        self.value[which], self.rate[which] = q[which], np.clip(v, -self._speed, self._speed)[which]


class LimitedPose:
    """Target of a pose, limited in position and in rotation.

    Args:
        speed: V of position and rotation (m/s, rad/s).
        acceleration: A of position and rotation (m/s², rad/s²).

    Attributes:
        pose: the target.
        twist, twist_rate: its velocity and acceleration in the axes of the fixed frame, linear parts first.
    """

    def __init__(self, speed: tuple[float, float], acceleration: tuple[float, float]) -> None:
        self._limits = tuple(zip(speed, acceleration, strict=True))
        self.pose = pinocchio.SE3.Identity()
        self.twist, self.twist_rate = np.zeros(6), np.zeros(6)

    def restart(self, pose: pinocchio.SE3, twist: Array) -> None:
        """Put the target at a pose with a twist, at most V."""
        self.pose, self.twist_rate[:] = pose.copy(), 0.0
        for part, (speed, _) in zip((slice(0, 3), slice(3, 6)), self._limits, strict=True):
            self.twist[part] = shorten(twist[part], speed)

    def advance(self, position: Array, rotation: Array | None, period: float) -> None:
        """Move the target towards a position (m) and a rotation (None: as it is) for one period (s)."""
        step = self._advance_part(slice(0, 3), position - self.pose.translation, period, *self._limits[0])
        turn = np.zeros(3) if rotation is None else so3.log(rotation @ self.pose.rotation.T)
        turning = self._advance_part(slice(3, 6), turn, period, *self._limits[1])
        self.pose = pinocchio.SE3(pinocchio.exp3(turning) @ self.pose.rotation, self.pose.translation + step)

    def hold_near(self, pose: pinocchio.SE3, twist: Array, distances: tuple[float, float]) -> None:
        """Keep the target within distances (m, rad) of the hand, as `LimitedAngles.hold_near`."""
        offset = self.pose.translation - pose.translation
        turn = so3.log(self.pose.rotation @ pose.rotation.T)
        blocked = (math.sqrt(offset @ offset) > distances[0], math.sqrt(turn @ turn) > distances[1])
        if not any(blocked):
            return
        self.pose = pinocchio.SE3(
            pinocchio.exp3(shorten(turn, distances[1])) @ pose.rotation,
            pose.translation + shorten(offset, distances[0]),
        )
        for is_blocked, part, (speed, _) in zip(blocked, (slice(0, 3), slice(3, 6)), self._limits, strict=True):
            if is_blocked:
                self.twist[part], self.twist_rate[part] = shorten(twist[part], speed), 0.0

    def _advance_part(self, part: slice, e: Array, period: float, speed: float, acceleration: float) -> Array:
        """Advance the velocity of one part with the error e; return the displacement."""
        distance, change = math.sqrt(e @ e), acceleration * period
        direction = e / distance if distance > 0.0 else np.zeros(3)
        approach = float(direction @ self.twist[part])
        squared = 2.0 * acceleration * distance - change * approach + (0.5 * change) ** 2
        stopping = math.sqrt(max(squared, 0.0)) - 0.5 * change
        u = direction * max(min(stopping, speed, distance / period - 0.5 * approach), 0.0)
        dv = shorten(u - self.twist[part], change)
        step: Array = period * (self.twist[part] + 0.5 * dv)
        self.twist[part] += dv
        self.twist_rate[part] = dv / period
        return step


def shorten(vector: Array, length: float) -> Array:
    """Return the vector with at most this length."""
    size = math.sqrt(vector @ vector)
    return np.array(vector) if size <= length else vector * (length / size)
