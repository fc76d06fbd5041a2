"""One interleaved run: every contender solves the same program before anybody goes on to the next."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter_ns

import numpy as np

from poise.bench.contender import Answer, Contender
from poise.bench.workloads import Workload
from poise.solvers import Array


@dataclass
class Track:
    """What one contender did on one workload.

    Attributes:
        contender: who.
        nanoseconds: one line per measured pass, one column per step.
        answers: likewise.
    """

    contender: Contender
    nanoseconds: Array
    answers: list[list[Answer]] = field(default_factory=list)


def interleaved(workload: Workload, contenders: Sequence[Contender], repeat: int, seed: int = 0) -> list[Track]:
    """Times all contenders over a workload.

    One pass that is thrown away warms up caches and clocks, then come `repeat` passes that count. A pass begins with
    contenders that remember nothing, so its first step is a cold start and the others are warm started from the step
    before. The order of the contenders is shuffled at every step, since each finds in the caches what its
    predecessor left there. Only the call of the solver is on the clock, and no garbage is collected meanwhile.
    """
    steps = len(workload.programs)
    prepared = [[contender.prepare(program) for program in workload.programs] for contender in contenders]
    tracks = [Track(contender, np.zeros((repeat, steps))) for contender in contenders]
    rng = np.random.default_rng(seed)
    for turn in range(-1, repeat):
        orders = [rng.permutation(len(contenders)).tolist() for _ in range(steps)]
        answers: list[list[Answer]] = [[] for _ in contenders]
        for contender in contenders:
            contender.reset()
        with _no_garbage_collection():
            for step, order in enumerate(orders):
                for index in order:
                    contender, question = contenders[index], prepared[index][step]
                    start = perf_counter_ns()
                    outcome = contender.solve(question)
                    elapsed = perf_counter_ns() - start
                    answers[index].append(contender.read(outcome))
                    del outcome  # here, so that nobody is timed while throwing away what another returned
                    if turn >= 0:
                        tracks[index].nanoseconds[turn, step] = elapsed
        if turn >= 0:
            for track, given in zip(tracks, answers, strict=True):
                track.answers.append(given)
    return tracks


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    gc.collect()
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
