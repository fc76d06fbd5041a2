"""Plates: one under each step of a sample walk, with forces that make exactly the motion that was walked.

The wrench of the ground as a whole follows from the motion. On one foot it is that foot's. On two it goes over from one
to the other linearly in time: with w the share of the leading foot and p the zero-moment point,

    F_1 = (1 - w) F,  F_2 = w F,  p_i = c_i + d,  d = p - (1 - w) c_1 - w c_2

where c_1 and c_2 are where p was when the leading foot landed and where it will be when the other one leaves: so both
centres of pressure go on without a jump, and the sum of both wrenches is the whole.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from poise.human.sample.motion import PeriodicMotion
from poise.human.sample.treading import OFF
from poise.human.sample.walk import ground_wrench
from poise.human.trial import Event, Plate
from poise.robots.parts import Side

Array = NDArray[np.float64]

#: Width of a plate (m), and its length as a share of the step, so that plates do not lie on each other.
WIDTH, LENGTH = 0.40, 0.94


class Step(NamedTuple):
    """One stance of a foot: its side, and the phases of the walk at which it strikes and leaves."""

    side: Side
    strike: float
    off: float


def steps(first: float, last: float) -> list[Step]:
    """The stances that lie at least partly between two phases, in the order of their strikes."""
    numbers = range(math.floor(2.0 * (first - OFF)), math.ceil(2.0 * last) + 1)
    every = [Step("left" if k % 2 else "right", k / 2.0, k / 2.0 + OFF) for k in numbers]
    return [step for step in every if step.off > first and step.strike < last]


def events(motion: PeriodicMotion, last: float) -> tuple[Event, ...]:
    """Strikes and toe-offs from time 0 to a last one (s), as the walk was made."""
    end = motion.start + last / motion.period
    found = []
    for step in steps(motion.start, end):
        for phase, kind in ((step.strike, "strike"), (step.off, "off")):
            if motion.start <= phase <= end:
                found.append(Event((phase - motion.start) * motion.period, step.side, kind))  # type: ignore[arg-type]
    return tuple(sorted(found, key=lambda event: event.time))


def plates_under(motion: PeriodicMotion, time: Array) -> tuple[Plate, ...]:
    """A plate for each step at times (n, s); together they carry the body at every instant."""
    n = len(time)
    phase = motion.start + time / motion.period
    force, point, moment = ground_wrench(motion, time)
    own = steps(float(phase[0]), float(phase[-1]))
    share = np.zeros((len(own), n))
    center = np.zeros((len(own), n, 2))
    for k, step in enumerate(own):
        share[k] = np.minimum(
            _ramp(phase, step.strike, OFF - 0.5), 1.0 - _ramp(phase, step.off - (OFF - 0.5), OFF - 0.5)
        )
        share[k][(phase < step.strike) | (phase >= step.off)] = 0.0
        center[k] = point
    for (i, one), (j, two) in itertools.pairwise(enumerate(own)):
        both = (phase >= two.strike) & (phase < one.off)
        ends = (np.array([two.strike, one.off]) - motion.start) * motion.period
        c1, c2 = ground_wrench(motion, ends)[1]
        w = share[j][both][:, np.newaxis]
        share[i][both] = 1.0 - share[j][both]
        d = point[both] - (1.0 - w) * c1 - w * c2
        center[i][both], center[j][both] = c1 + d, c2 + d
    found = []
    for k, step in enumerate(own):
        on = share[k] > 0.0
        flat = np.where(on[:, np.newaxis], np.column_stack([center[k], np.zeros(n)]), 0.0)
        turn = np.column_stack([np.zeros((n, 2)), share[k] * moment])
        found.append(Plate(f"plate {k + 1}", _corners(motion, step), share[k][:, np.newaxis] * force, flat, turn))
    return tuple(found)


def _ramp(phase: Array, begin: float, length: float) -> Array:
    return np.clip((phase - begin) / length, 0.0, 1.0)


def _corners(motion: PeriodicMotion, step: Step) -> Array:
    """Around the zero-moment point in the middle of the step's single support, (4, 3), m."""
    middle = (step.strike + step.off) / 2.0
    x, y = ground_wrench(replace(motion, start=0.0), np.array([middle * motion.period]))[1][0]
    half = LENGTH * motion.stride / 4.0
    signs = [(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)]
    return np.array([[x + a * half, y + b * WIDTH / 2.0, 0.0] for a, b in signs])
