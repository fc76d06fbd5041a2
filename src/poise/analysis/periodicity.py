"""Periodicity: whether a motion that is asked to repeat itself does so, cycle after cycle."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poise.behaviors import SquatSettings
from poise.errors import RecordingError
from poise.recording import Recording

Array = NDArray[np.float64]

#: Of a cycle: what a clock that adds up periods may lack of its end.
ROUNDING = 1e-6


class Rhythm(NamedTuple):
    """What a motion was asked to repeat: how long a cycle is (s), how many there were to be, and when it began (s)."""

    period: float
    cycles: int
    begin: float = 0.0


def rhythm(recording: Recording) -> Rhythm | None:
    """The rhythm of a squat, from the facts of its recording; None of what is not asked to repeat itself.

    A recording keeps the settings that were given; the others are those of `poise.behaviors.SquatSettings`.

    >>> rhythm(recording)
    Rhythm(period=2.0, cycles=10)
    """
    facts = recording.provenance
    if facts.get("behavior") != "squat":
        return None
    given = facts.get("settings")
    numbers = {"frequency": SquatSettings.frequency, "cycles": SquatSettings.cycles}
    if isinstance(given, Mapping):
        numbers |= {name: given[name] for name in numbers if name in given}
    if not all(isinstance(value, (int, float)) and 0.0 < value < math.inf for value in numbers.values()):
        return None
    begin = facts.get("begin", 0.0)
    begin = float(begin) if isinstance(begin, (int, float)) and 0.0 <= begin < math.inf else 0.0
    return Rhythm(1.0 / numbers["frequency"], int(numbers["cycles"] + ROUNDING), begin)


def joint_angles(recording: Recording) -> tuple[tuple[str, ...], Array]:
    """Names of the joints that turn, and their angles (n, joints), rad: the true ones where sensors told others."""
    if "q" not in recording:
        return (), np.zeros((len(recording), 0))
    channel = recording.channels["q"]
    columns = [k for k in range(7, len(channel.labels)) if channel.units[k] == "rad"]
    angles: Array = recording["q"][:, columns]
    if "true/q" in recording and recording.labels["true/q"] == channel.labels:
        truth: Array = recording["true/q"][:, columns]
        angles = np.where(np.isfinite(truth), truth, angles)
    return tuple(channel.labels[k] for k in columns), angles


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

    >>> difference = cycle_difference(recording, rhythm(recording).period)
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
    late = clock >= clock[0] + begin - ROUNDING if len(clock) else clock > 0.0
    angles, clock = angles[late], clock[late]
    step = float(np.median(np.diff(clock))) if len(clock) > 1 else 0.0
    if not step > 0.0:
        return np.zeros((0, angles.shape[1]))
    count = int(period / step + ROUNDING)
    cycles = int((clock[-1] - clock[0] + step) / period + ROUNDING)
    if count < 1 or cycles < 2:
        return np.zeros((0, angles.shape[1]))
    at = clock[0] + period * np.arange(cycles * count) / count
    values = np.stack([np.interp(at, clock, column) for column in angles.T], axis=1) if angles.size else angles
    apart = np.diff(values.reshape(cycles, count, angles.shape[1]), axis=0)
    return np.sqrt(np.mean(apart**2, axis=1))
