"""Strides of any walking body under anatomical joint names, and two bodies compared joint by joint.

[Saab2012] compared the torques of a person and of a robot by eye: similar in how effort is divided and in profile, but
the largest in other joints, smooth in the person and with sudden peaks in the robot, falling from the abdomen to the
head in both. Here each of these is a number.

Notation: τ is a torque, m the mass of the body, l the length of its leg, g gravity. Sizes are compared per kg, τ / m,
and without unit, τ / (m g l), which is the same for bodies of one build and different size.

[Saab2012] L. Saab, N. Mansard, P. Souères, J.-Y. Fourquet, M. Sreenivasa, Y. Nakamura. *Whole-body torques for
generating complex movements in humans and humanoids.* SYROCO, 2012.

Two scales are used. On the plain one, ``share = 100 (t - t_0) / (t_1 - t_0)``. On the scale of phases the time that the
foot stands takes 60 % and its swing 40 %, as in adults: so that the moments at which feet leave the ground lie above
each other though one body stands longer than another.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.stats import spearmanr

from poise.analysis.anatomy import BACK, MIRRORED, NECK, ROTATIONS, anatomical_leg_length, turnings
from poise.analysis.body_tracks import true
from poise.analysis.gait_curves import Agreement, agreement
from poise.analysis.recorded_walk import walked
from poise.analysis.signals import log_dimensionless_jerk, low_passed
from poise.arrays import Array
from poise.errors import GaitError
from poise.recording import Recording
from poise.robots import Robot, Side
from poise.state import GRAVITY

Kind = Literal["torque", "angle"]
Series = Mapping[tuple[Side | None, str], Array]

#: Steps of a stride: one for each half per cent, so that a sudden peak keeps its shape.
COUNT = 201
#: Where a foot leaves the ground on the scale of phases, %.
LIFT_OFF = 60.0
#: A stride that is known for this part of its time is known: its last frame may be that in which the foot lands beside
#: a force plate.
NEARLY = 0.95


class Span(NamedTuple):
    """One stride: whose foot it is, when it lands, leaves the ground and lands again, s."""

    side: Side
    begin: float
    off: float
    end: float


@dataclass(frozen=True, eq=False)
class Strides:
    """The walk of one body.

    Attributes:
        name: of the body, or of the file.
        mass: kg; leg: length of the leg, m.
        time: n, s.
        spans: its strides.
        angle: by side (None in the middle of the body) and rotation, n, rad; see `poise.analysis.anatomy`.
        torque: the same, N m; NaN where it is not known. Empty if there is none.

    >>> strides_of(recording, robot).mean("torque", "knee flexion").max()
    """

    name: str
    mass: float
    leg: float
    time: Array
    spans: tuple[Span, ...]
    angle: Series
    torque: Series

    def __post_init__(self) -> None:
        if not self.spans:
            raise GaitError(f"{self.name}: no stride, from one touchdown of a foot to its next; give a longer walk")

    def rotations(self, kind: Kind = "torque") -> tuple[str, ...]:
        """Names of the rotations that have such values, each once."""
        return tuple(dict.fromkeys(rotation for _, rotation in getattr(self, kind)))

    def curves(self, kind: Kind, rotation: str, count: int = COUNT) -> Array:
        """Values of one rotation over all strides on the scale of phases, (strides, count); straight between samples.

        A stride of the left foot has the left leg. Bending and turning of back and neck change sign there, so that both
        feet tell of the same walk.

        Args:
            kind: "torque" or "angle".
            rotation: such as "knee flexion".
            count: steps from 0 to 100 %.
        """
        share = np.linspace(0.0, 100.0, count)
        rows = []
        for span, values in self._each(kind, rotation):
            moments = np.interp(share, [0.0, LIFT_OFF, 100.0], [span.begin, span.off, span.end])
            rows.append(_between(self.time, values, moments))
        return np.array(rows) if rows else np.zeros((0, count))

    def per_cent(self, kind: Kind, rotation: str) -> list[Array]:
        """The same on the plain scale: the mean over each per cent of a stride, of all strides that are known.

        Means of a hundredth have the same resolution however often a body was sampled: measures of smoothness need it.
        """
        found = []
        for span, values in self._each(kind, rotation):
            inside = (self.time >= span.begin - 1e-9) & (self.time <= span.end + 1e-9)
            known = inside & np.isfinite(values)
            places = np.flatnonzero(known)
            if len(places) < max(NEARLY * inside.sum(), 4) or np.diff(places).max() > 1:
                continue
            t = self.time[places]
            total = CubicSpline(t, values[places]).antiderivative()
            edges = np.linspace(span.begin, span.end, 101)
            edges = edges[(edges >= t[0] - 1e-9) & (edges <= t[-1] + 1e-9)]
            found.append(np.diff(total(edges)) / np.diff(edges))
        return found

    def _each(self, kind: Kind, rotation: str) -> Iterator[tuple[Span, Array]]:
        """Each stride with the values of its own leg, or of the middle of the body."""
        series: Series = getattr(self, kind)
        for span in self.spans:
            if (span.side, rotation) in series:
                yield span, series[span.side, rotation]
            elif (None, rotation) in series:
                turned = rotation in MIRRORED and span.side == "left"
                yield span, (-1.0 if turned else 1.0) * series[None, rotation]

    def mean(self, kind: Kind, rotation: str) -> Array:
        """Mean over the strides on the scale of phases, (COUNT,); NaN where no stride knows it."""
        curves = self.curves(kind, rotation)
        known = np.isfinite(curves)
        total = np.where(known, curves, 0.0).sum(axis=0)
        return np.where(known.any(axis=0), total / np.maximum(known.sum(axis=0), 1), np.nan)

    @cached_property
    def stance(self) -> float:
        """How long a foot stands, % of the stride, on average."""
        return float(np.mean([100.0 * (span.off - span.begin) / (span.end - span.begin) for span in self.spans]))


def strides_of(recording: Recording, robot: Robot, name: str = "", cutoff: float | None = None) -> Strides:
    """The strides of a recorded walk of any body: a robot, or the human of the library.

    Args:
        recording: with the channel ``command/torque`` if torques are to be looked at.
        robot: whose walk it is.
        name: how it is called; by default as the robot.
        cutoff: of a low-pass filter on the torques (Hz), for a fair comparison with torques from a motion that was
            filtered; by default none.
    """
    walk = walked(recording, robot)
    window = walk.window
    spans = []
    for side in {step.side: None for step in walk.steps}:
        prints = [step.after for step in walk.steps if step.side == side]
        inside = [each for each in prints if window.start <= each.begin <= window.stop]
        for one, two in itertools.pairwise(inside):
            spans.append(Span(side, one.touchdown, one.lift_off, two.touchdown))
    spans = [span for span in spans if span.begin < span.off < span.end]
    q = true(recording, "q")
    angle, torque = {}, {}
    known = recording.labels["command/torque"] if "command/torque" in recording else ()
    for own in turnings(robot):
        angle[own.side, own.rotation] = own.sign * q[:, own.joint.q]
        if own.joint.name in known:
            values = own.sign * recording["command/torque"][:, known.index(own.joint.name)]
            torque[own.side, own.rotation] = low_passed(values, 1.0 / recording.period, cutoff)
    clock = np.asarray(recording.time)
    return Strides(name or robot.name, robot.mass, anatomical_leg_length(robot), clock, tuple(spans), angle, torque)


def _between(time: Array, values: Array, moments: Array) -> Array:
    """Straight lines between samples; NaN where one beside is."""
    after = np.clip(np.searchsorted(time, moments, side="left"), 1, len(time) - 1)
    w = np.clip((moments - time[after - 1]) / (time[after] - time[after - 1]), 0.0, 1.0)
    inner = (1.0 - w) * values[after - 1] + w * values[after]
    return np.where(w < 1e-6, values[after - 1], np.where(w > 1.0 - 1e-6, values[after], inner))


# -- Two walks, joint by joint: shapes and sizes of torques and angles, how smooth they are, and who -----------------


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
        walk: see `poise.analysis.stride_comparison.strides_of`.
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
