"""Tasks on the position and orientation of one frame: Position, Orientation, Pose, HoldPose."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from poise.arrays import Array
from poise.errors import TaskError
from poise.parsing import format_value
from poise.robots import Frame, Robot, State
from poise.state import FRAMES, Snapshot, _motion
from poise.tasks.motion_task import MotionTask, Tolerance
from poise.tasks.target import Decay, LiveTarget, TaskDynamics, check_target, is_moving
from poise.tasks.task import (
    ACCELERATION,
    TaskRows,
    VariableLayout,
    Writer,
    axis_indices,
    check_task_vector,
    component_indices,
    pose_of,
    rotation_of,
    selection_matrix,
)

TargetSample = tuple[Array | None, Array | None, Array | None, Array | None]


class FrameTask(MotionTask):
    """Compiled base of the tasks below, with the error ``e = S (p - p*, log(R R*ᵀ))`` of one frame.

    p (m) and R are the position and orientation of the frame in the world, p* and R* the desired ones; S (k x 6)
    selects or combines components. The rows are ``S J``, with J the Jacobian of the frame in world axes.
    """

    required_terms = FRAMES

    #: Components, of the six (linear, angular), that the rate of the target contains.
    rate_components = slice(0, 6)

    def __init__(
        self,
        frame: Frame,
        S: Array,
        row_labels: Sequence[str],
        target: Any,
        name: str,
        weight: ArrayLike,
        tolerance: Tolerance,
        dynamics: TaskDynamics | None,
    ) -> None:
        super().__init__(name, weight, tolerance, dynamics, len(S))
        self.frame = frame
        self.S = S
        self.row_labels = tuple(row_labels)
        self.target = target
        linear = int(np.any(S[:, :3] != 0.0, axis=1).sum())
        self.part_sizes = (linear, len(S) - linear)

    def labels(self, robot: Robot) -> tuple[str, ...]:
        return self.row_labels

    def frames(self) -> tuple[Frame, ...]:
        return (self.frame,)

    def sample_target(self, time: float) -> TargetSample:
        """Return position, rotation, rate and acceleration of the target at a time.

        Position or rotation is None if it is not controlled; rate and acceleration are None for a target at rest.
        """
        raise NotImplementedError

    def bind_error(self, snapshot: Snapshot, task_rows: TaskRows, layout: VariableLayout) -> Sequence[Writer]:
        position, rotation = np.zeros(3), np.eye(3)
        rate_rows = self.S[:, self.rate_components]
        all_rows = np.array_equal(rate_rows, np.eye(len(rate_rows)))

        def write_target() -> None:
            target_position, target_rotation, rate, acceleration = self.sample_target(snapshot.time)
            if target_position is not None:
                position[:] = target_position
            if target_rotation is not None:
                rotation[:] = target_rotation
            if rate is not None and acceleration is not None:
                task_rows.target_rate[:] = rate if all_rows else rate_rows @ rate
                task_rows.target_acceleration[:] = acceleration if all_rows else rate_rows @ acceleration

        write_target()
        if isinstance(self.target, LiveTarget):
            position = self.target.value  # the array itself: the writer reads it at every tick
        writer = _motion.FrameWriter(
            snapshot.frame(self.frame), self.S, position, rotation, task_rows.error, task_rows.A, task_rows.drift
        )
        fixed = isinstance(self.target, LiveTarget) or not is_moving(self.target)
        writers = [writer.write] if fixed else [write_target, writer.write]
        return [*writers, writer.write_drift] if layout.order == ACCELERATION else writers


class Position(FrameTask):
    """Move the origin of a frame to a point of the world: ``e = p - p*``, in m.

    Args:
        frame: e.g. ``robot.hand("left")``.
        target: point in the world (m), or a `Target` of points.
        axes: components that are controlled.
        tolerance: half-widths of an acceptable box around the target (m), or a pair of bounds; None: the point itself.

    >>> tasks.Position(robot.hand("left"), target=(0.45, 0.20, 1.10))
    >>> tasks.Position(robot.hand("left"), target=(0.45, 0.20, 1.10), tolerance=0.05)
    """

    unit = "m"
    rate_components = slice(0, 3)

    def __init__(
        self,
        frame: Frame,
        target: Any,
        axes: str = "xyz",
        tolerance: Tolerance = None,
        weight: ArrayLike = 1.0,
        dynamics: TaskDynamics | None = None,
        name: str = "",
    ) -> None:
        name = name or f"position of {frame_name(frame)}"
        indices = axis_indices(axes, name)
        target = check_target(target, (3,), name) if is_moving(target) else check_task_vector(target, 3, "target", name)
        super().__init__(frame, selection_matrix(indices, 6), tuple(axes), target, name, weight, tolerance, dynamics)

    def sample_target(self, time: float) -> TargetSample:
        if not is_moving(self.target):
            return self.target, None, None, None
        value, rate, acceleration = self.target.sample(time)
        return value, None, rate, acceleration


class Orientation(FrameTask):
    """Rotate a frame to an orientation: ``e = log(R R*ᵀ)``, the remaining rotation vector, in world axes and rad.

    Args:
        frame: e.g. ``robot.chest``.
        target: 3 x 3 rotation world_from_frame, a pose, or a `Target` of rotations.
        axes: world axes about which rotation is controlled. With fewer than three, rotation about the others couples
            into the error, so that its decay is exact only near the target.

    >>> tasks.Orientation(robot.chest, target=np.eye(3), axes="xy")
    """

    unit = "rad"
    rate_components = slice(3, 6)

    def __init__(
        self,
        frame: Frame,
        target: Any,
        axes: str = "xyz",
        tolerance: Tolerance = None,
        weight: ArrayLike = 1.0,
        dynamics: TaskDynamics | None = None,
        name: str = "",
    ) -> None:
        name = name or f"orientation of {frame_name(frame)}"
        indices = tuple(3 + i for i in axis_indices(axes, name))
        target = check_target(target, (3, 3), name) if is_moving(target) else rotation_of(target, name)
        super().__init__(
            frame, selection_matrix(indices, 6), [f"about {a}" for a in axes], target, name, weight, tolerance, dynamics
        )

    def sample_target(self, time: float) -> TargetSample:
        if not is_moving(self.target):
            return None, self.target, None, None
        value, rate, acceleration = self.target.sample(time)
        return None, value, rate, acceleration


class Pose(FrameTask):
    """Move a frame to a pose: ``e = (p - p*, log(R R*ᵀ))``, in m and rad, world axes.

    Args:
        frame: e.g. ``robot.foot("left")``.
        target: `pinocchio.SE3` world_from_frame, a 4 x 4 matrix, or a `Target` of poses.
        axes: components of the position that are controlled; "" for none.
        rotation_axes: axes about which rotation is controlled; "" for none.

    >>> tasks.Pose(robot.foot("left"), target=start.pose(robot.foot("left")))
    """

    unit = "m, rad"

    def __init__(
        self,
        frame: Frame,
        target: Any,
        axes: str = "xyz",
        rotation_axes: str = "xyz",
        tolerance: Tolerance = None,
        weight: ArrayLike = 1.0,
        dynamics: TaskDynamics | None = None,
        name: str = "",
    ) -> None:
        name = name or f"pose of {frame_name(frame)}"
        linear, angular = component_indices(axes, rotation_axes, name)
        target = check_target(target, (4, 4), name) if is_moving(target) else pose_of(target, name)
        row_labels = [*axes, *(f"about {a}" for a in rotation_axes)]
        super().__init__(
            frame, selection_matrix(linear + angular, 6), row_labels, target, name, weight, tolerance, dynamics
        )

    def sample_target(self, time: float) -> TargetSample:
        if not is_moving(self.target):
            return self.target.translation, self.target.rotation, None, None
        value, rate, acceleration = self.target.sample(time)
        return value.translation, value.rotation, rate, acceleration


class HoldPose(Pose):
    """Hold a frame at its pose in a given state, e.g. a foot on the ground.

    The default gain is high (50/s), since the task corrects drift, not distances.

    >>> tasks.HoldPose(robot.foot("left"), at=start)
    """

    def __init__(
        self,
        frame: Frame,
        at: State,
        axes: str = "xyz",
        rotation_axes: str = "xyz",
        tolerance: Tolerance = None,
        weight: ArrayLike = 1.0,
        dynamics: TaskDynamics | None = None,
        name: str = "",
    ) -> None:
        name = name or f"hold {frame_name(frame)}"
        if not isinstance(at, State):
            raise TaskError(f"{name}: at is {type(at).__name__}; expected a State, e.g. robot.stance('standing')", name)
        if at.robot.name != frame.robot_name:
            raise TaskError(f"{name}: the frame is of {frame.robot_name}, the state of {at.robot.name}", name)
        super().__init__(frame, at.pose(frame), axes, rotation_axes, tolerance, weight, dynamics or Decay(50.0), name)


def frame_name(frame: Any) -> str:
    """Return the name of a frame; raise a TaskError if the object is not a frame."""
    if not isinstance(frame, Frame):
        raise TaskError(f"{format_value(frame)} is not a frame; give robot.hand('left') or robot.frame('NAME')")
    return frame.name
