"""Survival: which share of runs succeeded, and how sure that is."""

from __future__ import annotations

import math
from dataclasses import dataclass

from poise.campaign.results import Results

#: Deviations of a normal distribution between which 95 % of it lie.
SURE = 1.959964


@dataclass(frozen=True)
class Share:
    """Some of n, with Wilson's interval in which the true share is with a probability of 95 %."""

    count: int
    of: int
    low: float
    high: float

    @property
    def value(self) -> float:
        """NaN of none."""
        return self.count / self.of if self.of else math.nan

    def __str__(self) -> str:
        return f"{self.count} of {self.of} ({100 * self.low:.0f} to {100 * self.high:.0f} %)"


def share(count: int, of: int) -> Share:
    """Wilson's interval: the shares p with |count/n - p| <= z √(p (1-p) / n).

    >>> share(10, 10).low
    0.722...
    """
    if of == 0:
        return Share(0, 0, 0.0, 1.0)
    p, z2 = count / of, SURE**2
    middle = (p + z2 / (2 * of)) / (1 + z2 / of)
    half = SURE / (1 + z2 / of) * math.sqrt(p * (1 - p) / of + z2 / (4 * of**2))
    return Share(count, of, 0.0 if count == 0 else middle - half, 1.0 if count == of else middle + half)


def survival(results: Results) -> Share:
    """Of all runs that are done."""
    return share(results.outcomes.get("succeeded", 0), len(results))


def survival_by(results: Results, *names: str) -> dict[tuple[object, ...], Share]:
    """For each combination of values of some parameters, in the order in which they come."""
    cells: dict[tuple[object, ...], list[bool]] = {}
    columns = [results[name] for name in names]
    for key, succeeded in zip(zip(*columns, strict=True), results["succeeded"], strict=True):
        cells.setdefault(key, []).append(bool(succeeded))
    return {key: share(sum(each), len(each)) for key, each in cells.items()}
