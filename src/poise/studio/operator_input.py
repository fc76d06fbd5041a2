"""Operator input from a page: keys, gamepad and on-screen sticks as one guidance device, with its key legend."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from poise.devices import (
    FLIGHT_STICK,
    GAMEPAD,
    KEYBOARD,
    Axis,
    Device,
    Hat,
    Layout,
    Operator,
    Pair,
    Part,
    Reading,
    Throttle,
)
from poise.parsing import is_number
from poise.plans import AXES, MODES, Mode, Stick, mode_named

#: More keys, axes or buttons than that nobody has; what is beyond is not read.
MOST = 64
#: A stick that is let go stays within this; a trigger that is touched is beyond the second.
RESTING, TOUCHED = 0.12, 0.05
#: A button counts as pressed from here on, as browsers have it.
PRESSED = 0.5
#: Of the W3C's standard pad: buttons that are triggers, and those of the D-pad: up, down, left, right.
TRIGGER_BUTTONS, DPAD_BUTTONS = (6, 7), (12, 13, 14, 15)
#: Of any other device: after so many axes come the levers.
STICK_AXES = 5


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
            return Reading(
                self.axes[:STICK_AXES], down, throttles=[0.5 - 0.5 * lever for lever in self.axes[STICK_AXES:]]
            )
        pressed = dict(enumerate(self.buttons))
        up, below, left, right = (float(number in down) for number in DPAD_BUTTONS)
        triggers = [pressed.get(number, 0.0) for number in TRIGGER_BUTTONS]
        return Reading(self.axes, down - {*TRIGGER_BUTTONS, *DPAD_BUTTONS}, (right - left, up - below), triggers)

    @property
    def rests(self) -> bool:
        """Whether nobody touches it; levers stay where they are."""
        sticks = self.axes if self.standard else self.axes[:STICK_AXES]
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
    return min(max(float(value), -1.0), 1.0) if is_number(value) else 0.0


# -- Person ----------------------------------------------------------------------------------------------------------


#: Where the lift of a foot stands when nobody moves it; what a device adds to that is added to the page's.
MIDDLE = 0.5


class Person(Device):
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


# -- Legend ----------------------------------------------------------------------------------------------------------


#: What the axes of a stick do on the page: to the minus side, to the plus side.
WORDS = {
    "forward": "back, ahead", "left": "right, left", "up": "down, up", "roll": "lean left, right",
    "pitch": "bow back, ahead", "yaw": "turn right, left",
}  # fmt: skip
#: What the guided points do, for people who see this for the first time.
FOOT = "Ahead, back and aside step; up lifts the foot, and it stays in the air until down puts it down."
HAND = "The hand goes where you push; when the arm is at its end, it pulls the body and the feet along."
TRUNK = "The body goes where you push; the robot steps by itself when its feet do not carry it there."
HINTS = {mode: {"foot": FOOT, "hand": HAND}.get(mode.split()[-1], TRUNK) for mode in MODES}
#: What is on a standard pad, by the numbers of the W3C; other devices have numbers only.
STICK_LABELS = {0: "left stick", 1: "left stick", 2: "right stick", 3: "right stick"}
BUTTON_LABELS = {0: "A", 1: "B", 2: "X", 3: "Y", 4: "left shoulder", 5: "right shoulder", 8: "back"}
TRIGGER_LABELS = ("left trigger", "right trigger")
ARROWS = {"ArrowUp": "↑", "ArrowDown": "↓", "ArrowLeft": "←", "ArrowRight": "→"}


def codes(layout: Layout) -> list[str]:
    """All keys of a keyboard's layout."""
    parts = [part for parts in (*layout.axes.values(), *layout.lifts) for part in parts]
    found = {key for part in parts if isinstance(part, Pair) for key in (part.minus, part.plus)}
    return sorted(str(key) for key in {*found, *layout.modes, *layout.following, *layout.preceding})


def legend(layout: Layout) -> list[list[str]]:
    """Rows of what to use and what it does.

    >>> legend(KEYBOARD)[0]
    ['S W, ↓ ↑', 'back, ahead']
    """
    rows = [[_parts(layout.axes[name], layout), WORDS[name]] for name in AXES if name in layout.axes]
    rows.append([_parts(layout.lifts[0], layout), "step lower, higher"])
    rows += [
        [_button(button, layout), mode] for mode in MODES for button, chosen in layout.modes.items() if chosen == mode
    ]
    around = (*layout.preceding, *layout.following)
    rows.append([", ".join(_button(button, layout) for button in around), "previous, next point"])
    joined: dict[str, list[str]] = {}
    for used, does in rows:
        if used:
            joined.setdefault(used, []).append(does)
    return [[used, "; ".join(does)] for used, does in joined.items()]


def _parts(parts: tuple[Part, ...], layout: Layout) -> str:
    found = [
        _part(part, layout) for part in sorted(parts, key=lambda part: 0.0 if isinstance(part, Pair) else part.sign)
    ]
    return ", ".join(dict.fromkeys(found))


def _part(part: Part, layout: Layout) -> str:
    standard = layout.name == GAMEPAD.name
    match part:
        case Pair(minus=minus, plus=plus):
            return f"{_button(minus, layout)} {_button(plus, layout)}"
        case Axis(index=index):
            return STICK_LABELS.get(index, "") if standard else f"axis {index}"
        case Throttle(index=index):
            return TRIGGER_LABELS[index] if standard else f"lever {index}"
        case Hat():
            return "cross"


def _button(button: Hashable, layout: Layout) -> str:
    """As it is printed: KeyW is W on most keyboards."""
    if isinstance(button, str):
        return ARROWS.get(button, button.removeprefix("Key").removeprefix("Digit"))
    named = isinstance(button, int) and layout.name == GAMEPAD.name
    return BUTTON_LABELS.get(button, f"button {button}") if named else f"button {button}"  # type: ignore[call-overload]
