"""What may come of a call at the edge of Poise: a result, or one clear line."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import poise.errors
from poise.errors import PoiseError

#: Fewest words of a message that says what was given and what to do, and most letters that anybody reads.
MIN_MESSAGE_WORDS, MAX_MESSAGE_LENGTH = 4, 1500

PACKAGE = Path(poise.errors.__file__).parent


class CallOutcome(NamedTuple):
    """How a call went.

    Attributes:
        result: whether there was one.
        message: of the error, if there was none.
        fault: what is wrong with the way it went; "" if nothing is.
    """

    has_result: bool
    message: str
    fault: str


def check_call(call: Callable[[], Any]) -> CallOutcome:
    """Calls, and says how it went: a result and a PoiseError of one clear line are fine, all else is a fault."""
    try:
        call()
    except PoiseError as error:
        return CallOutcome(False, str(error), _message_fault(str(error), type(error).__name__))
    except MemoryError:
        raise  # for the campaign, which sets the limit
    except Exception as error:
        return CallOutcome(
            False, str(error), f"{type(error).__name__} in {innermost_location(error)}: {shorten(str(error))}"
        )
    return CallOutcome(True, "", "")


def innermost_location(error: BaseException) -> str:
    """The last place inside the package that an error came through: ``robots/urdf.py:35``."""
    locations = [
        f"{Path(frame.filename).relative_to(PACKAGE).as_posix()}:{frame.lineno}"
        for frame in traceback.extract_tb(error.__traceback__)
        if Path(frame.filename).is_relative_to(PACKAGE) and "campaign/kinds/fuzz" not in frame.filename
    ]
    return locations[-1] if locations else "no file of ours"


def shorten(text: str, max_length: int = 160) -> str:
    """A text in one line of so many letters at most."""
    line = " ".join(text.split())
    return line if len(line) <= max_length else line[: max_length - 3] + "..."


def _message_fault(message: str, kind: str) -> str:
    """What is wrong with the message of an error, "" if nothing is."""
    if len(message.splitlines()) > 1 or message != message.strip():
        return f"{kind} of more than one line: {shorten(message)}"
    if any(ord(letter) < 32 or ord(letter) == 127 for letter in message):
        return f"{kind} with letters that no terminal shows: {shorten(repr(message))}"
    if len(message.split()) < MIN_MESSAGE_WORDS:
        return f"{kind} that says too little: {shorten(message)!r}"
    if len(message) > MAX_MESSAGE_LENGTH:
        return f"{kind} of {len(message)} letters: {shorten(message)}"
    return ""
