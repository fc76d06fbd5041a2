"""Phases and cycles of a recorded motion: segmentation, time normalisation, cycle-to-cycle differences."""

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

#: A motion that changes its tasks more often than this has no phases that a page could show.
MAX_PHASES = 60


class MotionPhase(NamedTuple):
    """A part of a motion: its name, when it begins and when it ends (s)."""

    name: str
    begin: float
    end: float


def find_phases(recording: Recording) -> tuple[MotionPhase, ...]:
    """The phases of a motion, one after the other, without gaps; empty if nothing tells of any.

    Where the recording has a channel ``phase``, its words are the names. Else a phase is a stretch in which the same
    tasks were asked for, named after those of them that are not asked for in every phase.

    >>> [phase.name for phase in find_phases(recording)]
    ['lift', 'swing', 'land']
    """
    if not len(recording):
        return ()
    words = [str(word) for word in recording["phase"]] if "phase" in recording else _active_tasks(recording)
    if not any(words):
        return ()
    starts = [0, *(i for i in range(1, len(words)) if words[i] != words[i - 1])]
    if len(starts) > MAX_PHASES:
        return ()
    time, last = recording.time, float(recording.time[-1])
    ends = [*(float(time[i]) for i in starts[1:]), last + (recording.period if len(recording) > 1 else 0.0)]
    return tuple(MotionPhase(words[i], float(time[i]), end) for i, end in zip(starts, ends, strict=True))


def _active_tasks(recording: Recording) -> list[str]:
    """Per sample the names of the tasks that are asked for then, without those that always are."""
    channels = [name for name in recording.channels if name.startswith("error_norm/")]
    active = np.array([~np.isnan(recording[name]) for name in channels]).reshape(len(channels), len(recording))
    # Where a fallback spoke no task is known: what was asked before goes on.
    unknown = ~active.any(axis=0)
    before = np.maximum.accumulate(np.where(unknown, 0, np.arange(len(recording))))
    active = active[:, before]
    changing = [k for k in range(len(channels)) if not active[k].all()]
    names = [recording.channels[channels[k]].label.split("/", 2)[-1] for k in changing]
    patterns, inverse = np.unique(active[changing].T, axis=0, return_inverse=True) if changing else (None, None)
    if patterns is None:
        return [""] * len(recording)
    texts = [_join_names([name for name, on in zip(names, pattern, strict=True) if on]) for pattern in patterns]
    return [texts[k] for k in np.asarray(inverse).ravel()]


def _join_names(names: Sequence[str]) -> str:
    return ", ".join(names)


# -- Time normalisation ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class NormalizedRecording:
    """A recording at equal steps of its progress, from 0 to 100 %.

    ``normalized["q"]`` holds the numbers of that channel at these steps, linearly between the samples; words and codes
    are those of the sample before. Where a number is missing on one side, it is missing between.

    Attributes:
        recording: what it is made from.
        percent: progress, %, equally spaced.
        time: when the motion is there, s.
        phases: with begin and end in %, if the scale was stretched phase by phase; else empty.
    """

    recording: Recording
    percent: Array
    time: Array
    phases: tuple[MotionPhase, ...]

    def __getitem__(self, name: str) -> Values:
        return self.at(self.recording[name])

    def at(self, values: ArrayLike) -> Values:
        """Values of one's own, one per sample of the recording, at the steps of `percent`."""
        clock = np.maximum.accumulate(self.recording.time)
        if len(np.asarray(values)) != len(clock):
            count = len(np.asarray(values))
            raise RecordingError(f"{count} values for a recording of {len(clock)} samples; give one for each")
        return resample(clock, values, self.time)


def normalize_recording(
    recording: Recording,
    count: int = HALF_PERCENT_SAMPLES,
    phases: Sequence[MotionPhase] = (),
    ends: Sequence[float] = (),
) -> NormalizedRecording:
    """A recording on the scale 0 to 100 %.

    As a whole, ``percent = 100 (t - t_0) / (t_n - t_0)``. With phases, phase k of the recording takes the scale from
    ``ends[k-1]`` to ``ends[k]``, so that phases of different recordings lie above each other.

    Args:
        recording: with two samples or more.
        count: how many steps.
        phases: its phases, see `poise.analysis.motion_phases`.
        ends: where each of them ends on the scale, %; the last at 100. By default as long as they are in time.

    >>> normalize_recording(recording, 101)["center_of_mass"].shape
    (101, 3)
    """
    if len(recording) < 2 or not recording.time[-1] > recording.time[0]:
        raise RecordingError(f"a recording of {len(recording)} samples has no duration to divide; give a longer one")
    first, last = float(recording.time[0]), float(recording.time[-1])
    percent = np.linspace(0.0, 100.0, count)
    if not phases:
        return NormalizedRecording(recording, percent, first + percent / 100.0 * (last - first), ())
    times = np.array([first, *(phase.end for phase in phases[:-1]), last])
    marks = 100.0 * (times - first) / (last - first) if not len(ends) else np.array([0.0, *ends])
    if len(marks) != len(times) or not (np.diff(marks) > 0.0).all() or not np.isclose(marks[-1], 100.0):
        raise RecordingError(f"ends of phases are {list(ends)}; expected {len(phases)} that rise to 100")
    scaled = tuple(MotionPhase(p.name, float(a), float(b)) for p, a, b in zip(phases, marks, marks[1:], strict=False))
    return NormalizedRecording(recording, percent, np.interp(percent, marks, times), scaled)


def align_recordings(recordings: Sequence[Recording], count: int = HALF_PERCENT_SAMPLES) -> list[NormalizedRecording]:
    """Recordings on one scale: phase by phase if all have the same phases in the same order, else each as a whole.

    A phase takes as much of the scale as it takes of the recordings on average.
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


#: Of a cycle: what a clock that adds up periods may lack of its end.
CYCLE_TOLERANCE = 1e-6


class CyclePeriod(NamedTuple):
    """What a motion was asked to repeat: how long a cycle is (s), how many there were to be, and when it began (s)."""

    period: float
    cycles: int
    begin: float = 0.0


def cycle_period(recording: Recording) -> CyclePeriod | None:
    """Period and number of cycles of a squat, from the provenance of its recording; None of other behaviors.

    A recording keeps the settings that were given; the others are those of `poise.behaviors.SquatSettings`.

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
    begin = provenance.get("begin", 0.0)
    begin = float(begin) if isinstance(begin, (int, float)) and 0.0 <= begin < math.inf else 0.0
    return CyclePeriod(1.0 / numbers["frequency"], int(numbers["cycles"] + CYCLE_TOLERANCE), begin)


def joint_angles(recording: Recording) -> tuple[tuple[str, ...], Array]:
    """Names of the joints that turn, and their angles (n, joints), rad: the true ones where sensors told others."""
    if "q" not in recording:
        return (), np.zeros((len(recording), 0))
    channel = recording.channels["q"]
    columns = [k for k in range(7, len(channel.labels)) if channel.units[k] == "rad"]
    return tuple(channel.labels[k] for k in columns), true_state(recording, "q")[:, columns]


def cycle_difference(
    motion: Recording | ArrayLike, period: float, time: ArrayLike | None = None, begin: float = 0.0
) -> Array:
    """How far each cycle is from the one before, for each joint (rad): (cycles - 1, joints); no row below two cycles.

    With T the period, q_j the angle of joint j and t_0 the first sample, row k holds

        d_kj = sqrt( 1/T ∫ (q_j(t + T) - q_j(t))² dt ),   t from t_0 + k T to t_0 + (k + 1) T

    taken over as many instants as samples fit into a cycle, linearly between samples. Cycles that are not whole are
    left out. Over all joints together, a cycle differs by ``sqrt(mean_j d_kj²)``. NaN where an angle is not known.

    Args:
        motion: a recording, or angles (n, joints), rad.
        period: T, s.
        time: of the angles, s, rising; a recording has its own.
        begin: so many seconds at first are no cycle.

    >>> difference = cycle_difference(recording, cycle_period(recording).period)
    >>> np.sqrt(np.mean(difference**2, axis=1)) < 0.01  # of each cycle, all joints
    """
    if isinstance(motion, Recording):
        angles, clock = joint_angles(motion)[1], motion.time
    else:
        angles = np.asarray(motion, dtype=np.float64)
        clock = np.arange(0.0) if time is None else np.asarray(time, dtype=np.float64)
    if angles.ndim != 2 or len(angles) != len(clock):
        raise RecordingError(
            f"angles of shape {angles.shape} with {len(clock)} times; expected (n, joints) with time=, n of them"
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
