"""One interleaved run of whole steps of inverse dynamics, and what it means. All of the result is plain data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from poise.arrays import Array
from poise.bench.peers.contender import OURS, Answering, Contender
from poise.bench.peers.dynamics import problem
from poise.bench.peers.dynamics.judge import differences
from poise.bench.peers.turns import Run, finite, interleaved, parts, ratio, statistics, within

#: With whom all are compared.
REFERENCE = "tsid"
#: How many times the median and the p99 of the reference ours may take, and what we would like.
BARS = {"median": 1.2, "p99": 3.0}
GOALS = {"median": 0.7, "p99": 1.5}
#: Steps of a round: long enough for caches to be warm, short enough that all see the same machine.
STEPS = 100
#: Four times along the motion.
ROUNDS = 4 * problem.STEPS // STEPS


def measure(
    contenders: Sequence[Contender],
    skipped: Mapping[str, str] | None = None,
    rounds: int = ROUNDS,
    progress: Callable[[str], None] = lambda message: None,
) -> dict[str, Any]:
    """Times all contenders along the same motion.

    Args:
        contenders: who takes part; ``"tsid"`` is what the others are compared with, ``"poise"`` whose answers are.
        skipped: who is missing, and why; passed on, with those who fail on the way.
        rounds: of 100 steps each that count.
        progress: told in one line what happens next.

    Returns:
        Per contender: version; microseconds (median, p99, max); ratio to TSID (the median over the rounds of the ratio
        of medians, low and high for its spread, and the ratio of the p99); the same for quiet passes, of which each
        step is the fastest of all times that it was taken; worst errors and whether it does the job; how far its
        answers are from ours; its parts in microseconds and as shares. Besides, the bars and those who were skipped.
    """
    run = interleaved(contenders, rounds, STEPS, skipped, progress)
    answers = {
        contender.name: contender.answers if isinstance(contender, Answering) else {} for contender in run.present
    }
    results = {}
    for contender in run.present:
        own, worst = run.times[contender.name], run.worst[contender.name]
        results[contender.name] = {
            "version": contender.version,
            "microseconds": statistics(own),
            "ratio": _ratio(run, contender.name, own),
            "quiet_ratio": _ratio(run, contender.name, _quiet(own)),
            "errors": finite(worst),
            "does_the_job": within(worst, problem.ALLOWED),
            "from_ours": differences(answers[contender.name], answers.get(OURS, {})),
            "parts": parts(contender, problem.STEPS),
        }
    bars = _bars(results.get(OURS))
    return {
        "rounds": rounds,
        "steps": STEPS,
        "contenders": results,
        "skipped": run.missing,
        "bars": bars,
        "met": all(bar["met"] is True for bar in bars.values()),
    }


def _ratio(run: Run, name: str, own: Array) -> dict[str, float] | None:
    reference = run.times.get(REFERENCE)
    if reference is None or name == REFERENCE:
        return None
    return ratio(own, reference if own.shape == reference.shape else _quiet(reference))


def _quiet(times: Array) -> Array:
    """Of each step of the motion the fastest time: what remains of the p99 are steps that are hard, not interruptions.

    A run begins with one round that does not count, so a motion may begin anywhere: only its length matters.
    """
    flat = times.ravel()
    passes = len(flat) // problem.STEPS
    if passes < 2:
        return times
    return np.min(flat[: passes * problem.STEPS].reshape(passes, -1), axis=0).reshape(-1, times.shape[1])


def _bars(ours: Mapping[str, Any] | None) -> dict[str, dict[str, Any]]:
    """The bars, what was seen, and whether each is met: None if it was not measured, no if ours fails at the task.

    Seen is the larger of the ratio over all steps and that of quiet passes: on a busy machine the p99 of all steps is
    that of interruptions, whoever they hit.
    """
    if ours is None or ours["ratio"] is None:
        return {key: {"bar": bar, "goal": GOALS[key], "seen": None, "met": None} for key, bar in BARS.items()}
    seen = {key: max(ours["ratio"][key], ours["quiet_ratio"][key]) for key in BARS}
    does = ours["does_the_job"]
    return {
        key: {"bar": bar, "goal": GOALS[key], "seen": seen[key], "met": bool(seen[key] <= bar and does)}
        for key, bar in BARS.items()
    }
