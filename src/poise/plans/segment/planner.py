"""Planner of motion segments: from a beginning and any goal to a motion that the ground can bear.

**Never bankrupt.** A segment is accepted only if (i) the zero moment point of the whole body stays inside the support
at every sample, and (ii) its end can be held: with ``ξ = p + v/ω`` at the end, the feet still and u = ξ for good,

    p(t) = ξ + (p_T - ξ) e^{-ωt}

comes to rest over ξ, with its zero moment point inside the support. So from the end of every accepted segment there is
one more motion that the ground can bear, the hold, whose own end can be held as well; and the first segment begins at
rest over the feet. By induction no input leads to where nothing is possible: the paper's "abort" becomes "hold".

Which motion is taken, in this order: the commanded one in T₀; the same in T₀ + ΔT, T₀ + 2 ΔT, ... up to T_max
([Sugihara2008] section III-B); *keep*: the feet stay, the body goes back over their middle; *hold*. The middle one
matters: a body that is only ever held stops near an edge, from where the next command fails too.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property

import numpy as np

from poise.arrays import Array
from poise.geometry import minimum_jerk
from poise.plans.footsteps import Footstep
from poise.plans.guidance.limb_reach import Legs
from poise.plans.guidance.navigation_points import Goal
from poise.plans.segment.balance_check import Judge
from poise.plans.segment.center_path import PIECES, Basis, CenterPath, basis
from poise.plans.segment.limb_curves import slowest_swing
from poise.plans.segment.segment import (
    Beginning,
    Outcome,
    Segment,
    SegmentPhase,
    SegmentSettings,
    divided,
    phases,
    shares,
)
from poise.plans.segment.three_masses import Body
from poise.plans.support_region import Support
from poise.robots import GRAVITY, other_side
from poise.solvers import Lexicographic, Program, Rows

#: Every so many samples the pressure is bounded; between them it is all but straight.
EVERY = 4
#: The bound is kept by this much more (m): the pressure of the whole body differs a little from that of its centre.
PRESSURE_SPARE = 0.001
#: Weight of coming to rest over the middle, beside u there throughout.
ARRIVING = 30.0


def kept(begin: Beginning, goal: Array, maps: Basis, body: Body) -> CenterPath | None:
    """The path, or None if the beginning is no number.

    With p and u linear in the knots, ``z = p - (p̈ h) / g = (1 - κ) p + κ u`` with ``κ = ω² h / g`` at a height h that
    stays, and each edge ``n·z <= b`` of the support is a row per sample. Level 0 asks for these and for ξ at the end,
    level 1 for u at the goal, and for ξ and p there at the end.

    Args:
        goal: where to come to rest (m, 3).
        maps: of the duration.
    """
    omega, points = body.omega, begin.points
    start = np.stack([points.center, begin.rates.center])
    support = Support(points.standing, body.half, body.margin + PRESSURE_SPARE)
    ratio = omega**2 * (float(points.center[2]) - support.ground) / GRAVITY
    place = (1.0 - ratio) * maps.place[::EVERY] + ratio * maps.repellent[::EVERY]
    rows = np.concatenate([place, maps.end_divergent[None]])
    free, led = rows[:, :2] @ start[:, :2], rows[:, 2:]
    normals, offsets = support.edges
    A = np.concatenate([np.hstack([n[0] * led, n[1] * led]) for n in normals])
    upper = np.concatenate([o - free @ n for n, o in zip(normals, offsets, strict=True)])
    ends = np.stack([maps.end_divergent, maps.knot_place[-1]])
    missing = goal[:2] - ends[:, :2] @ start[:, :2]
    K = len(maps.knots)
    wish = np.concatenate([np.eye(2 * K), ARRIVING * np.kron(np.eye(2), ends[:, 2:])])
    asked = np.concatenate([np.repeat(goal[:2], K), ARRIVING * missing.T.ravel()])
    if not (np.isfinite(upper).all() and np.isfinite(asked).all()):
        return None
    program = Program([Rows(A, np.full(len(A), -np.inf), upper), Rows(wish, asked, asked)])
    u = np.empty((K, 3))
    u[:, :2] = Lexicographic().solve(program).x.reshape(2, K).T
    u[:, 2] = points.center[2] + begin.rates.center[2] / omega
    return CenterPath(maps, omega, start, u)


# -- Clearing: a stepping foot goes around the other one -------------------------------------------------------------


#: Soles keep this far apart on the way, as a share of their width: 3 mm on a small robot.
APART = 0.04
#: Where along a swing they are looked at.
SHARES = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)


def cleared(begin: Beginning, goal: Goal, half: complex) -> Goal:
    """The goal with a swing that bulges outwards, if the soles came too near on the straight way.

    Both ends are far enough from the other foot, but a foot that turns on its way needs more room in between.

    Args:
        half: half length and half width of a sole (m).
    """
    step = goal.step
    if step is None:
        return goal
    stance, start, end = begin.points.feet[other_side(step)], begin.points.feet[step], goal.points.feet[step]
    outward = stance.heading * (1j if step == "left" else -1j)
    lack = 0.0
    for s in SHARES:
        share = minimum_jerk(s)[0]
        place = start.place + share * (end.place - start.place)
        foot = Footstep(step, place.real, place.imag, start.yaw + share * (end.yaw - start.yaw))
        missing = 2.0 * APART * half.imag - gap(foot, stance, half)
        lack = max(lack, missing / (64.0 * (s * (1.0 - s)) ** 3))
    return goal if lack == 0.0 else replace(goal, bulge=lack * outward)


def gap(a: Footstep, b: Footstep, half: complex) -> float:
    """Largest gap between two equal rectangles over all separating axes (m); negative where they overlap."""
    best = -math.inf
    for axis in (a.heading, 1j * a.heading, b.heading, 1j * b.heading):
        reach = sum(
            half.real * abs((foot.heading * axis.conjugate()).real)
            + half.imag * abs((1j * foot.heading * axis.conjugate()).real)
            for foot in (a, b)
        )
        best = max(best, abs(((b.place - a.place) * axis.conjugate()).real) - reach)
    return best


# -- From a beginning and a goal to a motion segment that the ground can bear ----------------------------------------


#: The default duration is so many time constants of the body: the paper's 0.5 s on its robot, and as slow for its size
#: on any other.
NATURAL = 3.0
#: Durations are whole multiples of this (s): few enough for their matrices to be known.
GRID = 0.02
#: So often a body is lowered further before a goal is given up, and so much of its height a leg may lack then: their
#: reach is that of a knee which is bent a little, and so has some to spare.
CROUCHES, LOOSE = 4, 0.01
#: Legs keep this share of the height of the centre of mass from being stretched.
SPARE = 0.02
#: Changes of a goal by less than this are not worth a word (m).
SAID = 0.002
#: A foot is lifted by this share of it at least.
LEAST = 0.02
#: Shares of a step that catches the body on two feet, on one, and on two again.
CATCHING = (0.05, 0.5, 0.45)


class Planner:
    """Plans segments of one body. It keeps nothing: the same beginning and goal give the same segment.

    Args:
        body: of the robot.
        settings: how.
        legs: how far they reach; None: as far as needed. Where a path would stretch them the body crouches.

    >>> planner = Planner(Body.of(robot))
    >>> segment = planner.plan(Beginning.at_rest(points), goal)
    >>> segment.outcome, segment.seconds, segment.margin
    """

    def __init__(self, body: Body, settings: SegmentSettings | None = None, legs: Legs | None = None) -> None:
        self.body, self.settings, self.legs = body, settings or SegmentSettings(), legs
        usual = self.settings.duration or NATURAL / body.omega
        self.usual = GRID * max(round(usual / GRID), 1)
        self.spare = SPARE * body.height
        self._judge = Judge(body, legs, self.settings.curve)

    def plan(self, begin: Beginning, goal: Goal) -> Segment:
        """The commanded motion if it is possible, and one that is if not."""
        numbers, count, crouched, why = self.settings, 0, 0, ""
        asked = goal = cleared(begin, goal, complex(*self.body.half))
        T = self.shortest(begin, goal)
        last = max(numbers.longest, T)
        while last + 1e-9 >= T:
            segment, why = self._tried(begin, goal, T, count)
            if segment is None:
                count, T = count + 1, T + numbers.increment
            elif segment.slack < self.spare and crouched < CROUCHES:
                crouched, goal = crouched + 1, self._lower(asked, goal, self.spare - segment.slack)
            elif segment.folded < self.spare and crouched < CROUCHES:
                crouched, goal = crouched + 1, self._higher(asked, goal, self.spare - segment.folded)
            elif segment.slack < -LOOSE * self.body.height:
                why = f"a leg is too short by {-1e3 * segment.slack:.0f} mm on the way"
                break
            else:
                return segment
        return self.kept(begin, count, (*goal.notes, f"given up: {why}, even in {min(T, last):.1f} s"))

    def _lower(self, asked: Goal, goal: Goal, missing: float) -> Goal:
        """The same goal with the body lower, so that the legs, which lack so much on the way (m), reach."""
        return _moved(asked, goal, -2.0 * missing - 0.002 * self.body.height, goal.lift)

    def _higher(self, asked: Goal, goal: Goal, missing: float) -> Goal:
        """The same goal with the foot less and the body more lifted: a leg lacks so much room on the way (m)."""
        lift = max(goal.lift - missing, min(goal.lift, LEAST * self.body.height))
        return _moved(asked, goal, max(missing - (goal.lift - lift), 0.0), lift)

    def shortest(self, begin: Beginning, goal: Goal) -> float:
        """The default duration, or a longer one where a knee is too slow for it (s)."""
        T = self.usual
        if goal.step is not None:
            start, end = begin.points.feet[goal.step], goal.points.feet[goal.step]
            way = (end.place - start.place) * begin.points.feet[other_side(goal.step)].heading.conjugate()
            air = slowest_swing(goal.lift, end.z - start.z, abs(way), self.body.shortening)
            air = max(air, self.body.calmest_swing(way))
            parts = zip(*shares(begin, goal, self.settings), strict=True)
            share = sum(part for part, alone in parts if alone)
            T = max(T, GRID * math.ceil(air / share / GRID))
        return T

    # -- what is possible ------------------------------------------------------------------------------------------

    def kept(self, begin: Beginning, corrections: int = 0, notes: tuple[str, ...] = ()) -> Segment:
        """The feet stay, the body goes back over their middle if it can; else it is held."""
        points = begin.points
        feet = points.standing
        middle = sum((foot.place for foot in feet), 0j) / len(feet)
        center = np.array([middle.real, middle.imag, points.center[2]])
        goal = self._coasting(begin, center, notes)
        for T in (self.usual, 2.0 * self.usual):
            path = kept(begin, center, self._maps(begin, goal, T), self.body)
            if path is not None:
                found = self._judged(begin, goal, path, "kept", corrections, notes)
                if found.margin >= 0.0 and self._judge.holdable(goal, *path.end):
                    return found
        return self.held(begin, corrections, (*notes, "held: the body cannot even go back over its feet"))

    def held(self, begin: Beginning, corrections: int = 0, notes: tuple[str, ...] = ()) -> Segment:
        """The body comes to rest over ξ."""
        points, omega = begin.points, self.body.omega
        xi = points.center + begin.rates.center / omega
        goal = self._coasting(begin, xi, notes)
        maps = self._maps(begin, goal, self.usual)
        start = np.stack([points.center, begin.rates.center])
        path = CenterPath(maps, omega, start, np.tile(xi, (len(maps.knots), 1)))
        return self._judged(begin, goal, path, "held", corrections, notes)

    def _coasting(self, begin: Beginning, center: Array, notes: tuple[str, ...]) -> Goal:
        """Everything stays but the centre; a foot that is on its way comes to rest in the air."""
        points, side = begin.points.replace(center=center), begin.points.lifted
        rate = None if side is None else begin.rates.feet.get(side)
        if side is None or rate is None or not rate.any():
            return Goal(points, notes=notes)
        foot, (x, y, _, yaw) = points.feet[side], (0.3 * self.usual * rate).tolist()
        rest = Footstep(side, foot.x + x, foot.y + y, foot.yaw + yaw, foot.z)
        return Goal(points.replace(feet={**points.feet, side: rest}), side, notes=notes)

    def caught(self, begin: Beginning, goal: Goal, air: float, pressure: complex) -> Segment:
        """A step of so many seconds in the air, at once and whether or not the ground can bear it.

        Args:
            pressure: where the standing foot presses meanwhile.
        """
        parts = CATCHING if begin.points.lifted is None else CATCHING[1:]
        whole = GRID * max(round(air / CATCHING[1] * sum(parts) / GRID), 1)
        return self._quick.attempt(begin, goal, whole, 0, pressure, "caught")

    @cached_property
    def _quick(self) -> Planner:
        """Plans steps that catch the body."""
        quickly = replace(self.settings, phases=CATCHING, lifting=CATCHING[2] / sum(CATCHING[1:]))
        return Planner(self.body, quickly, self.legs)

    # -- one attempt -----------------------------------------------------------------------------------------------

    def _tried(self, begin: Beginning, goal: Goal, T: float, count: int) -> tuple[Segment | None, str]:
        segment = self.attempt(begin, goal, T, count)
        if segment.margin < 0.0:
            return None, f"the zero moment point leaves the support by {-1e3 * segment.margin:.0f} mm"
        if not self._judge.holdable(goal, *segment.center.end):
            return None, "its end could not be held"
        return segment, ""

    def attempt(
        self,
        begin: Beginning,
        goal: Goal,
        T: float,
        count: int,
        pressure: complex | None = None,
        outcome: Outcome = "commanded",
    ) -> Segment:
        """The segment of least relaxation in a duration, whether or not the ground can bear it."""
        maps = self._maps(begin, goal, T)
        start = np.stack([begin.points.center, begin.rates.center])
        middle = self._middle(begin, goal, maps, phases(begin, goal, T, self.settings), pressure)
        path = CenterPath.relaxed(maps, self.body.omega, start, goal.points.center, middle, begin.repellent)
        return self._judged(begin, goal, path, outcome, count, goal.notes)

    def _maps(self, begin: Beginning, goal: Goal, T: float) -> Basis:
        return basis(*divided(begin, goal, T, self.settings), self.body.omega, self.settings.severity)

    def _middle(
        self, begin: Beginning, goal: Goal, maps: Basis, parts: tuple[SegmentPhase, ...], pressure: complex | None
    ) -> Array:
        """ū at the knots: the middle of the sole on one foot, or where it is to press; before that the begin, after it
        the goal."""
        start, end = begin.points.center, goal.points.center
        K = len(maps.knots)
        found = np.empty((K, 3))
        swings = [i for i, phase in enumerate(parts) if phase.swing is not None]
        if not swings:
            found[:] = start + np.linspace(0.0, 1.0, K)[:, None] * (end - start)
            return found
        first, last = swings[0] * PIECES, (swings[-1] + 1) * PIECES
        side = parts[swings[0]].swing
        assert side is not None
        stance = begin.points.feet[other_side(side)]
        found[:first], found[last + 1 :] = start, end
        alone = found[first : last + 1]
        alone[:] = start + np.linspace(0.0, 1.0, last + 1 - first)[:, None] * (end - start)
        alone[:, :2] = (stance.x, stance.y) if pressure is None else (pressure.real, pressure.imag)
        if self.settings.compensate and goal.step is not None:
            over = np.array([stance.x, stance.y, start[2]])
            alone[:, :2] -= self._judge.swinging(begin, goal, parts, maps.knots[first : last + 1], over)
        return found

    def _judged(
        self,
        begin: Beginning,
        goal: Goal,
        path: CenterPath,
        outcome: Outcome,
        corrections: int,
        notes: tuple[str, ...],
    ) -> Segment:
        """A segment with its margins."""
        parts = phases(begin, goal, float(path.maps.knots[-1]), self.settings)
        margins = self._judge.margins(begin, goal, path, parts)
        return Segment(begin, goal, outcome, path, parts, corrections, *margins, notes, self.settings.curve)


def _moved(asked: Goal, goal: Goal, up: float, lift: float) -> Goal:
    """A goal with the body higher (m) and the foot lifted so much, and what became of what was asked, in words."""
    center = goal.points.center + np.array([0.0, 0.0, up])
    rise, less = float(center[2] - asked.points.center[2]), asked.lift - lift
    notes = list(asked.notes)
    if rise < -SAID:
        notes.append(f"crouches by {-100 * rise:.1f} cm: the legs would not reach on the way")
    if rise > SAID:
        notes.append(f"rises by {100 * rise:.1f} cm: a leg would not fold so far on the way")
    if less > SAID:
        notes.append(f"lifts the foot by {100 * less:.1f} cm less: its leg would not fold so far")
    return replace(goal, points=goal.points.replace(center=center), lift=lift, notes=tuple(notes))
