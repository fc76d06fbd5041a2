"""What the points of a C3D file are: markers, or angles, moments and other results that software stored as points."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from poise.human.markers.marker_set import bare

#: Parameters of the group POINT that list the labels of results; long lists go on in ANGLES2, ANGLES3 ...
GROUPS = {"ANGLES": "angle", "MOMENTS": "moment", "FORCES": "other", "POWERS": "other", "SCALARS": "other"}
#: The same by name, for files that do not list them; some end with a V.
NAMES = {
    "angle": re.compile(r".*Angles?V?", flags=re.IGNORECASE),
    "moment": re.compile(r".*Moments?V?", flags=re.IGNORECASE),
    "other": re.compile(r".*(Forces?|Powers?|GRF|Torques?|Work)V?", flags=re.IGNORECASE),
}
CENTER = re.compile(r"(whole_?body_?)?cent(re|er)_?of_?mass(_?floor)?", flags=re.IGNORECASE)
#: Plug-in Gait stores the axes of each segment as four points: its origin and one along each axis.
SEGMENT = re.compile(r"(?P<segment>HED|PEL|TRX|[LR](CL|FE|FO|HN|HU|RA|TI|TO))(?P<end>[OALP])")


class Channels(NamedTuple):
    """Columns of the points by what they are: markers, then angles, moments and computed points by name."""

    markers: list[int]
    angles: dict[str, int]
    moments: dict[str, int]
    computed: dict[str, int]
    notes: list[str]


def separated(labels: Sequence[str], parameters: Mapping[str, Any]) -> Channels:
    """Sorts the labels of points; ``parameters`` is the group POINT as `ezc3d` gives it."""
    listed = {
        label.strip(): kind for group, kind in GROUPS.items() for label in _texts(parameters, group) if label.strip()
    }
    frames = _segments(bare(label) for label in labels)
    found: dict[str, dict[str, int]] = {"angle": {}, "moment": {}, "computed": {}}
    markers: list[int] = []
    others = 0
    for column, label in enumerate(labels):
        kind = listed.get(label) or _by_name(bare(label), frames)
        if kind is None:
            markers.append(column)
        elif kind == "other":
            others += 1
        else:
            name = bare(label)
            name = name[:-1] if kind != "computed" and name.endswith("V") else name
            found[kind].setdefault(name, column)
    notes = []
    if others:
        notes.append(f"{others} channels of forces and powers stored as points left out.")
    return Channels(markers, found["angle"], found["moment"], found["computed"], notes)


def point_labels(parameters: Mapping[str, Any]) -> list[str]:
    """Labels of all points; those beyond 255 stand in LABELS2, LABELS3 ..."""
    return _texts(parameters, "LABELS")


def _texts(parameters: Mapping[str, Any], name: str) -> list[str]:
    """Texts of a parameter and of its continuations."""
    words: list[str] = []
    number = 1
    while (key := name if number == 1 else f"{name}{number}") in parameters:
        words += [str(word).strip() for word in parameters[key]["value"] if isinstance(word, str)]
        number += 1
    return words


def _by_name(name: str, frames: set[str]) -> str | None:
    for kind, pattern in NAMES.items():
        if pattern.fullmatch(name):
            return kind
    match = SEGMENT.fullmatch(name)
    return "computed" if CENTER.fullmatch(name) or (match and match["segment"] in frames) else None


def _segments(names: Iterable[str]) -> set[str]:
    """Segments whose four points are all there: one such name alone may be anybody's marker."""
    ends: dict[str, set[str]] = {}
    for name in names:
        if match := SEGMENT.fullmatch(name):
            ends.setdefault(match["segment"], set()).add(match["end"])
    return {segment for segment, found in ends.items() if found == set("OALP")}
