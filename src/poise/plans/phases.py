"""Phases of a walk: the three states of [Dalibard2012] section III.C, and how it begins and ends."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

from poise.plans.footsteps import Footstep, other

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
        stays = self.support if self.support.side == other(goal.side) else self.last
        return Phase("single", time, seconds, stays, swinging, goal, self.steps)

    def landed(self, time: float, seconds: float, landed: Footstep, kind: Kind) -> Phase:
        """The foot that swung has landed, and will bear next."""
        return Phase(kind, time, seconds, landed, self.support, landed, self.steps + 1)

    def rest(self, time: float) -> Phase:
        """Both feet stand, until something happens."""
        return replace(self, kind="standing", begin=time, seconds=math.inf)
