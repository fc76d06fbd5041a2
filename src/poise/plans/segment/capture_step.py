"""Capture step: the segment that replaces the current one after a disturbance.

A push, or ground at an unexpected height, moves the divergent component of motion (DCM) ξ off its path. If ξ is inside
the support region of both feet, the body returns over their middle (*recenter*). Otherwise a step is needed: in single
support the zero moment point (ZMP) can be no further than the edge of the sole, at z*, so that τ seconds later

    ξ(τ) = z* + (ξ - z*) e^{ωτ}

is the smallest possible excursion of ξ. The other foot must land there.
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

#: Swing durations of a capture step that are tried, in time constants 1 / ω: as quick as a leg can swing.
CAPTURE_SWING_TIMES = (1.0, 1.3, 1.6)
#: Distance by which a capture step lands short of ξ(τ), as a fraction of the sole length, so that ξ is not at the edge
#: of the support region.
CAPTURE_OFFSET = 0.1


def capture_segment(
    initial: InitialState,
    planner: Planner,
    workspace: Workspace,
    legs: LegReach,
    ground: GroundProjection | None = None,
) -> MotionSegment:
    """Return the segment with the best balance from an unplanned state: recentering, or else a capture step.

    Args:
        initial: actual state of the robot; a foot may be in the air.
        planner: planner of the robot.
        workspace, legs, ground: bounds, leg reach and known ground, which determine where a foot may land.
    """
    points, notes = initial.points, ("replaced: the body is too far from its reference",)
    if points.lifted is None:
        recentered = planner.recenter(initial, 0, notes)
        if recentered.margin >= 0.0:
            return recentered
    best, step = -math.inf, None
    for side in SIDES if points.lifted is None else (points.lifted,):
        for swing_time in CAPTURE_SWING_TIMES:
            candidate = _find_capture_step(initial, side, swing_time, planner, workspace, legs, ground)
            if candidate is not None and candidate[0] > best:
                best, step = candidate[0], (candidate[1], swing_time, candidate[2])
    if step is None:
        return planner.recenter(initial, 0, notes)
    goal, swing_time, zmp = step
    return planner.capture(initial, replace(goal, notes=notes), swing_time / planner.body.omega, zmp)


def _find_capture_step(
    initial: InitialState,
    side: Side,
    swing_time: float,
    planner: Planner,
    workspace: Workspace,
    legs: LegReach,
    ground: GroundProjection | None,
) -> tuple[float, Goal, complex] | None:
    """Return the margin of ξ at touchdown (m), the goal of the step, and the ZMP in its single support (x + i y, m).

    None if there is no place to land. `swing_time` is the duration of the swing in time constants 1 / ω.
    """
    points, body = initial.points, planner.body
    stance = points.feet[other_side(side)]
    xi = points.center + initial.rates.center / body.omega
    sole = SupportRegion((stance,), body.sole_half, 0.5 * body.sole_margin).polygon
    edge = complex(*polygon.project(sole, xi[:2]))
    dcm_offset = complex(xi[0], xi[1]) - edge
    landing = later_dcm = edge + dcm_offset * math.exp(swing_time)
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
