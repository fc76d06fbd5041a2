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
from poise.human.markers import assigned, bare, best_set
from poise.human.trial import refused

#: m per unit, by the words that files use.
METRES = {
    "mm": 1e-3, "millimeter": 1e-3, "millimetre": 1e-3,
    "cm": 1e-2, "centimeter": 1e-2, "centimetre": 1e-2,
    "dm": 1e-1,
    "m": 1.0, "meter": 1.0, "metre": 1.0,
    "in": 0.0254, "inch": 0.0254, "inches": 0.0254,
    "ft": 0.3048, "feet": 0.3048,
}  # fmt: skip
#: Markers on a person, even on a foot alone or with things around, reach over this far (m); other units are a factor
#: of 100 or 1000 away.
PERSON = (0.1, 15.0)


def metres(unit: str, positions: Array) -> tuple[float, str]:
    """Metres per unit of a file, and a sentence on how it was decided (``""`` if the file just says so).

    What the file says counts, unless a person would then be as small as a mouse or as large as a house and another
    usual unit makes sense; a unit that is missing or not known is decided by size, too.
    """
    word = unit.strip().lower()
    said = METRES.get(word) or METRES.get(word.rstrip("s"))
    reach = extent(positions)
    if said is not None and (reach is None or PERSON[0] <= said * reach <= PERSON[1]):
        return said, ""
    fitting = [u for u in ("mm", "m", "cm") if reach is not None and 0.3 <= METRES[u] * reach <= 3.0]
    given = f"The file says '{unit.strip()}'" if word else "The file says no unit"
    if fitting:
        return METRES[fitting[0]], f"{given}, but markers reach over {reach:.3g} of it: taken as {fitting[0]}."
    return (said, "") if said is not None else (1e-3, f"{given}: taken as mm.")


def extent(positions: Array) -> float | None:
    """How far the markers reach apart along the longest axis, in the median over the frames; None without any."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a frame without markers has no extent
        spans = (np.nanmax(positions, axis=1) - np.nanmin(positions, axis=1)).max(axis=1) if positions.size else []
        spans = np.asarray(spans)[np.isfinite(spans)]
    return float(np.median(spans)) if len(spans) else None


# -- Which way is up in a file, and how to turn it so that z is ------------------------------------------------------


#: Rotations that bring an axis of a file to z: quarter and half turns, so that left stays left. From y up with x
#: forward and z to the right (OpenSim) comes x forward, y to the left.
Z_UP: dict[str, Array] = {
    "x": np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]),
    "y": np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]),
    "z": np.eye(3),
    "-x": np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]),
    "-y": np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]]),
    "-z": np.array([[1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, -1.0]]),
}
#: Cosine between an axis and the way from the feet to the pelvis from which the axis is believed to be up: a person who
#: stands or walks is within 20 degrees of it, one who lies or sits is not.
UPRIGHT = 0.94


def checked_up(up: str, path: object = "") -> str:
    """The name of an axis, if it is one."""
    if up not in Z_UP:
        raise refused(path, f"up is {up!r}; expected one of {', '.join(Z_UP)}", "up")
    return up


def upwards(positions: Array, labels: Sequence[str], up: str | None, usual: str, path: object) -> tuple[str, str]:
    """The axis that is up, and a sentence on how it was found.

    What the caller says counts. Else the way from the feet to the pelvis (or from the pelvis to the head, without feet)
    decides if the labels are those of a marker set; an arm span, as long as a person is tall, misleads nobody then.
    Else it is what files of this format usually have.

    Args:
        positions: n x m x 3 as in the file.
        labels: of the m markers.
        up: ``"x"``, ``"y"``, ``"z"``, one of these with a minus, or None to find out.
        usual: the axis that is up in most files of the format.
        path: for the error.
    """
    if up is not None:
        return checked_up(up, path), f"{up} is up, as asked."
    way = _way_up(positions, labels)
    if way is not None:
        axis = int(np.abs(way).argmax())
        if abs(way[axis]) >= UPRIGHT:
            found = ("-" if way[axis] < 0.0 else "") + "xyz"[axis]
            return found, f"{found} is up in the file, by where pelvis, feet and head are."
    return usual, f"{usual} is taken as up, as usual in this format: the markers do not tell."


def _way_up(positions: Array, labels: Sequence[str]) -> Array | None:
    """Unit vector from the feet to the pelvis, or from the pelvis to the head, in the mean over frames."""
    found = assigned(labels, best_set(labels))
    columns: dict[str, list[int]] = {"foot": [], "pelvis": [], "head": []}
    for i, label in enumerate(labels):
        if label in found:
            part = found[label].segment.split("_")[-1]
            columns.get("foot" if part == "toes" else part, []).append(i)
    pairs = [("foot", "pelvis"), ("pelvis", "head"), ("foot", "head")]
    pair = next(((a, b) for a, b in pairs if columns[a] and columns[b]), None)
    if pair is None:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # frames without any of these markers
        low, high = (np.nanmean(positions[:, columns[part]], axis=1) for part in pair)
        way = np.nanmedian(high - low, axis=0)
    length = float(np.linalg.norm(way))
    return way / length if np.isfinite(length) and length > 0.0 else None


# -- Labels of a file brought into order -----------------------------------------------------------------------------


#: Names that tracking software gives to points that nobody has identified.
NAMELESS = re.compile(r"\*.*|(unlabel+ed|unidentified|unnamed|unknown|ghost)[\s_\-]*\d*|", flags=re.IGNORECASE)


class Kept(NamedTuple):
    """Columns that stay, their labels, and what was done, one sentence each."""

    columns: list[int]
    labels: list[str]
    notes: list[str]


def kept(labels: Sequence[str], samples: Sequence[int] | NDArray[np.int_]) -> Kept:
    """Which columns of a file are markers, and their names.

    Args:
        labels: as the file has them, one a column; empty for a column without one.
        samples: how many frames each column has data in.
    """
    notes: list[str] = []
    nameless = [i for i, label in enumerate(labels) if NAMELESS.fullmatch(bare(label))]
    if nameless:
        notes.append(f"Points without a name left out: {len(nameless)}.")
    without = set(nameless)
    columns = [i for i in range(len(labels)) if i not in without]
    never = [i for i in columns if not samples[i]]
    if never:
        notes.append(f"Never seen and left out: {listed([bare(labels[i]) for i in never])}.")
    columns = [i for i in columns if samples[i]]
    columns = _one_person(columns, labels, samples, notes)
    chosen: dict[str, int] = {}
    twice: list[str] = []
    for i in columns:
        name = bare(labels[i])
        if name in chosen:
            twice.append(name)
        chosen.setdefault(name, i)
    if twice:
        notes.append(f"There more than once, the first with samples kept: {listed(list(dict.fromkeys(twice)))}.")
    return Kept(list(chosen.values()), list(chosen), notes)


def _one_person(
    columns: list[int], labels: Sequence[str], samples: Sequence[int] | NDArray[np.int_], notes: list[str]
) -> list[int]:
    """Columns of the person with most samples, where several people have markers of one name."""
    people: Counter[str] = Counter()
    names: dict[str, set[str]] = {}
    for i in columns:
        if ":" in labels[i]:
            person = labels[i].rsplit(":", 1)[0]
            people[person] += int(samples[i])
            names.setdefault(person, set()).add(bare(labels[i]))
    if not people:
        return columns
    first, *others = (person for person, _ in people.most_common())
    others = [person for person in others if names[person] & names[first]]
    if others:
        notes.append(f"Several people in the file: '{first}' kept, {listed([repr(p) for p in others])} left out.")
    stays = [person for person in people if person not in others]
    notes.append(f"Taken off the labels: {listed([f'{person}:' for person in stays])}.")
    return [i for i in columns if ":" not in labels[i] or labels[i].rsplit(":", 1)[0] in stays]


def listed(names: Sequence[str], most: int = 8) -> str:
    """Some names for a sentence: all of them, or the first and how many more."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
