"""Poise: a motion is a list of things that matter, in order of importance.

Today the package holds `poise.solvers`, which honours such an order exactly: levels of rows
``lower <= A x <= upper``, equalities and inequalities at any level, where a lower level never costs a higher one
anything. Robots, tasks and controllers build on it in later parts.
"""

from importlib import metadata

from poise import solvers
from poise.errors import PoiseError

try:
    __version__ = metadata.version("poise")
except metadata.PackageNotFoundError:  # imported from a source tree that was never installed
    __version__ = "0+source"

__all__ = ["PoiseError", "__version__", "solvers"]
