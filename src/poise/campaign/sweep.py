"""Planning of the runs of a campaign: cases x grid x seeds, with parameters drawn from distributions."""

from __future__ import annotations

import itertools
import math
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from poise.campaign.kinds.kind import RunKind, Value
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


#: Distributions with two parameters: function that draws a value, and the meaning of the parameters.
NUMERIC_DISTRIBUTIONS: dict[str, tuple[Callable[[Random, float, float], Value], str]] = {
    "uniform": (_uniform, "[lowest, highest]"),
    "log_uniform": (_log_uniform, "[lowest, highest], both above zero"),
    "normal": (_normal, "[mean, deviation]"),
    "integer": (_integer, "[lowest, highest], whole numbers, both included"),
}
CHOICE = "choice"
DISTRIBUTIONS = (*NUMERIC_DISTRIBUTIONS, CHOICE)


@dataclass(frozen=True)
class Distribution:
    """Distribution of a random parameter.

    Attributes:
        parameter: name of the parameter.
        name: name of the distribution, one of `DISTRIBUTIONS`.
        values: parameters of the distribution, or the values to choose from.

    >>> Distribution.parse("friction", {"uniform": [0.4, 0.9]}).draw(seed=3)
    """

    parameter: str
    name: str
    values: tuple[Any, ...]

    @classmethod
    def parse(cls, parameter: str, entry: Any) -> Distribution:
        """Parse a table with one entry, like ``{"uniform": [0.4, 0.9]}``; `UsageError` if it is invalid."""
        if not is_distribution(entry):
            known = f"one of {', '.join(DISTRIBUTIONS)}, like {{ uniform = [0.4, 0.9] }}"
            raise UsageError(f"{parameter}: {entry!r} is not a distribution; expected {known}")
        ((name, values),) = entry.items()
        if name == CHOICE:
            if not isinstance(values, list) or not values:
                raise UsageError(f"{parameter}: choice = {values!r}; expected a list of values to choose from")
            return cls(parameter, name, tuple(parse_value(parameter, value) for value in values))
        expected = NUMERIC_DISTRIBUTIONS[name][1]
        if not isinstance(values, list) or len(values) != 2 or not all(is_number(value) for value in values):
            raise UsageError(f"{parameter}: {name} = {values!r}; expected {expected}")
        first, second = values
        invalid = second < 0.0 if name == "normal" else first > second
        invalid = invalid or (name == "log_uniform" and first <= 0.0)
        invalid = invalid or (name == "integer" and any(value != int(value) for value in values))
        if invalid:
            raise UsageError(f"{parameter}: {name} = {values!r}; expected {expected}")
        return cls(parameter, name, (float(first), float(second)))

    def draw(self, seed: int) -> Any:
        """Return the value for a seed; the same for the same seed, parameter and distribution."""
        random = np.random.default_rng([seed, zlib.crc32(self.parameter.encode())])
        if self.name == CHOICE:
            return self.values[int(random.integers(len(self.values)))]
        return NUMERIC_DISTRIBUTIONS[self.name][0](random, *self.values)


def is_distribution(value: Any) -> bool:
    """Return whether a table of a spec is a distribution rather than a table of parameters."""
    return isinstance(value, dict) and len(value) == 1 and next(iter(value)) in DISTRIBUTIONS


def parse_value(parameter: str, value: Any) -> Value:
    """Return a parameter value; a list, like a speed, becomes command line text. `UsageError` for other types."""
    if isinstance(value, list) and value and all(isinstance(part, (int, float)) for part in value):
        return ",".join(str(part) for part in value)
    if isinstance(value, list) and value and all(isinstance(part, str) for part in value):
        return parse_value(parameter, "; ".join(value))
    if isinstance(value, (str, int, float, bool)) and "\0" not in str(value):
        return value
    raise UsageError(f"{parameter}: {value!r}; expected a number, a word, true or false")


def parse_grid_values(parameter: str, values: Any) -> Sequence[Any]:
    """Return the values of a parameter in the grid; `UsageError` if they are not a list."""
    if not isinstance(values, list) or not values:
        raise UsageError(f"{parameter}: {values!r}; expected a list of values, like [0.4, 0.6, 0.8]")
    return values


# -- Runs: cases x grid x seeds, in this order -----------------------------------------------------------------------


#: Largest number of runs; more are a mistake: at ten per second they would take more than a day.
MAX_RUNS = 1_000_000


@dataclass(frozen=True)
class PlannedRun:
    """One run of a campaign.

    Attributes:
        index: index in the plan.
        seed: random seed.
        parameters: checked parameters by name.
    """

    index: int
    seed: int
    parameters: Mapping[str, Value]


def plan_runs(
    kind: RunKind,
    seeds: Sequence[int],
    fixed: Mapping[str, Value],
    cases: Sequence[Mapping[str, Value]],
    grid: Mapping[str, Sequence[Value]],
    random: Mapping[str, Distribution],
    spec_folder: Path,
) -> tuple[PlannedRun, ...]:
    """Return all runs of a campaign.

    Args:
        kind: kind of the runs.
        seeds, fixed, cases, grid, random: see `poise.campaign.spec`.
        spec_folder: folder at which relative paths start.

    Raises:
        UsageError: if a run is invalid, a parameter is given twice, or there are too many runs.
    """
    full_grid = {**kind.expand(fixed, spec_folder), **grid}
    _check_given_once([*fixed], {name for case in cases for name in case}, [*full_grid], [*random])
    total = max(len(cases), 1) * math.prod(len(values) for values in full_grid.values()) * len(seeds)
    if total > MAX_RUNS:
        raise UsageError(f"the spec has {total} runs; expected at most {MAX_RUNS}: give fewer values or seeds")
    runs: list[PlannedRun] = []
    draws = {seed: {name: distribution.draw(seed) for name, distribution in random.items()} for seed in seeds}
    for case in cases or ({},):
        for cell in itertools.product(*full_grid.values()):
            for seed in seeds:
                parameters = {**fixed, **case, **dict(zip(full_grid, cell, strict=True)), **draws[seed]}
                runs.append(PlannedRun(len(runs), seed, _check_run(kind, parameters, spec_folder, len(runs))))
    clashing = {name for run in runs for name in run.parameters} & kind.columns.keys()
    if clashing:
        raise UsageError(f"'{clashing.pop()}' is a result of '{kind.name}', not a parameter; leave it out")
    return tuple(runs)


def _check_run(kind: RunKind, parameters: Mapping[str, Value], spec_folder: Path, index: int) -> dict[str, Value]:
    try:
        return kind.check_parameters(parameters, spec_folder)
    except PoiseError as error:
        description = ", ".join(f"{name} = {value!r}" for name, value in parameters.items())
        raise UsageError(f"run {index} ({description}): {error}") from None


def _check_given_once(*groups: Sequence[str] | set[str]) -> None:
    """Raise `UsageError` if a parameter is in more than one table: its value would be ambiguous."""
    earlier_names: set[str] = set()
    for names in groups:
        for name in names:
            if name in earlier_names:
                raise UsageError(f"'{name}' is given twice, in two of fixed, cases, grid and random; give it once")
        earlier_names |= set(names)
