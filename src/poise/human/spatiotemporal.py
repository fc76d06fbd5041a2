"""What a walk is in a few numbers, and how well its events agree with those that others found."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from poise.analysis.gait_cycle import Cycle, lengths
from poise.analysis.gait_events import events_from_plates
from poise.analysis.walking_direction import walking_direction
from poise.human.gait import Reference
from poise.robots.parts import SIDES, Side

if TYPE_CHECKING:
    from poise.human.fitting import Fit
    from poise.human.trial import Plate

#: Events further apart (s) are not of the same step.
SAME = 0.15


def spatiotemporal(reference: Reference, cycle: Cycle) -> dict[str, float]:
    """Speed (m/s), stride and step length and width (m), cadence (steps/min), stance and double support (%)."""
    heels = reference.track("heel")
    direction = walking_direction(reference.q[:, :3], heels, reference.track("first_metatarsal"))
    found = lengths(cycle, reference.time, heels, direction)
    return {
        **{name: float(value) for name, value in found._asdict().items()},
        "cadence": float(cycle.cadence),
        "stance": float(cycle.stance),
        "double_support": float(cycle.double_support),
    }


def compared_events(fit: Fit, reference: Reference) -> dict[str, Any]:
    """Our events less those that the file stores, and less those of the force plates: mean, deviation, count (ms)."""
    ours = [(event.time, event.side, event.kind) for event in reference.events]
    stored = [(event.time, event.side, event.kind) for event in fit.trial.events]
    felt = [
        (event.time, side, event.kind)
        for plate in fit.trial.plates
        if (side := nearest_foot(plate, reference)) is not None
        for event in events_from_plates(fit.time, {side: plate.force[:, 2]})
    ]
    return {
        source: {kind: _spread(ours, others, kind) for kind in ("strike", "off")}
        for source, others in (("file", stored), ("plates", felt))
        if others
    }


def nearest_foot(plate: Plate, reference: Reference) -> Side | None:
    """The foot that is nearest to the centre of pressure of a plate on average; None if nothing was on it."""
    loaded = np.flatnonzero(plate.force[:, 2] > 0.0)
    if not len(loaded):
        return None
    far = {}
    for side in SIDES:
        middle = (reference.track("heel")[side] + reference.track("first_metatarsal")[side]) / 2.0
        far[side] = float(np.mean(np.linalg.norm((plate.center - middle)[loaded, :2], axis=1)))
    return min(SIDES, key=lambda side: far[side])


def _spread(ours: Iterable[Any], others: Iterable[Any], kind: str) -> dict[str, float | int | None]:
    mine = [event for event in ours if event[2] == kind]
    found = []
    for time, side, what in others:
        near = [event[0] - time for event in mine if event[1] == side and what == kind]
        if near and abs(best := min(near, key=abs)) < SAME:
            found.append(1e3 * best)
    if not found:
        return {"mean": None, "deviation": None, "count": 0}
    return {"mean": float(np.mean(found)), "deviation": float(np.std(found)), "count": len(found)}
