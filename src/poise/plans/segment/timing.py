"""How the duration of a segment is divided, and which feet stand when."""

from __future__ import annotations

from poise.plans.footsteps import Footstep, other
from poise.plans.guidance.goal import Goal
from poise.plans.segment.segment import Beginning, Phase
from poise.plans.segment.settings import SegmentSettings

Shares = tuple[tuple[float, ...], tuple[bool, ...]]


def shares(begin: Beginning, goal: Goal, settings: SegmentSettings) -> Shares:
    """Shares of a duration, and which of them are on one foot."""
    lifted, end = begin.points.lifted, goal.points.lifted
    if goal.step is None or (lifted is not None and end is not None):
        return (1.0,), (lifted is not None,)
    if lifted is not None:
        return (1.0 - settings.lifting, settings.lifting), (True, False)
    if end is not None:
        return (settings.lifting, 1.0 - settings.lifting), (False, True)
    return settings.phases, (False, True, False)


def divided(begin: Beginning, goal: Goal, T: float, settings: SegmentSettings) -> Shares:
    """The same in seconds of a duration T."""
    parts, single = shares(begin, goal, settings)
    return tuple(round(part * T, 9) for part in parts), single


def phases(begin: Beginning, goal: Goal, T: float, settings: SegmentSettings) -> tuple[Phase, ...]:
    """The phases of a segment of duration T."""
    seconds, single = divided(begin, goal, T, settings)
    swing = goal.step if goal.step is not None else begin.points.lifted
    found, time = [], 0.0
    for length, alone in zip(seconds, single, strict=True):
        found.append(Phase(time, time + length, swing if alone else None))
        time += length
    return tuple(found)


def standings(begin: Beginning, goal: Goal, phases: tuple[Phase, ...]) -> list[tuple[Footstep, ...]]:
    """The feet on the ground in each phase: before a swing as they stand, after it as they will."""
    found: list[tuple[Footstep, ...]] = []
    landed = False
    for phase in phases:
        if phase.swing is not None:
            found.append((begin.points.feet[other(phase.swing)],))
            landed = True
        else:
            found.append(goal.points.standing if landed else begin.points.standing)
    return found


def ground_of(begin: Beginning, goal: Goal) -> float:
    """The height at which zero moment points are meant: that of the foot that stands throughout (m)."""
    return begin.points.standing[0].z if goal.step is None else begin.points.feet[other(goal.step)].z
