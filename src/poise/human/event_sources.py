"""Gait events from the best source of each: force plates, then the file, then the rule on the motion of the feet.

Plates are exact where a foot is alone on them. A file has the events that somebody placed; it is used if they make a
complete gait cycle. Otherwise `poise.analysis.EVENT_RULE` finds them from heels and toes of the fitted body.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from poise.analysis import GaitEvent, gait_cycles
from poise.errors import GaitError
from poise.human.fitting.body_fit import Fit
from poise.human.gait.reference_walk import ReferenceWalk
from poise.human.torques import Torques
from poise.robots import SIDES

EventSource = Literal["plates", "file", "rule"]
#: Largest time difference of two events of the same step, s.
SAME_STEP = 0.15


class SourcedEvent(NamedTuple):
    """A gait event and where it comes from."""

    event: GaitEvent
    source: EventSource


def plate_events(torques: Torques) -> tuple[GaitEvent, ...]:
    """Return initial contacts and toe-offs at the ends of the loads of each foot that is alone on its plates."""
    events = []
    time, n = torques.time, len(torques.time)
    for side in SIDES:
        on = np.zeros(n, dtype=bool)
        doubtful = np.zeros(n, dtype=bool)
        for contact in torques.foot_wrenches.plate_contacts:
            if contact.side == side:
                on[contact.begin : contact.end] = True
                doubtful[contact.begin : contact.end] |= not contact.complete
        padded = np.concatenate([[False], on, [False]])
        for begin, end in np.flatnonzero(np.diff(padded.astype(np.int8))).reshape(-1, 2).tolist():
            if doubtful[begin:end].any():
                continue
            if begin > 0:
                events.append(GaitEvent(float(time[begin]), side, "initial_contact"))
            if end < n:
                events.append(GaitEvent(float(time[end]), side, "toe_off"))
    return tuple(sorted(events, key=lambda event: event.time))


def events_without_plates(fit: Fit) -> tuple[GaitEvent, ...] | None:
    """Return the gait events of a fitted walk from its file or by the rule; None if the motion is not a walk.

    >>> compute_torques(fit, estimate=True, events=events_without_plates(fit))
    """
    reference = ReferenceWalk.from_fit(fit)
    try:
        events = tuple(each.event for each in collect_events(reference, fit.trial.events, None))
    except GaitError:
        return None
    return events if gait_cycles(events) else None


def collect_events(
    reference: ReferenceWalk, stored: Sequence[GaitEvent], torques: Torques | None
) -> tuple[SourcedEvent, ...]:
    """Return the events of a walk with their sources, in order of time.

    Args:
        reference: motion of the body, for the rule.
        stored: events of the file.
        torques: for the plates; None without.
    """
    from_file = bool(gait_cycles(stored))
    base = stored if from_file else reference.events
    source: EventSource = "file" if from_file else "rule"
    measured = [] if torques is None else list(plate_events(torques))
    found = []
    for event in base:
        same = [each for each in measured if (each.side, each.kind) == (event.side, event.kind)]
        nearest = min(same, key=lambda each: abs(each.time - event.time), default=None)
        if nearest is not None and abs(nearest.time - event.time) <= SAME_STEP:
            found.append(SourcedEvent(nearest, "plates"))
        else:
            found.append(SourcedEvent(event, source))
    return tuple(sorted(dict.fromkeys(found), key=lambda each: each.event.time))
