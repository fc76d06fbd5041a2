"""MOT and STO: joint coordinates over time as OpenSim reads and writes them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from poise.arrays import Array
from poise.errors import near_misses, suggestion
from poise.human.files.text_tables import fields, number_table, text_lines
from poise.human.files.trial_reader import beginning
from poise.human.trial import TrialError, refused

#: An angle beyond one turn (rad) is one in degrees, in a file that does not say which it has.
TURN = 2.0 * np.pi
#: Columns that are no angles, by their last words: translations, forces and their points, moments, muscles.
NO_ANGLE = re.compile(
    r"(.*[_/.])?[tvpfm][xyz](/value|/speed)?|.*(force|torque|moment|activation|fiber|length|power).*",
    flags=re.IGNORECASE,
)


@dataclass(frozen=True, eq=False)
class Motion:
    """Named columns over time.

    Attributes:
        names: of the k columns, without time.
        time: n, s, as in the file.
        values: n x k as in the file: angles in degrees or rad as `in_degrees` says, translations in m.
        in_degrees: whether angles are in degrees.
        notes: what was decided on the way, one sentence each.
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
        """Values of one column, n."""
        if name not in self.names:
            near = near_misses(name, self.names)
            hint = suggestion(name, self.names, most=3, listed=20)
            raise TrialError(f"no column '{name}'; {hint}", element=name, near=near)
        values: Array = self.values[:, self.names.index(name)]
        return values

    @property
    def angular(self) -> NDArray[np.bool_]:
        """Which columns are angles, by their names (k)."""
        return np.array([NO_ANGLE.fullmatch(name) is None for name in self.names], dtype=bool)

    @property
    def values_in_degrees(self) -> Array:
        """The values with all angles in degrees, n x k."""
        return self.values if self.in_degrees else np.where(self.angular, np.degrees(self.values), self.values)


def read_motion(path: str | Path) -> Motion:
    """Columns of a .mot or .sto file.

    What the rows hold counts, not what the header says of their number. Without ``inDegrees`` in the header, angles are
    degrees if any of them is beyond one turn in rad, and a note says so.

    >>> motion = read_motion("walk.mot")
    >>> motion.column("knee_angle_r").max(), motion.in_degrees
    (64.2, True)
    """
    path = Path(path)
    beginning(path)
    lines = text_lines(path)
    top = next((i for i, line in enumerate(lines) if re.fullmatch(r"end\s*_?header", line.strip().lower())), None)
    names_at = _names_line(path, lines, 0 if top is None else top + 1)
    header = _header(lines[: names_at if top is None else top])
    columns = [word for word in fields(lines[names_at]) if word]
    numbers = number_table(path, lines, names_at + 1, len(columns))
    at = next(i for i, word in enumerate(columns) if word.lower() == "time")
    time = numbers[:, at]
    if not np.isfinite(time).all() or (np.diff(time) < 0.0).any():
        raise refused(path, "time does not increase from row to row", "time")
    names = tuple(word for i, word in enumerate(columns) if i != at)
    if len(set(names)) != len(names):
        twice = next(word for word in names if names.count(word) > 1)
        raise refused(path, f"column '{twice}' is there twice", twice)
    motion = Motion(names, time, np.delete(numbers, at, axis=1))
    in_degrees, note = _in_degrees(motion, header.get("indegrees", ""))
    notes = [note]
    for word, has in (("nrows", len(numbers)), ("ncolumns", len(columns))):
        if header.get(word, str(has)) != str(has):
            notes.append(f"The header says {header[word]} {word[1:]}, the file has {has}.")
    return Motion(motion.names, time, motion.values, in_degrees, tuple(note for note in notes if note))


def write_motion(motion: Motion, path: str | Path) -> Path:
    """Writes columns so that OpenSim reads them.

    >>> write_motion(Motion(("knee_angle_r",), time, degrees), "walk.mot")
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


def _names_line(path: Path, lines: list[str], start: int) -> int:
    """Number of the line with the names of the columns, time among them."""
    for i in range(start, len(lines)):
        words = [word.lower() for word in fields(lines[i])]
        if "time" in words:
            return i
        if start and words:
            near = f", but {', '.join(words[:5])}" if not words[0][:1].isdigit() else ""
            raise refused(path, f"no column 'time' under the header{near}", "time")
    raise refused(path, "not a .mot or .sto file: no line with the names of the columns, time among them", "time")


def _header(lines: list[str]) -> dict[str, str]:
    """Values by name in small letters: ``nRows=10``, ``datarows 10``."""
    old = {"datarows": "nrows", "datacolumns": "ncolumns"}
    values: dict[str, str] = {}
    for line in lines:
        words = re.split(r"\s*=\s*|\s+", line.strip(), maxsplit=1)
        if len(words) == 2:
            values[old.get(words[0].lower(), words[0].lower())] = words[1].strip()
    return values


def _in_degrees(motion: Motion, said: str) -> tuple[bool, str]:
    word = said.strip().lower()
    if word in ("yes", "true", "1"):
        return True, ""
    if word in ("no", "false", "0"):
        return False, ""
    angles = motion.values[:, motion.angular]
    largest = float(np.nanmax(np.abs(angles), initial=0.0)) if angles.size else 0.0
    unit = "degrees" if largest > TURN else "rad"
    return largest > TURN, f"The file does not say inDegrees: the largest angle is {largest:.4g}, taken as {unit}."
