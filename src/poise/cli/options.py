"""Argument types, output checks and status messages shared by the commands."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from poise import parsing
from poise.errors import PoiseError, UsageError
from poise.files import writable_path

if TYPE_CHECKING:
    from poise.recording import Recording
    from poise.robots import Robot

Parsed = TypeVar("Parsed")


#: Suffixes of HTML pages.
PAGE_SUFFIXES = (".html", ".htm")


def argument_type(parser: Callable[[str], Parsed]) -> Callable[[str], Parsed]:
    """Convert a parser of texts to an argparse type, so that errors name the option."""

    @wraps(parser)
    def read(text: str) -> Parsed:
        try:
            return parser(text)
        except PoiseError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return read


count_argument, integer_argument, seconds_argument, setting_argument = (
    argument_type(parsing.parse_count),
    argument_type(parsing.parse_integer),
    argument_type(parsing.parse_seconds),
    argument_type(parsing.parse_setting),
)
positive_argument, amount_argument, percent_argument, speed_argument = (
    argument_type(parsing.parse_positive),
    argument_type(parsing.parse_nonnegative),
    argument_type(parsing.parse_percent),
    argument_type(parsing.parse_speed),
)


@argument_type
def push_argument(text: str) -> str:
    """Check the text of a push and return it unchanged."""
    from poise.plants import Push

    Push.parse(text)
    return text


@argument_type
def terrain_argument(text: str) -> str:
    """Check the text of a terrain and return it unchanged."""
    from poise.plants import parse_terrain

    parse_terrain(text)
    return text


def check_writable(path: Path | None, suffixes: Sequence[str] = (".poise",), option: str = "--out") -> None:
    """Raise `UsageError` if a file cannot be written to this path, or if it has another suffix.

    Call it before any work starts.

    Args:
        path: file to write; None: nothing to check.
        suffixes: suffixes of its format, the usual one first.
        option: option that gives the path.
    """
    if path is not None:
        writable_path(path, UsageError, option, f"motion{suffixes[0]}", suffixes)


def add_output_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of commands that run and record a motion: where to record it, and what to print."""
    parser.add_argument("--out", type=Path, metavar="FILE.poise", help="record to this file")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a summary")
    parser.add_argument(
        "--verbose", action="store_true", help="also print errors by level and task, limits and computing times"
    )


def result_text(recording: Recording, result: dict[str, Any], path: Path | None, verbose: bool) -> str:
    """Return the text about a run: its verdict first, figures, warnings, and the written file in the last line."""
    from poise.runs import summarize_run

    summary = summarize_run(result)
    width = max((len(name) for name, _ in summary.figures), default=0)
    lines = [
        summary.verdict,
        summary.motion,
        *(f"  {name:<{width}}  {text}" for name, text in summary.figures),
        *(f"warning: {warning}" for warning in summary.warnings),
    ]
    if verbose:
        lines += ["", recording.summary()]
    if path is not None:
        lines.append(f"written to {path}")
    return "\n".join(lines)


def report_interruption(interrupt: KeyboardInterrupt, path: Path | None) -> None:
    """Print how much was recorded to a file before an interruption."""
    from poise.recording import RecordingInterrupted

    if isinstance(interrupt, RecordingInterrupted) and path is not None:
        print_status(f"poise: interrupted; the first {interrupt.recording.duration:.2f} s are in '{path}'")


def print_status(message: str) -> None:
    """Print one line on standard error."""
    print(message, file=sys.stderr, flush=True)


def load_motion(path: Path, robot_name: str | None) -> tuple[Recording, Robot]:
    """Return a recorded motion and its robot: a .poise file, or the body fitted to a .c3d, .trc or .bvh file.

    Raises:
        UsageError: the file is of another kind, or its robot is not known.
    """
    from poise.recording import load_recording, robot_from_provenance
    from poise.robots import load_robot

    if path.suffix.lower() == ".poise":
        recording = load_recording(path)
        robot = robot_from_provenance(recording.provenance) if robot_name is None else load_robot(robot_name)
        if isinstance(robot, str):
            raise UsageError(f"the robot of '{path}' cannot be loaded: {robot}; give --robot")
        return recording, robot
    if path.suffix.lower() not in (".c3d", ".trc", ".bvh"):
        raise UsageError(f"'{path}' is not a motion; expected a .poise, .c3d, .trc or .bvh file")
    if robot_name is not None:
        raise UsageError(f"'{path}' is of a person, whose body is fitted to it; leave out --robot")
    from poise.human import fit_trial

    fit = fit_trial(path).bridged()  # posture in every frame, also where markers are missing
    return fit.recording(), fit.robot
