"""What can go wrong when a motion goes out or comes back."""

from __future__ import annotations

from poise.errors import PoiseError


class ExportError(PoiseError, ValueError):
    """A motion that cannot be exported as asked, or a file that holds no joint trajectory.

    Attributes:
        path: the file at fault (``""`` if there is none).
    """

    def __init__(self, message: str, path: str = "") -> None:
        super().__init__(message)
        self.path = path
