"""One interleaved run of whole steps, and what it means. All of the result is plain data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from poise.bench.peers import problem
from poise.bench.peers.contender import OURS, Contender, Divisible, PeerError

#: How many times longer than ours the whole step of a peer has to take, at the median.
BARS = {"pink": 4.0, "mink": 3.0, "placo": 1.0}
#: Percentiles of the ratio over the rounds that are told as its spread.
SPREAD = (10, 90)


def measure(
    contenders: Sequence[Contender],
    rounds: int = 30,
    steps: int = 100,
    skipped: Mapping[str, str] | None = None,
    progress: Callable[[str], None] = lambda message: None,
) -> dict[str, Any]:
    """Times all contenders along the same trajectory.

    In a round each contender goes the same number of steps, one after the other, in an order that turns around from
    round to round, so that what else happens on the machine hits all alike. One round before warms up. Afterwards those
    who can are asked where their time goes, over as many steps as one round.

    Args:
        contenders: who takes part; the one named ``"poise"`` is compared with the others.
        rounds: that count.
        steps: of each contender in a round.
        skipped: who is missing, and why; passed on, with those who fail on the way.
        progress: told in one line what happens next.

    Returns:
        Per contender: version; microseconds (median, p99, max); ratio to ours (the median over the rounds of the ratio
        of medians, low and high for its spread, and the ratio of the p99); worst errors and whether it does the job;
        its parts in microseconds and as shares. Besides, the bars and those who were skipped.
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
                _worsen(worst[contender.name], errors)
    present = [contender for contender in contenders if contender.name not in missing]
    ours = np.array(times[OURS]) if any(contender.name == OURS for contender in present) else None
    results = {}
    for contender in present:
        own = np.array(times[contender.name])
        results[contender.name] = {
            "version": contender.version,
            "microseconds": _statistics(own),
            "ratio": None if ours is None or contender.name == OURS else _ratio(own, ours),
            "errors": {key: value if np.isfinite(value) else None for key, value in worst[contender.name].items()},
            "does_the_job": _does_the_job(worst[contender.name]),
            "parts": _parts(contender, steps),
        }
    bars = _bars(results)
    return {
        "benchmark": "whole steps",
        "rounds": rounds,
        "steps": steps,
        "contenders": results,
        "skipped": missing,
        "bars": bars,
        "met": all(bar["met"] is True for bar in bars.values()),
    }


def _statistics(microseconds: Any) -> dict[str, float]:
    return {
        "median": float(np.median(microseconds)),
        "p99": float(np.percentile(microseconds, 99)),
        "max": float(np.max(microseconds)),
    }


def _ratio(own: Any, ours: Any) -> dict[str, float]:
    by_round = np.median(own, axis=1) / np.median(ours, axis=1)
    low, high = np.percentile(by_round, SPREAD)
    tails = np.percentile(own, 99) / np.percentile(ours, 99)
    return {"median": float(np.median(by_round)), "low": float(low), "high": float(high), "p99": float(tails)}


def _worsen(worst: dict[str, float], errors: Mapping[str, float]) -> None:
    """Keeps the larger of each error; what is not a number is worse than any."""
    for key, value in errors.items():
        worst[key] = float(np.maximum(worst.get(key, 0.0), value))


def _does_the_job(worst: Mapping[str, float]) -> bool:
    return all(worst.get(key, np.inf) <= allowed for key, allowed in problem.ALLOWED.items())


def _parts(contender: Contender, steps: int) -> dict[str, dict[str, float]]:
    """Median microseconds of each part, and its share of their sum."""
    if not isinstance(contender, Divisible):
        return {}
    try:
        medians = {part: float(np.median(values)) for part, values in contender.parts(steps).items()}
    except PeerError:
        return {}
    whole = sum(medians.values())
    return {part: {"microseconds": value, "share": value / whole} for part, value in medians.items()}


def _bars(results: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """The bars, what was seen, and whether each is met: None if it was not measured, no if ours fails at the task."""
    bars = {}
    for name, bar in BARS.items():
        ratio = results[name]["ratio"] if name in results else None
        met = None if ratio is None else bool(ratio["median"] >= bar and results[OURS]["does_the_job"])
        bars[name] = {"bar": bar, "seen": None if ratio is None else ratio["median"], "met": met}
    return bars
