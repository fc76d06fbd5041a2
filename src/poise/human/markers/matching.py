"""Which marker of a set each label of a trial is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from poise.human.errors import TrialError
from poise.human.markers.loading import load_marker_set, marker_sets
from poise.human.markers.marker_set import Marker, MarkerSet, bare, plain
from poise.human.trial import Trial
from poise.robots.names import near_misses
from poise.robots.parts import SIDES

#: Three points fix the place and the turn of the pelvis, from which everything else hangs; with two on a leg its plane
#: is known at least.
PELVIS, LEG = 3, 2
LEG_SEGMENTS = ("thigh", "shank", "foot", "toes")


@dataclass(frozen=True, eq=False)
class Matched:
    """Labels of a trial and markers of a set, brought together.

    Attributes:
        marker_set: the set.
        found: label in the trial -> its marker.
        unknown: labels of the trial that the set does not have, with markers not found yet that they may be meant as.
        missing: markers of the set that the trial has no sample of.
    """

    marker_set: MarkerSet
    found: dict[str, Marker]
    unknown: dict[str, tuple[str, ...]]
    missing: tuple[str, ...]

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a person should know, one sentence each; empty if everything is where it belongs."""
        name = self.marker_set.name
        lines = []
        for label, near in self.unknown.items():
            lines.append(f"{label}: not in {name}" + (f"; did you mean {' or '.join(near)}?" if near else "."))
        if self.missing:
            lines.append(f"{name} without {', '.join(self.missing)}.")
        return tuple(lines)


def match(trial: Trial, marker_set: MarkerSet | str | Path | None = None) -> Matched:
    """Finds the markers of a set in a trial; prefixes, letter case and separators do not count.

    Args:
        trial: the trial.
        marker_set: a set, the name of one or the path of one's own. None: the set of the library that fits best.

    >>> match(trial).missing, match(trial).unknown
    (('RBAK',), {'LASIS': ('LASI',)})
    """
    seen = np.isfinite(trial.positions).all(axis=2).sum(axis=0)
    labels = [label for label, samples in zip(trial.labels, seen, strict=True) if samples]
    if isinstance(marker_set, str | Path):
        marker_set = load_marker_set(marker_set)
    chosen = marker_set or best_set(labels)
    samples = dict(zip(trial.labels, seen, strict=True))
    found = assigned(sorted(labels, key=lambda label: -samples[label]), chosen)
    found = {label: found[label] for label in labels if label in found}
    taken = {marker.label for marker in found.values()}
    left = [label for label in chosen.markers if label not in taken]
    unknown = {label: near_misses(bare(label), left) for label in labels if label not in found}
    _enough(trial, chosen, found, unknown)
    return Matched(chosen, found, unknown, tuple(label for label in left if label not in chosen.optional))


def best_set(labels: Iterable[str]) -> MarkerSet:
    """The set of the library with most markers among the labels; of equals the one with the larger share found."""
    labels = list(labels)

    def fit(marker_set: MarkerSet) -> tuple[int, float]:
        count = len(assigned(labels, marker_set))
        return count, count / len(marker_set.markers)

    return max(marker_sets().values(), key=fit)


def assigned(labels: Iterable[str], marker_set: MarkerSet) -> dict[str, Marker]:
    """Labels that are markers of a set; of two labels for one marker the exact one counts, then the first."""
    labels = list(labels)
    spelled = {plain(label): marker for label, marker in marker_set.markers.items()}
    found: dict[str, Marker] = {}
    taken: set[str] = set()
    for label in sorted(labels, key=lambda label: label not in marker_set.markers):
        marker = spelled.get(plain(label))
        if marker is not None and marker.label not in taken:
            found[label] = marker
            taken.add(marker.label)
    return found


def _enough(trial: Trial, chosen: MarkerSet, found: dict[str, Marker], unknown: dict[str, tuple[str, ...]]) -> None:
    on = [marker.segment for marker in found.values()]
    counts = {"pelvis": on.count("pelvis")}
    counts |= {f"{side} leg": sum(on.count(f"{side}_{part}") for part in LEG_SEGMENTS) for side in SIDES}
    needed = {"pelvis": PELVIS, **{f"{side} leg": LEG for side in SIDES}}
    if all(counts[part] >= needed[part] for part in needed):
        return
    have = ", ".join(f"{counts[part]} on the {part}" for part in needed)
    near = [f"{label} for {words[0]}?" for label, words in unknown.items() if words][:5]
    guess = f"; meant perhaps: {' '.join(near)}" if near else f"; its labels: {', '.join(trial.labels[:10]) or 'none'}"
    raise TrialError(
        f"{trial.path}: {len(found)} markers of {chosen.name} found, {have}; expected {PELVIS} on the pelvis and "
        f"{LEG} on each leg{guess}; give a marker set of your own (.toml) if the labels are others",
        path=trial.path,
        element=chosen.name,
        near=tuple(unknown),
    )
