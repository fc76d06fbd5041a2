"""Two walks, joint by joint: shapes and sizes of torques and angles, how smooth they are, and who does the work.

[Saab2012] compared the torques of a person and of a robot by eye: similar in how effort is divided and in profile, but
the largest in other joints, smooth in the person and with sudden peaks in the robot, falling from the abdomen to the
head in both. Here each of these is a number.

Notation: τ is a torque, m the mass of the body, l the length of its leg, g gravity. Sizes are compared per kg, τ / m,
and without unit, τ / (m g l), which is the same for bodies of one build and different size.

[Saab2012] L. Saab, N. Mansard, P. Souères, J.-Y. Fourquet, M. Sreenivasa, Y. Nakamura. *Whole-body torques for
generating complex movements in humans and humanoids.* SYROCO, 2012.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

from poise.analysis.agreement import Agreement, agreement
from poise.analysis.anatomy import BACK, NECK, ROTATIONS
from poise.analysis.gait_error import GaitError
from poise.analysis.smoothness import log_dimensionless_jerk
from poise.analysis.strides import Strides
from poise.state.balance import GRAVITY

Array = NDArray[np.float64]


class Smoothness(NamedTuple):
    """How evenly a torque changes over a stride, on average over the strides.

    Attributes:
        jerk: `log_dimensionless_jerk` of its rate: closer to zero is smoother, and 0.69 less is twice as jerky.
        crest: largest rate over root mean square rate: a sine has 1.4, a sudden peak ten and more.
        place: of the largest rate, % of the stride.
    """

    jerk: float
    crest: float
    place: float


class JointRow(NamedTuple):
    """One rotation of two walks.

    Attributes:
        rotation: such as "knee flexion".
        torque: the first against the second over the cycle, N m per kg.
        scaled: the same as ``τ / (m g l)``.
        angle: the same of the angles, rad.
        smoothness: of the first and of the second.
        effort: of the first and of the second: part of the mean |τ| of all rotations that both have.
    """

    rotation: str
    torque: Agreement
    scaled: Agreement
    angle: Agreement
    smoothness: tuple[Smoothness, Smoothness]
    effort: tuple[float, float]


@dataclass(frozen=True, eq=False)
class StrideComparison:
    """The walk of one body against that of another.

    Attributes:
        names: of both.
        rows: a row for each rotation that both have torques of.
        back, neck: root mean square of the torque of all their joints, N m per kg, of both; NaN without.

    >>> found = compare_strides(strides_of(robot_walk, robot), human_strides(torques))
    >>> found.overlap, found.jerk, {row.rotation: row.torque.correlation for row in found.rows}
    """

    names: tuple[str, str]
    rows: tuple[JointRow, ...]
    back: tuple[float, float]
    neck: tuple[float, float]

    @property
    def overlap(self) -> float:
        """``Σ min(effort_1, effort_2)``: 1 if both divide their effort in the same way, 0 if they share no joint."""
        return float(sum(min(row.effort) for row in self.rows))

    @property
    def order(self) -> float:
        """Rank correlation of the efforts: 1 if the joints are in the same order. NaN with fewer than three."""
        if len(self.rows) < 3:
            return math.nan
        one, two = (np.array([row.effort[k] for row in self.rows]) for k in (0, 1))
        return float(spearmanr(one, two).statistic)

    @property
    def jerk(self) -> tuple[float, float]:
        """Mean over the rotations of the smoothness of both; the one closer to zero is smoother."""
        return self._mean("jerk")

    @property
    def crest(self) -> tuple[float, float]:
        """Mean over the rotations of the largest rate over the root mean square rate."""
        return self._mean("crest")

    @property
    def most(self) -> tuple[str, str]:
        """The rotation that does most in each."""
        one, two = (max(self.rows, key=lambda row: row.effort[k]).rotation for k in (0, 1))
        return one, two

    def _mean(self, what: str) -> tuple[float, float]:
        values = np.array([[getattr(own, what) for own in row.smoothness] for row in self.rows])
        known = values[np.isfinite(values).all(axis=1)]
        one, two = known.mean(axis=0) if len(known) else (math.nan, math.nan)
        return float(one), float(two)


def compare_strides(walk: Strides, reference: Strides) -> StrideComparison:
    """A walk against another one, usually a robot's against a person's, both with torques.

    Args:
        walk: see `poise.analysis.strides.strides_of`.
        reference: what it is held against.
    """
    both = (walk, reference)
    for each in both:
        if not each.torque:
            raise GaitError(f"{each.name}: no torques were recorded; give a walk that has some, such as one of torques")
    names = [name for name in ROTATIONS if all(name in each.rotations() for each in both)]
    curves = {name: (walk.mean("torque", name), reference.mean("torque", name)) for name in names}
    names = [name for name in names if (np.isfinite(curves[name][0]) & np.isfinite(curves[name][1])).any()]
    if not names:
        raise GaitError(f"{walk.name} and {reference.name} have no joint in common whose torques are known")
    effort = np.array(
        [[_size(curve) / each.mass for curve, each in zip(curves[name], both, strict=True)] for name in names]
    )
    effort = effort / effort.sum(axis=0)
    rows = []
    for name, share in zip(names, effort, strict=True):
        one, two = (curve / each.mass for curve, each in zip(curves[name], both, strict=True))
        smooth = smoothness(walk, name), smoothness(reference, name)
        rows.append(
            JointRow(
                name,
                agreement(one, two),
                agreement(one / (GRAVITY * walk.leg), two / (GRAVITY * reference.leg)),
                agreement(walk.mean("angle", name), reference.mean("angle", name)),
                smooth,
                (float(share[0]), float(share[1])),
            )
        )
    back, neck = (tuple(_part(each, part) for each in both) for part in (BACK, NECK))
    return StrideComparison((walk.name, reference.name), tuple(rows), (back[0], back[1]), (neck[0], neck[1]))


def smoothness(strides: Strides, rotation: str) -> Smoothness:
    """Of the torque of a rotation; of the strides that are known throughout. NaN without any."""
    found = []
    for curve in strides.per_cent("torque", rotation):
        if np.ptp(curve) > 0.0:
            rate = np.diff(curve)
            most = int(np.argmax(np.abs(rate)))
            crest = float(np.abs(rate[most]) / np.sqrt(np.mean(rate**2)))
            found.append((log_dimensionless_jerk(rate, 0.01), crest, float(most + 1)))
    if not found:
        return Smoothness(math.nan, math.nan, math.nan)
    jerks, crests, places = (np.array(values) for values in zip(*found, strict=True))
    return Smoothness(float(jerks.mean()), float(crests.mean()), float(np.median(places)))


def _size(curve: Array) -> float:
    return float(np.mean(np.abs(curve[np.isfinite(curve)])))


def _part(strides: Strides, part: tuple[tuple[str, Array], ...]) -> float:
    """Root mean square torque per kg of several rotations together."""
    own = [strides.mean("torque", name) for name, _ in part if name in strides.rotations()]
    if not own:
        return math.nan
    squares = np.sum(np.array(own) ** 2, axis=0)
    known = squares[np.isfinite(squares)]
    return float(np.sqrt(known.mean())) / strides.mass if len(known) else math.nan
