"""What can go wrong with marker files, marker sets and motions of people."""

from __future__ import annotations

from poise.errors import PoiseError


class TrialError(PoiseError, ValueError):
    """A file that holds no trial, a trial that cannot be used, or a marker set that makes no sense.

    Attributes:
        path: the file at fault (``""`` if there is none).
        element: the marker, channel, column, key or line at fault inside it (``""`` if the whole file is).
        near: names that exist and resemble the one that was asked for, the closest first.
    """

    def __init__(self, message: str, *, path: str = "", element: str = "", near: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.path = path
        self.element = element
        self.near = near


def refused(path: object, complaint: str, element: str = "") -> TrialError:
    """The error for a file: its path, then what is wrong with it, on one line."""
    line = " ".join(str(complaint).split())
    return TrialError(f"{path}: {line}", path=str(path), element=element)
