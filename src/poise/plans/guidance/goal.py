"""Goal: where all navigation points are to be at the end of a motion segment, and what became of the command."""

from __future__ import annotations

from dataclasses import dataclass

from poise.plans.guidance.points import Points
from poise.robots.parts import Side


@dataclass(frozen=True, eq=False)
class Goal:
    """The goal set ``ᵈr`` of a motion segment.

    Args:
        points: where everything is to be at its end, at rest.
        step: the foot that moves, if one does; `points.lifted` tells whether it ends in the air.
        lift: how high that foot is lifted above the higher of both ends (m).
        notes: what was not done as commanded, one sentence each: projected, discarded, a foot that must land first.
        bulge: how far that foot goes out of the way of the other one in the middle of its swing (m, as x + i y).
        projected: whether the command was beyond a boundary of the workspace.
    """

    points: Points
    step: Side | None = None
    lift: float = 0.0
    notes: tuple[str, ...] = ()
    projected: bool = False
    bulge: complex = 0j
