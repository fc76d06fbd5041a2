"""Motion: a configuration over time, low-pass filtered, with its velocity and acceleration."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

from poise.analysis.low_pass import FEWEST, low_passed
from poise.robots import Robot

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Motion:
    """Time (n, s), configuration (n x nq), velocity and acceleration (n x nv), and how they were made, in words."""

    time: Array
    q: Array
    v: Array
    a: Array
    note: str


def motion(robot: Robot, time: Array, q: Array, cutoff: float | None) -> Motion:
    """A smooth motion from configurations in equal steps.

    The quaternion is filtered by components, with continuous sign, and made a unit again. Velocities are those of cubic
    splines; that of the base is turned into its own frame.
    """
    quaternion = _continuous(q[:, 3:7])
    values = np.column_stack([q[:, :3], quaternion, q[:, 7:]])
    rate = (len(time) - 1) / (time[-1] - time[0]) if len(time) > 1 else 1.0
    note = "motion not filtered"
    if cutoff is not None and len(time) >= FEWEST and cutoff < 0.5 * rate:
        values = low_passed(values, rate, cutoff)
        note = f"motion low-pass filtered at {cutoff:g} Hz (second-order Butterworth, there and back)"
    values[:, 3:7] /= np.linalg.norm(values[:, 3:7], axis=1, keepdims=True)
    if len(time) < 4:
        still = np.zeros((len(time), robot.model.nv))
        return Motion(time, values, still, still, note)
    spline = CubicSpline(time, values, axis=0)
    rate_of = np.asarray(spline(time, 1))
    v = _velocity(values, rate_of)
    a = np.asarray(CubicSpline(time, v, axis=0)(time, 1))
    return Motion(time, values, v, a, note)


def _continuous(quaternion: Array) -> Array:
    """The same rotations with signs such that neighbours are near."""
    flips = np.sign(np.sum(quaternion[1:] * quaternion[:-1], axis=1))
    flips[flips == 0.0] = 1.0
    return np.asarray(quaternion * np.concatenate([[1.0], np.cumprod(flips)])[:, None])


def _velocity(q: Array, rate: Array) -> Array:
    """Velocity in pinocchio's sense: linear and angular of the base in its own frame, then joint rates.

    With the unit quaternion c of the base and its rate ċ, the angular velocity in its frame is the vector part of
    ``2 c* ċ``.
    """
    rotation = np.array([pinocchio.Quaternion(*each[[3, 0, 1, 2]]).matrix() for each in q[:, 3:7]])
    linear = np.einsum("nji,nj->ni", rotation, rate[:, :3])
    x, y, z, w = q[:, 3:7].T
    dx, dy, dz, dw = rate[:, 3:7].T
    angular = 2.0 * np.column_stack(
        [w * dx - x * dw - y * dz + z * dy, w * dy - y * dw - z * dx + x * dz, w * dz - z * dw - x * dy + y * dx]
    )
    return np.column_stack([linear, angular, rate[:, 7:]])
