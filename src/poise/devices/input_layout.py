"""Raw readings of input devices, and layouts that map their axes, buttons and levers to an `OperatorCommand`.

| | `FLIGHT_STICK` ([Sugihara2008], section IV) | `GAMEPAD` (W3C "standard") | `KEYBOARD` (names of browsers) |
|---|---|---|---|
| forward, left | sub stick (axes 4, 3) or hat | left stick (axes 1, 0) | W S, A D, arrows up and down |
| up | momentary switch (buttons 3 up, 4 down) | right trigger up, left trigger down | R F |
| roll (to the right) | main stick, bank (axis 0) | D-pad left and right | J L |
| pitch (bow) | main stick, pushed (axis 1) | right stick, pushed (axis 3) | I K |
| yaw (to the left) | main stick, heading (axis 2) | right stick, sideways (axis 2) | Q E, arrows left and right |
| lift of a foot | two throttles, one for each foot | half; D-pad up: most, down: least | half; T: most, G: least |
| left, right foot | - | left, right shoulder (4, 5) | 1, 2 |
| trunk | - | upper face button (3) | 3 |
| left, right hand | - | left, right face button (2, 1) | 4, 5 |
| next, previous mode | toggle switch forward, back (5, 6) | lower face button (0), back (8) | N, B |

The mode buttons of a gamepad are on the side of the guided part: left shoulder, left face button. The driving keys of
the studio (W A S D Q E and the arrows) mean the same here. Pushing the stick forward bows the trunk, like the nose of
an aircraft.

Drivers number the axes of flight sticks differently: adapt a layout with `dataclasses.replace`.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field

from poise.errors import UsageError, suggestion
from poise.plans import COMMAND_AXES, GUIDING_MODES, GuidingMode


@dataclass(frozen=True)
class Reading:
    """Raw values of a device, numbered or named as by its driver. An empty reading means a disconnected device.

    Args:
        axes: each from -1 to 1; as in browsers and drivers, right, back and clockwise are positive.
        buttons: pressed buttons by number, or keys by name, for example ``"KeyW"``.
        hat: right and up, each -1, 0 or 1.
        throttles: levers and triggers, which have no center: each from 0 (pulled back, released) to 1.

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
    def is_connected(self) -> bool:
        """Whether the device works: the reading is not empty and all its numbers are finite."""
        numbers = (*self.axes, *self.throttles, *self.hat)
        return bool(self.axes or self.throttles or self.buttons or any(self.hat)) and all(map(math.isfinite, numbers))


def _numbers(values: object) -> tuple[float, ...]:
    """Convert values of a driver, of any type, to numbers; NaN if a value is not a number."""
    try:
        return tuple([_number(value) for value in values])  # type: ignore[attr-defined]
    except TypeError:
        return ()


def _number(value: object) -> float:
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return math.nan


# -- Layout ----------------------------------------------------------------------------------------------------------


#: Fraction of an axis around its center that counts as zero: worn springs leave up to a tenth.
DEAD_ZONE = 0.12


@dataclass(frozen=True)
class Axis:
    """An axis of the device; sign -1 inverts its direction."""

    index: int
    sign: float = 1.0

    def value(self, reading: Reading, dead_zone: float) -> float:
        """Return the deflection from -1 to 1, continuous at the dead zone d: ``sign(x) (|x| - d) / (1 - d)``."""
        x = self.sign * _value_at(reading.axes, self.index, 0.0)
        size = min(abs(x), 1.0)
        if size <= dead_zone:
            return 0.0
        deflection = (size - dead_zone) / (1.0 - dead_zone)
        return deflection if x > 0.0 else -deflection


@dataclass(frozen=True)
class ButtonPair:
    """Two buttons or keys, or a switch with three positions: one gives -1, the other 1, both or neither 0."""

    minus: Hashable
    plus: Hashable

    def value(self, reading: Reading, dead_zone: float) -> float:
        """Return -1, 0 or 1."""
        return float(self.plus in reading.buttons) - float(self.minus in reading.buttons)


@dataclass(frozen=True)
class Hat:
    """One direction of the hat switch: index 0 is right, 1 is up; `sign` scales its value."""

    index: int
    sign: float = 1.0

    def value(self, reading: Reading, dead_zone: float) -> float:
        """Return -1, 0 or 1, times the sign."""
        return self.sign * _value_at(reading.hat, self.index, 0.0)


@dataclass(frozen=True)
class Throttle:
    """A lever or trigger, from 0 to 1; sign -1 for negative values; `missing` is the value if the device lacks it."""

    index: int
    sign: float = 1.0
    missing: float = 0.0

    def value(self, reading: Reading, dead_zone: float) -> float:
        """Return a value from 0 to `sign`."""
        return self.sign * min(max(_value_at(reading.throttles, self.index, self.missing), 0.0), 1.0)


InputElement = Axis | ButtonPair | Hat | Throttle


@dataclass(frozen=True)
class InputLayout:
    """Mapping from the elements of a device to the axes and modes of an `OperatorCommand`.

    Args:
        name: name of the layout.
        axes: elements of the device for each command axis (forward, left, up, roll, pitch, yaw); they are added.
        modes: buttons that select a guiding mode.
        next_mode, previous_mode: buttons that select the next or previous mode of `GUIDING_MODES`, in a cycle.
        lifts: elements that set the lift of the left and of the right foot, added to `lift`; if no foot is guided, the
            mean of both is used.
        lift: lift of a stepping foot while these elements are at zero, from 0 (lowest) to 1 (highest).
        dead_zone: fraction of an axis around its center that counts as zero.

    >>> replace(GAMEPAD, dead_zone=0.05)
    """

    name: str
    axes: Mapping[str, tuple[InputElement, ...]]
    modes: Mapping[Hashable, GuidingMode] = field(default_factory=dict)
    next_mode: tuple[Hashable, ...] = ()
    previous_mode: tuple[Hashable, ...] = ()
    lifts: tuple[tuple[InputElement, ...], tuple[InputElement, ...]] = ((), ())
    lift: float = 0.5
    dead_zone: float = DEAD_ZONE

    def __post_init__(self) -> None:
        for name in self.axes:
            if name not in COMMAND_AXES:
                raise UsageError(f"layout '{self.name}': unknown axis '{name}'; {suggestion(name, COMMAND_AXES)}")
        for mode in self.modes.values():
            if mode not in GUIDING_MODES:
                raise UsageError(f"layout '{self.name}': unknown mode '{mode}'; {suggestion(mode, GUIDING_MODES)}")
        if not 0.0 <= self.dead_zone < 1.0:
            raise UsageError(f"layout '{self.name}': dead_zone is {self.dead_zone!r}; expected 0 or more and below 1")

    @property
    def has_only_buttons(self) -> bool:
        """Whether the device has only buttons or keys: then an empty reading means that none is pressed."""
        parts = [part for parts in (*self.axes.values(), *self.lifts) for part in parts]
        return all(isinstance(part, ButtonPair) for part in parts)

    def deflections(self, reading: Reading) -> tuple[float, ...]:
        """Return the six command axes; `OperatorCommand` clips sums beyond 1."""
        return tuple(
            [
                sum([part.value(reading, self.dead_zone) for part in self.axes.get(name, ())], 0.0)
                for name in COMMAND_AXES
            ]
        )

    def foot_lift(self, reading: Reading, mode: GuidingMode) -> float:
        """Return the lift of a stepping foot; `OperatorCommand` clips it to the range from 0 to 1."""
        left, right = (self.lift + sum([part.value(reading, self.dead_zone) for part in parts]) for parts in self.lifts)
        return {"left foot": left, "right foot": right}.get(mode, 0.5 * (left + right))

    def mode_after(self, pressed: frozenset[Hashable], mode: GuidingMode) -> GuidingMode:
        """Return the guiding mode after the given buttons were newly pressed."""
        steps = len(pressed & set(self.next_mode)) - len(pressed & set(self.previous_mode))
        selected_modes = [name for button, name in self.modes.items() if button in pressed]
        return (
            selected_modes[0]
            if selected_modes
            else GUIDING_MODES[(GUIDING_MODES.index(mode) + steps) % len(GUIDING_MODES)]
        )


def _value_at(values: Sequence[float], index: int, missing: float) -> float:
    return values[index] if 0 <= index < len(values) else missing


# -- Predefined layouts ----------------------------------------------------------------------------------------------


#: The joystick of the paper (Saitek AV8R): a main stick with three axes, and a small stick on its tip.
FLIGHT_STICK = InputLayout(
    "flight_stick",
    axes={
        "forward": (Axis(4, -1.0), Hat(1)),
        "left": (Axis(3, -1.0), Hat(0, -1.0)),
        "up": (ButtonPair(minus=4, plus=3),),
        "roll": (Axis(0),),
        "pitch": (Axis(1, -1.0),),
        "yaw": (Axis(2, -1.0),),
    },
    next_mode=(5,),
    previous_mode=(6,),
    lifts=((Throttle(0, missing=0.5),), (Throttle(1, missing=0.5),)),
    lift=0.0,
)

#: The standard layout to which browsers and game libraries map most gamepads; triggers are throttles, the D-pad is the
#: hat.
GAMEPAD = InputLayout(
    "gamepad",
    axes={
        "forward": (Axis(1, -1.0),),
        "left": (Axis(0, -1.0),),
        "up": (Throttle(1), Throttle(0, -1.0)),
        "roll": (Hat(0),),
        "pitch": (Axis(3, -1.0),),
        "yaw": (Axis(2, -1.0),),
    },
    modes={4: "left foot", 5: "right foot", 3: "trunk", 2: "left hand", 1: "right hand"},
    next_mode=(0,),
    previous_mode=(8,),
    lifts=((Hat(1, 0.5),), (Hat(1, 0.5),)),
)

#: Keys by `KeyboardEvent.code`, which identifies the position of a key, not its label.
KEYBOARD = InputLayout(
    "keyboard",
    axes={
        "forward": (ButtonPair("KeyS", "KeyW"), ButtonPair("ArrowDown", "ArrowUp")),
        "left": (ButtonPair("KeyD", "KeyA"),),
        "up": (ButtonPair("KeyF", "KeyR"),),
        "roll": (ButtonPair("KeyJ", "KeyL"),),
        "pitch": (ButtonPair("KeyK", "KeyI"),),
        "yaw": (ButtonPair("KeyE", "KeyQ"), ButtonPair("ArrowRight", "ArrowLeft")),
    },
    modes={f"Digit{number}": mode for number, mode in enumerate(GUIDING_MODES, start=1)},
    next_mode=("KeyN",),
    previous_mode=("KeyB",),
    lifts=((ButtonPair("KeyG", "KeyT"),), (ButtonPair("KeyG", "KeyT"),)),
)

#: All predefined layouts by name.
LAYOUTS = {layout.name: layout for layout in (FLIGHT_STICK, GAMEPAD, KEYBOARD)}
