"""Walking direction: where a body goes, on the floor or on a treadmill, and how fast the belt runs."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poise.analysis.gait_error import GaitError
from poise.robots.parts import Side

Array = NDArray[np.float64]

#: A pelvis that ends less than this from where it began, m, has walked on a treadmill, if at all: less than a step.
STEP = 0.5
#: How high above its lowest places a forefoot still stands, m: it rolls over, but does not rise, until the toe leaves.
LOW = 0.02
#: A belt slower than this, m/s, is none: markers on shoes move that fast while the foot rolls over the floor.
SLOWEST = 0.3


def walking_direction(pelvis: Array, heel: Mapping[Side, Array], toe: Mapping[Side, Array]) -> Array:
    """The horizontal unit vector d (3,) of walking.

    On the floor ``d ∝ p(T) - p(0)``; on a treadmill, where the pelvis ends within half a metre of where it began,
    ``d ∝ mean of (f - h)``, from the heels to the forefeet. Curved walks have no one direction; give a part of them.
    """
    gone = pelvis[-1] - pelvis[0]
    if np.hypot(gone[0], gone[1]) < STEP:
        both = [np.mean(toe[side] - heel[side], axis=0) for side in heel if side in toe]
        gone = np.sum(both, axis=0) if both else np.zeros(3)
    length = float(np.hypot(gone[0], gone[1]))
    if not length > 0.0:
        raise GaitError("the pelvis stays where it is and no foot points anywhere; give the direction of walking")
    return np.array([gone[0], gone[1], 0.0]) / length


def belt_speed(time: Array, toe: Mapping[Side, Array], direction: Array) -> float:
    """How fast the ground runs backwards under the feet, v_b in m/s; 0 on the floor.

        v_b = median over the frames with f_z < low of -d·df/dt

    over both feet, "low" being 2 cm above the height that a twentieth of the frames lie below. Less than 0.3 m/s is
    what a floor gives, and counts as zero.

    >>> belt = belt_speed(time, toe, direction)
    >>> position + belt * time[:, None] * direction  # the same walk on a floor
    """
    speeds = []
    for points in toe.values():
        low = points[:, 2] < np.percentile(points[:, 2], 5) + LOW
        speeds.append(-(np.gradient(points, time, axis=0) @ direction)[low])
    both = np.concatenate(speeds) if speeds else np.zeros(0)
    speed = float(np.median(both)) if len(both) else 0.0
    return speed if speed > SLOWEST else 0.0


def finite(time: Array, points: ArrayLike, what: str) -> Array:
    """Points (n, 3) with straight lines through their gaps; an error where they fit no clock or are all missing."""
    values = np.array(points, dtype=np.float64)
    if len(time) < 2 or not (np.diff(time) > 0.0).all():
        raise GaitError(f"{len(time)} times that do not rise; give two frames or more, one after the other")
    if values.shape != (len(time), 3):
        raise GaitError(f"{what} has shape {values.shape} for {len(time)} times; give (n, 3), one row a frame")
    known = np.isfinite(values).all(axis=1)
    if not known.any():
        raise GaitError(f"{what} is not seen in any frame; give another marker", missing=(what,))
    for k in range(3):
        values[~known, k] = np.interp(time[~known], time[known], values[known, k])
    return values
