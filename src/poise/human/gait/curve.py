"""Curve: a configuration of a body over time, drawn number by number, with the velocity and acceleration it implies.

Notation: y(t) are the numbers of a configuration, drawn by any smooth function: position p of the base (m), quaternion
c = (x, y, z, w) of any length but zero, joint angles (rad). With n² = cᵀc, R the rotation of c, and ``vec`` the vector
part of a product of quaternions:

    ω = 2 vec(c* ċ) / n²,            ω̇ = 2 vec(c* c̈) / n² - 2 (cᵀċ / n²) ω
    u = Rᵀ ṗ,                        u̇ = Rᵀ p̈ - ω x u

are the angular and the linear velocity of the base in its own axes and their rates: pinocchio's v and a.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

#: Numbers of a configuration with their first and second derivatives, at a time (s).
Drawn = Callable[[float], tuple[Array, Array, Array]]


def motion_of(y: Array, rate: Array, acceleration: Array) -> tuple[Array, Array, Array]:
    """(q, v, a) of a body from the numbers of its configuration (nq) and their derivatives.

    >>> q, v, a = motion_of(*drawn(0.3))
    """
    c, square = y[3:7], float(y[3:7] @ y[3:7])
    q = y.copy()
    q[3:7] /= np.sqrt(square)
    R = _rotation(q[3:7])
    turning = 2.0 / square * _vector_part(c, rate[3:7])
    faster = 2.0 / square * (_vector_part(c, acceleration[3:7]) - float(c @ rate[3:7]) * turning)
    moving = R.T @ rate[:3]
    v = np.concatenate([moving, turning, rate[7:]])
    a = np.concatenate([R.T @ acceleration[:3] - _cross(turning, moving), faster, acceleration[7:]])
    return q, v, a


def rates_of(q: Array, v: Array, a: Array | None = None) -> tuple[Array, Array]:
    """ẏ and ÿ of a configuration whose quaternion has unit length: the inverse of `motion_of`; at rest in ÿ without a.

    ṗ = R u,   p̈ = R (u̇ + ω x u),   ċ = c ω / 2,   c̈ = c ω̇ / 2 - |ω|² c / 4
    """
    R, u, turning = _rotation(q[3:7]), v[:3], v[3:6]
    rate = np.concatenate([R @ u, 0.5 * _times(q[3:7], turning), v[6:]])
    if a is None:
        return rate, np.zeros_like(rate)
    bent = 0.5 * _times(q[3:7], a[3:6]) - 0.25 * float(turning @ turning) * q[3:7]
    return rate, np.concatenate([R @ (a[:3] + _cross(turning, u)), bent, a[6:]])


def continuous(q: Array) -> Array:
    """Configurations (n, nq) with the signs of their quaternions such that each is near the one before."""
    nearer = np.sign(np.einsum("ij,ij->i", q[1:, 3:7], q[:-1, 3:7]))
    out = q.copy()
    out[1:, 3:7] *= np.cumprod(np.where(nearer == 0.0, 1.0, nearer))[:, np.newaxis]
    return out


class Curve:
    """A motion that can be asked at any time: a target of `poise.tasks.Configuration`."""

    def __init__(self, drawn: Drawn) -> None:
        self.drawn = drawn

    def sample(self, time: float) -> tuple[Array, Array, Array]:
        """Configuration, velocity and acceleration at a time (s)."""
        return motion_of(*self.drawn(time))


def _vector_part(c: Array, d: Array) -> Array:
    """Of c* d."""
    (x, y, z, w), (a, b, e, f) = c, d
    return np.array([w * a - x * f - y * e + z * b, w * b - y * f - z * a + x * e, w * e - z * f - x * b + y * a])


def _times(c: Array, vector: Array) -> Array:
    """The product of a quaternion and a vector."""
    (x, y, z, w), (a, b, e) = c, vector
    return np.array([w * a + y * e - z * b, w * b + z * a - x * e, w * e + x * b - y * a, -x * a - y * b - z * e])


def _rotation(c: Array) -> Array:
    """Of a unit quaternion."""
    x, y, z, w = c
    return np.array(
        [
            [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)],
            [2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)],
            [2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)],
        ]
    )


def _cross(a: Array, b: Array) -> Array:
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])
