"""Operator: a person at a device, who also switches modes."""

from __future__ import annotations

from collections.abc import Hashable

from poise.devices.layout import Layout
from poise.devices.layouts import GAMEPAD
from poise.devices.reading import Reading
from poise.errors import UsageError
from poise.plans.guidance.stick import Mode, Stick, mode_named


class Operator:
    """Turns the readings of a device into sticks, and remembers which mode the buttons have chosen.

    A press switches the mode once, however long it lasts; a button that is already down when the device is plugged in
    again switches nothing. A device that is unplugged, or says NaN, is a centred stick; the mode stays.

    Args:
        layout: what each axis and button means.
        mode: to begin with.

    >>> operator = Operator(KEYBOARD)
    >>> operator.take(Reading(buttons={"KeyW", "Digit1"}))
    Stick(mode='left foot', axes=(1.0, 0.0, 0.0, 0.0, 0.0, 0.0), lift=0.5)
    """

    def __init__(self, layout: Layout = GAMEPAD, mode: str = "trunk") -> None:
        if not isinstance(layout, Layout):
            raise UsageError(f"an operator needs a Layout, e.g. poise.devices.GAMEPAD; given {layout!r}")
        self.layout = layout
        self.mode: Mode = mode_named(mode)
        self._down: frozenset[Hashable] | None = frozenset()
        self._stick = Stick(self.mode)

    def take(self, reading: Reading | None) -> Stick:
        """The stick for a new reading; None, like an empty one, for a device that is unplugged."""
        if reading is None or not (reading.plugged or self.layout.only_buttons):
            self._down = None  # what is down when the device comes back was not pressed now
            self._stick = Stick(self.mode, lift=self._stick.lift)
            return self._stick
        down = frozenset(reading.buttons)
        if self._down is not None:
            self.mode = self.layout.switched(down - self._down, self.mode)
        self._down = down
        axes, lift = self.layout.deflections(reading), self.layout.lifted(reading, self.mode)
        self._stick = Stick(self.mode, axes, lift)  # type: ignore[arg-type]
        return self._stick

    def read(self, time: float) -> Stick:
        """The latest stick, whatever the time."""
        return self._stick
