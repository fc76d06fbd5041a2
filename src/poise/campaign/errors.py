"""What can go wrong before a campaign starts."""

from __future__ import annotations

from poise.errors import UsageError


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
