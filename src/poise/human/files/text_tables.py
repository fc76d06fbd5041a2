"""Files of text: their lines, fields and numbers, with one clear line for what is none."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from poise.arrays import Array
from poise.human.trial import refused

#: Numbers per character of text up to which a table is believed: a gap in a row is one tab, at its end nothing.
SPARSE = 20
#: Places of joints, over all rows, that any skeleton may have (100 MB); beyond, their text must be as long.
STILL = 1_000_000
#: Words that stand for a number that is not there.
NOTHING = frozenset(
    {"", "nan", "-nan", "na", "n/a", "null", "none", "*", "-", "nan(ind)", "-nan(ind)", "1.#qnan", "-1.#ind"}
)


def text_lines(path: Path) -> list[str]:
    """Lines of a text file, whatever ends them."""
    data = path.read_bytes()
    if b"\0" in data:
        raise refused(path, "not a text file: it has zero bytes")
    text = data.decode("utf-8-sig", errors="replace")
    if not text.strip():
        raise refused(path, "is empty; expected lines of text")
    return text.splitlines()


def fields(line: str) -> list[str]:
    """Fields of a line: between tabs, blanks around them taken off; without any tab, between blanks.

    >>> fields("60.00\\t  900 \\t\\tmm")
    ['60.00', '900', '', 'mm']
    """
    if "\t" not in line:
        return line.split()
    words = [word.strip() for word in line.split("\t")]
    while words and not words[-1]:
        words.pop()
    return words


def number(path: Path, word: str, line: int) -> float:
    """A number, NaN for one that is not there."""
    try:
        value = float(word)
    except ValueError:
        if word.lower() in NOTHING:
            return math.nan
        raise refused(path, f"line {line}: {word[:30]!r} is not a number", f"line {line}") from None
    return value if math.isfinite(value) else math.nan


def number_table(path: Path, lines: list[str], start: int, columns: int) -> Array:
    """Rows of numbers from a line on, n x columns; fields missing at its end are NaN, blank lines are skipped."""
    numbered = [(i + 1, row) for i, line in enumerate(lines[start:], start) if (row := fields(line))]
    if not numbered:
        raise refused(path, f"no row of numbers below line {start}")
    check_size(path, lines, len(numbered), columns)
    numbers = np.full((len(numbered), columns), np.nan)
    for i, (line, row) in enumerate(numbered):
        if len(row) > columns:
            raise refused(path, f"line {line}: {len(row)} numbers for {columns} columns", f"line {line}")
        if len(row) < columns and "\t" not in lines[line - 1]:
            raise refused(
                path, f"line {line}: {len(row)} of {columns} numbers, and no tabs to tell which", f"line {line}"
            )
        numbers[i, : len(row)] = [number(path, word, line) for word in row]
    return numbers


def check_size(path: Path, lines: list[str], rows: int, columns: int) -> None:
    """Refuses a table that its text cannot fill: rows of a few words under a million names."""
    if rows * columns > SPARSE * sum(len(line) + 1 for line in lines[-rows:]) + SPARSE:
        raise refused(path, f"{rows} rows of hardly any number for {columns} columns")


def check_stillness(path: Path, lines: list[str], rows: int, joints: int) -> None:
    """Refuses a skeleton of far more joints than its rows move: each costs a hundred bytes a row, moved or not."""
    if rows * joints > max(STILL, sum(len(line) + 1 for line in lines)):
        raise refused(path, f"{rows} rows for {joints} joints, of which hardly any move; expected a number for each")
