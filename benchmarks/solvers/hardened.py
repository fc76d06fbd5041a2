"""Measure hard programs: control sequences whose limits are tightened and whose levels contradict each other.

    python -m benchmarks.solvers.hardened                 # recorded kinematics, else the generated sequence
    python -m benchmarks.solvers.hardened --repeat 20     # more passes, less noise

Every sequence is measured as it is and hardened in the ways of `HARDENINGS`, as ratios of the strict solver to one
weighted quadratic program with daqp. The last line is a large contradiction, solved cold, in processor time.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence

import numpy as np

from benchmarks.solvers.contenders import KERNEL, STRICT, SolverContender, StrictCall, StrictKernel
from benchmarks.solvers.daqp_contenders import DaqpWeighted
from benchmarks.solvers.measurement import measure_interleaved, parse_count
from benchmarks.solvers.results import evaluate
from benchmarks.solvers.workloads import Workload, workloads
from poise.solvers import Lexicographic, Program, Rows, certificate

#: Remaining part of the limits of level 0 if they are tightened.
TIGHTENING = 0.15
#: Rows of every level that a contradictory box bounds again, and the distances of the box from their targets.
BOX_ROWS, BOX = 3, (0.2, 0.5)
#: Factor of the targets of a motion that is faster than the limits allow.
HASTE = 3.0
#: Ratio to the weighted program at the median that counts as reached: of the sequences as recorded, and hardened.
BARS = (0.5, 1.0)


def tighten_limits(program: Program, rng: np.random.Generator) -> Program:
    """Return the program with narrower intervals in level 0, which can still be met."""
    first = program.levels[0]
    x = Lexicographic().solve(Program([first], variables=program.variables)).x
    tight = []
    for rows in first:
        value = np.clip(rows.A @ x, rows.lower, rows.upper)
        lower = np.where(rows.lower < rows.upper, value - TIGHTENING * (value - rows.lower), rows.lower)
        upper = np.where(rows.lower < rows.upper, value + TIGHTENING * (rows.upper - value), rows.upper)
        tight.append(Rows(rows.A, lower, upper, rows.weight))
    return Program([tight, *program.levels[1:]], variables=program.variables)


def contradict_levels(program: Program, rng: np.random.Generator) -> Program:
    """Return the program with a box in every level below the first that excludes the targets of the level."""
    levels = [program.levels[0]]
    for group in program.levels[1:]:
        rows = group[0]
        chosen = np.arange(len(rows))[:BOX_ROWS]
        targets = np.where(np.isfinite(rows.upper[chosen]), rows.upper[chosen], rows.lower[chosen])
        box = Rows(rows.A[chosen], targets + BOX[0], targets + BOX[1], rows.weight[chosen])
        levels.append((*group, box))
    return Program(levels, variables=program.variables)


def hasten(program: Program, rng: np.random.Generator) -> Program:
    """Return the program with larger targets below level 0, with random noise from step to step."""
    levels = [program.levels[0]]
    for group in program.levels[1:]:
        scale = HASTE * (1.0 + 0.1 * rng.standard_normal())
        levels.append(tuple(Rows(rows.A, scale * rows.lower, scale * rows.upper, rows.weight) for rows in group))
    return Program(levels, variables=program.variables)


#: Ways to harden a program, by name.
HARDENINGS: dict[str, Callable[[Program, np.random.Generator], Program]] = {
    "tight": tighten_limits,
    "boxes": contradict_levels,
    "fast": hasten,
    "tight_boxes": lambda program, rng: contradict_levels(tighten_limits(program, rng), rng),
}


def hardened_workloads(source: Sequence[Workload], seed: int = 0) -> list[Workload]:
    """Return every workload hardened in every way; the same seed gives the same numbers."""
    return [
        Workload(f"{workload.name}_{name}", workload.source, tuple(harden(p, rng) for p in workload.programs))
        for workload in source
        for name, harden in HARDENINGS.items()
        for rng in [np.random.default_rng(seed)]
    ]


def large_contradiction(rows: int = 2000, unknowns: int = 50, kind: str = "interval", seed: int = 0) -> Program:
    """Return one level of random rows that cannot all be met.

    Args:
        rows, unknowns: size.
        kind: ``"equality"``, ``"upper"`` bounds, ``"interval"`` or ``"mixed"`` equalities and bounds.
        seed: of the numbers.
    """
    rng = np.random.default_rng(seed)
    A, upper = rng.standard_normal((rows, unknowns)), 3.0 * rng.standard_normal(rows)
    lower = upper.copy()
    if kind == "interval":
        lower -= rng.uniform(0.0, 1.0, rows)
    if kind in ("upper", "mixed"):
        lower[rng.random(rows) < (0.5 if kind == "mixed" else 1.1)] = -np.inf
    return Program([Rows(A, lower, upper)])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=parse_count, default=5, help="passes over each sequence (default 5)")
    options = parser.parse_args()
    sequences = [w for w in workloads() if w.name.startswith("A_")] or workloads()[-2:-1]
    print("| workload | strict | kernel | quiet passes: strict | iterations: median | largest | failures |")
    print("|---|---|---|---|---|---|---|")
    met = dict.fromkeys(BARS, 0)
    for workload in [*sequences, *hardened_workloads(sequences)]:
        solvers: list[SolverContender] = [StrictCall(), StrictKernel(), DaqpWeighted()]
        result = evaluate(workload, measure_interleaved(workload, solvers, options.repeat))["contenders"]
        strict, kernel = result[STRICT], result[KERNEL]
        ratios = (strict["ratio"], kernel["ratio"], strict["quiet_ratio"])
        bar = BARS[workload not in sequences]
        met[bar] += ratios[0]["median"] <= bar
        iterations = strict["counters"]["iterations"]
        figures = [
            *(f"{ratio['median']:.2f}" for ratio in ratios),
            f"{iterations['median']:g}",
            f"{iterations['max']:g}",
        ]
        print(f"| {workload.name} | {' | '.join(figures)} | {strict['failures']['total']} |", flush=True)
    print(f"bars: as recorded at most {BARS[0]}: {met[BARS[0]]} of {len(sequences)} met; ", end="")
    print(f"hardened at most {BARS[1]}: {met[BARS[1]]} of {len(sequences) * len(HARDENINGS)} met")
    for kind in ("equality", "upper", "interval", "mixed"):
        program = large_contradiction(kind=kind)
        start = time.process_time()
        solution = Lexicographic().solve(program)
        milliseconds = 1e3 * (time.process_time() - start)
        residual = certificate(program, solution).residual
        print(f"2000 rows x 50 unknowns, {kind}: {milliseconds:.0f} ms, certificate {residual:.1e}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
