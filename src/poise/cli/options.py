"""What several commands share: numbers from words, progress on standard error."""

from __future__ import annotations

import argparse
import math
import sys
import time
from typing import Any


def count(text: str) -> int:
    """A whole number, 1 or more."""
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"'{text}' is not a count; expected 1 or more")
    return int(text)


def whole(text: str) -> int:
    """A whole number, 0 or more."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number; expected 0 or more")
    return int(text)


def seconds(text: str) -> float:
    """A positive number of seconds."""
    value = _number(text)
    if value is None or not value > 0.0:
        raise argparse.ArgumentTypeError(f"'{text}' is not a time; expected positive seconds")
    return value


def setting(text: str) -> tuple[str, float]:
    """``key=value``, with a number."""
    key, equals, value = text.partition("=")
    number = _number(value)
    if not equals or not key or number is None:
        raise argparse.ArgumentTypeError(f"'{text}' is not a setting; expected key=value with a number, like phase=2.5")
    return key, number


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def say(message: str) -> None:
    """One line for who waits."""
    print(message, file=sys.stderr, flush=True)


class Bar:
    """A progress bar on standard error: how far, how fast, how long still. Silent unless a person looks at it."""

    def __init__(self, what: str, total: float, stream: Any = None) -> None:
        self.what, self.total = what, total
        self._stream = sys.stderr if stream is None else stream
        self._shown = self._stream.isatty() and total > 0.0
        self._begin = self._last = time.monotonic()

    def __call__(self, done: float) -> None:
        now = time.monotonic()
        if not self._shown or now - self._last < 0.1:
            return
        self._last = now
        share = min(max(done / self.total, 0.0), 1.0)
        spent = now - self._begin
        left = f"{spent / share - spent:.0f} s left" if share > 0.02 else ""
        bar = "#" * int(30 * share)
        print(f"\r{self.what} [{bar:<30}] {done:.1f} of {self.total:.1f} s  {left:<12}", end="", file=self._stream)
        self._stream.flush()

    def close(self) -> None:
        """Leaves the line clean for what follows."""
        if self._shown:
            print("\r" + " " * 78 + "\r", end="", file=self._stream, flush=True)
