"""Footsteps, the gait that places them, the phases of a walk over them, and stairs under them."""

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

    def moved(self, place: complex, z: float | None = None) -> Footstep:
        """The same foot elsewhere."""
        return Footstep(self.side, place.real, place.imag, self.yaw, self.z if z is None else z)

    @property
    def point(self) -> Array:
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
class Gait:
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

    def after(self, support: Footstep, z: float | None = None) -> Footstep:
        """Where the other foot goes while this one stands.

        The feet walk on both sides of a line that turns by `turn` per step. Sideways, only the foot on the side that
        the walk goes to steps out, by twice the amount; the other follows.
        """
        side = other_side(support.side)
        outward = side_sign(side)
        aside = outward * self.width + 2.0 * self.sideways * (self.sideways * outward > 0.0)
        at = support.place + complex(self.forward, aside) * cmath.exp(1j * (support.yaw + 0.5 * self.turn))
        return Footstep(side, at.real, at.imag, support.yaw + self.turn, support.z if z is None else z)

    def beside(self, support: Footstep) -> Footstep:
        """Where the other foot goes to end side by side."""
        return Gait(width=self.width).after(support)

    @classmethod
    def of_speed(cls, speed: tuple[float, float, float], step_seconds: float, width: float) -> Gait:
        """The gait that walks at (vx, vy, turning rate) in m/s and rad/s."""
        vx, vy, wz = speed
        return cls(vx * step_seconds, vy * step_seconds, wz * step_seconds, width)


# -- Phases of a walk: the three states of [Dalibard2012] section III.C, and how it begins and ends ------------------


#: Of "double" and below both feet stand; "starting" shifts the weight, "stopping" brings it to rest.
Kind = Literal["single", "double", "standing", "starting", "stopping"]


@dataclass(frozen=True)
class Phase:
    """A part of a walk.

    Attributes:
        kind: on one foot, or what both feet do.
        begin: when it began (s).
        seconds: how long it lasts; infinite for standing.
        support: the foot that bears, or will bear.
        last: the other foot, where it stands or stood.
        goal: where that foot goes; where nothing swings, the support.
        steps: how many were made before.
    """

    kind: Kind
    begin: float
    seconds: float
    support: Footstep
    last: Footstep
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
        return 0.5 * (self.support.place + self.last.place)

    @property
    def standing(self) -> tuple[Footstep, ...]:
        """The feet on the ground."""
        return (self.support,) if self.kind == "single" else (self.support, self.last)

    def elapsed(self, time: float) -> float:
        return time - self.begin

    def over(self, time: float) -> bool:
        return time - self.begin >= self.seconds - 1e-9

    def first_support(self, speed: tuple[float, float, float]) -> tuple[Footstep, Footstep]:
        """Which foot stands first and which goes: the right one stands, unless the walk goes or turns to the right."""
        _, aside, turn = speed
        side = "left" if aside < 0.0 or (aside == 0.0 and turn < 0.0) else "right"
        return (self.support, self.last) if self.support.side == side else (self.last, self.support)

    # -- what comes next -------------------------------------------------------------------------------------------

    def starting(self, time: float, seconds: float, stays: Footstep, goes: Footstep) -> Phase:
        """The weight passes to the foot that stays."""
        return Phase("starting", time, seconds, stays, goes, stays, self.steps)

    def single(self, time: float, seconds: float, goal: Footstep) -> Phase:
        """The other foot is lifted."""
        swinging = self.last if self.last.side == goal.side else self.support
        stays = self.support if self.support.side == other_side(goal.side) else self.last
        return Phase("single", time, seconds, stays, swinging, goal, self.steps)

    def landed(self, time: float, seconds: float, landed: Footstep, kind: Kind) -> Phase:
        """The foot that swung has landed, and will bear next."""
        return Phase(kind, time, seconds, landed, self.support, landed, self.steps + 1)

    def rest(self, time: float) -> Phase:
        """Both feet stand, until something happens."""
        return replace(self, kind="standing", begin=time, seconds=math.inf)


# -- Stairway: stairs that a plan knows of, and where feet go on them ------------------------------------------------


#: A sole is kept this far from the edge of a tread (m): what a step lands off its place.
CLEAR = 0.02


@dataclass(frozen=True)
class Stairway:
    """Stairs that rise along x.

    Args:
        begin: where the first one rises (m).
        rise: of one (m); negative ones lead down.
        run: depth of one (m).
        count: of them.
        back, front: how far a sole reaches behind and before its middle (m).
        clear: that a sole keeps from the edge of a tread (m).
        side: how far a sole reaches to either side of its middle (m); zero: feet point along x, more or less.

    >>> route = Route(pace, steps=20, ground=Stairway(0.4, 0.05, 0.3, 4, back=0.085, front=0.085).under)
    """

    begin: float
    rise: float
    run: float
    count: int
    back: float
    front: float
    clear: float = CLEAR
    side: float = 0.0

    def under(self, step: Footstep) -> Footstep:
        """The footstep on the stairs, moved along until its whole sole has one tread under it, if one is so deep."""
        c, s = abs(math.cos(step.yaw)), self.side * abs(math.sin(step.yaw))
        back, front = (max(end, end * c + s) + self.clear for end in (self.back, self.front))
        x = self._moved(step.x, back, front) if back + front <= self.run else step.x
        return step.moved(complex(x, step.y), self.rise * self._tread(x))

    def _tread(self, x: float) -> int:
        return min(max(math.floor((x - self.begin) / self.run) + 1, 0), self.count)

    def _moved(self, x: float, back: float, front: float) -> float:
        nearest = min(max(round((x - self.begin) / self.run), 0), self.count - 1)
        edge = self.begin + nearest * self.run
        low, high = edge - front, edge + back
        if not low < x < high:
            return x
        return low if x < edge else high
