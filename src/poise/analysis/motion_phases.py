"""Phases and cycles of a recorded motion: segmentation, time normalization, cycle-to-cycle differences.

`find_phases` segments a recording, `normalize_recording` and `align_recordings` put recordings on a scale from 0 to
100 %, and `cycle_difference` measures how well a periodic motion repeats.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from poise.analysis.body_trajectories import true_state
from poise.analysis.signals import HALF_PERCENT_SAMPLES, resample
from poise.arrays import Array
from poise.behaviors import SquatSettings
from poise.errors import RecordingError
from poise.recording import Recording, Values

#: Largest number of phases; a motion whose tasks change more often is not segmented.
MAX_PHASES = 60


class MotionPhase(NamedTuple):
    """A part of a motion: name, start and end (s)."""

    name: str
    begin: float
    end: float


def find_phases(recording: Recording) -> tuple[MotionPhase, ...]:
    """Segment a motion into consecutive phases without gaps; empty if the recording has no phases.

    If the recording has a channel ``phase``, its texts are the names. Otherwise a phase is an interval with the same
    set of active tasks, named after those that are not active during the whole motion.

    >>> [phase.name for phase in find_phases(recording)]
    ['lift', 'swing', 'land']
    """
    if not recording.samples:
        return ()
    names = [str(word) for word in recording["phase"]] if "phase" in recording else _active_tasks(recording)
    if not any(names):
        return ()
    starts = [0, *(i for i in range(1, len(names)) if names[i] != names[i - 1])]
    if len(starts) > MAX_PHASES:
        return ()
    time, last = recording.time, float(recording.time[-1])
    ends = [*(float(time[i]) for i in starts[1:]), last + (recording.period if recording.samples > 1 else 0.0)]
    return tuple(MotionPhase(names[i], float(time[i]), end) for i, end in zip(starts, ends, strict=True))


def _active_tasks(recording: Recording) -> list[str]:
    """Return the names of the active tasks at each sample, without those that are always active."""
    channels = [name for name in recording.channels if name.startswith("error_norm/")]
    active = np.array([~np.isnan(recording[name]) for name in channels]).reshape(len(channels), recording.samples)
    # While a fallback controller is active no task is recorded: the previous tasks are assumed to continue.
    unknown = ~active.any(axis=0)
    before = np.maximum.accumulate(np.where(unknown, 0, np.arange(recording.samples)))
    active = active[:, before]
    changing = [k for k in range(len(channels)) if not active[k].all()]
    names = [recording.channels[channels[k]].label.split("/", 2)[-1] for k in changing]
    patterns, inverse = np.unique(active[changing].T, axis=0, return_inverse=True) if changing else (None, None)
    if patterns is None:
        return [""] * recording.samples
    texts = [_join_names([name for name, on in zip(names, pattern, strict=True) if on]) for pattern in patterns]
    return [texts[k] for k in np.asarray(inverse).ravel()]


def _join_names(names: Sequence[str]) -> str:
    return ", ".join(names)


# -- Time normalization ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class NormalizedRecording:
    """A recording resampled at equal steps of its progress, from 0 to 100 %.

    ``normalized["q"]`` returns that channel at these steps, interpolated linearly. Texts and codes are those of the
    previous sample. A value is NaN if one of its two neighboring samples is NaN.

    Attributes:
        recording: the source.
        percent: progress, %, equally spaced.
        time: time of the recording at each step, s.
        phases: phases with start and end in %, if the scale was stretched phase by phase; else empty.
    """

    recording: Recording
    percent: Array
    time: Array
    phases: tuple[MotionPhase, ...]

    def __getitem__(self, name: str) -> Values:
        return self.at(self.recording[name])

    def at(self, values: ArrayLike) -> Values:
        """Resample any values, one per sample of the recording, at the steps of `percent`."""
        clock = np.maximum.accumulate(self.recording.time)
        if len(np.asarray(values)) != len(clock):
            count = len(np.asarray(values))
            raise RecordingError(f"{count} values for a recording of {len(clock)} samples; expected one for each")
        return resample(clock, values, self.time)


def normalize_recording(
    recording: Recording,
    count: int = HALF_PERCENT_SAMPLES,
    phases: Sequence[MotionPhase] = (),
    ends: Sequence[float] = (),
) -> NormalizedRecording:
    """Resample a recording on the scale 0 to 100 %.

    Without phases, ``percent = 100 (t - t_0) / (t_n - t_0)``. With phases, phase k of the recording takes the scale
    from ``ends[k-1]`` to ``ends[k]``, so that the phases of different recordings coincide.

    Args:
        recording: with two samples or more.
        count: number of steps.
        phases: phases of the recording, see `find_phases`.
        ends: end of each phase on the scale, %, the last at 100; by default in proportion to their durations.

    >>> normalize_recording(recording, 101)["center_of_mass"].shape
    (101, 3)
    """
    if recording.samples < 2 or not recording.time[-1] > recording.time[0]:
        raise RecordingError(
            f"a recording of {recording.samples} samples has no duration; expected two samples or more"
        )
    first, last = float(recording.time[0]), float(recording.time[-1])
    percent = np.linspace(0.0, 100.0, count)
    if not phases:
        return NormalizedRecording(recording, percent, first + percent / 100.0 * (last - first), ())
    times = np.array([first, *(phase.end for phase in phases[:-1]), last])
    marks = 100.0 * (times - first) / (last - first) if not len(ends) else np.array([0.0, *ends])
    if len(marks) != len(times) or not (np.diff(marks) > 0.0).all() or not np.isclose(marks[-1], 100.0):
        raise RecordingError(f"ends of phases are {list(ends)}; expected {len(phases)} increasing values up to 100")
    scaled = tuple(MotionPhase(p.name, float(a), float(b)) for p, a, b in zip(phases, marks, marks[1:], strict=False))
    return NormalizedRecording(recording, percent, np.interp(percent, marks, times), scaled)


def align_recordings(recordings: Sequence[Recording], count: int = HALF_PERCENT_SAMPLES) -> list[NormalizedRecording]:
    """Resample recordings on one scale: phase by phase if all have the same sequence of phases, else each as a whole.

    The share of the scale that a phase takes is its mean share of the durations of the recordings.
    """
    phases = [find_phases(recording) for recording in recordings]
    names = {tuple(phase.name for phase in own) for own in phases}
    if len(names) != 1 or len(phases[0]) < 2:
        return [normalize_recording(recording, count) for recording in recordings]
    lengths = np.array([[phase.end - phase.begin for phase in own] for own in phases])
    mean = (lengths / lengths.sum(axis=1, keepdims=True)).mean(axis=0)
    ends = (100.0 * np.cumsum(mean) / mean.sum()).tolist()
    return [normalize_recording(recording, count, own, ends) for recording, own in zip(recordings, phases, strict=True)]


# -- Periodicity -----------------------------------------------------------------------------------------------------


#: Rounding tolerance, s or cycles, for clocks that add up sampling periods.
CYCLE_TOLERANCE = 1e-6


class CyclePeriod(NamedTuple):
    """Intended periodicity of a motion: period (s), number of cycles, and start of the first one (s)."""

    period: float
    cycles: int
    begin: float = 0.0


def cycle_period(recording: Recording) -> CyclePeriod | None:
    """Return period, number of cycles and start of a squat from the provenance of its recording; None for others.

    Provenance has only the settings that the user gave; the others default to `poise.behaviors.SquatSettings`.

    >>> cycle_period(recording)
    CyclePeriod(period=2.0, cycles=10)
    """
    provenance = recording.provenance
    if provenance.get("behavior") != "squat":
        return None
    settings = provenance.get("settings")
    numbers = {"frequency": SquatSettings.frequency, "cycles": SquatSettings.cycles}
    if isinstance(settings, Mapping):
        numbers |= {name: settings[name] for name in numbers if name in settings}
    if not all(isinstance(value, (int, float)) and 0.0 < value < math.inf for value in numbers.values()):
        return None
    begin = provenance.get("squat_begin", 0.0)
    begin = float(begin) if isinstance(begin, (int, float)) and 0.0 <= begin < math.inf else 0.0
    return CyclePeriod(1.0 / numbers["frequency"], int(numbers["cycles"] + CYCLE_TOLERANCE), begin)


def joint_angles(recording: Recording) -> tuple[tuple[str, ...], Array]:
    """Return names and angles (n, joints), rad, of the revolute joints; true angles if recorded, else measured ones."""
    if "q" not in recording:
        return (), np.zeros((recording.samples, 0))
    channel = recording.channels["q"]
    columns = [k for k in range(7, len(channel.labels)) if channel.units[k] == "rad"]
    return tuple(channel.labels[k] for k in columns), true_state(recording, "q")[:, columns]


def cycle_difference(
    motion: Recording | ArrayLike, period: float, time: ArrayLike | None = None, begin: float = 0.0
) -> Array:
    """Compute how far each cycle is from the previous one, for each joint (rad): (cycles - 1, joints).

    With T the period, q_j the angle of joint j and t_0 the first sample, row k is

        d_kj = sqrt( 1/T ∫ (q_j(t + T) - q_j(t))² dt ),   t from t_0 + k T to t_0 + (k + 1) T

    evaluated at as many instants as there are samples in a cycle, with linear interpolation. Incomplete cycles are
    left out; with fewer than two cycles there are no rows. NaN if an angle is unknown. The difference over all joints
    is ``sqrt(mean_j d_kj²)``.

    Args:
        motion: a recording, or angles (n, joints), rad.
        period: T, s.
        time: times of the angles, s, increasing; not needed for a recording.
        begin: seconds at the start of the motion that are skipped.

    >>> difference = cycle_difference(recording, cycle_period(recording).period)
    >>> np.sqrt(np.mean(difference**2, axis=1)) < 0.01  # over all joints, for each cycle
    """
    if isinstance(motion, Recording):
        angles, clock = joint_angles(motion)[1], motion.time
    else:
        angles = np.asarray(motion, dtype=np.float64)
        clock = np.arange(0.0) if time is None else np.asarray(time, dtype=np.float64)
    if angles.ndim != 2 or len(angles) != len(clock):
        raise RecordingError(
            f"angles of shape {angles.shape} with {len(clock)} times; expected (n, joints) with time= of length n"
        )
    if not (isinstance(period, (int, float)) and 0.0 < period < math.inf):
        raise RecordingError(f"the period is {period!r}; expected a positive number of seconds")
    after_begin = clock >= clock[0] + begin - CYCLE_TOLERANCE if len(clock) else clock > 0.0
    angles, clock = angles[after_begin], clock[after_begin]
    step = float(np.median(np.diff(clock))) if len(clock) > 1 else 0.0
    if not step > 0.0:
        return np.zeros((0, angles.shape[1]))
    count = int(period / step + CYCLE_TOLERANCE)
    cycles = int((clock[-1] - clock[0] + step) / period + CYCLE_TOLERANCE)
    if count < 1 or cycles < 2:
        return np.zeros((0, angles.shape[1]))
    at = clock[0] + period * np.arange(cycles * count) / count
    differences = np.diff(resample(clock, angles, at).reshape(cycles, count, angles.shape[1]), axis=0)
    return np.sqrt(np.mean(differences**2, axis=1))
