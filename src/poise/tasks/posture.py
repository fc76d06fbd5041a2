"""Tasks in joint space: posture, joint comfort, least velocity and the whole configuration."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pinocchio
from numpy.typing import ArrayLike

from poise.arrays import Array
from poise.errors import TaskError
from poise.parsing import format_value
from poise.robots import Joint, Robot, State
from poise.state import Snapshot, _motion
from poise.tasks.motion_task import MotionTask, Tolerance
from poise.tasks.target import Decay, LiveTarget, Target, TaskDynamics, check_target, is_moving
from poise.tasks.task import TaskRows, VariableLayout, Writer, check_task_positive

JointSelection = Iterable[Joint] | None

#: Labels of the six base velocities, which are the first unknowns.
BASE_LABELS = tuple(f"base {word}" for word in ("x", "y", "z", "about x", "about y", "about z"))


class JointTask(MotionTask):
    """Base of tasks on chosen joints, with the error ``e = q_i - q_i*``; their rows are constant."""

    unit = "rad"
    curvature = 0.0
    joints: tuple[Joint, ...] | None = None

    def labels(self, robot: Robot) -> tuple[str, ...]:
        return tuple(joint.name for joint in self.selected_joints(robot))

    def selected_joints(self, robot: Robot) -> tuple[Joint, ...]:
        """Return the joints of the task: those given, or all of the robot."""
        return check_joints(self.joints, self.name, robot) or robot.joints

    def unknowns(self, robot: Robot, layout: VariableLayout) -> Sequence[int] | None:
        return [joint.v for joint in self.selected_joints(robot)]

    def target_angles(self, robot: Robot) -> Array:
        """Return the target angles q*, one per chosen joint (rad)."""
        raise NotImplementedError

    def bind_error(self, snapshot: Snapshot, task_rows: TaskRows, layout: VariableLayout) -> Sequence[Writer]:
        robot = snapshot.robot
        q_indices = np.array([joint.q for joint in self.selected_joints(robot)], dtype=np.int32)
        angles = self.target_angles(robot)
        writer = _motion.JointWriter(snapshot.q, q_indices, angles, task_rows.error).write
        target = self.target
        if isinstance(target, np.ndarray) or not is_moving(target):
            return [writer]

        def write_target() -> None:
            angles[:], task_rows.target_rate[:], task_rows.target_acceleration[:] = target.sample(snapshot.time)

        return [write_target, writer]


class Posture(JointTask):
    """Move joints to given angles: ``e = q - q*``, in rad. Usually the last level, for the remaining freedom.

    Args:
        target: a State or a configuration q; or one angle per joint, which may be a `Target` of angles.
        joints: chosen joints; None: all.
        weight: a number, or one per joint.
        dynamics: slower than that of other tasks by default (2/s), since a posture is a preference.

    >>> tasks.Posture(target=start)
    >>> tasks.Posture(target=(0.0, 0.3), joints=(robot.joint("waist_yaw_joint"), robot.joint("waist_pitch_joint")))
    """

    target: Any

    def __init__(
        self,
        target: State | ArrayLike | Target,
        joints: JointSelection = None,
        tolerance: Tolerance = None,
        weight: ArrayLike = 1.0,
        dynamics: TaskDynamics | None = None,
        name: str = "posture",
    ) -> None:
        self.robot = target.robot if isinstance(target, State) else None
        self.joints = check_joints(joints, name, self.robot)
        rows = None if self.joints is None else len(self.joints)
        super().__init__(name, weight, tolerance, dynamics or Decay(2.0), rows)
        values: Any = target.q if isinstance(target, State) else target
        if is_moving(target) and not isinstance(target, LiveTarget):
            self.target = check_target(values, np.shape(values.sample(0.0)[0]), name)
            return
        try:
            # For a live target the array itself: the writer reads it at every tick.
            self.target = target.value if isinstance(target, LiveTarget) else np.array(values, dtype=np.float64)
        except (TypeError, ValueError):
            raise TaskError(f"{name}: target is {format_value(values)}; expected a State or angles", name) from None
        if self.target.ndim != 1 or not np.isfinite(self.target).all():
            raise TaskError(
                f"{name}: target is not a vector of finite angles; give a State, a configuration q, or angles", name
            )

    def target_angles(self, robot: Robot) -> Array:
        joints = self.selected_joints(robot)
        angles: Array = np.array(self.target.sample(0.0)[0]) if is_moving(self.target) else self.target
        if len(angles) == robot.model.nq != len(joints) and not is_moving(self.target):
            return angles[[joint.q for joint in joints]]
        if len(angles) != len(joints):
            raise TaskError(
                f"{self.name}: {len(angles)} angles for {len(joints)} joints of {robot.name}; "
                f"give one per joint, or a configuration of {robot.model.nq} numbers",
                self.name,
            )
        return angles


class JointComfort(JointTask):
    """Move joints to the middle of their range, the attractive potential of [Galdeano2014], equations (14) and (15).

    The rate of joint i in the paper is ``-β ε_i`` with ``ε_i = 2 (q_i - q_med) / (q_max - q_min)²``: here the error is
    ``q_i - q_med`` (rad) and its gain ``2 β / (q_max - q_min)²``, so that joints with a wide range are pulled less.

    Args:
        robot: robot with the joint ranges.
        beta: β, the gain in 1/s for a range of sqrt(2) rad.
        joints: chosen joints; None: all.

    >>> tasks.JointComfort(robot, beta=1.0)
    """

    def __init__(
        self,
        robot: Robot,
        beta: float = 1.0,
        joints: JointSelection = None,
        weight: ArrayLike = 1.0,
        name: str = "joint comfort",
    ) -> None:
        if not isinstance(robot, Robot):
            raise TaskError(f"{name}: {format_value(robot)} is not a robot; give a Robot, e.g. from load_robot()", name)
        self.robot = robot
        self.joints = check_joints(joints, name, robot)
        rows = len(self.joints or robot.joints)
        super().__init__(name, weight, None, Decay(check_task_positive(beta, "beta", name)), rows)

    def _joint_indices(self, robot: Robot) -> list[int]:
        return [joint.v - 6 for joint in self.selected_joints(robot)]

    def target_angles(self, robot: Robot) -> Array:
        return (0.5 * (robot.limits.lower + robot.limits.upper))[self._joint_indices(robot)]

    def gain_factors(self, robot: Robot) -> Array | float:
        return 2.0 / ((robot.limits.upper - robot.limits.lower) ** 2)[self._joint_indices(robot)]


class LeastVelocity(MotionTask):
    """Minimize velocities: ``v = 0``, or ``v̇ = -K v`` at acceleration order ([Saab2012] eq. 7).

    Intended for the last level of a hierarchy, where it brings motions that no other task determines to rest.

    Args:
        joints: chosen joints; None: all joints and the base.
        damping: K, 1/s.

    >>> tasks.LeastVelocity()
    """

    unit = "rad/s"
    velocity_only = True
    curvature = 0.0

    def __init__(
        self,
        joints: JointSelection = None,
        damping: float = 10.0,
        tolerance: Tolerance = None,
        weight: ArrayLike = 1.0,
        name: str = "least velocity",
    ) -> None:
        self.joints = check_joints(joints, name)
        rows = None if self.joints is None else len(self.joints)
        super().__init__(name, weight, tolerance, Decay(check_task_positive(damping, "damping", name)), rows)

    def labels(self, robot: Robot) -> tuple[str, ...]:
        if self.joints is not None:
            return tuple(joint.name for joint in check_joints(self.joints, self.name, robot) or ())
        return BASE_LABELS + tuple(joint.name for joint in robot.joints)

    def bind_error(self, snapshot: Snapshot, task_rows: TaskRows, layout: VariableLayout) -> Sequence[Writer]:
        return ()

    def unknowns(self, robot: Robot, layout: VariableLayout) -> Sequence[int] | None:
        return range(robot.model.nv) if self.joints is None else [joint.v for joint in self.joints]


def check_joints(joints: JointSelection, task: str, robot: Robot | None = None) -> tuple[Joint, ...] | None:
    """Return the joints as a tuple, or None for all; raise a TaskError for other objects and joints of other robots."""
    if joints is None:
        return None
    selection = tuple(joints) if isinstance(joints, Iterable) else (joints,)
    for joint in selection:
        if not isinstance(joint, Joint):
            raise TaskError(
                f"{task}: {format_value(joint)} is not a joint; give e.g. robot.joint('left_knee_joint')", task
            )
        if robot is not None and joint not in robot.joints:
            raise TaskError(f"{task}: {robot.name} has no joint '{joint.name}'; give joints of that robot", task)
    if not selection:
        raise TaskError(f"{task}: no joints were given; give some, or None for all", task)
    return selection


# -- Configuration ---------------------------------------------------------------------------------------------------


class Configuration(MotionTask):
    """Move the whole body, including the base, to a configuration: ``e = q ⊖ q*``, nv rows, m and rad.

    The first six rows are those of the base, ``log(M*⁻¹ M)`` in base axes, with M its pose and M* the desired one; the
    others are ``q_i - q_i*``. The rows are ``v``, the velocity itself: ``v = -g e`` makes e decay, since
    ``M exp(-s e) = M* exp((1 - s) e)``. A target that moves with ``v*`` and ``a*``, in the axes of M*, is followed with
    the rate r and acceleration ṙ::

        r = Ad v*,   ṙ = Ad a* - (v - r) x r,   with Ad the adjoint from M* to M

    Args:
        target: a State, a configuration q (nq), or an object with ``sample(time) -> (q, v, a)``.
        weight: a number, or one per row.
        dynamics: as slow as that of `Posture` by default (2/s).

    >>> tasks.Configuration(start)
    """

    unit = "m, rad"
    curvature = 0.0

    def __init__(
        self,
        target: Any,
        tolerance: Tolerance = None,
        weight: ArrayLike = 1.0,
        dynamics: TaskDynamics | None = None,
        name: str = "configuration",
    ) -> None:
        super().__init__(name, weight, tolerance, dynamics or Decay(2.0))
        self.robot = target.robot if isinstance(target, State) else None
        if is_moving(target):
            self.target: Any = target
            q = np.asarray(target.sample(0.0)[0])
        else:
            try:
                q = self.target = np.array(target.q if isinstance(target, State) else target, dtype=np.float64)
            except (TypeError, ValueError):
                q = np.zeros(0)
        if q.ndim != 1 or len(q) < 7 or not np.isfinite(q).all():
            value_text = format_value(target)
            raise TaskError(
                f"{name}: target is {value_text}; expected a State, a configuration q, or a target of q, v, a",
                name,
            )
        self._size = len(q)

    def labels(self, robot: Robot) -> tuple[str, ...]:
        if self._size != robot.model.nq:
            target_text = f"{robot.name} has {robot.model.nq}; give one for this robot"
            raise TaskError(f"{self.name}: a configuration of {self._size} numbers, {target_text}", self.name)
        return BASE_LABELS + tuple(joint.name for joint in robot.joints)

    def unknowns(self, robot: Robot, layout: VariableLayout) -> Sequence[int] | None:
        return range(robot.model.nv)

    def bind_error(self, snapshot: Snapshot, task_rows: TaskRows, layout: VariableLayout) -> Sequence[Writer]:
        model, target = snapshot.model, self.target

        def write() -> None:
            task_rows.error[:] = pinocchio.difference(model, target, snapshot.q)

        def write_moving() -> None:
            q, v, a = target.sample(snapshot.time)
            task_rows.error[:] = e = pinocchio.difference(model, q, snapshot.q)
            task_rows.target_rate[:], task_rows.target_acceleration[:] = v, a
            # The rates of the base are given in the axes of its target pose; convert them to those of its actual pose.
            actual_from_target = pinocchio.exp6(-e[:6])
            rate = actual_from_target.act(pinocchio.Motion(v[:6]))
            velocity_error = pinocchio.Motion(snapshot.v[:6]) - rate
            task_rows.target_rate[:6] = rate.vector
            task_rows.target_acceleration[:6] = (
                actual_from_target.act(pinocchio.Motion(a[:6])) - velocity_error.cross(rate)
            ).vector

        return [write_moving] if is_moving(target) else [write]
