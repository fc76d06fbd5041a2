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
from poise.plans.guidance.limb_reach import LegReach
from poise.plans.guidance.navigation_points import Goal
from poise.plans.guidance.workspace import Workspace
from poise.plans.guidance.workspace_bounds import GroundProjection, find_landing, mean_yaw
from poise.plans.segment.planner import Planner
from poise.plans.segment.segment import InitialState, MotionSegment
from poise.plans.support_region import SupportRegion
from poise.robots import SIDES, Side, other_side

#: Seconds in the air of a step that catches the body, in time constants: as quick as a leg swings.
CAPTURE_SWING_TIMES = (1.0, 1.3, 1.6)
#: A catching step lands so far behind ξ(τ), as a share of the sole's length: ξ should not be at its edge.
CAPTURE_OFFSET = 0.1


def capture_segment(
    initial: InitialState,
    planner: Planner,
    workspace: Workspace,
    legs: LegReach,
    ground: GroundProjection | None = None,
) -> MotionSegment:
    """The best that can still be done from a beginning that was not planned.

    Args:
        initial: where the robot really is; a foot may be on its way.
        planner: of its segments.
        workspace, legs, ground: where a foot may land.
    """
    points, notes = initial.points, ("replaced: the body is not where it was to be",)
    if points.lifted is None:
        recentered = planner.recenter(initial, 0, notes)
        if recentered.margin >= 0.0:
            return recentered
    best, step = -math.inf, None
    for side in SIDES if points.lifted is None else (points.lifted,):
        for share in CAPTURE_SWING_TIMES:
            found = _find_capture_step(initial, side, share, planner, workspace, legs, ground)
            if found is not None and found[0] > best:
                best, step = found[0], (found[1], share, found[2])
    if step is None:
        return planner.recenter(initial, 0, notes)
    goal, share, pressure = step
    return planner.capture(initial, replace(goal, notes=notes), share / planner.body.omega, pressure)


def _find_capture_step(
    initial: InitialState,
    side: Side,
    share: float,
    planner: Planner,
    workspace: Workspace,
    legs: LegReach,
    ground: GroundProjection | None,
) -> tuple[float, Goal, complex] | None:
    """How far inside the feet ξ will be if a foot lands where it must, that goal, and where the other one presses."""
    points, body = initial.points, planner.body
    stance = points.feet[other_side(side)]
    xi = points.center + initial.rates.center / body.omega
    sole = SupportRegion((stance,), body.sole_half, 0.5 * body.sole_margin).polygon
    edge = complex(*polygon.project(sole, xi[:2]))
    dcm_offset = complex(xi[0], xi[1]) - edge
    landing = later_dcm = edge + dcm_offset * math.exp(share)
    if abs(dcm_offset) > 0.0:
        landing -= CAPTURE_OFFSET * 2.0 * body.sole_half[0] * dcm_offset / abs(dcm_offset)
    foot = points.feet[side]
    target = Footstep(side, landing.real, landing.imag, stance.yaw, foot.z)
    place = find_landing(target, stance, workspace, legs, ground)
    if place is None:
        return None
    feet = {side: place, stance.side: stance}
    middle = 0.5 * (place.place + stance.place)
    yaw = float(points.attitude[2])
    attitude = np.array([0.0, 0.0, yaw + so3.wrap_angle(mean_yaw(feet) - yaw)])
    _, high = legs.com_heights(middle, float(attitude[2]), feet)
    center = np.array([middle.real, middle.imag, min(float(points.center[2]), high)])
    goal = points.replace(center=center, attitude=attitude, feet=feet, lifted=None, last_moved=side)
    support = SupportRegion(goal.stance_feet, body.sole_half, body.sole_margin)
    margin = float(polygon.margin(support.polygon, (later_dcm.real, later_dcm.imag)))
    return margin, Goal(goal, side, workspace.lift[0] if points.lifted is None else 0.0), edge
