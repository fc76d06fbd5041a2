"""Hands: what a person at a page holds, as the page tells it: keys, a pad, the sticks on the screen. Nothing of it has
a meaning yet; that is given by the layouts of `poise.devices`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from poise.devices import Reading
from poise.plans.guidance import AXES

#: More keys, axes or buttons than that nobody has; what is beyond is not read.
MOST = 64
#: A stick that is let go stays within this; a trigger that is touched is beyond the second.
RESTING, TOUCHED = 0.12, 0.05
#: A button counts as pressed from here on, as browsers have it.
PRESSED = 0.5
#: Of the W3C's standard pad: buttons that are triggers, and those of the D-pad: up, down, left, right.
TRIGGERS, CROSS = (6, 7), (12, 13, 14, 15)
#: Of any other device: after so many axes come the levers.
STICKS = 5


@dataclass(frozen=True)
class Pad:
    """A gamepad or flight stick as browsers tell it: axes from -1 to 1, buttons from 0 to 1.

    Args:
        standard: whether the browser knows its layout.
        axes: right, back and clockwise are positive.
        buttons: how far each is pressed.
    """

    standard: bool
    axes: tuple[float, ...]
    buttons: tuple[float, ...]

    @property
    def reading(self) -> Reading:
        """For the layouts `GAMEPAD`, if it is standard, or `FLIGHT_STICK`."""
        down = {number for number, value in enumerate(self.buttons) if value > PRESSED}
        if not self.standard:
            # A lever that is pushed away says -1, one that is pulled back 1.
            return Reading(self.axes[:STICKS], down, throttles=[0.5 - 0.5 * lever for lever in self.axes[STICKS:]])
        pressed = dict(enumerate(self.buttons))
        up, below, left, right = (float(number in down) for number in CROSS)
        triggers = [pressed.get(number, 0.0) for number in TRIGGERS]
        return Reading(self.axes, down - {*TRIGGERS, *CROSS}, (right - left, up - below), triggers)

    @property
    def rests(self) -> bool:
        """Whether nobody touches it; levers stay where they are."""
        sticks = self.axes if self.standard else self.axes[:STICKS]
        return max(map(abs, sticks), default=0.0) <= RESTING and max(self.buttons, default=0.0) <= TOUCHED


@dataclass(frozen=True)
class Hands:
    """All that is held at one moment.

    Args:
        keys: that are down, by where they are on a keyboard, like ``"KeyW"``.
        pad: None: none is plugged in, or the page is not in front.
        axes: of the sticks on the screen: forward, left, up, roll, pitch, yaw, each from -1 to 1.
    """

    keys: frozenset[str] = frozenset()
    pad: Pad | None = None
    axes: tuple[float, ...] = (0.0,) * len(AXES)

    @classmethod
    def of(cls, told: object) -> Hands:
        """From what a page said; whatever of it makes no sense is not held."""
        given: Mapping[str, Any] = told if isinstance(told, Mapping) else {}
        keys = given.get("keys")
        names = [key for key in keys[:MOST] if isinstance(key, str)] if isinstance(keys, list) else []
        axes = _numbers(given.get("axes"))
        pad = given.get("pad")
        return cls(
            frozenset(names),
            _pad(pad) if isinstance(pad, Mapping) else None,
            axes if len(axes) == len(AXES) else (0.0,) * len(AXES),
        )

    @property
    def rest(self) -> bool:
        """Whether nothing is asked for."""
        return not self.keys and not any(self.axes) and (self.pad is None or self.pad.rests)


def _pad(told: Mapping[str, Any]) -> Pad:
    buttons = tuple(max(value, 0.0) for value in _numbers(told.get("buttons")))
    return Pad(told.get("standard") is True, _numbers(told.get("axes")), buttons)


def _numbers(values: object) -> tuple[float, ...]:
    if not isinstance(values, Sequence) or isinstance(values, str):
        return ()
    return tuple(_within(value) for value in values[:MOST])


def _within(value: object) -> float:
    good = isinstance(value, (int, float)) and math.isfinite(value)
    return min(max(float(value), -1.0), 1.0) if good else 0.0  # type: ignore[arg-type]
