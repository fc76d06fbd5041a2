"""Segments of a guided motion as a recording keeps them: what was asked, what became of it, and what was planned."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pinocchio.rpy import rpyToMatrix

from poise.behaviors.navigate import Done, Navigate
from poise.plans.segment.pressure import zero_moment_way

Array = NDArray[np.float64]

#: Planned ways are kept at so many places per second: more than enough to draw them.
RATE = 20.0
#: Digits of lengths (m) that are kept: a tenth of a millimetre.
DIGITS = 4


class Segments:
    """Listens to a guided robot and describes each segment when it begins.

    A description is a dict of plain values: ``time`` it began, ``seconds`` it was planned for, ``mode``, ``axes`` of
    the stick, ``outcome``, ``corrections``, ``margin`` (m), ``notes``, ``projected``, ``step`` (the foot that moves)
    and ``lifted`` (the foot that ends in the air); ``goal`` with the places of center, feet and hands at its end (m, 3
    each); and ``planned``: ``time``, ``center``, ``zmp`` and each foot and hand by name, sampled (m).

    Args:
        navigate: to listen to.
        facts: other facts, told with the first segment.

    >>> segments = Segments(navigate)
    >>> recorder.provenance.update(segments.news())
    """

    def __init__(self, navigate: Navigate, facts: Mapping[str, Any] = MappingProxyType({})) -> None:
        self.navigate, self.facts = navigate, facts
        self.found: list[dict[str, Any]] = []
        self._last: Done | None = None

    def news(self) -> dict[str, Any]:
        """Facts for the provenance, with the segment that has begun since; none if none has."""
        history = self.navigate.history
        if not history or history[-1] is self._last:
            return {}
        self._last = history[-1]
        self.found.append(described(self.navigate, self._last))
        return {**self.facts, "segments": self.found}


def described(navigate: Navigate, done: Done) -> dict[str, Any]:
    """A segment in plain values, see `Segments`."""
    segment, goal = done.segment, done.segment.goal
    points = goal.points
    ends = {f"{side} foot": foot.position for side, foot in points.feet.items()}
    ends |= {f"{side} hand": points.hand(side) for side in points.hands}
    return {
        "time": round(done.time, 4),
        "seconds": round(segment.seconds, 4),
        "mode": done.stick.mode,
        "axes": [round(value, 3) for value in done.stick.axes],
        "outcome": segment.outcome,
        "corrections": segment.corrections,
        "margin": _plain(segment.margin),
        "notes": list(segment.notes),
        "projected": bool(goal.projected),
        "step": goal.step,
        "lifted": points.lifted,
        "goal": {name: _plain(place) for name, place in {"center": points.center, **ends}.items()},
        "planned": _planned(navigate, done),
    }


def _planned(navigate: Navigate, done: Done) -> dict[str, Any]:
    segment = done.segment
    times = np.linspace(0.0, segment.seconds, max(round(RATE * segment.seconds), 1) + 1)
    samples = [segment.sample(time) for time in times.tolist()]
    p = np.array([sample.center[0] for sample in samples])
    ways: dict[str, Array] = {"center": p, "zmp": zero_moment_way(navigate.body, segment, times)[0]}
    for side in samples[0].feet:
        ways[f"{side} foot"] = np.array([sample.feet[side][0][:3] for sample in samples])
    for side in samples[0].hands:
        ways[f"{side} hand"] = np.array(
            [s.center[0] + rpyToMatrix(*s.attitude[0]) @ s.hands[side][0][:3] for s in samples]
        )
    return {"time": _plain(done.time + times), **{name: _plain(way) for name, way in ways.items()}}


def _plain(value: Array | float) -> Any:
    """Numbers that JSON can write, rounded; None for what is none."""
    rounded = np.round(np.asarray(value, dtype=np.float64), DIGITS) + 0.0
    return np.where(np.isfinite(rounded), rounded.astype(object), np.array(None)).tolist()
