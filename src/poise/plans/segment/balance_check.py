"""Balance check of a segment by compiled code: margins of zero moment point and legs over all samples."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from poise.arrays import Array
from poise.plans.footsteps import Footstep
from poise.plans.guidance.limb_reach import Legs
from poise.plans.guidance.navigation_points import Goal
from poise.plans.segment import _segment
from poise.plans.segment.center_path import CenterPath
from poise.plans.segment.segment import Beginning, Rates, SegmentPhase, ground_of, standings, swing
from poise.plans.segment.three_masses import Body
from poise.robots import GRAVITY, SIDES

#: The body must press on the ground with this share of its weight at least.
PRESSING = 0.2
#: Where a hold begins all but the centre rests.
AT_REST = Rates(np.zeros(3))


class Margins(NamedTuple):
    """What is left at worst (m): of the way from the zero moment point to the edge of the (shrunken) support, negative
    outside; until a leg is stretched; until one is folded."""

    pressure: float
    stretched: float
    folded: float


class Judge:
    """Judges segments of one body, by `_segment` (native/segment/judge.hpp).

    Args:
        body: of the robot.
        legs: how far they reach; None: as far as needed.
        curve: of stepping feet.
    """

    def __init__(self, body: Body, legs: Legs | None, curve: str) -> None:
        self.body, self.curve = body, curve
        self._masses = _segment.Masses(body.mass, body.leg, body.hanging, *body.inertia)
        self._reach = _reach(legs)

    def margins(self, begin: Beginning, goal: Goal, path: CenterPath, phases: tuple[SegmentPhase, ...]) -> Margins:
        """Of a segment, at worst."""
        p, a, _ = path.samples()
        feet = standings(begin, goal, phases)
        limbs = self._limbs(begin, goal, phases, phases[-1].end)
        return self._borne(limbs, path.maps.times, p, a, [phase.end for phase in phases], feet, ground_of(begin, goal))

    def holdable(self, goal: Goal, p: Array, v: Array) -> bool:
        """Whether a body at p with v can be held over the feet of a goal.

        The zero moment point must be inside at the begin of the hold, and at ξ, its end.

        In between it goes straight from one to the other, but for products of small terms, which the margin covers.
        """
        omega, points = self.body.omega, goal.points
        xi = p + v / omega
        two = np.array([p, xi])
        limbs = self._limbs(Beginning(points, AT_REST, xi), Goal(points), (), 1.0)
        feet = points.standing
        return self._borne(limbs, np.zeros(2), two, omega**2 * (two - xi), [1.0], [feet], feet[0].z).pressure >= 0.0

    def swinging(
        self, begin: Beginning, goal: Goal, phases: tuple[SegmentPhase, ...], times: Array, over: Array
    ) -> Array:
        """By how much a swinging leg moves the pressure of a body that rests over a place (m, n x 2)."""
        still = np.zeros((len(times), 3))
        limbs = self._limbs(begin, goal, phases, 1.0)
        moments = _segment.moments(self._masses, limbs, np.ascontiguousarray(times), still + over, still)
        return np.stack([-moments[:, 1], moments[:, 0]], axis=1) / GRAVITY

    def _borne(
        self,
        limbs: _segment.Limbs,
        times: Array,
        p: Array,
        a: Array,
        ends: list[float],
        feet: Sequence[Sequence[Footstep]],
        ground: float,
    ) -> Margins:
        body = self.body
        length, width = body.half[0] - body.margin, body.half[1] - body.margin
        standing = [[_four(foot) for foot in standing] for standing in feet]
        given = self._masses, self._reach, limbs, times, p, a, ends, standing, length, width, ground
        margin, lift, slack, folded = _segment.judge(*given)
        return Margins(margin if lift >= PRESSING * GRAVITY else -1.0, slack, folded)

    def _limbs(self, begin: Beginning, goal: Goal, phases: tuple[SegmentPhase, ...], seconds: float) -> _segment.Limbs:
        """All that moves besides the centre of mass."""
        points, step = begin.points, goal.step
        yaw = float(points.attitude[2])
        c, s = math.cos(yaw), math.sin(yaw)
        left_hip, right_hip = (
            (c * x - s * y, s * x + c * y, z) for x, y, z in (self.body.hips[side] for side in SIDES)
        )
        course = None
        if step is not None:
            phase = next(phase for phase in phases if phase.swing is not None)
            course = swing(begin, goal, phase, self.curve).compiled
        return _segment.Limbs(
            _four(points.feet["left"]),
            _four(points.feet["right"]),
            -1 if step is None else SIDES.index(step),
            course,
            left_hip,
            right_hip,
            points.attitude.tolist(),
            begin.rates.attitude.tolist(),
            goal.points.attitude.tolist(),
            seconds,
        )


def _reach(legs: Legs | None) -> _segment.Reach:
    if legs is None:
        return _segment.Reach([0.0] * 6, [0.0] * 6, math.inf, 0.0)
    hips, ankles = ([float(x) for side in SIDES for x in part[side]] for part in (legs.hips, legs.ankles))
    return _segment.Reach(hips, ankles, legs.longest, legs.shortest)


def _four(foot: Footstep) -> tuple[float, float, float, float]:
    return foot.x, foot.y, foot.z, foot.yaw
