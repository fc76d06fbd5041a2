"""Labels of a file brought into order: subjects in front of them, points without a name, one name twice."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from poise.human.markers.marker_set import bare

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
