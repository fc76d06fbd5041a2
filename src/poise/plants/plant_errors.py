"""PlantError, and the argument checks that raise it."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from poise.arrays import Array
from poise.errors import PoiseError
from poise.tasks import shown


class PlantError(PoiseError, ValueError):
    """A plant, or something in its world, that cannot be built as given.

    Attributes:
        element: what is at fault, e.g. ``"friction"``.
    """

    def __init__(self, message: str, element: str = "") -> None:
        super().__init__(message)
        self.element = element


def number(value: Any, what: str, low: float = -np.inf, high: float = np.inf, unit: str = "") -> float:
    """A finite number from low to high, both included, or a PlantError."""
    if _is_number(value) and low <= float(value) <= high:
        return float(value)
    bounds = [f"{word} {bound:g}" for word, bound in (("from", low), ("up to", high)) if np.isfinite(bound)]
    expected = " ".join(["a finite number", *bounds, *[unit] * bool(unit)])
    raise PlantError(f"{what} is {shown(value)}; expected {expected}", what)


def positive(value: Any, what: str, unit: str = "") -> float:
    """A finite number above zero, or a PlantError."""
    if _is_number(value) and float(value) > 0.0:
        return float(value)
    raise PlantError(f"{what} is {shown(value)}; expected a positive number{f' of {unit}' if unit else ''}", what)


def vector(values: ArrayLike, size: int, what: str, unit: str = "") -> Array:
    """Finite numbers that nobody can write to, or a PlantError."""
    expected = f"expected {size} finite numbers{f' in {unit}' if unit else ''}"
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise PlantError(f"{what} is {shown(values)}; {expected}", what) from None
    if array.shape != (size,) or not np.isfinite(array).all():
        raise PlantError(f"{what} is {shown(values)}; {expected}", what)
    array.flags.writeable = False
    return array


def members(values: Any, kind: type[Any] | tuple[type[Any], ...], what: str, example: str) -> tuple[Any, ...]:
    """A tuple of things of one kind, given as a sequence or as one thing, or a PlantError."""
    given = (values,) if isinstance(values, kind) else values
    if isinstance(given, Sequence) and not isinstance(given, str) and all(isinstance(one, kind) for one in given):
        return tuple(given)
    raise PlantError(f"{what} is {shown(values)}; expected e.g. {example}", what)


def _is_number(value: Any) -> bool:
    """Whether it is a finite number; True and False are none."""
    return value is not True and value is not False and isinstance(value, Real) and bool(np.isfinite(float(value)))
