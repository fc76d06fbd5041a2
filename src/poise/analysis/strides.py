"""Strides: what the joints of any walking body do from one touchdown of a foot to its next, under anatomical names.

Two scales are used. On the plain one, ``share = 100 (t - t_0) / (t_1 - t_0)``. On the scale of phases the time that the
foot stands takes 60 % and its swing 40 %, as in adults: so that the moments at which feet leave the ground lie above
each other though one body stands longer than another.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

from poise.analysis.anatomy import MIRRORED, leg_length, turnings
from poise.analysis.gait_error import GaitError
from poise.analysis.low_pass import low_passed
from poise.analysis.tracks import true
from poise.analysis.walking import walked
from poise.recording import Recording
from poise.robots import Robot
from poise.robots.parts import Side

Array = NDArray[np.float64]
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
    return Strides(name or robot.name, robot.mass, leg_length(robot), clock, tuple(spans), angle, torque)


def _between(time: Array, values: Array, moments: Array) -> Array:
    """Straight lines between samples; NaN where one beside is."""
    after = np.clip(np.searchsorted(time, moments, side="left"), 1, len(time) - 1)
    w = np.clip((moments - time[after - 1]) / (time[after] - time[after - 1]), 0.0, 1.0)
    inner = (1.0 - w) * values[after - 1] + w * values[after]
    return np.where(w < 1e-6, values[after - 1], np.where(w > 1.0 - 1e-6, values[after], inner))
