"""Validation of the settings of behaviors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from poise.errors import PoiseError

#: Settings are positive and below this: no arm is a kilometre long, and no gain above the rate of control helps.
LARGEST = 1e3


def check_settings(settings: Any, zero: Sequence[str] = (), names: Sequence[str] | None = None) -> None:
    """A PoiseError unless all fields are positive numbers of a sensible size; those in `zero` may be zero.

    Args:
        names: of the fields that are numbers; None: all.
    """
    behavior = type(settings).__name__.removesuffix("Settings").lower()
    for name in names or [field.name for field in fields(settings)]:
        value = getattr(settings, name)
        if name in zero and value == 0.0:
            continue
        if not (isinstance(value, (int, float)) and 0.0 < value < LARGEST):
            raise PoiseError(f"{behavior}: {name} is {value!r}; expected a positive number below {LARGEST:g}")
