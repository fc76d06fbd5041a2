"""Read C3D files with `ezc3d`: markers, gait events, force plates, stored angles and moments."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from poise.analysis import EventKind, GaitEvent
from poise.arrays import Array
from poise.extras import ezc3d, require
from poise.human.files.c3d_layout import check_layout
from poise.human.files.file_conventions import (
    ROTATION_TO_Z_UP,
    find_up_axis,
    length_unit,
    select_markers,
)
from poise.human.files.force_plates import read_force_plates
from poise.human.markers import label_without_subject
from poise.human.trial import Subject, Trial, trial_error
from poise.robots import Side

#: Parameters of the group POINT that list the labels of model outputs; long lists continue in ANGLES2, ANGLES3 ...
RESULT_GROUPS = {"ANGLES": "angle", "MOMENTS": "moment", "FORCES": "other", "POWERS": "other", "SCALARS": "other"}
#: Model outputs by name, for files that do not list them; some names end with a V.
RESULT_NAMES = {
    "angle": re.compile(r".*Angles?V?", flags=re.IGNORECASE),
    "moment": re.compile(r".*Moments?V?", flags=re.IGNORECASE),
    "other": re.compile(r".*(Forces?|Powers?|GRF|Torques?|Work)V?", flags=re.IGNORECASE),
}
CENTER_OF_MASS = re.compile(r"(whole_?body_?)?cent(re|er)_?of_?mass(_?floor)?", flags=re.IGNORECASE)
#: Plug-in Gait stores the axes of each segment as four points: its origin and one along each axis.
SEGMENT_POINT = re.compile(r"(?P<segment>HED|PEL|TRX|[LR](CL|FE|FO|HN|HU|RA|TI|TO))(?P<end>[OALP])")


class PointChannels(NamedTuple):
    """Columns of the points by kind, and notes on those left out.

    A C3D file stores model outputs, such as joint angles, in the same array as the markers.

    Attributes:
        markers: columns of the markers.
        angles, moments: columns of stored joint angles and moments by name.
        computed: columns of computed points by name: centre of mass, axes of segments.
        notes: one sentence each.
    """

    markers: list[int]
    angles: dict[str, int]
    moments: dict[str, int]
    computed: dict[str, int]
    notes: list[str]


def classify_points(labels: Sequence[str], parameters: Mapping[str, Any]) -> PointChannels:
    """Classify points by their labels; ``parameters`` is the group POINT of `ezc3d`."""
    listed_kinds = {
        label.strip(): kind
        for group, kind in RESULT_GROUPS.items()
        for label in _parameter_texts(parameters, group)
        if label.strip()
    }
    frames = _complete_segments(label_without_subject(label) for label in labels)
    outputs: dict[str, dict[str, int]] = {"angle": {}, "moment": {}, "computed": {}}
    markers: list[int] = []
    others = 0
    for column, label in enumerate(labels):
        kind = listed_kinds.get(label) or _kind_by_name(label_without_subject(label), frames)
        if kind is None:
            markers.append(column)
        elif kind == "other":
            others += 1
        else:
            name = label_without_subject(label)
            name = name[:-1] if kind != "computed" and name.endswith("V") else name
            outputs[kind].setdefault(name, column)
    notes = []
    if others:
        notes.append(f"{others} channels of forces and powers stored as points are left out.")
    return PointChannels(markers, outputs["angle"], outputs["moment"], outputs["computed"], notes)


def point_labels(parameters: Mapping[str, Any]) -> list[str]:
    """Return the labels of all points; those beyond 255 are in LABELS2, LABELS3 ..."""
    return _parameter_texts(parameters, "LABELS")


def _parameter_texts(parameters: Mapping[str, Any], name: str) -> list[str]:
    """Return the texts of a parameter and of its continuations."""
    words: list[str] = []
    number = 1
    while (key := name if number == 1 else f"{name}{number}") in parameters:
        words += [str(word).strip() for word in parameters[key]["value"] if isinstance(word, str)]
        number += 1
    return words


def _kind_by_name(name: str, frames: set[str]) -> str | None:
    for kind, pattern in RESULT_NAMES.items():
        if pattern.fullmatch(name):
            return kind
    match = SEGMENT_POINT.fullmatch(name)
    return "computed" if CENTER_OF_MASS.fullmatch(name) or (match and match["segment"] in frames) else None


def _complete_segments(names: Iterable[str]) -> set[str]:
    """Return the segments with all four points; a single name of this form may be an ordinary marker."""
    ends: dict[str, set[str]] = {}
    for name in names:
        if match := SEGMENT_POINT.fullmatch(name):
            ends.setdefault(match["segment"], set()).add(match["end"])
    return {segment for segment, letters in ends.items() if letters == set("OALP")}


# -- Gait events -----------------------------------------------------------------------------------------------------


INITIAL_CONTACT = re.compile(
    r"(foot|heel|toe|ball|initial)[\s_\-]*(strike|contact|down|on)|touch[\s_\-]*down|[lr]?(fs|hs|ic|fc|td)"
)
TOE_OFF = re.compile(r"(foot|toe|heel)[\s_\-]*off|lift[\s_\-]*off|[lr]?(fo|to)")
#: Whole words, or the first letter of abbreviations such as RHS.
SIDE_PATTERNS = {
    "left": re.compile(r"left|l|l(fs|hs|ic|fc|td|fo|to)"),
    "right": re.compile(r"right|r|r(fs|hs|ic|fc|td|fo|to)"),
}


def read_events(
    parameters: Mapping[str, Any], header: Mapping[str, Any], first_frame: int, frames: int, rate: float
) -> tuple[tuple[GaitEvent, ...], list[str]]:
    """Read the gait events, with times relative to the first frame and in order, and notes.

    Times in files count from the start of the capture, of which a file often contains a part: the time of the first
    frame is subtracted.

    Args:
        parameters: the group EVENT of `ezc3d`, empty if there is none.
        header: the part ``events`` of the header, used by old files.
        first_frame: index of the first frame, from zero.
        frames: number of frames.
        rate: frame rate (Hz).
    """
    labels, contexts, stored = _stored_events(parameters, header)
    notes: list[str] = []
    if not labels:
        return (), notes
    duration, start, tolerance = (frames - 1) / rate, first_frame / rate, 1.5 / rate
    times = _event_times(stored, len(labels), start, duration, tolerance, notes)
    if times is None:
        return (), ["Events left out: the number of times does not match the labels."]
    events: list[GaitEvent] = []
    unrecognized: list[str] = []
    outside = 0
    for time, label, context in zip(times, labels, contexts, strict=True):
        kind, side = _event_kind(label), _event_side(context) or _event_side(label)
        if kind is None or side is None:
            unrecognized.append(f"{context} {label}".strip())
        elif not -tolerance <= time <= duration + tolerance:
            outside += 1
        else:
            events.append(GaitEvent(float(np.clip(time, 0.0, duration)), side, kind))
    if unrecognized:
        notes.append(f"Events left out, neither initial contact nor toe-off: {', '.join(dict.fromkeys(unrecognized))}.")
    if outside:
        notes.append(f"{outside} events before the first or after the last frame are left out.")
    return tuple(sorted(events, key=lambda event: event.time)), notes


def _stored_events(parameters: Mapping[str, Any], header: Mapping[str, Any]) -> tuple[list[str], list[str], Array]:
    """Return labels, contexts and times as stored."""

    def texts(name: str) -> list[str]:
        return [str(word).strip() for word in parameters.get(name, {}).get("value", [])]

    labels = texts("LABELS")
    if labels and "TIMES" in parameters:
        contexts = [*texts("CONTEXTS"), *[""] * len(labels)][: len(labels)]
        return labels, contexts, np.asarray(parameters["TIMES"]["value"], dtype=float)
    short = [str(word).strip() for word in header.get("events_label", ())]
    pairs = [(label, time) for label, time in zip(short, header.get("events_time", ()), strict=False) if label]
    return [label for label, _ in pairs], [""] * len(pairs), np.array([time for _, time in pairs], dtype=float)


def _event_times(
    stored: Array, count: int, start: float, duration: float, tolerance: float, notes: list[str]
) -> Array | None:
    """Convert stored times to seconds since the first frame; None if there are fewer times than events.

    The layout of the times, and whether they count from the start of the capture or of the file, differs between files.
    The interpretation that puts most events inside the trial is used; if several do, the first of them.
    """
    best: Array | None = None
    inside = -1
    for seconds in _time_candidates(stored, count):
        for offset in (start, 0.0):
            times = seconds - offset
            fits = int(((times >= -tolerance) & (times <= duration + tolerance)).sum())
            if fits > inside:
                best, inside, relative = times, fits, offset != start
    if best is not None and relative:
        notes.append("Event times count from the first frame of the file.")
    return best


def _time_candidates(stored: Array, count: int) -> Iterator[Array]:
    """Iterate over interpretations of the times: minutes and seconds in rows, columns or flattened; or seconds."""
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


def _event_kind(label: str) -> EventKind | None:
    words = label.lower()
    if _contains_word(INITIAL_CONTACT, words):
        return "initial_contact"
    return "toe_off" if _contains_word(TOE_OFF, words) else None


def _event_side(words: str) -> Side | None:
    sides: Sequence[Side] = ("left", "right")
    matching = [side for side in sides if _contains_word(SIDE_PATTERNS[side], words.lower())]
    return matching[0] if len(matching) == 1 else None


def _contains_word(pattern: re.Pattern[str], words: str) -> bool:
    """Return whether a text contains the pattern as a word."""
    return bool(re.search(rf"(?<![a-z])(?:{pattern.pattern})(?![a-z])", words))


# -- C3D files ---------------------------------------------------------------------------------------------------------


#: Plausible heights, m, and masses, kg; laboratories write 0 for unknown, and heights in mm or m.
PLAUSIBLE_HEIGHT, PLAUSIBLE_MASS = (0.4, 2.6), (2.0, 400.0)


def read_c3d(path: Path, up: str | None = None) -> Trial:
    """Read a trial: markers, events, force plates, and the angles and moments stored by the laboratory's software."""
    check_layout(path)
    require("ezc3d")
    try:
        c3d = ezc3d.c3d(str(path))
        points, residuals = c3d["data"]["points"], c3d["data"]["meta_points"]["residuals"]
    except Exception as error:  # ezc3d raises many types for a damaged file
        raise trial_error(path, f"not a readable C3D file: {error}") from None
    parameters, header = c3d["parameters"], c3d["header"]
    group = parameters.get("POINT", {})
    rate = _first_number(group, "RATE") or float(header["points"]["frame_rate"])
    if not (np.isfinite(rate) and rate > 0.0):
        raise trial_error(path, f"point rate of {rate:g} Hz; expected a positive number", "POINT:RATE")
    frames = points.shape[2]
    if not frames or not points.shape[1]:
        raise trial_error(path, f"{points.shape[1]} points in {frames} frames; expected markers")
    values, labels, notes = _point_values(points, residuals, point_labels(group))
    channels = classify_points(labels, group)
    markers = values[:, channels.markers]
    gaps = (markers == 0.0).all(axis=2)
    markers[gaps] = np.nan
    selected = select_markers([labels[i] for i in channels.markers], np.isfinite(markers).all(axis=2).sum(axis=0))
    markers = markers[:, selected.columns]
    if not selected.columns:
        raise trial_error(path, f"no marker with a name and samples among {len(labels)} points")
    scale, unit_note = length_unit(" ".join(group.get("UNITS", {}).get("value", [])[:1]), markers)
    axis, up_note = find_up_axis(markers, selected.labels, up, "z", path)
    rotation = ROTATION_TO_Z_UP[axis]
    to_metres = scale * rotation.T
    found_events, event_notes = read_events(
        parameters.get("EVENT", {}), header["events"], int(header["points"]["first_frame"]), frames, rate
    )
    found_plates, plate_notes = read_force_plates(c3d, rotation, frames)
    subject, subject_notes = _read_subject(parameters)
    degrees_per_unit = 1.0 if not _first_text(group, "ANGLE_UNITS").startswith("rad") else float(np.degrees(1.0))
    remarks = [*notes, *channels.notes, *selected.notes, unit_note, up_note, *event_notes, *plate_notes, *subject_notes]
    return Trial(
        path=str(path),
        rate=rate,
        time=np.arange(frames) / rate,
        labels=tuple(selected.labels),
        positions=markers @ to_metres,
        events=found_events,
        plates=found_plates,
        subject=subject,
        angles={name: degrees_per_unit * values[:, column] for name, column in channels.angles.items()},
        moments={name: values[:, column] for name, column in channels.moments.items()},
        notes=tuple(remark for remark in remarks if remark),
        computed_points={name: values[:, column] @ to_metres for name, column in channels.computed.items()},
        start=int(header["points"]["first_frame"]) / rate,
    )


def _point_values(points: Array, residuals: Array, labels: list[str]) -> tuple[Array, list[str], list[str]]:
    """Return values, frames x points x 3 with NaN in gaps, one label per point, and notes on missing labels or data."""
    values = np.array(points[:3].transpose(2, 1, 0), dtype=float)
    if residuals.shape[1:] == points.shape[1:]:
        values[residuals[0].T < 0.0] = np.nan
    values[~np.isfinite(values).all(axis=2)] = np.nan
    notes = []
    count = values.shape[1]
    if len(labels) > count:
        notes.append(f"{len(labels)} labels for {count} points: the last {len(labels) - count} have no data.")
    if len(labels) < count:
        notes.append(f"{len(labels)} labels for {count} points: the last {count - len(labels)} have no name.")
    return values, [*labels, *[""] * count][:count], notes


def _read_subject(parameters: Mapping[str, Any]) -> tuple[Subject, list[str]]:
    """Read name, mass and height; zero means unknown, and heights in mm or cm are converted to m."""
    processing = {name.lower(): value for name, value in parameters.get("PROCESSING", {}).items()}
    mass, height = _first_number(processing, "bodymass"), _first_number(processing, "height")
    notes = []
    if mass and not PLAUSIBLE_MASS[0] <= mass <= PLAUSIBLE_MASS[1]:
        notes.append(f"Body mass of {mass:g} kg ignored: not plausible.")
        mass = None
    if height:
        in_metres = next(
            (height * f for f in (1.0, 1e-2, 1e-3) if PLAUSIBLE_HEIGHT[0] <= height * f <= PLAUSIBLE_HEIGHT[1]), None
        )
        if in_metres is None:
            notes.append(f"Height of {height:g} ignored: not plausible.")
        height = in_metres
    return Subject(
        _first_text(parameters.get("SUBJECTS", {}), "NAMES", lower=False), mass or None, height or None
    ), notes


def _first_number(group: Mapping[str, Any], name: str) -> float | None:
    """Return the first number of a parameter; None if it is missing or not a number."""
    values = np.ravel(group.get(name, {}).get("value", []))
    if not len(values) or not np.issubdtype(values.dtype, np.number) or not np.isfinite(values[0]):
        return None
    return float(values[0])


def _first_text(group: Mapping[str, Any], name: str, lower: bool = True) -> str:
    """Return the first text of a parameter."""
    values = group.get(name, {}).get("value", [])
    word = str(values[0]).strip() if len(values) and isinstance(values[0], str) else ""
    return word.lower() if lower else word
