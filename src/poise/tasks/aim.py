"""Direction and Gaze: an axis of a frame points somewhere. Two rows; the turn about the axis itself is free."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poise.errors import TaskError
from poise.geometry import so3
from poise.robots import Frame, Robot
from poise.robots import Gaze as GazeFrame
from poise.state import FRAMES, Snapshot
from poise.tasks.axes import numbers
from poise.tasks.frame import frame_name
from poise.tasks.layout import Layout, Memory
from poise.tasks.motion import MotionTask, Within
from poise.tasks.reference import Reference
from poise.tasks.target import checked_target, moving
from poise.tasks.task import Writer

Array = NDArray[np.float64]

#: Taylor coefficients of acos(1 - x) / sqrt(1 - (1 - x)²) in x = 1 - c.
SERIES = (1.0, 1 / 3, 2 / 15, 2 / 35, 8 / 315, 8 / 693)


class Seen(NamedTuple):
    """A unit vector in the axes of a frame that moves: ``ṅ = J v + shift``, with the drift n̈ when no joint accelerates.

    The shift is what the target itself moves; it has its part in the drift too.
    """

    n: Array
    J: Array
    shift: Array
    drift: Array


class Aim(MotionTask):
    """A unit vector n, seen from the frame, comes to lie along the frame's axis a: the base of Direction and Gaze.

    With θ the angle between them, c = aᵀ n = cos θ, and B (3 x 2) a basis of the plane across a::

        e = f(c) Bᵀ n,   f = θ / sin θ       |e| = θ, in rad
        ė = f Bᵀ ṅ + f' (aᵀ ṅ) Bᵀ n

    so the error is the angle itself, and points the short way round.
    """

    unit = "rad"
    needs = FRAMES

    def __init__(
        self, frame: Frame, axis: ArrayLike, name: str, weight: ArrayLike, within: Within, reference: Reference | None
    ) -> None:
        super().__init__(name, weight, within, reference, 2)
        self.frame = frame
        self.axis = unit_vector(axis, "axis", name)
        self.B = np.ascontiguousarray(np.linalg.svd(self.axis[None, :])[2][1:].T)

    def labels(self, robot: Robot) -> tuple[str, ...]:
        return ("across 1", "across 2")

    def frames(self) -> tuple[Frame, ...]:
        return (self.frame,)

    @abstractmethod
    def seen(self, snapshot: Snapshot) -> Seen:
        """The direction as the frame sees it."""

    def value(self, snapshot: Snapshot) -> Array:
        n = self.seen(snapshot).n
        c, across = float(self.axis @ n), self.B.T @ n
        if c > -0.99:
            return _stretch(c)[0] * across
        # Pointing away, every way round is equally short in the end: the first is as good as any.
        size = float(np.linalg.norm(across))
        return np.arctan2(size, c) * (across / size if size > 1e-12 else np.array([1.0, 0.0]))

    def jacobian(self, snapshot: Snapshot) -> Array:
        n, J, _, _ = self.seen(snapshot)
        f, f1, _ = _stretch(float(self.axis @ n))
        return f * self.B.T @ J + f1 * np.outer(self.B.T @ n, self.axis @ J)

    def drift(self, snapshot: Snapshot) -> Array:
        n, J, shift, d = self.seen(snapshot)
        f, f1, f2 = _stretch(float(self.axis @ n))
        rate = J @ snapshot.v + shift
        c_rate, c_drift = self.axis @ rate, self.axis @ d
        B = self.B.T
        return f * (B @ d) + 2.0 * f1 * c_rate * (B @ rate) + (f2 * c_rate**2 + f1 * c_drift) * (B @ n)


class Direction(Aim):
    """An axis of a frame stays parallel to a direction of the world, the 2D parallel task of [Dalibard2012].

    Args:
        frame: e.g. ``robot.chest``.
        axis: in the frame.
        target: direction in the world; need not have unit length.

    >>> tasks.Direction(robot.chest, axis=(0, 0, 1), target=(0, 0, 1))  # the chest stays upright
    """

    def __init__(
        self,
        frame: Frame,
        axis: ArrayLike,
        target: ArrayLike = (0.0, 0.0, 1.0),
        within: Within = None,
        weight: ArrayLike = 1.0,
        reference: Reference | None = None,
        name: str = "",
    ) -> None:
        name = name or f"direction of {frame_name(frame)}"
        super().__init__(frame, axis, name, weight, within, reference)
        self.target = unit_vector(target, "target", name)

    def seen(self, snapshot: Snapshot) -> Seen:
        # n = Rᵀ d, so ṅ = -Rᵀ (ω x d) and its drift is Rᵀ (ω x (ω x d) - ω̇ x d).
        R, J = snapshot.rotation(self.frame), snapshot.jacobian(self.frame)[3:]
        d, w, alpha = self.target, J @ snapshot.v, snapshot.drift(self.frame)[3:]
        drift = R.T @ (np.cross(w, np.cross(w, d)) - np.cross(alpha, d))
        return Seen(R.T @ d, R.T @ so3.hat(d) @ J, np.zeros(3), drift)


class Gaze(Aim):
    """The robot looks at a point: the viewing axis of its head, or of any frame, passes through the target.

    With y = R(t)ᵀ (g - p) the point g as the frame sees it, n = y / |y|.

    Args:
        frame: ``robot.gaze``, or any frame with an axis.
        target: point in the world (m), or a `Target` of points.
        axis: viewing axis in the frame; None takes that of ``robot.gaze``.

    >>> tasks.Gaze(robot.gaze, target=(1.0, 0.2, 1.1))
    """

    def __init__(
        self,
        frame: Frame,
        target: Any,
        axis: ArrayLike | None = None,
        within: Within = None,
        weight: ArrayLike = 1.0,
        reference: Reference | None = None,
        name: str = "",
    ) -> None:
        name = name or f"gaze of {frame_name(frame)}"
        if axis is None:
            if not isinstance(frame, GazeFrame):
                raise TaskError(f"{name}: no axis; give one, or robot.gaze, which has its own", name)
            axis = frame.axis
        super().__init__(frame, axis, name, weight, within, reference)
        self.target: Any = checked_target(target, (3,), name) if moving(target) else numbers(target, 3, "target", name)

    def bind_error(self, snapshot: Snapshot, memory: Memory, layout: Layout) -> Sequence[Writer]:
        writers = super().bind_error(snapshot, memory, layout)

        def write_target() -> None:  # its acceleration is in the drift
            n, _, shift, _ = self.seen(snapshot)
            f, f1, _ = _stretch(float(self.axis @ n))
            memory.target_rate[:] = -f * (self.B.T @ shift) - f1 * (self.axis @ shift) * (self.B.T @ n)

        return [*writers, write_target] if moving(self.target) else writers

    def seen(self, snapshot: Snapshot) -> Seen:
        R, J = snapshot.rotation(self.frame), snapshot.jacobian(self.frame)
        v, d = J @ snapshot.v, snapshot.drift(self.frame)
        still = (self.target, np.zeros(3), np.zeros(3))
        g, g_rate, g_acceleration = self.target.sample(snapshot.time) if moving(self.target) else still
        r, w = g - snapshot.position(self.frame), v[3:]
        # y turns and shifts with the frame; its drift is that of the target seen from a moving frame.
        y, y_jacobian = R.T @ r, R.T @ (so3.hat(r) @ J[3:] - J[:3])
        apart = g_rate - v[:3]
        y_drift = R.T @ (
            g_acceleration - d[:3] - np.cross(d[3:], r) - 2.0 * np.cross(w, apart) + np.cross(w, np.cross(w, r))
        )
        length = max(float(np.linalg.norm(y)), 1e-6)  # a target at the eye itself has no direction
        n = y / length
        across = np.eye(3) - np.outer(n, n)
        rate = R.T @ (apart - np.cross(w, r))
        n_rate = across @ rate / length
        drift = (across @ y_drift - 2.0 * (n @ rate) * n_rate) / length - (n_rate @ n_rate) * n
        return Seen(n, across @ y_jacobian / length, across @ (R.T @ g_rate) / length, drift)


def unit_vector(values: ArrayLike, what: str, task: str) -> Array:
    """A direction of unit length."""
    vector = numbers(values, 3, what, task)
    length = float(np.linalg.norm(vector))
    if length < 1e-9:
        raise TaskError(f"{task}: {what} is {vector}; expected a direction, not zero", task)
    return vector / length


def _stretch(c: float) -> tuple[float, float, float]:
    """f = θ / sin θ as a function of c = cos θ, and its first and second derivative.

    From (1 - c²) f' = c f - 1; near c = 1 by series. Where the axis points away (c near -1) f grows without
    bound; it is cut at an angle of 179.9 degrees.
    """
    x = 1.0 - c
    if x < 1e-2:
        value = sum(a * x**i for i, a in enumerate(SERIES))
        first = -sum(i * a * x ** (i - 1) for i, a in enumerate(SERIES) if i > 0)
        return value, first, sum(i * (i - 1) * a * x ** (i - 2) for i, a in enumerate(SERIES) if i > 1)
    c = max(c, -0.9999985)
    f = np.arccos(c) / np.sqrt(1.0 - c * c)
    f1 = (c * f - 1.0) / (1.0 - c * c)
    return float(f), float(f1), float((f + 3.0 * c * f1) / (1.0 - c * c))
