"""What can go wrong at the edges of Poise.

Every error says what was given, what was expected and what to do, on one line, and carries the same as
attributes. Errors are raised where things are built; inside the control loop nothing raises.
"""

from __future__ import annotations


class PoiseError(Exception):
    """Base of all errors that Poise raises on purpose."""


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


class UsageError(PoiseError):
    """The command line was given something it cannot use; the process ends with status 2."""
