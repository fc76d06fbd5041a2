"""`PlantError`, and checks of arguments that raise it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from poise.arrays import Array
from poise.errors import PoiseError
from poise.parsing import check_number, check_positive, check_vector, format_value


class PlantError(PoiseError, ValueError):
    """Invalid argument of a plant or of an object in its environment.

    Attributes:
        element: the invalid argument, e.g. ``"friction"``.
    """

    def __init__(self, message: str, element: str = "") -> None:
        super().__init__(message)
        self.element = element


def require_number(value: Any, what: str, low: float = -np.inf, high: float = np.inf, unit: str = "") -> float:
    """Return a finite number from low to high, both included; raise `PlantError` otherwise."""
    return check_number(value, what, lambda message: PlantError(message, what), low, high, unit)


def require_positive(value: Any, what: str, unit: str = "") -> float:
    """Return a finite number above zero; raise `PlantError` otherwise."""
    return check_positive(value, what, lambda message: PlantError(message, what), unit)


def require_vector(values: ArrayLike, size: int, what: str, unit: str = "") -> Array:
    """Return a read-only array of finite numbers; raise `PlantError` otherwise."""
    array = check_vector(values, size, what, lambda message: PlantError(message, what), unit)
    array.flags.writeable = False
    return array


def require_members(values: Any, kind: type[Any] | tuple[type[Any], ...], what: str, example: str) -> tuple[Any, ...]:
    """Return a tuple of objects of one type, given as a sequence or a single object; raise `PlantError` otherwise."""
    members = (values,) if isinstance(values, kind) else values
    if isinstance(members, Sequence) and not isinstance(members, str) and all(isinstance(x, kind) for x in members):
        return tuple(members)
    raise PlantError(f"{what} is {format_value(values)}; expected e.g. {example}", what)
