"""From a beginning and a goal to a motion segment that the ground can bear, whatever the goal.

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
from numpy.typing import NDArray

from poise.plans.footsteps import Footstep, other
from poise.plans.guidance.goal import Goal
from poise.plans.guidance.legs import Legs
from poise.plans.segment.body import Body
from poise.plans.segment.center import PIECES, Basis, CenterPath, basis
from poise.plans.segment.clearing import cleared
from poise.plans.segment.judging import Judge
from poise.plans.segment.keeping import kept as kept_path
from poise.plans.segment.limbs import slowest_swing
from poise.plans.segment.segment import Beginning, Outcome, Phase, Segment
from poise.plans.segment.settings import SegmentSettings
from poise.plans.segment.timing import divided, phases, shares

Array = NDArray[np.float64]

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
            way = (end.place - start.place) * begin.points.feet[other(goal.step)].heading.conjugate()
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
            path = kept_path(begin, center, self._maps(begin, goal, T), self.body)
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
        self, begin: Beginning, goal: Goal, maps: Basis, parts: tuple[Phase, ...], pressure: complex | None
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
        stance = begin.points.feet[other(side)]
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
