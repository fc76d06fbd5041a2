"""Tasks that point an axis of a frame: Direction and Gaze. Two rows; the rotation about the axis is free."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from pinocchio import skew

from poise.arrays import Array
from poise.errors import TaskError
from poise.parsing import format_value
from poise.robots import Frame, GazeFrame, Robot
from poise.state import FRAMES, Snapshot
from poise.tasks.frame import frame_name
from poise.tasks.motion_task import MotionTask, Tolerance
from poise.tasks.target import TaskDynamics, check_target, is_moving
from poise.tasks.task import ACCELERATION, TaskRows, VariableLayout, Writer, check_task_vector

#: Cosine of the angle (172 degrees) beyond which the axis counts as opposite to its target, where the curvature of the
#: error is too large.
OPPOSITE_COSINE = -0.99
#: Smallest distance (m) of a target from the frame: the direction of a target at the origin is undefined.
MIN_DISTANCE = 1e-6
#: Taylor coefficients of acos(1 - x) / sqrt(1 - (1 - x)²) in x = 1 - c.
TAYLOR_COEFFICIENTS = (1.0, 1 / 3, 2 / 15, 2 / 35, 8 / 315, 8 / 693)


class DirectionKinematics(NamedTuple):
    """A unit vector n in the axes of a moving frame, with its rate ``ṅ = J v + target_rate`` (1/s)."""

    n: Array
    J: Array
    target_rate: Array


class Aim(MotionTask):
    """Align an axis a of a frame with a unit vector n, given in the axes of the frame; base of Direction and Gaze.

    With θ the angle between them, c = aᵀ n = cos θ, and B (3 x 2) a basis of the plane across a::

        e = f(c) Bᵀ n,   f = θ / sin θ       |e| = θ, in rad
        ė = f Bᵀ ṅ + f' (aᵀ ṅ) Bᵀ n

    so the size of the error is the angle itself, and its direction is that of the shortest rotation.
    """

    unit = "rad"
    required_terms = FRAMES

    def __init__(
        self,
        frame: Frame,
        axis: ArrayLike,
        name: str,
        weight: ArrayLike,
        tolerance: Tolerance,
        dynamics: TaskDynamics | None,
    ) -> None:
        super().__init__(name, weight, tolerance, dynamics, 2)
        self.frame = frame
        self.axis = unit_vector(axis, "axis", name)
        self.B = np.ascontiguousarray(np.linalg.svd(self.axis[None, :])[2][1:].T)

    def labels(self, robot: Robot) -> tuple[str, ...]:
        return ("across 1", "across 2")

    def frames(self) -> tuple[Frame, ...]:
        return (self.frame,)

    @abstractmethod
    def direction(self, snapshot: Snapshot) -> DirectionKinematics:
        """Return the target direction in the axes of the frame, with its Jacobian."""

    @abstractmethod
    def direction_drift(self, snapshot: Snapshot, n_rate: Array) -> Array:
        """Return n̈ for v̇ = 0, given ṅ."""

    def bind_error(self, snapshot: Snapshot, task_rows: TaskRows, layout: VariableLayout) -> Sequence[Writer]:
        def write() -> None:
            n, J, target_rate = self.direction(snapshot)
            error, E, error_curvature = self._error(n)
            task_rows.error[:], task_rows.A[:], task_rows.target_rate[:] = error, E @ J, -E @ target_rate
            if layout.order == ACCELERATION:  # the drift includes the acceleration of the target
                rate = J @ snapshot.v + target_rate
                task_rows.drift[:] = E @ self.direction_drift(snapshot, rate) + error_curvature(rate)

        return [write]

    def _error(self, n: Array) -> tuple[Array, Array, Callable[[Array], Array]]:
        """Return e, the matrix E with ``ė = E ṅ``, and ``Ė ṅ`` as a function of ṅ."""
        a, B = self.axis, self.B.T
        c, across = float(a @ n), B @ n
        if c < OPPOSITE_COSINE:
            return *_error_near_opposite(c, across, a, B), lambda n_rate: np.zeros(2)
        f, f1, f2 = _angle_over_sine(c)

        def error_curvature(n_rate: Array) -> Array:
            c_rate = float(a @ n_rate)
            return 2.0 * f1 * c_rate * (B @ n_rate) + f2 * c_rate**2 * across

        return f * across, f * B + f1 * np.outer(across, a), error_curvature


class Direction(Aim):
    """Keep an axis of a frame parallel to a direction of the world, the 2D parallel task of [Dalibard2012].

    Args:
        frame: e.g. ``robot.chest``.
        axis: axis in the frame.
        target: direction in the world, of any length.

    >>> tasks.Direction(robot.chest, axis=(0, 0, 1), target=(0, 0, 1))  # the chest stays upright
    """

    def __init__(
        self,
        frame: Frame,
        axis: ArrayLike,
        target: ArrayLike = (0.0, 0.0, 1.0),
        tolerance: Tolerance = None,
        weight: ArrayLike = 1.0,
        dynamics: TaskDynamics | None = None,
        name: str = "",
    ) -> None:
        name = name or f"direction of {frame_name(frame)}"
        super().__init__(frame, axis, name, weight, tolerance, dynamics)
        self.target = unit_vector(target, "target", name)

    def direction(self, snapshot: Snapshot) -> DirectionKinematics:
        # n = Rᵀ d, so ṅ = -Rᵀ (ω x d).
        R, J = snapshot.rotation(self.frame), snapshot.jacobian(self.frame)[3:]
        return DirectionKinematics(R.T @ self.target, R.T @ skew(self.target) @ J, np.zeros(3))

    def direction_drift(self, snapshot: Snapshot, n_rate: Array) -> Array:
        # Rᵀ (ω x (ω x d) - ω̇ x d), with the drift of the frame in place of ω̇.
        w, w_drift = skew(snapshot.velocity(self.frame)[3:]), skew(snapshot.drift(self.frame)[3:])
        drift: Array = snapshot.rotation(self.frame).T @ (w @ w - w_drift) @ self.target
        return drift


class Gaze(Aim):
    """Look at a point: the viewing axis of the head, or of any frame, passes through the target.

    With y = R(t)ᵀ (g - p) the point g in the axes of the frame, n = y / |y|.

    Args:
        frame: ``robot.gaze``, or any frame with an axis.
        target: point in the world (m), or a `Target` of points.
        axis: viewing axis in the frame; None: that of ``robot.gaze``.

    >>> tasks.Gaze(robot.gaze, target=(1.0, 0.2, 1.1))
    """

    def __init__(
        self,
        frame: Frame,
        target: Any,
        axis: ArrayLike | None = None,
        tolerance: Tolerance = None,
        weight: ArrayLike = 1.0,
        dynamics: TaskDynamics | None = None,
        name: str = "",
    ) -> None:
        name = name or ("gaze" if isinstance(frame, GazeFrame) else f"gaze of {frame_name(frame)}")
        if axis is None:
            if not isinstance(frame, GazeFrame):
                raise TaskError(f"{name}: no axis was given; give axis=, or robot.gaze, which has one", name)
            axis = frame.axis
        super().__init__(frame, axis, name, weight, tolerance, dynamics)
        self.target: Any = (
            check_target(target, (3,), name) if is_moving(target) else check_task_vector(target, 3, "target", name)
        )

    def direction(self, snapshot: Snapshot) -> DirectionKinematics:
        R, J = snapshot.rotation(self.frame), snapshot.jacobian(self.frame)
        g, g_rate, _ = self._sample(snapshot.time)
        r = g - snapshot.position(self.frame)
        n, across = _unit_direction(R.T @ r)
        turn = across @ R.T
        return DirectionKinematics(n, turn @ (skew(r) @ J[3:] - J[:3]), turn @ g_rate)

    def direction_drift(self, snapshot: Snapshot, n_rate: Array) -> Array:
        # y = Rᵀ (g - p): a moving point in the axes of a moving frame.
        R, v, d = snapshot.rotation(self.frame), snapshot.velocity(self.frame), snapshot.drift(self.frame)
        g, g_rate, g_acceleration = self._sample(snapshot.time)
        r, relative_velocity, w = g - snapshot.position(self.frame), g_rate - v[:3], skew(v[3:])
        y_drift = R.T @ (g_acceleration - d[:3] - skew(d[3:]) @ r - 2.0 * w @ relative_velocity + w @ w @ r)
        n, across = _unit_direction(R.T @ r)
        # Rate of the distance relative to the distance, 1/s.
        distance_rate = (R @ n) @ relative_velocity / max(float(np.linalg.norm(r)), MIN_DISTANCE)
        drift: Array = across @ y_drift - 2.0 * distance_rate * n_rate - (n_rate @ n_rate) * n
        return drift

    def _sample(self, time: float) -> tuple[Array, Array, Array]:
        return self.target.sample(time) if is_moving(self.target) else (self.target, np.zeros(3), np.zeros(3))


def _unit_direction(y: Array) -> tuple[Array, Array]:
    """Return the unit vector n along y, and the matrix P = (I - n nᵀ) / |y| with ``ṅ = P ẏ``."""
    length = max(float(np.linalg.norm(y)), MIN_DISTANCE)
    n = y / length
    return n, (np.eye(3) - np.outer(n, n)) / length


def _error_near_opposite(c: float, across: Array, a: Array, B: Array) -> tuple[Array, Array]:
    """Return e and E (``ė = E ṅ``) of an axis that is nearly opposite to its target.

    With s = sin θ and u = Bᵀn / s, the direction of n across the axis: ``e = θ u`` and ``θ̇ = (c B u - s a)ᵀ ṅ``. If the
    axis is exactly opposite, every rotation is equally short and the first direction is used. The factor θ / s of the
    rotation of u is unbounded there; it is limited to its value at a tenth of a degree.
    """
    s = float(np.linalg.norm(across))
    u = across / s if s > 1e-12 else np.array([1.0, 0.0])
    angle = float(np.arctan2(s, c))
    t = np.array([-u[1], u[0]])
    return angle * u, np.outer(u, c * (u @ B) - s * a) + angle / max(s, 2e-3) * np.outer(t, t @ B)


def unit_vector(values: ArrayLike, label: str, task: str) -> Array:
    """Return the direction as a vector of unit length; raise a TaskError if it is zero or invalid."""
    vector = check_task_vector(values, 3, label, task)
    length = float(np.linalg.norm(vector))
    if length < 1e-9:
        raise TaskError(f"{task}: {label} is {format_value(values)}; expected a direction, not zero", task)
    return vector / length


def _angle_over_sine(c: float) -> tuple[float, float, float]:
    """Return f = θ / sin θ as a function of c = cos θ, and its first and second derivative.

    From (1 - c²) f' = c f - 1; near c = 1 by a series. f is unbounded at c = -1, where the axis is opposite.
    """
    x = 1.0 - c
    if x < 1e-2:
        value = sum(a * x**i for i, a in enumerate(TAYLOR_COEFFICIENTS))
        first = -sum(i * a * x ** (i - 1) for i, a in enumerate(TAYLOR_COEFFICIENTS) if i > 0)
        return value, first, sum(i * (i - 1) * a * x ** (i - 2) for i, a in enumerate(TAYLOR_COEFFICIENTS) if i > 1)
    f = np.arccos(c) / np.sqrt(1.0 - c * c)
    f1 = (c * f - 1.0) / (1.0 - c * c)
    return float(f), float(f1), float((f + 3.0 * c * f1) / (1.0 - c * c))
