"""Measure the time of a control step ("tick") of walking, relative to a fixed reference workload in the same run.

    python benchmarks/walk_cost.py                          # G1 and Talos, two styles, two solvers: some five minutes
    python benchmarks/walk_cost.py --robots g1 --core 0     # on a processor core of your choice

Every tenth tick is followed by the reference: pinocchio's `computeAllTerms` of G1, ten times, and the solution of 60
equations by Cholesky. It is not part of the times of the walk. Between machines, compare the ratio of the medians. If
other processes use the same core, "quiet p99", over the fastest pass of each tick, and seconds of motion per second of
processor time ("x processor") show the cost of the walk itself; the bars apply to these.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pinocchio
from scipy.linalg import cho_factor, cho_solve

from poise import runs
from poise.arrays import Array
from poise.control import ControlStep
from poise.plants import steps
from poise.recording import record_steps
from poise.robots import load_robot

STYLES, SOLVERS = ("neutral", "relaxed"), ("strict", "weighted")
#: Number of ticks from one run of the reference to the next.
REFERENCE_INTERVAL = 10
#: Bars: largest median and p99 of a tick (ms), and smallest real-time factor of the whole simulation.
MAX_MEDIAN_MS, MAX_P99_MS, MIN_REAL_TIME_FACTOR = 0.6, 2.0, 2.5


class ReferenceWorkload:
    """Fixed workload, with the time of each run (ms) and the total processor time (s)."""

    def __init__(self) -> None:
        self.model = load_robot("g1").model
        self.data = self.model.createData()
        rng = np.random.default_rng(0)
        self.q, self.v = pinocchio.neutral(self.model), rng.normal(size=self.model.nv)
        root = rng.normal(size=(60, 60))
        self.matrix, self.right = root @ root.T + 60.0 * np.eye(60), rng.normal(size=60)
        self.milliseconds: list[float] = []
        self.processor = 0.0

    def interleave(self, ticks: Iterable[ControlStep]) -> Iterator[ControlStep]:
        """Yield the ticks unchanged, and run the workload after every `REFERENCE_INTERVAL` of them."""
        for i, tick in enumerate(ticks):
            yield tick
            if i % REFERENCE_INTERVAL == 0:
                self.run()

    def run(self) -> None:
        begin, processor_begin = time.perf_counter(), time.process_time()
        for _ in range(10):
            pinocchio.computeAllTerms(self.model, self.data, self.q, self.v)
        cho_solve(cho_factor(self.matrix), self.right)
        self.milliseconds.append(1e3 * (time.perf_counter() - begin))
        self.processor += time.process_time() - processor_begin


class WalkPass(NamedTuple):
    """One walk: times of its ticks and of the reference (ms); motion, wall and processor time (s)."""

    ticks: Array
    reference: Array
    motion: float
    clock: float
    processor: float


def measure_walk(motion: runs.Walk, reference: ReferenceWorkload, path: Path) -> WalkPass:
    """Control, simulate and record a walk, as `poise run walk --out` does, and return its times."""
    setup = motion.build()
    plant, robot = setup.plant, setup.plant.robot
    reference.milliseconds.clear()
    begin, processor_begin = time.perf_counter(), time.process_time() - reference.processor
    recording = record_steps(reference.interleave(steps(setup.controller, plant, setup.seconds)), robot, path)
    reference_ms = np.array(reference.milliseconds)
    clock = time.perf_counter() - begin - 1e-3 * reference_ms.sum()
    processor = time.process_time() - reference.processor - processor_begin
    if plant.fallen:
        print(f"{motion.robot}, {motion.style}, {motion.solver}: {plant.fall}")
    return WalkPass(recording["control/milliseconds"].copy(), reference_ms, recording.duration, clock, processor)


def table_line(motion: runs.Walk, passes: list[WalkPass]) -> tuple[str, bool]:
    """Return one line of the table, and whether the walk is within the bars."""
    ticks, reference_ms = (
        np.concatenate([each.ticks for each in passes]),
        np.concatenate([each.reference for each in passes]),
    )
    median, p99 = np.median(ticks), np.quantile(ticks, 0.99)
    # Walks are deterministic, so the fastest pass of each tick excludes interruptions.
    quiet_p99 = np.quantile(np.min([each.ticks for each in passes], axis=0), 0.99)
    reference_median = np.median(reference_ms)
    motion, clock, processor = (sum(spent) for spent in list(zip(*passes, strict=True))[2:])
    on_clock, of_processor = motion / clock, motion / processor
    numbers = (
        f"{median:.2f}",
        f"{p99:.2f}",
        f"{quiet_p99:.2f}",
        f"{reference_median:.3f}",
        f"{median / reference_median:.2f}",
    )
    within_bars = bool(median <= MAX_MEDIAN_MS and quiet_p99 <= MAX_P99_MS and of_processor >= MIN_REAL_TIME_FACTOR)
    name = f"{motion.robot}, {motion.style}, {motion.solver}"
    cells = (name, *numbers, f"{on_clock:.1f}", f"{of_processor:.1f}", "yes" if within_bars else "no")
    return f"| {' | '.join(cells)} |", within_bars


def pin_to_core(core: int | None) -> str:
    """Pin all threads of this program to one core, if the system supports it, and return a description.

    Libraries choose their number of threads when they are loaded, so the program restarts itself.
    """
    if not hasattr(os, "sched_setaffinity"):
        return "not pinned to a core"
    if os.environ.get("OPENBLAS_NUM_THREADS") != "1" or len(os.sched_getaffinity(0)) > 1:
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0)) if core is None else core})
        os.environ |= {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")}
        os.execv(sys.executable, [sys.executable, *sys.argv])
    return f"on core {min(os.sched_getaffinity(0))}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--robots", default="g1,talos")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--repeat", type=int, default=3, help="passes of each walk (default 3)")
    parser.add_argument("--core", type=int, help="processor core to run on (default: the last one)")
    options = parser.parse_args()
    load = os.getloadavg()[0]
    print(f"{pin_to_core(options.core)}; load of the machine before: {load:.1f} on {os.cpu_count()} cores\n")
    reference = ReferenceWorkload()
    heads = (
        "median ms",
        "p99 ms",
        "quiet p99 ms",
        "reference ms",
        "median / reference",
        "x real time",
        "x processor",
        "in bars",
    )
    print(f"| robot, style, solver | {' | '.join(heads)} |\n|{'---|' * (1 + len(heads))}", flush=True)
    cases = [
        runs.Walk(robot=robot, style=style, solver=solver, steps=options.steps)
        for robot in options.robots.split(",")
        for style in STYLES
        for solver in SOLVERS
    ]
    within_bars = []
    with tempfile.TemporaryDirectory() as folder:
        for motion in cases:
            path = Path(folder) / "walk.poise"
            text, good = table_line(motion, [measure_walk(motion, reference, path) for _ in range(options.repeat)])
            within_bars.append(good)
            print(text, flush=True)
    print(f"\nload after: {os.getloadavg()[0]:.1f}")
    return 0 if all(within_bars) else 1


if __name__ == "__main__":
    raise SystemExit(main())
