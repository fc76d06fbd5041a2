"""Cycles: values over the gait cycle, from one touchdown of a foot to its next."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poise.analysis.walking import Walked
from poise.errors import RecordingError
from poise.robots.parts import Side

Array = NDArray[np.float64]

#: Steps of a cycle: one for each per cent, as gait laboratories have it.
COUNT = 101


class Cycles(NamedTuple):
    """Values of several strides on one scale.

    Attributes:
        share: of the cycle, %, from 0 to 100.
        values: (strides, len(share), ...), in the unit that was given.
        lift_off: where the foot leaves the ground, %, on average; NaN without strides.
    """

    share: Array
    values: Array
    lift_off: float

    @property
    def mean(self) -> Array:
        """Over the strides."""
        return np.asarray(self.values.mean(axis=0))

    @property
    def low(self) -> Array:
        """The least of all strides."""
        return np.asarray(self.values.min(axis=0))

    @property
    def high(self) -> Array:
        """The largest of all strides."""
        return np.asarray(self.values.max(axis=0))


def cycles(walk: Walked, values: ArrayLike, side: Side, count: int = COUNT) -> Cycles:
    """Values (n, ...) over the steady strides of one foot, which begin and end at its touchdowns.

    ``share = 100 (t - t_k) / (t_{k+1} - t_k)``, linearly between the samples.

    >>> cycles(walk, recording["q/left_knee_joint"], "left").mean.max()
    """
    given = np.asarray(values, dtype=np.float64)
    if len(given) != len(walk.heading):
        raise RecordingError(f"{len(given)} values for a walk of {len(walk.heading)} samples; give one for each")
    window = walk.window
    prints = [step.after for step in walk.steps if step.side == side]
    inside = [each for each in prints if window.start <= each.begin <= window.stop]
    share = np.linspace(0.0, 100.0, count)
    rows, ends = [np.zeros((0, count, *given.shape[1:]))], []
    for one, two in itertools.pairwise(inside):
        at = one.begin + share / 100.0 * (two.begin - one.begin)
        before = np.minimum(at.astype(int), len(given) - 2)
        w = (at - before).reshape(-1, *[1] * (given.ndim - 1))
        rows.append(((1.0 - w) * given[before] + w * given[before + 1])[np.newaxis])
        ends.append(100.0 * (one.end - one.begin) / (two.begin - one.begin))
    return Cycles(share, np.concatenate(rows), float(np.mean(ends)) if ends else np.nan)
