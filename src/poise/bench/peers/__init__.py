"""Measures one whole step of inverse kinematics from Python against pink, mink and placo; of dynamics in `dynamics`.

The peers solve the same problem (`poise.bench.peers.problem`) as one weighted quadratic program, each in an
environment of its own, built from wheels when first needed. All take turns in one run.

>>> with running() as (contenders, skipped):  # doctest: +SKIP
...     result = measure([ours, *contenders], skipped=skipped)
>>> print(table(result))  # doctest: +SKIP
"""

from __future__ import annotations

from poise.bench.peers import problem
from poise.bench.peers.contender import OURS, Contender, Divisible, PeerError
from poise.bench.peers.library import DYNAMICS, HARD_FEET, PEERS, Peer, running
from poise.bench.peers.measure import BARS, measure
from poise.bench.peers.table import table
from poise.bench.peers.worker import Worker

__all__ = [
    "BARS",
    "DYNAMICS",
    "HARD_FEET",
    "OURS",
    "PEERS",
    "Contender",
    "Divisible",
    "Peer",
    "PeerError",
    "Worker",
    "measure",
    "problem",
    "running",
    "table",
]
