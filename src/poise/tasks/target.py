"""Targets of tasks over time, and task dynamics, which determine how an error vanishes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pinocchio
from numpy.typing import ArrayLike

from poise.arrays import Array
from poise.errors import TaskError
from poise.extras import scipy
from poise.geometry import minimum_jerk
from poise.parsing import format_value
from poise.tasks.task import check_task_number, check_task_positive, check_task_vector, pose_of, rotation_of


@runtime_checkable
class Target(Protocol):
    """Protocol of targets that move. `sample` has no side effects.

    `sample(time)` returns value (a vector, a 3 x 3 rotation or a `pinocchio.SE3`), rate and acceleration; for rotations
    and poses the rate is an angular velocity or a twist in world axes, linear part first.
    """

    def sample(self, time: float) -> tuple[Any, Array, Array]: ...


class SplineTarget:
    """A vector that moves through points at given times, along a cubic spline with zero velocity at its ends.

    Its acceleration is continuous between them. Before the first time it rests at the first point, after the last time
    at the last. Points given as numbers are vectors of one component.

    Args:
        times: increasing times (s), two or more.
        points: one vector per time.

    >>> tasks.Position(hand, target=tasks.SplineTarget([0.0, 1.0, 2.0], [p0, p1, p2]))
    """

    def __init__(self, times: ArrayLike, points: ArrayLike) -> None:
        try:
            self.times, self.points = np.array(times, dtype=np.float64), np.array(points, dtype=np.float64)
        except (TypeError, ValueError):
            texts = f"{format_value(times)} and {format_value(points)}"
            raise TaskError(
                f"SplineTarget: times and points are {texts}; expected numbers, points of one size"
            ) from None
        if self.points.ndim == 1:
            self.points = self.points[:, np.newaxis]
        if self.times.ndim != 1 or len(self.times) < 2 or self.points.ndim != 2 or len(self.points) != len(self.times):
            shapes = f"{self.times.shape} and points {self.points.shape}"
            raise TaskError(
                f"SplineTarget: times have shape {shapes}; expected two or more times and one point for each"
            )
        if not (np.isfinite(self.times).all() and np.isfinite(self.points).all()):
            raise TaskError("SplineTarget: a time or a point is NaN or infinite; give finite numbers")
        if not (np.diff(self.times) > 0).all():
            raise TaskError(
                f"SplineTarget: times are {format_value(times)}; expected each to be later than the one before"
            )
        self._spline = scipy.interpolate.CubicSpline(self.times, self.points, bc_type="clamped")
        self._rate, self._acceleration = self._spline.derivative(1), self._spline.derivative(2)

    def sample(self, time: float) -> tuple[Array, Array, Array]:
        t = min(max(time, self.times[0]), self.times[-1])
        value = np.asarray(self._spline(t))
        if t != time:
            return value, np.zeros_like(value), np.zeros_like(value)
        return value, np.asarray(self._rate(t)), np.asarray(self._acceleration(t))


class LiveTarget:
    """A vector that the caller changes while the robot runs, e.g. from a joystick, a mouse or another program.

    Its rate counts as zero, so a task with gain g follows a target of speed u with an error of u / g. If the target may
    jump, limit the speed of the task.

    >>> point = tasks.LiveTarget((0.4, 0.2, 1.0))
    >>> task = tasks.Position(hand, target=point, dynamics=tasks.Decay(20.0, speed=0.5))
    >>> point.set((0.5, 0.2, 1.0))
    """

    def __init__(self, value: ArrayLike) -> None:
        self.value = np.array(value, dtype=np.float64)
        if self.value.ndim != 1 or not np.isfinite(self.value).all():
            raise TaskError(f"LiveTarget: starts at {value!r}; expected a vector of finite numbers")
        self._zero = np.zeros_like(self.value)

    def set(self, value: ArrayLike) -> None:
        """Set a new value; raise a TaskError if it is not finite or of another size."""
        new = value if type(value) is np.ndarray else np.asarray(value, dtype=np.float64)
        if new.shape != self.value.shape or not math.isfinite(new.dot(new)):
            raise TaskError(f"LiveTarget: set to {value!r}; expected {len(self.value)} finite numbers")
        self.value[:] = new

    def sample(self, time: float) -> tuple[Array, Array, Array]:
        return self.value, self._zero, self._zero


class FeedForwardTarget:
    """A value that the caller sets with its rate and acceleration, for plans that are updated at every tick.

    >>> foot = tasks.FeedForwardTarget(start.pose(robot.foot("left")))
    >>> foot.set(pose, twist, twist_rate)
    """

    def __init__(self, value: Any) -> None:
        self.value, shape = _check_value(value, "FeedForwardTarget")
        size = 6 if shape == (4, 4) else 3 if shape == (3, 3) else len(self.value)
        self.rate, self.acceleration = np.zeros(size), np.zeros(size)

    def set(self, value: Any, rate: ArrayLike = 0.0, acceleration: ArrayLike = 0.0) -> None:
        """Set value, rate and acceleration; rates of rotations and poses are in world axes, linear part first."""
        self.value = value
        self.rate[:], self.acceleration[:] = rate, acceleration

    def sample(self, time: float) -> tuple[Any, Array, Array]:
        return self.value, self.rate, self.acceleration


class MinimumJerkTarget:
    """Minimum-jerk motion from one value to another: along a straight line, and for rotations about a fixed axis.

    Args:
        start, goal: two vectors, two 3 x 3 rotations or two poses (`pinocchio.SE3` or 4 x 4).
        duration: duration (s).
        begin: time at which the motion starts (s).

    >>> tasks.Pose(hand, target=tasks.MinimumJerkTarget(start.pose(hand), goal, duration=1.5))
    """

    def __init__(self, start: Any, goal: Any, duration: float, begin: float = 0.0) -> None:
        self.duration = check_task_positive(duration, "duration", "MinimumJerkTarget")
        self.begin = check_task_number(begin, "begin", "MinimumJerkTarget")
        (self.start, shape), (self.goal, goal_shape) = (_check_value(x, "MinimumJerkTarget") for x in (start, goal))
        if shape != goal_shape:
            raise TaskError(
                f"MinimumJerkTarget: from shape {shape} to {goal_shape}; "
                "expected two vectors, two rotations or two poses"
            )
        if shape == (4, 4):
            turn = pinocchio.log3(self.goal.rotation @ self.start.rotation.T)
            self._change = np.concatenate([self.goal.translation - self.start.translation, turn])
        elif shape == (3, 3):
            self._change = pinocchio.log3(self.goal @ self.start.T)
        else:
            self._change = self.goal - self.start

    def sample(self, time: float) -> tuple[Any, Array, Array]:
        s, s_rate, s_acceleration = minimum_jerk((time - self.begin) / self.duration)
        rate = s_rate / self.duration * self._change
        acceleration = s_acceleration / self.duration**2 * self._change
        return self._at(float(s)), rate, acceleration

    def _at(self, s: float) -> Any:
        if isinstance(self.start, pinocchio.SE3):
            turn = pinocchio.exp3(s * self._change[3:]) @ self.start.rotation
            return pinocchio.SE3(turn, self.start.translation + s * self._change[:3])
        if self.start.ndim == 2:
            return pinocchio.exp3(s * self._change) @ self.start
        return self.start + s * self._change


class SinusoidTarget:
    """A vector that oscillates between two values: ``start + (far - start) (1 - cos 2πft) / 2``.

    Args:
        start, far: the two values.
        frequency: f, 1/s.
        cycles: number of cycles, after which it rests at `start`; infinite by default.
        begin: time at which the motion starts (s).

    >>> tasks.CenterOfMass(tasks.SinusoidTarget(high, low, frequency=0.5, cycles=10))
    """

    def __init__(
        self, start: ArrayLike, far: ArrayLike, frequency: float, cycles: float = math.inf, begin: float = 0.0
    ) -> None:
        self.start = check_task_vector(start, np.size(start), "start", "SinusoidTarget")
        self._change = check_task_vector(far, np.size(start), "far", "SinusoidTarget") - self.start
        self.frequency = check_task_positive(frequency, "frequency", "SinusoidTarget")
        self.begin = check_task_number(begin, "begin", "SinusoidTarget")
        if not (isinstance(cycles, (int, float)) and cycles > 0):
            raise TaskError(f"SinusoidTarget: cycles is {format_value(cycles)}; expected a positive number")
        self.cycles = float(cycles)

    def sample(self, time: float) -> tuple[Array, Array, Array]:
        turns = self.frequency * (time - self.begin)
        if not 0.0 <= turns < self.cycles:
            return self.start, np.zeros_like(self.start), np.zeros_like(self.start)
        w, angle = 2.0 * math.pi * self.frequency, 2.0 * math.pi * turns
        value = self.start + (0.5 - 0.5 * math.cos(angle)) * self._change
        return value, (0.5 * w * math.sin(angle)) * self._change, (0.5 * w * w * math.cos(angle)) * self._change


def _check_value(value: Any, label: str) -> tuple[Any, tuple[int, ...]]:
    """Return a checked copy of a vector, a rotation or a pose, and its shape; `label` begins the error message."""
    if isinstance(value, pinocchio.SE3) or np.shape(value) == (4, 4):
        return pose_of(value, label), (4, 4)
    if np.shape(value) == (3, 3):
        return rotation_of(value, label), (3, 3)
    vector = check_task_vector(value, np.size(value), "value", label)
    return vector, vector.shape


def is_moving(target: Any) -> bool:
    """Return whether a target is a `Target` that has to be sampled at every tick, not a constant array or pose."""
    # isinstance(target, Target) takes a microsecond, too long for a function that is called at every tick.
    return hasattr(target, "sample")


def check_target(target: Target, shape: tuple[int, ...], task: str) -> Target:
    """Return the target; raise a TaskError unless its sample at time zero has the given shape, (4, 4) for a pose."""
    value, rate, acceleration = target.sample(0.0)
    value_shape = (4, 4) if isinstance(value, pinocchio.SE3) else np.shape(value)
    fits = value_shape == shape and (shape != (4, 4) or isinstance(value, pinocchio.SE3))
    size = 6 if shape == (4, 4) else shape[0]
    if not fits or np.shape(rate) != (size,) or np.shape(acceleration) != (size,):
        shapes = f"{value_shape}, {np.shape(rate)} and {np.shape(acceleration)}"
        expected = "a pinocchio.SE3" if shape == (4, 4) else str(shape)
        raise TaskError(
            f"{task}: the target's value, rate and acceleration have shapes {shapes}; "
            f"expected {expected}, {(size,)} and {(size,)}",
            task,
        )
    return target


# -- Task dynamics ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Decay:
    """Exponential decay of the error; by default critically damped at acceleration order.

    With gain g and damping k (both 1/s) the desired rate is ``-g e`` at velocity order, and the desired
    acceleration is ``-g k e - (g + k) ė`` at acceleration order, with poles -g and -k.

    Args:
        rate: g. The error falls to 5 % in 3/g seconds. The controller limits g to 1/T, at acceleration order g and k to
            1/(2 T), with T its period: larger gains would overshoot.
        damping: k; None: equal to the rate, critical damping.
        speed: largest desired rate, m/s or rad/s. A pair (m/s, rad/s) limits position and orientation separately.
        acceleration: largest desired acceleration, m/s² or rad/s², or a pair.

    >>> tasks.Position(hand, target=goal, dynamics=tasks.Decay(rate=3.0, speed=0.5))
    """

    rate: float = 5.0
    damping: float | None = None
    speed: float | tuple[float, float] = np.inf
    acceleration: float | tuple[float, float] = np.inf

    def __post_init__(self) -> None:
        _check_dynamics(self, ("rate",) if self.damping is None else ("rate", "damping"))

    @property
    def time_varying(self) -> bool:
        """Whether the gains change with time."""
        return False

    def gains(self, time: float) -> tuple[float, float, float]:
        """Return (g, its derivative, k) at a time."""
        return self.rate, 0.0, self.rate if self.damping is None else self.damping


@dataclass(frozen=True)
class MinimumJerk:
    """Error that vanishes along a minimum-jerk curve in a given time, without a velocity or torque peak at the start.

    [Saab2012] proposes this curve against the torque peaks of an exponential decay. With s(t) the
    minimum-jerk curve from 0 to 1, the error ``e(t) = e(begin) (1 - s)`` obeys ``ė = -g(t) e`` with
    ``g = ṡ / (1 - s)``: a decay whose gain grows from zero, independent of the initial error. The gain is limited
    to `rate`, with which the error decays from then on.

    Args:
        duration: duration (s).
        begin: time at which the motion starts (s); before, the gain is zero.
        rate: largest gain, 1/s.
        damping: rate at which deviations from the curve vanish at acceleration order, 1/s.
        speed, acceleration: as for `Decay`.

    >>> tasks.Position(hand, target=goal, dynamics=tasks.MinimumJerk(duration=1.5, begin=0.5))
    """

    duration: float
    begin: float = 0.0
    rate: float = 20.0
    damping: float = 20.0
    speed: float | tuple[float, float] = np.inf
    acceleration: float | tuple[float, float] = np.inf

    def __post_init__(self) -> None:
        check_task_number(self.begin, "begin", "MinimumJerk")
        _check_dynamics(self, ("duration", "rate", "damping"))

    @property
    def time_varying(self) -> bool:
        return True

    def gains(self, time: float) -> tuple[float, float, float]:
        """Return (g, its derivative, k) at a time."""
        s, rate, acceleration = (float(x) for x in minimum_jerk((time - self.begin) / self.duration))
        rate, acceleration = rate / self.duration, acceleration / self.duration**2
        left = 1.0 - s
        if left <= 0.0 or rate >= self.rate * left:
            return self.rate, 0.0, self.damping
        gain = rate / left
        return gain, acceleration / left + gain**2, self.damping


@dataclass(frozen=True)
class FeedForward:
    """Pure feed-forward: the task follows the rate (or acceleration) of its target, without feedback of the error.

    For plans that already contain feedback, e.g. of the divergent component of motion (DCM).

    Args:
        speed, acceleration: largest desired rate (m/s, rad/s) and acceleration (m/s², rad/s²).

    >>> tasks.CenterOfMass(plan, axes="xy", dynamics=tasks.FeedForward())
    """

    speed: float = np.inf
    acceleration: float = np.inf

    @property
    def time_varying(self) -> bool:
        return False

    def gains(self, time: float) -> tuple[float, float, float]:
        """Return (g, its derivative, k), all zero."""
        return 0.0, 0.0, 0.0


@runtime_checkable
class TaskDynamics(Protocol):
    """Protocol of task dynamics: gains (g in 1/s, its derivative in 1/s², k in 1/s) over time, and limits.

    Implemented by `Decay`, `MinimumJerk` and `FeedForward`; users may write their own.
    """

    @property
    def speed(self) -> float | tuple[float, float]: ...
    @property
    def acceleration(self) -> float | tuple[float, float]: ...
    @property
    def time_varying(self) -> bool: ...
    def gains(self, time: float) -> tuple[float, float, float]: ...


def part_limits(value: float | tuple[float, float], parts: int) -> list[float]:
    """Return one limit per part of a task (position and orientation); a single number is used for all parts."""
    values = [float(v) for v in np.atleast_1d(value)]
    return values[:parts] if len(values) >= parts else values * parts


def _check_dynamics(dynamics: Decay | MinimumJerk, finite: tuple[str, ...]) -> None:
    """Raise a TaskError unless the named fields are positive and each limit is one or two positive numbers or inf."""
    kind = type(dynamics).__name__
    for name in finite:
        check_task_positive(getattr(dynamics, name), name, kind)
    for name in ("speed", "acceleration"):
        value = getattr(dynamics, name)
        try:
            values = np.atleast_1d(np.asarray(value, dtype=np.float64))
        except (TypeError, ValueError):
            values = np.zeros(0)
        if values.shape not in ((1,), (2,)) or not (values > 0.0).all():
            raise TaskError(f"{kind}: {name} is {format_value(value)}; expected a positive number, or two for a pose")
