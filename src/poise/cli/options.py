"""What several commands share: numbers from words, lines on standard error."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable
from pathlib import Path

from poise.errors import PoiseError, UsageError


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


def setting(text: str) -> tuple[str, float | str]:
    """``key=value``, with a number or, where a behavior takes one, a word."""
    key, equals, value = text.partition("=")
    number = _number(value)
    word = value.isalpha() and value.lower() not in ("nan", "inf", "infinity")
    if not equals or not key or (number is None and not word):
        raise argparse.ArgumentTypeError(f"'{text}' is not a setting; expected key=value with a number, like phase=2.5")
    return key, value if number is None else number


def positive(text: str) -> float:
    """A positive number."""
    value = _number(text)
    if value is None or not value > 0.0:
        raise argparse.ArgumentTypeError(f"'{text}' is not a positive number")
    return value


def amount(text: str) -> float:
    """A number, zero or more."""
    value = _number(text)
    if value is None or not value >= 0.0:
        raise argparse.ArgumentTypeError(f"'{text}' is not an amount; expected a number, zero or more")
    return value


def percent(text: str) -> float:
    """A change in percent, above -90."""
    value = _number(text)
    if value is None or not -90.0 <= value <= 1000.0:
        raise argparse.ArgumentTypeError(f"'{text}' is not a change in percent; expected -90 to 1000")
    return value


def speed(text: str) -> tuple[float, float, float]:
    """Forward, to the left, turning: ``VX``, ``VX,VY`` or ``VX,VY,WZ``."""
    parts = [_number(part) for part in text.split(",")]
    values = [part for part in parts if part is not None]
    if len(values) != len(parts) or not 1 <= len(parts) <= 3 or any(abs(value) > 3.0 for value in values):
        raise argparse.ArgumentTypeError(f"'{text}' is not a speed; expected VX,VY,WZ in m/s, m/s, rad/s, each below 3")
    vx, vy, wz = [*values, 0.0, 0.0][:3]
    return vx, vy, wz


def push(text: str) -> str:
    """A push, looked at before anything starts."""
    from poise.plants import Push

    return _meant(text, Push.parsed)


def breakdown(text: str) -> str:
    """A breakdown, likewise."""
    from poise.plants import Breakdown

    return _meant(text, Breakdown.parsed)


def ground(text: str) -> str:
    """A terrain, likewise."""
    from poise.plants import terrain

    return _meant(text, terrain)


def _meant(text: str, reader: Callable[[str], object]) -> str:
    try:
        reader(text)
    except PoiseError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def check_writable(path: Path | None, example: str = "motion.poise") -> None:
    """Looked at before anything starts: whether a recording can be written there."""
    if path is None:
        return
    if path.is_dir():
        raise UsageError(f"--out '{path}' is a folder; give a file, like {path / example}")
    if not path.absolute().parent.is_dir():
        raise UsageError(f"--out '{path}': there is no folder '{path.parent}'; make it first")
    if path.suffix != ".poise":
        say(f"poise: note: '{path}' does not end in .poise")


def say_kept(interrupt: KeyboardInterrupt, path: Path | None) -> None:
    """What an interruption leaves in a file."""
    kept = getattr(interrupt, "recording", None)
    if kept is not None and path is not None:
        say(f"poise: interrupted; the first {kept.duration:.2f} s are in '{path}'")


def say(message: str) -> None:
    """One line for who waits."""
    print(message, file=sys.stderr, flush=True)
