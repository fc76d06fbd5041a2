"""Numbers from words, as people type them: on the command line, and in the specs of campaigns.

Each reader takes a text and returns what it means, or raises a UsageError that says what was expected.
"""

from __future__ import annotations

import math

from poise.errors import UsageError


def count(text: str) -> int:
    """A whole number, 1 or more."""
    if not text.isdecimal() or int(text) == 0:
        raise UsageError(f"'{text}' is not a count; expected 1 or more")
    return int(text)


def whole(text: str) -> int:
    """A whole number, 0 or more."""
    if not text.isdecimal():
        raise UsageError(f"'{text}' is not a whole number; expected 0 or more")
    return int(text)


def seconds(text: str) -> float:
    """A positive number of seconds."""
    value = number(text)
    if value is None or not value > 0.0:
        raise UsageError(f"'{text}' is not a time; expected positive seconds")
    return value


def setting(text: str) -> tuple[str, float | str]:
    """``key=value``, with a number or, where a behavior takes one, a word."""
    key, equals, value = text.partition("=")
    meant = number(value)
    word = value.isalpha() and value.lower() not in ("nan", "inf", "infinity")
    if not equals or not key or (meant is None and not word):
        raise UsageError(f"'{text}' is not a setting; expected key=value with a number, like phase=2.5")
    return key, value if meant is None else meant


def positive(text: str) -> float:
    """A positive number."""
    value = number(text)
    if value is None or not value > 0.0:
        raise UsageError(f"'{text}' is not a positive number")
    return value


def amount(text: str) -> float:
    """A number, zero or more."""
    value = number(text)
    if value is None or not value >= 0.0:
        raise UsageError(f"'{text}' is not an amount; expected a number, zero or more")
    return value


def percent(text: str) -> float:
    """A change in percent, above -90."""
    value = number(text)
    if value is None or not -90.0 <= value <= 1000.0:
        raise UsageError(f"'{text}' is not a change in percent; expected -90 to 1000")
    return value


def speed(text: str) -> tuple[float, float, float]:
    """Forward, to the left, turning: ``VX``, ``VX,VY`` or ``VX,VY,WZ``."""
    parts = [number(part) for part in text.split(",")]
    values = [part for part in parts if part is not None]
    if len(values) != len(parts) or not 1 <= len(parts) <= 3 or any(abs(value) > 3.0 for value in values):
        raise UsageError(f"'{text}' is not a speed; expected VX,VY,WZ in m/s, m/s, rad/s, each below 3")
    vx, vy, wz = [*values, 0.0, 0.0][:3]
    return vx, vy, wz


def number(text: str) -> float | None:
    """A finite number; None if it is none."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
