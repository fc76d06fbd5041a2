"""Periodic motion: all coordinates of a body as short Fourier series, so that rates and accelerations are exact."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio
from numpy.typing import ArrayLike, NDArray

from poise.robots import Robot

Array = NDArray[np.float64]

#: Harmonics of the stride: the sixth, at a stride of 1.1 s, has 5.5 Hz, below the 6 Hz at which gait is filtered.
HARMONICS = 6
#: The harmonic of each coefficient: constant, cosines, sines.
ORDERS = np.concatenate([[0], np.arange(1, HARMONICS + 1), np.arange(1, HARMONICS + 1)])
#: Coefficients times these are those of the same curve half a cycle later, as those of the other side are.
HALF = (-1.0) ** ORDERS


def series(phase: ArrayLike, order: int = 0) -> Array:
    """Values of the basis (n, 13), 1, cos 2πkφ ..., sin 2πkφ ..., or their first or second derivative by φ."""
    phi = np.atleast_1d(np.asarray(phase, dtype=np.float64))
    k = 2.0 * np.pi * np.arange(1, HARMONICS + 1)
    angle = np.outer(phi, k) + order * np.pi / 2.0  # each derivative turns by a quarter and multiplies with k
    return np.hstack([np.full((len(phi), 1), float(order == 0)), k**order * np.cos(angle), k**order * np.sin(angle)])


def fitted(values: ArrayLike) -> Array:
    """Coefficients (..., 13) of curves that are known at n equal steps of the cycle, (..., n)."""
    x = np.asarray(values, dtype=np.float64)
    return x @ np.linalg.pinv(series(np.arange(x.shape[-1]) / x.shape[-1])).T


@dataclass(frozen=True, eq=False)
class PeriodicMotion:
    """A body that walks along x: at time t its phase is φ = t / T + start.

        x(t) = stride φ + c_x·s(φ),   all other coordinates c·s(φ),   pelvis turned by Rz(yaw) Ry(pitch) Rx(roll)

    Attributes:
        robot: whose motion it is.
        coefficients: c, (42, 13): position (m), roll, pitch, yaw (rad) of the base, then the joints (rad).
        stride: m; period: T, s.
        start: phase at time 0; the right foot strikes at whole numbers.
    """

    robot: Robot
    coefficients: Array
    stride: float
    period: float
    start: float = 0.0

    def at(self, time: ArrayLike) -> tuple[Array, Array, Array]:
        """Configurations (n, 43), velocities and accelerations (n, 42) at times (s), as pinocchio has them."""
        phi = np.atleast_1d(np.asarray(time, dtype=np.float64)) / self.period + self.start
        x = series(phi) @ self.coefficients.T
        x[:, 0] += self.stride * phi
        rate = series(phi, 1) @ self.coefficients.T / self.period
        rate[:, 0] += self.stride / self.period
        second = series(phi, 2) @ self.coefficients.T / self.period**2
        each = [_free(x[i], rate[i], second[i]) for i in range(len(phi))]
        q, v, a = (np.stack(parts) for parts in zip(*each, strict=True))
        return q, v, a


def _free(x: Array, rate: Array, second: Array) -> tuple[Array, Array, Array]:
    """From position and angles of the base in the world to its velocity and acceleration in its own axes."""
    local = pinocchio.ReferenceFrame.LOCAL
    R = pinocchio.rpy.rpyToMatrix(x[3:6])
    J = pinocchio.rpy.computeRpyJacobian(x[3:6], local)
    Jdot = pinocchio.rpy.computeRpyJacobianTimeDerivative(x[3:6], rate[3:6], local)
    w, u = J @ rate[3:6], R.T @ rate[:3]
    q = np.concatenate([x[:3], pinocchio.Quaternion(R).coeffs(), x[6:]])
    v = np.concatenate([u, w, rate[6:]])
    a = np.concatenate([R.T @ second[:3] - np.cross(w, u), J @ second[3:6] + Jdot @ rate[3:6], second[6:]])
    return q, v, a
