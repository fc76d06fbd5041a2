"""Supports: the phases of a walk as its footprints have them, for recordings whose behavior named none."""

from __future__ import annotations

import itertools

from poise.analysis.phases import Phase
from poise.analysis.walking import Walked


def supports(walk: Walked) -> tuple[Phase, ...]:
    """Which feet carry the body, one phase after the other: "left support", "double support", and "standing" before
    the first and after the last step; "flight" where no foot stands.

    >>> [phase.name for phase in supports(walk)]
    ['standing', 'right support', 'double support', 'left support', 'standing']
    """
    recording = walk.tracks.recording
    if not len(recording) or not walk.steps:
        return ()
    n, time = len(recording), recording.time
    marks = {0, n} | {sample for each in walk.footprints for sample in (each.begin, each.end)}
    first, last = walk.steps[0].before.end, walk.steps[-1].after.begin
    found: list[Phase] = []
    for begin, end in itertools.pairwise(sorted(marks)):
        on = {each.side for each in walk.footprints if each.begin <= begin < each.end}
        name = "double support" if len(on) > 1 else f"{on.pop()} support" if on else "flight"
        if name == "double support" and not first <= begin < last:
            name = "standing"
        until = float(time[end]) if end < n else float(time[-1]) + (recording.period if n > 1 else 0.0)
        if found and found[-1].name == name:
            found[-1] = found[-1]._replace(end=until)
        else:
            found.append(Phase(name, float(time[begin]), until))
    return tuple(found)
