"""CenterOfMass: where the body's mass is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poise.robots import Frame, Robot
from poise.state import CENTER_OF_MASS, FRAMES, Snapshot, _motion  # type: ignore[attr-defined]
from poise.tasks.axes import axis_indices, numbers, selection
from poise.tasks.frame import frame_name
from poise.tasks.layout import ACCELERATION, Layout, Memory
from poise.tasks.motion import MotionTask, Within
from poise.tasks.reference import Reference
from poise.tasks.relative import relative_point
from poise.tasks.target import checked_target, moving
from poise.tasks.task import Writer

Array = NDArray[np.float64]


class CenterOfMass(MotionTask):
    """The centre of mass c goes to a point: ``e = c - c*``, in m, world axes or the axes of a frame.

    Args:
        target: one number (m) per axis, or all three, or a `Target` of such.
        axes: which components matter; ``"xy"`` is its projection on the ground.
        frame: None for the world; else c is seen from this frame, usually a foot ([Galdeano2014] eq. 7), and so is
            the target: ``e = R_fᵀ (c - p_f) - c*``.

    >>> tasks.CenterOfMass(target=start.support_center, axes="xy")
    """

    unit = "m"
    needs = CENTER_OF_MASS | FRAMES
    massive = True

    def __init__(
        self,
        target: Any,
        axes: str = "xyz",
        frame: Frame | None = None,
        within: Within = None,
        weight: ArrayLike = 1.0,
        reference: Reference | None = None,
        name: str = "center of mass",
    ) -> None:
        self.axes = axes
        self.indices = list(axis_indices(axes, name))
        super().__init__(name, weight, within, reference, len(self.indices))
        if frame is not None:
            frame_name(frame)
        self.frame = frame
        values = target.sample(0.0)[0] if moving(target) else target
        size = 3 if np.size(values) == 3 else len(axes)
        self._spatial = size == 3
        first, last = self.indices[0], self.indices[-1]
        together = self.indices == list(range(first, last + 1))
        self._chosen: slice | list[int] = slice(first, last + 1) if together else self.indices
        self.target: Any = (
            checked_target(target, (size,), name)
            if moving(target)
            else self._spread(numbers(target, size, "target", name))
        )

    def labels(self, robot: Robot) -> tuple[str, ...]:
        return tuple(self.axes)

    def frames(self) -> tuple[Frame, ...]:
        return () if self.frame is None else (self.frame,)

    def bind_error(self, snapshot: Snapshot, memory: Memory, layout: Layout) -> Sequence[Writer]:
        point = np.zeros(3)
        # Where what the target gives stands among x, y and z, and what of it the rows are about.
        into, of_rows = (slice(None), self._chosen) if self._spatial else (self._chosen, slice(None))
        all_of_them = of_rows in (slice(None), slice(0, 3))

        def write_target() -> None:
            value, rate, acceleration = self.target.sample(snapshot.time)
            point[into] = value
            memory.target_rate[:] = rate if all_of_them else np.asarray(rate)[of_rows]
            memory.target_acceleration[:] = acceleration if all_of_them else np.asarray(acceleration)[of_rows]

        if moving(self.target):
            write_target()
        else:
            point[:] = self.target
        writer = self._writer(snapshot, point, memory)
        writers = [write_target, writer.write] if moving(self.target) else [writer.write]
        return [*writers, writer.write_drift] if layout.order == ACCELERATION else writers

    def _writer(self, snapshot: Snapshot, point: Array, memory: Memory) -> Any:
        """The compiled writer of error, rows and drift."""
        moved = (snapshot.center_of_mass_jacobian, snapshot.center_of_mass, snapshot.center_of_mass_drift)
        written = (point, memory.error, memory.A, memory.drift)
        if self.frame is None:
            return _motion.PointWriter(*moved, selection(tuple(self.indices), 3), *written)
        components = np.array(self.indices, dtype=np.int32)
        base = 6  # columns of v that move the whole body
        return _motion.RelativePointWriter(*moved, snapshot.v, snapshot.frame(self.frame), base, components, *written)

    # -- seen from a frame: the definition that the compiled rows are tested against ------------------------------

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
        return self._sample(time)[1][self.indices] if moving(self.target) else None

    def target_acceleration(self, time: float) -> Array | None:
        return self._sample(time)[2][self.indices] if moving(self.target) else None

    def _sample(self, time: float) -> tuple[Array, Array, Array]:
        if not moving(self.target):
            return self.target, np.zeros(3), np.zeros(3)
        value, rate, acceleration = (self._spread(np.asarray(x, dtype=float)) for x in self.target.sample(time))
        return value, rate, acceleration

    def _spread(self, values: Array) -> Array:
        """Three components from those of the chosen axes."""
        if len(values) == 3:
            return values
        full = np.zeros(3)
        full[self.indices] = values
        return full
