"""Contenders that take turns, and what their times mean: shared by all problems."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from poise.arrays import Array
from poise.bench.peers.contender import Contender, Divisible, PeerError

#: Percentiles of the ratio over the rounds that are told as its spread.
SPREAD = (10, 90)


@dataclass
class Run:
    """What an interleaved run saw.

    Attributes:
        present: who went all the way.
        times: of those, in microseconds, one line per round.
        worst: of those, the largest of each error.
        missing: who did not, and why.
    """

    present: list[Contender]
    times: dict[str, Array]
    worst: dict[str, dict[str, float]]
    missing: dict[str, str] = field(default_factory=dict)


def interleaved(
    contenders: Sequence[Contender],
    rounds: int,
    steps: int,
    skipped: Mapping[str, str] | None = None,
    progress: Callable[[str], None] = lambda message: None,
) -> Run:
    """Lets all contenders go the same steps.

    In a round each contender goes the same number of steps, one after the other, in an order that turns around from
    round to round, so that what else happens on the machine hits all alike. One round before warms up.

    Args:
        contenders: who takes part.
        rounds: that count.
        steps: of each contender in a round.
        skipped: who is missing from the start, and why.
        progress: told in one line what happens next.
    """
    missing = dict(skipped or {})
    times: dict[str, list[list[float]]] = {contender.name: [] for contender in contenders}
    worst: dict[str, dict[str, float]] = {contender.name: {} for contender in contenders}
    progress(f"whole steps: {len(contenders)} contenders, {rounds} rounds of {steps} steps")
    for turn in range(-1, rounds):
        for contender in contenders if turn % 2 else reversed(contenders):
            if contender.name in missing:
                continue
            try:
                microseconds, errors = contender.go(steps)
            except PeerError as error:
                missing[contender.name] = str(error)
                progress(f"left out: {contender.name} ({error})")
                continue
            if turn >= 0:
                times[contender.name].append(microseconds)
                worsen(worst[contender.name], errors)
    present = [contender for contender in contenders if contender.name not in missing]
    return Run(present, {each.name: np.array(times[each.name]) for each in present}, worst, missing)


def statistics(microseconds: Array) -> dict[str, float]:
    """Median, p99 and maximum."""
    return {
        "median": float(np.median(microseconds)),
        "p99": float(np.percentile(microseconds, 99)),
        "max": float(np.max(microseconds)),
    }


def ratio(own: Array, reference: Array) -> dict[str, float]:
    """How many times longer than the reference: the median over the rounds of the ratio of medians, low and high for
    its spread, and the ratio of the p99."""
    by_round = np.median(own, axis=1) / np.median(reference, axis=1)
    low, high = np.percentile(by_round, SPREAD)
    tails = np.percentile(own, 99) / np.percentile(reference, 99)
    return {"median": float(np.median(by_round)), "low": float(low), "high": float(high), "p99": float(tails)}


def parts(contender: Contender, steps: int) -> dict[str, dict[str, float]]:
    """Median microseconds of each part of a step, and its share of their sum; empty if the contender cannot tell."""
    if not isinstance(contender, Divisible):
        return {}
    try:
        medians = {part: float(np.median(values)) for part, values in contender.parts(steps).items()}
    except PeerError:
        return {}
    whole = sum(medians.values())
    return {part: {"microseconds": value, "share": value / whole} for part, value in medians.items()}


def worsen(worst: dict[str, float], errors: Mapping[str, float]) -> None:
    """Keeps the larger of each error; what is not a number is worse than any."""
    for key, value in errors.items():
        worst[key] = float(np.maximum(worst.get(key, 0.0), value))


def within(worst: Mapping[str, float], allowed: Mapping[str, float]) -> bool:
    """Whether no error is larger than it may be; one that is missing is."""
    return all(worst.get(key, np.inf) <= limit for key, limit in allowed.items())


def finite(errors: Mapping[str, float]) -> dict[str, Any]:
    """The errors as JSON can hold them: None for what is not a number."""
    return {key: value if np.isfinite(value) else None for key, value in errors.items()}
