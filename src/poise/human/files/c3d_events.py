"""Foot strikes and foot offs of C3D files, which spell, shape and count them in many ways."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.human.trial import Event, Kind
from poise.robots.parts import Side

Array = NDArray[np.float64]

STRIKE = re.compile(
    r"(foot|heel|toe|ball|initial)[\s_\-]*(strike|contact|down|on)|touch[\s_\-]*down|[lr]?(fs|hs|ic|fc|td)"
)
OFF = re.compile(r"(foot|toe|heel)[\s_\-]*off|lift[\s_\-]*off|[lr]?(fo|to)")
#: Whole words, or the letter in front of short forms such as RHS.
SIDE = {"left": re.compile(r"left|l|l(fs|hs|ic|fc|td|fo|to)"), "right": re.compile(r"right|r|r(fs|hs|ic|fc|td|fo|to)")}


def events(
    parameters: Mapping[str, Any], header: Mapping[str, Any], first_frame: int, frames: int, rate: float
) -> tuple[tuple[Event, ...], list[str]]:
    """Events on a clock that is zero at the first frame, in order, and what was decided.

    Times in files count from the start of the recording, of which a file often holds a part: the time of the first
    frame, counted from zero, is taken off.

    Args:
        parameters: the group EVENT as `ezc3d` gives it, empty if there is none.
        header: the part ``events`` of the header, where old files have them.
        first_frame: number of the first frame, counted from zero.
        frames: how many there are.
        rate: frames a second (Hz).
    """
    labels, contexts, stored = _stored(parameters, header)
    notes: list[str] = []
    if not labels:
        return (), notes
    duration, start, slack = (frames - 1) / rate, first_frame / rate, 1.5 / rate
    times = _times(stored, len(labels), start, duration, slack, notes)
    if times is None:
        return (), ["Events left out: their times do not fit their labels."]
    found: list[Event] = []
    unclear: list[str] = []
    outside = 0
    for time, label, context in zip(times, labels, contexts, strict=True):
        kind, side = _kind(label), _side(context) or _side(label)
        if kind is None or side is None:
            unclear.append(f"{context} {label}".strip())
        elif not -slack <= time <= duration + slack:
            outside += 1
        else:
            found.append(Event(float(np.clip(time, 0.0, duration)), side, kind))
    if unclear:
        notes.append(f"Events left out, neither strike nor off of a foot: {', '.join(dict.fromkeys(unclear))}.")
    if outside:
        notes.append(f"{outside} events before the first or after the last frame left out.")
    return tuple(sorted(found, key=lambda event: event.time)), notes


def _stored(parameters: Mapping[str, Any], header: Mapping[str, Any]) -> tuple[list[str], list[str], Array]:
    """Labels, contexts and times as they stand."""

    def texts(name: str) -> list[str]:
        return [str(word).strip() for word in parameters.get(name, {}).get("value", [])]

    labels = texts("LABELS")
    if labels and "TIMES" in parameters:
        contexts = [*texts("CONTEXTS"), *[""] * len(labels)][: len(labels)]
        return labels, contexts, np.asarray(parameters["TIMES"]["value"], dtype=float)
    short = [str(word).strip() for word in header.get("events_label", ())]
    pairs = [(label, time) for label, time in zip(short, header.get("events_time", ()), strict=False) if label]
    return [label for label, _ in pairs], [""] * len(pairs), np.array([time for _, time in pairs], dtype=float)


def _times(stored: Array, count: int, start: float, duration: float, slack: float, notes: list[str]) -> Array | None:
    """Seconds since the first frame: of the ways to read what is stored, the first that puts all events into the trial,
    or else most of them."""
    best: Array | None = None
    inside = -1
    for seconds in _readings(stored, count):
        for offset in (start, 0.0):
            times = seconds - offset
            fits = int(((times >= -slack) & (times <= duration + slack)).sum())
            if fits > inside:
                best, inside, relative = times, fits, offset != start
    if best is not None and relative:
        notes.append("Event times count from the first frame of the file.")
    return best


def _readings(stored: Array, count: int) -> Iterator[Array]:
    """Seconds of the events: minutes and seconds in rows, in columns, one after the other, or just seconds."""
    if stored.ndim == 2 and stored.shape[0] == 2 and stored.shape[1] >= count:
        yield 60.0 * stored[0, :count] + stored[1, :count]
    if stored.ndim == 2 and stored.shape[1] == 2 and stored.shape[0] >= count:
        yield 60.0 * stored[:count, 0] + stored[:count, 1]
    flat = stored.ravel()
    if len(flat) >= 2 * count:
        yield 60.0 * flat[0 : 2 * count : 2] + flat[1 : 2 * count : 2]
        yield 60.0 * flat[:count] + flat[count : 2 * count]
    elif len(flat) >= count:
        yield flat[:count]


def _kind(label: str) -> Kind | None:
    words = label.lower()
    if _says(STRIKE, words):
        return "strike"
    return "off" if _says(OFF, words) else None


def _side(words: str) -> Side | None:
    sides: Sequence[Side] = ("left", "right")
    found = [side for side in sides if _says(SIDE[side], words.lower())]
    return found[0] if len(found) == 1 else None


def _says(pattern: re.Pattern[str], words: str) -> bool:
    """Whether a text is a pattern or has it among its words."""
    return bool(re.search(rf"(?<![a-z])(?:{pattern.pattern})(?![a-z])", words))
