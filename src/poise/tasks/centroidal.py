"""Centroidal tasks: center of mass, linear and angular momentum of the whole body."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from poise.arrays import Array
from poise.robots import Frame, Robot
from poise.state import CENTER_OF_MASS, FRAMES, MOMENTUM, Snapshot, _motion
from poise.tasks.frame import frame_name
from poise.tasks.motion_task import MotionTask, Tolerance
from poise.tasks.relative import relative_point
from poise.tasks.target import LiveTarget, Target, TaskDynamics, check_target, is_moving
from poise.tasks.task import (
    ACCELERATION,
    TaskRows,
    VariableLayout,
    Writer,
    axis_indices,
    check_task_vector,
    selection_matrix,
)


class CenterOfMass(MotionTask):
    """Move the center of mass c to a point: ``e = c - c*``, in m, in world axes or in the axes of a frame.

    Args:
        target: point c*, one number (m) per axis of `axes` or all three, or a `Target` of these vectors.
        axes: components that are controlled; ``"xy"``: the projection on the ground.
        frame: None: the world. Else c and the target are relative to this frame, usually a foot ([Galdeano2014] eq. 7):
            ``e = R_fᵀ (c - p_f) - c*``.

    >>> tasks.CenterOfMass(target=start.support_center, axes="xy")
    """

    unit = "m"
    required_terms = CENTER_OF_MASS | FRAMES
    whole_body = True

    def __init__(
        self,
        target: Any,
        axes: str = "xyz",
        frame: Frame | None = None,
        tolerance: Tolerance = None,
        weight: ArrayLike = 1.0,
        dynamics: TaskDynamics | None = None,
        name: str = "center of mass",
    ) -> None:
        self.axes = axes
        self.indices = list(axis_indices(axes, name))
        super().__init__(name, weight, tolerance, dynamics, len(self.indices))
        if frame is not None:
            frame_name(frame)
        self.frame = frame
        values = target.sample(0.0)[0] if is_moving(target) else target
        size = 3 if np.size(values) == 3 else len(axes)
        self._has_three_axes = size == 3
        first, last = self.indices[0], self.indices[-1]
        contiguous = self.indices == list(range(first, last + 1))
        self._axis_slice: slice | list[int] = slice(first, last + 1) if contiguous else self.indices
        self.target: Any = (
            check_target(target, (size,), name)
            if is_moving(target)
            else self._expand_axes(check_task_vector(target, size, "target", name))
        )

    def labels(self, robot: Robot) -> tuple[str, ...]:
        return tuple(self.axes)

    def frames(self) -> tuple[Frame, ...]:
        return () if self.frame is None else (self.frame,)

    def bind_error(self, snapshot: Snapshot, task_rows: TaskRows, layout: VariableLayout) -> Sequence[Writer]:
        point = np.zeros(3)
        # Axes among x, y, z that the target gives, and the components of the target that the rows control.
        target_axes, row_axes = (
            (slice(None), self._axis_slice) if self._has_three_axes else (self._axis_slice, slice(None))
        )
        all_rows = row_axes in (slice(None), slice(0, 3))

        def write_target() -> None:
            value, rate, acceleration = self.target.sample(snapshot.time)
            point[target_axes] = value
            task_rows.target_rate[:] = rate if all_rows else np.asarray(rate)[row_axes]
            task_rows.target_acceleration[:] = acceleration if all_rows else np.asarray(acceleration)[row_axes]

        if is_moving(self.target):
            write_target()
        else:
            point[:] = self.target
        writer = self._writer(snapshot, point, task_rows)
        writers = [write_target, writer.write] if is_moving(self.target) else [writer.write]
        return [*writers, writer.write_drift] if layout.order == ACCELERATION else writers

    def _writer(self, snapshot: Snapshot, point: Array, task_rows: TaskRows) -> Any:
        """Return the compiled writer of error, rows and drift."""
        kinematics = (snapshot.center_of_mass_jacobian, snapshot.center_of_mass, snapshot.center_of_mass_drift)
        outputs = (point, task_rows.error, task_rows.A, task_rows.drift)
        if self.frame is None:
            return _motion.PointWriter(*kinematics, selection_matrix(tuple(self.indices), 3), *outputs)
        components = np.array(self.indices, dtype=np.int32)
        base = 6  # columns of v that move the whole body
        return _motion.RelativePointWriter(
            *kinematics, snapshot.v, snapshot.frame(self.frame), base, components, *outputs
        )

    # -- relative to a frame -----------------------------------------------------------------------------------------

    def value(self, snapshot: Snapshot) -> Array:
        if self.frame is None:
            return super().value(snapshot)
        R, p = snapshot.rotation(self.frame), snapshot.position(self.frame)
        return (R.T @ (snapshot.center_of_mass - p) - self._sample(snapshot.time)[0])[self.indices]

    def jacobian(self, snapshot: Snapshot) -> Array:
        if self.frame is None:
            return super().jacobian(snapshot)
        return relative_point(snapshot, self.frame, snapshot.center_of_mass, snapshot.center_of_mass_jacobian)[0][
            self.indices
        ]

    def drift(self, snapshot: Snapshot) -> Array:
        if self.frame is None:
            return super().drift(snapshot)
        c, J = snapshot.center_of_mass, snapshot.center_of_mass_jacobian
        return relative_point(snapshot, self.frame, c, J, snapshot.center_of_mass_drift)[1][self.indices]

    def target_rate(self, time: float) -> Array | None:
        return self._sample(time)[1][self.indices] if is_moving(self.target) else None

    def target_acceleration(self, time: float) -> Array | None:
        return self._sample(time)[2][self.indices] if is_moving(self.target) else None

    def _sample(self, time: float) -> tuple[Array, Array, Array]:
        if not is_moving(self.target):
            return self.target, np.zeros(3), np.zeros(3)
        value, rate, acceleration = (self._expand_axes(np.asarray(x, dtype=float)) for x in self.target.sample(time))
        return value, rate, acceleration

    def _expand_axes(self, values: Array) -> Array:
        """Return three components, from all three or from those of the chosen axes; the others are zero."""
        if len(values) == 3:
            return values
        full = np.zeros(3)
        full[self.indices] = values
        return full


# -- Momentum of the whole body --------------------------------------------------------------------------------------


class Momentum(MotionTask):
    """Regulate the momentum ``A_g v`` to a value h*; base of LinearMomentum and AngularMomentum.

    The rows are ``A_g v = h*`` at velocity order, and ``A_g v̇ + Ȧ_g v = ḣ* - k (A_g v - h*)`` at acceleration order
    ([Dalibard2012]), with A_g the centroidal momentum matrix and k (1/s) the damping of `dynamics`.

    Args:
        target: h*, one number or one per axis; a `LiveTarget`, or a `Target` whose value is h* and whose rate is ḣ*.
        axes: components that are controlled, in world axes.
        tolerance: interval of the momentum around h*; None: h* itself.
    """

    required_terms = MOMENTUM
    velocity_only = True
    curvature = 0.0
    first_row = 0

    def __init__(
        self,
        target: ArrayLike | Target = 0.0,
        axes: str = "xyz",
        tolerance: Tolerance = None,
        weight: ArrayLike = 1.0,
        dynamics: TaskDynamics | None = None,
        name: str = "",
    ) -> None:
        name = name or self.default_name
        self.axes = axes
        self.indices = [self.first_row + i for i in axis_indices(axes, name)]
        super().__init__(name, weight, tolerance, dynamics, len(self.indices))
        if isinstance(target, LiveTarget):
            self.target: Any = target.value  # the array itself: the rows read it at every tick
        elif is_moving(target):
            self.target = check_target(target, (len(axes),), name)  # type: ignore[arg-type]
        else:
            self.target = check_task_vector(target, len(axes), "target", name)  # type: ignore[arg-type]

    default_name = "momentum"

    def labels(self, robot: Robot) -> tuple[str, ...]:
        return tuple(self.axes)

    def value(self, snapshot: Snapshot) -> Array:
        """Return zeros: the task has no position error. The slack of the rows is the error of the momentum."""
        return np.zeros(len(self.indices))

    def jacobian(self, snapshot: Snapshot) -> Array:
        return snapshot.momentum_matrix[self.indices]

    def drift(self, snapshot: Snapshot) -> Array:
        return snapshot.momentum_drift[self.indices]

    def target_rate(self, time: float) -> Array | None:
        rate: Array = self.target.sample(time)[0] if is_moving(self.target) else self.target
        return rate

    def target_acceleration(self, time: float) -> Array | None:
        if not is_moving(self.target):
            return None
        acceleration: Array = self.target.sample(time)[1]
        return acceleration


class LinearMomentum(Momentum):
    """Regulate the linear momentum of the whole body, kg m/s, in world axes.

    >>> tasks.LinearMomentum(target=(1.0, 0.0, 0.0))
    """

    unit = "kg m/s"
    default_name = "linear momentum"


class AngularMomentum(Momentum):
    """Regulate the angular momentum of the whole body about its center of mass, kg m²/s, in world axes.

    >>> tasks.AngularMomentum(axes="z")  # arms swing against the legs
    """

    unit = "kg m²/s"
    default_name = "angular momentum"
    first_row = 3
