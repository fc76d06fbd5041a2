"""Planner of motion segments: a balanced motion for any initial state and goal.

**Recursive feasibility.** A segment is accepted only if (i) the zero moment point (ZMP) of the whole body stays inside
the support region at every sample, and (ii) the robot can hold its end: with ``ξ = p + v/ω`` at the end, the feet at
rest and u = ξ from then on, the center of mass (CoM)

    p(t) = ξ + (p_T - ξ) e^{-ωt}

comes to rest over ξ, with the ZMP inside the support region. Every accepted segment can therefore be followed by at
least one balanced motion, the hold, whose end can be held as well; and the first segment starts at rest over the feet.
By induction no input leads to a state without a balanced motion: the "abort" of the paper becomes a "hold".

The planner takes the first feasible motion of: the commanded one in T₀; the same in T₀ + ΔT, T₀ + 2 ΔT, ... up to T_max
([Sugihara2008] section III-B); *recenter*: the feet stay, the body returns over their middle; *hold*. *Recenter* is
needed because a robot that only holds stops near an edge of the support region, from where the next command fails too.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property

import numpy as np

from poise.arrays import Array
from poise.geometry import minimum_jerk
from poise.plans.footsteps import Footstep
from poise.plans.guidance.limb_reach import LegReach
from poise.plans.guidance.navigation_points import Goal
from poise.plans.segment.balance_check import BalanceChecker
from poise.plans.segment.center_path import PIECES_PER_PHASE, CenterPath, LinearMaps, linear_maps
from poise.plans.segment.limb_curves import shortest_lift
from poise.plans.segment.segment import (
    InitialState,
    MotionSegment,
    Outcome,
    SegmentPhase,
    SegmentSettings,
    phase_durations,
    phase_shares,
    segment_phases,
)
from poise.plans.segment.three_masses import ThreeMassModel
from poise.plans.support_region import SupportRegion
from poise.robots import GRAVITY, other_side
from poise.solvers import Lexicographic, Program, Rows

#: Number of samples between those at which the ZMP is bounded; between them its path is almost straight.
SAMPLE_STRIDE = 4
#: Additional margin of that bound (m): the ZMP of the whole body differs slightly from that of a point mass.
ZMP_RESERVE = 0.001
#: Weight of coming to rest at the goal, relative to that of u being there throughout.
ARRIVAL_WEIGHT = 30.0


def recentering_path(initial: InitialState, goal: Array, maps: LinearMaps, body: ThreeMassModel) -> CenterPath | None:
    """Return the CoM path that comes to rest at a goal with fixed feet; None if the initial state is not finite.

    With p and u linear in the knots, ``z = p - (p̈ h) / g = (1 - κ) p + κ u`` with ``κ = ω² h / g`` at a constant height
    h, and each edge ``n·z <= b`` of the support region is a row per sample. Level 0 of the hierarchy has these rows and
    the same bounds for ξ at the end; level 1 has u at the goal, and ξ and p at the goal at the end.

    Args:
        initial: initial state.
        goal: position to come to rest at (m, 3).
        maps: matrices for the duration.
        body: three-mass model of the robot.
    """
    omega, points = body.omega, initial.points
    start = np.stack([points.center, initial.rates.center])
    support = SupportRegion(points.stance_feet, body.sole_half, body.sole_margin + ZMP_RESERVE)
    ratio = omega**2 * (float(points.center[2]) - support.ground) / GRAVITY
    place = (1.0 - ratio) * maps.place[::SAMPLE_STRIDE] + ratio * maps.repellent[::SAMPLE_STRIDE]
    rows = np.concatenate([place, maps.end_dcm[None]])
    free, controlled = rows[:, :2] @ start[:, :2], rows[:, 2:]
    normals, offsets = support.edges
    A = np.concatenate([np.hstack([n[0] * controlled, n[1] * controlled]) for n in normals])
    upper = np.concatenate([o - free @ n for n, o in zip(normals, offsets, strict=True)])
    ends = np.stack([maps.end_dcm, maps.knot_place[-1]])
    missing = goal[:2] - ends[:, :2] @ start[:, :2]
    K = len(maps.knots)
    rows_at_rest = np.concatenate([np.eye(2 * K), ARRIVAL_WEIGHT * np.kron(np.eye(2), ends[:, 2:])])
    requested = np.concatenate([np.repeat(goal[:2], K), ARRIVAL_WEIGHT * missing.T.ravel()])
    if not (np.isfinite(upper).all() and np.isfinite(requested).all()):
        return None
    program = Program([Rows(A, np.full(len(A), -np.inf), upper), Rows(rows_at_rest, requested, requested)])
    u = np.empty((K, 3))
    u[:, :2] = Lexicographic().solve(program).x.reshape(2, K).T
    u[:, 2] = points.center[2] + initial.rates.center[2] / omega
    return CenterPath(maps, omega, start, u)


# -- Clearance: a stepping foot moves around the other one -----------------------------------------------------------


#: Smallest gap between the soles during a swing, as a fraction of their width: 3 mm on a small robot.
SOLE_CLEARANCE = 0.04
#: Fractions of a swing at which the gap is checked.
CHECKED_SHARES = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)


def with_clearance(initial: InitialState, goal: Goal, half: complex) -> Goal:
    """Return the goal with a swing that bulges outwards if the soles would come too close on the straight path.

    Both ends are far enough from the other foot, but a foot that rotates during its swing needs more room in between.

    Args:
        initial: initial state.
        goal: goal with the step.
        half: half length and half width of a sole, as a complex number (m).
    """
    step = goal.step
    if step is None:
        return goal
    stance, start, end = initial.points.feet[other_side(step)], initial.points.feet[step], goal.points.feet[step]
    outward = stance.heading * (1j if step == "left" else -1j)
    bulge = 0.0
    for s in CHECKED_SHARES:
        share = minimum_jerk(s)[0]
        place = start.place + share * (end.place - start.place)
        foot = Footstep(step, place.real, place.imag, start.yaw + share * (end.yaw - start.yaw))
        missing_gap = 2.0 * SOLE_CLEARANCE * half.imag - rectangle_gap(foot, stance, half)
        bulge = max(bulge, missing_gap / (64.0 * (s * (1.0 - s)) ** 3))
    return goal if bulge == 0.0 else replace(goal, bulge=bulge * outward)


def rectangle_gap(a: Footstep, b: Footstep, half: complex) -> float:
    """Return the largest gap between two equal rectangles over all separating axes (m); negative if they overlap."""
    best = -math.inf
    for axis in (a.heading, 1j * a.heading, b.heading, 1j * b.heading):
        reach = sum(
            half.real * abs((foot.heading * axis.conjugate()).real)
            + half.imag * abs((1j * foot.heading * axis.conjugate()).real)
            for foot in (a, b)
        )
        best = max(best, abs(((b.place - a.place) * axis.conjugate()).real) - reach)
    return best


# -- Planner ---------------------------------------------------------------------------------------------------------


#: Default duration of a segment in time constants 1 / ω: the 0.5 s of the paper on its robot, scaled with the size of
#: other robots.
DURATION_IN_TIME_CONSTANTS = 3.0
#: Durations are integer multiples of this (s), so that cached matrices are reused.
DURATION_STEP = 0.02
#: Largest number of height corrections per goal, and extension that a leg may then lack, as a fraction of the CoM
#: height: the reach assumes a slightly bent knee, which leaves a reserve.
MAX_HEIGHT_CORRECTIONS, EXTENSION_TOLERANCE = 4, 0.01
#: Margin of the legs to full extension, as a fraction of the CoM height.
EXTENSION_RESERVE = 0.02
#: Smallest change of a goal that is reported (m).
LEAST_REPORTED = 0.002
#: Smallest lift of a foot, as a fraction of the CoM height.
LEAST_LIFT = 0.02
#: Fractions of a capture step in double support, in single support, and in double support again.
CAPTURE_PHASES = (0.05, 0.5, 0.45)


class Planner:
    """Planner of motion segments for one robot. It has no state: equal inputs give equal segments.

    Args:
        body: three-mass model of the robot.
        settings: durations, phases and weights.
        legs: reach of the legs; None: unlimited. The robot crouches if a path would extend a leg too far.

    >>> planner = Planner(ThreeMassModel.of(robot))
    >>> segment = planner.plan(InitialState.at_rest(points), goal)
    >>> segment.outcome, segment.seconds, segment.margin
    """

    def __init__(
        self, body: ThreeMassModel, settings: SegmentSettings | None = None, legs: LegReach | None = None
    ) -> None:
        self.body, self.settings, self.legs = body, settings or SegmentSettings(), legs
        duration = self.settings.duration or DURATION_IN_TIME_CONSTANTS / body.omega
        self.default_duration = DURATION_STEP * max(round(duration / DURATION_STEP), 1)
        self.extension_reserve = EXTENSION_RESERVE * body.height
        self._checker = BalanceChecker(body, legs, self.settings.curve)

    def plan(self, initial: InitialState, goal: Goal) -> MotionSegment:
        """Return the commanded segment if it is feasible, else a feasible replacement with an explaining note."""
        settings, extensions, height_corrections, reason = self.settings, 0, 0, ""
        requested = goal = with_clearance(initial, goal, complex(*self.body.sole_half))
        T = self.shortest_duration(initial, goal)
        longest = max(settings.longest, T)
        while longest + 1e-9 >= T:
            segment, reason = self._try_duration(initial, goal, T, extensions)
            if segment is None:
                extensions, T = extensions + 1, T + settings.increment
            elif segment.extension_margin < self.extension_reserve and height_corrections < MAX_HEIGHT_CORRECTIONS:
                height_corrections += 1
                goal = self._lower_body(requested, goal, self.extension_reserve - segment.extension_margin)
            elif segment.flexion_margin < self.extension_reserve and height_corrections < MAX_HEIGHT_CORRECTIONS:
                height_corrections += 1
                goal = self._raise_body(requested, goal, self.extension_reserve - segment.flexion_margin)
            elif segment.extension_margin < -EXTENSION_TOLERANCE * self.body.height:
                reason = f"a leg is too short by {-1e3 * segment.extension_margin:.0f} mm during the motion"
                break
            else:
                return segment
        note = f"given up: {reason}, even in {min(T, longest):.1f} s"
        return self.recenter(initial, extensions, (*goal.notes, note))

    def _lower_body(self, requested: Goal, goal: Goal, missing: float) -> Goal:
        """Return the goal with the CoM lowered, for legs that lack `missing` m of extension during the motion."""
        return _shifted_goal(requested, goal, -2.0 * missing - 0.002 * self.body.height, goal.lift)

    def _raise_body(self, requested: Goal, goal: Goal, missing: float) -> Goal:
        """Return the goal with less lift and then a higher CoM, for a leg that lacks `missing` m of flexion."""
        lift = max(goal.lift - missing, min(goal.lift, LEAST_LIFT * self.body.height))
        return _shifted_goal(requested, goal, max(missing - (goal.lift - lift), 0.0), lift)

    def shortest_duration(self, initial: InitialState, goal: Goal) -> float:
        """Return the default duration, or a longer one if the swing needs more time (s)."""
        T = self.default_duration
        if goal.step is not None:
            start, end = initial.points.feet[goal.step], goal.points.feet[goal.step]
            swing_vector = (end.place - start.place) * initial.points.feet[other_side(goal.step)].heading.conjugate()
            swing = shortest_lift(goal.lift, end.z - start.z, abs(swing_vector), self.body.leg_shortening_speed)
            swing = max(swing, self.body.shortest_swing(swing_vector))
            parts = zip(*phase_shares(initial, goal, self.settings), strict=True)
            share = sum(part for part, on_one_foot in parts if on_one_foot)
            T = max(T, DURATION_STEP * math.ceil(swing / share / DURATION_STEP))
        return T

    # -- fallback motions ------------------------------------------------------------------------------------------

    def recenter(self, initial: InitialState, corrections: int = 0, notes: tuple[str, ...] = ()) -> MotionSegment:
        """Return the segment that brings the CoM over the middle of the resting feet; a hold if that is infeasible."""
        points = initial.points
        feet = points.stance_feet
        middle = sum((foot.place for foot in feet), 0j) / len(feet)
        center = np.array([middle.real, middle.imag, points.center[2]])
        goal = self._coasting_goal(initial, center, notes)
        for T in (self.default_duration, 2.0 * self.default_duration):
            path = recentering_path(initial, center, self._maps(initial, goal, T), self.body)
            if path is not None:
                segment = self._evaluate_path(initial, goal, path, "recentered", corrections, notes)
                if segment.margin >= 0.0 and self._checker.can_hold(goal, *path.end):
                    return segment
        return self.hold(initial, corrections, (*notes, "stopped: the body cannot return over its feet"))

    def hold(self, initial: InitialState, corrections: int = 0, notes: tuple[str, ...] = ()) -> MotionSegment:
        """Return the segment in which the CoM comes to rest over ξ."""
        points, omega = initial.points, self.body.omega
        xi = points.center + initial.rates.center / omega
        goal = self._coasting_goal(initial, xi, notes)
        maps = self._maps(initial, goal, self.default_duration)
        start = np.stack([points.center, initial.rates.center])
        path = CenterPath(maps, omega, start, np.tile(xi, (len(maps.knots), 1)))
        return self._evaluate_path(initial, goal, path, "stopped", corrections, notes)

    def _coasting_goal(self, initial: InitialState, center: Array, notes: tuple[str, ...]) -> Goal:
        """Return the goal in which only the CoM moves; a foot in motion comes to rest in the air."""
        points, side = initial.points.replace(center=center), initial.points.lifted
        rate = None if side is None else initial.rates.feet.get(side)
        if side is None or rate is None or not rate.any():
            return Goal(points, notes=notes)
        foot, (x, y, _, yaw) = points.feet[side], (0.3 * self.default_duration * rate).tolist()
        foot_at_rest = Footstep(side, foot.x + x, foot.y + y, foot.yaw + yaw, foot.z)
        return Goal(points.replace(feet={**points.feet, side: foot_at_rest}), side, notes=notes)

    def capture(self, initial: InitialState, goal: Goal, single_support: float, zmp: complex) -> MotionSegment:
        """Return an immediate capture step, whether or not it keeps balance.

        Args:
            initial: initial state.
            goal: goal with the step.
            single_support: duration of the single support (s).
            zmp: ZMP in the single support, as x + i y (m).
        """
        parts = CAPTURE_PHASES if initial.points.lifted is None else CAPTURE_PHASES[1:]
        T = DURATION_STEP * max(round(single_support / CAPTURE_PHASES[1] * sum(parts) / DURATION_STEP), 1)
        return self._capture_planner.attempt(initial, goal, T, 0, zmp, "capture step")

    @cached_property
    def _capture_planner(self) -> Planner:
        """Planner with the phases of capture steps."""
        settings = replace(self.settings, phases=CAPTURE_PHASES, lift_share=CAPTURE_PHASES[2] / sum(CAPTURE_PHASES[1:]))
        return Planner(self.body, settings, self.legs)

    # -- one attempt -----------------------------------------------------------------------------------------------

    def _try_duration(
        self, initial: InitialState, goal: Goal, T: float, corrections: int
    ) -> tuple[MotionSegment | None, str]:
        """Return the segment of duration T (s) and "", or None and the reason why it is infeasible."""
        segment = self.attempt(initial, goal, T, corrections)
        if segment.margin < 0.0:
            return None, f"the zero moment point leaves the support by {-1e3 * segment.margin:.0f} mm"
        if not self._checker.can_hold(goal, *segment.center.end):
            return None, "the robot could not come to rest at its end"
        return segment, ""

    def attempt(
        self,
        initial: InitialState,
        goal: Goal,
        T: float,
        corrections: int,
        zmp: complex | None = None,
        outcome: Outcome = "commanded",
    ) -> MotionSegment:
        """Return the segment of least relaxation with duration T (s), whether or not it keeps balance.

        `corrections` and `outcome` are stored in the segment; `zmp` is the ZMP in single support (x + i y, m), by
        default the middle of the sole.
        """
        maps = self._maps(initial, goal, T)
        start = np.stack([initial.points.center, initial.rates.center])
        middle = self._repellent_reference(initial, goal, maps, segment_phases(initial, goal, T, self.settings), zmp)
        path = CenterPath.least_relaxation(maps, self.body.omega, start, goal.points.center, middle, initial.repellent)
        return self._evaluate_path(initial, goal, path, outcome, corrections, goal.notes)

    def _maps(self, initial: InitialState, goal: Goal, T: float) -> LinearMaps:
        return linear_maps(*phase_durations(initial, goal, T, self.settings), self.body.omega, self.settings.relaxation)

    def _repellent_reference(
        self,
        initial: InitialState,
        goal: Goal,
        maps: LinearMaps,
        parts: tuple[SegmentPhase, ...],
        zmp: complex | None,
    ) -> Array:
        """Return the reference ū of the repellent point at the knots (m, K x 3).

        In single support it is above `zmp`, or above the middle of the sole; before, it is the initial CoM, after, the
        goal of the CoM.
        """
        start, end = initial.points.center, goal.points.center
        K = len(maps.knots)
        reference = np.empty((K, 3))
        swings = [i for i, phase in enumerate(parts) if phase.swing is not None]
        if not swings:
            reference[:] = start + np.linspace(0.0, 1.0, K)[:, None] * (end - start)
            return reference
        first, last = swings[0] * PIECES_PER_PHASE, (swings[-1] + 1) * PIECES_PER_PHASE
        side = parts[swings[0]].swing
        assert side is not None
        stance = initial.points.feet[other_side(side)]
        reference[:first], reference[last + 1 :] = start, end
        on_one_foot = reference[first : last + 1]
        on_one_foot[:] = start + np.linspace(0.0, 1.0, last + 1 - first)[:, None] * (end - start)
        on_one_foot[:, :2] = (stance.x, stance.y) if zmp is None else (zmp.real, zmp.imag)
        if self.settings.compensate and goal.step is not None:
            center = np.array([stance.x, stance.y, start[2]])
            on_one_foot[:, :2] -= self._checker.swing_zmp_shift(
                initial, goal, parts, maps.knots[first : last + 1], center
            )
        return reference

    def _evaluate_path(
        self,
        initial: InitialState,
        goal: Goal,
        path: CenterPath,
        outcome: Outcome,
        corrections: int,
        notes: tuple[str, ...],
    ) -> MotionSegment:
        """Return the segment of a path, with its margins."""
        parts = segment_phases(initial, goal, float(path.maps.knots[-1]), self.settings)
        margins = self._checker.margins(initial, goal, path, parts)
        return MotionSegment(initial, goal, outcome, path, parts, corrections, *margins, notes, self.settings.curve)


def _shifted_goal(requested: Goal, goal: Goal, up: float, lift: float) -> Goal:
    """Return `goal` with the CoM raised by `up` and the lift of the foot set to `lift` (m), and notes about both."""
    center = goal.points.center + np.array([0.0, 0.0, up])
    rise, lift_reduction = float(center[2] - requested.points.center[2]), requested.lift - lift
    notes = list(requested.notes)
    if rise < -LEAST_REPORTED:
        notes.append(f"crouches by {-100 * rise:.1f} cm: the legs would not reach during the motion")
    if rise > LEAST_REPORTED:
        notes.append(f"rises by {100 * rise:.1f} cm: a leg cannot fold far enough during the motion")
    if lift_reduction > LEAST_REPORTED:
        notes.append(f"lifts the foot by {100 * lift_reduction:.1f} cm less: its leg cannot fold far enough")
    return replace(goal, points=goal.points.replace(center=center), lift=lift, notes=tuple(notes))
