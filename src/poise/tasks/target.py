"""Targets over time, and task dynamics: how an error vanishes."""

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
    """A reference over time. Asking twice gives the same answer.

    `sample(time)` returns its value (a vector, a 3 x 3 rotation or a `pinocchio.SE3`), its rate and its acceleration;
    for rotations and poses these are angular velocities or twists in world axes, linear part first.
    """

    def sample(self, time: float) -> tuple[Any, Array, Array]: ...


class SplineTarget:
    """A vector that moves through points at given times: a cubic spline, at rest at its ends.

    Its acceleration is continuous between them. Before the first time it waits at the first point, after the last at
    the last. Points that are numbers stand for vectors of one component.

    >>> tasks.Position(hand, target=tasks.SplineTarget([0.0, 1.0, 2.0], [p0, p1, p2]))
    """

    def __init__(self, times: ArrayLike, points: ArrayLike) -> None:
        try:
            self.times, self.points = np.array(times, dtype=np.float64), np.array(points, dtype=np.float64)
        except (TypeError, ValueError):
            given = f"{format_value(times)} and {format_value(points)}"
            raise TaskError(
                f"SplineTarget: times and points are {given}; expected numbers, points of one size"
            ) from None
        if self.points.ndim == 1:
            self.points = self.points[:, np.newaxis]
        if self.times.ndim != 1 or len(self.times) < 2 or self.points.ndim != 2 or len(self.points) != len(self.times):
            given = f"{self.times.shape} and points {self.points.shape}"
            raise TaskError(f"SplineTarget: times have shape {given}; expected two or more of each, as many")
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
    """A point that someone else moves: a joystick, a mouse, another program.

    It has no rate: a task follows it at a distance of speed / gain. Where it may jump, give the task a speed limit.

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
        """Goes elsewhere at once; what is not finite or of another size is refused."""
        new = value if type(value) is np.ndarray else np.asarray(value, dtype=np.float64)
        if new.shape != self.value.shape or not math.isfinite(new.dot(new)):
            raise TaskError(f"LiveTarget: set to {value!r}; expected {len(self.value)} finite numbers")
        self.value[:] = new

    def sample(self, time: float) -> tuple[Array, Array, Array]:
        return self.value, self._zero, self._zero


class FeedForwardTarget:
    """A value that someone else moves and knows the rate and acceleration of: a plan that is made anew at every tick.

    >>> foot = tasks.FeedForwardTarget(start.pose(robot.foot("left")))
    >>> foot.set(pose, twist, twist_rate)
    """

    def __init__(self, value: Any) -> None:
        self.value, shape = _check_value(value)
        size = 6 if shape == (4, 4) else 3 if shape == (3, 3) else len(self.value)
        self.rate, self.acceleration = np.zeros(size), np.zeros(size)

    def set(self, value: Any, rate: ArrayLike = 0.0, acceleration: ArrayLike = 0.0) -> None:
        """Where it is now; of rotations and poses the rate is a twist in world axes, linear part first."""
        self.value = value
        self.rate[:], self.acceleration[:] = rate, acceleration

    def sample(self, time: float) -> tuple[Any, Array, Array]:
        return self.value, self.rate, self.acceleration


class MinimumJerkTarget:
    """From one value to another in a given time, with minimum jerk, straight (vectors) or by one rotation (poses).

    Args:
        start, goal: two vectors, two 3 x 3 rotations or two poses (`pinocchio.SE3` or 4 x 4).
        duration: seconds.
        begin: when it starts.

    >>> tasks.Pose(hand, target=tasks.MinimumJerkTarget(start.pose(hand), goal, duration=1.5))
    """

    def __init__(self, start: Any, goal: Any, duration: float, begin: float = 0.0) -> None:
        self.duration = check_task_positive(duration, "duration", "MinimumJerkTarget")
        self.begin = check_task_number(begin, "begin", "MinimumJerkTarget")
        (self.start, kind), (self.goal, other) = _check_value(start), _check_value(goal)
        if kind != other:
            raise TaskError(
                f"MinimumJerkTarget: from shape {kind} to {other}; expected two vectors, two rotations or two poses"
            )
        if kind == (4, 4):
            turn = pinocchio.log3(self.goal.rotation @ self.start.rotation.T)
            self._change = np.concatenate([self.goal.translation - self.start.translation, turn])
        elif kind == (3, 3):
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
    """A vector that goes to and fro between two values: ``start + (far - start) (1 - cos 2πft) / 2``.

    Args:
        start, far: the two values.
        frequency: f, 1/s.
        cycles: after how many it stays at the start; infinite by default.
        begin: when it starts (s).

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


def _check_value(value: Any) -> tuple[Any, tuple[int, ...]]:
    """A vector, a rotation or a pose, and its shape."""
    if isinstance(value, pinocchio.SE3) or np.shape(value) == (4, 4):
        return pose_of(value, "MinimumJerkTarget"), (4, 4)
    if np.shape(value) == (3, 3):
        return rotation_of(value, "MinimumJerkTarget"), (3, 3)
    vector = check_task_vector(value, np.size(value), "value", "MinimumJerkTarget")
    return vector, vector.shape


def is_moving(target: Any) -> bool:
    """Whether a target has to be asked at every tick."""
    # What moves is told from arrays and poses; isinstance(target, Target) takes a microsecond, and ticks ask this, too.
    return hasattr(target, "sample")


def check_target(target: Target, shape: tuple[int, ...], task: str) -> Target:
    """The target, if what it gives at time zero has the shape that a task needs: (4, 4) for a pose."""
    value, rate, acceleration = target.sample(0.0)
    given = (4, 4) if isinstance(value, pinocchio.SE3) else np.shape(value)
    fits = given == shape and (shape != (4, 4) or isinstance(value, pinocchio.SE3))
    size = 6 if shape == (4, 4) else shape[0]
    if not fits or np.shape(rate) != (size,) or np.shape(acceleration) != (size,):
        shapes = f"{given}, {np.shape(rate)} and {np.shape(acceleration)}"
        wanted = "a pinocchio.SE3" if shape == (4, 4) else str(shape)
        raise TaskError(
            f"{task}: the target's value, rate and acceleration have shapes {shapes}; "
            f"expected {wanted}, {(size,)} and {(size,)}",
            task,
        )
    return target


# -- Task dynamics: how the error of a task should vanish -----------------------------------------------------------


@dataclass(frozen=True)
class Decay:
    """The error decays exponentially; at acceleration order with critical damping.

    With gain g and damping k (both 1/s) the task asks for a rate ``-g e`` at velocity order, and for the
    acceleration ``-g k e - (g + k) ė`` at acceleration order, whose poles are -g and -k.

    Args:
        rate: g. The error falls to 5 % in 3/g seconds.
        damping: k; None: equal to the rate, critical damping.
        speed: greatest rate of change that the task may ask for, m/s or rad/s. A pair (m/s, rad/s) limits position
            and orientation apart.
        acceleration: greatest acceleration that it may ask for, m/s² or rad/s², likewise.

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
        """(g, its derivative, k) at a time."""
        return self.rate, 0.0, self.rate if self.damping is None else self.damping


@dataclass(frozen=True)
class MinimumJerk:
    """The error vanishes along a minimum-jerk curve, in a given time: no peak of velocity or torque at the start.

    [Saab2012] names such a curve as the cure for the torque peaks of an exponential decay. With s(t) the
    minimum-jerk curve from 0 to 1, the error ``e(t) = e(begin) (1 - s)`` obeys ``ė = -g(t) e`` with
    ``g = ṡ / (1 - s)``: a decay whose gain grows from zero, without memory of how the motion began. The gain is cut
    at `rate`, with which the error decays from then on.

    Args:
        duration: seconds.
        begin: when it starts; before, the task asks for nothing to change.
        rate: largest gain, 1/s.
        damping: how fast deviations from the curve vanish at acceleration order, 1/s.
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
        """(g, its derivative, k) at a time."""
        s, rate, acceleration = (float(x) for x in minimum_jerk((time - self.begin) / self.duration))
        rate, acceleration = rate / self.duration, acceleration / self.duration**2
        left = 1.0 - s
        if left <= 0.0 or rate >= self.rate * left:
            return self.rate, 0.0, self.damping
        gain = rate / left
        return gain, acceleration / left + gain**2, self.damping


@dataclass(frozen=True)
class FeedForward:
    """The task does exactly what its target says, without feedback: its rate, or its acceleration.

    For plans that bring their own feedback, such as that of the divergent component of motion.

    >>> tasks.CenterOfMass(plan, axes="xy", dynamics=tasks.FeedForward())
    """

    speed: float = np.inf
    acceleration: float = np.inf

    @property
    def time_varying(self) -> bool:
        return False

    def gains(self, time: float) -> tuple[float, float, float]:
        """(g, its derivative, k): all zero."""
        return 0.0, 0.0, 0.0


@runtime_checkable
class TaskDynamics(Protocol):
    """What a task asks: `gains`, whether they change with time, and limits; those above, or one of your own."""

    @property
    def speed(self) -> float | tuple[float, float]: ...
    @property
    def acceleration(self) -> float | tuple[float, float]: ...
    @property
    def time_varying(self) -> bool: ...
    def gains(self, time: float) -> tuple[float, float, float]: ...


def part_limits(value: float | tuple[float, float], parts: int) -> list[float]:
    """One limit for each part of a task: position and orientation may differ, a single number serves all."""
    values = [float(v) for v in np.atleast_1d(value)]
    return values[:parts] if len(values) >= parts else values * parts


def _check_dynamics(dynamics: Decay | MinimumJerk, finite: tuple[str, ...]) -> None:
    """A TaskError unless these are positive numbers, and the limits one or two, which may be infinite."""
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
