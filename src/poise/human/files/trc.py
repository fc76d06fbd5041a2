"""TRC: markers as a table of text, in the form that OpenSim and many laboratories write."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from poise.human.errors import refused
from poise.human.files.axes import Z_UP, checked_up, upwards
from poise.human.files.labels import kept
from poise.human.files.text import fields, number_table, text_lines
from poise.human.files.timing import evenly
from poise.human.files.units import METRES, metres
from poise.human.trial import Trial

Array = NDArray[np.float64]


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
    try:
        value = float(header.get(name, ""))
    except ValueError:
        return None
    return value if np.isfinite(value) else None
