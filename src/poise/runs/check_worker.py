"""Worker process of `poise.runs.WalkChecker`: ``python -m poise.runs.check_worker``.

It reads pickled pairs (function, walk) from standard input and writes pickled answers to standard output, until
standard input closes: it does not outlive the program that started it.
"""

from __future__ import annotations

import os
import pickle
import sys
from contextlib import suppress

from poise.errors import PoiseError
from poise.plans import FeasibilityCheck, StyleRepair
from poise.runs.walk_check import check_walk

#: Niceness of the process, 0 to 19: the simulation that a user watches has priority.
NICENESS = 10


def main() -> int:
    """Answer requests until standard input closes."""
    with suppress(OSError, AttributeError):
        os.nice(NICENESS)
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print must not mix with the answers
    with suppress(EOFError, KeyboardInterrupt, BrokenPipeError):
        while True:
            function, motion = pickle.load(requests)
            try:
                answer = function(motion)
            except PoiseError as error:
                answer = FeasibilityCheck(-1.0, 0.0, str(error), True)
                if function is not check_walk:
                    answer = StyleRepair(motion.resolved_style(), motion.speed, answer, ())
            pickle.dump(answer, answers)
            answers.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
