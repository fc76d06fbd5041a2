"""Marker sets from TOML files: those of the library, and a user's own.

name = "my_lab"
description = "what it is"       # may be left out

[markers]
SACR = "sacrum"                  # a landmark; the segment and the usual weight follow from it
"{S}ASI" = "{side}_asis"         # LASI and RASI at once
"{S}THI" = { segment = "{side}_thigh", weight = 0.5 }    # anywhere on a segment
"{S}TOE" = { landmark = "{side}_toe_end", weight = 2.0 }

[optional]                       # the same; these are not missed where a trial has none
"{S}KNM" = "{side}_medial_knee"
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from poise.human.errors import TrialError, refused
from poise.human.markers.marker_set import Marker, MarkerSet, landmark_links, plain, segments, usual_weight
from poise.robots.names import near_misses
from poise.robots.parts import SIDES
from poise.robots.sides import is_pattern, named
from poise.robots.toml import parse_toml

KEYS = ("name", "description", "markers", "optional")
MARKER_KEYS = ("landmark", "segment", "weight")


@cache
def marker_sets() -> dict[str, MarkerSet]:
    """The marker sets of the library, by name: ``plug_in_gait``, ``opensim41``, ``skin49``, ``skeleton``."""
    folder = resources.files("poise.human.markers") / "sets"
    files = sorted((file for file in folder.iterdir() if file.name.endswith(".toml")), key=lambda file: file.name)
    return {file.name.removesuffix(".toml"): _read(file.read_bytes(), file.name) for file in files}


def load_marker_set(name_or_path: str | Path) -> MarkerSet:
    """A marker set of the library by its name, or a user's own by the path of its TOML file.

    >>> load_marker_set("skin49").markers["RGT"].landmark
    'right_greater_trochanter'
    """
    known = marker_sets()
    if str(name_or_path) in known:
        return known[str(name_or_path)]
    path = Path(name_or_path)
    if path.suffix.lower() != ".toml" and not os.path.isfile(path):
        near = near_misses(str(name_or_path), known)
        raise TrialError(
            f"no marker set '{name_or_path}'; there are {', '.join(known)}, or give the path of a .toml file",
            element=str(name_or_path),
            near=near,
        )
    try:
        return _read(path.read_bytes(), str(path))
    except OSError as error:
        raise refused(path, f"cannot be read: {error.strerror or error}") from None


def _read(content: bytes, file: str) -> MarkerSet:
    try:
        values = parse_toml(content)
    except ValueError as error:
        raise refused(file, f"not a TOML file: {error}") from None
    for key in values:
        if key not in KEYS:
            raise _unknown(file, "a marker set has no key", key, KEYS)
    for key in ("name", "description"):
        if not isinstance(values.get(key, ""), str):
            raise refused(file, f"{key} is {values[key]!r}; expected a text", key)
    required, optional = (_markers(values.get(key, {}), file, key) for key in ("markers", "optional"))
    if not required:
        raise refused(file, 'no [markers]; expected lines such as LASI = "left_asis"', "markers")
    compared: dict[str, str] = {}
    for label in [*required, *optional]:
        if plain(label) in compared:
            raise refused(file, f"marker '{label}' is there twice, as '{compared[plain(label)]}', too", label)
        compared[plain(label)] = label
    name = values.get("name") or Path(file).stem
    return MarkerSet(name, values.get("description", ""), {**required, **optional}, frozenset(optional))


def _markers(table: Any, file: str, place: str) -> dict[str, Marker]:
    if not isinstance(table, Mapping):
        raise refused(file, f"[{place}] is {table!r}; expected a table of labels", place)
    markers: dict[str, Marker] = {}
    for pattern, value in table.items():
        for side in SIDES if is_pattern(pattern) else SIDES[:1]:
            label = named(pattern, side)
            given = {"landmark": value} if isinstance(value, str) else value
            if not isinstance(given, Mapping) or not given:
                raise refused(file, f"{label} is {value!r}; expected a landmark or a table with its segment", label)
            words = {key: named(word, side) if isinstance(word, str) else word for key, word in given.items()}
            markers[label] = _marker(label, words, file)
    return markers


def _marker(label: str, words: Mapping[str, Any], file: str) -> Marker:
    for key in words:
        if key not in MARKER_KEYS:
            raise _unknown(file, f"marker {label} has no key", key, MARKER_KEYS)
    landmark, links = words.get("landmark"), landmark_links()
    if landmark is not None and (not isinstance(landmark, str) or landmark not in links):
        raise _unknown(file, f"{label}: no landmark", landmark, links)
    segment = words.get("segment", links.get(landmark) if landmark else None)
    if segment not in segments():
        raise _unknown(file, f"{label}: no segment", segment, segments())
    if landmark is not None and segment != links[landmark]:
        raise refused(file, f"{label}: {landmark} is on {links[landmark]}, not on {segment}", label)
    weight = words.get("weight", usual_weight(segment))
    if isinstance(weight, bool) or not isinstance(weight, (int, float)) or not (math.isfinite(weight) and weight >= 0):
        raise refused(file, f"{label}: weight is {weight!r}; expected a number that is not negative", label)
    return Marker(label, landmark, segment, float(weight))


def _unknown(file: str, what: str, name: object, known: Any) -> TrialError:
    near = near_misses(str(name), known)
    words = list(known)
    hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(words[:30])}"
    return TrialError(f"{file}: {what} '{name}'; {hint}", path=file, element=str(name), near=near)
