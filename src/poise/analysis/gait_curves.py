"""Curves over the gait cycle: joint angles, range of motion, agreement of two curves, and normative bands.

Curves are arrays whose first index is the frame or the per cent of the cycle; angles are in the unit that is given.

[Boukheddimi2019] M. Boukheddimi, F. Bailly, P. Souères, B. Watier. *Human-like gait generation from a reduced set of
tasks using the hierarchical control framework from robotics.* ROBIO, 2019.

The numbers and where they come from are in `norm_curves.toml`, at every tenth of the cycle. A curve between them is the
periodic cubic spline through them; what the table has at 0 and at 100 % differs a little where strides were not quite
alike, and the spline goes through the mean of both.

Names and signs are those of the human body: ``right_knee_flexion``, ``lumbar_bending``. The pelvis, whose orientation
is no joint, has ``pelvis_tilt`` (forward +), ``pelvis_obliquity`` (side of the cycle up +) and ``pelvis_rotation``
(side of the cycle forward +). Angles are in rad here, in degrees in the file.
"""

from __future__ import annotations

import difflib
import functools
import math
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from poise.analysis.signals import PERCENT_SAMPLES
from poise.arrays import Array
from poise.errors import GaitError
from poise.extras import scipy
from poise.robots import Side


class RangeOfMotionRow(NamedTuple):
    """A row of Table I: joint of the human body, title, and the paper's mean ranges of motion, degrees.

    The paper prints the difference of the left knee as 9 and that of the left ankle as 13, though its own ranges differ
    by 12 and 14.
    """

    joint: str
    title: str
    simulation: float
    reference: float


TABLE_I = (
    RangeOfMotionRow("right_hip_flexion", "Right hip flexion", 52.0, 54.0),
    RangeOfMotionRow("right_hip_adduction", "Right hip adduction", 22.0, 24.0),
    RangeOfMotionRow("right_hip_rotation", "Right hip internal rotation", 11.0, 16.0),
    RangeOfMotionRow("right_knee_flexion", "Right knee flexion", 56.0, 67.0),
    RangeOfMotionRow("right_ankle_dorsiflexion", "Right ankle dorsiflexion", 20.0, 34.0),
    RangeOfMotionRow("right_ankle_inversion", "Right ankle inversion", 23.0, 27.0),
    RangeOfMotionRow("left_hip_flexion", "Left hip flexion", 57.0, 57.0),
    RangeOfMotionRow("left_hip_adduction", "Left hip adduction", 23.0, 26.0),
    RangeOfMotionRow("left_hip_rotation", "Left hip internal rotation", 13.0, 16.0),
    RangeOfMotionRow("left_knee_flexion", "Left knee flexion", 54.0, 66.0),
    RangeOfMotionRow("left_ankle_dorsiflexion", "Left ankle dorsiflexion", 21.0, 35.0),
    RangeOfMotionRow("left_ankle_inversion", "Left ankle inversion", 24.0, 28.0),
)
#: The joints of `TABLE_I`, in its order.
TABLE_I_JOINTS = tuple(row.joint for row in TABLE_I)


def range_of_motion(curves: ArrayLike) -> Array:
    """``max - min`` over the first index: of (101, 12) twelve numbers.

    >>> range_of_motion([[0.0, 5.0], [60.0, -5.0]])
    array([60., 10.])
    """
    return np.asarray(np.ptp(np.asarray(curves, dtype=np.float64), axis=0))


def root_mean_square_error(curves: ArrayLike, reference: ArrayLike, *, remove_offset: bool = False) -> Array:
    """``sqrt(mean over the cycle of (x - x_ref)²)`` over the first index.

    Args:
        curves, reference: of one shape, (101, ...), in one unit.
        remove_offset: first shift each curve so that its mean is that of the reference: models differ in where zero is.
    """
    x, y = np.asarray(curves, dtype=np.float64), np.asarray(reference, dtype=np.float64)
    if x.shape != y.shape:
        raise GaitError(f"curves of shapes {x.shape} and {y.shape} cannot be compared; give two of one shape")
    error = x - y
    if remove_offset:
        error = error - error.mean(axis=0)
    return np.asarray(np.sqrt(np.mean(error**2, axis=0)))


# -- Agreement: how alike two curves are, in shape and in size -------------------------------------------------------


class Agreement(NamedTuple):
    """A curve x against a reference y, where both are known.

    Attributes:
        samples: at how many.
        correlation: of Pearson, -1 to 1: 1 where the shapes are the same, whatever size and offset. NaN if one of them
            does not move.
        error: ``sqrt(mean (x - y)²)``, in their unit.
        peak, reference_peak: the largest deviation of y from zero, and that of x to the same side, signed.
        range, reference_range: largest less smallest of x and of y.
    """

    samples: int
    correlation: float
    error: float
    peak: float
    reference_peak: float
    range: float
    reference_range: float

    @property
    def peak_ratio(self) -> float:
        """Peak of x over that of y; NaN if y is zero."""
        return self.peak / self.reference_peak if self.reference_peak else math.nan

    @property
    def range_ratio(self) -> float:
        """Range of x over that of y; NaN if y does not move."""
        return self.range / self.reference_range if self.reference_range else math.nan

    def summary(self) -> dict[str, float]:
        """Plain values by their names, without the ranges but with the ratios."""
        names = ("samples", "correlation", "error", "peak", "reference_peak", "peak_ratio", "range_ratio")
        return {name: getattr(self, name) for name in names}


#: What two curves that are never known at once have in common.
NO_AGREEMENT = Agreement(0, *[math.nan] * 6)


def agreement(values: ArrayLike, reference: ArrayLike) -> Agreement:
    """Compares two curves of one length; samples at which one of them is not finite do not count.

    >>> agreement([0.0, 1.0, 0.0, -2.0], [0.0, 2.0, 0.0, -4.0])[1:5]
    (1.0, 1.118033988749895, -2.0, -4.0)
    """
    x, y = np.asarray(values, dtype=np.float64), np.asarray(reference, dtype=np.float64)
    if x.shape != y.shape or x.ndim != 1:
        raise GaitError(f"curves of shapes {x.shape} and {y.shape} cannot be compared; give two of one length")
    both = np.isfinite(x) & np.isfinite(y)
    x, y = x[both], y[both]
    if not len(x):
        return NO_AGREEMENT
    reference_peak = float(y[np.argmax(np.abs(y))])
    peak = float(x.max() if reference_peak > 0.0 else x.min())
    error = float(np.sqrt(np.mean((x - y) ** 2)))
    return Agreement(len(x), correlation(x, y), error, peak, reference_peak, float(np.ptp(x)), float(np.ptp(y)))


def correlation(x: Array, y: Array) -> float:
    """Of Pearson; NaN if one of the two does not move."""
    a, b = x - x.mean(), y - y.mean()
    size = math.sqrt(float(a @ a) * float(b @ b))
    return float(a @ b) / size if size > 0.0 else math.nan


# -- Normative bands -------------------------------------------------------------------------------------------------


#: The curves that are used where nothing else is said.
DEFAULT_DATASET = "adults"
#: What the lower back does to the side of the cycle and what is therefore mirrored on the other side.
_MIRRORED = ("lumbar_bending", "lumbar_rotation")
#: Angles between the pelvis and something else in the sagittal plane, in which the zero of the pelvis counts.
_PELVIS_RELATIVE = ("pelvis_tilt", "hip_flexion", "lumbar_extension")


@dataclass(frozen=True, eq=False)
class NormativeBand:
    """Normative band of one joint angle over the gait cycle of a foot: mean and standard deviation of healthy people.

    Attributes:
        joint: name of the joint, with its side if it has one.
        mean, deviation: at 101 points, 0 to 100 % of the cycle, rad.
        source: whom it was measured on.

    >>> knee = normative_band("right_knee_flexion")
    >>> round(float(np.degrees(knee.mean.max())))
    70
    """

    joint: str
    mean: Array
    deviation: Array
    source: str
    _knots: Array
    _shift: float

    def at(self, share: ArrayLike) -> Array:
        """The mean at any shares of the cycle, 0 to 1 and on beyond it, rad; smooth and periodic.

        >>> float(knee.at(0.25)) == float(knee.at(1.25))
        True
        """
        return np.asarray(_spline(self._knots)(np.remainder(np.asarray(share) + self._shift, 1.0)))

    @property
    def range_of_motion(self) -> float:
        """Of the mean curve, rad; people each have a larger one, since their peaks come at different times."""
        fine = self.at(np.linspace(0.0, 1.0, 1001))
        return float(np.ptp(fine))


def normative_band(joint: str, cycle: Side | None = None, dataset: str = DEFAULT_DATASET) -> NormativeBand:
    """The normative band of a joint of the human body.

    Args:
        joint: as the body names it (``left_hip_flexion``), or without a side for the one on the side of the cycle.
        cycle: the foot with whose strike the cycle begins; by default the joint's own side, else the right one. Legs
            and arms of the other side are half a cycle later; bending and turning of the back are mirrored.
        dataset: "adults", "cgm23" or "children", see `normative_datasets`.

    >>> normative_band("left_knee_flexion", cycle="right").mean[20]  # as the left knee is when the right foot is flat
    """
    table = _table()
    if dataset not in table:
        raise GaitError(f"no norms called {dataset!r}; there are {', '.join(table)}", near=tuple(table))
    curves = table[dataset]["curves"]
    side, kind = _split_side(joint)
    if kind not in curves:
        near = tuple(difflib.get_close_matches(kind, curves, 3))
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(curves)}"
        raise GaitError(f"no norm for the joint {joint!r} of {dataset!r}; {hint}", near=near)
    foot = cycle or side or "right"
    shift = 0.5 if side not in (None, foot) else 0.0
    # Signed for the side of the cycle; the body's own signs are those of the right foot's cycle.
    sign = -1.0 if kind in _MIRRORED and foot == "left" else 1.0
    level = float(table[dataset].get("level", 0.0)) if kind in _PELVIS_RELATIVE else 0.0
    knots = sign * np.radians(np.array(curves[kind]["mean"], dtype=np.float64) + level)
    share = np.remainder(np.linspace(0.0, 1.0, PERCENT_SAMPLES) + shift, 1.0)
    deviation = _spline(np.radians(np.array(curves[kind]["sd"], dtype=np.float64)))(share)
    return NormativeBand(joint, _spline(knots)(share), deviation, str(table[dataset]["source"]), knots, shift)


def normative_joints(dataset: str = DEFAULT_DATASET) -> tuple[str, ...]:
    """Names that `normative_band` knows, those of legs and arms without their side."""
    return tuple(_table()[dataset]["curves"])


def normative_datasets() -> dict[str, str]:
    """The normative datasets, and on whom each was measured."""
    return {name: str(own["source"]) for name, own in _table().items()}


def _split_side(joint: str) -> tuple[Side | None, str]:
    if joint.startswith("left_"):
        return "left", joint.removeprefix("left_")
    if joint.startswith("right_"):
        return "right", joint.removeprefix("right_")
    return None, joint


def _spline(knots: Array) -> scipy.interpolate.CubicSpline:
    """Periodic through values at equal steps from 0 to 1, both ends at their mean."""
    closed = np.array(knots)
    closed[0] = closed[-1] = (knots[0] + knots[-1]) / 2.0
    return scipy.interpolate.CubicSpline(np.linspace(0.0, 1.0, len(closed)), closed, bc_type="periodic")


@functools.cache
def _table() -> dict[str, dict[str, Any]]:
    return tomllib.loads((Path(__file__).parent / "norm_curves.toml").read_text(encoding="utf-8"))
