"""What several commands share: numbers from words, lines on standard error."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TypeVar

from poise import parsing as words
from poise.errors import PoiseError, UsageError
from poise.files import writable_path

Meaning = TypeVar("Meaning")


def argument_type(reader: Callable[[str], Meaning]) -> Callable[[str], Meaning]:
    """A reader for argparse, whose errors name the option."""

    @wraps(reader)
    def read(text: str) -> Meaning:
        try:
            return reader(text)
        except PoiseError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return read


count, whole, seconds, setting = (
    argument_type(words.count),
    argument_type(words.whole),
    argument_type(words.seconds),
    argument_type(words.setting),
)
positive, amount, percent, speed = (
    argument_type(words.positive),
    argument_type(words.amount),
    argument_type(words.percent),
    argument_type(words.speed),
)


@argument_type
def push(text: str) -> str:
    """A push, looked at before anything starts."""
    from poise.plants import Push

    Push.parsed(text)
    return text


@argument_type
def breakdown(text: str) -> str:
    """A breakdown, likewise."""
    from poise.plants import Breakdown

    Breakdown.parsed(text)
    return text


@argument_type
def ground(text: str) -> str:
    """A terrain, likewise."""
    from poise.plants import terrain

    terrain(text)
    return text


def check_writable(path: Path | None, example: str = "motion.poise") -> None:
    """Looked at before anything starts: whether a recording can be written there."""
    if path is None:
        return
    writable_path(path, UsageError, "--out", example)
    if path.suffix != ".poise":
        say(f"poise: note: '{path}' does not end in .poise")


def say_kept(interrupt: KeyboardInterrupt, path: Path | None) -> None:
    """What an interruption leaves in a file."""
    from poise.recording import RecordingInterrupted

    if isinstance(interrupt, RecordingInterrupted) and path is not None:
        say(f"poise: interrupted; the first {interrupt.recording.duration:.2f} s are in '{path}'")


def say(message: str) -> None:
    """One line for who waits."""
    print(message, file=sys.stderr, flush=True)
