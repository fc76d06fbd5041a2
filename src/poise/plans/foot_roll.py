"""Roll of a stance foot over an edge of its sole: onto the heel when it lands, over the toes before it leaves."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pinocchio

from poise.arrays import Array
from poise.plans.footsteps import LEAST_REPLAN_TIME, CurvePoint, quintic_point
from poise.robots import Foot

#: Fraction of the double support after which the heel of the rear foot rises: the front foot has to bear a part of the
#: weight, because the ankle cannot hold all of it on the front edge. Fraction in which the front foot becomes flat.
ROLL_BEGIN, LANDING_SHARE = 0.4, 0.7
#: Rate of the pitch when the foot leaves the ground, as a multiple of pitch / duration of the roll.
LEAVING_RATE = 1.6
#: Gain of the feedback of the pitch (1/s): ground and ankle hold it only in part.
ROLL_GAIN = 15.0


@dataclass(frozen=True)
class FootRoll:
    """Current point of a foot that rolls over the front or rear edge of its sole.

    Attributes:
        flat: pose of the flat foot (world_from_foot).
        edge: 1.0 for the front edge, -1.0 for the rear edge.
        pitch: pitch of the sole (rad, positive with the heel up), its rate and acceleration.
        goal: pitch at the end (rad).
        seconds: duration of the roll (s); zero: it has not begun.
    """

    flat: pinocchio.SE3
    edge: float = 1.0
    pitch: CurvePoint = (0j, 0j, 0j)
    goal: float = 0.0
    seconds: float = 0.0

    @classmethod
    def landing(cls, foot: Foot, pose: pinocchio.SE3, normal: Array, duration: float) -> FootRoll:
        """Return the roll of a foot that has landed on its heel.

        Args:
            foot: the foot.
            pose: its pose at touchdown (world_from_foot).
            normal: normal of the ground.
            duration: duration of the double support (s).
        """
        pitch = -float(np.arcsin(np.clip(normal @ pose.rotation[:, 0], -1.0, 1.0)))
        R = pinocchio.AngleAxis(-pitch, pose.rotation[:, 1]).toRotationMatrix() @ pose.rotation
        heel = edge_point(foot, -1.0)
        flat = pinocchio.SE3(R, pose.act(heel) - R @ heel)
        return cls(flat, -1.0, (complex(pitch), 0j, 0j), 0.0, LANDING_SHARE * duration)

    @property
    def has_begun(self) -> bool:
        """Whether the foot rolls."""
        return self.seconds > 0.0

    @property
    def angle(self) -> float:
        """Pitch of the sole (rad), positive with the heel up."""
        return float(self.pitch[0].real)

    def land(self, elapsed: float, period: float) -> FootRoll | None:
        """Return the roll of a foot that lands one period later; None as soon as it is flat.

        Args:
            elapsed: seconds since touchdown.
            period: sampling period (s).
        """
        remaining = self.seconds - elapsed
        if remaining < LEAST_REPLAN_TIME:
            return None
        return replace(self, pitch=quintic_point(self.pitch, (0.0, 0.0, 0.0), remaining, period))

    def rise(self, goal: float, remaining: float, duration: float, period: float, relieved: bool) -> FootRoll:
        """Return the roll of a foot that leaves the ground one period later.

        Args:
            goal: pitch at the end of a roll that begins in time (rad); if it begins late, the pitch is smaller.
            remaining: seconds until the end of the double support.
            duration: its duration (s).
            period: sampling period (s).
            relieved: whether the other foot bears weight, without which no roll begins.
        """
        if not self.has_begun:
            share = remaining / ((1.0 - ROLL_BEGIN) * duration)
            if share > 1.0 or not relieved or remaining < LEAST_REPLAN_TIME:
                return self
            return replace(self, goal=share**2 * goal, seconds=remaining)
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
        R = pinocchio.AngleAxis(value, axis).toRotationMatrix() @ self.flat.rotation
        edge = edge_point(foot, self.edge)
        pivot = self.flat.act(edge)
        pose = pinocchio.SE3(R, pivot - R @ edge)
        if measured is not None:
            rate += ROLL_GAIN * float(axis @ pinocchio.log3(R @ measured.T))
        w, alpha = rate * axis, acceleration * axis
        arm = R @ (point - edge)
        speed = np.cross(w, arm)
        twist = np.concatenate([speed, w])
        return pose, twist, np.concatenate([np.cross(alpha, arm) + np.cross(w, speed), alpha])


def edge_point(foot: Foot, edge: float) -> Array:
    """Return the middle of the front (1.0) or rear (-1.0) edge of a sole, in the frame of the foot (m, 3)."""
    return np.asarray(foot.sole.center) + np.array([edge * 0.5 * foot.sole.size[0], 0.0, 0.0])
