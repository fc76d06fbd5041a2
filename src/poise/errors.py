"""Errors that Poise raises on purpose, and suggestions for misspelt names.

The message of every error is one line: what was given, what was expected and what to do. Most errors also carry the
file, element or name at fault as attributes. Errors are raised when objects are built; the control loop never raises.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches

#: Line breaks and control characters, which a name from a damaged file may contain.
_LINE_BREAKS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
#: Longest message, in characters; the repr of a given value may be a megabyte long.
_MAX_LENGTH = 1200


class PoiseError(Exception):
    """Base class of all errors that Poise raises on purpose.

    The message is reduced to one line of limited length, whatever value was given and quoted in it.
    """

    def __init__(self, message: str = "") -> None:
        super().__init__(_one_line(str(message)))


class RowsError(PoiseError, ValueError):
    """Invalid Rows or Program: wrong shapes, NaN, crossed bounds.

    Attributes:
        rows: name of the invalid block of rows (``""`` if it has none).
        indices: indices of the invalid rows inside the block; empty if the whole block is invalid.
    """

    def __init__(self, message: str, rows: str = "", indices: tuple[int, ...] = ()) -> None:
        super().__init__(message)
        self.rows = rows
        self.indices = indices


class SolverError(PoiseError, ValueError):
    """Invalid settings of a solver, or a program that the solver does not support."""


class RobotError(PoiseError, ValueError):
    """A robot description that cannot be loaded, or a part that the robot does not have.

    Attributes:
        file: the invalid file (``""`` if there is none).
        element: the invalid link, joint, frame, key or name inside it (``""`` for the whole file).
        near: existing names similar to the requested one, the closest first.
    """

    def __init__(self, message: str, *, file: str = "", element: str = "", near: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.file = file
        self.element = element
        self.near = near


class StateError(PoiseError, ValueError):
    """Invalid state of a robot: wrong sizes, NaN, a quaternion that is not of unit length.

    Attributes:
        robot: name of the robot.
        element: the invalid part of the state: ``"q"``, ``"v"``, ``"time"``, ``"contacts"``, or the name of a contact.
    """

    def __init__(self, message: str, *, robot: str = "", element: str = "") -> None:
        super().__init__(message)
        self.robot = robot
        self.element = element


class TaskError(PoiseError, ValueError):
    """Invalid arguments of a task or constraint: a target of the wrong size, crossed bounds, an unknown axis.

    Attributes:
        task: name of the task or constraint.
    """

    def __init__(self, message: str, task: str = "") -> None:
        super().__init__(message)
        self.task = task


class HierarchyError(PoiseError, ValueError):
    """Invalid hierarchy: a level name used twice, tasks of different robots, no task at all."""


class UsageError(PoiseError):
    """Invalid command-line argument or setting; the command exits with status 2."""


class RecordingError(PoiseError, ValueError):
    """A recording that cannot be read, written or made, or that lacks the requested channel.

    Attributes:
        path: the invalid file (``""`` if there is none).
        near: existing channels with a name similar to the requested one, the closest first.
    """

    def __init__(self, message: str, *, path: str = "", near: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.path = path
        self.near = near


class ChannelError(RecordingError, KeyError):
    """A channel that a recording does not have: also a `KeyError`, as for any mapping."""

    __str__ = Exception.__str__  # that of KeyError would put the message in quotes


class MissingPackageError(PoiseError, ImportError):
    """A package that is not installed; the message gives the command that installs it.

    Attributes:
        package: name of the distribution, as pip knows it.
        extra: extra of Poise that includes it (``""`` if it is a dependency of Poise itself).
    """

    def __init__(self, message: str, *, package: str = "", extra: str = "") -> None:
        super().__init__(message)
        self.package = package
        self.extra = extra


def _one_line(message: str) -> str:
    """Return a message as one line, with the middle cut out if it is too long."""
    line = _LINE_BREAKS.sub(" ", message).strip()
    return line if len(line) <= _MAX_LENGTH else f"{line[: _MAX_LENGTH - 305]} ... {line[-300:]}"


# -- Unknown names and suggestions -----------------------------------------------------------------------------------


def near_misses(name: str, known: Iterable[str], similarity: float = 0.6) -> tuple[str, ...]:
    """Return up to three known names similar to a name, the closest first; letter case is ignored.

    Args:
        name: the unknown name.
        known: names that exist.
        similarity: smallest similarity from 0 to 1, twice the number of common letters over that of all letters.
    """
    folded: dict[str, str] = {}
    for word in known:
        folded.setdefault(word.lower(), word)
    return tuple(folded[match] for match in get_close_matches(name.lower(), folded, n=3, cutoff=similarity))


def suggestion(name: object, known: Iterable[str], max_matches: int = 1, max_listed: int | None = None) -> str:
    """Return a hint for a name that does not exist: similar names, or else a list of the names that exist.

    Args:
        name: the unknown name.
        known: names that exist.
        max_matches: number of similar names in the hint, at most 3.
        max_listed: number of names in the list if none is similar; None: all.

    >>> suggestion("wlak", ["walk", "stand"])
    "did you mean 'walk'?"
    """
    names = list(known)
    near = near_misses(str(name), names)[:max_matches]
    if near:
        return f"did you mean {' or '.join(map(repr, near))}?"
    more = max_listed is not None and len(names) > max_listed
    return f"there are {', '.join(names[:max_listed])}{', ...' if more else ''}" if names else "there are none"


def unknown_name_error(what: str, name: object, known: Iterable[str], file: str = "", advice: str = "") -> RobotError:
    """Return the error for a name that does not exist.

    The message suggests up to three similar names. If there are none it gives the advice or, without advice, lists the
    first 20 names that exist.

    Args:
        what: owner and kind of the name, which begin the message, e.g. "g1 has no joint".
        name: the unknown name.
        known: names that exist.
        file: file that contains the name, for the message.
        advice: hint to give if no name is similar.
    """
    known = list(known)
    near = near_misses(str(name), known)
    hint = advice if advice and not near else suggestion(name, known, max_matches=3, max_listed=20)
    prefix = f"{file}: " if file else ""
    return RobotError(f"{prefix}{what} {name!r}; {hint}", file=file, element=str(name), near=near)


# -- Geometry --------------------------------------------------------------------------------------------------------


class GeometryError(PoiseError, ValueError):
    """Points, rotations or curves of the wrong shape, or an invalid length or duration."""


# -- Campaigns -------------------------------------------------------------------------------------------------------


class SpecError(UsageError):
    """Invalid campaign spec, or a folder that contains another campaign.

    Attributes:
        path: the invalid file or folder.
        key: the invalid key in it ("" for the whole file).
    """

    def __init__(self, message: str, *, path: str = "", key: str = "") -> None:
        super().__init__(message)
        self.path = path
        self.key = key


# -- Gait analysis ---------------------------------------------------------------------------------------------------


class GaitError(PoiseError, ValueError):
    """A motion that lacks the steps, gait cycles or curves that an analysis needs.

    Attributes:
        missing: the missing items, one phrase each, such as "a second initial contact of the right foot".
        near: existing names similar to the requested one, the closest first.
    """

    def __init__(self, message: str, *, missing: tuple[str, ...] = (), near: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.missing = missing
        self.near = near
