"""Verification: what must hold of every segment, checked in numpy without the code that plans."""

from __future__ import annotations

import numpy as np

from poise.arrays import Array
from poise.geometry import so3
from poise.plans.footsteps import Footstep
from poise.plans.segment.balance_check import PRESSING
from poise.plans.segment.center_path import SAMPLING
from poise.plans.segment.limb_curves import four
from poise.plans.segment.planner import gap
from poise.plans.segment.segment import Beginning, Segment, ground_of, standings
from poise.plans.segment.three_masses import Body, moment, zero_moment_points, zero_moment_way
from poise.plans.support_region import Support
from poise.robots import GRAVITY, SIDES, other_side

#: Rounding (m, m/s).
SAME = 1e-9


def faults(segment: Segment, body: Body, begin: Beginning | None = None) -> list[str]:
    """What is wrong with a segment, in words; nothing, if it can be done and held.

    Args:
        segment: to look at.
        body: of the robot.
        begin: where it had to begin; None: not looked at.
    """
    found = []
    times = np.linspace(0.0, segment.seconds, max(round(segment.seconds / SAMPLING), 1) + 1)
    zmp, lift = zero_moment_way(body, segment, times)
    if not (np.isfinite(zmp).all() and np.isfinite(lift).all()):
        return ["not finite"]
    if lift.min() < PRESSING * GRAVITY - SAME:
        found.append(f"the body leaves the ground: {lift.min():.2f} m/s²")
    out = outside(segment, body, times, zmp)
    if out > SAME:
        found.append(f"the zero moment point is outside by {1e3 * out:.2f} mm")
    if begin is not None:
        jump = discontinuity(begin, segment.at(0.0))
        if jump > 1e-7:
            found.append(f"discontinuous by {jump:.1e} m or m/s")
    held = hold_outside(segment, body)
    if held > SAME:
        found.append(f"its end cannot be held: outside by {1e3 * held:.2f} mm")
    gap = sole_gap(segment, body, times)
    if gap <= 0.0:
        found.append(f"the soles cross by {-1e3 * gap:.1f} mm")
    return found


def outside(segment: Segment, body: Body, times: Array, zmp: Array) -> float:
    """How far the zero moment point leaves the support, shrunk by its margin, at worst (m)."""
    center = np.array([segment.center.at(time)[0] for time in times.tolist()])
    worst, first = -np.inf, 0
    feet = standings(segment.beginning, segment.goal, segment.phases)
    ground = ground_of(segment.beginning, segment.goal)
    for phase, standing in zip(segment.phases, feet, strict=True):
        last = len(times) if phase is segment.phases[-1] else int(np.searchsorted(times, phase.end + 1e-9))
        if last > first:
            support = Support(standing, body.half, body.margin)
            support.ground = ground
            worst = max(worst, -float(support.margins(zmp[first:last], center[first:last]).min()))
        first = last
    return worst


def hold_outside(segment: Segment, body: Body, seconds: float = 1.5) -> float:
    """How far the zero moment point leaves the support while the end of a segment is held, at worst (m)."""
    p, v = segment.center.end
    omega, points = body.omega, segment.goal.points
    xi = p + v / omega
    way = xi + (p - xi) * np.exp(-omega * np.linspace(0.0, seconds, 60))[:, None]
    acceleration = omega**2 * (way - xi)
    R = so3.yaw_matrix(float(points.attitude[2]))
    feet = [(points.feet[side].position, np.zeros(3)) for side in SIDES]
    still = np.zeros((len(way), 2))
    moments = moment(body, [R @ body.hips[side] for side in SIDES], feet, (way, acceleration), still)
    support = Support(points.standing, body.half, body.margin)
    zmp, _ = zero_moment_points(way, acceleration, support.ground, moments)
    return -float(support.margins(zmp, way).min())


def discontinuity(a: Beginning, b: Beginning) -> float:
    """Largest difference between two states of motion, of any place or rate (m, rad, m/s, rad/s)."""
    pairs = [(a.points.center, b.points.center), (a.points.attitude, b.points.attitude)]
    pairs += [(a.rates.center, b.rates.center), (a.rates.attitude, b.rates.attitude)]
    for side in SIDES:
        pairs.append((four(a.points.feet[side]), four(b.points.feet[side])))
        pairs.append((a.rates.feet.get(side, np.zeros(4)), b.rates.feet.get(side, np.zeros(4))))
    for side, hand in a.points.hands.items():
        pairs.append((hand.position, b.points.hands[side].position))
        pairs.append((hand.attitude, b.points.hands[side].attitude))
        pairs.append((a.rates.hands.get(side, np.zeros(6)), b.rates.hands.get(side, np.zeros(6))))
    return max(float(np.abs(first - second).max(initial=0.0)) for first, second in pairs)


def sole_gap(segment: Segment, body: Body, times: Array) -> float:
    """Least gap between both soles, from above, along the way (m); negative where they overlap."""
    step = segment.goal.step
    if segment.swing is None or step is None:
        return np.inf
    still = segment.beginning.points.feet[other_side(step)]
    moving = [Footstep(step, *x[[0, 1, 3, 2]].tolist()) for x in segment.swing.at(times[::4])[0]]
    return min(gap(foot, still, complex(*body.half)) for foot in moving)
