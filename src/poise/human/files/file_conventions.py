"""Conventions that differ between marker files: length unit, vertical axis, marker labels."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from poise.arrays import Array
from poise.human.markers import assign_labels, best_marker_set, label_without_subject
from poise.human.trial import trial_error

#: Metres per unit, by the unit names used in files.
METRES_PER_UNIT = {
    "mm": 1e-3, "millimeter": 1e-3, "millimetre": 1e-3,
    "cm": 1e-2, "centimeter": 1e-2, "centimetre": 1e-2,
    "dm": 1e-1,
    "m": 1.0, "meter": 1.0, "metre": 1.0,
    "in": 0.0254, "inch": 0.0254, "inches": 0.0254,
    "ft": 0.3048, "feet": 0.3048,
}  # fmt: skip
#: Plausible extent of the markers (m), from a foot alone to a person with objects around; other units differ by a
#: factor of 100 or 1000.
PERSON_EXTENT = (0.1, 15.0)


def length_unit(unit: str, positions: Array) -> tuple[float, str]:
    """Return metres per unit of a file, and a sentence on how it was decided (``""`` if the file states it).

    The unit stated in the file is used, unless the extent of the markers is then implausible for a person and another
    common unit is plausible. A missing or unknown unit is also decided by the extent.
    """
    word = unit.strip().lower()
    stated = METRES_PER_UNIT.get(word) or METRES_PER_UNIT.get(word.rstrip("s"))
    extent = marker_extent(positions)
    if stated is not None and (extent is None or PERSON_EXTENT[0] <= stated * extent <= PERSON_EXTENT[1]):
        return stated, ""
    fitting = [u for u in ("mm", "m", "cm") if extent is not None and 0.3 <= METRES_PER_UNIT[u] * extent <= 3.0]
    statement = f"The file says '{unit.strip()}'" if word else "The file has no unit"
    if fitting:
        best = fitting[0]
        return METRES_PER_UNIT[best], f"{statement}, but the markers extend over {extent:.3g} units: taken as {best}."
    return (stated, "") if stated is not None else (1e-3, f"{statement}: taken as mm.")


def marker_extent(positions: Array) -> float | None:
    """Return the extent of the markers along the longest axis, median over the frames; None without markers."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a frame without markers has no extent
        spans = (np.nanmax(positions, axis=1) - np.nanmin(positions, axis=1)).max(axis=1) if positions.size else []
        spans = np.asarray(spans)[np.isfinite(spans)]
    return float(np.median(spans)) if len(spans) else None


# -- Vertical axis of a file -----------------------------------------------------------------------------------------


#: Rotations from each vertical axis to z, by quarter and half turns, which preserve left and right. OpenSim's axes (x
#: forward, y up, z to the right) become x forward, y to the left.
ROTATION_TO_Z_UP: dict[str, Array] = {
    "x": np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]),
    "y": np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]),
    "z": np.eye(3),
    "-x": np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]),
    "-y": np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]]),
    "-z": np.array([[1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, -1.0]]),
}
#: Smallest cosine between an axis and the direction from the feet to the pelvis for this axis to be vertical: standing
#: and walking are within 20 degrees, lying and sitting are not.
UPRIGHT_COSINE = 0.94


def check_up_axis(up: str, path: object = "") -> str:
    """Return the name of an axis; raises a `TrialError` if it is not valid."""
    if up not in ROTATION_TO_Z_UP:
        raise trial_error(path, f"up is {up!r}; expected one of {', '.join(ROTATION_TO_Z_UP)}", "up")
    return up


def find_up_axis(
    positions: Array, labels: Sequence[str], up: str | None, default: str, path: object
) -> tuple[str, str]:
    """Find the vertical axis, and return it with a sentence on how it was found.

    An axis given by the caller is used. Otherwise the direction from the feet to the pelvis decides (or from the pelvis
    to the head, without feet) if the labels belong to a marker set; the extent of the markers does not, because the arm
    span equals the height. Otherwise it is the usual axis of the format.

    Args:
        positions: n x m x 3 as in the file.
        labels: of the m markers.
        up: ``"x"``, ``"y"``, ``"z"``, one of these with a minus, or None to detect it.
        default: the vertical axis of most files of the format.
        path: file name for error messages.
    """
    if up is not None:
        return check_up_axis(up, path), f"{up} is up, as requested."
    direction = _up_direction(positions, labels)
    if direction is not None:
        axis = int(np.abs(direction).argmax())
        if abs(direction[axis]) >= UPRIGHT_COSINE:
            up_axis = ("-" if direction[axis] < 0.0 else "") + "xyz"[axis]
            return up_axis, f"{up_axis} is up in the file, from the positions of pelvis, feet and head."
    return default, f"{default} is taken as up, as usual in this format: the markers do not determine it."


def _up_direction(positions: Array, labels: Sequence[str]) -> Array | None:
    """Return the mean unit vector from the feet to the pelvis, or from the pelvis to the head."""
    markers = assign_labels(labels, best_marker_set(labels))
    columns: dict[str, list[int]] = {"foot": [], "pelvis": [], "head": []}
    for i, label in enumerate(labels):
        if label in markers:
            part = markers[label].segment.split("_")[-1]
            columns.get("foot" if part == "toes" else part, []).append(i)
    pairs = [("foot", "pelvis"), ("pelvis", "head"), ("foot", "head")]
    pair = next(((a, b) for a, b in pairs if columns[a] and columns[b]), None)
    if pair is None:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # frames without any of these markers
        low, high = (np.nanmean(positions[:, columns[part]], axis=1) for part in pair)
        direction = np.nanmedian(high - low, axis=0)
    length = float(np.linalg.norm(direction))
    return direction / length if np.isfinite(length) and length > 0.0 else None


# -- Marker labels of a file -----------------------------------------------------------------------------------------


#: Names that tracking software gives to unidentified points.
UNLABELED = re.compile(r"\*.*|(unlabel+ed|unidentified|unnamed|unknown|ghost)[\s_\-]*\d*|", flags=re.IGNORECASE)


class SelectedMarkers(NamedTuple):
    """Selected columns of a file, their labels without the subject, and notes on the others, one sentence each."""

    columns: list[int]
    labels: list[str]
    notes: list[str]


def select_markers(labels: Sequence[str], samples: Sequence[int] | NDArray[np.int_]) -> SelectedMarkers:
    """Select the columns of a file that are markers, with their names without the subject.

    Columns without a name or without data are left out; of repeated labels the first column with data is used, and of
    several people the one with most data.

    Args:
        labels: as in the file, one per column; empty for a column without a label.
        samples: number of frames with data in each column.
    """
    notes: list[str] = []
    unlabeled = [i for i, label in enumerate(labels) if UNLABELED.fullmatch(label_without_subject(label))]
    if unlabeled:
        notes.append(f"Points without a name left out: {len(unlabeled)}.")
    unlabeled_columns = set(unlabeled)
    columns = [i for i in range(len(labels)) if i not in unlabeled_columns]
    never_visible = [i for i in columns if not samples[i]]
    if never_visible:
        notes.append(
            f"Never visible and left out: {join_names([label_without_subject(labels[i]) for i in never_visible])}."
        )
    columns = [i for i in columns if samples[i]]
    columns = _select_person(columns, labels, samples, notes)
    chosen: dict[str, int] = {}
    repeated: list[str] = []
    for i in columns:
        name = label_without_subject(labels[i])
        if name in chosen:
            repeated.append(name)
        chosen.setdefault(name, i)
    if repeated:
        notes.append(f"Labels more than once, first with samples kept: {join_names(list(dict.fromkeys(repeated)))}.")
    return SelectedMarkers(list(chosen.values()), list(chosen), notes)


def _select_person(
    columns: list[int], labels: Sequence[str], samples: Sequence[int] | NDArray[np.int_], notes: list[str]
) -> list[int]:
    """Return the columns of the person with most samples, if several people have markers of the same name."""
    people: Counter[str] = Counter()
    names: dict[str, set[str]] = {}
    for i in columns:
        if ":" in labels[i]:
            person = labels[i].rsplit(":", 1)[0]
            people[person] += int(samples[i])
            names.setdefault(person, set()).add(label_without_subject(labels[i]))
    if not people:
        return columns
    first, *others = (person for person, _ in people.most_common())
    others = [person for person in others if names[person] & names[first]]
    if others:
        notes.append(f"Several people in the file: '{first}' kept, {join_names([repr(p) for p in others])} left out.")
    remaining = [person for person in people if person not in others]
    notes.append(f"Prefixes removed from the labels: {join_names([f'{person}:' for person in remaining])}.")
    return [i for i in columns if ":" not in labels[i] or labels[i].rsplit(":", 1)[0] in remaining]


def join_names(names: Sequence[str], limit: int = 8) -> str:
    """Join names for a sentence: all of them, or the first and the number of the others."""
    return ", ".join(names[:limit]) + (f" and {len(names) - limit} more" if len(names) > limit else "")
