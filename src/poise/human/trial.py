"""Motion-capture trial: markers, gait events, force plates and subject in SI units; gap filling and filtering."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.analysis import GaitEvent, low_pass
from poise.arrays import Array
from poise.errors import PoiseError, near_misses, suggestion
from poise.extras import scipy


class TrialError(PoiseError, ValueError):
    """Invalid file, trial or marker set.

    Attributes:
        path: the file (``""`` if there is none).
        element: the marker, channel, column, key or line with the error (``""`` for the whole file).
        near: existing names that are similar to the requested one, the closest first.
    """

    def __init__(self, message: str, *, path: str = "", element: str = "", near: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.path = path
        self.element = element
        self.near = near


def trial_error(path: object, complaint: str, element: str = "") -> TrialError:
    """Return the error for a file on one line: its path, then what is wrong."""
    line = " ".join(str(complaint).split())
    return TrialError(f"{path}: {line}", path=str(path), element=element)


# -- Trial -----------------------------------------------------------------------------------------------------------


#: Largest frame rate (Hz): higher than any camera, and numerically safe for the filters.
HIGHEST_FRAME_RATE = 1e6


@dataclass(frozen=True)
class Subject:
    """The person measured; None where unknown. Mass in kg, height in m, sex ``"male"`` or ``"female"``."""

    name: str = ""
    mass: float | None = None
    height: float | None = None
    sex: str | None = None


@dataclass(frozen=True, eq=False)
class ForcePlate:
    """A force plate, averaged to the frames of the markers (mean over the samples around the time of a frame).

    The wrench on the body is a force F through the centre of pressure c and a moment τ about it that is normal to the
    plate; about a point p of the world it is ``(F, (c - p) x F + τ)``.

    Attributes:
        name: e.g. ``"plate 1"``.
        corners: 4 x 3, m; 0 x 3 if the file does not say where the edges are.
        force: n x 3, N, on the body, upwards under a standing person; zero while unloaded.
        center_of_pressure: n x 3, m, on the plate; zero while unloaded.
        free_moment: n x 3, N m, on the body; zero while unloaded.
    """

    name: str
    corners: Array
    force: Array
    center_of_pressure: Array
    free_moment: Array

    def during(self, frames: slice) -> ForcePlate:
        """Return the plate in a range of frames."""
        return ForcePlate(
            self.name, self.corners, self.force[frames], self.center_of_pressure[frames], self.free_moment[frames]
        )


@dataclass(frozen=True, eq=False)
class Trial:
    """A motion-capture trial: markers over time, with events, force plates and stored results.

    Attributes:
        path: the file that it was read from, or any name.
        rate: frame rate (Hz).
        time: n, s, begins at 0.
        labels: names of the m markers, unique.
        positions: n x m x 3, m, z up; NaN in gaps.
        events: in order of time.
        plates: force plates.
        subject: the person measured.
        angles: joint angles stored in the file by the laboratory's software, n x 3 in degrees, by name.
        moments: likewise joint moments, n x 3 as stored (Plug-in Gait: N mm per kg).
        notes: remarks on reading and processing, one sentence each.
        computed_points: points computed by the laboratory's software, n x 3 in m: centre of mass, segments.
        start: time of the first frame on the clock of the file (s).

    >>> trial = read_trial("walk.c3d")
    >>> trial.marker("LASI")[0], trial.events[0]
    (array([0.031, 0.369, 1.011]), GaitEvent(time=0.02, side='left', kind='initial_contact'))
    """

    path: str
    rate: float
    time: Array
    labels: tuple[str, ...]
    positions: Array
    events: tuple[GaitEvent, ...] = ()
    plates: tuple[ForcePlate, ...] = ()
    subject: Subject = Subject()
    angles: Mapping[str, Array] = field(default_factory=dict)
    moments: Mapping[str, Array] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    computed_points: Mapping[str, Array] = field(default_factory=dict)
    start: float = 0.0

    def __post_init__(self) -> None:
        n, m = len(self.time), len(self.labels)
        if np.shape(self.positions) != (n, m, 3):
            raise self._error(f"positions are {np.shape(self.positions)}; expected {n} frames x {m} labels x 3")
        if not (np.isfinite(self.rate) and 0.0 < self.rate <= HIGHEST_FRAME_RATE):
            raise self._error(f"a rate of {self.rate} Hz; expected a positive number, at most 1e6")
        if len(set(self.labels)) != m:
            repeated = next(label for label in self.labels if self.labels.count(label) > 1)
            raise TrialError(f"{self.path}: marker '{repeated}' occurs twice; expected unique labels", element=repeated)
        for name, values in {**self.angles, **self.moments, **self.computed_points}.items():
            if np.shape(values) != (n, 3):
                raise self._error(f"'{name}' is {np.shape(values)}; expected {n} frames x 3")
        for plate in self.plates:
            if {np.shape(plate.force), np.shape(plate.center_of_pressure), np.shape(plate.free_moment)} != {(n, 3)}:
                raise self._error(f"{plate.name} is {np.shape(plate.force)}; expected {n} frames x 3")

    def marker(self, label: str) -> Array:
        """Return the positions of one marker, n x 3."""
        if label not in self.labels:
            near = near_misses(label, self.labels)
            hint = suggestion(label, self.labels, max_matches=3, max_listed=20)
            raise TrialError(f"{self.path}: no marker '{label}'; {hint}", path=self.path, element=label, near=near)
        return self.positions[:, self.labels.index(label)]

    def cut(self, first: float, last: float) -> Trial:
        """Return the frames between two times (s, both included), with time beginning at 0."""
        half = 0.5 / self.rate
        inside = np.flatnonzero((self.time > first - half) & (self.time < last + half))
        if not len(inside):
            raise self._error(f"no frame between {first:g} and {last:g} s; the trial lasts {self.duration:.3g} s")
        frames = slice(int(inside[0]), int(inside[-1]) + 1)
        start, end = float(self.time[frames][0]), float(self.time[frames][-1])
        events = (
            dataclasses.replace(e, time=e.time - start) for e in self.events if start - half < e.time < end + half
        )
        return self.replace(
            time=self.time[frames] - start,
            positions=self.positions[frames],
            events=tuple(events),
            plates=tuple(plate.during(frames) for plate in self.plates),
            **{
                field_name: _rows(getattr(self, field_name), frames)
                for field_name in ("angles", "moments", "computed_points")
            },
            notes=(*self.notes, f"Cut to {start:.3f} .. {end:.3f} s."),
            start=self.start + start,
        )

    def replace(self, **fields: Any) -> Trial:
        """Return a copy with other values of some attributes."""
        return dataclasses.replace(self, **fields)

    @property
    def duration(self) -> float:
        """Duration from the first frame to the last (s)."""
        return float(self.time[-1] - self.time[0]) if len(self.time) else 0.0

    def _error(self, complaint: str) -> TrialError:
        return TrialError(f"{self.path}: {complaint}", path=self.path)


def _rows(channels: Mapping[str, Array], frames: slice) -> dict[str, Array]:
    return {name: values[frames] for name, values in channels.items()}


# -- Gap filling and filtering -----------------------------------------------------------------------------------------


#: Number of frames on either side of a gap from which it is interpolated.
SPLINE_NEIGHBOURS = 8


def fill_gaps(trial: Trial, longest: float = 0.1) -> Trial:
    """Fill gaps up to a duration (s) by cubic splines through the frames around them.

    On walks at 100 Hz with frames removed on purpose, these splines have errors of 0.1, 0.3 and 1.0 mm (RMS of the
    worst frame of a gap) over 20, 50 and 100 ms; monotone cubics (PCHIP) have 0.2, 0.8 and 3.0 mm.

    Longer gaps, and those at the beginning and the end, remain NaN. The notes report filled and remaining gaps.

    >>> fill_gaps(trial).notes[-1]
    'Gaps up to 0.1 s filled: 3 in LASI, 1 in RTOE.'
    """
    if not (math.isfinite(longest) and longest >= 0.0):
        raise trial_error(trial.path, f"longest is {longest!r}; expected a non-negative number of seconds", "longest")
    positions = np.array(trial.positions)
    longest_frames = math.floor(longest * trial.rate + 1e-6)
    counts: dict[str, int] = {}
    remaining: dict[str, float] = {}
    for i, label in enumerate(trial.labels):
        visible = _visible_frames(positions[:, i])
        positions[~visible, i] = np.nan
        for first, end in _true_intervals(~visible):
            if end - first > longest_frames or first == 0 or end == len(visible):
                remaining[label] = max(remaining.get(label, 0.0), (end - first) / trial.rate)
                continue
            known = np.flatnonzero(visible[max(0, first - SPLINE_NEIGHBOURS) : end + SPLINE_NEIGHBOURS]) + max(
                0, first - SPLINE_NEIGHBOURS
            )
            positions[first:end, i] = _interpolate(known, positions[:, i], np.arange(first, end))
            counts[label] = counts.get(label, 0) + 1
    notes = []
    if counts:
        notes.append(
            f"Gaps up to {longest:g} s filled: {_join_limited(f'{n} in {label}' for label, n in counts.items())}."
        )
    if remaining:
        longer = _join_limited(f"{label} ({seconds:.2f} s)" for label, seconds in remaining.items())
        notes.append(f"Gaps not filled, too long or at an end: {longer}.")
    return trial.replace(positions=positions, notes=(*trial.notes, *notes))


def low_pass_markers(trial: Trial, cutoff: float = 6.0) -> Trial:
    """Filter the markers with a zero-phase second-order Butterworth low-pass (forward and backward).

    The amplitude at the cut-off (Hz) is 1/√2 after both passes. Each interval between gaps is filtered separately, and
    gaps are not filled. 6 Hz is usual for walking.

    >>> low_pass_markers(trial, 10.0).notes[-1]
    'Markers low-pass filtered at 10 Hz (second-order Butterworth, zero-phase).'
    """
    if not (math.isfinite(cutoff) and 0.0 < cutoff < 0.5 * trial.rate):
        half = 0.5 * trial.rate
        raise trial_error(
            trial.path, f"cut-off of {cutoff!r} Hz; expected above 0 and below {half:g} Hz, half the rate", "cutoff"
        )
    positions = np.array(trial.positions)
    for i in range(len(trial.labels)):
        for first, end in _true_intervals(_visible_frames(positions[:, i])):
            positions[first:end, i] = low_pass(positions[first:end, i], trial.rate, cutoff)
    note = f"Markers low-pass filtered at {cutoff:g} Hz (second-order Butterworth, zero-phase)."
    return trial.replace(positions=positions, notes=(*trial.notes, note))


def _interpolate(known: NDArray[np.int_], values: Array, frames: NDArray[np.int_]) -> Array:
    """Interpolate values at frames between known ones."""
    if len(known) < 4:
        return np.stack([np.interp(frames, known, values[known, k]) for k in range(3)], axis=1)
    interpolated: Array = scipy.interpolate.CubicSpline(known, values[known])(frames)
    return interpolated


def _visible_frames(positions: Array) -> NDArray[np.bool_]:
    """Return the frames in which a marker has all three coordinates."""
    return np.asarray(np.isfinite(positions).all(axis=1), dtype=bool)


def _true_intervals(mask: NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    """Iterate over the intervals in which the mask is true: first frame, and the frame after the last."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(int)))
    yield from zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)


def _join_limited(texts: Iterator[str]) -> str:
    items = list(texts)
    return ", ".join(items[:8]) + (f" and {len(items) - 8} more markers" if len(items) > 8 else "")
