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
    ButtonPair,
    Device,
    Hat,
    InputElement,
    InputLayout,
    Operator,
    Reading,
    Throttle,
)
from poise.parsing import is_number
from poise.plans import COMMAND_AXES, GUIDING_MODES, GuidingMode, OperatorCommand, guiding_mode

#: More keys, axes or buttons than that nobody has; what is beyond is not read.
MAX_INPUTS = 64
#: A stick that is let go stays within this; a trigger that is touched is beyond the second.
STICK_DEAD_ZONE, TRIGGER_DEAD_ZONE = 0.12, 0.05
#: A button counts as pressed from here on, as browsers have it.
PRESS_THRESHOLD = 0.5
#: Of the W3C's standard pad: buttons that are triggers, and those of the D-pad: up, down, left, right.
TRIGGER_BUTTONS, DPAD_BUTTONS = (6, 7), (12, 13, 14, 15)
#: Of any other device: after so many axes come the levers.
STICK_AXES = 5


@dataclass(frozen=True)
class Gamepad:
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
        down = {number for number, value in enumerate(self.buttons) if value > PRESS_THRESHOLD}
        if not self.standard:
            # A lever that is pushed away says -1, one that is pulled back 1.
            return Reading(
                self.axes[:STICK_AXES], down, throttles=[0.5 - 0.5 * lever for lever in self.axes[STICK_AXES:]]
            )
        button_values = dict(enumerate(self.buttons))
        up, below, left, right = (float(number in down) for number in DPAD_BUTTONS)
        triggers = [button_values.get(number, 0.0) for number in TRIGGER_BUTTONS]
        return Reading(self.axes, down - {*TRIGGER_BUTTONS, *DPAD_BUTTONS}, (right - left, up - below), triggers)

    @property
    def is_idle(self) -> bool:
        """Whether nobody touches it; levers stay where they are."""
        sticks = self.axes if self.standard else self.axes[:STICK_AXES]
        return (
            max(map(abs, sticks), default=0.0) <= STICK_DEAD_ZONE
            and max(self.buttons, default=0.0) <= TRIGGER_DEAD_ZONE
        )


@dataclass(frozen=True)
class OperatorInput:
    """All that is held at one moment.

    Args:
        keys: that are down, by where they are on a keyboard, like ``"KeyW"``.
        gamepad: None: none is plugged in, or the page is not in front.
        axes: of the sticks on the screen: forward, left, up, roll, pitch, yaw, each from -1 to 1.
    """

    keys: frozenset[str] = frozenset()
    gamepad: Gamepad | None = None
    axes: tuple[float, ...] = (0.0,) * len(COMMAND_AXES)

    @classmethod
    def from_page(cls, message: object) -> OperatorInput:
        """From what a page said; whatever of it makes no sense is not held."""
        fields: Mapping[str, Any] = message if isinstance(message, Mapping) else {}
        keys = fields.get("keys")
        names = [key for key in keys[:MAX_INPUTS] if isinstance(key, str)] if isinstance(keys, list) else []
        axes = _axis_values(fields.get("axes"))
        gamepad = fields.get("gamepad")
        return cls(
            frozenset(names),
            _parse_gamepad(gamepad) if isinstance(gamepad, Mapping) else None,
            axes if len(axes) == len(COMMAND_AXES) else (0.0,) * len(COMMAND_AXES),
        )

    @property
    def is_idle(self) -> bool:
        """Whether nothing is asked for."""
        return not self.keys and not any(self.axes) and (self.gamepad is None or self.gamepad.is_idle)


def _parse_gamepad(message: Mapping[str, Any]) -> Gamepad:
    buttons = tuple(max(value, 0.0) for value in _axis_values(message.get("buttons")))
    return Gamepad(message.get("standard") is True, _axis_values(message.get("axes")), buttons)


def _axis_values(values: object) -> tuple[float, ...]:
    if not isinstance(values, Sequence) or isinstance(values, str):
        return ()
    return tuple(_clamp(value) for value in values[:MAX_INPUTS])


def _clamp(value: object) -> float:
    return min(max(float(value), -1.0), 1.0) if is_number(value) else 0.0


# -- PageOperator ----------------------------------------------------------------------------------------------------


#: Where the lift of a foot stands when nobody moves it; what a device adds to that is added to the page's.
NEUTRAL_LIFT = 0.5


class PageOperator(Device):
    """A device of the guidance (see `poise.devices`) that hears a page.

    Of all that is held, for each axis the strongest counts. A robot listens once in a motion segment: what was pressed
    and let go between is kept until it has been heard once, so that a tap of a key is one segment. The guided point is
    the one that was chosen last, wherever.

    Attributes:
        lift: of stepping feet, as the page has it, from 0 to 1.

    >>> operator = PageOperator()
    >>> operator.set_input(OperatorInput(keys=frozenset({"KeyW"})))
    >>> operator.read(0.0).axes
    (1.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    """

    def __init__(self) -> None:
        self.lift = NEUTRAL_LIFT
        self._keyboard, self._gamepad, self._flight_stick = (
            Operator(KEYBOARD),
            Operator(GAMEPAD),
            Operator(FLIGHT_STICK),
        )
        self._operators = (self._keyboard, self._gamepad, self._flight_stick)
        self._mode: GuidingMode = "trunk"
        self._axes, self._lift_offset = (0.0,) * len(COMMAND_AXES), 0.0
        self._taps = [0.0] * len(COMMAND_AXES)

    @property
    def mode(self) -> GuidingMode:
        """The guided point; it may be set."""
        return self._mode

    @mode.setter
    def mode(self, name: str) -> None:
        self._mode = guiding_mode(name)
        for operator in self._operators:
            operator.mode = self._mode
        self._taps = [0.0] * len(COMMAND_AXES)  # that was meant for another point

    def set_input(self, operator_input: OperatorInput | None) -> None:
        """What is held from now on; None: nobody is heard any more, and nothing counts that was not heard yet."""
        current = operator_input or OperatorInput()
        gamepad = None if current.gamepad is None else current.gamepad.reading
        standard = current.gamepad is not None and current.gamepad.standard
        readings = (
            Reading(buttons=current.keys) if operator_input is not None else None,
            gamepad if standard else None,
            None if standard else gamepad,
        )
        sticks, mode_before = [], self._mode
        for operator, reading in zip(self._operators, readings, strict=True):
            sticks.append(operator.update(reading))
            if operator.mode != mode_before:
                self.mode = operator.mode
        columns = zip(*(stick.axes for stick in sticks), current.axes, strict=True)
        axes = [max(column, key=abs) for column in columns]
        for i, (before, value) in enumerate(zip(self._axes, axes, strict=True)):
            if operator_input is None:
                self._taps[i] = 0.0
            elif value and (not before or self._taps[i]):
                self._taps[i] = max(self._taps[i], value, key=abs)
        self._lift_offset = sum(stick.lift - NEUTRAL_LIFT for stick in sticks)
        self._axes = tuple(axes)

    @property
    def stick(self) -> OperatorCommand:
        """What counts now."""
        axes = [now or tap for now, tap in zip(self._axes, self._taps, strict=True)]
        return OperatorCommand(self._mode, tuple(axes), self.lift + self._lift_offset)  # type: ignore[arg-type]

    def read(self, time: float) -> OperatorCommand:
        """The same, and it has been heard."""
        stick = self.stick
        self._taps = [0.0] * len(COMMAND_AXES)
        return stick


# -- Legend ----------------------------------------------------------------------------------------------------------


#: What the axes of a stick do on the page: to the minus side, to the plus side.
AXIS_LABELS = {
    "forward": "back, ahead", "left": "right, left", "up": "down, up", "roll": "lean left, right",
    "pitch": "bow back, ahead", "yaw": "turn right, left",
}  # fmt: skip
#: What the guided points do, for people who see this for the first time.
FOOT_HINT = "Ahead, back and aside step; up lifts the foot, and it stays in the air until down puts it down."
HAND_HINT = "The hand goes where you push; when the arm is at its end, it pulls the body and the feet along."
TRUNK_HINT = "The body goes where you push; the robot steps by itself when its feet do not carry it there."
MODE_HINTS = {mode: {"foot": FOOT_HINT, "hand": HAND_HINT}.get(mode.split()[-1], TRUNK_HINT) for mode in GUIDING_MODES}
#: What is on a standard pad, by the numbers of the W3C; other devices have numbers only.
STICK_LABELS = {0: "left stick", 1: "left stick", 2: "right stick", 3: "right stick"}
BUTTON_LABELS = {0: "A", 1: "B", 2: "X", 3: "Y", 4: "left shoulder", 5: "right shoulder", 8: "back"}
TRIGGER_LABELS = ("left trigger", "right trigger")
ARROW_LABELS = {"ArrowUp": "↑", "ArrowDown": "↓", "ArrowLeft": "←", "ArrowRight": "→"}


def key_codes(layout: InputLayout) -> list[str]:
    """All keys of a keyboard's layout."""
    parts = [part for parts in (*layout.axes.values(), *layout.lifts) for part in parts]
    codes = {key for part in parts if isinstance(part, ButtonPair) for key in (part.minus, part.plus)}
    return sorted(str(key) for key in {*codes, *layout.modes, *layout.next_mode, *layout.previous_mode})


def control_legend(layout: InputLayout) -> list[list[str]]:
    """Rows of what to use and what it does.

    >>> control_legend(KEYBOARD)[0]
    ['S W, ↓ ↑', 'back, ahead']
    """
    rows = [
        [_parts_label(layout.axes[name], layout), AXIS_LABELS[name]] for name in COMMAND_AXES if name in layout.axes
    ]
    rows.append([_parts_label(layout.lifts[0], layout), "step lower, higher"])
    rows += [
        [_button_label(button, layout), mode]
        for mode in GUIDING_MODES
        for button, button_mode in layout.modes.items()
        if button_mode == mode
    ]
    around = (*layout.previous_mode, *layout.next_mode)
    rows.append([", ".join(_button_label(button, layout) for button in around), "previous, next point"])
    joined: dict[str, list[str]] = {}
    for used, does in rows:
        if used:
            joined.setdefault(used, []).append(does)
    return [[used, "; ".join(does)] for used, does in joined.items()]


def _parts_label(parts: tuple[InputElement, ...], layout: InputLayout) -> str:
    labels = [
        _part_label(part, layout)
        for part in sorted(parts, key=lambda part: 0.0 if isinstance(part, ButtonPair) else part.sign)
    ]
    return ", ".join(dict.fromkeys(labels))


def _part_label(part: InputElement, layout: InputLayout) -> str:
    standard = layout.name == GAMEPAD.name
    match part:
        case ButtonPair(minus=minus, plus=plus):
            return f"{_button_label(minus, layout)} {_button_label(plus, layout)}"
        case Axis(index=index):
            return STICK_LABELS.get(index, "") if standard else f"axis {index}"
        case Throttle(index=index):
            return TRIGGER_LABELS[index] if standard else f"lever {index}"
        case Hat():
            return "cross"


def _button_label(button: Hashable, layout: InputLayout) -> str:
    """As it is printed: KeyW is W on most keyboards."""
    if isinstance(button, str):
        return ARROW_LABELS.get(button, button.removeprefix("Key").removeprefix("Digit"))
    has_label = isinstance(button, int) and layout.name == GAMEPAD.name
    return BUTTON_LABELS.get(button, f"button {button}") if has_label else f"button {button}"  # type: ignore[call-overload]
