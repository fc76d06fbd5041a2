"""What can be wrong with a gait that is to be analysed."""

from __future__ import annotations

from poise.errors import PoiseError


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
