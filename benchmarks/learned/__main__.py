"""Compare Poise with learned walking policies of the G1 on the same simulated tests: one table of one run.

    python -m benchmarks.learned                       # short sizes: some twenty minutes
    python -m benchmarks.learned --full                # 8 directions, 5 phases, 5 seeds: hours
    python -m benchmarks.learned --tests disturbances  # speeds, measures, disturbances, pushes
    python -m benchmarks.learned --walkers Poise       # without the policies

The policies are those of the package holosoma-inference. They run in a virtual environment in the user's cache, which
is built from wheels on first use; if that is not possible they are left out with the reason. What is compared, and what
not, is in benchmarks/README.md.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from benchmarks.learned import trials
from benchmarks.learned.walkers import ENVIRONMENT, POLICIES, PoiseWalker, PolicyWalker, Walker
from benchmarks.peers.processes import PeerError, Worker, cache_folder
from poise.errors import PoiseError
from poise.robots import load_robot

TESTS = ("speeds", "measures", "disturbances", "pushes")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        "python -m benchmarks.learned", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--full", action="store_true", help="all directions, phases and seeds")
    parser.add_argument("--tests", nargs="+", choices=TESTS, default=TESTS, metavar="TEST", help=", ".join(TESTS))
    names = ("Poise", *POLICIES)
    parser.add_argument("--walkers", nargs="+", choices=names, default=names, metavar="NAME", help=", ".join(names))
    options = parser.parse_args(arguments)
    try:
        robot = load_robot("g1")
        with ExitStack() as stack:
            walkers: list[Walker] = [PoiseWalker()] if "Poise" in options.walkers else []
            walkers += start_policies([name for name in POLICIES if name in options.walkers], stack)
            columns = {walker.name: run(walker, robot, options.tests, options.full) for walker in walkers}
    except (PoiseError, OSError) as error:
        parser.error(" ".join(str(error).split()))
    except KeyboardInterrupt:
        return 130
    print(table(columns))
    return 0


def start_policies(names: Sequence[str], stack: ExitStack) -> list[Walker]:
    """Start policies, whose processes end with the stack; those that cannot start are reported and left out."""
    walkers: list[Walker] = []
    for name in names:
        try:
            python = ENVIRONMENT.python(cache_folder(), report)
            script = Path(__file__).parent / "workers" / "onnx_policy.py"
            walkers.append(PolicyWalker(stack.enter_context(Worker(name, [python, script, POLICIES[name]]))))
        except PeerError as error:
            report(f"left out: {name} ({error})")
    return walkers


def run(walker: Walker, robot: trials.Robot, tests: Sequence[str], full: bool) -> dict[str, str]:
    """Return the results of a walker by the name of the test."""
    size = trials.FULL if full else trials.SHORT
    rows: dict[str, str] = {}
    if "speeds" in tests:
        rows |= trials.speed_tests(walker, robot, report)
    if "measures" in tests:
        rows |= trials.measures(walker, robot, report)
    if "disturbances" in tests:
        rows |= trials.disturbance_tests(walker, robot, size, report)
    if "pushes" in tests:
        rows |= trials.push_tests(walker, robot, size, report)
    return rows


def table(columns: dict[str, dict[str, str]]) -> str:
    """Return a Markdown table: one row per test, one column per walker."""
    names = list(dict.fromkeys(name for column in columns.values() for name in column))
    lines = ["| | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
    lines += [
        "| " + " | ".join([name, *(column.get(name, "") for column in columns.values())]) + " |" for name in names
    ]
    return "\n".join(lines)


def report(message: str) -> None:
    """Print a message about the progress."""
    print(message, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
