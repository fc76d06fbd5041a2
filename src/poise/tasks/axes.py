"""Which components a task takes: ``axes="xy"``."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poise.errors import TaskError

Array = NDArray[np.float64]


def axis_indices(axes: str, task: str) -> tuple[int, ...]:
    """(0, 1) for ``"xy"``."""
    if not isinstance(axes, str) or not axes or len(set(axes)) != len(axes) or set(axes) - set("xyz"):
        raise TaskError(f"{task}: axes is {axes!r}; expected some of the letters x, y, z, each once, like 'xy'", task)
    return tuple("xyz".index(axis) for axis in axes)


def selection(indices: tuple[int, ...], components: int) -> Array:
    """The matrix that picks these components out of a vector."""
    return np.ascontiguousarray(np.eye(components)[list(indices)])


def numbers(values: ArrayLike, size: int, what: str, task: str) -> Array:
    """A vector of finite numbers of the given size, or a TaskError; a single number stands for all."""
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise TaskError(f"{task}: {what} is {str(values)[:60]!r}; expected {size} numbers", task) from None
    if array.ndim == 0:
        array = np.full(size, float(array))
    if array.shape != (size,):
        raise TaskError(f"{task}: {what} has shape {array.shape}; expected {size} numbers", task)
    if not np.isfinite(array).all():
        raise TaskError(f"{task}: {what} is {array}; expected finite numbers", task)
    return array


def interval(within: ArrayLike | tuple[ArrayLike, ArrayLike] | None, size: int, task: str) -> tuple[Array, Array]:
    """Bounds of an error: None is an equality, a number or array e stands for [-e, e], a pair for itself."""
    if within is None:
        return np.zeros(size), np.zeros(size)
    low, high = within if isinstance(within, tuple) and len(within) == 2 else (-np.abs(within), np.abs(within))  # type: ignore[arg-type]
    try:
        lower, upper = (np.broadcast_to(np.asarray(b, dtype=np.float64), (size,)).copy() for b in (low, high))
    except (TypeError, ValueError):
        raise TaskError(f"{task}: within is {within!r}; expected a number, {size} numbers, or a pair", task) from None
    if not (lower <= upper).all() or (lower == np.inf).any() or (upper == -np.inf).any():
        raise TaskError(f"{task}: within is [{lower}, {upper}]; expected lower bounds below upper bounds", task)
    return lower, upper
