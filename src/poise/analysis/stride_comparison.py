"""Joint angles and torques of a walk under anatomical names, and comparison of two walks joint by joint.

[Saab2012] compared plots of the torques of a person and of a robot: distribution of effort and profiles were similar,
but the largest torques were in different joints, torques were smooth in the person and had sudden peaks in the robot,
and they decreased from the abdomen to the head in both. This module computes a number for each of these observations.

Notation: τ is a torque, m the mass of the body, l its leg length, g gravity. Torques are compared per kg, τ / m, and
dimensionless, τ / (m g l), which is the same for bodies of the same proportions and different size.

Curves are on the phase-normalised scale, with toe-off at 60 % of the cycle; smoothness measures are on the plain scale.
See `poise.analysis.gait_cycle`.

[Saab2012] L. Saab, N. Mansard, P. Souères, J.-Y. Fourquet, M. Sreenivasa, Y. Nakamura. *Whole-body torques for
generating complex movements in humans and humanoids.* SYROCO, 2012.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

from poise.analysis.anatomy import (
    BACK,
    DEGREES_OF_FREEDOM,
    MIRRORED_DEGREES_OF_FREEDOM,
    NECK,
    anatomical_joints,
    anatomical_leg_length,
)
from poise.analysis.body_trajectories import true_state
from poise.analysis.gait_curves import Agreement, agreement
from poise.analysis.gait_cycle import TOE_OFF_PERCENT, CycleCurves, GaitCycle, normalize_cycle
from poise.analysis.recorded_walk import analyze_walk
from poise.analysis.signals import HALF_PERCENT_SAMPLES, PERCENT_SAMPLES, log_dimensionless_jerk, low_pass
from poise.arrays import Array
from poise.errors import GaitError
from poise.extras import scipy
from poise.files import json_ready
from poise.recording import Recording
from poise.robots import GRAVITY, Robot, Side

Quantity = Literal["torque", "angle"]
JointSignals = Mapping[tuple[Side | None, str], Array]

#: Share of a stride in which values must be known: in the last frames the foot may land beside a force plate.
KNOWN_SHARE = 0.95


@dataclass(frozen=True, eq=False)
class AnatomicalWalk:
    """Joint angles and torques of a walk under anatomical names, with its gait cycles.

    Attributes:
        name: name of the robot, the subject or the file.
        mass, leg_length: of the body (kg, m).
        time: n, s.
        cycles: gait cycles.
        angle: by side (None for back and neck) and degree of freedom, n, rad; see `poise.analysis.anatomy`.
        torque: likewise, N m; NaN where unknown. Empty without torques.

    >>> anatomical_walk(recording, robot).curves("torque", "knee flexion").mean.max()
    """

    name: str
    mass: float
    leg_length: float
    time: Array
    cycles: tuple[GaitCycle, ...]
    angle: JointSignals
    torque: JointSignals

    def __post_init__(self) -> None:
        if not self.cycles:
            raise GaitError(
                f"{self.name}: no complete stride, from one initial contact of a foot to its next; give a longer walk"
            )

    def degrees_of_freedom(self, quantity: Quantity = "torque") -> tuple[str, ...]:
        """Return the degrees of freedom with values of this quantity, each once."""
        return tuple(dict.fromkeys(name for _, name in getattr(self, quantity)))

    def curves(self, quantity: Quantity, degree_of_freedom: str, count: int = HALF_PERCENT_SAMPLES) -> CycleCurves:
        """Return the values of one degree of freedom over all cycles on the phase-normalised scale.

        Cycles of the left foot use the left leg, and the signs of bending and rotation of back and neck are reversed
        for them, so that cycles of both feet can be averaged. Values are interpolated linearly.

        Args:
            quantity: "torque" or "angle".
            degree_of_freedom: for example "knee flexion".
            count: number of samples from 0 to 100 %.
        """
        rows = [
            normalize_cycle(self.time, values, cycle, count, toe_off=TOE_OFF_PERCENT)
            for cycle, values in self._cycle_values(quantity, degree_of_freedom)
        ]
        return CycleCurves(np.array(rows) if rows else np.zeros((0, count)), TOE_OFF_PERCENT)

    def percent_means(self, quantity: Quantity, degree_of_freedom: str) -> list[Array]:
        """Return the means over each percent of a cycle on the plain scale, one array for each cycle without gaps.

        A cycle of which up to 5 % is unknown at its ends gives a shorter array. These means have the same resolution at
        any sampling rate, as smoothness measures require.
        """
        means = []
        for cycle, values in self._cycle_values(quantity, degree_of_freedom):
            inside = (self.time >= cycle.initial_contact - 1e-9) & (self.time <= cycle.end + 1e-9)
            known = inside & np.isfinite(values)
            samples = np.flatnonzero(known)
            if len(samples) < max(KNOWN_SHARE * inside.sum(), 4) or np.diff(samples).max() > 1:
                continue
            t = self.time[samples]
            total = scipy.interpolate.CubicSpline(t, values[samples]).antiderivative()
            edges = np.linspace(cycle.initial_contact, cycle.end, PERCENT_SAMPLES)
            edges = edges[(edges >= t[0] - 1e-9) & (edges <= t[-1] + 1e-9)]
            means.append(np.diff(total(edges)) / np.diff(edges))
        return means

    def _cycle_values(self, quantity: Quantity, degree_of_freedom: str) -> Iterator[tuple[GaitCycle, Array]]:
        """Iterate over the cycles with the values of the leg of the cycle, or of back and neck."""
        signals: JointSignals = getattr(self, quantity)
        for cycle in self.cycles:
            if (cycle.side, degree_of_freedom) in signals:
                yield cycle, signals[cycle.side, degree_of_freedom]
            elif (None, degree_of_freedom) in signals:
                mirrored = degree_of_freedom in MIRRORED_DEGREES_OF_FREEDOM and cycle.side == "left"
                yield cycle, (-1.0 if mirrored else 1.0) * signals[None, degree_of_freedom]

    @cached_property
    def stance(self) -> float:
        """Mean stance phase, % of the cycle."""
        return float(np.mean([cycle.stance for cycle in self.cycles]))


def anatomical_walk(recording: Recording, robot: Robot, name: str = "", cutoff: float | None = None) -> AnatomicalWalk:
    """Extract joint angles and torques of a recorded walk of any robot, or of the human model.

    Args:
        recording: with the channel ``command/torque`` if torques are wanted.
        robot: the robot that walks.
        name: label; by default the name of the robot.
        cutoff: cut-off of a low-pass filter on the torques (Hz), for a fair comparison with torques from filtered
            motion data; by default no filter.
    """
    cycles = analyze_walk(recording, robot).cycles
    q = true_state(recording, "q")
    angle, torque = {}, {}
    torque_labels = recording.labels["command/torque"] if "command/torque" in recording else ()
    for anatomical in anatomical_joints(robot):
        angle[anatomical.side, anatomical.degree_of_freedom] = anatomical.sign * q[:, anatomical.joint.q]
        if anatomical.joint.name in torque_labels:
            values = anatomical.sign * recording["command/torque"][:, torque_labels.index(anatomical.joint.name)]
            torque[anatomical.side, anatomical.degree_of_freedom] = low_pass(values, 1.0 / recording.period, cutoff)
    clock = np.asarray(recording.time)
    return AnatomicalWalk(name or robot.name, robot.mass, anatomical_leg_length(robot), clock, cycles, angle, torque)


# -- Two walks, joint by joint ---------------------------------------------------------------------------------------


class Smoothness(NamedTuple):
    """Smoothness of a torque over a stride, mean over the strides.

    Attributes:
        jerk: `log_dimensionless_jerk` of its rate: closer to zero is smoother; 0.69 less is twice the squared jerk.
        crest_factor: largest rate divided by root mean square rate: 1.4 for a sine, ten and more for a sudden peak.
        peak_percent: time of the largest rate, % of the stride, median over the strides.
    """

    jerk: float
    crest_factor: float
    peak_percent: float


class JointComparison(NamedTuple):
    """Comparison of one degree of freedom of two walks.

    Attributes:
        degree_of_freedom: for example "knee flexion".
        torque: agreement of the torques over the cycle, N m per kg.
        scaled: agreement of the dimensionless torques ``τ / (m g l)``.
        angle: agreement of the angles, rad.
        smoothness: smoothness of the torque in the first and in the second walk.
        effort: for the first and for the second walk, its share of the mean |τ| of all common degrees of freedom.
    """

    degree_of_freedom: str
    torque: Agreement
    scaled: Agreement
    angle: Agreement
    smoothness: tuple[Smoothness, Smoothness]
    effort: tuple[float, float]


@dataclass(frozen=True, eq=False)
class StrideComparison:
    """Comparison of the walks of two bodies.

    Attributes:
        names: names of the two walks.
        rows: one for each degree of freedom with torques in both.
        back, neck: root mean square torque of all their joints, N m per kg, of both; NaN without torques.

    >>> comparison = compare_strides(anatomical_walk(robot_walk, robot), human_anatomical_walk(torques))
    >>> comparison.effort_overlap, comparison.jerk
    >>> {row.degree_of_freedom: row.torque.correlation for row in comparison.rows}
    """

    names: tuple[str, str]
    rows: tuple[JointComparison, ...]
    back: tuple[float, float]
    neck: tuple[float, float]

    @property
    def effort_overlap(self) -> float:
        """``Σ min(effort_1, effort_2)``: 1 if both distribute their effort in the same way, 0 without overlap."""
        return float(sum(min(row.effort) for row in self.rows))

    @property
    def rank_correlation(self) -> float:
        """Spearman's rank correlation of the efforts: 1 for the same order of joints, NaN for fewer than three."""
        if len(self.rows) < 3:
            return math.nan
        one, two = (np.array([row.effort[k] for row in self.rows]) for k in (0, 1))
        return float(scipy.stats.spearmanr(one, two).statistic)

    @property
    def jerk(self) -> tuple[float, float]:
        """Mean jerk measure over the degrees of freedom, of both; closer to zero is smoother."""
        return self._mean("jerk")

    @property
    def crest_factor(self) -> tuple[float, float]:
        """Mean crest factor over the degrees of freedom, of both."""
        return self._mean("crest_factor")

    @property
    def dominant_joints(self) -> tuple[str, str]:
        """The degree of freedom with the largest effort, of both."""
        one, two = (max(self.rows, key=lambda row: row.effort[k]).degree_of_freedom for k in (0, 1))
        return one, two

    def __str__(self) -> str:
        return self.text()

    def summary(self) -> dict[str, Any]:
        """Return plain values for JSON: agreement, effort and jerk by degree of freedom, then of the whole walks."""
        rows = {
            row.degree_of_freedom: {
                **row.torque.summary(),
                "angle_correlation": row.angle.correlation,
                "effort_share": list(row.effort),
                "jerk": [each.jerk for each in row.smoothness],
            }
            for row in self.rows
        }
        return json_ready(
            {
                "names": list(self.names),
                "rows": rows,
                "effort_overlap": self.effort_overlap,
                "effort_rank_correlation": self.rank_correlation,
                "jerk": list(self.jerk),
                "back_n_m_per_kg": list(self.back),
                "neck_n_m_per_kg": list(self.neck),
            }
        )

    def text(self) -> str:
        """Return the comparison as a text table."""
        one, two = self.names
        lines = [f"{one} compared with {two}, over the gait cycle, per kg"]
        lines.append(f"{'degree of freedom':<24} {'r':>6} {'rmse':>6} {'peak ratio':>10} {'effort':>13} {'jerk':>13}")
        for row in self.rows:
            effort = f"{100 * row.effort[0]:.0f} / {100 * row.effort[1]:.0f} %"
            jerk = f"{row.smoothness[0].jerk:.1f} / {row.smoothness[1].jerk:.1f}"
            numbers = f"{row.torque.correlation:>6.2f} {row.torque.error:>6.2f} {row.torque.peak_ratio:>10.2f}"
            lines.append(f"{row.degree_of_freedom:<24} {numbers} {effort:>13} {jerk:>13}")
        lines.append(
            f"effort overlap {100 * self.effort_overlap:.0f} %; jerk {self.jerk[0]:.1f} and {self.jerk[1]:.1f}, "
            "closer to zero is smoother"
        )
        return "\n".join(lines)

    def _mean(self, what: str) -> tuple[float, float]:
        values = np.array([[getattr(own, what) for own in row.smoothness] for row in self.rows])
        known = values[np.isfinite(values).all(axis=1)]
        one, two = known.mean(axis=0) if len(known) else (math.nan, math.nan)
        return float(one), float(two)


def compare_strides(walk: AnatomicalWalk, reference: AnatomicalWalk) -> StrideComparison:
    """Compare a walk with a reference, usually that of a robot with that of a person; both need torques.

    Args:
        walk: see `anatomical_walk`.
        reference: the walk to compare with.
    """
    walks = (walk, reference)
    for each in walks:
        if not each.torque:
            raise GaitError(
                f"{each.name}: no torques were recorded; give a walk with torques, for example of a torque controller"
            )
    names = [name for name in DEGREES_OF_FREEDOM if all(name in each.degrees_of_freedom() for each in walks)]
    curves = {name: (walk.curves("torque", name).mean, reference.curves("torque", name).mean) for name in names}
    names = [name for name in names if (np.isfinite(curves[name][0]) & np.isfinite(curves[name][1])).any()]
    if not names:
        raise GaitError(f"{walk.name} and {reference.name} have no common degree of freedom with known torques")
    effort = np.array(
        [
            [_mean_magnitude(curve) / each.mass for curve, each in zip(curves[name], walks, strict=True)]
            for name in names
        ]
    )
    effort = effort / effort.sum(axis=0)
    rows = []
    for name, share in zip(names, effort, strict=True):
        one, two = (curve / each.mass for curve, each in zip(curves[name], walks, strict=True))
        smooth = smoothness(walk, name), smoothness(reference, name)
        rows.append(
            JointComparison(
                name,
                agreement(one, two),
                agreement(one / (GRAVITY * walk.leg_length), two / (GRAVITY * reference.leg_length)),
                agreement(walk.curves("angle", name).mean, reference.curves("angle", name).mean),
                smooth,
                (float(share[0]), float(share[1])),
            )
        )
    back, neck = (tuple(_rms_torque(each, part) for each in walks) for part in (BACK, NECK))
    return StrideComparison((walk.name, reference.name), tuple(rows), (back[0], back[1]), (neck[0], neck[1]))


def smoothness(walk: AnatomicalWalk, degree_of_freedom: str) -> Smoothness:
    """Compute the smoothness of the torque of a degree of freedom, over strides without gaps; NaN without any."""
    measures = []
    for curve in walk.percent_means("torque", degree_of_freedom):
        if np.ptp(curve) > 0.0:
            rate = np.diff(curve)
            steepest = int(np.argmax(np.abs(rate)))
            crest = float(np.abs(rate[steepest]) / np.sqrt(np.mean(rate**2)))
            measures.append((log_dimensionless_jerk(rate, 0.01), crest, float(steepest + 1)))
    if not measures:
        return Smoothness(math.nan, math.nan, math.nan)
    jerks, crests, percents = (np.array(values) for values in zip(*measures, strict=True))
    return Smoothness(float(jerks.mean()), float(crests.mean()), float(np.median(percents)))


def _mean_magnitude(curve: Array) -> float:
    return float(np.mean(np.abs(curve[np.isfinite(curve)])))


def _rms_torque(walk: AnatomicalWalk, part: tuple[tuple[str, Array], ...]) -> float:
    """Return the root mean square over the cycle of the norm of several torques, N m per kg."""
    curves = [walk.curves("torque", name).mean for name, _ in part if name in walk.degrees_of_freedom()]
    if not curves:
        return math.nan
    squares = np.sum(np.array(curves) ** 2, axis=0)
    known = squares[np.isfinite(squares)]
    return float(np.sqrt(known.mean())) / walk.mass if len(known) else math.nan
