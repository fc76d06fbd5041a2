"""Interleaved measurement: every contender solves a program before any of them solves the next.

Times depend on the machine and its load; the ratio of two contenders that take turns hardly does. Results are therefore
ratios to one weighted quadratic program with daqp, the fastest of the solvers without strict priorities.

>>> print(format_table(run(repeat=5)))  # doctest: +SKIP
"""

from __future__ import annotations

import argparse
import gc
import os
import platform
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from time import perf_counter_ns
from typing import Any

import numpy as np

from benchmarks.solvers.contenders import (
    Proxqp,
    Quadprog,
    SolverAnswer,
    SolverContender,
    StrictCall,
    StrictKernel,
    WeightedCall,
)
from benchmarks.solvers.daqp_contenders import DaqpHierarchical, DaqpWeighted
from benchmarks.solvers.results import Measurement, evaluate
from benchmarks.solvers.workloads import Workload
from benchmarks.solvers.workloads import workloads as default_workloads


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of programs that measure solvers."""
    parser.add_argument("--data", type=_folder, metavar="DIR", help="folder with recorded sequences (*.npz)")
    parser.add_argument(
        "--repeat", type=parse_count, default=5, metavar="N", help="passes over each sequence (default 5)"
    )
    parser.add_argument("--json", type=output_file, metavar="FILE", help="write all figures to FILE")
    parser.add_argument(
        "--baseline", type=output_file, metavar="FILE", help="write ratios and counts, without times, to FILE"
    )


def run(
    data: Path | None = None,
    repeat: int = 5,
    progress: Callable[[str], None] = lambda message: None,
    workloads: Sequence[Workload] | None = None,
) -> dict[str, Any]:
    """Measure every contender on every workload.

    Args:
        data: folder with recorded sequences; None: the folder that `workloads` finds.
        repeat: number of measured passes over each workload, after one pass to warm up.
        progress: called with a one-line message before each stage.
        workloads: workloads to measure; None: recorded and generated ones.

    Returns:
        Plain data for `json.dumps`: per workload and contender the times (µs; median, p99, max, first), their ratios to
        ``daqp weighted``, failures and counters; per workload the bars. ``peers`` is None; `benchmarks.peers` replaces
        it by its results.
    """
    missing: dict[str, str] = {}
    results = []
    for workload in default_workloads(data) if workloads is None else workloads:
        present, absent = contenders(len(workload.programs[0]))
        missing.update(absent)
        progress(f"{workload.name}: {len(workload.programs)} steps, {repeat} passes, {len(present)} contenders")
        results.append(evaluate(workload, measure_interleaved(workload, present, repeat)))
    for name, why in missing.items():
        progress(f"left out: {name} ({why})")
    return {
        "benchmark": "solvers",
        "repeat": repeat,
        "machine": {"system": platform.system(), "processor": platform.machine(), "cores": os.cpu_count()},
        "versions": _versions(),
        "missing": missing,
        "peers": None,
        "workloads": results,
        "passed": all(bar["passed"] for result in results for bar in result["bars"].values()),
    }


def parse_count(text: str) -> int:
    """Parse a whole number of at least 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a count; expected a whole number from 1 on")
    return int(text)


def output_file(text: str) -> Path:
    """Parse the path of a file to write; its folder must exist."""
    if not Path(text).parent.is_dir():
        raise argparse.ArgumentTypeError(f"there is no folder '{Path(text).parent}' to write '{text}' to")
    return Path(text)


def _folder(text: str) -> Path:
    if not Path(text).is_dir():
        raise argparse.ArgumentTypeError(f"there is no folder '{text}'; name one with recorded sequences (*.npz)")
    return Path(text)


def _versions() -> dict[str, str | None]:
    versions: dict[str, str | None] = {"python": platform.python_version()}
    for name in ("poise", "numpy", "daqp", "quadprog", "proxsuite"):
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            versions[name] = None
    return versions


def contenders(levels: int) -> tuple[list[SolverContender], dict[str, str]]:
    """Return all contenders for programs with this number of levels, and the reasons of missing ones by name."""
    makers: dict[str, Callable[[], SolverContender]] = {
        StrictCall.name: StrictCall,
        StrictKernel.name: StrictKernel,
        WeightedCall.name: lambda: WeightedCall(levels),
        DaqpWeighted.name: DaqpWeighted,
        DaqpHierarchical.name: DaqpHierarchical,
        Quadprog.name: Quadprog,
        Proxqp.name: Proxqp,
    }
    present: list[SolverContender] = []
    missing: dict[str, str] = {}
    for name, make in makers.items():
        try:
            present.append(make())
        except ImportError as error:
            missing[name] = str(error)
    return present, missing


def measure_interleaved(
    workload: Workload, contenders: Sequence[SolverContender], repeat: int, seed: int = 0
) -> list[Measurement]:
    """Time all contenders over a workload.

    One discarded pass warms up caches and clocks, then `repeat` passes count. All contenders are reset at the beginning
    of a pass, so its first step is a cold start and the others are warm started from the previous step. The order of
    the contenders is shuffled at every step, since each inherits the caches of its predecessor. Only the call of the
    solver is timed, with garbage collection disabled.
    """
    steps = len(workload.programs)
    prepared = [[contender.prepare(program) for program in workload.programs] for contender in contenders]
    measurements = [Measurement(contender, np.zeros((repeat, steps))) for contender in contenders]
    rng = np.random.default_rng(seed)
    for turn in range(-1, repeat):
        orders = [rng.permutation(len(contenders)).tolist() for _ in range(steps)]
        answers: list[list[SolverAnswer]] = [[] for _ in contenders]
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
                    del outcome  # freed here, outside the time of the next contender
                    if turn >= 0:
                        measurements[index].nanoseconds[turn, step] = elapsed
        if turn >= 0:
            for measurement, answer in zip(measurements, answers, strict=True):
                measurement.answers.append(answer)
    return measurements


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
