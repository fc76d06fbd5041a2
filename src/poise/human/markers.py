"""Marker sets: the landmark or segment of each marker label, TOML files, and matching with the labels of a trial.

A marker set is a TOML file:
name = "my_lab"
description = "what it is"       # may be left out

[markers]
SACR = "sacrum"                  # a landmark, which determines the segment and the default weight
"{S}ASI" = "{side}_asis"         # LASI and RASI at once
"{S}THI" = { segment = "{side}_thigh", weight = 0.5 }    # anywhere on a segment
"{S}TOE" = { landmark = "{side}_toe_end", weight = 2.0 }

[optional]                       # same format; these markers are not reported as missing
"{S}KNM" = "{side}_medial_knee"
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from poise.errors import near_misses, suggestion
from poise.human.trial import Trial, TrialError, trial_error
from poise.parsing import is_number, parse_toml
from poise.robots import SIDES, BodyShape, has_side_placeholder, landmarks, with_side

#: Weight of a marker by segment. With equal weights the rigid trunk and the sliding shoulder blades would bias the
#: pelvis: the range of hip adduction would then be wrong by up to 7 degrees instead of 1.5.
SEGMENT_WEIGHTS = {"pelvis": 5.0, "thigh": 1.0, "shank": 1.0, "foot": 1.0, "toes": 1.0, "torso": 0.5, "head": 0.5}
ARM_WEIGHT = 0.3


@dataclass(frozen=True)
class Marker:
    """One marker of a set.

    Attributes:
        label: its name in files.
        landmark: landmark of the body, a key of `landmark_links`; None for a marker anywhere on its segment.
        segment: the link that carries it.
        weight: weight of its error in a fit.
    """

    label: str
    landmark: str | None
    segment: str
    weight: float


@dataclass(frozen=True, eq=False)
class MarkerSet:
    """Markers by label; those in ``optional`` are used if present and not reported as missing otherwise.

    >>> marker_sets()["plug_in_gait"].markers["LASI"]
    Marker(label='LASI', landmark='left_asis', segment='pelvis', weight=5.0)
    """

    name: str
    description: str
    markers: Mapping[str, Marker]
    optional: frozenset[str] = field(default_factory=frozenset)


@cache
def landmark_links() -> Mapping[str, str]:
    """Return all landmarks on which a marker can be placed, with the link that carries each."""
    return {name: link for name, (link, _) in landmarks(BodyShape.of(1.77, 75.0, "male")).items()}


def segments() -> tuple[str, ...]:
    """Return the links that carry markers."""
    return tuple(dict.fromkeys(landmark_links().values()))


def default_weight(segment: str) -> float:
    """Return the default weight of a marker by segment: pelvis 5, legs 1, torso and head 0.5, arms 0.3."""
    return SEGMENT_WEIGHTS.get(segment.removeprefix("left_").removeprefix("right_"), ARM_WEIGHT)


def normalized_label(label: str) -> str:
    """Normalise a label for comparison: remove the subject before a colon, letter case, blanks and separators.

    >>> normalized_label("Anna:L_ASI")
    'lasi'
    """
    return re.sub(r"[\s._\-]+", "", label_without_subject(label)).casefold()


def label_without_subject(label: str) -> str:
    """Remove the subject before the last colon: ``label_without_subject("Anna:LASI") == "LASI"``."""
    return label.rsplit(":", 1)[-1].strip()


# -- Marker sets from TOML files -------------------------------------------------------------------------------------


MARKER_SET_KEYS = ("name", "description", "markers", "optional")
MARKER_KEYS = ("landmark", "segment", "weight")


@cache
def marker_sets() -> dict[str, MarkerSet]:
    """Return the marker sets of the library by name: ``plug_in_gait``, ``opensim41``, ``skin49``, ..."""
    folder = resources.files("poise.human") / "marker_sets"
    files = sorted((file for file in folder.iterdir() if file.name.endswith(".toml")), key=lambda file: file.name)
    return {file.name.removesuffix(".toml"): _parse_marker_set(file.read_bytes(), file.name) for file in files}


def load_marker_set(name_or_path: str | Path) -> MarkerSet:
    """Load a marker set of the library by name, or a user's own by the path of its TOML file.

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
            f"no marker set '{name_or_path}'; available: {', '.join(known)}, or give the path of a .toml file",
            element=str(name_or_path),
            near=near,
        )
    try:
        return _parse_marker_set(path.read_bytes(), str(path))
    except OSError as error:
        raise trial_error(path, f"cannot be read: {error.strerror or error}") from None


def _parse_marker_set(content: bytes, file: str) -> MarkerSet:
    try:
        values = parse_toml(content)
    except ValueError as error:
        raise trial_error(file, f"not a TOML file: {error}") from None
    for key in values:
        if key not in MARKER_SET_KEYS:
            raise _unknown_name_error(file, "a marker set has no key", key, MARKER_SET_KEYS)
    for key in ("name", "description"):
        if not isinstance(values.get(key, ""), str):
            raise trial_error(file, f"{key} is {values[key]!r}; expected a text", key)
    required, optional = (_parse_markers(values.get(key, {}), file, key) for key in ("markers", "optional"))
    if not required:
        raise trial_error(file, 'no [markers]; expected lines such as LASI = "left_asis"', "markers")
    label_of: dict[str, str] = {}
    for label in [*required, *optional]:
        if normalized_label(label) in label_of:
            raise trial_error(
                file, f"marker '{label}' occurs twice, also as '{label_of[normalized_label(label)]}'", label
            )
        label_of[normalized_label(label)] = label
    name = values.get("name") or Path(file).stem
    return MarkerSet(name, values.get("description", ""), {**required, **optional}, frozenset(optional))


def _parse_markers(table: Any, file: str, place: str) -> dict[str, Marker]:
    if not isinstance(table, Mapping):
        raise trial_error(file, f"[{place}] is {table!r}; expected a table of labels", place)
    markers: dict[str, Marker] = {}
    for pattern, value in table.items():
        for side in SIDES if has_side_placeholder(pattern) else SIDES[:1]:
            label = with_side(pattern, side)
            entry = {"landmark": value} if isinstance(value, str) else value
            if not isinstance(entry, Mapping) or not entry:
                raise trial_error(file, f"{label} is {value!r}; expected a landmark or a table with its segment", label)
            entries = {key: with_side(value, side) if isinstance(value, str) else value for key, value in entry.items()}
            markers[label] = _parse_marker(label, entries, file)
    return markers


def _parse_marker(label: str, entries: Mapping[str, Any], file: str) -> Marker:
    for key in entries:
        if key not in MARKER_KEYS:
            raise _unknown_name_error(file, f"marker {label} has no key", key, MARKER_KEYS)
    landmark, links = entries.get("landmark"), landmark_links()
    if landmark is not None and (not isinstance(landmark, str) or landmark not in links):
        raise _unknown_name_error(file, f"{label}: no landmark", landmark, links)
    segment = entries.get("segment", links.get(landmark) if landmark else None)
    if segment not in segments():
        raise _unknown_name_error(file, f"{label}: no segment", segment, segments())
    if landmark is not None and segment != links[landmark]:
        raise trial_error(file, f"{label}: {landmark} is on {links[landmark]}, not on {segment}", label)
    weight = entries.get("weight", default_weight(segment))
    if not is_number(weight) or not weight >= 0:
        raise trial_error(file, f"{label}: weight is {weight!r}; expected a non-negative number", label)
    return Marker(label, landmark, segment, float(weight))


def _unknown_name_error(file: str, what: str, name: object, known: Any) -> TrialError:
    near = near_misses(str(name), known)
    hint = suggestion(name, known, max_matches=3, max_listed=30)
    return TrialError(f"{file}: {what} '{name}'; {hint}", path=file, element=str(name), near=near)


# -- Matching the labels of a trial with a marker set ----------------------------------------------------------------


#: Three points determine the pose of the pelvis, the root of the model; two on a leg determine at least its plane.
FEWEST_PELVIS_MARKERS, FEWEST_LEG_MARKERS = 3, 2
LEG_SEGMENTS = ("thigh", "shank", "foot", "toes")


@dataclass(frozen=True, eq=False)
class MarkerMatch:
    """Labels of a trial matched with the markers of a set.

    Attributes:
        marker_set: the set.
        markers: label in the trial -> its marker.
        unknown_labels: labels of the trial that are not in the set, with similar markers that were not found.
        missing_markers: markers of the set without any sample in the trial.
    """

    marker_set: MarkerSet
    markers: dict[str, Marker]
    unknown_labels: dict[str, tuple[str, ...]]
    missing_markers: tuple[str, ...]

    @property
    def remarks(self) -> tuple[str, ...]:
        """Remarks for the user, one sentence each; empty for a complete match."""
        name = self.marker_set.name
        lines = []
        for label, near in self.unknown_labels.items():
            lines.append(f"{label}: not in {name}" + (f"; did you mean {' or '.join(near)}?" if near else "."))
        if self.missing_markers:
            lines.append(f"{name} without {', '.join(self.missing_markers)}.")
        return tuple(lines)


def match_markers(trial: Trial, marker_set: MarkerSet | str | Path | None = None) -> MarkerMatch:
    """Find the markers of a set in a trial; subject prefixes, letter case and separators are ignored.

    Args:
        trial: the trial.
        marker_set: a set, the name of one or the path of a TOML file. None: the set of the library that fits best.

    >>> match_markers(trial).missing_markers, match_markers(trial).unknown_labels
    (('RBAK',), {'LASIS': ('LASI',)})
    """
    sample_counts = np.isfinite(trial.positions).all(axis=2).sum(axis=0)
    labels = [label for label, samples in zip(trial.labels, sample_counts, strict=True) if samples]
    if isinstance(marker_set, str | Path):
        marker_set = load_marker_set(marker_set)
    chosen = marker_set or best_marker_set(labels)
    samples = dict(zip(trial.labels, sample_counts, strict=True))
    assigned = assign_labels(sorted(labels, key=lambda label: -samples[label]), chosen)
    assigned = {label: assigned[label] for label in labels if label in assigned}
    matched = {marker.label for marker in assigned.values()}
    unmatched = [label for label in chosen.markers if label not in matched]
    unknown = {label: near_misses(label_without_subject(label), unmatched) for label in labels if label not in assigned}
    _check_enough_markers(trial, chosen, assigned, unknown)
    return MarkerMatch(chosen, assigned, unknown, tuple(label for label in unmatched if label not in chosen.optional))


@dataclass(frozen=True, eq=False)
class SetScore:
    """How well a marker set fits the labels of a trial.

    Attributes:
        marker_set: the set.
        found: number of labels that are in the set.
        unknown: number of labels that are not.
        missing: number of markers of the set that have no label, without the optional ones.
    """

    marker_set: MarkerSet
    found: int
    unknown: int
    missing: int

    @property
    def score(self) -> float:
        """Agreement of the two lists of names, 0 to 1: twice the common names by the sum of both numbers of names."""
        total = 2 * self.found + self.unknown + self.missing
        return 2 * self.found / total if total else 0.0


def score_marker_sets(labels: Iterable[str]) -> list[SetScore]:
    """Return how well each set of the library fits the labels, the best first: most labels found, then by score.

    >>> [(score.marker_set.name, score.found, round(score.score, 2)) for score in score_marker_sets(trial.labels)][:1]
    [('plug_in_gait', 35, 1.0)]
    """
    labels = list(labels)
    scores = []
    for marker_set in marker_sets().values():
        found = {marker.label for marker in assign_labels(labels, marker_set).values()}
        missing = [label for label in marker_set.markers if label not in found and label not in marker_set.optional]
        scores.append(SetScore(marker_set, len(found), len(labels) - len(found), len(missing)))
    return sorted(scores, key=lambda score: (-score.found, -score.score))


def best_marker_set(labels: Iterable[str]) -> MarkerSet:
    """Return the set of the library with most markers among the labels; if equal, that with the highest score."""
    return score_marker_sets(labels)[0].marker_set


def assign_labels(labels: Iterable[str], marker_set: MarkerSet) -> dict[str, Marker]:
    """Assign labels to markers of a set; if two labels match one marker, the exact one wins, then the first."""
    labels = list(labels)
    by_label = {normalized_label(label): marker for label, marker in marker_set.markers.items()}
    assigned: dict[str, Marker] = {}
    taken: set[str] = set()
    for label in sorted(labels, key=lambda label: label not in marker_set.markers):
        marker = by_label.get(normalized_label(label))
        if marker is not None and marker.label not in taken:
            assigned[label] = marker
            taken.add(marker.label)
    return assigned


def _check_enough_markers(
    trial: Trial, chosen: MarkerSet, assigned: dict[str, Marker], unknown: dict[str, tuple[str, ...]]
) -> None:
    segments_found = [marker.segment for marker in assigned.values()]
    counts = {"pelvis": segments_found.count("pelvis")}
    counts |= {f"{side} leg": sum(segments_found.count(f"{side}_{part}") for part in LEG_SEGMENTS) for side in SIDES}
    needed = {"pelvis": FEWEST_PELVIS_MARKERS, **{f"{side} leg": FEWEST_LEG_MARKERS for side in SIDES}}
    if all(counts[part] >= needed[part] for part in needed):
        return
    have = ", ".join(f"{counts[part]} on the {part}" for part in needed)
    near = [f"{label} for {candidates[0]}?" for label, candidates in unknown.items() if candidates][:5]
    guess = f"; did you mean: {' '.join(near)}" if near else f"; its labels: {', '.join(trial.labels[:10]) or 'none'}"
    raise TrialError(
        f"{trial.path}: {len(assigned)} markers of {chosen.name} found, {have}; expected "
        f"{FEWEST_PELVIS_MARKERS} on the pelvis and "
        f"{FEWEST_LEG_MARKERS} on each leg{guess}; for other labels "
        f"'poise human markers {os.path.basename(trial.path)} --out set.toml' proposes a marker set",
        path=trial.path,
        element=chosen.name,
        near=tuple(unknown),
    )
