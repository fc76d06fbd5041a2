"""Normalising: motions of different length on one scale, 0 to 100 % of the motion or phase by phase."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poise.analysis.phases import Phase, phases
from poise.errors import RecordingError
from poise.recording import Recording
from poise.recording.channel import Values

Array = NDArray[np.float64]

#: Samples from 0 to 100 %: one for each half per cent, so that a peak in a phase of a tenth keeps its shape.
COUNT = 201


@dataclass(frozen=True, eq=False)
class Normalised:
    """A recording at equal steps of its progress, from 0 to 100 %.

    ``normalised["q"]`` holds the numbers of that channel at these steps, linearly between the samples; words and codes
    are those of the sample before. Where a number is missing on one side, it is missing between.

    Attributes:
        recording: what it is made from.
        share: progress, %, equally spaced.
        time: when the motion is there, s.
        phases: with begin and end in %, if the scale was stretched phase by phase; else empty.
    """

    recording: Recording
    share: Array
    time: Array
    phases: tuple[Phase, ...]

    def __getitem__(self, name: str) -> Values:
        return self.at(self.recording[name])

    def at(self, values: ArrayLike) -> Values:
        """Values of one's own, one per sample of the recording, at the steps of `share`."""
        given = np.asarray(values)
        clock = np.maximum.accumulate(self.recording.time)
        if len(given) != len(clock):
            raise RecordingError(f"{len(given)} values for a recording of {len(clock)} samples; give one for each")
        before = np.clip(np.searchsorted(clock, self.time, side="right") - 1, 0, len(clock) - 1)
        if given.dtype.kind != "f":
            return given[before]
        after = np.minimum(before + 1, len(clock) - 1)
        step = clock[after] - clock[before]
        w = np.where(step > 0.0, (self.time - clock[before]) / np.where(step > 0.0, step, 1.0), 0.0)
        w = np.clip(w, 0.0, 1.0).reshape(-1, *[1] * (given.ndim - 1))
        return np.where(w == 0.0, given[before], (1.0 - w) * given[before] + w * given[after])


def normalised(
    recording: Recording, count: int = COUNT, parts: Sequence[Phase] = (), ends: Sequence[float] = ()
) -> Normalised:
    """A recording on the scale 0 to 100 %.

    As a whole, ``share = 100 (t - t_0) / (t_n - t_0)``. With phases, phase k of the recording takes the scale from
    ``ends[k-1]`` to ``ends[k]``, so that phases of different recordings lie above each other.

    Args:
        recording: with two samples or more.
        count: how many steps.
        parts: its phases, see `poise.analysis.phases`.
        ends: where each of them ends on the scale, %; the last at 100. By default as long as they are in time.

    >>> normalised(recording, 101)["center_of_mass"].shape
    (101, 3)
    """
    if len(recording) < 2 or not recording.time[-1] > recording.time[0]:
        raise RecordingError(f"a recording of {len(recording)} samples has no duration to divide; give a longer one")
    first, last = float(recording.time[0]), float(recording.time[-1])
    share = np.linspace(0.0, 100.0, count)
    if not parts:
        return Normalised(recording, share, first + share / 100.0 * (last - first), ())
    times = np.array([first, *(part.end for part in parts[:-1]), last])
    marks = 100.0 * (times - first) / (last - first) if not len(ends) else np.array([0.0, *ends])
    if len(marks) != len(times) or not (np.diff(marks) > 0.0).all() or not np.isclose(marks[-1], 100.0):
        raise RecordingError(f"ends of phases are {list(ends)}; expected {len(parts)} that rise to 100")
    scaled = tuple(Phase(p.name, float(a), float(b)) for p, a, b in zip(parts, marks, marks[1:], strict=False))
    return Normalised(recording, share, np.interp(share, marks, times), scaled)


def aligned(recordings: Sequence[Recording], count: int = COUNT) -> list[Normalised]:
    """Recordings on one scale: phase by phase if all have the same phases in the same order, else each as a whole.

    A phase takes as much of the scale as it takes of the recordings on average.
    """
    parts = [phases(recording) for recording in recordings]
    names = {tuple(part.name for part in own) for own in parts}
    if len(names) != 1 or len(parts[0]) < 2:
        return [normalised(recording, count) for recording in recordings]
    lengths = np.array([[part.end - part.begin for part in own] for own in parts])
    mean = (lengths / lengths.sum(axis=1, keepdims=True)).mean(axis=0)
    ends = (100.0 * np.cumsum(mean) / mean.sum()).tolist()
    return [normalised(recording, count, own, ends) for recording, own in zip(recordings, parts, strict=True)]
