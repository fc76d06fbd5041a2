"""The runs of a campaign: cases x grid x seeds, with parameters drawn from distributions."""

from __future__ import annotations

import itertools
import math
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from poise.campaign.kinds.kind import Kind, Value
from poise.errors import PoiseError, UsageError
from poise.parsing import is_number

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
        if not isinstance(values, list) or len(values) != 2 or not all(is_number(value) for value in values):
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


# -- The runs of a campaign: cases x grid x seeds, in this order -----------------------------------------------------


#: More runs than this are a mistake: at ten a second they would take more than a day.
MOST = 1_000_000


@dataclass(frozen=True)
class Run:
    """One run of a campaign.

    Attributes:
        index: its place in the plan.
        seed: of all that is random in it.
        parameters: of it, checked.
    """

    index: int
    seed: int
    parameters: Mapping[str, Value]


def planned(
    kind: Kind,
    seeds: Sequence[int],
    fixed: Mapping[str, Value],
    cases: Sequence[Mapping[str, Value]],
    grid: Mapping[str, Sequence[Value]],
    random: Mapping[str, Distribution],
    base: Path,
) -> tuple[Run, ...]:
    """All runs; UsageError if there is one that makes no sense, or a parameter is given twice.

    Args:
        kind: of the runs.
        seeds, fixed, cases, grid, random: see `poise.campaign.spec`.
        base: folder from which files are named.
    """
    whole = {**kind.spread(fixed, base), **grid}
    _check_names([*fixed], {name for case in cases for name in case}, [*whole], [*random])
    total = max(len(cases), 1) * math.prod(len(values) for values in whole.values()) * len(seeds)
    if total > MOST:
        raise UsageError(f"these are {total} runs; expected at most {MOST}: give fewer values or seeds")
    runs: list[Run] = []
    draws = {seed: {name: each.draw(seed) for name, each in random.items()} for seed in seeds}
    for case in cases or ({},):
        for cell in itertools.product(*whole.values()):
            for seed in seeds:
                given = {**fixed, **case, **dict(zip(whole, cell, strict=True)), **draws[seed]}
                runs.append(Run(len(runs), seed, _read(kind, given, base, len(runs))))
    taken = {name for run in runs for name in run.parameters} & kind.columns.keys()
    if taken:
        raise UsageError(f"'{taken.pop()}' is a result of '{kind.name}', not a parameter")
    return tuple(runs)


def _read(kind: Kind, given: Mapping[str, Value], base: Path, index: int) -> dict[str, Value]:
    try:
        return kind.read(given, base)
    except PoiseError as error:
        told = ", ".join(f"{name} = {value!r}" for name, value in given.items())
        raise UsageError(f"run {index} ({told}): {error}") from None


def _check_names(*groups: Sequence[str] | set[str]) -> None:
    """A parameter stands in one table only: which of two values is meant, nobody could tell."""
    seen: set[str] = set()
    for names in groups:
        for name in names:
            if name in seen:
                raise UsageError(f"'{name}' is given twice, in two of fixed, cases, grid and random; give it once")
        seen |= set(names)
