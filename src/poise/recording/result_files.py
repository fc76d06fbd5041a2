"""Results as JSON values, CSV tables and files that appear whole or not at all."""

from __future__ import annotations

import contextlib
import csv
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from poise.errors import PoiseError


def json_values(value: Any) -> Any:
    """The same values as strict JSON allows: numbers of numpy become Python's, NaN and infinite numbers None.

    >>> json_values({"error": np.float64(0.5), "share": (1.0, math.nan)})
    {'error': 0.5, 'share': [1.0, None]}
    """
    if isinstance(value, Mapping):
        return {key: json_values(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [json_values(each) for each in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


@contextlib.contextmanager
def atomic_file(place: Path, failure: Callable[[str], PoiseError] = PoiseError) -> Iterator[Path]:
    """A file beside its place, to write to, which is moved there at the end.

    Whatever interrupts the writing, Ctrl-C included, leaves the place as it was and nothing beside it.

    Args:
        place: of the file.
        failure: makes the error to raise, from its message, if the file cannot be written.
    """
    beside = place.with_name(f".{os.urandom(8).hex()}{place.suffix}")
    try:
        yield beside
        with open(beside, "rb") as file:
            os.fsync(file.fileno())
        os.replace(beside, place)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else " ".join(str(error).split())
        raise failure(f"{place} cannot be written: {reason}; give another place or make room") from None
    finally:
        with contextlib.suppress(OSError):
            beside.unlink()


def write_table(path: str | PathLike[str], rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> Path:
    """Write rows as a CSV file with the given columns and return its path.

    Numbers have six significant digits; what is None or missing in a row is an empty cell.
    """
    place = Path(path)
    with atomic_file(place) as file, open(file, "w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, columns, extrasaction="ignore", restval="")
        writer.writeheader()
        writer.writerows({key: _cell(value) for key, value in row.items()} for row in rows)
    return place


def _cell(value: Any) -> Any:
    return "" if value is None else f"{value:.6g}" if isinstance(value, float) else value
