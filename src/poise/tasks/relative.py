"""Task on the pose of one frame relative to another, e.g. of one foot relative to the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pinocchio
from numpy.typing import ArrayLike

from poise.arrays import Array
from poise.geometry import so3
from poise.robots import Frame, Robot
from poise.state import FRAMES, Snapshot, _motion
from poise.tasks.frame import frame_name
from poise.tasks.motion_task import MotionTask, Tolerance
from poise.tasks.target import TaskDynamics, check_target, is_moving
from poise.tasks.task import ACCELERATION, TaskRows, VariableLayout, Writer, component_indices, pose_of


class RelativePose(MotionTask):
    """Regulate the pose of a frame relative to another: the relative feet pose of [Galdeano2014], equations (1) to (6).

    With a the reference frame and b the controlled frame, in the axes of a::

        e = (R_aᵀ (p_b - p_a) - p*,  log(R_aᵀ R_b R*ᵀ))      in m and rad

    The error is current minus desired, as everywhere in Poise; the paper uses the opposite sign.

    Args:
        frame: b.
        reference_frame: a.
        target: a_from_b, as `pinocchio.SE3` or 4 x 4 matrix, or a `Target` of poses (rates in the axes of a).
        axes, rotation_axes: components that are controlled, in the axes of a; "" for none.

    >>> tasks.RelativePose(robot.foot("right"), reference_frame=robot.foot("left"), target=left_from_right)
    """

    unit = "m, rad"
    required_terms = FRAMES

    def __init__(
        self,
        frame: Frame,
        reference_frame: Frame,
        target: Any,
        axes: str = "xyz",
        rotation_axes: str = "xyz",
        tolerance: Tolerance = None,
        weight: ArrayLike = 1.0,
        dynamics: TaskDynamics | None = None,
        name: str = "",
    ) -> None:
        name = name or f"pose of {frame_name(frame)} seen from {frame_name(reference_frame)}"
        linear, angular = component_indices(axes, rotation_axes, name)
        self.indices = [*linear, *angular]
        super().__init__(name, weight, tolerance, dynamics, len(self.indices))
        self.frame, self.reference_frame = frame, reference_frame
        self.row_labels = (*axes, *(f"about {a}" for a in rotation_axes))
        self.part_sizes = (len(linear), len(angular))
        self.target: Any = check_target(target, (4, 4), name) if is_moving(target) else pose_of(target, name)

    def labels(self, robot: Robot) -> tuple[str, ...]:
        return self.row_labels

    def frames(self) -> tuple[Frame, ...]:
        return (self.frame, self.reference_frame)

    def bind_error(self, snapshot: Snapshot, task_rows: TaskRows, layout: VariableLayout) -> Sequence[Writer]:
        position, rotation = np.zeros(3), np.eye(3)
        indices, all_rows = self.indices, self.indices == list(range(6))

        def write_target() -> None:
            target, rate, acceleration = self.target.sample(snapshot.time)
            position[:], rotation[:] = target.translation, target.rotation
            task_rows.target_rate[:] = rate if all_rows else np.asarray(rate)[indices]
            task_rows.target_acceleration[:] = acceleration if all_rows else np.asarray(acceleration)[indices]

        if is_moving(self.target):
            write_target()
        else:
            position[:], rotation[:] = self.target.translation, self.target.rotation
        writer = _motion.RelativePoseWriter(
            snapshot.frame(self.frame),
            snapshot.frame(self.reference_frame),
            np.array(indices, dtype=np.int32),
            position,
            rotation,
            task_rows.error,
            task_rows.A,
            task_rows.drift,
        )
        writers = [write_target, writer.write] if is_moving(self.target) else [writer.write]
        return [*writers, writer.write_drift] if layout.order == ACCELERATION else writers

    # -- definition in numpy, against which the compiled rows are tested -------------------------------------------

    def value(self, snapshot: Snapshot) -> Array:
        a_from_b = snapshot.pose(self.reference_frame).actInv(snapshot.pose(self.frame))
        target: pinocchio.SE3 = self.target.sample(snapshot.time)[0] if is_moving(self.target) else self.target
        turn = so3.log(a_from_b.rotation @ target.rotation.T)
        return np.concatenate([a_from_b.translation - target.translation, turn])[self.indices]

    def jacobian(self, snapshot: Snapshot) -> Array:
        R, b = snapshot.rotation(self.reference_frame), snapshot.jacobian(self.frame)
        linear, _ = relative_point(snapshot, self.reference_frame, snapshot.position(self.frame), b[:3])
        return np.vstack([linear, R.T @ (b[3:] - snapshot.jacobian(self.reference_frame)[3:])])[self.indices]

    def drift(self, snapshot: Snapshot) -> Array:
        R, b = snapshot.rotation(self.reference_frame), snapshot.drift(self.frame)
        J, p = snapshot.jacobian(self.frame), snapshot.position(self.frame)
        _, linear = relative_point(snapshot, self.reference_frame, p, J[:3], b[:3])
        w = snapshot.velocity(self.reference_frame)[3:]
        relative_spin = (J @ snapshot.v)[3:] - w
        angular = R.T @ (b[3:] - snapshot.drift(self.reference_frame)[3:] - np.cross(w, relative_spin))
        return np.concatenate([linear, angular])[self.indices]

    def target_rate(self, time: float) -> Array | None:
        return np.asarray(self.target.sample(time)[1])[self.indices] if is_moving(self.target) else None

    def target_acceleration(self, time: float) -> Array | None:
        return np.asarray(self.target.sample(time)[2])[self.indices] if is_moving(self.target) else None


def relative_point(
    snapshot: Snapshot, frame: Frame, point: Array, J: Array, point_drift: Array | None = None
) -> tuple[Array, Array]:
    """Return Jacobian and drift of ``R_fᵀ (c - p_f)``: a point c of the body, with Jacobian J, in a moving frame f.

    With r = c - p_f and ω the angular velocity of the frame::

        rate   = R_fᵀ (ṙ - ω x r)
        drift  = R_fᵀ (r̈ - ω̇ x r - 2 ω x ṙ + ω x (ω x r))     with the drifts of c, p_f and ω in place of r̈ and ω̇

    The returned drift is zero if `point_drift`, the drift of c, is None.
    """
    R, f = snapshot.rotation(frame), snapshot.jacobian(frame)
    r = point - snapshot.position(frame)
    jacobian = R.T @ (J - f[:3] + so3.hat(r) @ f[3:])
    if point_drift is None:
        return jacobian, np.zeros(3)
    d, w = snapshot.drift(frame), f[3:] @ snapshot.v
    rate = (J - f[:3]) @ snapshot.v
    rotation_terms = np.cross(d[3:], r) + 2.0 * np.cross(w, rate) - np.cross(w, np.cross(w, r))
    return jacobian, R.T @ (point_drift - d[:3] - rotation_terms)
