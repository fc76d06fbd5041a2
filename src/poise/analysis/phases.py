"""Phases: the parts of a motion, as its behavior names them or as its tasks come and go."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from poise.recording import Recording

#: A motion that changes its tasks more often than this has no phases that a page could show.
MOST = 60


class Phase(NamedTuple):
    """A part of a motion: its name, when it begins and when it ends (s)."""

    name: str
    begin: float
    end: float


def phases(recording: Recording) -> tuple[Phase, ...]:
    """The phases of a motion, one after the other, without gaps; empty if nothing tells of any.

    Where the recording has a channel ``phase``, its words are the names. Else a phase is a stretch in which the same
    tasks were asked for, named after those of them that are not asked for in every phase.

    >>> [phase.name for phase in phases(recording)]
    ['lift', 'swing', 'land']
    """
    if not len(recording):
        return ()
    words = [str(word) for word in recording["phase"]] if "phase" in recording else _tasks(recording)
    if not any(words):
        return ()
    starts = [0, *(i for i in range(1, len(words)) if words[i] != words[i - 1])]
    if len(starts) > MOST:
        return ()
    time, last = recording.time, float(recording.time[-1])
    ends = [*(float(time[i]) for i in starts[1:]), last + (recording.period if len(recording) > 1 else 0.0)]
    return tuple(Phase(words[i], float(time[i]), end) for i, end in zip(starts, ends, strict=True))


def _tasks(recording: Recording) -> list[str]:
    """Per sample the names of the tasks that are asked for then, without those that always are."""
    channels = [name for name in recording.channels if name.startswith("error_norm/")]
    asked = np.array([~np.isnan(recording[name]) for name in channels]).reshape(len(channels), len(recording))
    # Where a fallback spoke no task is known: what was asked before goes on.
    silent = ~asked.any(axis=0)
    before = np.maximum.accumulate(np.where(silent, 0, np.arange(len(recording))))
    asked = asked[:, before]
    passing = [k for k in range(len(channels)) if not asked[k].all()]
    names = [channels[k].split("/", 2)[-1] for k in passing]
    patterns, inverse = np.unique(asked[passing].T, axis=0, return_inverse=True) if passing else (None, None)
    if patterns is None:
        return [""] * len(recording)
    texts = [_listed([name for name, on in zip(names, pattern, strict=True) if on]) for pattern in patterns]
    return [texts[k] for k in np.asarray(inverse).ravel()]


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names)
