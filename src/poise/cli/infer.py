"""Command ``poise infer``: the stack of tasks behind a recorded motion."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from poise.cli.options import check_writable, load_motion, print_status
from poise.recording import ProgressBar

#: Share of a motion that a stack must explain; below, the command fails.
MIN_EXPLAINED = 0.5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``poise infer`` to a parser."""
    parser.add_argument(
        "motion", type=Path, metavar="MOTION", help="a .poise recording, or a .c3d, .trc or .bvh file of a person"
    )
    parser.add_argument("--out", type=Path, metavar="FILE.toml", help="write the stack to this file")
    parser.add_argument("--robot", metavar="NAME|FILE", help="robot that moved (default: named in the recording)")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    parser.set_defaults(action=_infer)


def _infer(options: argparse.Namespace) -> int:
    check_writable(options.out, (".toml",))
    from dataclasses import replace

    from poise.inference import infer  # imported late so that other commands start fast

    recording, robot = load_motion(options.motion, options.robot)
    bar = ProgressBar("stack of tasks", float(recording.time[-1]) if recording.samples else 0.0)
    try:
        stack = infer(recording, robot, bar)
    finally:
        bar.close()
    stack = replace(stack, source=str(options.motion))
    if options.out is not None:
        stack.save(options.out)
    if options.json:
        print(json.dumps(stack.summary()))
    else:
        print(stack)
        if options.out is not None:
            print(f"written to {options.out}")
    if stack.explained < MIN_EXPLAINED:
        print_status(
            f"poise: the stack explains {stack.explained:.0%} of the motion (expected {MIN_EXPLAINED:.0%} or more): "
            "the motion follows moving targets, limits or tasks that are not among the candidates"
        )
        return 1
    return 0
