"""Compare whole control steps of Poise with pink, mink, placo and TSID, and solvers alone, in interleaved runs.

    python -m benchmarks.peers                          # as `make bench-peers`: some ten minutes
    python -m benchmarks.peers --steps-only             # without the solvers
    python -m benchmarks.peers opensim [TRIAL ...]      # only OpenSim, on recorded walks or the synthetic sample
    python -m benchmarks.peers --json run.json          # also write the figures as JSON

Each peer runs in its own virtual environment, which is built from wheels on first use; a peer that cannot be installed
is skipped with the reason. benchmarks/README.md describes what is measured, and how.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.peers import biomechanics, dynamics, kinematics
from benchmarks.solvers import measurement, results
from benchmarks.solvers.workloads import Workload
from poise.errors import PoiseError


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        "python -m benchmarks.peers", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    measurement.add_options(parser)
    parser.add_argument("only", nargs="?", choices=("opensim",), help="compare only with OpenSim")
    parser.add_argument("trials", nargs="*", type=Path, metavar="TRIAL", help="walks for OpenSim (default: the sample)")
    parser.add_argument("--steps-only", action="store_true", help="measure whole control steps without the solvers")
    parser.add_argument(
        "--rounds",
        type=measurement.parse_count,
        metavar="N",
        help=f"rounds of 100 steps (default {kinematics.ROUNDS} of kinematics, {dynamics.ROUNDS} of dynamics)",
    )
    options = parser.parse_args(arguments)
    try:
        with contextlib.redirect_stdout(sys.stderr):  # standard output is for the tables
            if options.only:
                people = biomechanics.run(options.trials, progress=print)
                if options.json is not None:
                    options.json.write_text(json.dumps(people, indent=1), encoding="utf-8")
                print(biomechanics.table(people), file=sys.__stdout__)
                return 0
            workloads: list[Workload] | None = [] if options.steps_only else None
            solvers = measurement.run(options.data, options.repeat, progress=print, workloads=workloads)
            result = {
                **solvers,
                "peers": run(options.rounds, progress=print),
                "people": biomechanics.run(progress=print),
            }
        results.save_results(result, options.json, options.baseline)
    except (PoiseError, OSError) as error:
        parser.error(" ".join(str(error).split()))
    except KeyboardInterrupt:
        return 130
    print(table(result), "", biomechanics.table(result["people"]), sep="\n")
    return 0


def run(rounds: int | None = None, progress: Callable[[str], None] = lambda message: None) -> dict[str, Any]:
    """Measure whole steps of inverse kinematics, then of inverse dynamics.

    Args:
        rounds: number of rounds of each; None: the constants ROUNDS of `kinematics` and `dynamics`.
        progress: called with a one-line message before each stage.

    Returns:
        The result of `kinematics.run`, with that of `dynamics.run` under ``dynamics``.
    """
    kinematics_result = kinematics.run(rounds or kinematics.ROUNDS, progress)
    return {**kinematics_result, "dynamics": dynamics.run(rounds=rounds or dynamics.ROUNDS, progress=progress)}


def table(result: Mapping[str, Any]) -> str:
    """Return the tables of solvers (if measured), kinematics and dynamics, one below the other."""
    solvers = [results.format_table(result)] if result["workloads"] else []
    return "\n\n".join([*solvers, kinematics.table(result["peers"]), dynamics.table(result["peers"]["dynamics"])])


if __name__ == "__main__":
    sys.exit(main())
