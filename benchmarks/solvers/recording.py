"""Record the programs of runs under pushes, as workloads for `benchmarks.solvers`.

    python -m benchmarks.solvers.recording --out programs               # every program of every run below
    python -m benchmarks.solvers.recording --out programs --hardest 40 # of each run, 40 steps around the hardest one
    python -m benchmarks.solvers.recording --runs g1_stand --count     # only the table of iterations
    python -m benchmarks.solvers.recording --count --cold 5            # every fifth program is also solved cold

Standing and walking robots are pushed until motors, friction and soles are at their limits, where an active-set method
needs the most iterations. Each run becomes one file per shape of its programs, in the format of `recorded_workloads`.
"""

from __future__ import annotations

import argparse
import itertools
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from poise import runs
from poise.plants import steps
from poise.solvers import Lexicographic, Program, Solution

#: Time of the pushes on standing robots, and when the recording of one ends (s).
PUSH_TIME, STAND_SECONDS = 0.2, 1.2
#: Iterations in 99.9 % of all programs and in any of them, and the difference between a cold and a warm solution,
#: relative to the largest unknown, that count as reached.
BARS, SAME = (80, 150), 1e-8
#: Push on standing robots in eight directions, and on walking ones to the left at eight phases of a step (N).
STAND_PUSHES, WALK_PUSHES = {"g1": 100.0, "talos": 300.0}, {"g1": 60.0, "talos": 150.0}


def recorded_motions() -> dict[str, runs.Motion]:
    """Return the motions that are recorded, by name."""
    motions: dict[str, runs.Motion] = {}
    for robot, k in itertools.product(("g1", "talos"), range(8)):
        angle, force = 0.25 * math.pi * k, STAND_PUSHES[robot]
        push = f"{force * math.cos(angle):.1f},{force * math.sin(angle):.1f},0,0.1@{PUSH_TIME}"
        motions[f"{robot}_stand_{k}"] = runs.Stand(robot=robot, push=push, seconds=STAND_SECONDS)  # type: ignore[call-arg]
        push = f"0,{WALK_PUSHES[robot]},0,0.1@{2.0 + 0.1 * k:.1f}"
        motions[f"{robot}_walk_{k}"] = runs.Walk(robot=robot, steps=6, speed=(0.3, 0.0, 0.0), push=push)  # type: ignore[call-arg]
    motions["g1_reach"] = runs.Reach(robot="g1")
    motions["g1_reach_torque"] = runs.Reach(robot="g1", mode="torque")
    return motions


def solutions(motion: runs.Motion) -> Iterator[Solution]:
    """Run a motion until its end or its fall, and yield the solution of every step."""
    setup = motion.build(motion.load())
    for step in steps(setup.controller, setup.plant, motion.seconds or setup.seconds):
        if step.command.solution is not None:
            yield step.command.solution
        if setup.plant.fallen:
            return


def save_sequence(path: Path, programs: list[Program]) -> None:
    """Save programs of one shape as a sequence that `recorded_workloads` reads."""
    first = programs[0]
    arrays = {
        "A": [program.A for program in programs],
        "lb": [program.lower for program in programs],
        "ub": [program.upper for program in programs],
        "weight": [program.weight for program in programs],
        "damping": [program.damping for program in programs],
        "singularity_damping": [program.singularity_damping for program in programs],
        "center": [program.center for program in programs],
    }
    level = np.repeat(np.arange(len(first)), np.diff(first.level_begin))
    stacked: dict[str, Any] = {name: np.array(values) for name, values in arrays.items()}
    np.savez_compressed(path, lev=level, **stacked)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="folder of the files, created if it does not exist")
    parser.add_argument("--runs", default="", help="only runs whose names begin so")
    parser.add_argument("--hardest", type=int, metavar="N", help="only N steps around the one with most iterations")
    parser.add_argument("--count", action="store_true", help="write no files")
    parser.add_argument(
        "--cold", type=int, metavar="N", help="also solve every Nth program from a cold start, and compare"
    )
    options = parser.parse_args()
    if options.out is None and not options.count:
        parser.error("no folder given; give --out FOLDER, or --count for the table alone")
    if options.out is not None:
        options.out.mkdir(parents=True, exist_ok=True)
    totals: list[int] = []
    compared = differing = 0
    print("| run | programs | iterations: median | 99.9 % | largest | above 80 |")
    print("|---|---|---|---|---|---|", flush=True)
    for name, motion in recorded_motions().items():
        if not name.startswith(options.runs):
            continue
        solved = list(solutions(motion))
        iterations = [solution.iterations for solution in solved]
        totals += iterations
        if options.cold:
            differences = [cold_difference(solution) for solution in solved[:: options.cold]]
            compared, differing = compared + len(differences), differing + sum(d > SAME for d in differences)
        print(table_line(name, iterations), flush=True)
        if options.out is None:
            continue
        begin, end = 0, len(solved)
        if options.hardest:
            begin = max(int(np.argmax(iterations)) - options.hardest // 2, 0)
            end = begin + options.hardest
        shapes = itertools.groupby(
            (solution.program for solution in solved[begin:end]), lambda program: program.A.shape
        )
        for part, (_, programs) in enumerate(shapes):
            save_sequence(options.out / f"{name}_{part}.npz", list(programs))
    print(table_line("all", totals))
    most, largest = np.quantile(totals, 0.999), max(totals)
    print(f"bars: at most {BARS[0]} in 99.9 %: {most:.0f}; at most {BARS[1]} always: {largest}")
    if compared:
        print(f"bar: the same from a cold start: {differing} of {compared} differ by more than {SAME:g}")
    return 0


def cold_difference(solution: Solution) -> float:
    """Return the difference to the solution from a cold start, relative to the largest unknown."""
    cold = Lexicographic().solve(solution.program).x
    return float(np.abs(solution.x - cold).max() / (1.0 + np.abs(cold).max()))


def table_line(name: str, iterations: list[int]) -> str:
    counts = np.array(iterations)
    figures = (len(counts), f"{np.median(counts):.0f}", f"{np.quantile(counts, 0.999):.0f}", counts.max())
    return f"| {name} | {' | '.join(map(str, figures))} | {(counts > 80).sum()} |"


if __name__ == "__main__":
    raise SystemExit(main())
