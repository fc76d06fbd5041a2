"""Measures one whole step of inverse dynamics from Python, from q and v to torques, against TSID and placo.

All are asked along the same motion of the same robots (`poise.bench.peers.dynamics.problem`), in turns; their answers
are judged by one piece of code, from accelerations and torques alone.

>>> print(table(run()))  # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from poise.bench.peers.contender import Contender
from poise.bench.peers.dynamics import problem
from poise.bench.peers.dynamics.judge import Answer, Judge, differences
from poise.bench.peers.dynamics.library import DynamicsWorker, running
from poise.bench.peers.dynamics.measure import BARS, GOALS, REFERENCE, ROUNDS, measure
from poise.bench.peers.dynamics.motion import Motion, motion
from poise.bench.peers.dynamics.table import table

__all__ = [
    "BARS",
    "GOALS",
    "REFERENCE",
    "Answer",
    "DynamicsWorker",
    "Judge",
    "Motion",
    "differences",
    "measure",
    "motion",
    "problem",
    "run",
    "running",
    "table",
]


def run(
    robots: Sequence[str] = problem.ROBOTS,
    rounds: int = ROUNDS,
    cache: Path | None = None,
    progress: Callable[[str], None] = lambda message: None,
) -> dict[str, Any]:
    """Ours (strict and weighted), TSID and placo on each robot.

    Args:
        robots: of the library.
        rounds: that count, of 100 steps.
        cache: where environments of peers are kept.
        progress: told in one line what happens next.

    Returns:
        Plain data: under ``robots`` what `measure` returns for each, and whether all bars are met.
    """
    from poise.bench.peers.dynamics.ours import Ours

    results = {}
    for name in robots:
        progress(f"inverse dynamics: the motion of {name}")
        judge = Judge(motion(name))
        with running(judge, cache=cache, progress=progress) as (peers, skipped):
            contenders: list[Contender] = [Ours(judge), Ours(judge, weighted=True), *peers]
            results[name] = measure(contenders, skipped, rounds, progress)
    return {
        "benchmark": "whole steps of inverse dynamics",
        "robots": results,
        "met": all(result["met"] for result in results.values()),
    }
