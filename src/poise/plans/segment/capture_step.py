"""Capture step: the segment that replaces one from which a push has thrown the body.

A push, or ground that is not where it should be, throws ξ off its path. As long as ξ is inside the support of both feet
the body goes back over their middle (*keep*). Beyond that only a step helps: while one foot stands, the pressure can be
no further than the edge of its sole, at z*, so τ seconds later

    ξ(τ) = z* + (ξ - z*) e^{ωτ}

is the least that ξ can be away, and there the other foot must land.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from poise.geometry import polygon, so3
from poise.plans.footsteps import Footstep
from poise.plans.guidance.limb_reach import Legs
from poise.plans.guidance.navigation_points import Goal
from poise.plans.guidance.workspace import Workspace
from poise.plans.guidance.workspace_bounds import Ground, landed, mean_yaw
from poise.plans.segment.planner import Planner
from poise.plans.segment.segment import Beginning, Segment
from poise.plans.support_region import Support
from poise.robots import SIDES, Side, other_side

#: Seconds in the air of a step that catches the body, in time constants: as quick as a leg swings.
QUICK = (1.0, 1.3, 1.6)
#: A catching step lands so far behind ξ(τ), as a share of the sole's length: ξ should not be at its edge.
BEHIND = 0.1


def caught(
    begin: Beginning, planner: Planner, workspace: Workspace, legs: Legs, ground: Ground | None = None
) -> Segment:
    """The best that can still be done from a beginning that was not planned.

    Args:
        begin: where the robot really is; a foot may be on its way.
        planner: of its segments.
        workspace, legs, ground: where a foot may land.
    """
    points, notes = begin.points, ("replaced: the body is not where it was to be",)
    if points.lifted is None:
        kept = planner.kept(begin, 0, notes)
        if kept.margin >= 0.0:
            return kept
    best, step = -math.inf, None
    for side in SIDES if points.lifted is None else (points.lifted,):
        for share in QUICK:
            found = _step(begin, side, share, planner, workspace, legs, ground)
            if found is not None and found[0] > best:
                best, step = found[0], (found[1], share, found[2])
    if step is None:
        return planner.kept(begin, 0, notes)
    goal, share, pressure = step
    return planner.caught(begin, replace(goal, notes=notes), share / planner.body.omega, pressure)


def _step(
    begin: Beginning,
    side: Side,
    share: float,
    planner: Planner,
    workspace: Workspace,
    legs: Legs,
    ground: Ground | None,
) -> tuple[float, Goal, complex] | None:
    """How far inside the feet ξ will be if a foot lands where it must, that goal, and where the other one presses."""
    points, body = begin.points, planner.body
    stance = points.feet[other_side(side)]
    xi = points.center + begin.rates.center / body.omega
    sole = Support((stance,), body.half, 0.5 * body.margin).polygon
    edge = complex(*polygon.project(sole, xi[:2]))
    away = complex(xi[0], xi[1]) - edge
    there = later = edge + away * math.exp(share)
    if abs(away) > 0.0:
        there -= BEHIND * 2.0 * body.half[0] * away / abs(away)
    foot = points.feet[side]
    wanted = Footstep(side, there.real, there.imag, stance.yaw, foot.z)
    place = landed(wanted, stance, workspace, legs, ground)
    if place is None:
        return None
    feet = {side: place, stance.side: stance}
    middle = 0.5 * (place.place + stance.place)
    yaw = float(points.attitude[2])
    attitude = np.array([0.0, 0.0, yaw + so3.wrap_angle(mean_yaw(feet) - yaw)])
    _, high = legs.heights(middle, float(attitude[2]), feet)
    center = np.array([middle.real, middle.imag, min(float(points.center[2]), high)])
    goal = points.replace(center=center, attitude=attitude, feet=feet, lifted=None, last=side)
    support = Support(goal.standing, body.half, body.margin)
    inside = float(polygon.margin(support.polygon, (later.real, later.imag)))
    return inside, Goal(goal, side, workspace.lift[0] if points.lifted is None else 0.0), edge
