"""Norms: joint angles of healthy walking over the gait cycle, mean and standard deviation.

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
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.interpolate import CubicSpline

from poise.analysis.cycles import COUNT
from poise.analysis.gait_error import GaitError
from poise.robots.parts import Side

Array = NDArray[np.float64]

#: The curves that are used where nothing else is said.
ADULTS = "adults"
#: What the lower back does to the side of the cycle and what is therefore mirrored on the other side.
_MIRRORED = ("lumbar_bending", "lumbar_rotation")
#: Angles between the pelvis and something else in the sagittal plane, in which the zero of the pelvis counts.
_LEVELLED = ("pelvis_tilt", "hip_flexion", "lumbar_extension")


@dataclass(frozen=True, eq=False)
class Norm:
    """One joint angle over the gait cycle of a foot.

    Attributes:
        joint: name of the joint, with its side if it has one.
        mean, deviation: at 101 points, 0 to 100 % of the cycle, rad.
        source: whom it was measured on.

    >>> knee = norm("right_knee_flexion")
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


def norm(joint: str, cycle: Side | None = None, source: str = ADULTS) -> Norm:
    """The norm of a joint of the human body.

    Args:
        joint: as the body names it (``left_hip_flexion``), or without a side for the one on the side of the cycle.
        cycle: the foot with whose strike the cycle begins; by default the joint's own side, else the right one. Legs
            and arms of the other side are half a cycle later; bending and turning of the back are mirrored.
        source: "adults", "cgm23" or "children", see `sources`.

    >>> norm("left_knee_flexion", cycle="right").mean[20]  # as the left knee is when the right foot is flat
    """
    table = _table()
    if source not in table:
        raise GaitError(f"no norms called {source!r}; there are {', '.join(table)}", near=tuple(table))
    curves = table[source]["curves"]
    side, kind = _parted(joint)
    if kind not in curves:
        near = tuple(difflib.get_close_matches(kind, curves, 3))
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(curves)}"
        raise GaitError(f"no norm for the joint {joint!r} of {source!r}; {hint}", near=near)
    foot = cycle or side or "right"
    shift = 0.5 if side not in (None, foot) else 0.0
    # Signed for the side of the cycle; the body's own signs are those of the right foot's cycle.
    sign = -1.0 if kind in _MIRRORED and foot == "left" else 1.0
    level = float(table[source].get("level", 0.0)) if kind in _LEVELLED else 0.0
    knots = sign * np.radians(np.array(curves[kind]["mean"], dtype=np.float64) + level)
    share = np.remainder(np.linspace(0.0, 1.0, COUNT) + shift, 1.0)
    deviation = _spline(np.radians(np.array(curves[kind]["sd"], dtype=np.float64)))(share)
    return Norm(joint, _spline(knots)(share), deviation, str(table[source]["source"]), knots, shift)


def norm_joints(source: str = ADULTS) -> tuple[str, ...]:
    """Names that `norm` knows, those of legs and arms without their side."""
    return tuple(_table()[source]["curves"])


def sources() -> dict[str, str]:
    """The sets of norms, and on whom each was measured."""
    return {name: str(own["source"]) for name, own in _table().items()}


def _parted(joint: str) -> tuple[Side | None, str]:
    if joint.startswith("left_"):
        return "left", joint.removeprefix("left_")
    if joint.startswith("right_"):
        return "right", joint.removeprefix("right_")
    return None, joint


def _spline(knots: Array) -> CubicSpline:
    """Periodic through values at equal steps from 0 to 1, both ends at their mean."""
    closed = np.array(knots)
    closed[0] = closed[-1] = (knots[0] + knots[-1]) / 2.0
    return CubicSpline(np.linspace(0.0, 1.0, len(closed)), closed, bc_type="periodic")


@functools.cache
def _table() -> dict[str, dict[str, Any]]:
    return tomllib.loads((Path(__file__).parent / "norm_curves.toml").read_text(encoding="utf-8"))
