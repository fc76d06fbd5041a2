"""Rotation matrices R, rotation vectors e, and the Jacobians between their rates and angular velocity.

A rotation vector is ``e = θ u``: the angle θ (rad) times the unit axis u. In this module ``[e]`` is ``hat(e)``, R a
rotation matrix ``world_from_body`` and ω the angular velocity of the body in the world, both expressed in the world:

    R = exp(e)          e = log(R),  0 <= θ <= π
    dR/dt = [ω] R       ω = J(e) de/dt,  J = left_jacobian

The functions of vectors and matrices take one vector (3,) or matrix (3, 3), or arrays of them with leading dimensions.
A single one takes about two microseconds: the kernels use plain floats, since the overhead of numpy would dominate.
Input that is not finite gives NaN and no error.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from poise.arrays import Array
from poise.errors import GeometryError

_VECTOR = (3,)
_MATRIX = (3, 3)


def hat(vector: ArrayLike) -> Array:
    """Return the skew-symmetric matrix of a vector: ``hat(a) @ b == cross(a, b)``.

    >>> hat([1, 2, 3]) @ [0, 0, 1]
    array([ 2., -1.,  0.])
    """
    return _apply_kernel(_hat, vector, _VECTOR, _MATRIX)


def vee(matrix: ArrayLike) -> Array:
    """Return the vector of a skew-symmetric matrix, ``vee(hat(a)) == a``; other matrices: of their skew part."""
    return _apply_kernel(_vee, matrix, _MATRIX, _VECTOR)


def exp(rotation_vector: ArrayLike) -> Array:
    """Return the rotation matrix of a rotation vector ``e = θ u`` (rad), by Rodrigues' formula:

        exp(e) = cos θ I + sin θ [u] + (1 - cos θ) u uᵀ

    >>> exp([0, 0, np.pi / 2]).round(12) @ [1, 0, 0]
    array([0., 1., 0.])
    """
    return _apply_kernel(_exp, rotation_vector, _VECTOR, _MATRIX)


def log(rotation: ArrayLike) -> Array:
    """Return the rotation vector (rad) of a rotation matrix, at most π long: ``exp(log(R)) == R``.

    The quaternion (w, ε) of R is read from the row of ``q qᵀ`` that has the largest diagonal entry, which avoids
    division by small numbers, and

        log(R) = 2 atan2(|ε|, w) ε / |ε|

    has an error of about 1e-15 rad at all angles, including 0 and π. At θ = π both u and -u are correct; the one whose
    largest component is positive is returned.

    >>> log(exp([0.1, -0.2, 0.3])).round(12)
    array([ 0.1, -0.2,  0.3])
    """
    return _apply_kernel(_log, rotation, _MATRIX, _VECTOR)


def left_jacobian(rotation_vector: ArrayLike) -> Array:
    """Return J(e), which maps the rate of a rotation vector to angular velocity in the world frame:

        d exp(e) / dt = [J(e) de/dt] exp(e),    exp(e + δ) = exp(J(e) δ) exp(e) + O(|δ|²)
        J(e) = sin θ / θ I + (1 - sin θ / θ) u uᵀ + (1 - cos θ) / θ [u]

    Its transpose ``J(e)ᵀ = J(-e)`` is the right Jacobian, for angular velocity in the body frame.
    """
    return _apply_kernel(_left_jacobian, rotation_vector, _VECTOR, _MATRIX)


def left_jacobian_inverse(rotation_vector: ArrayLike) -> Array:
    """Return the inverse of J(e), which maps angular velocity ω in the world frame to the rate of ``e = log(R)``.

        d log(R) / dt = J(e)⁻¹ ω
        J(e)⁻¹ = κ I + (1 - κ) u uᵀ - θ/2 [u],    κ = θ/2 cot(θ/2)

    It is well conditioned for all values of `log` (θ <= π) and singular only at θ = 2π.
    """
    return _apply_kernel(_left_jacobian_inverse, rotation_vector, _VECTOR, _MATRIX)


def yaw_matrix(yaw: float) -> Array:
    """Return the rotation matrix (3, 3) of an angle (rad) about the vertical: ``exp([0, 0, yaw])``.

    >>> yaw_matrix(np.pi / 2).round(12) @ [1, 0, 0]
    array([0., 1., 0.])
    """
    c, s = math.cos(yaw), math.sin(yaw)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def yaw_of(rotation: Array) -> float:
    """Return the heading of the x axis of a rotation matrix, seen from above, from -π to π (rad).

    >>> yaw_of(yaw_matrix(0.3))
    0.3
    """
    return math.atan2(rotation[1, 0], rotation[0, 0])


def wrap_angle(angle: float) -> float:
    """Wrap an angle (rad) to the range from -π to π.

    >>> wrap_angle(2.0 * math.pi + 0.5)
    0.5
    """
    return math.remainder(angle, math.tau)


_Kernel = Callable[..., tuple[float, ...]]


def _apply_kernel(
    kernel: _Kernel, values: ArrayLike, input_shape: tuple[int, ...], output_shape: tuple[int, ...]
) -> Array:
    """Apply a kernel of plain floats to one value of shape ``input_shape``, or to each along leading dimensions."""
    array = np.asarray(values, dtype=np.float64)
    leading = array.ndim - len(input_shape)
    if leading < 0 or array.shape[leading:] != input_shape:
        raise GeometryError(f"expected shape {input_shape}, or (..., {str(input_shape)[1:]}; got {array.shape}")
    if leading == 0:
        return np.array(kernel(*array.ravel().tolist())).reshape(output_shape)
    rows = array.reshape(-1, math.prod(input_shape)).tolist()
    return np.array([kernel(*row) for row in rows], dtype=np.float64).reshape(*array.shape[:leading], *output_shape)


def _hat(x: float, y: float, z: float) -> tuple[float, ...]:
    return (0.0, -z, y, z, 0.0, -x, -y, x, 0.0)


def _vee(*m: float) -> tuple[float, ...]:
    return (0.5 * (m[7] - m[5]), 0.5 * (m[2] - m[6]), 0.5 * (m[3] - m[1]))


def _combine(x: float, y: float, z: float, across: float, excess: float, turn: float) -> tuple[float, ...]:
    """Return ``across I + excess u uᵀ + turn [u]`` with u = (x, y, z), the form of all matrices below."""
    ex, ey, ez = excess * x, excess * y, excess * z
    tx, ty, tz = turn * x, turn * y, turn * z
    xy, xz, yz = ex * y, ex * z, ey * z
    return (across + ex * x, xy - tz, xz + ty, xy + tz, across + ey * y, yz - tx, xz - ty, yz + tx, across + ez * z)


_IDENTITY = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
_NOT_A_NUMBER = (math.nan,) * 9
#: Below this angle (rad) half of it may underflow; the identity is exact to double precision there.
_MIN_ANGLE = 1e-300


def _exp(x: float, y: float, z: float) -> tuple[float, ...]:
    angle = math.hypot(x, y, z)
    if angle == 0.0:
        return _IDENTITY
    if not angle < math.inf:  # also for NaN; math.sin would raise
        return _NOT_A_NUMBER
    half = math.sin(0.5 * angle)
    excess = 2.0 * half * half  # 1 - cos θ without cancellation at small angles
    return _combine(x / angle, y / angle, z / angle, math.cos(angle), excess, math.sin(angle))


def _left_jacobian(x: float, y: float, z: float) -> tuple[float, ...]:
    angle = math.hypot(x, y, z)
    if angle < _MIN_ANGLE:
        return _IDENTITY
    if not angle < math.inf:
        return _NOT_A_NUMBER
    across = math.sin(angle) / angle
    half = math.sin(0.5 * angle)
    turn = half * (half / (0.5 * angle))  # (1 - cos θ) / θ
    return _combine(x / angle, y / angle, z / angle, across, 1.0 - across, turn)


def _left_jacobian_inverse(x: float, y: float, z: float) -> tuple[float, ...]:
    angle = math.hypot(x, y, z)
    if angle < _MIN_ANGLE:
        return _IDENTITY
    if not angle < math.inf:
        return _NOT_A_NUMBER
    half = 0.5 * angle
    across = half / math.tan(half)
    return _combine(x / angle, y / angle, z / angle, across, 1.0 - across, -half)


def _log(
    xx: float, xy: float, xz: float, yx: float, yy: float, yz: float, zx: float, zy: float, zz: float
) -> tuple[float, ...]:
    # A row of 4 q qᵀ; its scale cancels below. The largest diagonal entry of 4 q qᵀ is at least 1.
    trace = xx + yy + zz
    largest = max(trace, xx, yy, zz)
    if trace == largest:
        w, x, y, z = 1.0 + trace, zy - yz, xz - zx, yx - xy
    elif xx == largest:
        w, x, y, z = zy - yz, 1.0 + xx - yy - zz, xy + yx, xz + zx
    elif yy == largest:
        w, x, y, z = xz - zx, xy + yx, 1.0 + yy - xx - zz, yz + zy
    else:
        w, x, y, z = yx - xy, xz + zx, yz + zy, 1.0 + zz - xx - yy
    if w < 0.0:
        w, x, y, z = -w, -x, -y, -z
    length = math.hypot(x, y, z)
    if length == 0.0:
        return (0.0, 0.0, 0.0)
    scale = 2.0 * math.atan2(length, w) / length
    return (scale * x, scale * y, scale * z)
