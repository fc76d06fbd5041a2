"""Footsteps, the gait that places them, phases of a walk, stairs, and the swing foot between two of them."""

from __future__ import annotations

import cmath
import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from poise.arrays import Array
from poise.geometry import so3
from poise.robots import Foot, Side, State, other_side, side_sign
from poise.state import Snapshot


@dataclass(frozen=True)
class Footstep:
    """A foot on the ground.

    Args:
        side: which foot.
        x, y: middle of its sole in the world (m).
        yaw: where its toes point (rad, not wrapped: a walk may turn many times).
        z: height of the ground there (m).
    """

    side: Side
    x: float
    y: float
    yaw: float = 0.0
    z: float = 0.0

    @classmethod
    def of(cls, where: State | Snapshot, foot: Foot, yaw: float = 0.0) -> Footstep:
        """A foot as it stands; its yaw is the one next to that given (rad), so that a walk may turn many times."""
        pose = where.pose(foot)
        x, y, z = (float(value) for value in pose.act(foot.sole.center))
        return cls(foot.side, x, y, yaw + so3.wrap_angle(so3.yaw_of(pose.rotation) - yaw), z)

    @property
    def place(self) -> complex:
        """Middle of the sole, from above, as x + i y (m)."""
        return complex(self.x, self.y)

    @property
    def heading(self) -> complex:
        """Where the toes point, of length one."""
        return cmath.exp(1j * self.yaw)

    def with_place(self, place: complex, z: float | None = None) -> Footstep:
        """The same foot elsewhere."""
        return Footstep(self.side, place.real, place.imag, self.yaw, self.z if z is None else z)

    @property
    def position_xy(self) -> Array:
        """Middle of the sole, from above (m, 2)."""
        return np.array([self.x, self.y])

    @property
    def rotation(self) -> Array:
        """world_from_foot of a flat foot."""
        return so3.yaw_matrix(self.yaw)

    def corners(self, half: complex) -> list[complex]:
        """Corners of a sole of this half length and width (m), from above, counter-clockwise from the front left."""
        place, heading, (a, b) = self.place, self.heading, (half.real, half.imag)
        return [place + complex(x, y) * heading for x, y in ((a, b), (-a, b), (-a, -b), (a, -b))]

    @property
    def position(self) -> Array:
        """Middle of the sole (m, 3)."""
        return np.array([self.x, self.y, self.z])


@dataclass(frozen=True)
class StepGeometry:
    """What each step adds.

    Args:
        forward: m per step, negative backwards.
        sideways: m per step of both feet together, positive to the left.
        turn: rad per step, positive to the left.
        width: between the middles of the feet (m).
    """

    forward: float = 0.0
    sideways: float = 0.0
    turn: float = 0.0
    width: float = 0.2

    def next_footstep(self, support: Footstep, z: float | None = None) -> Footstep:
        """Where the other foot goes while this one stands.

        The feet walk on both sides of a line that turns by `turn` per step. Sideways, only the foot on the side that
        the walk goes to steps out, by twice the amount; the other follows.
        """
        side = other_side(support.side)
        outward = side_sign(side)
        aside = outward * self.width + 2.0 * self.sideways * (self.sideways * outward > 0.0)
        at = support.place + complex(self.forward, aside) * cmath.exp(1j * (support.yaw + 0.5 * self.turn))
        return Footstep(side, at.real, at.imag, support.yaw + self.turn, support.z if z is None else z)

    def footstep_beside(self, support: Footstep) -> Footstep:
        """Where the other foot goes to end side by side."""
        return StepGeometry(width=self.width).next_footstep(support)

    @classmethod
    def from_speed(cls, speed: tuple[float, float, float], step_seconds: float, width: float) -> StepGeometry:
        """The gait that walks at (vx, vy, turning rate) in m/s and rad/s."""
        vx, vy, wz = speed
        return cls(vx * step_seconds, vy * step_seconds, wz * step_seconds, width)


# -- Phases of a walk ------------------------------------------------------------------------------------------------


#: Of "double" and below both feet stand; "starting" shifts the weight, "stopping" brings it to rest.
PhaseKind = Literal["single", "double", "standing", "starting", "stopping"]


@dataclass(frozen=True)
class GaitPhase:
    """A part of a walk.

    Attributes:
        kind: on one foot, or what both feet do.
        begin: when it began (s).
        seconds: how long it lasts; infinite for standing.
        support: the foot that bears, or will bear.
        other_foot: the other foot, where it stands or stood.
        goal: where that foot goes; where nothing swings, the support.
        steps: how many were made before.
    """

    kind: PhaseKind
    begin: float
    seconds: float
    support: Footstep
    other_foot: Footstep
    goal: Footstep
    steps: int = 0

    @property
    def name(self) -> str:
        """As recordings call it."""
        if self.kind == "single":
            return f"{self.support.side} support"
        return "double support" if self.kind == "double" else self.kind

    @property
    def middle(self) -> complex:
        """Between the feet (m)."""
        return 0.5 * (self.support.place + self.other_foot.place)

    @property
    def stance_feet(self) -> tuple[Footstep, ...]:
        """The feet on the ground."""
        return (self.support,) if self.kind == "single" else (self.support, self.other_foot)

    def elapsed(self, time: float) -> float:
        return time - self.begin

    def is_over(self, time: float) -> bool:
        return time - self.begin >= self.seconds - 1e-9

    def first_support_feet(self, speed: tuple[float, float, float]) -> tuple[Footstep, Footstep]:
        """Which foot stands first and which goes: the right one stands, unless the walk goes or turns to the right."""
        _, aside, turn = speed
        side = "left" if aside < 0.0 or (aside == 0.0 and turn < 0.0) else "right"
        return (self.support, self.other_foot) if self.support.side == side else (self.other_foot, self.support)

    # -- what comes next -------------------------------------------------------------------------------------------

    def starting_phase(self, time: float, seconds: float, support_foot: Footstep, swing_foot: Footstep) -> GaitPhase:
        """The weight passes to the foot that stays."""
        return GaitPhase("starting", time, seconds, support_foot, swing_foot, support_foot, self.steps)

    def single_support_phase(self, time: float, seconds: float, goal: Footstep) -> GaitPhase:
        """The other foot is lifted."""
        swinging = self.other_foot if self.other_foot.side == goal.side else self.support
        support_foot = self.support if self.support.side == other_side(goal.side) else self.other_foot
        return GaitPhase("single", time, seconds, support_foot, swinging, goal, self.steps)

    def touchdown_phase(self, time: float, seconds: float, landing_foot: Footstep, kind: PhaseKind) -> GaitPhase:
        """The foot that swung has landed, and will bear next."""
        return GaitPhase(kind, time, seconds, landing_foot, self.support, landing_foot, self.steps + 1)

    def standing_phase(self, time: float) -> GaitPhase:
        """Both feet stand, until something happens."""
        return replace(self, kind="standing", begin=time, seconds=math.inf)


# -- Stairway: stairs that a plan knows of, and where feet go on them ------------------------------------------------


#: A sole is kept this far from the edge of a tread (m): what a step lands off its place.
TREAD_CLEARANCE = 0.02


@dataclass(frozen=True)
class Stairway:
    """Stairs that rise along x.

    Args:
        begin: where the first one rises (m).
        rise: of one (m); negative ones lead down.
        run: depth of one (m).
        count: of them.
        back, front: how far a sole reaches behind and before its middle (m).
        clearance: that a sole keeps from the edge of a tread (m).
        half_width: how far a sole reaches to either side of its middle (m); zero: feet point along x, more or less.

    >>> plan = FootstepPlan(gait, steps=20, ground=Stairway(0.4, 0.05, 0.3, 4, back=0.085, front=0.085).place_on_tread)
    """

    begin: float
    rise: float
    run: float
    count: int
    back: float
    front: float
    clearance: float = TREAD_CLEARANCE
    half_width: float = 0.0

    def place_on_tread(self, step: Footstep) -> Footstep:
        """The footstep on the stairs, moved along until its whole sole has one tread under it, if one is so deep."""
        c, s = abs(math.cos(step.yaw)), self.half_width * abs(math.sin(step.yaw))
        back, front = (max(end, end * c + s) + self.clearance for end in (self.back, self.front))
        x = self._clear_of_edge(step.x, back, front) if back + front <= self.run else step.x
        return step.with_place(complex(x, step.y), self.rise * self._tread_number(x))

    def _tread_number(self, x: float) -> int:
        return min(max(math.floor((x - self.begin) / self.run) + 1, 0), self.count)

    def _clear_of_edge(self, x: float, back: float, front: float) -> float:
        nearest = min(max(round((x - self.begin) / self.run), 0), self.count - 1)
        edge = self.begin + nearest * self.run
        low, high = edge - front, edge + back
        if not low < x < high:
            return x
        return low if x < edge else high


# -- Trajectory of the swing foot towards a footstep that may still move ---------------------------------------------


#: The foot is highest after this share of the swing: it leaves quickly and comes down slowly.
APEX_SHARE = 0.48
#: There it falls by so many heights per T²: like s³(1-s)³, the curve that asks for the least lift of the hip at its
#: begin; a foot that rested at its highest would take twice of that.
APEX_ACCELERATION = 22.0
#: How fast it touches down, m/s: so slow that the ground hardly notices, so fast that it arrives.
TOUCHDOWN_SPEED = 0.1
#: A foot that finds no ground goes on down, ever faster, up to this (m/s) by this (m/s²): a robot drops no faster.
SEARCH_SPEED, SEARCH_ACCELERATION = 0.35, 3.0
#: Onto a stair the foot is lifted for this share of the swing before it goes ahead; a rise of more than so much (m) is
#: a stair.
LIFT_SHARE, LEAST_STAIR = 0.22, 0.01
#: Down a stair it is above its place for this share of the swing before it lands: its heel clears the edge.
HOVER_SHARE = 0.2
#: With less than this left, s, the curve is not bent any more.
LEAST_REPLAN_TIME = 0.02

CurvePoint = tuple[complex, complex, complex]


def quintic_point(now: CurvePoint, end: CurvePoint, remaining: float, after: float) -> CurvePoint:
    """Value, rate and acceleration after some seconds, on the quintic that reaches `end` in `remaining` seconds."""
    (x, v, a), (x1, v1, a1), T = now, end, remaining
    s = min(after / T, 1.0)
    D = x1 - x - (v + 0.5 * a * T) * T
    V = (v1 - v - a * T) * T
    A = (a1 - a) * T * T
    c3, c4, c5 = 10.0 * D - 4.0 * V + 0.5 * A, -15.0 * D + 7.0 * V - A, 6.0 * D - 3.0 * V + 0.5 * A
    t = s * T
    value = x + t * (v + 0.5 * t * a) + s**3 * (c3 + s * (c4 + s * c5))
    rate = v + a * t + s**2 * (3.0 * c3 + s * (4.0 * c4 + s * 5.0 * c5)) / T
    return value, rate, a + s * (6.0 * c3 + s * (12.0 * c4 + s * 20.0 * c5)) / (T * T)


@dataclass(frozen=True)
class SwingTrajectory:
    """How the middle of a sole moves, and how its motion goes on.

    It is planned anew at every tick from its own last value, so a footstep that moves bends the curve and never makes
    it jump.

    Attributes:
        plane: place x + i y (m), its rate and acceleration.
        height: the same of z (m).
        yaw: the same of yaw (rad).
        apex: how high it is lifted (m, in the world).
        lift: how high that is above the higher of both ends (m).
        lift_share: for which share of the swing it is lifted before it goes anywhere.
        hover_share: for which share of it it only comes down.
    """

    plane: CurvePoint
    height: CurvePoint
    yaw: CurvePoint
    apex: float
    lift: float
    lift_share: float = 0.0
    hover_share: float = 0.0

    @classmethod
    def of(cls, start: Footstep, goal: Footstep, lift: float) -> SwingTrajectory:
        """At rest where a foot stands, about to be lifted above the higher of both ends."""
        rise = goal.z - start.z
        apex = max(start.z, goal.z) + lift
        lift_share, hover_share = LIFT_SHARE * (rise > LEAST_STAIR), HOVER_SHARE * (rise < -LEAST_STAIR)
        still = (start.place, 0.0, 0.0), (start.z, 0.0, 0.0), (start.yaw, 0.0, 0.0)
        return cls(*still, apex, lift + max(rise, 0.0), lift_share, hover_share)

    def rest_at(self, at: Footstep) -> SwingTrajectory:
        """The foot as it rests on something that it met early."""
        return replace(self, plane=(at.place, 0.0, 0.0), height=(at.z, 0.0, 0.0), yaw=(at.yaw, 0.0, 0.0))

    def advance(self, goal: Footstep, elapsed: float, remaining: float, period: float) -> SwingTrajectory:
        """One period later, with so many seconds since its begin and until touchdown."""
        if remaining <= LEAST_REPLAN_TIME:  # straight down, until something is touched
            (place, _, _), (z, fall, _), (yaw, _, _) = self.plane, self.height, self.yaw
            faster = (
                min(fall.real, -TOUCHDOWN_SPEED)
                if remaining > 0.0
                else max(fall.real - SEARCH_ACCELERATION * period, -SEARCH_SPEED)
            )
            return replace(
                self, plane=(place, 0.0, 0.0), height=(z + period * faster, faster, 0.0), yaw=(yaw, 0.0, 0.0)
            )
        duration = elapsed + remaining
        there = remaining - self.hover_share * duration
        if elapsed < self.lift_share * duration:
            plane = self.plane
        elif there > LEAST_REPLAN_TIME:
            plane = quintic_point(self.plane, (goal.place, 0.0, 0.0), there, period)
        else:
            plane = quintic_point(self.plane, (goal.place, 0.0, 0.0), max(remaining, LEAST_REPLAN_TIME), period)
        turn = quintic_point(self.yaw, (goal.yaw, 0.0, 0.0), remaining, period)
        up = APEX_SHARE * (elapsed + remaining) - elapsed
        crest = -APEX_ACCELERATION * self.lift / (elapsed + remaining) ** 2
        if up > LEAST_REPLAN_TIME:
            height = quintic_point(self.height, (self.apex, 0.0, crest), up, period)
        else:
            height = quintic_point(self.height, (goal.z, -TOUCHDOWN_SPEED, 0.0), remaining, period)
        return replace(self, plane=plane, height=height, yaw=turn)
