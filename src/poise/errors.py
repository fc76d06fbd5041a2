"""Errors that Poise raises on purpose, and suggestions for misspelt names.

Every error says what was given, what was expected and what to do, on one line, and carries the same as
attributes. Errors are raised where things are built; inside the control loop nothing raises.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches

#: What breaks a line or is no letter: a name from a damaged file may have it.
_LINE_BREAKS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
#: Letters that anybody reads of one error; a value that was given may be a megabyte.
_MAX_LENGTH = 1200


class PoiseError(Exception):
    """Base of all errors that Poise raises on purpose. Its message is one line, whatever was given is part of it."""

    def __init__(self, message: str = "") -> None:
        super().__init__(_one_line(str(message)))


class RowsError(PoiseError, ValueError):
    """Rows or a Program that cannot be solved as given: wrong shapes, NaN, crossed bounds.

    Attributes:
        rows: name of the block of rows at fault (``""`` if it has none).
        indices: indices of the offending rows inside the block, empty if the whole block is at fault.
    """

    def __init__(self, message: str, rows: str = "", indices: tuple[int, ...] = ()) -> None:
        super().__init__(message)
        self.rows = rows
        self.indices = indices


class SolverError(PoiseError, ValueError):
    """A solver was built with settings it cannot use, or given a program outside its class."""


class RobotError(PoiseError, ValueError):
    """A robot that cannot be loaded as described, or a part that it does not have.

    Attributes:
        file: the file at fault (``""`` if there is none).
        element: the link, joint, frame, key or name at fault inside it (``""`` if the whole file is).
        near: names that exist and resemble the one that was asked for, the closest first.
    """

    def __init__(self, message: str, *, file: str = "", element: str = "", near: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.file = file
        self.element = element
        self.near = near


class StateError(PoiseError, ValueError):
    """A state that no robot can be in: wrong sizes, NaN, a quaternion that is not of unit length.

    Attributes:
        robot: name of the robot.
        element: which part of the state is at fault: ``"q"``, ``"v"``, ``"time"``, ``"contacts"``.
    """

    def __init__(self, message: str, *, robot: str = "", element: str = "") -> None:
        super().__init__(message)
        self.robot = robot
        self.element = element


class TaskError(PoiseError, ValueError):
    """A task or constraint that cannot be built as given: a target of the wrong size, crossed bounds, an unknown axis.

    Attributes:
        task: its name.
    """

    def __init__(self, message: str, task: str = "") -> None:
        super().__init__(message)
        self.task = task


class HierarchyError(PoiseError, ValueError):
    """Levels that do not fit together: a name used twice, tasks of different robots, nothing to do."""


class UsageError(PoiseError):
    """The command line was given something it cannot use; the process ends with status 2."""


class RecordingError(PoiseError, ValueError):
    """A recording that cannot be read, written or made, or that has no channel of that name.

    Attributes:
        path: the file at fault (``""`` if there is none).
        near: channels that exist and resemble the one that was asked for, the closest first.
    """

    def __init__(self, message: str, *, path: str = "", near: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.path = path
        self.near = near


class MissingPackageError(PoiseError, ImportError):
    """A package that is not installed, and the command that installs it.

    Attributes:
        package: what pip calls it.
        extra: of Poise that brings it (``""`` if Poise itself does).
    """

    def __init__(self, message: str, *, package: str = "", extra: str = "") -> None:
        super().__init__(message)
        self.package = package
        self.extra = extra


def _one_line(message: str) -> str:
    """Without breaks, and without the middle if it is too long."""
    line = _LINE_BREAKS.sub(" ", message).strip()
    return line if len(line) <= _MAX_LENGTH else f"{line[: _MAX_LENGTH - 305]} ... {line[-300:]}"


# -- Names that are not there, and those that may have been meant ----------------------------------------------------


def near_misses(name: str, known: Iterable[str]) -> tuple[str, ...]:
    """Up to three of the known names that resemble a name, the closest first; letter case does not count."""
    folded: dict[str, str] = {}
    for word in known:
        folded.setdefault(word.lower(), word)
    return tuple(folded[match] for match in get_close_matches(name.lower(), folded, n=3, cutoff=0.6))


def suggestion(name: object, known: Iterable[str], max_matches: int = 1, max_listed: int | None = None) -> str:
    """What may have been meant by a name that does not exist: the near misses, or else the names that exist.

    Args:
        name: that was given.
        known: names that exist.
        max_matches: near misses that are offered, at most 3.
        max_listed: names that are listed if none is near; None: all.

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
    """The error for a name that does not exist: ``what`` says whose and which kind, e.g. "g1 has no joint".

    The message offers the near misses; without any it lists what exists, if that is short, or gives the advice.
    """
    known = list(known)
    near = near_misses(str(name), known)
    hint = advice if advice and not near else suggestion(name, known, max_matches=3, max_listed=20)
    prefix = f"{file}: " if file else ""
    return RobotError(f"{prefix}{what} {name!r}; {hint}", file=file, element=str(name), near=near)


# -- What can be wrong with what geometry is given -------------------------------------------------------------------


class GeometryError(PoiseError, ValueError):
    """Points, rotations or curves of the wrong shape, or a length or duration that makes no sense."""


# -- What can go wrong before a campaign starts ----------------------------------------------------------------------


class SpecError(UsageError):
    """A spec that cannot be run as it stands, or a folder that holds another campaign.

    Attributes:
        path: the file or folder at fault.
        key: what in it ("" if all of it is).
    """

    def __init__(self, message: str, *, path: str = "", key: str = "") -> None:
        super().__init__(message)
        self.path = path
        self.key = key


# -- What can be wrong with a gait that is to be analysed ------------------------------------------------------------


class GaitError(PoiseError, ValueError):
    """A motion without the steps, cycles or curves that were asked for.

    Attributes:
        missing: what it lacks, one phrase each, such as "a second strike of the right foot".
        near: names that exist and resemble the one that was asked for, the closest first.
    """

    def __init__(self, message: str, *, missing: tuple[str, ...] = (), near: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.missing = missing
        self.near = near
