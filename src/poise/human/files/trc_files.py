"""Read and write TRC files: markers as a text table, with time stamps mapped to evenly spaced frames."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from poise import parsing
from poise.arrays import Array
from poise.human.files.file_conventions import (
    METRES_PER_UNIT,
    ROTATION_TO_Z_UP,
    check_up_axis,
    find_up_axis,
    length_unit,
    select_markers,
)
from poise.human.files.text_tables import number_table, split_fields, text_lines
from poise.human.trial import Trial, trial_error

#: Relative difference between the rate in the header and that of the time stamps above which the time stamps are used:
#: they are often rounded to ms, which matters in a single step but not over a whole file.
RATE_TOLERANCE = 0.02
#: Largest ratio of evenly spaced frames to rows in the file; beyond it the time stamps are not those of one recording.
MAX_INSERTED_PER_FRAME = 10


def resample_times(path: Path, timestamps: Array, stated: float | None) -> tuple[float, NDArray[np.int_], str]:
    """Return the frame rate (Hz), the frame index of each row (with gaps for missing rows), and a remark.

    Args:
        path: file name for error messages.
        timestamps: time of each row, s; NaN if missing.
        stated: frame rate in the header (Hz), None if there is none.
    """
    stated = stated if stated is not None and stated > 0.0 else None
    count = len(timestamps)
    if count == 1 or not np.isfinite(timestamps).all():
        if stated is None:
            raise trial_error(path, "no rate and no time stamps; expected a positive rate in the header", "rate")
        return (
            stated,
            np.arange(count),
            "" if count == 1 else "Rows without time stamps: frames taken as evenly spaced.",
        )
    steps = np.diff(timestamps)
    if (steps <= 0.0).any():
        row = int(np.argmax(steps <= 0.0)) + 2
        raise trial_error(
            path,
            f"time does not increase at row {row}: {timestamps[row - 1]:g} s after {timestamps[row - 2]:g} s",
            "time",
        )
    # The mean of all steps is biased by missing rows, the median by rounding: use the mean of the usual steps.
    middle = float(np.median(steps))
    usual = steps[steps < 1.5 * middle]
    measured_rate = 1.0 / float(usual.mean())
    note = ""
    rate = stated if stated is not None else measured_rate
    if stated is None:
        note = f"No rate in the header: {measured_rate:.6g} Hz from the time stamps."
    elif abs(measured_rate / stated - 1.0) > RATE_TOLERANCE:
        rate = measured_rate
        note = f"The header says {stated:g} Hz, the time stamps {measured_rate:.6g} Hz: the latter is used."
    frame_numbers = np.round((timestamps - timestamps[0]) * rate).astype(int)
    if frame_numbers[-1] > MAX_INSERTED_PER_FRAME * count:
        raise trial_error(
            path,
            f"{count} rows over {timestamps[-1] - timestamps[0]:.4g} s at {rate:g} Hz; expected a single recording",
            "time",
        )
    if (np.diff(frame_numbers) < 1).any():
        return rate, np.arange(count), f"{note} Uneven time stamps: frames taken as evenly spaced.".strip()
    left_out = int(frame_numbers[-1] + 1 - count)
    if left_out:
        note = f"{note} {left_out} frames missing between rows are gaps.".strip()
    return rate, frame_numbers, note


# -- TRC files -------------------------------------------------------------------------------------------------------


def read_trc(path: Path, up: str | None = None) -> Trial:
    """Read a trial from a TRC file. Numbers of rows and markers are counted; differences from the header are noted."""
    lines = text_lines(path)
    label_line = next(
        (i for i, line in enumerate(lines) if re.match(r"frame\s*#?\s", line.strip().lower() + " ")), None
    )
    if label_line is None:
        raise trial_error(path, "not a TRC file: no line that begins with Frame#")
    header = _parse_header(lines[:label_line])
    labels = [word for word in split_fields(lines[label_line])[2:] if word]
    start = next((i for i in range(label_line + 1, len(lines)) if re.match(r"\s*[-+]?\d", lines[i])), len(lines))
    # Number of markers of the longest row, without missing values at its end.
    columns = -(-max((len(split_fields(line)) - 2 for line in lines[start:]), default=0) // 3)
    numbers = number_table(path, lines, start, 2 + 3 * columns)
    rows, notes = len(numbers), []
    if len(labels) > columns:
        notes.append(f"{len(labels)} labels for {columns} markers: the last {len(labels) - columns} have no data.")
    if len(labels) < columns:
        labels += [""] * (columns - len(labels))
    stated = _header_number(header, "numframes")
    if stated is not None and stated != rows:
        notes.append(f"The header says {stated:g} frames, the file has {rows}.")
    rate, frame_numbers, time_note = resample_times(path, numbers[:, 1], _header_number(header, "datarate"))
    positions = np.full((frame_numbers[-1] + 1, columns, 3), np.nan)
    positions[frame_numbers] = numbers[:, 2 : 2 + 3 * columns].reshape(rows, columns, 3)
    # A marker with a missing coordinate, or exactly at the origin, was not visible.
    positions[~np.isfinite(positions).all(axis=2) | (positions == 0.0).all(axis=2)] = np.nan
    selected = select_markers(labels[:columns], np.isfinite(positions).all(axis=2).sum(axis=0))
    if not selected.columns:
        raise trial_error(path, f"no marker with a name and samples among {columns} columns")
    positions = positions[:, selected.columns]
    scale, unit_note = length_unit(header.get("units", ""), positions)
    axis, up_note = find_up_axis(positions, selected.labels, up, "y", path)
    remarks = [*notes, time_note, *selected.notes, unit_note, up_note]
    return Trial(
        path=str(path),
        rate=rate,
        time=np.arange(len(positions)) / rate,
        labels=tuple(selected.labels),
        positions=positions @ (scale * ROTATION_TO_Z_UP[axis].T),
        notes=tuple(remark for remark in remarks if remark),
        start=float(numbers[0, 1]) if np.isfinite(numbers[0, 1]) else 0.0,
    )


def write_trc(trial: Trial, path: str | Path, units: str = "mm", up: str = "y") -> Path:
    """Write the markers of a trial; gaps are left blank.

    >>> write_trc(trial, "walk.trc")  # mm and y up, as in OpenSim
    """
    path = Path(path)
    if units not in METRES_PER_UNIT:
        raise trial_error(path, f"units are {units!r}; expected one of mm, cm, m", "units")
    positions = trial.positions @ ROTATION_TO_Z_UP[check_up_axis(up, path)] / METRES_PER_UNIT[units]
    n, m = len(trial.time), len(trial.labels)
    rate = f"{trial.rate:.10g}"
    header = [
        f"PathFileType\t4\t(X/Y/Z)\t{path.name}",
        "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames",
        f"{rate}\t{rate}\t{n}\t{m}\t{units}\t{rate}\t1\t{n}",
        "Frame#\tTime\t" + "\t\t\t".join(trial.labels) + "\t\t",
        "\t\t" + "\t".join(f"{axis}{i + 1}" for i in range(m) for axis in "XYZ"),
        "",
    ]
    # Microseconds and, in mm, tenths of a micrometre: far below the accuracy of cameras.
    digits = 4 if METRES_PER_UNIT[units] < 0.1 else 7
    with open(path, "w", encoding="utf-8", newline="\n") as stream:
        stream.write("\n".join(header) + "\n")
        for i in range(n):
            cells = [f"{x:.{digits}f}" if np.isfinite(x) else "" for x in positions[i].ravel()]
            stream.write(f"{i + 1}\t{trial.start + trial.time[i]:.6f}\t" + "\t".join(cells) + "\n")
    return path


def _parse_header(lines: list[str]) -> dict[str, str]:
    """Return the header values by lower-case name, from the line of names and the line of values below it."""
    for names, values in pairwise(lines):
        words = [word.lower() for word in split_fields(names)]
        if "datarate" in words or "units" in words:
            return dict(zip(words, split_fields(values), strict=False))
    return {}


def _header_number(header: dict[str, str], name: str) -> float | None:
    return parsing.parse_number(header.get(name, ""))
