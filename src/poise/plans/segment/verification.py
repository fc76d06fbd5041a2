"""Verification of motion segments in numpy, independent of the code that plans them."""

from __future__ import annotations

import numpy as np

from poise.arrays import Array
from poise.geometry import so3
from poise.plans.footsteps import Footstep
from poise.plans.segment.balance_check import LEAST_LOAD
from poise.plans.segment.center_path import SAMPLE_PERIOD
from poise.plans.segment.limb_curves import pose_vector
from poise.plans.segment.planner import rectangle_gap
from poise.plans.segment.segment import InitialState, MotionSegment, ground_height, stance_feet_by_phase
from poise.plans.segment.three_masses import ThreeMassModel, angular_momentum_rate, zero_moment_points, zmp_path
from poise.plans.support_region import SupportRegion
from poise.robots import GRAVITY, SIDES, other_side

#: Rounding tolerance (m, m/s).
ROUNDING = 1e-9


def faults(segment: MotionSegment, body: ThreeMassModel, initial: InitialState | None = None) -> list[str]:
    """Return descriptions of all faults of a segment; empty if it keeps balance and its end can be held.

    Args:
        segment: segment to verify.
        body: three-mass model of the robot.
        initial: required initial state; None: not checked.
    """
    descriptions = []
    times = np.linspace(0.0, segment.seconds, max(round(segment.seconds / SAMPLE_PERIOD), 1) + 1)
    zmp, vertical_force = zmp_path(body, segment, times)
    if not (np.isfinite(zmp).all() and np.isfinite(vertical_force).all()):
        return ["not finite"]
    if vertical_force.min() < LEAST_LOAD * GRAVITY - ROUNDING:
        descriptions.append(f"the vertical force is too small: {vertical_force.min():.2f} N/kg")
    excess = zmp_excess(segment, body, times, zmp)
    if excess > ROUNDING:
        descriptions.append(f"the zero moment point is outside by {1e3 * excess:.2f} mm")
    if initial is not None:
        jump = discontinuity(initial, segment.state_at(0.0))
        if jump > 1e-7:
            descriptions.append(f"discontinuous by {jump:.1e} m or m/s")
    hold_excess = hold_zmp_excess(segment, body)
    if hold_excess > ROUNDING:
        descriptions.append(f"its end cannot be held: outside by {1e3 * hold_excess:.2f} mm")
    gap = sole_gap(segment, body, times)
    if gap <= 0.0:
        descriptions.append(f"the soles overlap by {-1e3 * gap:.1f} mm")
    return descriptions


def zmp_excess(segment: MotionSegment, body: ThreeMassModel, times: Array, zmp: Array) -> float:
    """Return the largest distance of the zero moment point outside the support region of reduced soles (m).

    It is negative if the zero moment point stays inside.
    """
    center = np.array([segment.center.at(time)[0] for time in times.tolist()])
    worst, first = -np.inf, 0
    feet = stance_feet_by_phase(segment.initial, segment.goal, segment.phases)
    ground = ground_height(segment.initial, segment.goal)
    for phase, stance_feet in zip(segment.phases, feet, strict=True):
        last = len(times) if phase is segment.phases[-1] else int(np.searchsorted(times, phase.end + 1e-9))
        if last > first:
            support = SupportRegion(stance_feet, body.sole_half, body.sole_margin)
            support.ground = ground
            worst = max(worst, -float(support.margins(zmp[first:last], center[first:last]).min()))
        first = last
    return worst


def hold_zmp_excess(segment: MotionSegment, body: ThreeMassModel, seconds: float = 1.5) -> float:
    """Return the largest distance of the zero moment point outside the support region during the final hold (m)."""
    p, v = segment.center.end
    omega, points = body.omega, segment.goal.points
    xi = p + v / omega
    path = xi + (p - xi) * np.exp(-omega * np.linspace(0.0, seconds, 60))[:, None]
    acceleration = omega**2 * (path - xi)
    R = so3.yaw_matrix(float(points.attitude[2]))
    feet = [(points.feet[side].position, np.zeros(3)) for side in SIDES]
    hips = [R @ body.hips[side] for side in SIDES]
    moments = angular_momentum_rate(body, hips, feet, (path, acceleration), np.zeros((len(path), 2)))
    support = SupportRegion(points.stance_feet, body.sole_half, body.sole_margin)
    zmp, _ = zero_moment_points(path, acceleration, support.ground, moments)
    return -float(support.margins(zmp, path).min())


def discontinuity(a: InitialState, b: InitialState) -> float:
    """Return the largest difference of any position or rate between two states (m, rad, m/s, rad/s)."""
    pairs = [(a.points.center, b.points.center), (a.points.attitude, b.points.attitude)]
    pairs += [(a.rates.center, b.rates.center), (a.rates.attitude, b.rates.attitude)]
    for side in SIDES:
        pairs.append((pose_vector(a.points.feet[side]), pose_vector(b.points.feet[side])))
        pairs.append((a.rates.feet.get(side, np.zeros(4)), b.rates.feet.get(side, np.zeros(4))))
    for side, hand in a.points.hands.items():
        pairs.append((hand.position, b.points.hands[side].position))
        pairs.append((hand.attitude, b.points.hands[side].attitude))
        pairs.append((a.rates.hands.get(side, np.zeros(6)), b.rates.hands.get(side, np.zeros(6))))
    return max(float(np.abs(first - second).max(initial=0.0)) for first, second in pairs)


def sole_gap(segment: MotionSegment, body: ThreeMassModel, times: Array) -> float:
    """Return the smallest horizontal gap between both soles during a segment (m); negative if they overlap."""
    step = segment.goal.step
    if segment.swing_curve is None or step is None:
        return np.inf
    stance_foot = segment.initial.points.feet[other_side(step)]
    swing_feet = [Footstep(step, *x[[0, 1, 3, 2]].tolist()) for x in segment.swing_curve.at(times[::4])[0]]
    return min(rectangle_gap(foot, stance_foot, complex(*body.sole_half)) for foot in swing_feet)
