"""Argument types, output checks and status messages shared by the commands."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TypeVar

from poise import parsing
from poise.errors import PoiseError, UsageError
from poise.files import writable_path

Parsed = TypeVar("Parsed")


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
def fault_argument(text: str) -> str:
    """Check the text of a hardware fault and return it unchanged."""
    from poise.plants import HardwareFault

    HardwareFault.parse(text)
    return text


@argument_type
def terrain_argument(text: str) -> str:
    """Check the text of a terrain and return it unchanged."""
    from poise.plants import parse_terrain

    parse_terrain(text)
    return text


def check_writable(path: Path | None, example: str = "motion.poise") -> None:
    """Raise `UsageError` if a recording cannot be written to this path; note an unusual suffix.

    Args:
        path: file to write; None: nothing to check.
        example: file name that the error message suggests.
    """
    if path is None:
        return
    writable_path(path, UsageError, "--out", example)
    if path.suffix != ".poise":
        print_status(f"poise: note: '{path}' does not end in .poise")


def report_interruption(interrupt: KeyboardInterrupt, path: Path | None) -> None:
    """Print how much was recorded to a file before an interruption."""
    from poise.recording import RecordingInterrupted

    if isinstance(interrupt, RecordingInterrupted) and path is not None:
        print_status(f"poise: interrupted; the first {interrupt.recording.duration:.2f} s are in '{path}'")


def print_status(message: str) -> None:
    """Print one line on standard error."""
    print(message, file=sys.stderr, flush=True)
