"""Order: what is to be made of which files."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

#: Whose height, mass and sex count.
PERSONS = OF_THE_FILE, GIVEN = ("as the file says", "as given here")
#: Names of the variants that are made, all at once, since a reproduction takes a sixth of the time of a fit.
VARIANTS = ("best", "paper", "two phases")


class File(NamedTuple):
    """A file of the user's: where a copy of it lies, and what the user calls it."""

    path: Path
    name: str


class Order(NamedTuple):
    """What is to be made.

    Attributes:
        trial: of the motion; None: a synthetic person walks.
        static: of the same person standing, if there is one.
        height, mass, sex: m, kg, "male" or "female"; None: as the file says.
    """

    trial: File | None = None
    static: File | None = None
    height: float | None = None
    mass: float | None = None
    sex: str | None = None

    @property
    def title(self) -> str:
        """What the user calls it."""
        return "sample walk" if self.trial is None else self.trial.name

    def named(self, text: str) -> str:
        """A line in which files are called what the user calls them."""
        for file in (self.trial, self.static):
            if file is not None:
                text = text.replace(str(file.path), f"'{file.name}'")
        return text
