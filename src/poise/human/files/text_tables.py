"""Text files with tables of numbers: lines, fields and numbers, with one-line errors that name the file and line."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from poise.arrays import Array
from poise.human.trial import trial_error

#: Largest number of table cells per character of text; an empty cell takes one tab, and none at the end of a row.
MAX_NUMBERS_PER_CHARACTER = 20
#: Number of joint samples (rows times joints) that is always accepted (100 MB); a larger number is accepted only if the
#: file has at least as many characters.
MAX_JOINT_SAMPLES = 1_000_000
#: Texts that stand for a missing number.
MISSING_VALUES = frozenset(
    {"", "nan", "-nan", "na", "n/a", "null", "none", "*", "-", "nan(ind)", "-nan(ind)", "1.#qnan", "-1.#ind"}
)


def text_lines(path: Path) -> list[str]:
    """Return the lines of a text file, with any line ending."""
    data = path.read_bytes()
    if b"\0" in data:
        raise trial_error(path, "not a text file: it contains null bytes")
    text = data.decode("utf-8-sig", errors="replace")
    if not text.strip():
        raise trial_error(path, "is empty; expected lines of text")
    return text.splitlines()


def split_fields(line: str) -> list[str]:
    r"""Split a line into fields: at tabs, with blanks stripped; at blanks if it has no tab.

    >>> split_fields("60.00\t  900 \t\tmm")
    ['60.00', '900', '', 'mm']
    """
    if "\t" not in line:
        return line.split()
    fields = [text.strip() for text in line.split("\t")]
    while fields and not fields[-1]:
        fields.pop()
    return fields


def table_number(path: Path, text: str, line: int) -> float:
    """Parse a number; NaN for a missing value."""
    try:
        value = float(text)
    except ValueError:
        if text.lower() in MISSING_VALUES:
            return math.nan
        raise trial_error(path, f"line {line}: {text[:30]!r} is not a number", f"line {line}") from None
    return value if math.isfinite(value) else math.nan


def number_table(path: Path, lines: list[str], start: int, columns: int) -> Array:
    """Parse the rows of numbers from a line on, n x columns; missing last fields are NaN, blank lines are skipped."""
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
                path,
                f"line {line}: {len(row)} of {columns} numbers, and no tabs to show which are missing",
                f"line {line}",
            )
        numbers[i, : len(row)] = [table_number(path, text, line) for text in row]
    return numbers


def check_table_size(path: Path, lines: list[str], rows: int, columns: int) -> None:
    """Reject a table that is far larger than its text, for example short rows under a million column names."""
    if (
        rows * columns
        > MAX_NUMBERS_PER_CHARACTER * sum(len(line) + 1 for line in lines[-rows:]) + MAX_NUMBERS_PER_CHARACTER
    ):
        raise trial_error(path, f"{rows} rows with very few numbers for {columns} columns")


def check_joint_count(path: Path, lines: list[str], rows: int, joints: int) -> None:
    """Reject a skeleton with far more joints than numbers: each joint takes a hundred bytes per row."""
    if rows * joints > max(MAX_JOINT_SAMPLES, sum(len(line) + 1 for line in lines)):
        raise trial_error(
            path, f"{rows} rows for {joints} joints, of which very few have channels; expected channels for each joint"
        )
