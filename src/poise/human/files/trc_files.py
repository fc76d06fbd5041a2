"""Read and write TRC files: markers as a text table, with time stamps resampled to even steps."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from poise import parsing
from poise.arrays import Array
from poise.human.files.file_conventions import METRES, Z_UP, checked_up, kept, metres, upwards
from poise.human.files.text_tables import fields, number_table, text_lines
from poise.human.trial import Trial, refused

#: Share by which the rate of a header may differ from that of the time stamps before these are believed instead:
#: stamps are often rounded to ms, which is 2 % of a step at 200 Hz but nothing over a whole file.
TRUSTED = 0.02
#: Frames that may be put in between, per frame of the file: beyond this the stamps are not those of one recording.
HOLES = 10


def evenly(path: Path, stamps: Array, said: float | None) -> tuple[float, NDArray[np.int_], str]:
    """Frames a second, the place of each row among even frames (some may be left out between), and a remark.

    Args:
        path: for errors.
        stamps: time of each row, s; NaN where there is none.
        said: the rate that the header gives (Hz), None if none.
    """
    said = said if said is not None and said > 0.0 else None
    count = len(stamps)
    if count == 1 or not np.isfinite(stamps).all():
        if said is None:
            raise refused(path, "no rate and no time stamps; expected a positive rate in the header", "rate")
        return said, np.arange(count), "" if count == 1 else "Rows without time stamps: even steps taken."
    steps = np.diff(stamps)
    if (steps <= 0.0).any():
        row = int(np.argmax(steps <= 0.0)) + 2
        raise refused(
            path, f"time does not increase at row {row}: {stamps[row - 1]:g} s after {stamps[row - 2]:g} s", "time"
        )
    # The mean is exact but for rows left out, the median but for rounding.
    middle = float(np.median(steps))
    usual = steps[steps < 1.5 * middle]
    measured = 1.0 / float(usual.mean())
    note = ""
    rate = said if said is not None else measured
    if said is None:
        note = f"No rate in the header: {measured:.6g} Hz by the time stamps."
    elif abs(measured / said - 1.0) > TRUSTED:
        rate = measured
        note = f"The header says {said:g} Hz, the time stamps {measured:.6g} Hz: the latter taken."
    places = np.round((stamps - stamps[0]) * rate).astype(int)
    if places[-1] > HOLES * count:
        raise refused(
            path, f"{count} rows over {stamps[-1] - stamps[0]:.4g} s at {rate:g} Hz; not one recording", "time"
        )
    if (np.diff(places) < 1).any():
        return rate, np.arange(count), f"{note} Uneven time stamps taken as even steps.".strip()
    left_out = int(places[-1] + 1 - count)
    if left_out:
        note = f"{note} {left_out} frames left out between rows are gaps.".strip()
    return rate, places, note


# -- TRC: markers as a table of text ---------------------------------------------------------------------------------


def read_trc(path: Path, up: str | None = None) -> Trial:
    """A trial from a TRC file. What the rows hold counts; what the header says of them is only compared with it."""
    lines = text_lines(path)
    top = next((i for i, line in enumerate(lines) if re.match(r"frame\s*#?\s", line.strip().lower() + " ")), None)
    if top is None:
        raise refused(path, "not a TRC file: no line that begins with Frame#")
    header = _header(lines[:top])
    labels = [word for word in fields(lines[top])[2:] if word]
    start = next((i for i in range(top + 1, len(lines)) if re.match(r"\s*[-+]?\d", lines[i])), len(lines))
    # As wide as the widest row, without the gaps at its end.
    columns = -(-max((len(fields(line)) - 2 for line in lines[start:]), default=0) // 3)
    numbers = number_table(path, lines, start, 2 + 3 * columns)
    rows, notes = len(numbers), []
    if len(labels) > columns:
        notes.append(f"{len(labels)} labels for {columns} markers: the last {len(labels) - columns} have no data.")
    if len(labels) < columns:
        labels += [""] * (columns - len(labels))
    said = _said(header, "numframes")
    if said is not None and said != rows:
        notes.append(f"The header says {said:g} frames, the file has {rows}.")
    rate, places, time_note = evenly(path, numbers[:, 1], _said(header, "datarate"))
    positions = np.full((places[-1] + 1, columns, 3), np.nan)
    positions[places] = numbers[:, 2 : 2 + 3 * columns].reshape(rows, columns, 3)
    # A marker without all three coordinates, or in the very origin, was not seen.
    positions[~np.isfinite(positions).all(axis=2) | (positions == 0.0).all(axis=2)] = np.nan
    named = kept(labels[:columns], np.isfinite(positions).all(axis=2).sum(axis=0))
    if not named.columns:
        raise refused(path, f"no marker with a name and samples among {columns} columns")
    positions = positions[:, named.columns]
    scale, unit_note = metres(header.get("units", ""), positions)
    axis, up_note = upwards(positions, named.labels, up, "y", path)
    remarks = [*notes, time_note, *named.notes, unit_note, up_note]
    return Trial(
        path=str(path),
        rate=rate,
        time=np.arange(len(positions)) / rate,
        labels=tuple(named.labels),
        positions=positions @ (scale * Z_UP[axis].T),
        notes=tuple(remark for remark in remarks if remark),
    )


def write_trc(trial: Trial, path: str | Path, units: str = "mm", up: str = "y") -> Path:
    """Writes the markers of a trial; gaps are left blank.

    >>> write_trc(trial, "walk.trc")  # mm and y up, as OpenSim has it
    """
    path = Path(path)
    if units not in METRES:
        raise refused(path, f"units are {units!r}; expected one of mm, cm, m", "units")
    positions = trial.positions @ Z_UP[checked_up(up, path)] / METRES[units]
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
    # Microseconds and, in mm, tenths of a micrometre: far below what cameras see.
    digits = 4 if METRES[units] < 0.1 else 7
    with open(path, "w", encoding="utf-8", newline="\n") as stream:
        stream.write("\n".join(header) + "\n")
        for i in range(n):
            words = [f"{x:.{digits}f}" if np.isfinite(x) else "" for x in positions[i].ravel()]
            stream.write(f"{i + 1}\t{trial.time[i]:.6f}\t" + "\t".join(words) + "\n")
    return path


def _header(lines: list[str]) -> dict[str, str]:
    """Words of the line of names and of the line of values under it, by name in small letters."""
    for names, values in pairwise(lines):
        words = [word.lower() for word in fields(names)]
        if "datarate" in words or "units" in words:
            return dict(zip(words, fields(values), strict=False))
    return {}


def _said(header: dict[str, str], name: str) -> float | None:
    return parsing.number(header.get(name, ""))
