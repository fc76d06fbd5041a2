"""Marker sets: which label sits where on the body."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

from poise.robots.human import BodyShape, landmarks

#: How much a marker counts, by the segment that carries it. A rigid trunk and shoulder blades that slide would pull the
#: pelvis if all counted alike: hip adduction then has a range up to 7 degrees wrong instead of 1.5.
WEIGHTS = {"pelvis": 5.0, "thigh": 1.0, "shank": 1.0, "foot": 1.0, "toes": 1.0, "torso": 0.5, "head": 0.5}
ARM = 0.3


@dataclass(frozen=True)
class Marker:
    """One marker of a set.

    Attributes:
        label: its name in files.
        landmark: the place on the body, a word of `landmark_links`; None for a marker anywhere on its segment.
        segment: the link that carries it.
        weight: how much its error counts in a fit.
    """

    label: str
    landmark: str | None
    segment: str
    weight: float


@dataclass(frozen=True, eq=False)
class MarkerSet:
    """Markers by label; those named in ``optional`` are used where they are and not missed where they are not.

    >>> marker_sets()["plug_in_gait"].markers["LASI"]
    Marker(label='LASI', landmark='left_asis', segment='pelvis', weight=5.0)
    """

    name: str
    description: str
    markers: Mapping[str, Marker]
    optional: frozenset[str] = field(default_factory=frozenset)


@cache
def landmark_links() -> Mapping[str, str]:
    """Every landmark that a marker can be put on, and the link that carries it."""
    return {name: link for name, (link, _) in landmarks(BodyShape.of(1.77, 75.0, "male")).items()}


def segments() -> tuple[str, ...]:
    """The links that carry markers."""
    return tuple(dict.fromkeys(landmark_links().values()))


def usual_weight(segment: str) -> float:
    """What a marker on a segment counts unless its set says otherwise: pelvis 5, legs 1, torso and head .5, arms .3."""
    return WEIGHTS.get(segment.removeprefix("left_").removeprefix("right_"), ARM)


def plain(label: str) -> str:
    """A label as it is compared: without the subject before a colon, letter case, blanks and separators.

    >>> plain("Anna:L_ASI")
    'lasi'
    """
    return re.sub(r"[\s._\-]+", "", bare(label)).casefold()


def bare(label: str) -> str:
    """A label without the subject before the last colon: ``bare("Anna:LASI") == "LASI"``."""
    return label.rsplit(":", 1)[-1].strip()
