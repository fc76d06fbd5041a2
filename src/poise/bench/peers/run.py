"""All that is measured with peers: whole steps of inverse kinematics, then of inverse dynamics."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from poise.bench.peers import dynamics
from poise.bench.peers.library import HARD_FEET, PEERS, running
from poise.bench.peers.measure import measure
from poise.bench.peers.ours import Ours


def run(progress: Callable[[str], None] = lambda message: None) -> dict[str, Any]:
    """Ours and the peers, in turns; feet as weighted and as hard tasks where a peer of kinematics has both.

    Returns:
        What `poise.bench.peers.measure` returns, and under ``dynamics`` what `poise.bench.peers.dynamics.run` does.
    """
    with running([*PEERS, *HARD_FEET], progress=progress) as (contenders, skipped):
        kinematics = measure([Ours(), *contenders], skipped=skipped, progress=progress)
    return {**kinematics, "dynamics": dynamics.run(progress=progress)}
