"""Person: whoever guides from a page, with keys, a pad and the sticks on the screen, as one device."""

from __future__ import annotations

from poise.devices import FLIGHT_STICK, GAMEPAD, KEYBOARD, Operator, Reading
from poise.plans.guidance import AXES, Mode, Stick, mode_named
from poise.studio.hands import Hands

#: Where the lift of a foot stands when nobody moves it; what a device adds to that is added to the page's.
MIDDLE = 0.5


class Person:
    """A device of the guidance (see `poise.devices`) that hears a page.

    Of all that is held, for each axis the strongest counts. A robot listens once in a motion segment: what was pressed
    and let go between is kept until it has been heard once, so that a tap of a key is one segment. The guided point is
    the one that was chosen last, wherever.

    Attributes:
        lift: of stepping feet, as the page has it, from 0 to 1.

    >>> person = Person()
    >>> person.take(Hands(keys=frozenset({"KeyW"})))
    >>> person.read(0.0).axes
    (1.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    """

    def __init__(self) -> None:
        self.lift = MIDDLE
        self._keys, self._pad, self._flight = Operator(KEYBOARD), Operator(GAMEPAD), Operator(FLIGHT_STICK)
        self._operators = (self._keys, self._pad, self._flight)
        self._mode: Mode = "trunk"
        self._held, self._higher = (0.0,) * len(AXES), 0.0
        self._tapped = [0.0] * len(AXES)

    @property
    def mode(self) -> Mode:
        """The guided point; it may be set."""
        return self._mode

    @mode.setter
    def mode(self, name: str) -> None:
        self._mode = mode_named(name)
        for operator in self._operators:
            operator.mode = self._mode
        self._tapped = [0.0] * len(AXES)  # that was meant for another point

    def take(self, hands: Hands | None) -> None:
        """What is held from now on; None: nobody is heard any more, and nothing counts that was not heard yet."""
        held = hands or Hands()
        pad = None if held.pad is None else held.pad.reading
        standard = held.pad is not None and held.pad.standard
        readings = (
            Reading(buttons=held.keys) if hands is not None else None,
            pad if standard else None,
            None if standard else pad,
        )
        sticks, before = [], self._mode
        for operator, reading in zip(self._operators, readings, strict=True):
            sticks.append(operator.take(reading))
            if operator.mode != before:
                self.mode = operator.mode
        columns = zip(*(stick.axes for stick in sticks), held.axes, strict=True)
        axes = [max(column, key=abs) for column in columns]
        for i, (was, value) in enumerate(zip(self._held, axes, strict=True)):
            if hands is None:
                self._tapped[i] = 0.0
            elif value and (not was or self._tapped[i]):
                self._tapped[i] = max(self._tapped[i], value, key=abs)
        self._higher = sum(stick.lift - MIDDLE for stick in sticks)
        self._held = tuple(axes)

    @property
    def stick(self) -> Stick:
        """What counts now."""
        axes = [now or tap for now, tap in zip(self._held, self._tapped, strict=True)]
        return Stick(self._mode, tuple(axes), self.lift + self._higher)  # type: ignore[arg-type]

    def read(self, time: float) -> Stick:
        """The same, and it has been heard."""
        stick = self.stick
        self._tapped = [0.0] * len(AXES)
        return stick
