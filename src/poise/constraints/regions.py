"""Regions: a point of the body stays on one side of a plane, in a box, in a convex polyhedron."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poise.errors import TaskError
from poise.robots import Frame
from poise.tasks.axes import numbers, shown
from poise.tasks.frame import FrameTask, frame_name
from poise.tasks.reference import Reference

Array = NDArray[np.float64]


class Polyhedron(FrameTask):
    """A frame's origin p stays where ``N p <= b``: [Saab2012] keeps the left hand and the left foot so.

    The error of row i is ``N_i p - b_i`` (m, for normals of unit length) and wants to be negative; it may approach
    zero no faster than the reference lets it.

    Args:
        frame: e.g. ``robot.hand("left")``.
        normals: N, one outward normal per row; scaled to unit length, and b with it.
        offsets: b.

    >>> constraints.Polyhedron(hand, normals=[[1, 0, 0], [0, 1, 1]], offsets=[0.4, 1.2])
    """

    unit = "m"

    def __init__(
        self,
        frame: Frame,
        normals: ArrayLike,
        offsets: ArrayLike,
        weight: ArrayLike = 1.0,
        reference: Reference | None = None,
        name: str = "",
        words: Sequence[str] | None = None,
    ) -> None:
        name = name or f"polyhedron of {frame_name(frame)}"
        N, b = checked_planes(normals, offsets, name)
        S = np.hstack([N, np.zeros_like(N)])
        words = words or [f"side {i}" for i in range(len(b))]
        super().__init__(frame, S, words, np.zeros(3), name, weight, (np.full(len(b), -np.inf), b), reference)

    def place(self, time: float) -> tuple[Array, Array, Array | None, Array | None]:
        return np.zeros(3), np.eye(3), None, None


class Box(FrameTask):
    """A frame's origin stays in a box of the world: ``lower <= p <= upper``, in m.

    Args:
        frame: e.g. ``robot.hand("left")``.
        lower, upper: three numbers each; infinite where there is no side.

    >>> constraints.Box(robot.hand("left"), lower=(0.1, 0.2, 0.9), upper=(0.3, 0.4, 1.0))
    """

    unit = "m"

    def __init__(
        self,
        frame: Frame,
        lower: ArrayLike,
        upper: ArrayLike,
        weight: ArrayLike = 1.0,
        reference: Reference | None = None,
        name: str = "",
    ) -> None:
        name = name or f"box of {frame_name(frame)}"
        try:
            low, high = np.array(lower, dtype=np.float64), np.array(upper, dtype=np.float64)
        except (TypeError, ValueError):
            low = high = np.zeros(0)
        if low.shape != (3,) or high.shape != (3,) or not (low <= high).all():
            given = f"from {shown(lower)} to {shown(upper)}"
            raise TaskError(f"{name}: {given}; expected three numbers each, lower below upper", name)
        S = np.hstack([np.eye(3), np.zeros((3, 3))])
        super().__init__(frame, S, "xyz", np.zeros(3), name, weight, (low, high), reference)

    def place(self, time: float) -> tuple[Array, Array, Array | None, Array | None]:
        return np.zeros(3), np.eye(3), None, None


def checked_planes(normals: ArrayLike, offsets: ArrayLike, task: str, size: int = 3) -> tuple[Array, Array]:
    """Normals of unit length and their offsets."""
    try:
        N = np.atleast_2d(np.array(normals, dtype=np.float64))
    except (TypeError, ValueError):
        N = np.zeros(0)
    if N.ndim != 2 or N.shape[1] != size or not len(N) or not np.isfinite(N).all():
        raise TaskError(f"{task}: normals are {shown(normals)}; expected {size} finite numbers per side", task)
    b = numbers(offsets, len(N), "offsets", task)
    length = np.linalg.norm(N, axis=1)
    if not (length > 1e-9).all():
        raise TaskError(f"{task}: normal {int(np.argmin(length))} is zero; expected a direction", task)
    return N / length[:, None], b / length
