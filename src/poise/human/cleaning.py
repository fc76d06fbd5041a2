"""Trials made fit for use: short gaps filled, noise taken off, and both said."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

from poise.analysis.low_pass import low_passed
from poise.human.errors import refused
from poise.human.trial import Trial

Array = NDArray[np.float64]

#: Frames on either side of a gap that its filling is made from.
NEIGHBOURS = 8


def filled(trial: Trial, longest: float = 0.1) -> Trial:
    """Fills gaps that are no longer than a time (s), by cubic splines through the frames around them.

    On walks at 100 Hz from which frames were taken on purpose, such splines miss them by 0.1, 0.3 and 1.0 mm (RMS
    of the worst frame of a gap) over 20, 50 and 100 ms; monotone cubics (PCHIP) by 0.2, 0.8 and 3.0 mm.

    Longer gaps, and those at the beginning and the end, stay NaN: there nobody knows. The notes say what was filled and
    what stays.

    >>> filled(trial).notes[-1]
    'Gaps up to 0.1 s filled: 3 in LASI, 1 in RTOE.'
    """
    if not (math.isfinite(longest) and longest >= 0.0):
        raise refused(trial.path, f"longest is {longest!r}; expected seconds, not negative", "longest")
    positions = np.array(trial.positions)
    most = math.floor(longest * trial.rate + 1e-6)
    done: dict[str, int] = {}
    stay: dict[str, float] = {}
    for i, label in enumerate(trial.labels):
        seen = _seen(positions[:, i])
        positions[~seen, i] = np.nan
        for first, end in _runs(~seen):
            if end - first > most or first == 0 or end == len(seen):
                stay[label] = max(stay.get(label, 0.0), (end - first) / trial.rate)
                continue
            known = np.flatnonzero(seen[max(0, first - NEIGHBOURS) : end + NEIGHBOURS]) + max(0, first - NEIGHBOURS)
            positions[first:end, i] = _between(known, positions[:, i], np.arange(first, end))
            done[label] = done.get(label, 0) + 1
    notes = []
    if done:
        notes.append(f"Gaps up to {longest:g} s filled: {_each(f'{n} in {label}' for label, n in done.items())}.")
    if stay:
        longer = _each(f"{label} ({seconds:.2f} s)" for label, seconds in stay.items())
        notes.append(f"Gaps that stay, longer or at an end: {longer}.")
    return trial.replace(positions=positions, notes=(*trial.notes, *notes))


def smoothed(trial: Trial, cutoff: float = 6.0) -> Trial:
    """Low-pass filters the markers: Butterworth of second order, forth and back, so that nothing is delayed.

    At the cut-off (Hz) the amplitude is 1/√2 after both passes. Each stretch between gaps is filtered by itself, and no
    gap is filled. 6 Hz is usual for walking.

    >>> smoothed(trial, 10.0).notes[-1]
    'Markers low-pass filtered at 10 Hz (Butterworth, second order, forth and back).'
    """
    if not (math.isfinite(cutoff) and 0.0 < cutoff < 0.5 * trial.rate):
        half = 0.5 * trial.rate
        raise refused(
            trial.path, f"cut-off of {cutoff!r} Hz; expected above 0 and below {half:g} Hz, half the rate", "cutoff"
        )
    positions = np.array(trial.positions)
    for i in range(len(trial.labels)):
        for first, end in _runs(_seen(positions[:, i])):
            positions[first:end, i] = low_passed(positions[first:end, i], trial.rate, cutoff)
    note = f"Markers low-pass filtered at {cutoff:g} Hz (Butterworth, second order, forth and back)."
    return trial.replace(positions=positions, notes=(*trial.notes, note))


def _between(known: NDArray[np.int_], values: Array, wanted: NDArray[np.int_]) -> Array:
    """Values at frames between known ones."""
    if len(known) < 4:
        return np.stack([np.interp(wanted, known, values[known, k]) for k in range(3)], axis=1)
    between: Array = CubicSpline(known, values[known])(wanted)
    return between


def _seen(positions: Array) -> NDArray[np.bool_]:
    """Frames in which a marker has all three coordinates."""
    return np.asarray(np.isfinite(positions).all(axis=1), dtype=bool)


def _runs(mask: NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    """First frame and the one behind the last of each stretch where the mask holds."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(int)))
    yield from zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)


def _each(words: Iterator[str]) -> str:
    items = list(words)
    return ", ".join(items[:8]) + (f" and {len(items) - 8} markers more" if len(items) > 8 else "")
