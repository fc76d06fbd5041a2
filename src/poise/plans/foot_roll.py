"""Roll of a foot about the front edge of its sole: its heel rises before it leaves the ground."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pinocchio

from poise.arrays import Array
from poise.plans.footsteps import LEAST_REPLAN_TIME, CurvePoint, quintic_point
from poise.robots import Foot

#: Fraction of the double support after which the heel rises: the front foot has to bear a part of the weight, because
#: the ankle cannot hold all of it on the front edge.
ROLL_BEGIN = 0.4
#: Rate of the pitch when the foot leaves the ground, as a multiple of pitch / duration of the roll.
LEAVING_RATE = 1.6
#: Gain of the feedback of the pitch (1/s): ground and ankle hold it only in part.
ROLL_GAIN = 15.0


@dataclass(frozen=True)
class FootRoll:
    """Current point of a foot that rolls about the front edge of its sole.

    Attributes:
        flat: pose of the foot before it rolls (world_from_foot).
        pitch: pitch of the sole (rad, positive with the heel up), its rate and acceleration.
        goal: pitch at the end of the double support (rad).
        seconds: duration of the roll (s); zero: it has not begun.
    """

    flat: pinocchio.SE3
    pitch: CurvePoint = (0j, 0j, 0j)
    goal: float = 0.0
    seconds: float = 0.0

    @property
    def has_begun(self) -> bool:
        """Whether the heel rises."""
        return self.seconds > 0.0

    def advance(self, rise: float, remaining: float, duration: float, period: float, relieved: bool) -> FootRoll:
        """Return the roll one period later.

        Args:
            rise: pitch at the end of a roll that begins in time (rad); if it begins late, the pitch is smaller.
            remaining: seconds until the end of the double support.
            duration: its duration (s).
            period: sampling period (s).
            relieved: whether the other foot bears weight, without which no roll begins.
        """
        if not self.has_begun:
            share = remaining / ((1.0 - ROLL_BEGIN) * duration)
            if share > 1.0 or not relieved or remaining < LEAST_REPLAN_TIME:
                return self
            return replace(self, goal=share**2 * rise, seconds=remaining)
        if remaining < LEAST_REPLAN_TIME:
            value, rate, _ = self.pitch
            return replace(self, pitch=(value + period * rate, rate, 0j))
        end = self.goal, LEAVING_RATE * self.goal / self.seconds, 0.0
        return replace(self, pitch=quintic_point(self.pitch, end, remaining, period))

    def motion(self, foot: Foot, point: Array, measured: Array | None = None) -> tuple[pinocchio.SE3, Array, Array]:
        """Return the pose of the foot, and the twist at a point of it with its rate, in world axes, linear parts first.

        Args:
            foot: the foot.
            point: point in the frame of the foot (m, 3).
            measured: measured rotation of the foot, which is led to the planned pitch; None: no feedback.
        """
        value, rate, acceleration = (part.real for part in self.pitch)
        axis = self.flat.rotation[:, 1]
        turn = pinocchio.AngleAxis(value, axis).toRotationMatrix()
        R = turn @ self.flat.rotation
        edge = front_edge(foot)
        pivot = self.flat.act(edge)
        pose = pinocchio.SE3(R, pivot - R @ edge)
        if measured is not None:
            rate += ROLL_GAIN * float(axis @ pinocchio.log3(R @ measured.T))
        w, alpha = rate * axis, acceleration * axis
        arm = R @ (point - edge)
        speed = np.cross(w, arm)
        twist = np.concatenate([speed, w])
        return pose, twist, np.concatenate([np.cross(alpha, arm) + np.cross(w, speed), alpha])


def front_edge(foot: Foot) -> Array:
    """Return the middle of the front edge of a sole, in the frame of the foot (m, 3)."""
    return np.asarray(foot.sole.center) + np.array([0.5 * foot.sole.size[0], 0.0, 0.0])
