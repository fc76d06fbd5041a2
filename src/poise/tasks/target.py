"""Targets: what a task wants, as a function of time."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np
import pinocchio
from numpy.typing import ArrayLike, NDArray
from scipy.interpolate import CubicSpline

from poise.errors import TaskError
from poise.geometry.curves import minimum_jerk

Array = NDArray[np.float64]


@runtime_checkable
class Target(Protocol):
    """A reference over time. Asking twice gives the same answer.

    `sample(time)` returns its value (a vector, a 3 x 3 rotation or a `pinocchio.SE3`), its rate and its acceleration;
    for rotations and poses these are angular velocities or twists in world axes, linear part first.
    """

    def sample(self, time: float) -> tuple[Any, Array, Array]: ...


class Path:
    """A vector that moves through points at given times, with continuous acceleration (cubic spline, at rest at its ends).

    Before the first time it waits at the first point, after the last at the last.

    >>> tasks.Position(hand, target=tasks.Path([0.0, 1.0, 2.0], [p0, p1, p2]))
    """

    def __init__(self, times: ArrayLike, points: ArrayLike) -> None:
        self.times = np.array(times, dtype=np.float64)
        self.points = np.array(points, dtype=np.float64)
        if self.times.ndim != 1 or len(self.times) < 2 or len(self.points) != len(self.times):
            raise TaskError(
                f"Path: {self.times.size} times and {len(self.points)} points; expected two or more of each, as many"
            )
        if not (np.isfinite(self.times).all() and np.isfinite(self.points).all()):
            raise TaskError("Path: a time or a point is NaN or infinite; give finite numbers")
        if not (np.diff(self.times) > 0).all():
            raise TaskError(f"Path: times are {self.times}; expected each to be later than the one before")
        self._spline = CubicSpline(self.times, self.points, bc_type="clamped")
        self._rate, self._acceleration = self._spline.derivative(1), self._spline.derivative(2)

    def sample(self, time: float) -> tuple[Array, Array, Array]:
        t = min(max(time, self.times[0]), self.times[-1])
        value = np.asarray(self._spline(t))
        if t != time:
            return value, np.zeros_like(value), np.zeros_like(value)
        return value, np.asarray(self._rate(t)), np.asarray(self._acceleration(t))


class Passage:
    """From one value to another in a given time, with minimum jerk, straight (vectors) or by one rotation (poses).

    Args:
        start, goal: two vectors, two 3 x 3 rotations or two `pinocchio.SE3`.
        duration: seconds.
        begin: when it starts.

    >>> tasks.Pose(hand, target=tasks.Passage(start.pose(hand), goal, duration=1.5))
    """

    def __init__(self, start: Any, goal: Any, duration: float, begin: float = 0.0) -> None:
        if not (np.isfinite(duration) and duration > 0.0 and np.isfinite(begin)):
            raise TaskError(f"Passage: duration {duration} from {begin}; expected positive seconds")
        self.duration, self.begin = float(duration), float(begin)
        self.start, self.goal = start, goal
        self._kind = _kind(start)
        if _kind(goal) != self._kind:
            raise TaskError(f"Passage: from a {self._kind} to a {_kind(goal)}; expected two of a kind")
        if self._kind == "vector":
            self.start, self.goal = np.array(start, dtype=float), np.array(goal, dtype=float)
            self._change = self.goal - self.start
        elif self._kind == "rotation":
            self._change = pinocchio.log3(np.asarray(goal) @ np.asarray(start).T)
        else:
            turn = pinocchio.log3(goal.rotation @ start.rotation.T)
            self._change = np.concatenate([goal.translation - start.translation, turn])

    def sample(self, time: float) -> tuple[Any, Array, Array]:
        s, s_rate, s_acceleration = minimum_jerk((time - self.begin) / self.duration)
        rate = s_rate / self.duration * self._change
        acceleration = s_acceleration / self.duration**2 * self._change
        return self._value(float(s)), rate, acceleration

    def _value(self, s: float) -> Any:
        if self._kind == "vector":
            return self.start + s * self._change
        if self._kind == "rotation":
            return pinocchio.exp3(s * self._change) @ self.start
        turn = pinocchio.exp3(s * self._change[3:]) @ self.start.rotation
        return pinocchio.SE3(turn, self.start.translation + s * self._change[:3])


def _kind(value: Any) -> str:
    if isinstance(value, pinocchio.SE3):
        return "pose"
    return "rotation" if np.shape(value) == (3, 3) else "vector"


def moving(target: Any) -> bool:
    """Whether a target has to be asked at every tick."""
    return hasattr(target, "sample")
