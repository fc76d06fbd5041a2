"""Interleaved runs of contenders on the same steps, and statistics of their times: shared by all problems."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np

from benchmarks.peers.processes import PeerError
from poise.arrays import Array

#: Name of the contender with which the others are compared.
POISE = "poise"
#: Percentiles of the ratio over the rounds that are reported as its spread.
SPREAD_PERCENTILES = (10, 90)


class StepContender(Protocol):
    """A library, or a mode of one, that solves a problem of `benchmarks.peers.problems` step by step.

    Attributes:
        name: name in the table.
        version: version of the library and of the packages that determine its speed.
    """

    name: str
    version: str

    def run_steps(self, steps: int) -> tuple[list[float], dict[str, float]]:
        """Run the next steps along the trajectory; step n = 1, 2, ... counts from the start.

        Returns:
            Time of each whole step (µs), for example of kinematics at q, target, rows of all tasks and limits, solution
            and next q; and errors with the keys and units of the problem's ``ALLOWED``.
        """


@runtime_checkable
class PartTimedContender(Protocol):
    """A contender that measures the parts of its steps."""

    def parts(self, steps: int) -> dict[str, list[float]]:
        """Run the next steps, and return the time of each part in each step (µs), by name of the part."""


@dataclass
class InterleavedRun:
    """Times and errors of an interleaved run.

    Attributes:
        present: contenders that completed all steps.
        times: times of their steps (rounds x steps, µs), by name.
        worst: largest value of each error, by name of the contender.
        missing: reason why a contender is missing, by its name.
    """

    present: list[StepContender]
    times: dict[str, Array]
    worst: dict[str, dict[str, float]]
    missing: dict[str, str] = field(default_factory=dict)


def run_interleaved(
    contenders: Sequence[StepContender],
    rounds: int,
    steps: int,
    skipped: Mapping[str, str] | None = None,
    progress: Callable[[str], None] = lambda message: None,
) -> InterleavedRun:
    """Time all contenders on the same steps.

    In a round, each contender runs the same number of steps, one contender after the other, in an order that reverses
    from round to round, so that other load on the machine affects all alike. A first round, to warm up, is discarded.

    Args:
        contenders: contenders to measure.
        rounds: number of measured rounds.
        steps: steps of each contender in a round.
        skipped: reason why a contender is missing from the start, by its name.
        progress: called with a one-line message before each stage.
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
                microseconds, errors = contender.run_steps(steps)
            except PeerError as error:
                missing[contender.name] = str(error)
                progress(f"left out: {contender.name} ({error})")
                continue
            if turn >= 0:
                times[contender.name].append(microseconds)
                update_worst(worst[contender.name], errors)
    present = [contender for contender in contenders if contender.name not in missing]
    present_times = {contender.name: np.array(times[contender.name]) for contender in present}
    return InterleavedRun(present, present_times, worst, missing)


def time_statistics(microseconds: Array) -> dict[str, float]:
    """Return median, 99th percentile and maximum of times, µs."""
    return {
        "median": float(np.median(microseconds)),
        "p99": float(np.percentile(microseconds, 99)),
        "max": float(np.max(microseconds)),
    }


def time_ratio(times: Array, reference: Array) -> dict[str, float]:
    """Return ratios of times to those of a reference, both rounds x steps.

    ``median``, ``low`` and ``high``: median, 10th and 90th percentile over the rounds of the ratio of the medians of a
    round; ``p99``: ratio of the 99th percentiles of all times.
    """
    by_round = np.median(times, axis=1) / np.median(reference, axis=1)
    low, high = np.percentile(by_round, SPREAD_PERCENTILES)
    tails = np.percentile(times, 99) / np.percentile(reference, 99)
    return {"median": float(np.median(by_round)), "low": float(low), "high": float(high), "p99": float(tails)}


def part_times(contender: StepContender, steps: int) -> dict[str, dict[str, float]]:
    """Return the median time of each part of a step (µs) and its share of their sum.

    Empty if the contender is not a `PartTimedContender`.
    """
    if not isinstance(contender, PartTimedContender):
        return {}
    try:
        medians = {part: float(np.median(values)) for part, values in contender.parts(steps).items()}
    except PeerError:
        return {}
    total = sum(medians.values())
    return {part: {"microseconds": value, "share": value / total} for part, value in medians.items()}


def update_worst(worst: dict[str, float], errors: Mapping[str, float]) -> None:
    """Update the largest value of each error in `worst`; NaN counts as larger than any number."""
    for key, value in errors.items():
        worst[key] = float(np.maximum(worst.get(key, 0.0), value))


def within_limits(worst: Mapping[str, float], allowed: Mapping[str, float]) -> bool:
    """Return whether all errors are within their limits; false if an error is missing."""
    return all(worst.get(key, np.inf) <= limit for key, limit in allowed.items())


def finite_or_none(errors: Mapping[str, float]) -> dict[str, Any]:
    """Return the errors as JSON values; None for those that are not finite."""
    return {key: value if np.isfinite(value) else None for key, value in errors.items()}
