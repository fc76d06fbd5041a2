"""Steps: a foot leaves the ground and comes down again, beyond or beside the other."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from poise.analysis.footprints import Footprint, FootTrack
from poise.robots.parts import Side


class Step(NamedTuple):
    """One foot from the ground to the ground.

    Attributes:
        side: of the foot that steps.
        before, after: where it stood and where it comes to stand.
        support: the other foot, which stands meanwhile.
        length: how far it lands beyond the other foot, m; negative behind.
        width: how far it lands beside the other foot, m; negative when the legs cross.
        height: how high the middle of its sole rises above the higher one of its two places, m.
        turn: of its toes against those of the other foot, rad, positive to the left.
        single: time in the air, s.
        double: time on both feet before, since the other foot touched down, s; NaN for the first step.
        duration: single and double support, s.

    With p the places of the feet, ψ the middle of their yaws and s = 1 for a left foot, -1 for a right one:

        (length, s width) = Rz(-ψ) (p_after - p_support)

    >>> [(step.side, round(step.length, 2)) for step in walked(recording, robot).steps]
    [('left', 0.15), ('right', 0.15)]
    """

    side: Side
    before: Footprint
    after: Footprint
    support: Footprint
    length: float
    width: float
    height: float
    turn: float
    single: float
    double: float
    duration: float


def steps(prints: Sequence[Footprint], feet: Sequence[FootTrack]) -> tuple[Step, ...]:
    """The steps between footprints, in the order of their touchdowns."""
    made = []
    for way in feet:
        own = [each for each in prints if each.side == way.foot.side]
        for before, after in itertools.pairwise(own):
            support = _support(prints, before, after)
            if support is not None:
                made.append(_step(before, after, support, way))
    return tuple(sorted(made, key=lambda step: step.after.begin))


def _support(prints: Sequence[Footprint], before: Footprint, after: Footprint) -> Footprint | None:
    """The other foot that stands while one swings: where it stands longest."""
    shared = {
        i: min(each.end, after.begin) - max(each.begin, before.end)
        for i, each in enumerate(prints)
        if each.side != after.side
    }
    most = max(shared, key=lambda i: shared[i], default=None)
    return prints[most] if most is not None and shared[most] > 0 else None


def _step(before: Footprint, after: Footprint, support: Footprint, way: FootTrack) -> Step:
    psi = 0.5 * (after.yaw + support.yaw)
    c, s = math.cos(psi), math.sin(psi)
    x, y, _ = after.place - support.place
    outward = 1.0 if after.side == "left" else -1.0
    top = float(np.nanmax(way.sole[before.end : after.begin, 2], initial=-math.inf))
    single = after.touchdown - before.lift_off
    double = before.lift_off - support.touchdown
    return Step(
        side=after.side,
        before=before,
        after=after,
        support=support,
        length=float(c * x + s * y),
        width=outward * float(c * y - s * x),
        height=top - float(max(before.place[2], after.place[2])),
        turn=after.yaw - support.yaw,
        single=single,
        double=double,
        duration=single + double,
    )
