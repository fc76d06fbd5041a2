"""Balance check of a segment by compiled code: margins of the zero moment point (ZMP) and the legs over all samples."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from poise.arrays import Array
from poise.geometry import so3
from poise.plans.footsteps import Footstep
from poise.plans.guidance.limb_reach import LegReach
from poise.plans.guidance.navigation_points import Goal
from poise.plans.segment import _segment
from poise.plans.segment.center_path import CenterPath
from poise.plans.segment.segment import (
    InitialState,
    PointRates,
    SegmentPhase,
    ground_height,
    stance_feet_by_phase,
    swing_curve,
)
from poise.plans.segment.three_masses import ThreeMassModel
from poise.robots import GRAVITY, SIDES

#: Smallest vertical ground reaction force as a fraction of the weight.
LEAST_LOAD = 0.2
#: Rates at the start of a hold: everything but the center of mass (CoM) is at rest.
AT_REST = PointRates(np.zeros(3))


class SegmentMargins(NamedTuple):
    """Smallest margins of a segment (m).

    Attributes:
        zmp: distance of the ZMP from the edge of the support region, which is reduced by the margin of the soles;
            negative outside, and -1 if the vertical ground reaction force falls below `LEAST_LOAD` of the weight.
        extension: margin until a leg is fully extended.
        flexion: margin until a leg is fully folded.
    """

    zmp: float
    extension: float
    flexion: float


class BalanceChecker:
    """Balance check for one robot, computed by `_segment` (native/segment/balance_check.hpp).

    Args:
        body: three-mass model of the robot.
        legs: reach of the legs; None: unlimited.
        curve: curve of stepping feet, ``"quintic"`` or ``"cycloid"``.
    """

    def __init__(self, body: ThreeMassModel, legs: LegReach | None, curve: str) -> None:
        self.body, self.curve = body, curve
        self._masses = _segment.Masses(body.mass, body.leg_mass, body.leg_mass_position, *body.trunk_inertia)
        self._leg_limits = _leg_limits(legs)

    def margins(
        self, initial: InitialState, goal: Goal, path: CenterPath, phases: tuple[SegmentPhase, ...]
    ) -> SegmentMargins:
        """Return the smallest margins over a segment."""
        p, a, _ = path.samples()
        feet = stance_feet_by_phase(initial, goal, phases)
        limbs = self._limbs(initial, goal, phases, phases[-1].end)
        return self._evaluate(
            limbs, path.maps.times, p, a, [phase.end for phase in phases], feet, ground_height(initial, goal)
        )

    def can_hold(self, goal: Goal, p: Array, v: Array) -> bool:
        """Return whether a CoM at p with velocity v (m, m/s, 3) can come to rest over the feet of a goal.

        The ZMP must be inside the support region at the start of the hold and at its end, ξ. In between it moves almost
        in a straight line; the margin of the soles covers the deviation.
        """
        omega, points = self.body.omega, goal.points
        xi = p + v / omega
        ends_of_hold = np.array([p, xi])
        limbs = self._limbs(InitialState(points, AT_REST, xi), Goal(points), (), 1.0)
        feet = points.stance_feet
        return (
            self._evaluate(
                limbs, np.zeros(2), ends_of_hold, omega**2 * (ends_of_hold - xi), [1.0], [feet], feet[0].z
            ).zmp
            >= 0.0
        )

    def swing_zmp_shift(
        self, initial: InitialState, goal: Goal, phases: tuple[SegmentPhase, ...], times: Array, center: Array
    ) -> Array:
        """Return the shift of the ZMP that a swing leg causes with the CoM at rest at `center` (m, n x 2)."""
        at_rest = np.zeros((len(times), 3))
        limbs = self._limbs(initial, goal, phases, 1.0)
        momentum_rate = _segment.angular_momentum_rate(
            self._masses, limbs, np.ascontiguousarray(times), at_rest + center, at_rest
        )
        return np.stack([-momentum_rate[:, 1], momentum_rate[:, 0]], axis=1) / GRAVITY

    def _evaluate(
        self,
        limbs: _segment.LimbMotion,
        times: Array,
        p: Array,
        a: Array,
        ends: list[float],
        feet: Sequence[Sequence[Footstep]],
        ground: float,
    ) -> SegmentMargins:
        body = self.body
        length, width = body.sole_half[0] - body.sole_margin, body.sole_half[1] - body.sole_margin
        poses = [[_pose_tuple(foot) for foot in stance_feet] for stance_feet in feet]
        arguments = self._masses, self._leg_limits, limbs, times, p, a, ends, poses, length, width, ground
        zmp_margin, vertical_force, extension, flexion = _segment.check_balance(*arguments)
        return SegmentMargins(zmp_margin if vertical_force >= LEAST_LOAD * GRAVITY else -1.0, extension, flexion)

    def _limbs(
        self, initial: InitialState, goal: Goal, phases: tuple[SegmentPhase, ...], seconds: float
    ) -> _segment.LimbMotion:
        """Return the motion of everything but the CoM, for the compiled code."""
        points, step = initial.points, goal.step
        R = so3.yaw_matrix(float(points.attitude[2]))
        left_hip, right_hip = ((R @ self.body.hips[side]).tolist() for side in SIDES)
        swing = None
        if step is not None:
            phase = next(phase for phase in phases if phase.swing is not None)
            swing = swing_curve(initial, goal, phase, self.curve).compiled
        return _segment.LimbMotion(
            _pose_tuple(points.feet["left"]),
            _pose_tuple(points.feet["right"]),
            -1 if step is None else SIDES.index(step),
            swing,
            left_hip,
            right_hip,
            points.attitude.tolist(),
            initial.rates.attitude.tolist(),
            goal.points.attitude.tolist(),
            seconds,
        )


def _leg_limits(legs: LegReach | None) -> _segment.LegLimits:
    if legs is None:
        return _segment.LegLimits([0.0] * 6, [0.0] * 6, math.inf, 0.0)
    hips, ankles = ([float(x) for side in SIDES for x in part[side]] for part in (legs.hips, legs.ankles))
    return _segment.LegLimits(hips, ankles, legs.longest, legs.shortest)


def _pose_tuple(foot: Footstep) -> tuple[float, float, float, float]:
    return foot.x, foot.y, foot.z, foot.yaw
