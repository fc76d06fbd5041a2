"""Parsing and checks of user input, with one-line errors that say what was expected.

- ``parse_*`` convert a text of the command line to a value; most raise a `UsageError`.
- ``check_*`` return an argument as a float or array, or raise an error of the caller's choice.
- `parse_toml` and `KeyTable` read TOML files and tables of typed keys; `rename_former_keys` accepts files of earlier
  versions.
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

#: Default address of a robot that ``poise serve`` simulates for other processes.
PLANT_ADDRESS = "tcp://127.0.0.1:5560"


def parse_count(text: str) -> int:
    """Parse a whole number, 1 or more."""
    if not text.isdecimal() or int(text) == 0:
        raise UsageError(f"'{text}' is invalid; expected a whole number, 1 or more")
    return int(text)


def parse_integer(text: str) -> int:
    """Parse a whole number, 0 or more."""
    if not text.isdecimal():
        raise UsageError(f"'{text}' is invalid; expected a whole number, 0 or more")
    return int(text)


def parse_seconds(text: str) -> float:
    """Parse a positive number of seconds."""
    value = parse_number(text)
    if value is None or not value > 0.0:
        raise UsageError(f"'{text}' is not a time; expected positive seconds")
    return value


def parse_setting(text: str) -> tuple[str, float | str]:
    """Parse ``key=value`` to key and value; the value is a number or a word of letters, like a style name."""
    key, equals, value = text.partition("=")
    parsed = parse_number(value)
    word = value.isalpha() and value.lower() not in ("nan", "inf", "infinity")
    if not equals or not key or (parsed is None and not word):
        raise UsageError(f"'{text}' is not a setting; expected key=value with a number, e.g. phase=2.5")
    return key, value if parsed is None else parsed


def parse_positive(text: str) -> float:
    """Parse a positive number."""
    value = parse_number(text)
    if value is None or not value > 0.0:
        raise UsageError(f"'{text}' is not a positive number")
    return value


def parse_nonnegative(text: str) -> float:
    """Parse a number, zero or more."""
    value = parse_number(text)
    if value is None or not value >= 0.0:
        raise UsageError(f"'{text}' is not a valid amount; expected a number, zero or more")
    return value


def parse_percent(text: str) -> float:
    """Parse a change in percent, from -90 to 1000."""
    value = parse_number(text)
    if value is None or not -90.0 <= value <= 1000.0:
        raise UsageError(f"'{text}' is not a change in percent; expected -90 to 1000")
    return value


def parse_speed(text: str) -> tuple[float, float, float]:
    """Parse a velocity ``VX``, ``VX,VY`` or ``VX,VY,WZ``: forward (m/s), to the left (m/s), turning (rad/s)."""
    parts = [parse_number(part) for part in text.split(",")]
    values = [part for part in parts if part is not None]
    if len(values) != len(parts) or not 1 <= len(parts) <= 3 or any(abs(value) > 3.0 for value in values):
        raise UsageError(f"'{text}' is not a speed; expected VX,VY,WZ in m/s, m/s, rad/s, each at most 3")
    vx, vy, wz = [*values, 0.0, 0.0][:3]
    return vx, vy, wz


def parse_number(text: str) -> float | None:
    """Parse a finite number; return None if the text is not one."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def is_loopback(host: str) -> bool:
    """Return whether a server bound to this host is reachable from this machine only.

    An empty host is not: it binds to all interfaces.

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
    """Return whether a value is a finite number; bools and integers too large for a float are not."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def format_value(value: object) -> str:
    """Format a value for an error message: one line of at most 60 characters."""
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
    """Return the value as a float if it is a finite number from low to high, both included; raise the error otherwise.

    Args:
        value: the argument.
        label: its name in the message.
        error: class of the exception, or a function that makes an exception from a message.
        low, high: smallest and largest allowed value.
        unit: unit of the value, for the message.

    >>> check_number(0.8, "friction", ValueError, low=0.0)
    0.8
    """
    if is_number(value) and low <= float(value) <= high:
        return float(value)
    bounds = [f"{word} {bound:g}" for word, bound in (("from", low), ("up to", high)) if math.isfinite(bound)]
    expected = " ".join(["a finite number", *bounds, *[unit] * bool(unit)])
    raise error(f"{label} is {format_value(value)}; expected {expected}")


def check_positive(value: Any, label: str, error: Callable[[str], Exception], unit: str = "") -> float:
    """Return the value as a float if it is a finite number above zero; raise the error otherwise."""
    if is_number(value) and float(value) > 0.0:
        return float(value)
    raise error(f"{label} is {format_value(value)}; expected a positive number{f' of {unit}' if unit else ''}")


def check_vector(
    values: ArrayLike, size: int, label: str, error: Callable[[str], Exception], unit: str = "", broadcast: bool = False
) -> Array:
    """Return the values as a new array if they are `size` finite numbers; raise the error otherwise.

    With `broadcast`, a single number is accepted and repeated `size` times. Other arguments: see `check_number`.
    """
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


# -- TOML ------------------------------------------------------------------------------------------------------------


#: Largest nesting depth of tables and lists: our files have at most 4 levels, and Python's repr fails at 1000.
MAX_DEPTH = 50
#: Limit of integers in TOML, which guarantees 64 bits.
INT64_LIMIT = 2**63


def parse_toml(content: bytes) -> dict[str, Any]:
    """Parse the content of a TOML file.

    Raises:
        ValueError: not UTF-8, not TOML, too deeply nested, or an integer of more than 64 bits; the message is one line.

    >>> parse_toml(b"x = 1")
    {'x': 1}
    """
    try:
        values = tomllib.loads(content.decode("utf-8"))
    except UnicodeDecodeError:
        raise ValueError("it is not a text in UTF-8") from None
    except RecursionError:
        raise ValueError("lists or tables are nested too deeply") from None
    _check_limits(values)
    return values


def _check_limits(values: Any) -> None:
    """Raise ValueError for excessive depth or integers; iterative, since depth could exceed the recursion limit."""
    level, depth = [values], 0
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise ValueError(f"lists or tables are nested more than {MAX_DEPTH} deep")
        next_level: list[Any] = []
        for value in level:
            if isinstance(value, dict):
                next_level += value.values()
            elif isinstance(value, list):
                next_level += value
            elif isinstance(value, int) and not -INT64_LIMIT <= value < INT64_LIMIT:
                raise ValueError("an integer has more than 64 bits")
        level = next_level


# -- Tables of typed keys --------------------------------------------------------------------------------------------


def rename_former_keys(values: Mapping[str, Any], former_keys: Mapping[str, str]) -> dict[str, Any]:
    """Return a table of a file in which each key that an earlier version used has its current name.

    Args:
        values: keys and values, in their order, which is kept.
        former_keys: current name by former name.

    Raises:
        UsageError: if the table has both names of a key.

    >>> rename_former_keys({"floor": 0.9, "seeds": 5}, {"floor": "min_success_rate"})
    {'min_success_rate': 0.9, 'seeds': 5}
    """
    for former, name in former_keys.items():
        if former in values and name in values:
            raise UsageError(f"'{former}' is the former name of '{name}'; give only '{name}'")
    return {former_keys.get(key, key): value for key, value in values.items()}


class KeyTable:
    """Reader of a table of keys and values, from a TOML file or from arguments, that checks the type of each value.

    Read the keys with `text`, `number`, ..., then call `check_unused` to find misspelt keys. All errors are
    `RobotError` with file, section and key in the message.

    Args:
        values: the keys and values.
        file: name of the file in error messages.
        section: section of the file, e.g. ``"feet.left"``; empty at the top.
    """

    def __init__(self, values: Any, file: str, section: str = "") -> None:
        self.file = file
        self.section = section
        if not isinstance(values, Mapping):
            raise self.error("", f"is {values!r}; expected a table of keys and values")
        self.values = values
        self.keys_read: list[str] = []

    def has(self, key: str) -> bool:
        """Return whether the key is present, and mark it as read for `check_unused`."""
        self.keys_read.append(key)
        return key in self.values

    def value(self, key: str) -> Any:
        """Return the value of a required key, of any type."""
        if not self.has(key):
            near = near_misses(key, set(self.values) - set(self.keys_read))
            raise self.error(key, f"is missing; rename '{near[0]}' if it is misspelt" if near else "is missing", near)
        return self.values[key]

    def text(self, key: str, default: str | None = None) -> str:
        """Return a text that is not empty; a key without a default is required."""
        if default is not None and not self.has(key):
            return default
        value = self.value(key)
        if not isinstance(value, str) or not value:
            raise self.error(key, f"is {value!r}; expected a text")
        return value

    def flag(self, key: str, default: bool) -> bool:
        """Return true or false."""
        if not self.has(key):
            return default
        value = self.value(key)
        if not isinstance(value, bool):
            raise self.error(key, f"is {value!r}; expected true or false")
        return value

    def number(self, key: str) -> float:
        """Return the finite number of a required key."""
        value = self.value(key)
        if not is_number(value):
            raise self.error(key, f"is {value!r}; expected a finite number")
        return float(value)

    def numbers(self, key: str, meaning: str, default: tuple[float, ...] | None = None) -> tuple[float, ...]:
        """Return a tuple with one finite number for each word of `meaning`, e.g. ``"x y z"``."""
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
        """Return a list of texts; empty if the key is missing."""
        values = self.value(key) if self.has(key) else ()
        if not isinstance(values, (list, tuple)) or not all(isinstance(value, str) for value in values):
            raise self.error(key, f"is {values!r}; expected a list of texts")
        return tuple(values)

    def table(self, key: str) -> KeyTable:
        """Return the reader of a subtable; an empty one if the key is missing."""
        values = self.value(key) if self.has(key) else {}
        return KeyTable(values, self.file, f"{self.section}.{key}" if self.section else key)

    def check_unused(self) -> None:
        """Raise an error for the first key that was never read."""
        for key in self.values:
            if key not in self.keys_read:
                where = f"[{self.section}]" if self.section else "the description"
                raise unknown_name_error(f"{where} has no key", key, dict.fromkeys(self.keys_read), self.file)

    def error(self, key: str, problem: str, near: tuple[str, ...] = ()) -> RobotError:
        """Return the error for a key, with file and section in its message; `near` are similar names."""
        where = " ".join(word for word in (f"[{self.section}]" if self.section else "", key) if word)
        element = ".".join(word for word in (self.section, key) if word)
        return RobotError(f"{self.file}: {where} {problem}", file=self.file, element=element, near=near)
