"""The way that a camera goes with a robot."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d

from poise.report import Camera
from poise.report.figure import figure
from poise.robots import State

Array = NDArray[np.float64]

#: The camera follows the base as if it were smoothed over this time (s): steps sway the robot, not the picture.
SMOOTH = 0.5
#: The view is as near as shows this many postures of the motion, evenly spread.
POSTURES = 24


def followed(states: Sequence[State], rate: float, width: int, height: int) -> tuple[Array, Camera]:
    """Where the robot is on average at each state, n x 3 (m), and a camera whose target is meant from there."""
    base = np.array([state.q[:3] for state in states])
    path = gaussian_filter1d(base, SMOOTH * rate, axis=0, mode="nearest")
    path[:, 2] = np.median(base[:, 2])
    drawn = figure(states[0].robot)
    some = np.unique(np.linspace(0, len(states) - 1, POSTURES).astype(int)).tolist()
    around = np.vstack([drawn.corners(states[i]) - path[i] for i in some])
    return path, Camera().framed(around, width, height)
