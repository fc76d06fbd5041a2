"""Rotations and poses as targets, checked when they are given."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio
from numpy.typing import NDArray

from poise.errors import TaskError
from poise.tasks.axes import numbers, shown

Array = NDArray[np.float64]


def rotation_of(value: Any, task: str) -> Array:
    """A 3 x 3 rotation from a matrix or a pose."""
    try:
        matrix = np.array(value.rotation if isinstance(value, pinocchio.SE3) else value, dtype=np.float64)
    except (TypeError, ValueError):
        matrix = np.zeros(0)
    if matrix.shape != (3, 3) or not np.allclose(matrix @ matrix.T, np.eye(3), atol=1e-6) or np.linalg.det(matrix) < 0:
        raise TaskError(
            f"{task}: target {shown(value)} is no rotation; expected an orthonormal 3 x 3 matrix world_from_frame", task
        )
    return np.ascontiguousarray(matrix)


def pose_of(value: Any, task: str) -> pinocchio.SE3:
    """An SE3 of its own from a pose or a 4 x 4 matrix."""
    if isinstance(value, pinocchio.SE3):
        value = value.homogeneous
    if np.shape(value) != (4, 4):
        raise TaskError(f"{task}: target is {shown(value)}; expected a pinocchio.SE3 or a 4 x 4 matrix", task)
    matrix = np.asarray(value)
    return pinocchio.SE3(rotation_of(matrix[:3, :3], task), numbers(matrix[:3, 3], 3, "target", task))
