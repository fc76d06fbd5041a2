"""Script: what an operator would do, written down."""

from __future__ import annotations

import json
import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from poise.errors import UsageError
from poise.plans.guidance.stick import AXES, Stick, stick_of

_EXAMPLE = '{"time": 0, "mode": "trunk", "input": [1, 0, 0, 0, 0, 0]}'
_KEYS = ("time", "mode", "input", "lift")


@dataclass(frozen=True)
class Entry:
    """From a time on (s), this stick."""

    time: float
    stick: Stick


class Script:
    """Entries, each held until the next; before the first the stick is centred, in the mode of the first.

    Args:
        entries: in the order of their times, at least one; or the same as a file has them.

    Attributes:
        seconds: when the last entry begins (s).

    >>> script = Script([Entry(0.0, Stick("trunk", (1, 0, 0, 0, 0, 0))), Entry(4.0, Stick("trunk"))])
    >>> script.read(3.9).axes[0]
    1.0
    """

    def __init__(self, entries: Sequence[Entry | Mapping[str, Any]]) -> None:
        self.entries = tuple([_entry(place, entry) for place, entry in enumerate(entries)])
        if not self.entries:
            raise UsageError("a script needs at least one entry; expected e.g. [" + _EXAMPLE + "]")
        self._times = [entry.time for entry in self.entries]
        for place, time in enumerate(self._times):
            if not math.isfinite(time) or time < 0.0:
                raise UsageError(f"entry {place}: time is {time!r}; expected seconds, zero or more")
            if place and time <= self._times[place - 1]:
                before = self._times[place - 1]
                raise UsageError(f"entry {place}: time {time:g} s is not after {before:g} s; order entries by time")
        self._before = Stick(self.entries[0].stick.mode)
        self.seconds = self._times[-1]

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Script:
        """Reads a JSON list of ``{"time": s, "mode": name, "input": [6 numbers]}``, each with a ``"lift"`` if wanted.

        Raises:
            UsageError: one line that names the file and the entry, counted from 0.

        >>> Script.load("down_the_stairs.json").seconds
        """
        name = fspath(path)
        try:
            given = json.loads(Path(path).read_text(encoding="utf-8"))
        except OSError as error:
            raise UsageError(f"script '{name}' cannot be read: {error.strerror or error}") from None
        except (ValueError, RecursionError) as error:
            raise UsageError(f"script '{name}' is not JSON ({error}); expected e.g. [{_EXAMPLE}]") from None
        if not isinstance(given, list):
            raise UsageError(f"script '{name}' is no list of entries; expected e.g. [{_EXAMPLE}]")
        try:
            return cls(given)
        except UsageError as error:
            raise UsageError(f"script '{name}': {error}") from None

    def read(self, time: float) -> Stick:
        """The stick of the entry that holds at a time (s)."""
        place = 0 if math.isnan(time) else bisect_right(self._times, time)
        return self.entries[place - 1].stick if place else self._before


def _entry(place: int, given: Any) -> Entry:
    if isinstance(given, Entry):
        return given
    if not isinstance(given, Mapping):
        raise UsageError(f"entry {place} is {_short(given)}; expected e.g. {_EXAMPLE}")
    missing = [key for key in _KEYS[:3] if key not in given]
    if missing:
        raise UsageError(f'entry {place} has no "{missing[0]}"; expected e.g. {_EXAMPLE}')
    strange = [str(key) for key in given if key not in _KEYS]
    if strange:
        raise UsageError(f'entry {place} has a "{strange[0]}", which nothing reads; expected {", ".join(_KEYS)}')
    time, mode, axes, lift = given["time"], given["mode"], given["input"], given.get("lift", 0.5)
    if not _is_number(time):
        raise UsageError(f"entry {place}: time is {_short(time)}; expected seconds, zero or more")
    if not isinstance(axes, (list, tuple)) or len(axes) != len(AXES) or not all(map(_is_number, axes)):
        expected = f"expected {len(AXES)} numbers ({', '.join(AXES)})"
        raise UsageError(f"entry {place}: input is {_short(axes)}; {expected}")
    if not _is_number(lift):
        raise UsageError(f"entry {place}: lift is {_short(lift)}; expected a share from 0 to 1")
    try:
        return Entry(float(time), stick_of(mode, axes, lift))
    except UsageError as error:
        raise UsageError(f"entry {place}: {error}") from None


def _is_number(value: Any) -> bool:
    """Whether it is a finite number; true, false and whole numbers beyond any float are none."""
    try:
        return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:
        return False


def _short(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else text[:57] + "..."
