"""Joint limits on range, speed and acceleration that are always compatible with each other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from poise.errors import TaskError
from poise.parsing import format_value
from poise.robots import Joint, Robot
from poise.state import Snapshot, _motion
from poise.tasks import (
    ACCELERATION,
    JointSelection,
    Task,
    TaskRows,
    VariableLayout,
    Writer,
    check_joints,
    check_task_number,
    check_task_positive,
    check_task_vector,
    check_weight,
)


class JointLimit(Task):
    """Base of joint limits: bounds on the speed of single joints that are compatible with each other in any state.

    Per joint, with speed limit V, acceleration limit A and control period T, the speed v' after this period is bounded
    such that the joint can still brake with A before the end of its range::

        v'²/(2 A) + v' T <= q_max - q

    A joint outside its range returns with the time constant `recovery`, never faster than V. No bound requires a change
    of speed beyond A T, so the bounds on range, speed and acceleration always have a common solution. The equations
    are in `native/motion/joint_bounds.hpp`. Prismatic joints have m in place of rad.

    Args:
        robot: robot with the limits.
        joints: chosen joints; None: all.
        acceleration: A, one number or one per joint (rad/s²); None: the limits of the robot.
        margin: distance (rad) to keep from both ends of the range.
        scale: factor of the speed limits.
        recovery: time constant (s) of the return into the range.
    """

    unit = "rad/s"
    velocity_only = True

    def __init__(
        self,
        robot: Robot,
        joints: JointSelection = None,
        acceleration: ArrayLike | None = None,
        weight: ArrayLike = 1.0,
        name: str = "",
        margin: float = 0.0,
        scale: float = 1.0,
        recovery: float = 0.1,
    ) -> None:
        self.name = name or self.default_name
        if not isinstance(robot, Robot):
            raise TaskError(
                f"{self.name}: {format_value(robot)} is not a robot; give a Robot, e.g. from load_robot()", self.name
            )
        self.robot: Robot = robot
        self.joints: tuple[Joint, ...] = check_joints(joints, self.name, robot) or robot.joints
        self.weight = check_weight(weight, self.name, len(self.joints))
        joint_indices = [joint.v - 6 for joint in self.joints]
        limits = robot.limits
        margin = check_task_number(margin, "margin", self.name)
        self.lower, self.upper = limits.lower[joint_indices] + margin, limits.upper[joint_indices] - margin
        if not (self.lower < self.upper).all():
            joint = self.joints[int(np.argmin(self.upper - self.lower))].name
            raise TaskError(f"{self.name}: a margin of {margin} rad leaves no range to '{joint}'; reduce it", self.name)
        self.speed = check_task_positive(scale, "scale", self.name) * limits.velocity[joint_indices]
        values = limits.acceleration[joint_indices] if acceleration is None else acceleration
        self.acceleration = check_task_vector(values, len(joint_indices), "acceleration", self.name)
        if not (self.acceleration > 0.0).all():
            raise TaskError(
                f"{self.name}: acceleration is {format_value(acceleration)}; expected positive numbers", self.name
            )
        self.recovery = check_task_positive(recovery, "recovery", self.name)

    default_name = "joint limit"

    def labels(self, robot: Robot) -> tuple[str, ...]:
        if robot.name != self.robot.name:
            raise TaskError(
                f"{self.name}: made for {self.robot.name}, not for {robot.name}; build a new one", self.name
            )
        return tuple(joint.name for joint in self.joints)

    def unknowns(self, robot: Robot, layout: VariableLayout) -> Sequence[int] | None:
        return [joint.v for joint in self.joints]

    def bind(self, snapshot: Snapshot, task_rows: TaskRows, layout: VariableLayout) -> Sequence[Writer]:
        bounds = _motion.JointBounds(
            q=snapshot.q,
            v=snapshot.v,
            q_index=np.array([joint.q for joint in self.joints], dtype=np.int32),
            v_index=np.array([joint.v for joint in self.joints], dtype=np.int32),
            q_min=self.lower,
            q_max=self.upper,
            speed=self.speed,
            acceleration=self.acceleration,
            period=layout.period,
            recovery=self.recovery,
            second_order=layout.order == ACCELERATION,
            lower=task_rows.lower,
            upper=task_rows.upper,
        )
        return [self._write(bounds)]

    def _write(self, bounds: _motion.JointBounds) -> Writer:
        raise NotImplementedError


class JointRange(JointLimit):
    """Keep joints inside their range, with braking before its ends.

    Args:
        robot: robot with the limits.
        joints: chosen joints; None: all.
        acceleration: deceleration available for braking, rad/s²; None: the limits of the robot.
        margin: distance (rad) to keep from both ends.
        recovery: time (s) in which the distance of a joint outside its range falls to 37 %.

    >>> poise.Hierarchy(always=[constraints.JointRange(robot)], levels=[...])
    """

    default_name = "joint range"

    def _write(self, bounds: _motion.JointBounds) -> Writer:
        return bounds.range


class JointSpeed(JointLimit):
    """Keep the speed of joints below `scale` times their speed limits (rad/s)."""

    default_name = "joint speed"

    def _write(self, bounds: _motion.JointBounds) -> Writer:
        return bounds.speed


class JointAcceleration(JointLimit):
    """Limit the change of joint speed in one control period T to A T, with A the acceleration limit (rad/s²)."""

    default_name = "joint acceleration"

    def _write(self, bounds: _motion.JointBounds) -> Writer:
        return bounds.acceleration
