"""Check of fuzzed calls to the public interface: each must return a result or raise a clear one-line `PoiseError`."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import poise.errors
from poise.errors import PoiseError

#: Smallest number of words of a useful message, and largest number of characters of a readable one.
MIN_MESSAGE_WORDS, MAX_MESSAGE_LENGTH = 4, 1500

PACKAGE = Path(poise.errors.__file__).parent


class CallOutcome(NamedTuple):
    """Outcome of a checked call.

    Attributes:
        has_result: whether the call returned.
        message: message of the error, if it did not return.
        fault: description of a wrong outcome, such as an exception of another type or an unclear message; "" if none.
    """

    has_result: bool
    message: str
    fault: str


def check_call(call: Callable[[], Any]) -> CallOutcome:
    """Call a function; any outcome except a result or a clear one-line `PoiseError` is a fault."""
    try:
        call()
    except PoiseError as error:
        return CallOutcome(False, str(error), _message_fault(str(error), type(error).__name__))
    except MemoryError:
        raise  # handled by the campaign, which sets the memory limit
    except Exception as error:
        return CallOutcome(
            False, str(error), f"{type(error).__name__} in {innermost_location(error)}: {shorten(str(error))}"
        )
    return CallOutcome(True, "", "")


def innermost_location(error: BaseException) -> str:
    """Return the innermost location in the package that an error passed through, like ``robots/urdf.py:35``."""
    locations = [
        f"{Path(frame.filename).relative_to(PACKAGE).as_posix()}:{frame.lineno}"
        for frame in traceback.extract_tb(error.__traceback__)
        if Path(frame.filename).is_relative_to(PACKAGE) and "campaign/kinds/fuzz" not in frame.filename
    ]
    return locations[-1] if locations else "no file of Poise"


def shorten(text: str, max_length: int = 160) -> str:
    """Return a text as one line, cut to a largest number of characters."""
    line = " ".join(text.split())
    return line if len(line) <= max_length else line[: max_length - 3] + "..."


def _message_fault(message: str, kind: str) -> str:
    """Return the fault of an error message: several lines, control characters, too short or too long; "" if none."""
    if len(message.splitlines()) > 1 or message != message.strip():
        return f"{kind} of more than one line: {shorten(message)}"
    if any(ord(letter) < 32 or ord(letter) == 127 for letter in message):
        return f"{kind} with control characters: {shorten(repr(message))}"
    if len(message.split()) < MIN_MESSAGE_WORDS:
        return f"{kind} that says too little: {shorten(message)!r}"
    if len(message) > MAX_MESSAGE_LENGTH:
        return f"{kind} of {len(message)} characters: {shorten(message)}"
    return ""
