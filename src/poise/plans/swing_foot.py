"""Trajectory of the swing foot towards a footstep that may still move."""

from __future__ import annotations

from dataclasses import dataclass, replace

from poise.plans.footsteps import Footstep

#: The foot is highest after this share of the swing: it leaves quickly and comes down slowly.
APEX = 0.48
#: There it falls by so many heights per T²: like s³(1-s)³, the curve that asks for the least lift of the hip at its
#: begin; a foot that rested at its highest would take twice of that.
CREST = 22.0
#: How fast it touches down, m/s: so slow that the ground hardly notices, so fast that it arrives.
LANDING = 0.1
#: A foot that finds no ground goes on down, ever faster, up to this (m/s) by this (m/s²): a robot drops no faster.
SEEKING, HASTE = 0.35, 3.0
#: Onto a stair the foot is lifted for this share of the swing before it goes ahead; a rise of more than so much (m) is
#: a stair.
LIFTING, STAIR = 0.22, 0.01
#: Down a stair it is above its place for this share of the swing before it lands: its heel clears the edge.
HOVERING = 0.2
#: With less than this left, s, the curve is not bent any more.
FROZEN = 0.02

Motion = tuple[complex, complex, complex]


def toward(now: Motion, end: Motion, left: float, after: float) -> Motion:
    """Value, rate and acceleration after some seconds, on the quintic that reaches `end` when `left` have passed."""
    (x, v, a), (x1, v1, a1), T = now, end, left
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
class Swing:
    """How the middle of a sole moves, and how its motion goes on.

    It is planned anew at every tick from its own last value, so a footstep that moves bends the curve and never makes
    it jump.

    Attributes:
        plane: place x + i y (m), its rate and acceleration.
        height: the same of z (m).
        turn: the same of yaw (rad).
        apex: how high it is lifted (m, in the world).
        lift: how high that is above the higher of both ends (m).
        waits: for which share of the swing it is lifted before it goes anywhere.
        hovers: for which share of it it only comes down.
    """

    plane: Motion
    height: Motion
    turn: Motion
    apex: float
    lift: float
    waits: float = 0.0
    hovers: float = 0.0

    @classmethod
    def of(cls, start: Footstep, goal: Footstep, lift: float) -> Swing:
        """At rest where a foot stands, about to be lifted above the higher of both ends."""
        rise = goal.z - start.z
        apex = max(start.z, goal.z) + lift
        waits, hovers = LIFTING * (rise > STAIR), HOVERING * (rise < -STAIR)
        still = (start.place, 0.0, 0.0), (start.z, 0.0, 0.0), (start.yaw, 0.0, 0.0)
        return cls(*still, apex, lift + max(rise, 0.0), waits, hovers)

    def resting(self, at: Footstep) -> Swing:
        """The foot as it rests on something that it met early."""
        return replace(self, plane=(at.place, 0.0, 0.0), height=(at.z, 0.0, 0.0), turn=(at.yaw, 0.0, 0.0))

    def after(self, goal: Footstep, elapsed: float, left: float, period: float) -> Swing:
        """One period later, with so many seconds since its begin and until touchdown."""
        if left <= FROZEN:  # straight down, until something is touched
            (place, _, _), (z, fall, _), (yaw, _, _) = self.plane, self.height, self.turn
            faster = min(fall.real, -LANDING) if left > 0.0 else max(fall.real - HASTE * period, -SEEKING)
            return replace(
                self, plane=(place, 0.0, 0.0), height=(z + period * faster, faster, 0.0), turn=(yaw, 0.0, 0.0)
            )
        whole = elapsed + left
        there = left - self.hovers * whole
        if elapsed < self.waits * whole:
            plane = self.plane
        elif there > FROZEN:
            plane = toward(self.plane, (goal.place, 0.0, 0.0), there, period)
        else:
            plane = toward(self.plane, (goal.place, 0.0, 0.0), max(left, FROZEN), period)
        turn = toward(self.turn, (goal.yaw, 0.0, 0.0), left, period)
        up = APEX * (elapsed + left) - elapsed
        crest = -CREST * self.lift / (elapsed + left) ** 2
        if up > FROZEN:
            height = toward(self.height, (self.apex, 0.0, crest), up, period)
        else:
            height = toward(self.height, (goal.z, -LANDING, 0.0), left, period)
        return replace(self, plane=plane, height=height, turn=turn)
