"""Pilot: an operator who looks at the robot, and guides one point after the other to a place.

Where a `Script` says what the hands of an operator do whatever happens, a pilot is told what they are after. It sees
where the navigation points are before each motion segment, and gives the stick that a person would: full as long as the
place is far, less when it is near.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from poise.plans.footsteps import Footstep, other
from poise.plans.guidance import HandPoint, Points, Stick, Workspace
from poise.plans.guidance.stick import mode_named
from poise.robots.parts import Side

Array = NDArray[np.float64]

#: A foot is where it should be within this share of the leg: 3 mm on a robot of 58 cm.
THERE = 0.012
#: A foot that hangs over its place is within this share; what is left is made up for while it lands.
ABOVE = 0.03
#: The trunk is where it should be within this share of the leg, and this angle (rad): feet stand about as exactly.
NEAR, STRAIGHT = 0.12, 0.06
#: A hand is where it should be within this share of the leg: 3 mm on a robot of 58 cm.
TOUCHING = 0.012
#: An operator turns where the way leads, by no more than this (rad), until it is as near as this share of the leg.
TURN, HEADING = 0.3, 0.8


class Errand(Protocol):
    """One thing to be done by guiding one point."""

    def stick(self, points: Points, workspace: Workspace) -> Stick | None:
        """What to say when the points are seen like this; None when it is done."""


@dataclass(frozen=True)
class FootTo:
    """A foot is lifted, moved through the air, and put down ([Sugihara2008], section V: one-foot standing).

    Args:
        side: which foot.
        x, y, yaw: of the middle of its sole (m, rad).
    """

    side: Side
    x: float
    y: float
    yaw: float = 0.0

    def stick(self, points: Points, workspace: Workspace) -> Stick | None:
        foot, stance = points.feet[self.side], points.feet[other(self.side)]
        off = (complex(self.x, self.y) - foot.place) * stance.heading.conjugate()
        turn = (self.yaw - foot.yaw) / workspace.foot_turn
        along, across = off.real / workspace.foot[0], off.imag / workspace.foot[1]
        if points.lifted == self.side:
            hangs = abs(off) < ABOVE * workspace.leg
            return Stick(mode_named(f"{self.side} foot"), (along, across, -1.0 if hangs else 0.0, 0.0, 0.0, turn))
        if abs(off) < THERE * workspace.leg:
            return None
        return Stick(mode_named(f"{self.side} foot"), (0.0, 0.0, 1.0, 0.0, 0.0, 0.0))


@dataclass(frozen=True)
class TrunkTo:
    """The trunk is guided to a place; the feet follow by themselves.

    Args:
        x, y, yaw: of the trunk (m, rad).
    """

    x: float
    y: float
    yaw: float = 0.0

    def stick(self, points: Points, workspace: Workspace) -> Stick | None:
        # The middle of the feet is what has arrived: the centre of mass sways.
        feet: tuple[Footstep, ...] = tuple(points.feet.values())
        off = complex(self.x, self.y) - sum((foot.place for foot in feet), 0j) / len(feet)
        heading = float(points.attitude[2])
        wanted = self.yaw
        if abs(off) > HEADING * workspace.leg:
            wanted += max(-TURN, min(TURN, cmath.phase(off * cmath.exp(-1j * self.yaw))))
        elif abs(off) < NEAR * workspace.leg and abs(self.yaw - heading) < STRAIGHT and points.lifted is None:
            return None
        off *= cmath.exp(-1j * heading)
        axes = (off.real / workspace.trunk[0], off.imag / workspace.trunk[1], 0.0, 0.0, 0.0)
        return Stick("trunk", (*axes, (wanted - heading) / workspace.trunk_turn[2]))


@dataclass(frozen=True)
class HandTo:
    """A hand is guided to a place; the body follows, with a step if it must.

    Args:
        side: which hand.
        x, y, z: its place (m).
    """

    side: Side
    x: float
    y: float
    z: float

    def stick(self, points: Points, workspace: Workspace) -> Stick | None:
        x, y, z = points.hand(self.side).tolist()
        off = complex(self.x - x, self.y - y) * cmath.exp(-1j * float(points.attitude[2]))
        if math.hypot(abs(off), self.z - z) < TOUCHING * workspace.leg:
            return None
        far = workspace.hand
        return Stick(
            mode_named(f"{self.side} hand"), (off.real / far, off.imag / far, (self.z - z) / far, 0.0, 0.0, 0.0)
        )


class Pilot:
    """Runs errands, one after the other, by guiding the robot that it sees.

    Args:
        errands: in their order.
        workspace: of the robot: what a full stick is worth.
        seconds: for which it is patient.
        eyes: where the hands really are in the world, by side (m, 3), for who looks at the robot itself; None: as the
            navigation points have them, which is where they are led.

    Attributes:
        done: whether all is done, and the robot had a segment's time to come to rest.
        at: number of the errand that it is at.

    >>> pilot = Pilot([TrunkTo(1.0, 0.0), HandTo("left", 1.3, 0.2, 0.9)], Workspace.of(robot))
    >>> navigate = Navigate(robot, pilot)
    """

    def __init__(
        self,
        errands: Sequence[Errand],
        workspace: Workspace,
        seconds: float = 60.0,
        eyes: Callable[[], Mapping[Side, Array]] | None = None,
    ) -> None:
        self.errands, self.workspace, self.seconds, self.eyes = tuple(errands), workspace, seconds, eyes
        self.at, self.done = 0, False
        self._points: Points | None = None
        self._last = Stick()

    def see(self, points: Points) -> None:
        """Looks at the robot."""
        if self.eyes is not None:
            back, center = points.trunk.T, points.center
            hands = {
                side: HandPoint(back @ (place - center), points.hands[side].attitude)
                for side, place in self.eyes().items()
            }
            points = points.replace(hands={**points.hands, **hands})
        self._points = points

    def read(self, time: float) -> Stick:
        """The stick for the errand that it is at; centred, in the last mode, when all is done."""
        if self._points is None:
            return self._last
        while self.at < len(self.errands):
            stick = self.errands[self.at].stick(self._points, self.workspace)
            if stick is not None:
                self._last = stick
                return stick
            self.at += 1
        self.done = self._last.still
        self._last = Stick(self._last.mode)
        return self._last
