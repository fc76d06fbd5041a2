"""Distributions of random parameters. What a seed draws depends on the seed and the name alone."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from poise.campaign.kinds.kind import Value
from poise.errors import UsageError

Random = np.random.Generator


def _uniform(random: Random, low: float, high: float) -> Value:
    return float(random.uniform(low, high))


def _log_uniform(random: Random, low: float, high: float) -> Value:
    return float(np.exp(random.uniform(np.log(low), np.log(high))))


def _normal(random: Random, mean: float, deviation: float) -> Value:
    return float(random.normal(mean, deviation))


def _integer(random: Random, low: float, high: float) -> Value:
    return int(random.integers(int(low), int(high), endpoint=True))


#: Distributions of two numbers, and what these are.
NUMBERS: dict[str, tuple[Callable[[Random, float, float], Value], str]] = {
    "uniform": (_uniform, "[lowest, highest]"),
    "log_uniform": (_log_uniform, "[lowest, highest], both above zero"),
    "normal": (_normal, "[mean, deviation]"),
    "integer": (_integer, "[lowest, highest], whole numbers, both included"),
}
CHOICE = "choice"
DISTRIBUTIONS = (*NUMBERS, CHOICE)


@dataclass(frozen=True)
class Distribution:
    """Where a random parameter comes from.

    >>> Distribution.read("friction", {"uniform": [0.4, 0.9]}).draw(seed=3)
    """

    parameter: str
    name: str
    values: tuple[Any, ...]

    @classmethod
    def read(cls, parameter: str, given: Any) -> Distribution:
        """From a table of a spec with one entry; UsageError if it makes no sense."""
        if not is_distribution(given):
            known = f"one of {', '.join(DISTRIBUTIONS)}, like {{ uniform = [0.4, 0.9] }}"
            raise UsageError(f"{parameter}: {given!r} is not a distribution; expected {known}")
        ((name, values),) = given.items()
        if name == CHOICE:
            if not isinstance(values, list) or not values:
                raise UsageError(f"{parameter}: choice = {values!r}; expected a list with what can be chosen")
            return cls(parameter, name, tuple(checked_value(parameter, value) for value in values))
        meaning = NUMBERS[name][1]
        if not isinstance(values, list) or len(values) != 2 or not all(_is_number(value) for value in values):
            raise UsageError(f"{parameter}: {name} = {values!r}; expected {meaning}")
        first, second = values
        wrong = second < 0.0 if name == "normal" else first > second
        wrong = wrong or (name == "log_uniform" and first <= 0.0)
        wrong = wrong or (name == "integer" and any(value != int(value) for value in values))
        if wrong:
            raise UsageError(f"{parameter}: {name} = {values!r}; expected {meaning}")
        return cls(parameter, name, (float(first), float(second)))

    def draw(self, seed: int) -> Any:
        """The value of this seed."""
        random = np.random.default_rng([seed, zlib.crc32(self.parameter.encode())])
        if self.name == CHOICE:
            return self.values[int(random.integers(len(self.values)))]
        return NUMBERS[self.name][0](random, *self.values)


def is_distribution(given: Any) -> bool:
    """Whether a table of a spec is a distribution, and not a table of parameters."""
    return isinstance(given, dict) and len(given) == 1 and next(iter(given)) in DISTRIBUTIONS


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and bool(np.isfinite(value))


def checked_value(parameter: str, given: Any) -> Value:
    """One value; a list, such as a speed, as the command line writes it."""
    if isinstance(given, list) and given and all(isinstance(part, (int, float)) for part in given):
        return ",".join(str(part) for part in given)
    if isinstance(given, list) and given and all(isinstance(part, str) for part in given):
        return checked_value(parameter, "; ".join(given))
    if isinstance(given, (str, int, float, bool)) and "\0" not in str(given):
        return given
    raise UsageError(f"{parameter}: {given!r}; expected a number, a word, true or false")


def checked_values(parameter: str, given: Any) -> Sequence[Any]:
    """The values of a grid."""
    if not isinstance(given, list) or not given:
        raise UsageError(f"{parameter}: {given!r}; expected a list of values, like [0.4, 0.6, 0.8]")
    return given
