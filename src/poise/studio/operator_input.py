"""Operator input from a page: keys, gamepad and on-screen sticks combined into one guidance device.

`OperatorInput` is the state of all inputs at one moment, `PageOperator` the device that a guided behavior reads, and
`control_legend` the table of keys and axes that the page shows.
"""

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

#: Largest number of keys, axes or buttons that is read; the rest is ignored.
MAX_INPUTS = 64
#: A stick within the first value counts as released; a trigger beyond the second counts as touched.
STICK_DEAD_ZONE, TRIGGER_DEAD_ZONE = 0.12, 0.05
#: A button above this value counts as pressed, as in browsers.
PRESS_THRESHOLD = 0.5
#: Indices in the W3C standard gamepad: triggers, and D-pad up, down, left, right.
TRIGGER_BUTTONS, DPAD_BUTTONS = (6, 7), (12, 13, 14, 15)
#: Number of stick axes of any other device; axes after these are throttle levers.
STICK_AXES = 5


@dataclass(frozen=True)
class Gamepad:
    """State of a gamepad or flight stick as browsers report it.

    Args:
        standard: whether the device has the W3C standard layout.
        axes: from -1 to 1; right, back and clockwise are positive.
        buttons: from 0 (released) to 1 (fully pressed).
    """

    standard: bool
    axes: tuple[float, ...]
    buttons: tuple[float, ...]

    @property
    def reading(self) -> Reading:
        """Reading for the layout `GAMEPAD` if the device is standard, else for `FLIGHT_STICK`."""
        down = {number for number, value in enumerate(self.buttons) if value > PRESS_THRESHOLD}
        if not self.standard:
            # A lever reads -1 when pushed forward and 1 when pulled back; a throttle goes from 0 (back) to 1.
            return Reading(
                self.axes[:STICK_AXES], down, throttles=[0.5 - 0.5 * lever for lever in self.axes[STICK_AXES:]]
            )
        button_values = dict(enumerate(self.buttons))
        up, below, left, right = (float(number in down) for number in DPAD_BUTTONS)
        triggers = [button_values.get(number, 0.0) for number in TRIGGER_BUTTONS]
        return Reading(self.axes, down - {*TRIGGER_BUTTONS, *DPAD_BUTTONS}, (right - left, up - below), triggers)

    @property
    def is_idle(self) -> bool:
        """Whether the device is untouched. Levers do not count: they stay where they were left."""
        sticks = self.axes if self.standard else self.axes[:STICK_AXES]
        return (
            max(map(abs, sticks), default=0.0) <= STICK_DEAD_ZONE
            and max(self.buttons, default=0.0) <= TRIGGER_DEAD_ZONE
        )


@dataclass(frozen=True)
class OperatorInput:
    """State of all inputs of a page at one moment.

    Args:
        keys: pressed keys, by their position on the keyboard (`KeyboardEvent.code`), like ``"KeyW"``.
        gamepad: None if no device is connected, or the page has no focus.
        axes: axes of the on-screen sticks: forward, left, up, roll, pitch, yaw, each from -1 to 1.
    """

    keys: frozenset[str] = frozenset()
    gamepad: Gamepad | None = None
    axes: tuple[float, ...] = (0.0,) * len(COMMAND_AXES)

    @classmethod
    def from_page(cls, message: object) -> OperatorInput:
        """Parse the message of a page; invalid parts count as released."""
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
        """Whether no key, stick or button is held."""
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


#: Lift of a device at rest. A device's difference from this is added to the lift set on the page.
NEUTRAL_LIFT = 0.5


class PageOperator(Device):
    """Guidance device (see `poise.devices`) that combines the keyboard, gamepad and sticks of a page.

    On each axis the input with the largest magnitude is used. The robot reads the device once per motion segment, so a
    key that is pressed and released between two readings is stored until the next one: a tap of a key gives one
    segment. The guided point is the one chosen last on any of the devices.

    Attributes:
        lift: step height set on the page, from 0 to 1.

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
        """The guided point; can be set."""
        return self._mode

    @mode.setter
    def mode(self, name: str) -> None:
        self._mode = guiding_mode(name)
        for operator in self._operators:
            operator.mode = self._mode
        self._taps = [0.0] * len(COMMAND_AXES)  # stored taps were meant for the previous point

    def set_input(self, operator_input: OperatorInput | None) -> None:
        """Set the inputs held from now on; None: the page is gone, and stored taps are discarded."""
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
        """Current command: inputs that are held, else stored taps."""
        axes = [now or tap for now, tap in zip(self._axes, self._taps, strict=True)]
        return OperatorCommand(self._mode, tuple(axes), self.lift + self._lift_offset)  # type: ignore[arg-type]

    def read(self, time: float) -> OperatorCommand:
        """Return the current command and clear stored taps."""
        stick = self.stick
        self._taps = [0.0] * len(COMMAND_AXES)
        return stick


# -- Legend ----------------------------------------------------------------------------------------------------------


#: Motion on each axis: the sign of the direction that is named first, and both directions as a person names them.
AXIS_LABELS = {
    "forward": (1, "forward, back"), "left": (1, "left, right"), "up": (1, "up, down"),
    "roll": (-1, "lean left, right"), "pitch": (1, "lean forward, back"), "yaw": (1, "turn left, right"),
}  # fmt: skip
#: Short explanation of each kind of guided point, shown to the user.
FOOT_HINT = "Forward, back and sideways make a step. Up lifts the foot, and it stays up until you push down."
HAND_HINT = "The hand follows the stick. When the arm is fully extended, the body follows and the feet step."
TRUNK_HINT = "The trunk follows the stick. The robot steps by itself when it has to."
MODE_HINTS = {mode: {"foot": FOOT_HINT, "hand": HAND_HINT}.get(mode.split()[-1], TRUNK_HINT) for mode in GUIDING_MODES}
#: Labels of a standard gamepad by W3C index; axes and buttons of other devices are numbered.
STICK_LABELS = {0: "left stick", 1: "left stick", 2: "right stick", 3: "right stick"}
BUTTON_LABELS = {0: "A", 1: "B", 2: "X", 3: "Y", 4: "left shoulder", 5: "right shoulder", 8: "back"}
TRIGGER_LABELS = ("left trigger", "right trigger")
ARROW_LABELS = {"ArrowUp": "↑", "ArrowDown": "↓", "ArrowLeft": "←", "ArrowRight": "→"}


def key_codes(layout: InputLayout) -> list[str]:
    """Return all key codes of a keyboard layout, sorted."""
    parts = [part for parts in (*layout.axes.values(), *layout.lifts) for part in parts]
    codes = {key for part in parts if isinstance(part, ButtonPair) for key in (part.minus, part.plus)}
    return sorted(str(key) for key in {*codes, *layout.modes, *layout.next_mode, *layout.previous_mode})


def control_legend(layout: InputLayout) -> list[list[str]]:
    """Return the legend of a layout: rows of an input and what it does.

    >>> control_legend(KEYBOARD)[0]
    ['W S, ↑ ↓', 'forward, back']
    """
    rows = [
        [_parts_label(layout.axes[name], layout, first), label]
        for name, (first, label) in AXIS_LABELS.items()
        if name in layout.axes
    ]
    rows.append([_parts_label(layout.lifts[0], layout, 1), "higher, lower steps"])
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


def _parts_label(parts: tuple[InputElement, ...], layout: InputLayout, first: int) -> str:
    """Return the labels of the inputs of an axis, the direction of sign `first` before the other."""
    ordered = sorted(parts, key=lambda part: 0.0 if isinstance(part, ButtonPair) else -first * part.sign)
    return ", ".join(dict.fromkeys(_part_label(part, layout, first) for part in ordered))


def _part_label(part: InputElement, layout: InputLayout, first: int) -> str:
    standard = layout.name == GAMEPAD.name
    match part:
        case ButtonPair(minus=minus, plus=plus):
            pair = (plus, minus) if first > 0 else (minus, plus)
            return " ".join(_button_label(button, layout) for button in pair)
        case Axis(index=index):
            return STICK_LABELS.get(index, "") if standard else f"axis {index}"
        case Throttle(index=index):
            return TRIGGER_LABELS[index] if standard else f"lever {index}"
        case Hat():
            return "D-pad" if standard else "hat"


def _button_label(button: Hashable, layout: InputLayout) -> str:
    """Return the label printed on a key or button: KeyW is W on most keyboards."""
    if isinstance(button, str):
        return ARROW_LABELS.get(button, button.removeprefix("Key").removeprefix("Digit"))
    has_label = isinstance(button, int) and layout.name == GAMEPAD.name
    return BUTTON_LABELS.get(button, f"button {button}") if has_label else f"button {button}"  # type: ignore[call-overload]
