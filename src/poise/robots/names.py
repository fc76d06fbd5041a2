"""Names that are not there, and those that may have been meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from poise.errors import RobotError


def near_misses(name: str, known: Iterable[str]) -> tuple[str, ...]:
    """Up to three of the known names that resemble a name, the closest first; letter case does not count."""
    folded: dict[str, str] = {}
    for word in known:
        folded.setdefault(word.lower(), word)
    return tuple(folded[match] for match in get_close_matches(name.lower(), folded, n=3, cutoff=0.6))


def unknown(what: str, name: object, known: Iterable[str], file: str = "", advice: str = "") -> RobotError:
    """The error for a name that does not exist: ``what`` says whose and which kind, e.g. "g1 has no joint".

    The message offers the near misses; without any it lists what exists, if that is short, or gives the advice.
    """
    known = list(known)
    near = near_misses(str(name), known)
    if near:
        hint = f"did you mean {' or '.join(repr(word) for word in near)}?"
    elif advice:
        hint = advice
    elif known:
        hint = "there are " + ", ".join(known[:20]) + (", ..." if len(known) > 20 else "")
    else:
        hint = "there are none"
    prefix = f"{file}: " if file else ""
    return RobotError(f"{prefix}{what} {name!r}; {hint}", file=file, element=str(name), near=near)
