"""Whole control steps of Poise beside pink, mink, placo and TSID, after the solvers alone, in interleaved runs.

    python -m benchmarks.peers                          # what `make bench-peers` runs: some ten minutes
    python -m benchmarks.peers --steps-only             # without the solvers
    python -m benchmarks.peers --json run.json          # the figures as JSON, too

Each peer runs in a virtual environment of its own, which is built from wheels when it is first needed; a peer that
cannot be installed is left out, with the reason. benchmarks/README.md says what is measured, and how.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from benchmarks.peers import dynamics, kinematics
from benchmarks.solvers import measurement, results
from benchmarks.solvers.workloads import Workload
from poise.errors import PoiseError


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        "python -m benchmarks.peers", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    measurement.add_options(parser)
    parser.add_argument("--steps-only", action="store_true", help="measure whole control steps without the solvers")
    parser.add_argument(
        "--rounds",
        type=measurement.parse_count,
        metavar="N",
        help=f"rounds of 100 steps (default {kinematics.ROUNDS} of kinematics, {dynamics.ROUNDS} of dynamics)",
    )
    options = parser.parse_args(arguments)
    try:
        with contextlib.redirect_stdout(sys.stderr):  # standard output holds the tables alone
            workloads: list[Workload] | None = [] if options.steps_only else None
            solvers = measurement.run(options.data, options.repeat, progress=print, workloads=workloads)
            result = {**solvers, "peers": run(options.rounds, progress=print)}
        results.save_results(result, options.json, options.baseline)
    except (PoiseError, OSError) as error:
        parser.error(" ".join(str(error).split()))
    except KeyboardInterrupt:
        return 130
    print(table(result))
    return 0


def run(rounds: int | None = None, progress: Callable[[str], None] = lambda message: None) -> dict[str, Any]:
    """Whole steps of inverse kinematics, then of inverse dynamics.

    Args:
        rounds: number of rounds of each; None: ROUNDS of `kinematics` and of `dynamics`.
        progress: called with one line about what happens next.

    Returns:
        What `kinematics.run` returns, and under ``dynamics`` what `dynamics.run` does.
    """
    of_kinematics = kinematics.run(rounds or kinematics.ROUNDS, progress)
    return {**of_kinematics, "dynamics": dynamics.run(rounds=rounds or dynamics.ROUNDS, progress=progress)}


def table(result: Mapping[str, Any]) -> str:
    """The tables of solvers, kinematics and dynamics, one below the other; of the solvers if they were measured."""
    solvers = [results.format_table(result)] if result["workloads"] else []
    return "\n\n".join([*solvers, kinematics.table(result["peers"]), dynamics.table(result["peers"]["dynamics"])])


if __name__ == "__main__":
    sys.exit(main())
