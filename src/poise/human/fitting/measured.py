"""Measured: the markers of one trial that a body has places for, with what is expected of each."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from poise.human.markers import Marker
from poise.human.trial import Trial

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Measured:
    """Markers of a trial in one order: labels of the trial, what they are, positions (n x m x 3, m; NaN in gaps)."""

    labels: tuple[str, ...]
    markers: tuple[Marker, ...]
    positions: Array

    @classmethod
    def of(cls, trial: Trial, found: Mapping[str, Marker], labels: tuple[str, ...] | None = None) -> Measured:
        """Those of the found markers that are ever seen; or exactly the given labels, NaN where the trial has none."""
        if labels is None:
            labels = tuple(label for label in found if np.isfinite(trial.marker(label)).all(axis=1).any())
        blank = np.full((len(trial.time), 3), np.nan)
        positions = np.stack([trial.marker(label) if label in trial.labels else blank for label in labels], axis=1)
        return cls(labels, tuple(found[label] for label in labels), positions)

    @property
    def weights(self) -> Array:
        return np.array([marker.weight for marker in self.markers])

    def landmarks(self) -> dict[str, Array]:
        """Positions by landmark (n x 3, m)."""
        return {
            marker.landmark: self.positions[:, k]
            for k, marker in enumerate(self.markers)
            if marker.landmark is not None
        }


def median(values: Array) -> Array:
    """Median over the first axis of what is there; NaN where nothing ever is."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a marker that is never seen is no news here
        return np.asarray(np.nanmedian(values, axis=0))
