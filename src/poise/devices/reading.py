"""Reading: the raw state of a physical device at one instant."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Reading:
    """What a device shows, numbered or named as the device has it. An empty one is that of a device that is unplugged.

    Args:
        axes: each from -1 to 1; as in browsers and drivers, right, back and clockwise are positive.
        buttons: those that are pressed, by number, or keys by their name, like ``"KeyW"``.
        hat: right and up, each -1, 0 or 1.
        throttles: levers and triggers, which have no middle: each from 0 (pulled back, let go) to 1.

    >>> Reading(axes=(0.0, -1.0), buttons={0})
    """

    axes: Sequence[float] = ()
    buttons: Collection[Hashable] = frozenset()
    hat: tuple[float, float] = (0.0, 0.0)
    throttles: Sequence[float] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "axes", _numbers(self.axes))
        object.__setattr__(self, "throttles", _numbers(self.throttles))
        object.__setattr__(self, "hat", (*_numbers(self.hat), 0.0, 0.0)[:2])
        try:
            buttons = frozenset(self.buttons)
        except TypeError:
            buttons = frozenset()
        object.__setattr__(self, "buttons", buttons)

    @property
    def plugged(self) -> bool:
        """Whether a device that works stands behind it: there is something in it, and nothing but numbers."""
        numbers = (*self.axes, *self.throttles, *self.hat)
        return bool(self.axes or self.throttles or self.buttons or any(self.hat)) and all(map(math.isfinite, numbers))


def _numbers(values: object) -> tuple[float, ...]:
    """The values, with NaN for what is no number: a driver may hand over anything."""
    try:
        return tuple([_number(value) for value in values])  # type: ignore[attr-defined]
    except TypeError:
        return ()


def _number(value: object) -> float:
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return math.nan
