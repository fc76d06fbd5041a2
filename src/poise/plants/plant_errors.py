"""PlantError, and the argument checks that raise it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from poise.arrays import Array
from poise.errors import PoiseError
from poise.parsing import check_number, check_positive, check_vector, format_value


class PlantError(PoiseError, ValueError):
    """A plant, or something in its world, that cannot be built as given.

    Attributes:
        element: what is at fault, e.g. ``"friction"``.
    """

    def __init__(self, message: str, element: str = "") -> None:
        super().__init__(message)
        self.element = element


def require_number(value: Any, what: str, low: float = -np.inf, high: float = np.inf, unit: str = "") -> float:
    """A finite number from low to high, both included, or a PlantError."""
    return check_number(value, what, lambda message: PlantError(message, what), low, high, unit)


def require_positive(value: Any, what: str, unit: str = "") -> float:
    """A finite number above zero, or a PlantError."""
    return check_positive(value, what, lambda message: PlantError(message, what), unit)


def require_vector(values: ArrayLike, size: int, what: str, unit: str = "") -> Array:
    """Finite numbers that nobody can write to, or a PlantError."""
    array = check_vector(values, size, what, lambda message: PlantError(message, what), unit)
    array.flags.writeable = False
    return array


def require_members(values: Any, kind: type[Any] | tuple[type[Any], ...], what: str, example: str) -> tuple[Any, ...]:
    """A tuple of things of one kind, given as a sequence or as one thing, or a PlantError."""
    given = (values,) if isinstance(values, kind) else values
    if isinstance(given, Sequence) and not isinstance(given, str) and all(isinstance(one, kind) for one in given):
        return tuple(given)
    raise PlantError(f"{what} is {format_value(values)}; expected e.g. {example}", what)
