"""Curves from one value to another over time, each with its first and second derivative.

`minimum_jerk`, `cycloid` and `cycloid_lift` are unit curves of the phase s, which goes from 0 to 1; a motion over a
distance D (m) in a time T (s) is ``D x(t/T)`` with rate ``D/T x'`` and acceleration ``D/T² x''``. `Quintic` joins any
two states of motion. All curves are stateless.
"""

from __future__ import annotations

import math
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from poise.arrays import Array
from poise.errors import GeometryError

#: A phase, or an array of phases.
Phase = TypeVar("Phase", float, Array)


def minimum_jerk(s: Phase) -> tuple[Phase, Phase, Phase]:
    """Minimum-jerk curve from 0 to 1, at rest at both ends: value, first and second derivative by the phase s.

        x = 10 s³ - 15 s⁴ + 6 s⁵,   x' = 30 s² (1 - s)²,   x'' = 60 s (1 - s) (1 - 2 s)

    Of all curves that start and end at rest it has the least integral of x'''², as do the hand paths of human reaching
    motions [Flash1985]. It is constant, 0 before s = 0 and 1 after s = 1. s is a number or an array.

    >>> minimum_jerk(0.5)
    (0.5, 1.875, 0.0)
    """
    s = _clip_phase(s)
    r = 1.0 - s
    return s * s * s * (10.0 - s * (15.0 - 6.0 * s)), 30.0 * s * s * r * r, 60.0 * s * r * (r - s)


def cycloid(s: Phase) -> tuple[Phase, Phase, Phase]:
    """Cycloid from 0 to 1, the path of a point on a rolling wheel: value, first and second derivative by the phase s.

        x = s - sin(2π s) / 2π,   x' = 1 - cos(2π s),   x'' = 2π sin(2π s)

    Together with `cycloid_lift` it is the trajectory of a swing foot that leaves and meets the ground at zero speed. It
    is constant, 0 before s = 0 and 1 after s = 1.

    >>> cycloid(1.0)[:2]
    (1.0, 0.0)
    """
    sine, cosine, s = _sine_and_cosine(s)
    return s - sine / math.tau, 1.0 - cosine, math.tau * sine


def cycloid_lift(s: Phase) -> tuple[Phase, Phase, Phase]:
    """Height of the point of `cycloid`, from 0 up to 1 at s = 1/2 and down to 0, with first and second derivative.

        z = (1 - cos(2π s)) / 2,   z' = π sin(2π s),   z'' = 2π² cos(2π s)

    It is 0 outside 0 <= s <= 1; the second derivative jumps there, from 0 to 2π².

    >>> cycloid_lift(0.5)[0]
    1.0
    """
    sine, cosine, clipped = _sine_and_cosine(s)
    inside = 1.0 * (clipped == s)
    return 0.5 - 0.5 * cosine, math.pi * sine, 2.0 * math.pi**2 * cosine * inside


class Quintic:
    """Polynomial of degree five that joins two states of motion in a given time.

        x(t) = sum over k of c_k (t/T)^k,   x, dx/dt, d²x/dt² given at t = 0 and t = T

    Args:
        start: (value, rate, acceleration) at t = 0, numbers or arrays of one shape, in any unit, per s and per s².
        end: the same at t = T.
        duration: T (s), positive.

    The result of `sample` is a valid `start` of another curve. Between two states at rest the curve is `minimum_jerk`.

    >>> lift = Quintic(start=(0.0, 0.0, 0.0), end=(0.1, 0.0, 0.0), duration=2.0)
    >>> [round(float(part), 6) for part in lift.sample(1.0)]
    [0.05, 0.09375, 0.0]
    """

    __slots__ = ("_coefficients", "_shape", "duration")

    def __init__(
        self,
        start: tuple[ArrayLike, ArrayLike, ArrayLike],
        end: tuple[ArrayLike, ArrayLike, ArrayLike],
        duration: float,
    ) -> None:
        T = float(duration)
        if not 0.0 < T < math.inf:
            raise GeometryError(f"the duration of a quintic is {duration}; give a time in seconds above zero")
        try:
            x0, v0, a0, x1, v1, a1 = np.broadcast_arrays(
                *(np.asarray(part, dtype=np.float64) for part in (*start, *end))
            )
        except ValueError:
            shapes = [np.shape(part) for part in (*start, *end)]
            raise GeometryError(
                f"start and end of a quintic have parts of shapes {shapes}; "
                "give (value, rate, acceleration) for both, all of one shape"
            ) from None
        # Time in units of T. x, v, a: the difference at the end between the wanted state and that of c3 = c4 = c5 = 0.
        v0, v1, a0, a1 = v0 * T, v1 * T, a0 * T**2, a1 * T**2
        x, v, a = x1 - x0 - v0 - 0.5 * a0, v1 - v0 - a0, a1 - a0
        c = np.stack(
            [x0, v0, 0.5 * a0, 10 * x - 4 * v + 0.5 * a, -15 * x + 7 * v - a, 6 * x - 3 * v + 0.5 * a]
        ).reshape(6, -1)
        k = np.arange(6.0)[:, np.newaxis]
        rate = np.zeros_like(c)
        acceleration = np.zeros_like(c)
        rate[:-1] = (k * c)[1:] / T
        acceleration[:-2] = (k * (k - 1.0) * c)[2:] / T**2
        self._coefficients = np.concatenate([c, rate, acceleration], axis=1)
        self._shape = x0.shape
        self.duration = T

    def sample(self, time: ArrayLike) -> tuple[Array, Array, Array]:
        """Return value, rate and acceleration at a time (s) after the start.

        A single time gives arrays of the shape of the values; times (m,) add a leading dimension. Before 0 and after T
        the sample of the nearer end is returned, with its rate and acceleration.
        """
        s = np.minimum(np.maximum(np.asarray(time, dtype=np.float64) / self.duration, 0.0), 1.0)
        parts = (s[..., np.newaxis] ** _POWERS) @ self._coefficients
        shape = (*s.shape, *self._shape)
        width = parts.shape[-1] // 3
        return (
            parts[..., :width].reshape(shape),
            parts[..., width : 2 * width].reshape(shape),
            parts[..., 2 * width :].reshape(shape),
        )

    def __repr__(self) -> str:
        start, end = self.sample(0.0)[0].tolist(), self.sample(self.duration)[0].tolist()
        return f"Quintic(from {start} to {end} in {self.duration:g} s)"


_POWERS = np.arange(6)


def quintic(
    x0: ArrayLike, v0: ArrayLike, a0: ArrayLike, x1: ArrayLike, v1: ArrayLike, a1: ArrayLike, T: float
) -> Quintic:
    """Return the `Quintic` from value x0, rate v0 and acceleration a0 to x1, v1 and a1 in T seconds."""
    return Quintic((x0, v0, a0), (x1, v1, a1), T)


def _clip_phase(s: Phase) -> Phase:
    if isinstance(s, np.ndarray):
        return np.clip(s, 0.0, 1.0)
    return min(max(float(s), 0.0), 1.0)


def _sine_and_cosine(s: Phase) -> tuple[Phase, Phase, Phase]:
    """Return sine and cosine of 2π s, and s, with s clipped to [0, 1]."""
    s = _clip_phase(s)
    if isinstance(s, np.ndarray):
        return np.sin(math.tau * s), np.cos(math.tau * s), s
    return math.sin(math.tau * s), math.cos(math.tau * s), s
