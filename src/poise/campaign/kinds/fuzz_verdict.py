"""What may come of a call at the edge of Poise: a result, or one clear line."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import poise.errors
from poise.errors import PoiseError

#: Fewest words of a message that says what was given and what to do, and most letters that anybody reads.
FEWEST, LONGEST = 4, 1500

PACKAGE = Path(poise.errors.__file__).parent


class Verdict(NamedTuple):
    """How a call went.

    Attributes:
        result: whether there was one.
        message: of the error, if there was none.
        fault: what is wrong with the way it went; "" if nothing is.
    """

    result: bool
    message: str
    fault: str


def judged(call: Callable[[], Any]) -> Verdict:
    """Calls, and says how it went: a result and a PoiseError of one clear line are fine, all else is a fault."""
    try:
        call()
    except PoiseError as error:
        return Verdict(False, str(error), _unclear(str(error), type(error).__name__))
    except MemoryError:
        raise  # for the campaign, which sets the limit
    except Exception as error:
        return Verdict(False, str(error), f"{type(error).__name__} in {innermost(error)}: {brief(str(error))}")
    return Verdict(True, "", "")


def innermost(error: BaseException) -> str:
    """The last place inside the package that an error came through: ``robots/urdf.py:35``."""
    places = [
        f"{Path(frame.filename).relative_to(PACKAGE).as_posix()}:{frame.lineno}"
        for frame in traceback.extract_tb(error.__traceback__)
        if Path(frame.filename).is_relative_to(PACKAGE) and "campaign/kinds/fuzz" not in frame.filename
    ]
    return places[-1] if places else "no file of ours"


def brief(text: str, letters: int = 160) -> str:
    """A text in one line of so many letters at most."""
    line = " ".join(text.split())
    return line if len(line) <= letters else line[: letters - 3] + "..."


def _unclear(message: str, kind: str) -> str:
    """What is wrong with the message of an error, "" if nothing is."""
    if len(message.splitlines()) > 1 or message != message.strip():
        return f"{kind} of more than one line: {brief(message)}"
    if any(ord(letter) < 32 or ord(letter) == 127 for letter in message):
        return f"{kind} with letters that no terminal shows: {brief(repr(message))}"
    if len(message.split()) < FEWEST:
        return f"{kind} that says too little: {brief(message)!r}"
    if len(message) > LONGEST:
        return f"{kind} of {len(message)} letters: {brief(message)}"
    return ""
