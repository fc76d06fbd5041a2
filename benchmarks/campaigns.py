"""Measure the throughput of campaigns: walks with one and with two workers, and the overhead of empty runs.

    python benchmarks/campaigns.py                   # some 4 minutes on two cores
    python benchmarks/campaigns.py --ray             # also on Ray

Throughput counts everything from the call to the last row: starting workers, loading the robot, recordings and tables.
Passes with one and with two workers alternate, so that other load on the machine affects both alike.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from poise.campaign import Results, Spec, run_campaign

WALK_RUNS = """
title = "walks"
kind = "walk"
seeds = {seeds}
[fixed]
robot = "g1"
steps = 8
[random]
friction = {{ uniform = [0.5, 0.9] }}
speed.forward = {{ uniform = [0.2, 0.35] }}
"""
EMPTY_RUNS = 'title = "nothing"\nkind = "fault drill"\nseeds = {seeds}\n'


def time_campaign(text: str, folder: Path, **engine: Any) -> tuple[float, Results]:
    """Run a campaign and return its duration (s) and its results."""
    with tempfile.TemporaryDirectory(dir=folder) as out:
        begin = time.perf_counter()
        results = run_campaign(Spec.parse(text, "measured.toml"), Path(out) / "out", **engine)
        return time.perf_counter() - begin, results


def run_overhead(folder: Path, small: int, large: int, **engine: Any) -> float:
    """Return the time per empty run (ms), from two campaigns of different size, so that start-up is excluded."""
    short, _ = time_campaign(EMPTY_RUNS.format(seeds=small), folder, **engine)
    long, _ = time_campaign(EMPTY_RUNS.format(seeds=large), folder, **engine)
    return 1e3 * (long - short) / (large - small)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=24, help="walks per pass (default 24)")
    parser.add_argument("--passes", type=int, default=2)
    parser.add_argument("--ray", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    seconds: dict[int, list[float]] = {1: [], 2: []}
    memory: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for _ in range(options.passes):
            for workers, elapsed_times in seconds.items():
                elapsed, results = time_campaign(WALK_RUNS.format(seeds=options.runs), folder, workers=workers)
                elapsed_times.append(elapsed)
                memory = results.facts["worker_memory_mb"]
        empty_run_ms = {f"{workers} local": run_overhead(folder, 100, 2100, workers=workers) for workers in (1, 2)}
        if options.ray:
            empty_run_ms["ray"] = run_overhead(folder, 100, 2100, ray="local")
            elapsed, _ = time_campaign(WALK_RUNS.format(seeds=options.runs), folder, ray="local")
            seconds[0] = [elapsed]
    ratios = [one / two for one, two in zip(seconds[1], seconds[2], strict=True)]
    facts = {
        "walks_per_second": {
            "ray" if workers == 0 else f"{workers} local": options.runs / statistics.median(elapsed_times)
            for workers, elapsed_times in seconds.items()
        },
        "two_workers_against_one": {"median": statistics.median(ratios), "least": min(ratios), "most": max(ratios)},
        "empty_run_ms": empty_run_ms,
        "memory_per_worker_mb": memory,
    }
    if options.json:
        print(json.dumps(facts))
        return 0
    for title, values in facts.items():
        print(f"{title}: " + ", ".join(f"{name} {value:.3g}" for name, value in values.items()))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
