"""Phases of a reaching motion, found from the speed of a hand, for motions that were recorded without phases.

A person who reaches for several targets, as in section 3.1 of [Saab2012], moves a hand and holds it, again and again. A
reach lasts while the hand is faster than a twentieth of its largest speed, the usual threshold for arm movements; where
the hand only slows down between two targets, the slowest instant separates two reaches. The phases of a person and of a
robot found in this way have the same names, so that `compare_recordings` compares them one by one whatever their
durations.

[Saab2012] L. Saab, N. Mansard, P. Souères, J.-Y. Fourquet, M. Sreenivasa, Y. Nakamura. *Whole-body torques for
generating complex movements in humans and humanoids.* SYROCO, 2012.
"""

from __future__ import annotations

import itertools

import numpy as np

from poise.analysis.body_trajectories import compute_trajectories
from poise.analysis.motion_phases import MotionPhase
from poise.analysis.signals import low_pass, true_intervals
from poise.arrays import Array
from poise.errors import RecordingError
from poise.extras import scipy
from poise.recording import Recording, robot_from_provenance
from poise.robots import Robot, Side

#: Speed of the hand, as a share of its largest speed and in m/s, above which it reaches; the larger one counts.
MOVING_SHARE, MOVING_SPEED = 0.05, 0.03
#: Speed between two peaks, as a share of the smaller one, below which they are two reaches.
SLOW_SHARE = 0.25
#: Shortest distance (m) from start to end of a reach, and shortest pause between two reaches (s).
SHORTEST_REACH, SHORTEST_PAUSE = 0.10, 0.1
#: Cut-off of the filter on the velocity of the hand (Hz).
CUTOFF = 6.0


def find_reaches(time: Array, position: Array) -> tuple[tuple[float, float], ...]:
    """Return begin and end of each reach of a hand (s), in order of time.

    Args:
        time: n, s, at equal steps.
        position: n x 3, m, relative to the world or to the pelvis.

    >>> find_reaches(time, wrist)
    ((0.42, 1.31), (2.05, 2.88))
    """
    if len(time) < 4:
        return ()
    if not np.isfinite(position).all():
        raise RecordingError("the hand is not known in all frames; cut the motion to those in which it is")
    rate = (len(time) - 1) / float(time[-1] - time[0])
    speed = np.linalg.norm(low_pass(np.gradient(position, time, axis=0), rate, CUTOFF), axis=1)
    threshold = max(MOVING_SHARE * float(speed.max()), MOVING_SPEED)
    moving = speed > threshold
    for begin, end in true_intervals(~moving):
        if begin > 0 and end < len(moving) and end - begin < SHORTEST_PAUSE * rate:
            moving[begin:end] = True
    parts = [part for begin, end in true_intervals(moving) for part in _split_at_slow_instants(speed, begin, end)]
    return tuple(
        (float(time[begin]), float(time[end - 1]))
        for begin, end in parts
        if float(np.linalg.norm(position[end - 1] - position[begin])) >= SHORTEST_REACH
    )


def _split_at_slow_instants(speed: Array, begin: int, end: int) -> list[tuple[int, int]]:
    """Split an interval of frames where the speed falls well below that of the peaks on both sides."""
    peaks, _ = scipy.signal.find_peaks(np.concatenate([[0.0], speed[begin:end], [0.0]]))
    peaks = [begin + int(peak) - 1 for peak in peaks]
    cuts: list[int] = []
    kept = peaks[:1]
    for peak in peaks[1:]:
        slowest = kept[-1] + int(np.argmin(speed[kept[-1] : peak + 1]))
        if speed[slowest] < SLOW_SHARE * min(speed[kept[-1]], speed[peak]):
            cuts.append(slowest)
            kept.append(peak)
        elif speed[peak] > speed[kept[-1]]:
            kept[-1] = peak
    return list(itertools.pairwise([begin, *cuts, end]))


def reach_phases(recording: Recording, robot: Robot | None = None, hand: Side = "right") -> tuple[MotionPhase, ...]:
    """Return the phases of a reaching motion without gaps: "rest", "reach 1", "hold 1", "reach 2", "hold 2", ...

    The position of the hand counts relative to the base, so that steps are no reaches.

    Args:
        recording: of a person or a robot with hands.
        robot: robot of the recording; by default the one named in it.
        hand: side of the reaching hand.

    >>> [phase.name for phase in reach_phases(poise.load_recording("drink.poise"))]
    ['rest', 'reach 1', 'hold 1', 'reach 2', 'hold 2']
    """
    resolved = robot or recording.robot or robot_from_provenance(recording.provenance)
    if isinstance(resolved, str):
        raise RecordingError(f"robot of the recording is unknown: {resolved}; pass the robot")
    tracks = compute_trajectories(recording, resolved)
    relative = tracks.positions[:, tracks.parts.index(resolved.hand(hand))] - recording["q"][:, :3]
    reaches = find_reaches(recording.time, relative)
    if not reaches:
        raise RecordingError(f"the {hand} hand makes no reach of {SHORTEST_REACH:g} m or more; choose the other hand")
    time = recording.time
    edges, names = [float(time[0])], ["rest"]
    for k, (begin, end) in enumerate(reaches, 1):  # every phase lasts one sample or more, also at both ends
        edges += [max(begin, float(time[1])), min(end, float(time[-2]))]
        names += [f"reach {k}", f"hold {k}"]
    edges.append(float(time[-1]))
    return tuple(MotionPhase(name, *span) for name, span in zip(names, itertools.pairwise(edges), strict=True))
