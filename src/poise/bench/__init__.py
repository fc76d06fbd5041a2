"""Measures our solvers and others on the same programs in one interleaved run.

Times depend on the machine and on who else uses it; the ratio of two contenders that take turns depends on
neither very much. So the results are ratios to one weighted quadratic program with daqp, the fastest solver of those
that are not strict.

>>> print(table(run(repeat=5)))  # doctest: +SKIP
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from poise.bench import workloads as _workloads
from poise.bench.contenders import contenders
from poise.bench.judge import judged
from poise.bench.measure import interleaved
from poise.bench.stored import ratios_and_counts
from poise.bench.table import table
from poise.bench.workloads import Workload

__all__ = ["Workload", "ratios_and_counts", "run", "table"]


def run(
    data: Path | None = None,
    repeat: int = 5,
    peers: bool = False,
    progress: Callable[[str], None] = lambda message: None,
    workloads: Sequence[Workload] | None = None,
) -> dict[str, Any]:
    """Measures every contender on every workload.

    Args:
        data: folder with recorded sequences; None: where `poise.bench.workloads.workloads` finds some.
        repeat: passes over each workload that count; one more is made before, to warm up.
        peers: also whole steps of ours and of others, each in an environment of its own that is built from wheels when
            first needed: inverse kinematics of pink, mink and placo, inverse dynamics of TSID and placo.
        progress: told in one line what happens next.
        workloads: these instead of the recorded and generated ones.

    Returns:
        Plain data that `json.dumps` accepts: per workload and contender the microseconds (median, p99, max, first),
        their ratios to ``daqp weighted``, failures and counters; per workload the bars. Under ``peers`` what
        `poise.bench.peers.run` returns, or None.
    """
    missing: dict[str, str] = {}
    results = []
    for workload in _workloads.workloads(data) if workloads is None else workloads:
        present, absent = contenders(len(workload.programs[0]))
        missing.update(absent)
        progress(f"{workload.name}: {len(workload.programs)} steps, {repeat} passes, {len(present)} contenders")
        results.append(judged(workload, interleaved(workload, present, repeat)))
    for name, why in missing.items():
        progress(f"left out: {name} ({why})")
    return {
        "benchmark": "solvers",
        "repeat": repeat,
        "machine": {"system": platform.system(), "processor": platform.machine(), "cores": os.cpu_count()},
        "versions": _versions(),
        "missing": missing,
        "peers": _whole_steps(progress) if peers else None,
        "workloads": results,
        "met": all(bar["met"] for result in results for bar in result["bars"].values()),
    }


def _whole_steps(progress: Callable[[str], None]) -> dict[str, Any]:
    """Ours and the peers, in turns: inverse kinematics, then inverse dynamics."""
    from poise.bench.peers.run import run  # here, because it needs the robots

    return run(progress)


def _versions() -> dict[str, str | None]:
    versions: dict[str, str | None] = {"python": platform.python_version()}
    for name in ("poise", "numpy", "daqp", "quadprog", "proxsuite"):
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            versions[name] = None
    return versions
