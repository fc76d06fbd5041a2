"""Key postures: the few moments of a gait cycle whose whole-body configurations are all that is known of the joints.

Notation as in `poise.analysis.gait_cycle`: A is the foot whose cycle it is, B the other; HS a strike, TO a toe-off.

| keys | moments after HS_A |
|---|---|
| "two" | HS_B, HS_A: the ends of the two steps, for which the paper reports a straight knee in swing |
| "four" | TO_B, HS_B, TO_A, HS_A: the ends of the four phases of [Boukheddimi2019] |
| "six" | TO_B, peak of B's knee, HS_B, TO_A, peak of A's knee, HS_A: the swing is given its own posture |
| "eight" | the same, and between peak and strike of each swing the moment at which the shank is upright |
"""

from __future__ import annotations

import itertools
from typing import Literal, NamedTuple, get_args

import numpy as np
import pinocchio
from numpy.typing import NDArray

from poise.analysis.gait_cycle import Cycle
from poise.analysis.gait_error import GaitError
from poise.human.gait.reference import Reference
from poise.robots.parts import Side

Array = NDArray[np.float64]
KeyKind = Literal["two", "four", "six", "eight"]

#: Steps in which the moments of a swing are searched, s.
FINE = 0.001


class Key(NamedTuple):
    """A posture of the reference: when (s), what it is called, configuration (nq), velocity and acceleration (nv)."""

    time: float
    name: str
    q: Array
    v: Array
    a: Array


def keys(reference: Reference, cycle: Cycle, kind: KeyKind = "four") -> tuple[Key, ...]:
    """The posture at the begin of a cycle, which is where a reproduction starts, and then its key postures.

    >>> [key.name for key in keys(reference, reference.cycle("right"), "two")]
    ['right strike', 'left strike', 'next right strike']
    """
    if kind not in get_args(KeyKind):
        raise GaitError(f"key postures {kind!r}; expected one of {', '.join(get_args(KeyKind))}")
    a, b = cycle.side, _other(cycle.side)
    moments = [
        (cycle.strike, f"{a} strike"),
        (cycle.opposite_strike, f"{b} strike"),
        (cycle.next_strike, f"next {a} strike"),
    ]
    if kind != "two":
        moments += [(cycle.opposite_off, f"{b} toe-off"), (cycle.off, f"{a} toe-off")]
    if kind in ("six", "eight"):
        swings: tuple[tuple[Side, float, float], ...] = (
            (b, cycle.opposite_off, cycle.opposite_strike),
            (a, cycle.off, cycle.next_strike),
        )
        for side, begin, end in swings:
            peak = knee_peak(reference, side, begin, end)
            moments.append((peak, f"{side} knee peak"))
            if kind == "eight":
                moments.append((shank_upright(reference, side, peak, end), f"{side} shank upright"))
    found = [Key(time, name, *reference.sample(time)) for time, name in sorted(moments)]
    for one, two in itertools.pairwise(found):
        if not two.time > one.time:
            raise GaitError(f"the keys '{one.name}' and '{two.name}' are both at {one.time:.3f} s; give another cycle")
    return tuple(found)


def knee_peak(reference: Reference, side: Side, begin: float, end: float) -> float:
    """When a knee is bent most between two times, s, to the millisecond; strictly between them."""
    at, angle = _between(side, begin, end), reference.robot.joint(f"{side}_knee_flexion").q
    return float(at[int(np.argmax([reference.drawn(float(time))[0][angle] for time in at]))])


def shank_upright(reference: Reference, side: Side, begin: float, end: float) -> float:
    """When a shank, swinging forward, is most upright between two times, s: the end of the middle of the swing."""
    at, data = _between(side, begin, end), reference.robot.model.createData()
    shank = reference.robot.frame(f"{side}_shank").index

    def upright(time: float) -> float:
        pinocchio.forwardKinematics(reference.robot.model, data, reference.sample(time)[0])
        return float(pinocchio.updateFramePlacement(reference.robot.model, data, shank).rotation[2, 2])

    return float(at[int(np.argmax([upright(float(time)) for time in at]))])


def _between(side: Side, begin: float, end: float) -> Array:
    at = np.arange(begin + FINE, end - FINE / 2.0, FINE)
    if not len(at):
        raise GaitError(f"a swing of the {side} foot from {begin:.3f} to {end:.3f} s; expected one that lasts")
    return at


def _other(side: Side) -> Side:
    return "left" if side == "right" else "right"
