"""Rotations: the twelve of Table I of [Boukheddimi2019], over the gait cycle, and how far two motions differ in them.

Curves are arrays whose first index is the frame or the per cent of the cycle; angles are in the unit that is given.

[Boukheddimi2019] M. Boukheddimi, F. Bailly, P. Souères, B. Watier. *Human-like gait generation from a reduced set of
tasks using the hierarchical control framework from robotics.* ROBIO, 2019.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.interpolate import CubicSpline

from poise.analysis.cycles import COUNT
from poise.analysis.gait_error import GaitError

Array = NDArray[np.float64]


class Rotation(NamedTuple):
    """A row of Table I: joint of the human body, title, and the paper's mean ranges of motion, degrees.

    The paper prints the difference of the left knee as 9 and that of the left ankle as 13, though its own ranges differ
    by 12 and 14.
    """

    joint: str
    title: str
    simulation: float
    reference: float


ROTATIONS = (
    Rotation("right_hip_flexion", "Right hip flexion", 52.0, 54.0),
    Rotation("right_hip_adduction", "Right hip adduction", 22.0, 24.0),
    Rotation("right_hip_rotation", "Right hip internal rotation", 11.0, 16.0),
    Rotation("right_knee_flexion", "Right knee flexion", 56.0, 67.0),
    Rotation("right_ankle_dorsiflexion", "Right ankle dorsiflexion", 20.0, 34.0),
    Rotation("right_ankle_inversion", "Right ankle inversion", 23.0, 27.0),
    Rotation("left_hip_flexion", "Left hip flexion", 57.0, 57.0),
    Rotation("left_hip_adduction", "Left hip adduction", 23.0, 26.0),
    Rotation("left_hip_rotation", "Left hip internal rotation", 13.0, 16.0),
    Rotation("left_knee_flexion", "Left knee flexion", 54.0, 66.0),
    Rotation("left_ankle_dorsiflexion", "Left ankle dorsiflexion", 21.0, 35.0),
    Rotation("left_ankle_inversion", "Left ankle inversion", 24.0, 28.0),
)
#: The joints of `ROTATIONS`, in its order.
JOINTS = tuple(rotation.joint for rotation in ROTATIONS)


def over_cycle(time: ArrayLike, values: ArrayLike, begin: float, end: float, count: int = COUNT) -> Array:
    """Values (n, ...) at equal steps from begin to end, (count, ...), by cubic splines; 101 steps are per cent.

    Splines keep the peaks that straight lines between frames cut off. A column in which a value is not finite is joined
    by straight lines and stays unknown beside the gap.

    Args:
        time: n, s, rising.
        values: (n,) or (n, ...), in any unit.
        begin, end: of the cycle, s, within the time.

    >>> over_cycle(time, angles, cycle.strike, cycle.next_strike).shape
    (101, 12)
    """
    t, x = np.asarray(time, dtype=np.float64), np.asarray(values, dtype=np.float64)
    if t.ndim != 1 or len(t) < 2 or len(x) != len(t) or not (np.diff(t) > 0.0).all():
        raise GaitError(f"{len(x)} values at {t.shape} times; give two or more, one for each time, times rising")
    # Events are frames: what lies outside by rounding is the first or the last frame.
    if not t[0] - 1e-6 <= begin < end <= t[-1] + 1e-6:
        raise GaitError(f"the cycle is from {begin:.3f} to {end:.3f} s, the motion from {t[0]:.3f} to {t[-1]:.3f} s")
    at = np.clip(np.linspace(begin, end, count), t[0], t[-1])
    columns = x.reshape(len(t), -1)
    if np.isfinite(columns).all():
        return CubicSpline(t, columns)(at).reshape(count, *x.shape[1:])
    found = [
        CubicSpline(t, own)(at) if np.isfinite(own).all() else _lines(t, own, at) for own in columns.T
    ]  # each column keeps its own gaps
    return np.stack(found, axis=1).reshape(count, *x.shape[1:])


def range_of_motion(curves: ArrayLike) -> Array:
    """``max - min`` over the first index: of (101, 12) twelve numbers.

    >>> range_of_motion([[0.0, 5.0], [60.0, -5.0]])
    array([60., 10.])
    """
    return np.asarray(np.ptp(np.asarray(curves, dtype=np.float64), axis=0))


def root_mean_square_error(curves: ArrayLike, reference: ArrayLike, *, shift: bool = False) -> Array:
    """``sqrt(mean over the cycle of (x - x_ref)²)`` over the first index.

    Args:
        curves, reference: of one shape, (101, ...), in one unit.
        shift: first shift each curve so that its mean is that of the reference: models differ in where zero is.
    """
    x, y = np.asarray(curves, dtype=np.float64), np.asarray(reference, dtype=np.float64)
    if x.shape != y.shape:
        raise GaitError(f"curves of shapes {x.shape} and {y.shape} cannot be compared; give two of one shape")
    error = x - y
    if shift:
        error = error - error.mean(axis=0)
    return np.asarray(np.sqrt(np.mean(error**2, axis=0)))


class Spread(NamedTuple):
    """Curves of several people: their mean, their standard deviation (n - 1; NaN of one person alone), their number."""

    mean: Array
    deviation: Array
    people: int


def over_people(curves: ArrayLike) -> Spread:
    """Mean and standard deviation over the first index: of (people, 101, 12) two of (101, 12).

    >>> over_people([[[1.0]], [[3.0]]]).mean.item()
    2.0
    """
    x = np.asarray(curves, dtype=np.float64)
    if x.ndim < 1 or not len(x):
        raise GaitError("there is nobody to take the mean of; give the curves of one person or more")
    deviation = x.std(axis=0, ddof=1) if len(x) > 1 else np.full(x.shape[1:], np.nan)
    return Spread(x.mean(axis=0), deviation, len(x))


def _lines(t: Array, x: Array, at: Array) -> Array:
    after = np.clip(np.searchsorted(t, at, side="left"), 1, len(t) - 1)
    w = (at - t[after - 1]) / (t[after] - t[after - 1])
    inner = (1.0 - w) * x[after - 1] + w * x[after]
    return np.where(w == 0.0, x[after - 1], np.where(w == 1.0, x[after], inner))
