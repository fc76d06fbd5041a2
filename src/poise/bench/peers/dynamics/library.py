"""The peers of inverse dynamics, running along one motion."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from poise.bench.peers.dynamics.judge import Answer, Judge
from poise.bench.peers.dynamics.scene import write_scene
from poise.bench.peers.library import DYNAMICS, Peer, launched
from poise.bench.peers.turns import worsen
from poise.bench.peers.worker import Worker


class DynamicsWorker(Worker):
    """A peer of inverse dynamics behind a pipe; `poise.bench.peers.workers.serve_dynamics` is the other end.

    Attributes:
        answers: what it answered so far, by step.
    """

    def __init__(self, name: str, command: Sequence[str | Path], judge: Judge, patience: float = 120.0) -> None:
        self.judge = judge
        self.answers: dict[int, Answer] = {}
        super().__init__(name, command, patience)

    def go(self, steps: int) -> tuple[list[float], dict[str, float]]:
        """See `Contender`; the errors are the largest of those answers that are looked at."""
        reply = self.ask({"go": steps})
        worst: dict[str, float] = {}
        for step, (acceleration, torque) in reply["answers"].items():
            answer = self.answers[int(step)] = Answer(np.array(acceleration), np.array(torque))
            worsen(worst, self.judge.errors(int(step), answer))
        return reply["microseconds"], worst


@contextmanager
def running(
    judge: Judge,
    peers: Sequence[Peer] = DYNAMICS,
    cache: Path | None = None,
    progress: Callable[[str], None] | None = None,
) -> Iterator[tuple[list[DynamicsWorker], dict[str, str]]]:
    """Peers that are ready to go along the motion of a judge, and why those that are missing are.

    Args:
        judge: of their answers.
        peers: who is wanted.
        cache: where environments are kept; None: see `poise.bench.peers.environments.cache_folder`.
        progress: told in one line what happens next; None: writes to standard error.

    >>> with running(judge) as (contenders, skipped):  # doctest: +SKIP
    ...     result = measure([Ours(judge), *contenders], skipped)
    """
    with tempfile.TemporaryDirectory(prefix="poise-peers-") as folder:
        scene = write_scene(judge.motion, Path(folder))

        def launch(peer: Peer, python: Path) -> DynamicsWorker:
            return DynamicsWorker(peer.name, [python, peer.script, scene], judge)

        with launched(peers, launch, cache, progress) as (workers, skipped):
            yield workers, skipped
