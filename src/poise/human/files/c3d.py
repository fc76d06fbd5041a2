"""C3D: the file that motion capture laboratories exchange, read through `ezc3d`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.human.errors import refused
from poise.human.files.axes import Z_UP, upwards
from poise.human.files.c3d_channels import point_labels, separated
from poise.human.files.c3d_events import events
from poise.human.files.c3d_layout import check_layout
from poise.human.files.c3d_plates import plates
from poise.human.files.labels import kept
from poise.human.files.units import metres
from poise.human.trial import Subject, Trial

Array = NDArray[np.float64]

#: Height of a person, m, and mass, kg, that are believed; laboratories write 0 for unknown, and heights in mm or m.
HEIGHTS, MASSES = (0.4, 2.6), (2.0, 400.0)


def read_c3d(path: Path, up: str | None = None) -> Trial:
    """A trial with markers, events, force plates, and the angles and moments that the laboratory's software stored."""
    check_layout(path)
    try:
        import ezc3d  # type: ignore[import-untyped]
        from ezc3d import ezc3d as swig
    except ImportError:
        raise refused(path, "C3D files need the package ezc3d, which is not installed; pip install ezc3d") from None
    try:
        c3d = ezc3d.c3d(str(path))
        points, residuals = c3d["data"]["points"], c3d["data"]["meta_points"]["residuals"]
    except Exception as error:  # the reader raises whatever it likes about a damaged file
        raise refused(path, f"not a readable C3D file: {error}") from None
    parameters, header = c3d["parameters"], c3d["header"]
    group = parameters.get("POINT", {})
    rate = _number(group, "RATE") or float(header["points"]["frame_rate"])
    if not (np.isfinite(rate) and rate > 0.0):
        raise refused(path, f"a point rate of {rate:g} Hz; expected a positive number of frames a second", "POINT:RATE")
    frames = points.shape[2]
    if not frames or not points.shape[1]:
        raise refused(path, f"{points.shape[1]} points in {frames} frames; expected markers")
    values, labels, notes = _samples(points, residuals, point_labels(group))
    channels = separated(labels, group)
    markers = values[:, channels.markers]
    gaps = (markers == 0.0).all(axis=2)
    markers[gaps] = np.nan
    named = kept([labels[i] for i in channels.markers], np.isfinite(markers).all(axis=2).sum(axis=0))
    markers = markers[:, named.columns]
    if not named.columns:
        raise refused(path, f"no marker with a name and samples among {len(labels)} points")
    scale, unit_note = metres(" ".join(group.get("UNITS", {}).get("value", [])[:1]), markers)
    axis, up_note = upwards(markers, named.labels, up, "z", path)
    rotation = Z_UP[axis]
    to_metres = scale * rotation.T
    found_events, event_notes = events(
        parameters.get("EVENT", {}), header["events"], int(header["points"]["first_frame"]), frames, rate
    )
    found_plates, plate_notes = plates(c3d, swig, rotation, frames)
    subject, subject_notes = _subject(parameters)
    turns = 1.0 if not _word(group, "ANGLE_UNITS").startswith("rad") else float(np.degrees(1.0))
    remarks = [*notes, *channels.notes, *named.notes, unit_note, up_note, *event_notes, *plate_notes, *subject_notes]
    return Trial(
        path=str(path),
        rate=rate,
        time=np.arange(frames) / rate,
        labels=tuple(named.labels),
        positions=markers @ to_metres,
        events=found_events,
        plates=found_plates,
        subject=subject,
        angles={name: turns * values[:, column] for name, column in channels.angles.items()},
        moments={name: values[:, column] for name, column in channels.moments.items()},
        notes=tuple(remark for remark in remarks if remark),
        computed={name: values[:, column] @ to_metres for name, column in channels.computed.items()},
    )


def _samples(points: Array, residuals: Array, labels: list[str]) -> tuple[Array, list[str], list[str]]:
    """Values, frames x points x 3 with NaN where a point was not seen, one label a point, and what did not fit."""
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


def _subject(parameters: Mapping[str, Any]) -> tuple[Subject, list[str]]:
    """Name, mass and height; zero is unknown, and a height in mm or cm is one in m."""
    processing = {name.lower(): value for name, value in parameters.get("PROCESSING", {}).items()}
    mass, height = _number(processing, "bodymass"), _number(processing, "height")
    notes = []
    if mass and not MASSES[0] <= mass <= MASSES[1]:
        notes.append(f"A body mass of {mass:g} kg is not believed.")
        mass = None
    if height:
        in_metres = next((height * f for f in (1.0, 1e-2, 1e-3) if HEIGHTS[0] <= height * f <= HEIGHTS[1]), None)
        if in_metres is None:
            notes.append(f"A height of {height:g} is not believed.")
        height = in_metres
    return Subject(_word(parameters.get("SUBJECTS", {}), "NAMES", lower=False), mass or None, height or None), notes


def _number(group: Mapping[str, Any], name: str) -> float | None:
    """The first number of a parameter; None if it is not there, and if it is not one."""
    values = np.ravel(group.get(name, {}).get("value", []))
    if not len(values) or not np.issubdtype(values.dtype, np.number) or not np.isfinite(values[0]):
        return None
    return float(values[0])


def _word(group: Mapping[str, Any], name: str, lower: bool = True) -> str:
    """The first text of a parameter."""
    values = group.get(name, {}).get("value", [])
    word = str(values[0]).strip() if len(values) and isinstance(values[0], str) else ""
    return word.lower() if lower else word
