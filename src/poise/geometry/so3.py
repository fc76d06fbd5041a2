"""Rotations: matrices R, rotation vectors e, and what their rates have to do with angular velocity.

A rotation vector is ``e = θ u``: the angle θ (rad) times the unit axis u. In this module ``[e]`` is ``hat(e)``, R a
rotation matrix ``world_from_body`` and ω the angular velocity of the body in the world, both expressed in the world:

    R = exp(e)          e = log(R),  0 <= θ <= π
    dR/dt = [ω] R       ω = J(e) de/dt,  J = left_jacobian

Every function takes one vector (3,) or matrix (3, 3), or any number of them in leading dimensions. One costs about two
microseconds: they are computed in plain floats, where numpy would spend its time on getting started. Numbers that are
not finite give NaN and no error.
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
    """Skew-symmetric matrix of a vector: ``hat(a) @ b == cross(a, b)``.

    >>> hat([1, 2, 3]) @ [0, 0, 1]
    array([ 2., -1.,  0.])
    """
    return _apply_kernel(_hat, vector, _VECTOR, _MATRIX)


def vee(matrix: ArrayLike) -> Array:
    """The vector of a skew-symmetric matrix, so that ``vee(hat(a)) == a``; of another matrix, of its skew part."""
    return _apply_kernel(_vee, matrix, _MATRIX, _VECTOR)


def exp(rotation_vector: ArrayLike) -> Array:
    """Rotation matrix that turns by θ (rad) about the unit axis u, given ``e = θ u`` (Rodrigues' formula):

        exp(e) = cos θ I + sin θ [u] + (1 - cos θ) u uᵀ

    >>> exp([0, 0, np.pi / 2]).round(12) @ [1, 0, 0]
    array([0., 1., 0.])
    """
    return _apply_kernel(_exp, rotation_vector, _VECTOR, _MATRIX)


def log(rotation: ArrayLike) -> Array:
    """Rotation vector (rad) of a rotation matrix, at most π long: ``exp(log(R)) == R``.

    The quaternion (w, ε) of R is read from the row of ``q qᵀ`` that has the largest diagonal entry, so nothing small
    is ever divided by, and

        log(R) = 2 atan2(|ε|, w) ε / |ε|

    keeps an error of about 1e-15 rad at all angles, 0 and π included. At θ = π both u and -u are right; the one whose
    largest component is positive is returned.

    >>> log(exp([0.1, -0.2, 0.3])).round(12)
    array([ 0.1, -0.2,  0.3])
    """
    return _apply_kernel(_log, rotation, _MATRIX, _VECTOR)


def left_jacobian(rotation_vector: ArrayLike) -> Array:
    """J(e), which turns the rate of a rotation vector into angular velocity in the world frame:

        d exp(e) / dt = [J(e) de/dt] exp(e),    exp(e + δ) = exp(J(e) δ) exp(e) + O(|δ|²)
        J(e) = sin θ / θ I + (1 - sin θ / θ) u uᵀ + (1 - cos θ) / θ [u]

    Its transpose ``J(e)ᵀ = J(-e)`` is the right Jacobian, for angular velocity in the body's own frame.
    """
    return _apply_kernel(_left_jacobian, rotation_vector, _VECTOR, _MATRIX)


def left_jacobian_inverse(rotation_vector: ArrayLike) -> Array:
    """Inverse of J(e): from angular velocity ω in the world frame to the rate of ``e = log(R)``.

        d log(R) / dt = J(e)⁻¹ ω
        J(e)⁻¹ = κ I + (1 - κ) u uᵀ - θ/2 [u],    κ = θ/2 cot(θ/2)

    It is well behaved for all that `log` returns (θ <= π) and singular only at θ = 2π.
    """
    return _apply_kernel(_left_jacobian_inverse, rotation_vector, _VECTOR, _MATRIX)


def yaw_matrix(yaw: float) -> Array:
    """Rotation by an angle (rad) about the vertical, 3 x 3: ``exp([0, 0, yaw])``.

    >>> yaw_matrix(np.pi / 2).round(12) @ [1, 0, 0]
    array([0., 1., 0.])
    """
    c, s = math.cos(yaw), math.sin(yaw)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def yaw_of(rotation: Array) -> float:
    """Heading of the x axis of a rotation matrix, seen from above: from -π to π (rad).

    >>> yaw_of(yaw_matrix(0.3))
    0.3
    """
    return math.atan2(rotation[1, 0], rotation[0, 0])


def wrap_angle(angle: float) -> float:
    """The same angle less whole turns: from -π to π (rad).

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
    """``across I + excess u uᵀ + turn [u]`` with u = (x, y, z), the form of all matrices below."""
    ex, ey, ez = excess * x, excess * y, excess * z
    tx, ty, tz = turn * x, turn * y, turn * z
    xy, xz, yz = ex * y, ex * z, ey * z
    return (across + ex * x, xy - tz, xz + ty, xy + tz, across + ey * y, yz - tx, xz - ty, yz + tx, across + ez * z)


_IDENTITY = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
_NOT_A_NUMBER = (math.nan,) * 9
#: Below this angle (rad) half of it may not be a number any more; the identity is then exact for all that matters.
_MIN_ANGLE = 1e-300


def _exp(x: float, y: float, z: float) -> tuple[float, ...]:
    angle = math.hypot(x, y, z)
    if angle == 0.0:
        return _IDENTITY
    if not angle < math.inf:  # NaN included; math.sin would raise
        return _NOT_A_NUMBER
    half = math.sin(0.5 * angle)
    excess = 2.0 * half * half  # 1 - cos θ without the cancellation at small angles
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
