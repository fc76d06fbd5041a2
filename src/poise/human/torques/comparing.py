"""Comparing: the torques of a person who walked against those of any robot that did ([Saab2012] section 4.2)."""

from __future__ import annotations

import itertools

import numpy as np

from poise.analysis.anatomy import leg_length, turnings
from poise.analysis.stride_comparison import StrideComparison, compare_strides
from poise.analysis.strides import Span, Strides, strides_of
from poise.errors import RecordingError
from poise.human.torques.inverse import Torques
from poise.human.torques.moved import Array, Marks
from poise.recording import Recording
from poise.recording.whose import named_robot
from poise.robots import Robot
from poise.robots.parts import SIDES, Side

#: A foot that leaves the ground or stands for less than this, s, has not: no step is so short.
SHORTEST = 0.1
#: From one touchdown to the next no more than this passes in a walk, s.
LONGEST = 3.0


def human_strides(torques: Torques, name: str = "human") -> Strides:
    """The strides of a person, from the frames at which feet come to stand and leave the ground.

    Torques that are not known, because a foot is beside the plates, are NaN: one stride with a foot whole on a plate is
    enough for a leg, and both legs tell of the same walk.
    """
    spans = []
    for side in SIDES:
        spans += _spans(torques.time, torques.ground.stands[side], side)
    angle, torque = {}, {}
    for own in turnings(torques.robot):
        angle[own.side, own.rotation] = own.sign * torques.q[:, own.joint.q]
        torque[own.side, own.rotation] = own.sign * torques.of(own.joint.name)
    return Strides(name, torques.mass, leg_length(torques.robot), torques.time, tuple(spans), angle, torque)


def compare_walks(
    torques: Torques, recording: Recording, robot: Robot | None = None, cutoff: float | None = None
) -> StrideComparison:
    """A robot's walk against a person's, over the gait cycle, joint by joint.

    Args:
        torques: of the person.
        recording: of the robot, with torques.
        robot: whose recording it is; by default that which it names.
        cutoff: of a low-pass filter on the robot's torques (Hz). The person's motion was filtered, at 6 Hz as a rule: a
            part of the person's smoothness is the filter's. With the same cut-off here that part is in both.

    >>> found = compare_walks(inverse_dynamics(fit(walk, static)), poise.load_recording("g1_walk.poise"))
    >>> {row.rotation: round(row.torque.correlation, 2) for row in found.rows}["ankle dorsiflexion"]
    """
    owner = robot or recording.robot or named_robot(recording.provenance)
    if isinstance(owner, str):
        raise RecordingError(f"whose recording it is cannot be told: {owner}; give its robot")
    return compare_strides(strides_of(recording, owner, cutoff=cutoff), human_strides(torques))


def _spans(time: Array, stands: Marks, side: Side) -> list[Span]:
    """Strides between the frames at which a foot comes to stand; what is too short to be a step does not count."""
    edges = [0, *(np.flatnonzero(np.diff(stands.astype(np.int8))) + 1).tolist(), len(time)]
    runs = [[a, b, bool(stands[a])] for a, b in itertools.pairwise(edges)]
    merged: list[list[int]] = []
    for begin, end, on in runs:
        inner = begin > 0 and end < len(time)
        if merged and (merged[-1][2] == on or (inner and time[end] - time[begin] < SHORTEST)):
            merged[-1][1] = end
        else:
            merged.append([begin, end, on])
    stances = [(begin, end) for begin, end, on in merged if on]
    found = []
    for (begin, off), (again, _) in itertools.pairwise(stances):
        if begin > 0 and time[again] - time[begin] < LONGEST:
            found.append(Span(side, float(time[begin]), float(time[off]), float(time[again])))
    return found
