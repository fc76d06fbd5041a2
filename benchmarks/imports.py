"""Measure import times of Poise, its solvers and its help against numpy and pinocchio, in one interleaved run.

    python benchmarks/imports.py              # half a minute
    python benchmarks/imports.py --json

Each program runs in its own process, in turns with the others. The result is the smallest processor time of each, since
other load on the machine only adds time. Compare ratios; times depend on the machine. The bars:

| program | at most |
|---|---|
| `import poise` | 1.5 times `import numpy, pinocchio` |
| `poise --help` | 3.5 times `import numpy` |
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
from typing import NamedTuple

NUMPY, BASE = "import numpy", "import numpy, pinocchio"


class ImportProgram(NamedTuple):
    """A program to measure, the program that it is compared with, and the largest ratio allowed (None: no bar)."""

    text: str
    reference: str
    max_ratio: float | None = None


PROGRAMS = {
    "python": ImportProgram("pass", NUMPY),
    NUMPY: ImportProgram(NUMPY, NUMPY),
    BASE: ImportProgram(BASE, BASE),
    "import poise": ImportProgram("import poise", BASE, 1.5),
    "from poise import *": ImportProgram("from poise import *", BASE),
    "import poise.solvers": ImportProgram("import poise.solvers", NUMPY),
    "import poise.studio": ImportProgram("import poise.studio", BASE),
    "poise --help": ImportProgram("import sys; from poise.cli import main; main(['--help'])", NUMPY, 3.5),
    "poise run --help": ImportProgram("import sys; from poise.cli import main; main(['run', '--help'])", BASE),
}


def processor_seconds(program: str) -> float:
    """Return user and system time of a Python process, from its start to its end (s)."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    # Bytecode is cached, as for an installed package.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run([sys.executable, "-c", program], env=environment, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(repeat: int) -> dict[str, float]:
    """Return the smallest processor time of each program (s); the first run, which writes bytecode, is discarded."""
    seconds: dict[str, list[float]] = {name: [] for name in PROGRAMS}
    for _ in range(repeat + 1):
        for name, program in PROGRAMS.items():
            seconds[name].append(processor_seconds(program.text))
    return {name: min(times[1:]) for name, times in seconds.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repeat", type=int, default=7, metavar="N", help="runs of each program (default 7)")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    options = parser.parse_args()
    seconds = measure(max(options.repeat, 1))
    ratios = {name: seconds[name] / seconds[program.reference] for name, program in PROGRAMS.items()}
    if options.json:
        print(json.dumps({name: {"seconds": seconds[name], "ratio": ratios[name]} for name in PROGRAMS}))
    else:
        print("| program | processor time, s | ratio | to | at most |\n|---|---|---|---|---|")
        for name, program in PROGRAMS.items():
            max_ratio = "" if program.max_ratio is None else f"{program.max_ratio:g}"
            print(f"| `{name}` | {seconds[name]:.3f} | {ratios[name]:.2f} | `{program.reference}` | {max_ratio} |")
    too_slow = [
        name for name, program in PROGRAMS.items() if program.max_ratio is not None and ratios[name] > program.max_ratio
    ]
    for name in too_slow:
        print(f"'{name}' exceeds its bar", file=sys.stderr)
    return 1 if too_slow else 0


if __name__ == "__main__":
    sys.exit(main())
