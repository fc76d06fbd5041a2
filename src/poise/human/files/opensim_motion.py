"""Read and write OpenSim motion files (MOT and STO): joint coordinates over time."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from poise.arrays import Array
from poise.errors import near_misses, suggestion
from poise.human.files.text_tables import number_table, split_fields, text_lines
from poise.human.files.trial_reader import read_file_head
from poise.human.trial import TrialError, trial_error

#: If a file does not state its angle unit, angles above this (rad) mean degrees.
FULL_TURN = 2.0 * np.pi
#: Names of columns that are not angles: translations, forces and their points, moments, muscles.
NON_ANGLE_COLUMN = re.compile(
    r"(.*[_/.])?[tvpfm][xyz](/value|/speed)?|.*(force|torque|moment|activation|fiber|length|power).*",
    flags=re.IGNORECASE,
)


@dataclass(frozen=True, eq=False)
class OpenSimMotion:
    """Named columns over time.

    Attributes:
        names: of the k columns, without time.
        time: n, s, as in the file.
        values: n x k as in the file: angles in degrees or rad, see `in_degrees`, translations in m.
        in_degrees: whether angles are in degrees.
        notes: remarks on the reading, one sentence each.
    """

    names: tuple[str, ...]
    time: Array
    values: Array
    in_degrees: bool = True
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if np.shape(self.values) != (len(self.time), len(self.names)):
            expected = f"{len(self.time)} x {len(self.names)}"
            raise TrialError(f"values of a motion are {np.shape(self.values)}; expected {expected}", element="values")

    def column(self, name: str) -> Array:
        """Return the values of one column, n."""
        if name not in self.names:
            near = near_misses(name, self.names)
            hint = suggestion(name, self.names, max_matches=3, max_listed=20)
            raise TrialError(f"no column '{name}'; {hint}", element=name, near=near)
        values: Array = self.values[:, self.names.index(name)]
        return values

    @property
    def angle_columns(self) -> NDArray[np.bool_]:
        """Which columns are angles, by their names (k)."""
        return np.array([NON_ANGLE_COLUMN.fullmatch(name) is None for name in self.names], dtype=bool)

    @property
    def values_in_degrees(self) -> Array:
        """The values with all angles in degrees, n x k."""
        return self.values if self.in_degrees else np.where(self.angle_columns, np.degrees(self.values), self.values)


def read_motion(path: str | Path) -> OpenSimMotion:
    """Read the columns of a .mot or .sto file.

    The numbers of rows and columns are counted, not taken from the header. Without ``inDegrees`` in the header, angles
    are taken as degrees if any of them exceeds one turn in rad, and a note says so.

    >>> motion = read_motion("walk.mot")
    >>> motion.column("knee_angle_r").max(), motion.in_degrees
    (64.2, True)
    """
    path = Path(path)
    read_file_head(path)
    lines = text_lines(path)
    header_end = next(
        (i for i, line in enumerate(lines) if re.fullmatch(r"end\s*_?header", line.strip().lower())), None
    )
    names_line = _column_names_line(path, lines, 0 if header_end is None else header_end + 1)
    header = _parse_header(lines[: names_line if header_end is None else header_end])
    columns = [word for word in split_fields(lines[names_line]) if word]
    numbers = number_table(path, lines, names_line + 1, len(columns))
    time_column = next(i for i, word in enumerate(columns) if word.lower() == "time")
    time = numbers[:, time_column]
    if not np.isfinite(time).all() or (np.diff(time) < 0.0).any():
        raise trial_error(path, "time does not increase from row to row", "time")
    names = tuple(word for i, word in enumerate(columns) if i != time_column)
    if len(set(names)) != len(names):
        repeated = next(name for name in names if names.count(name) > 1)
        raise trial_error(path, f"column '{repeated}' occurs twice", repeated)
    motion = OpenSimMotion(names, time, np.delete(numbers, time_column, axis=1))
    in_degrees, note = _in_degrees(motion, header.get("indegrees", ""))
    notes = [note]
    for key, count in (("nrows", len(numbers)), ("ncolumns", len(columns))):
        if header.get(key, str(count)) != str(count):
            notes.append(f"The header says {header[key]} {key[1:]}, the file has {count}.")
    return OpenSimMotion(motion.names, time, motion.values, in_degrees, tuple(note for note in notes if note))


def write_motion(motion: OpenSimMotion, path: str | Path) -> Path:
    """Write columns in the format of OpenSim.

    >>> write_motion(OpenSimMotion(("knee_angle_r",), time, degrees), "walk.mot")
    """
    path = Path(path)
    header = [
        "Coordinates" if path.suffix.lower() == ".mot" else path.stem,
        "version=1",
        f"nRows={len(motion.time)}",
        f"nColumns={len(motion.names) + 1}",
        f"inDegrees={'yes' if motion.in_degrees else 'no'}",
        "endheader",
        "\t".join(["time", *motion.names]),
    ]
    with open(path, "w", encoding="utf-8", newline="\n") as stream:
        stream.write("\n".join(header) + "\n")
        for time, row in zip(motion.time, motion.values, strict=True):
            stream.write("\t".join([f"{time:.8g}", *(f"{value:.10g}" for value in row)]) + "\n")
    return path


def _column_names_line(path: Path, lines: list[str], start: int) -> int:
    """Return the index of the line with the column names, which include time."""
    for i in range(start, len(lines)):
        words = [word.lower() for word in split_fields(lines[i])]
        if "time" in words:
            return i
        if start and words:
            near = f", but {', '.join(words[:5])}" if not words[0][:1].isdigit() else ""
            raise trial_error(path, f"no column 'time' below the header{near}", "time")
    raise trial_error(path, "not a .mot or .sto file: no line with the column names, which include time", "time")


def _parse_header(lines: list[str]) -> dict[str, str]:
    """Return header values by lower-case name: ``nRows=10``, ``datarows 10``."""
    old = {"datarows": "nrows", "datacolumns": "ncolumns"}
    values: dict[str, str] = {}
    for line in lines:
        words = re.split(r"\s*=\s*|\s+", line.strip(), maxsplit=1)
        if len(words) == 2:
            values[old.get(words[0].lower(), words[0].lower())] = words[1].strip()
    return values


def _in_degrees(motion: OpenSimMotion, stated: str) -> tuple[bool, str]:
    word = stated.strip().lower()
    if word in ("yes", "true", "1"):
        return True, ""
    if word in ("no", "false", "0"):
        return False, ""
    angles = motion.values[:, motion.angle_columns]
    largest = float(np.nanmax(np.abs(angles), initial=0.0)) if angles.size else 0.0
    unit = "degrees" if largest > FULL_TURN else "rad"
    return largest > FULL_TURN, f"No inDegrees in the header: the largest angle is {largest:.4g}, taken as {unit}."
