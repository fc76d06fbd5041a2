"""Gait: the events and cycles of a human body in a recording."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.analysis import Phase
from poise.analysis.gait_cycle import Cycle, Lengths, gait_cycles, lengths
from poise.analysis.gait_error import GaitError
from poise.analysis.gait_events import GaitEvent, in_order
from poise.analysis.rotations import JOINTS
from poise.analysis.walking_direction import walking_direction
from poise.human.gait.reference import POINTS, Reference
from poise.recording import Recording
from poise.robots import Robot
from poise.robots.parts import SIDES, Side

Array = NDArray[np.float64]

BY_FILE = "Strikes and toe-offs are those that came with the trial."
BY_RULE = "Strikes and toe-offs were found in the motion of heels, forefeet and pelvis."


@dataclass(frozen=True, eq=False)
class Gait:
    """How a human body walks.

    Attributes:
        reference: its motion, on the floor if it walked on a treadmill.
        events: strikes and toe-offs, in the order of time.
        cycles: the complete ones, in the order of time; at least one.
        source: where the events come from, in a sentence.
    """

    reference: Reference
    events: tuple[GaitEvent, ...]
    cycles: tuple[Cycle, ...]
    source: str

    def of(self, side: Side) -> tuple[Cycle, ...]:
        """The cycles of one foot."""
        return tuple(cycle for cycle in self.cycles if cycle.side == side)

    @property
    def middle(self) -> Cycle:
        """The cycle that is farthest from both ends of the motion, of the right foot if it has any."""
        first, last = float(self.reference.time[0]), float(self.reference.time[-1])
        known = self.of("right") or self.cycles
        return max(known, key=lambda cycle: min(cycle.strike - first, last - cycle.next_strike))

    @property
    def phases(self) -> tuple[Phase, ...]:
        """Which feet stand, from the first event to the last, one phase after the other."""
        on = {side: next((e.kind == "off" for e in self.events if e.side == side), True) for side in SIDES}
        found: list[Phase] = []
        for event, then in itertools.pairwise(self.events):
            on[event.side] = event.kind == "strike"
            standing = [side for side in SIDES if on[side]]
            name = "double support" if len(standing) > 1 else f"{standing[0]} support" if standing else "flight"
            if then.time > event.time:
                found.append(Phase(name, event.time, then.time))
        return tuple(found)

    def lengths(self, cycle: Cycle) -> Lengths:
        """Stride, speed, step and width of a cycle."""
        walk = self.reference
        heels, toes = walk.track("heel"), walk.track("first_metatarsal")
        return lengths(cycle, walk.time, heels, walking_direction(walk.q[:, :3], heels, toes))


def gait_of(recording: Recording, robot: Robot) -> Gait | None:
    """How somebody walks; None if it is no human body, or no complete cycle."""
    names = [f"{side}_{point}" for side in SIDES for point in POINTS]
    if not set(names) <= set(robot.frames) or not set(JOINTS) <= set(recording.labels["q"]):
        return None
    try:
        reference = Reference(robot, recording.time, recording["q"])
        found = reference.events
    except GaitError:  # too short, gaps, or nobody who goes anywhere
        return None
    given = stored_events(recording.provenance)
    ours, theirs = gait_cycles(found), gait_cycles(given)
    if theirs and {each.side for each in theirs} >= {each.side for each in ours}:
        return Gait(reference, given, theirs, BY_FILE)
    return Gait(reference, found, ours, BY_RULE) if ours else None


def moments_of(cycle: Cycle) -> list[tuple[float, str]]:
    """Times at which a cycle is shown (s), and what is written below: its events, and the middles of both swings."""
    a, b = cycle.side, "left" if cycle.side == "right" else "right"
    named = [
        (cycle.strike, f"{a} strike"),
        (cycle.opposite_off, f"{b} toe-off"),
        ((cycle.opposite_off + cycle.opposite_strike) / 2.0, f"{b} leg swings"),
        (cycle.opposite_strike, f"{b} strike"),
        (cycle.off, f"{a} toe-off"),
        ((cycle.off + cycle.next_strike) / 2.0, f"{a} leg swings"),
        (cycle.next_strike, f"{a} strike"),
    ]
    return [(at, f"{name}\n{100.0 * (at - cycle.strike) / cycle.duration:.0f} %") for at, name in named]


def stored_events(facts: dict[str, Any]) -> tuple[GaitEvent, ...]:
    """The events in the provenance of a measured motion: a list of (time in s, side, "strike" or "off")."""
    found = []
    for each in facts.get("events") or ():
        match each:
            case [int() | float() as time, "left" | "right" as side, "strike" | "off" as kind]:
                found.append(GaitEvent(float(time), side, kind))
    return in_order(found)
