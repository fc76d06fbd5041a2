"""Files of text: their lines, fields and numbers, with one clear line for what is none."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from poise.arrays import Array
from poise.human.trial import trial_error

#: Numbers per character of text up to which a table is believed: a gap in a row is one tab, at its end nothing.
MAX_NUMBERS_PER_CHARACTER = 20
#: Places of joints, over all rows, that any skeleton may have (100 MB); beyond, their text must be as long.
MAX_JOINT_SAMPLES = 1_000_000
#: Words that stand for a number that is not there.
MISSING_VALUES = frozenset(
    {"", "nan", "-nan", "na", "n/a", "null", "none", "*", "-", "nan(ind)", "-nan(ind)", "1.#qnan", "-1.#ind"}
)


def text_lines(path: Path) -> list[str]:
    """Lines of a text file, whatever ends them."""
    data = path.read_bytes()
    if b"\0" in data:
        raise trial_error(path, "not a text file: it has zero bytes")
    text = data.decode("utf-8-sig", errors="replace")
    if not text.strip():
        raise trial_error(path, "is empty; expected lines of text")
    return text.splitlines()


def split_fields(line: str) -> list[str]:
    """Fields of a line: between tabs, blanks around them taken off; without any tab, between blanks.

    >>> split_fields("60.00\\t  900 \\t\\tmm")
    ['60.00', '900', '', 'mm']
    """
    if "\t" not in line:
        return line.split()
    words = [text.strip() for text in line.split("\t")]
    while words and not words[-1]:
        words.pop()
    return words


def parse_number(path: Path, text: str, line: int) -> float:
    """A number, NaN for one that is not there."""
    try:
        value = float(text)
    except ValueError:
        if text.lower() in MISSING_VALUES:
            return math.nan
        raise trial_error(path, f"line {line}: {text[:30]!r} is not a number", f"line {line}") from None
    return value if math.isfinite(value) else math.nan


def number_table(path: Path, lines: list[str], start: int, columns: int) -> Array:
    """Rows of numbers from a line on, n x columns; fields missing at its end are NaN, blank lines are skipped."""
    numbered = [(i + 1, row) for i, line in enumerate(lines[start:], start) if (row := split_fields(line))]
    if not numbered:
        raise trial_error(path, f"no row of numbers below line {start}")
    check_table_size(path, lines, len(numbered), columns)
    numbers = np.full((len(numbered), columns), np.nan)
    for i, (line, row) in enumerate(numbered):
        if len(row) > columns:
            raise trial_error(path, f"line {line}: {len(row)} numbers for {columns} columns", f"line {line}")
        if len(row) < columns and "\t" not in lines[line - 1]:
            raise trial_error(
                path, f"line {line}: {len(row)} of {columns} numbers, and no tabs to tell which", f"line {line}"
            )
        numbers[i, : len(row)] = [parse_number(path, text, line) for text in row]
    return numbers


def check_table_size(path: Path, lines: list[str], rows: int, columns: int) -> None:
    """Refuses a table that its text cannot fill: rows of a few words under a million names."""
    if (
        rows * columns
        > MAX_NUMBERS_PER_CHARACTER * sum(len(line) + 1 for line in lines[-rows:]) + MAX_NUMBERS_PER_CHARACTER
    ):
        raise trial_error(path, f"{rows} rows of hardly any number for {columns} columns")


def check_joint_count(path: Path, lines: list[str], rows: int, joints: int) -> None:
    """Refuses a skeleton of far more joints than its rows move: each costs a hundred bytes a row, moved or not."""
    if rows * joints > max(MAX_JOINT_SAMPLES, sum(len(line) + 1 for line in lines)):
        raise trial_error(
            path, f"{rows} rows for {joints} joints, of which hardly any move; expected a number for each"
        )
