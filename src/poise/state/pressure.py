"""Under a sole: how strongly it is pressed, and where, by its four force cells."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poise.robots import Foot

Array = NDArray[np.float64]


def sole_pressure(foot: Foot, cells: ArrayLike) -> tuple[Array, Array]:
    """How strongly a sole is pressed (N), and where: its ZMP, seen from the middle of the sole, in its axes (m, 2).

    With f_i the forces on the cells and r_i where these are, ``A = Σ f_i`` and ``ZMP = Σ f_i r_i / A`` ([Galdeano2014]
    calls A the amplitude). Cells that pull, which none can, or that tell no number, count as zero; where nothing
    presses the ZMP is the middle.

    Args:
        foot: whose cells.
        cells: forces at the corners of its sole (N): (4,), or (k, 4) for as many instants.

    >>> amplitude, zmp = sole_pressure(foot, sensed.cells[foot.name])
    """
    forces = np.asarray(cells, dtype=np.float64)
    forces = np.where(np.isfinite(forces) & (forces > 0.0), forces, 0.0)
    amplitude = forces.sum(axis=-1)
    moment = forces @ (foot.corners - foot.sole.center)[:, :2]
    return amplitude, moment / np.where(amplitude > 0.0, amplitude, 1.0)[..., None]
