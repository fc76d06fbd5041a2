"""Arguments of tasks, checked when a task is built: axes, numbers, intervals, rotations, poses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio
from numpy.typing import ArrayLike

from poise.arrays import Array
from poise.errors import TaskError
from poise.parsing import brief, check_number, check_positive, check_vector


def axis_indices(axes: str, task: str) -> tuple[int, ...]:
    """(0, 1) for ``"xy"``."""
    if not isinstance(axes, str) or not axes or len(set(axes)) != len(axes) or set(axes) - set("xyz"):
        raise TaskError(f"{task}: axes is {axes!r}; expected some of the letters x, y, z, each once, like 'xy'", task)
    return tuple("xyz".index(axis) for axis in axes)


def component_indices(axes: str, turns: str, task: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Components of a pose, (0, 1) and (5,) for ``"xy"`` and turns about ``"z"``; one of the two may be empty."""
    if axes == "" == turns:
        raise TaskError(f"{task}: neither axes nor turns; expected some letters of x, y, z in one of them", task)
    linear = () if axes == "" else axis_indices(axes, task)
    return linear, () if turns == "" else tuple(3 + i for i in axis_indices(turns, task))


def selection(indices: tuple[int, ...], components: int) -> Array:
    """The matrix that picks these components out of a vector."""
    return np.ascontiguousarray(np.eye(components)[list(indices)])


def numbers(values: ArrayLike, size: int, what: str, task: str) -> Array:
    """A vector of finite numbers of the given size, or a TaskError; a single number stands for all."""
    return check_vector(values, size, f"{task}: {what}", lambda message: TaskError(message, task), broadcast=True)


def number(value: Any, what: str, task: str) -> float:
    """A finite number, or a TaskError."""
    return check_number(value, f"{task}: {what}", lambda message: TaskError(message, task))


def positive(value: Any, what: str, task: str) -> float:
    """A positive finite number, or a TaskError."""
    return check_positive(value, f"{task}: {what}", lambda message: TaskError(message, task))


def interval(
    within: ArrayLike | tuple[ArrayLike, ArrayLike] | None, size: int | None, task: str
) -> tuple[Array, Array]:
    """Bounds of an error: None is an equality, a number or array e stands for [-e, e], a pair for itself.

    Without a size, as many bounds as were given.
    """
    if within is None:
        return np.zeros(size or 1), np.zeros(size or 1)
    pair = within if isinstance(within, tuple) and len(within) == 2 else None
    try:
        low, high = (np.asarray(b, dtype=np.float64) for b in pair or (within, within))
        low = low if pair else -np.abs(low)
        high = high if pair else np.abs(high)
        shape = np.broadcast_shapes(low.shape, high.shape, (1,)) if size is None else (size,)
        lower, upper = (np.broadcast_to(b, shape).copy() for b in (low, high))
    except (TypeError, ValueError):
        count = "one number per row" if size is None else f"{size} numbers"
        raise TaskError(f"{task}: within is {brief(within)}; expected a number, {count}, or a pair", task) from None
    if not (lower <= upper).all() or (lower == np.inf).any() or (upper == -np.inf).any():
        raise TaskError(f"{task}: within is {brief(within)}; expected lower bounds below upper bounds", task)
    return lower, upper


# -- Rotations and poses as targets, checked when they are given -----------------------------------------------------


def rotation_of(value: Any, task: str) -> Array:
    """A 3 x 3 rotation from a matrix or a pose."""
    try:
        matrix = np.array(value.rotation if isinstance(value, pinocchio.SE3) else value, dtype=np.float64)
    except (TypeError, ValueError):
        matrix = np.zeros(0)
    if matrix.shape != (3, 3) or not np.allclose(matrix @ matrix.T, np.eye(3), atol=1e-6) or np.linalg.det(matrix) < 0:
        raise TaskError(
            f"{task}: target {brief(value)} is no rotation; expected an orthonormal 3 x 3 matrix world_from_frame",
            task,
        )
    return np.ascontiguousarray(matrix)


def pose_of(value: Any, task: str) -> pinocchio.SE3:
    """An SE3 of its own from a pose or a 4 x 4 matrix."""
    if isinstance(value, pinocchio.SE3):
        value = value.homogeneous
    if np.shape(value) != (4, 4):
        raise TaskError(f"{task}: target is {brief(value)}; expected a pinocchio.SE3 or a 4 x 4 matrix", task)
    matrix = np.asarray(value)
    return pinocchio.SE3(rotation_of(matrix[:3, :3], task), numbers(matrix[:3, 3], 3, "target", task))
