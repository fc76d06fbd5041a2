"""Curves over the gait cycle: range of motion, root mean square error, agreement of two curves, normative bands.

Curves are arrays whose first index is the frame or the percent of the gait cycle. Angles are in the unit of the input.

Normative bands are read from `norm_curves.toml`, which has values at every tenth of the cycle and their sources.
Between these values a curve is a periodic cubic spline. The values at 0 and 100 % differ a little because measured
strides are not exactly periodic; the spline passes through the mean of both. Angles are in rad here, in degrees in the
file.

Names and signs are those of the human model: ``right_knee_flexion``, ``lumbar_bending``. The orientation of the pelvis
is given as ``pelvis_tilt`` (anterior +), ``pelvis_obliquity`` (side of the cycle up +) and ``pelvis_rotation`` (side of
the cycle forward +).

[Boukheddimi2019] M. Boukheddimi, F. Bailly, P. Souères, B. Watier. *Human-like gait generation from a reduced set of
tasks using the hierarchical control framework from robotics.* ROBIO, 2019.
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
    """A row of Table I of [Boukheddimi2019]: joint of the human model, title, and mean ranges of motion, degrees, of
    the simulation and of the measured reference.

    The paper prints a difference of 9 for the left knee and 13 for the left ankle, although its ranges differ by 12
    and 14.
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
    """Return the range of motion ``max - min`` over the first index; (101, 12) gives 12 numbers.

    >>> range_of_motion([[0.0, 5.0], [60.0, -5.0]])
    array([60., 10.])
    """
    return np.asarray(np.ptp(np.asarray(curves, dtype=np.float64), axis=0))


def root_mean_square_error(curves: ArrayLike, reference: ArrayLike, *, remove_offset: bool = False) -> Array:
    """Compute the root mean square error over the cycle (first index), ``sqrt(mean of (x - x_ref)²)``.

    Args:
        curves, reference: same shape (101, ...), same unit.
        remove_offset: remove the mean difference first, because models differ in their zero posture.
    """
    x, y = np.asarray(curves, dtype=np.float64), np.asarray(reference, dtype=np.float64)
    if x.shape != y.shape:
        raise GaitError(f"curves of shapes {x.shape} and {y.shape}; expected the same shape")
    error = x - y
    if remove_offset:
        error = error - error.mean(axis=0)
    return np.asarray(np.sqrt(np.mean(error**2, axis=0)))


# -- Agreement: how alike two curves are, in shape and in size -------------------------------------------------------


class Agreement(NamedTuple):
    """Agreement of a curve x with a reference y, over the samples at which both are known.

    Attributes:
        samples: number of these samples.
        correlation: Pearson's r, -1 to 1; 1 for curves of the same shape, whatever their amplitude and offset. NaN if
            one of them is constant.
        error: root mean square error ``sqrt(mean (x - y)²)``, in the unit of the curves.
        reference_peak: value of y with the largest magnitude, with its sign.
        peak: maximum of x if `reference_peak` is positive, else minimum of x.
        range, reference_range: maximum minus minimum of x and of y.
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
        """Range of x over that of y; NaN if y is constant."""
        return self.range / self.reference_range if self.reference_range else math.nan

    def summary(self) -> dict[str, float]:
        """Return the values by name, with ratios instead of ranges."""
        names = ("samples", "correlation", "error", "peak", "reference_peak", "peak_ratio", "range_ratio")
        return {name: getattr(self, name) for name in names}


#: Agreement of two curves without a common sample.
NO_AGREEMENT = Agreement(0, *[math.nan] * 6)


def agreement(values: ArrayLike, reference: ArrayLike) -> Agreement:
    """Compare two curves of the same length; samples that are not finite in both are ignored.

    >>> agreement([0.0, 1.0, 0.0, -2.0], [0.0, 2.0, 0.0, -4.0])[1:5]
    (1.0, 1.118033988749895, -2.0, -4.0)
    """
    x, y = np.asarray(values, dtype=np.float64), np.asarray(reference, dtype=np.float64)
    if x.shape != y.shape or x.ndim != 1:
        raise GaitError(f"curves of shapes {x.shape} and {y.shape}; expected two of the same length")
    both = np.isfinite(x) & np.isfinite(y)
    x, y = x[both], y[both]
    if not len(x):
        return NO_AGREEMENT
    reference_peak = float(y[np.argmax(np.abs(y))])
    peak = float(x.max() if reference_peak > 0.0 else x.min())
    error = float(np.sqrt(np.mean((x - y) ** 2)))
    return Agreement(len(x), correlation(x, y), error, peak, reference_peak, float(np.ptp(x)), float(np.ptp(y)))


def correlation(x: Array, y: Array) -> float:
    """Pearson's correlation coefficient; NaN if one of the two is constant."""
    a, b = x - x.mean(), y - y.mean()
    size = math.sqrt(float(a @ a) * float(b @ b))
    return float(a @ b) / size if size > 0.0 else math.nan


# -- Normative bands -------------------------------------------------------------------------------------------------


#: Normative dataset used by default.
DEFAULT_DATASET = "adults"
#: Angles of the lower back that are signed relative to the side of the cycle, and mirrored for the other side.
_MIRRORED = ("lumbar_bending", "lumbar_rotation")
#: Sagittal angles relative to the pelvis, which depend on its zero orientation.
_PELVIS_RELATIVE = ("pelvis_tilt", "hip_flexion", "lumbar_extension")


@dataclass(frozen=True, eq=False)
class NormativeBand:
    """Normative band of one joint angle over the gait cycle of a foot: mean and standard deviation of healthy people.

    Attributes:
        joint: name of the joint, with its side if it has one.
        mean, deviation: at 101 points, 0 to 100 % of the cycle, rad.
        source: description of the subjects and of the publication.

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
        """Return the mean at shares of the cycle (0 to 1, periodic beyond), rad.

        >>> float(knee.at(0.25)) == float(knee.at(1.25))
        True
        """
        return np.asarray(_spline(self._knots)(np.remainder(np.asarray(share) + self._shift, 1.0)))

    @property
    def range_of_motion(self) -> float:
        """Range of motion of the mean curve, rad; single subjects have larger ones, as their peaks differ in timing."""
        fine = self.at(np.linspace(0.0, 1.0, 1001))
        return float(np.ptp(fine))


def normative_band(joint: str, cycle: Side | None = None, dataset: str = DEFAULT_DATASET) -> NormativeBand:
    """Return the normative band of a joint angle.

    Args:
        joint: name in the human model (``left_hip_flexion``), or without a side for the joint on the side of the cycle.
        cycle: foot whose initial contact begins the cycle; by default the side of the joint, else right. Legs and arms
            of the other side are shifted by half a cycle; bending and rotation of the back are mirrored.
        dataset: "adults", "cgm23" or "children", see `normative_datasets`.

    >>> normative_band("left_knee_flexion", cycle="right").mean[20]  # left knee at 20 % of the right cycle
    """
    table = _table()
    if dataset not in table:
        raise GaitError(f"no normative dataset {dataset!r}; available: {', '.join(table)}", near=tuple(table))
    curves = table[dataset]["curves"]
    side, kind = _split_side(joint)
    if kind not in curves:
        near = tuple(difflib.get_close_matches(kind, curves, 3))
        hint = f"did you mean {near[0]!r}?" if near else f"available: {', '.join(curves)}"
        raise GaitError(f"no normative curve of joint {joint!r} in dataset {dataset!r}; {hint}", near=near)
    foot = cycle or side or "right"
    shift = 0.5 if side not in (None, foot) else 0.0
    # Curves are signed for the side of the cycle; the signs of the human model are those of a right cycle.
    sign = -1.0 if kind in _MIRRORED and foot == "left" else 1.0
    level = float(table[dataset].get("level", 0.0)) if kind in _PELVIS_RELATIVE else 0.0
    knots = sign * np.radians(np.array(curves[kind]["mean"], dtype=np.float64) + level)
    share = np.remainder(np.linspace(0.0, 1.0, PERCENT_SAMPLES) + shift, 1.0)
    deviation = _spline(np.radians(np.array(curves[kind]["sd"], dtype=np.float64)))(share)
    return NormativeBand(joint, _spline(knots)(share), deviation, str(table[dataset]["source"]), knots, shift)


def normative_joints(dataset: str = DEFAULT_DATASET) -> tuple[str, ...]:
    """Return the joint names that `normative_band` accepts; those of legs and arms are without a side."""
    return tuple(_table()[dataset]["curves"])


def normative_datasets() -> dict[str, str]:
    """Return the names of the normative datasets and their sources."""
    return {name: str(own["source"]) for name, own in _table().items()}


def _split_side(joint: str) -> tuple[Side | None, str]:
    if joint.startswith("left_"):
        return "left", joint.removeprefix("left_")
    if joint.startswith("right_"):
        return "right", joint.removeprefix("right_")
    return None, joint


def _spline(knots: Array) -> scipy.interpolate.CubicSpline:
    """Periodic cubic spline through values at equal steps from 0 to 1; both ends are set to their mean."""
    closed = np.array(knots)
    closed[0] = closed[-1] = (knots[0] + knots[-1]) / 2.0
    return scipy.interpolate.CubicSpline(np.linspace(0.0, 1.0, len(closed)), closed, bc_type="periodic")


@functools.cache
def _table() -> dict[str, dict[str, Any]]:
    return tomllib.loads((Path(__file__).parent / "norm_curves.toml").read_text(encoding="utf-8"))
