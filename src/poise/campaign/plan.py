"""The runs of a campaign: cases x grid x seeds, in this order. What each draws at random depends on its seed alone."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from poise.campaign.drawing import Distribution
from poise.campaign.kinds.kind import Kind, Value
from poise.errors import PoiseError, UsageError

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
