"""Parse user input: numbers typed as text, arguments, TOML files and tables of typed keys; a mistake gives one line.

Each reader takes a text and returns what it means, or raises a UsageError that says what was expected.
"""

from __future__ import annotations

import ipaddress
import math
import tomllib
from collections.abc import Callable, Mapping
from numbers import Real
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import ArrayLike

from poise.arrays import Array
from poise.errors import RobotError, UsageError, near_misses, unknown_name_error


def parse_count(text: str) -> int:
    """A whole number, 1 or more."""
    if not text.isdecimal() or int(text) == 0:
        raise UsageError(f"'{text}' is not a count; expected 1 or more")
    return int(text)


def parse_integer(text: str) -> int:
    """A whole number, 0 or more."""
    if not text.isdecimal():
        raise UsageError(f"'{text}' is not a whole number; expected 0 or more")
    return int(text)


def parse_seconds(text: str) -> float:
    """A positive number of seconds."""
    value = parse_number(text)
    if value is None or not value > 0.0:
        raise UsageError(f"'{text}' is not a time; expected positive seconds")
    return value


def parse_setting(text: str) -> tuple[str, float | str]:
    """``key=value``, with a number or, where a behavior takes one, a word."""
    key, equals, value = text.partition("=")
    parsed = parse_number(value)
    word = value.isalpha() and value.lower() not in ("nan", "inf", "infinity")
    if not equals or not key or (parsed is None and not word):
        raise UsageError(f"'{text}' is not a setting; expected key=value with a number, like phase=2.5")
    return key, value if parsed is None else parsed


def parse_positive(text: str) -> float:
    """A positive number."""
    value = parse_number(text)
    if value is None or not value > 0.0:
        raise UsageError(f"'{text}' is not a positive number")
    return value


def parse_nonnegative(text: str) -> float:
    """A number, zero or more."""
    value = parse_number(text)
    if value is None or not value >= 0.0:
        raise UsageError(f"'{text}' is not an amount; expected a number, zero or more")
    return value


def parse_percent(text: str) -> float:
    """A change in percent, above -90."""
    value = parse_number(text)
    if value is None or not -90.0 <= value <= 1000.0:
        raise UsageError(f"'{text}' is not a change in percent; expected -90 to 1000")
    return value


def parse_speed(text: str) -> tuple[float, float, float]:
    """Forward, to the left, turning: ``VX``, ``VX,VY`` or ``VX,VY,WZ``."""
    parts = [parse_number(part) for part in text.split(",")]
    values = [part for part in parts if part is not None]
    if len(values) != len(parts) or not 1 <= len(parts) <= 3 or any(abs(value) > 3.0 for value in values):
        raise UsageError(f"'{text}' is not a speed; expected VX,VY,WZ in m/s, m/s, rad/s, each below 3")
    vx, vy, wz = [*values, 0.0, 0.0][:3]
    return vx, vy, wz


def parse_number(text: str) -> float | None:
    """A finite number; None if it is none."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach what is bound to a host; an empty host binds to everything.

    >>> is_loopback("localhost"), is_loopback("[::1]"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


# -- Arguments -------------------------------------------------------------------------------------------------------


def is_number(value: object) -> TypeGuard[float]:
    """Whether it is a finite number; True, False and whole numbers beyond any float are none."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def format_value(value: object) -> str:
    """A value as an error shows it: on one line, the first 60 characters."""
    line = " ".join(repr(value).split())
    return line if len(line) <= 60 else f"{line[:57]}..."


def check_number(
    value: Any,
    label: str,
    error: Callable[[str], Exception],
    low: float = -math.inf,
    high: float = math.inf,
    unit: str = "",
) -> float:
    """A finite number from low to high, both included.

    >>> check_number(0.8, "friction", ValueError, low=0.0)
    0.8
    """
    if is_number(value) and low <= float(value) <= high:
        return float(value)
    bounds = [f"{word} {bound:g}" for word, bound in (("from", low), ("up to", high)) if math.isfinite(bound)]
    expected = " ".join(["a finite number", *bounds, *[unit] * bool(unit)])
    raise error(f"{label} is {format_value(value)}; expected {expected}")


def check_positive(value: Any, label: str, error: Callable[[str], Exception], unit: str = "") -> float:
    """A finite number above zero."""
    if is_number(value) and float(value) > 0.0:
        return float(value)
    raise error(f"{label} is {format_value(value)}; expected a positive number{f' of {unit}' if unit else ''}")


def check_vector(
    values: ArrayLike, size: int, label: str, error: Callable[[str], Exception], unit: str = "", broadcast: bool = False
) -> Array:
    """An array of its own of so many finite numbers; with `broadcast`, a single number stands for all."""
    unit_text = f" in {unit}" if unit else ""
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise error(f"{label} is {format_value(values)}; expected {size} numbers{unit_text}") from None
    if broadcast and array.ndim == 0:
        array = np.full(size, float(array))
    if array.shape != (size,):
        raise error(f"{label} has shape {array.shape}; expected {size} numbers{unit_text}")
    if not np.isfinite(array).all():
        raise error(f"{label} is {format_value(values)}; expected finite numbers{unit_text}")
    return array


# -- TOML as people write it -----------------------------------------------------------------------------------------


#: Tables within tables, of which no file of ours has more than four; Python's own way of printing a value ends at 1000.
MAX_DEPTH = 50
#: Whole numbers that TOML promises to keep.
INT64_LIMIT = 2**63


def parse_toml(content: bytes) -> dict[str, Any]:
    """The tables of a TOML file; ValueError, with one line on what is wrong, for anything else.

    >>> parse_toml(b"x = 1")
    {'x': 1}
    """
    try:
        values = tomllib.loads(content.decode("utf-8"))
    except RecursionError:
        raise ValueError("lists or tables within each other without end") from None
    _check_limits(values)
    return values


def _check_limits(values: Any) -> None:
    """Refuses depth and numbers that nobody means; without recursion, which depth would break."""
    level, depth = [values], 0
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise ValueError(f"lists or tables more than {MAX_DEPTH} deep within each other")
        unit_text: list[Any] = []
        for value in level:
            if isinstance(value, dict):
                unit_text += value.values()
            elif isinstance(value, list):
                unit_text += value
            elif isinstance(value, int) and not -INT64_LIMIT <= value < INT64_LIMIT:
                raise ValueError("a whole number of more than 64 bits")
        level = unit_text


# -- Reading tables of named values (from a TOML file or from arguments) with one clear line -------------------------


class KeyTable:
    """A table that is asked for its keys by type, and in the end whether any was left over.

    Args:
        values: the keys and values.
        file: what to name in errors.
        section: where in the file, e.g. ``"feet.left"``; empty at the top.
    """

    def __init__(self, values: Any, file: str, section: str = "") -> None:
        self.file = file
        self.section = section
        if not isinstance(values, Mapping):
            raise self.error("", f"is {values!r}; expected a table of keys and values")
        self.values = values
        self.keys_read: list[str] = []

    def has(self, key: str) -> bool:
        self.keys_read.append(key)
        return key in self.values

    def value(self, key: str) -> Any:
        if not self.has(key):
            near = near_misses(key, set(self.values) - set(self.keys_read))
            raise self.error(key, f"is missing; is it meant by '{near[0]}'?" if near else "is missing", near)
        return self.values[key]

    def text(self, key: str, default: str | None = None) -> str:
        if default is not None and not self.has(key):
            return default
        value = self.value(key)
        if not isinstance(value, str) or not value:
            raise self.error(key, f"is {value!r}; expected a text")
        return value

    def flag(self, key: str, default: bool) -> bool:
        if not self.has(key):
            return default
        value = self.value(key)
        if not isinstance(value, bool):
            raise self.error(key, f"is {value!r}; expected true or false")
        return value

    def number(self, key: str) -> float:
        value = self.value(key)
        if not is_number(value):
            raise self.error(key, f"is {value!r}; expected a finite number")
        return float(value)

    def numbers(self, key: str, meaning: str, default: tuple[float, ...] | None = None) -> tuple[float, ...]:
        """A list with one number for each word of the meaning, e.g. ``"x y z"``."""
        if default is not None and not self.has(key):
            return default
        try:
            numbers = tuple(float(number) for number in self.value(key))
        except (TypeError, ValueError, OverflowError):
            numbers = ()
        if len(numbers) != len(meaning.split()) or not all(math.isfinite(number) for number in numbers):
            raise self.error(key, f"is {self.value(key)!r}; expected the numbers [{', '.join(meaning.split())}]")
        return numbers

    def texts(self, key: str) -> tuple[str, ...]:
        values = self.value(key) if self.has(key) else ()
        if not isinstance(values, (list, tuple)) or not all(isinstance(value, str) for value in values):
            raise self.error(key, f"is {values!r}; expected a list of texts")
        return tuple(values)

    def table(self, key: str) -> KeyTable:
        values = self.value(key) if self.has(key) else {}
        return KeyTable(values, self.file, f"{self.section}.{key}" if self.section else key)

    def check_unused(self) -> None:
        """Complain about a key that nobody asked for."""
        for key in self.values:
            if key not in self.keys_read:
                where = f"[{self.section}]" if self.section else "a description"
                raise unknown_name_error(f"{where} has no key", key, dict.fromkeys(self.keys_read), self.file)

    def error(self, key: str, problem: str, near: tuple[str, ...] = ()) -> RobotError:
        where = " ".join(word for word in (f"[{self.section}]" if self.section else "", key) if word)
        element = ".".join(word for word in (self.section, key) if word)
        return RobotError(f"{self.file}: {where} {problem}", file=self.file, element=element, near=near)
