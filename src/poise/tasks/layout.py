"""Layout: what the unknowns of a program are, and Memory: what a task writes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from poise.solvers import Block

if TYPE_CHECKING:
    from poise.tasks.forces import ForceUnknowns

Array = NDArray[np.float64]

#: Orders of a layout: the unknowns are velocities, or accelerations.
VELOCITY, ACCELERATION = 1, 2


@dataclass(frozen=True)
class Layout:
    """What x stands for: velocities v or accelerations v̇ of the robot first, whatever else a controller adds after.

    Args:
        order: VELOCITY or ACCELERATION.
        period: seconds that a command lasts.
        motion: nv, the size of v.
        variables: size of x, nv or more.
        forces: the contact forces among the unknowns; None in kinematics, where tasks that speak of forces or torques
            ask for nothing.
    """

    order: int
    period: float
    motion: int
    variables: int
    forces: ForceUnknowns | None = None


@dataclass(frozen=True, eq=False)
class Memory:
    """What one task writes: its rows, and for motion tasks the columns from which their bounds follow.

    All are views with one entry per row. In the words of `native/motion/references.hpp`: error e in [low, high],
    gain g with its derivative, coupling c, damping k, the rate and acceleration of the target, drift J̇ v, curvature.
    A task whose rows are single unknowns has no A to write, see `Task.unknowns`. A stands for the columns of the
    motion, `whole` for those of all unknowns.
    """

    whole: Array
    A: Array
    lower: Array
    upper: Array
    weight: Array
    error: Array
    low: Array
    high: Array
    gain: Array
    gain_rate: Array
    coupling: Array
    damping: Array
    target_rate: Array
    target_acceleration: Array
    drift: Array
    curvature: Array


#: Columns of `Memory` that a program does not know.
COLUMNS = tuple(field.name for field in fields(Memory))[5:]


def memory_of(block: Block, columns: Sequence[Array], motion: int) -> Memory:
    """The memory of a task: its block of the stack, and its part of the columns (one line each, as in COLUMNS)."""
    A = block.A[:, :motion]
    return Memory(block.A, A, block.lower, block.upper, block.weight, *(column[block.rows] for column in columns))
