"""One interleaved run of whole steps, and what it means. All of the result is plain data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from poise.bench.peers import problem
from poise.bench.peers.contender import OURS, Contender
from poise.bench.peers.turns import finite, interleaved, parts, ratio, statistics, within

#: How many times longer than ours the whole step of a peer has to take, at the median.
BARS = {"pink": 4.0, "mink": 3.0, "placo": 1.0}


def measure(
    contenders: Sequence[Contender],
    rounds: int = 30,
    steps: int = 100,
    skipped: Mapping[str, str] | None = None,
    progress: Callable[[str], None] = lambda message: None,
) -> dict[str, Any]:
    """Times all contenders along the same trajectory.

    All take turns, see `interleaved`. Afterwards those who can are asked where their time goes, over as many steps as
    one round.

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
    run = interleaved(contenders, rounds, steps, skipped, progress)
    ours = run.times.get(OURS)
    results = {}
    for contender in run.present:
        own, worst = run.times[contender.name], run.worst[contender.name]
        results[contender.name] = {
            "version": contender.version,
            "microseconds": statistics(own),
            "ratio": None if ours is None or contender.name == OURS else ratio(own, ours),
            "errors": finite(worst),
            "does_the_job": within(worst, problem.ALLOWED),
            "parts": parts(contender, steps),
        }
    bars = _bars(results)
    return {
        "benchmark": "whole steps",
        "rounds": rounds,
        "steps": steps,
        "contenders": results,
        "skipped": run.missing,
        "bars": bars,
        "met": all(bar["met"] is True for bar in bars.values()),
    }


def _bars(results: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """The bars, what was seen, and whether each is met: None if it was not measured, no if ours fails at the task."""
    bars = {}
    for name, bar in BARS.items():
        seen = results[name]["ratio"] if name in results else None
        met = None if seen is None else bool(seen["median"] >= bar and results[OURS]["does_the_job"])
        bars[name] = {"bar": bar, "seen": None if seen is None else seen["median"], "met": met}
    return bars
