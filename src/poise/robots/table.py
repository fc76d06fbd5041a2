"""Reading tables of named values (from a TOML file or from arguments) with one clear line for each mistake."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from poise.errors import RobotError
from poise.robots.names import near_misses, unknown


class Table:
    """A table that is asked for its keys by type, and in the end whether any was left over.

    Args:
        values: the keys and values.
        file: what to name in errors.
        place: where in the file, e.g. ``"feet.left"``; empty at the top.
    """

    def __init__(self, values: Any, file: str, place: str = "") -> None:
        self.file = file
        self.place = place
        if not isinstance(values, Mapping):
            raise self.error("", f"is {values!r}; expected a table of keys and values")
        self.values = values
        self.asked: list[str] = []

    def has(self, key: str) -> bool:
        self.asked.append(key)
        return key in self.values

    def value(self, key: str) -> Any:
        if not self.has(key):
            near = near_misses(key, set(self.values) - set(self.asked))
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
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
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

    def table(self, key: str) -> Table:
        values = self.value(key) if self.has(key) else {}
        return Table(values, self.file, f"{self.place}.{key}" if self.place else key)

    def done(self) -> None:
        """Complain about a key that nobody asked for."""
        for key in self.values:
            if key not in self.asked:
                where = f"[{self.place}]" if self.place else "a description"
                raise unknown(f"{where} has no key", key, dict.fromkeys(self.asked), self.file)

    def error(self, key: str, complaint: str, near: tuple[str, ...] = ()) -> RobotError:
        where = " ".join(word for word in (f"[{self.place}]" if self.place else "", key) if word)
        element = ".".join(word for word in (self.place, key) if word)
        return RobotError(f"{self.file}: {where} {complaint}", file=self.file, element=element, near=near)
