"""Compare the speed of strict priorities with other solvers, interleaved over recorded and generated programs.

    python -m benchmarks.solvers                     # as `make bench`: a few minutes
    python -m benchmarks.solvers --repeat 20         # more passes, less noise
    python -m benchmarks.solvers --json run.json     # also write the figures as JSON

The table shows ratios to one weighted quadratic program with daqp; benchmarks/README.md explains it.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Sequence

from benchmarks.solvers import measurement
from benchmarks.solvers.results import format_table, save_results
from poise.errors import PoiseError


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        "python -m benchmarks.solvers", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    measurement.add_options(parser)
    options = parser.parse_args(arguments)
    try:
        with contextlib.redirect_stdout(sys.stderr):  # standard output is for the table
            result = measurement.run(options.data, options.repeat, progress=print)
        save_results(result, options.json, options.baseline)
    except (PoiseError, OSError) as error:
        parser.error(" ".join(str(error).split()))
    except KeyboardInterrupt:
        return 130
    print(format_table(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
