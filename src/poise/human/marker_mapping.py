"""Mapping assistant: propose a landmark or segment for every label of a trial, say how sure it is, write a marker set.

A label is recognised by the marker sets of the library, by the words in its name (`marker_words.toml`), and by its mean
place on the body, compared with the landmarks of a standing figure; a marker that is on no landmark belongs to the
segment with whose known markers it keeps its distances. Names say more than places, and both together most; see
`Proposal.confidence`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from importlib import resources
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from poise.arrays import Array
from poise.extras import scipy
from poise.files import json_ready
from poise.human.marker_geometry import body_places, fit_to_figure, landmark_places
from poise.human.markers import (
    FEWEST_LEG_MARKERS,
    FEWEST_PELVIS_MARKERS,
    LEG_SEGMENTS,
    SetScore,
    assign_labels,
    label_without_subject,
    landmark_links,
    score_marker_sets,
    segments,
)
from poise.human.trial import Trial
from poise.parsing import parse_toml
from poise.robots import SIDES, Side

#: Confidence from which a proposal is called sure, and below which it is written as a comment only.
SURE, DOUBTFUL = 0.8, 0.35
#: Share of the labels that a set must have for its names to count: a few common names occur in all sets.
RECOGNISED = 0.6
#: Distance from a landmark at which its place has lost most of its weight, m on a body of 1.75 m.
PLACE_TOLERANCE = 0.06


class Proposal(NamedTuple):
    """Proposal for one label.

    Attributes:
        label: in the trial.
        landmark: its landmark; None for a marker anywhere on its segment.
        segment: link that carries it; "" if nothing is proposed.
        confidence: how sure the proposal is, 0 to 1: 0.95 for a label of a recognised marker set, up to 0.94 if name
            and place agree, at most 0.85 for a name and 0.7 for a place alone.
        reason: what it is based on.
    """

    label: str
    landmark: str | None
    segment: str
    confidence: float
    reason: str

    @property
    def target(self) -> str:
        """The landmark, or "anywhere on SEGMENT"."""
        return self.landmark or (f"anywhere on {self.segment}" if self.segment else "nothing")

    @property
    def sureness(self) -> str:
        """The confidence in a word: sure, likely or unsure."""
        return "sure" if self.confidence >= SURE else "likely" if self.confidence >= DOUBTFUL else "unsure"


@dataclass(frozen=True, eq=False)
class MarkerMapping:
    """Proposals for all labels of a trial.

    Attributes:
        trial: file name of the trial.
        sets: how well the marker sets of the library fit, the best first.
        proposals: one per label, in the order of the trial.
        notes: remarks, one sentence each.
    """

    trial: str
    sets: tuple[SetScore, ...]
    proposals: tuple[Proposal, ...]
    notes: tuple[str, ...] = ()

    @property
    def usable(self) -> bool:
        """Whether the likely proposals have enough markers on pelvis and legs for a fit."""
        links = [each.segment for each in self.proposals if each.confidence >= DOUBTFUL]
        legs = [sum(links.count(f"{side}_{part}") for part in LEG_SEGMENTS) for side in SIDES]
        return links.count("pelvis") >= FEWEST_PELVIS_MARKERS and min(legs) >= FEWEST_LEG_MARKERS

    def summary(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return json_ready(
            {
                "trial": self.trial,
                "sets": [
                    {"name": s.marker_set.name, "found": s.found, "unknown": s.unknown, "missing": s.missing,
                     "score": s.score}
                    for s in self.sets
                ],
                "markers": [{**each._asdict(), "sureness": each.sureness} for each in self.proposals],
                "usable": self.usable,
                "notes": list(self.notes),
            }
        )  # fmt: skip

    def text(self) -> str:
        """Return the scores of the best sets and a table of the labels."""
        lines = [
            f"{self.trial}: {len(self.proposals)} labels",
            f"{'marker set':<20} {'labels':>7} {'missing':>8} {'score':>6}",
        ]
        for score in self.sets[:3]:
            lines.append(f"{score.marker_set.name:<20} {score.found:>7} {score.missing:>8} {score.score:>6.2f}")
        lines += ["", f"{'label':<22} {'proposal':<34} {'sure':>5}  because"]
        for each in self.proposals:
            lines.append(f"{each.label[:22]:<22} {each.target:<34} {100 * each.confidence:>4.0f}%  {each.reason}")
        if not self.usable:
            lines.append("too few likely markers for a fit: it needs three on the pelvis and two on each leg")
        return "\n".join([*lines, *(f"  {note}" for note in self.notes)])

    def toml(self, name: str) -> str:
        """Return the marker set as TOML, each line with its reason; unsure proposals are commented out."""
        lines = [
            f"# Proposed by 'poise human markers {self.trial}'. Check every line that is not sure.",
            f"name = {_quoted(name)}",
            "",
            "[markers]",
        ]
        for each in sorted(self.proposals, key=lambda each: (each.confidence < DOUBTFUL,)):
            value = _quoted(each.landmark) if each.landmark else f"{{ segment = {_quoted(each.segment)} }}"
            line = f"{_quoted(each.label)} = {value}"
            comment = f"# {each.sureness}, {100 * each.confidence:.0f} %: {each.reason}"
            lines.append(f"{line}  {comment}" if each.confidence >= DOUBTFUL else f"# {line}  {comment}")
        return "\n".join(lines) + "\n"

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the marker set as a TOML file and return its path."""
        file = Path(path)
        file.write_text(self.toml(file.stem), encoding="utf-8")
        return file


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def propose_markers(trial: Trial) -> MarkerMapping:
    """Propose a landmark or a segment for each label of a trial (`poise human markers`).

    >>> mapping = propose_markers(read_trial("trial.c3d"))
    >>> print(mapping.text())
    >>> mapping.save("own.toml")
    """
    scores = score_marker_sets(trial.labels)
    sides = find_sides(trial.labels)
    names = {label: _named(label, sides.get(label), scores[0]) for label in trial.labels}
    places = body_places(trial, sides)
    notes = [] if places else ["Left and right are neither in the labels nor in a walking direction: names only."]
    anchors = {
        label: best[0] for label, best in names.items() if best and best[0].landmark and best[0].confidence >= SURE
    }
    on_figure = fit_to_figure(places, {label: each.landmark or "" for label, each in anchors.items()}, sides)
    if places and on_figure is None:
        notes.append("The markers do not fit a standing person: names only.")
    chosen = _assign(trial.labels, names, on_figure or {}, sides)
    chosen = [_with_segment(each, chosen, names[each.label], trial, on_figure or {}, sides) for each in chosen]
    return MarkerMapping(Path(trial.path).name, tuple(scores), tuple(chosen), tuple(notes))


# -- Names -----------------------------------------------------------------------------------------------------------


def find_sides(labels: Iterable[str]) -> dict[str, Side]:
    """Return the side of the labels that have one: with a partner that differs in L and R or left and right only, or
    with such a word.

    >>> find_sides(["LKNE", "RKNE", "C7"])
    {'LKNE': 'left', 'RKNE': 'right'}
    """
    labels = list(labels)
    present = {label_without_subject(label).casefold() for label in labels}
    sides: dict[str, Side] = {}
    for label in labels:
        word = label_without_subject(label).casefold()
        for left, right in (("left", "right"), ("l", "r")):
            for side, own, other in (("left", left, right), ("right", right, left)):
                partners = (word[: m.start()] + other + word[m.end() :] for m in re.finditer(own, word))
                ends = word.startswith(own) or word.endswith(own) or re.search(rf"[^a-z]{own}[^a-z]", word)
                if label not in sides and ends and any(partner in present for partner in partners):
                    sides[label] = side  # type: ignore[assignment]
    return sides


@cache
def marker_words() -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """Return the words of ``marker_words.toml``: "landmarks" and "segments", then the words of each."""
    content = parse_toml((resources.files("poise.human") / "marker_words.toml").read_bytes())
    return {kind: {name: tuple(words) for name, words in table.items()} for kind, table in content.items()}


def _named(label: str, side: Side | None, best: SetScore) -> list[Proposal]:
    """Return the proposals from the name of a label, the surest first."""
    count = best.found + best.unknown
    known = assign_labels([label], best.marker_set).get(label)
    if known is not None and best.found >= RECOGNISED * count:
        reason = f"in marker set {best.marker_set.name}"
        return [Proposal(label, known.landmark, known.segment, 0.95, reason)]
    found = []
    stem = _without_side(label, side)
    for kind, table in marker_words().items():
        for name, words in table.items():
            score = max(_similarity(stem, word) for word in words)
            target = _sided(name, side, landmark_links() if kind == "landmarks" else segments())
            if score < 0.5 or target is None:
                continue
            reason = f"its name is like '{max(words, key=lambda word: _similarity(stem, word))}'"
            landmark = target if kind == "landmarks" else None
            link = landmark_links()[target] if kind == "landmarks" else target
            weight = 0.85 if kind == "landmarks" else 0.75
            found.append(Proposal(label, landmark, link, weight * score, reason))
    return sorted(found, key=lambda each: -each.confidence)


def _sided(name: str, side: Side | None, known: Iterable[str]) -> str | None:
    known = set(known)
    if side is not None and f"{side}_{name}" in known:
        return f"{side}_{name}"
    return name if name in known else None


def _without_side(label: str, side: Side | None) -> list[str]:
    """Return the words of a label in lower case without its side."""
    spaced = re.sub(r"([a-z])([A-Z])|([A-Za-z])(?=\d)", r"\1\3 \2", label_without_subject(label))
    words = [word for word in re.split(r"[^A-Za-z0-9]+", spaced.lower()) if word]
    letters = {None: (), "left": ("left", "l"), "right": ("right", "r")}[side]
    for letter in letters:
        if letter in words and len(words) > 1:
            words.remove(letter)
            return words
    for letter in letters:
        if words and words[0].startswith(letter) and len(words[0]) > len(letter):
            return [words[0][len(letter) :], *words[1:]]
        if words and words[-1].endswith(letter) and len(words[-1]) > len(letter):
            return [*words[:-1], words[-1][: -len(letter)]]
    return words


def _similarity(words: list[str], entry: str) -> float:
    """Return how well the words of a label agree with an entry of the list of words, 0 to 1."""
    wanted = entry.split()
    joined, target = "".join(words), "".join(wanted)
    if joined == target:
        return 1.0
    common = [word for word in wanted if any(w == word or (len(word) > 2 and w.startswith(word)) for w in words)]
    if len(common) == len(wanted) and len(target) > 2:
        return 0.85 if len(words) <= len(wanted) + 1 else 0.7
    ratio = SequenceMatcher(None, joined, target).ratio() if min(len(joined), len(target)) > 2 else 0.0
    return ratio if ratio >= 0.8 else 0.0


# -- Names and places together -----------------------------------------------------------------------------------------


def _assign(
    labels: Iterable[str], names: Mapping[str, list[Proposal]], places: Mapping[str, Array], sides: Mapping[str, Side]
) -> list[Proposal]:
    """Choose one landmark per label and one label per landmark, so that the sum of the confidences is largest."""
    labels = list(labels)
    targets = [name for name in landmark_links() if not name.endswith(("_center",))]
    targets += sorted({p.landmark for each in names.values() for p in each if p.landmark} - set(targets))
    figure = landmark_places()
    table = np.zeros((len(labels), len(targets)))
    for i, label in enumerate(labels):
        by_name = {p.landmark: p.confidence for p in names[label] if p.landmark}
        has_name = bool(names[label])
        for j, target in enumerate(targets):
            side = next((s for s in SIDES if target.startswith(s)), None)
            near = 0.0
            if label in places and not target.endswith("_center") and sides.get(label, side) == side:
                distance = float(np.linalg.norm(places[label] - figure[target]))
                near = float(np.exp(-0.5 * (distance / PLACE_TOLERANCE) ** 2))
            named = by_name.get(target, 0.0)
            if named >= 0.95:
                table[i, j] = 0.95
            elif named and label in places:
                table[i, j] = 0.75 * named + 0.3 * near
            elif named:
                table[i, j] = named
            else:  # a place alone; less if the name says something else
                table[i, j] = (0.3 if has_name else 0.7) * near
    rows, columns = scipy.optimize.linear_sum_assignment(-table)
    best = dict(zip(rows.tolist(), columns.tolist(), strict=True))
    chosen = []
    for i, label in enumerate(labels):
        column: int | None = best.get(i)
        segment = next((each for each in names[label] if each.landmark is None), None)
        confidence = 0.0 if column is None else float(table[i, column])
        if segment is not None and segment.confidence >= confidence:
            chosen.append(segment)
        elif column is None or confidence < 0.1:
            chosen.append(Proposal(label, None, "", 0.0, "neither name nor place"))
        else:
            landmark = targets[column]
            reason = next((each.reason for each in names[label] if each.landmark == landmark), "")
            if label in places and not landmark.endswith("_center") and "marker set" not in reason:
                distance = float(np.linalg.norm(places[label] - figure[landmark]))
                reason += ("; " if reason else "") + f"{100 * distance:.0f} cm from its place"
            link = landmark_links()[landmark]
            chosen.append(Proposal(label, landmark, link, min(confidence, 0.95), reason or "its place"))
    return chosen


def _with_segment(
    proposal: Proposal,
    chosen: list[Proposal],
    names: list[Proposal],
    trial: Trial,
    places: Mapping[str, Array],
    sides: Mapping[str, Side],
) -> Proposal:
    """Replace an unlikely landmark by a segment: by name, by constant distances to known markers, or by place."""
    if proposal.confidence >= 0.5:
        return proposal
    options = [proposal]
    options += [each for each in names if each.landmark is None][:1]
    side = sides.get(proposal.label)
    sure = [each for each in chosen if each.confidence >= 0.7 and each.label != proposal.label]
    rigid = _rigid_segment(trial, proposal.label, sure, side)
    if rigid is not None:
        options.append(Proposal(proposal.label, None, rigid, 0.6, f"it moves with {rigid}"))
    elif proposal.landmark and not names:
        # Places alone tell the segment more often than the landmark, and a marker anywhere on it does no harm.
        return proposal._replace(landmark=None, reason=f"nearest to {proposal.landmark}")
    return max(options, key=lambda each: each.confidence)


def _rigid_segment(trial: Trial, label: str, known: list[Proposal], side: Side | None) -> str | None:
    """Return the segment whose known markers keep their distances to a marker in the motion; None if unclear."""
    own = trial.marker(label)
    spread: dict[str, float] = {}
    for segment in segments():
        if side is not None and segment.startswith(SIDES) and not segment.startswith(side):
            continue
        changes = []
        for each in known:
            if each.segment == segment:
                distance = np.linalg.norm(own - trial.marker(each.label), axis=1)
                if np.isfinite(distance).sum() > 10:
                    changes.append(float(np.nanstd(distance)))
        if changes:
            spread[segment] = float(np.median(changes))
    if len(spread) < 2:
        return None
    first, second = sorted(spread, key=lambda segment: spread[segment])[:2]
    return first if spread[first] < 0.015 and spread[second] > 2.0 * spread[first] + 0.005 else None
