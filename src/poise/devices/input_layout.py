"""Raw readings of input devices, and the layouts that map their axes, buttons and levers to a stick.

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

Modes of a gamepad lie where the part is: a shoulder, a face button to the left. Keys that drive in the studio (W A S D
Q E and the arrows) mean the same here. A stick that is pushed away bows, as a nose goes down in an aircraft.

No two drivers number a flight stick alike: `dataclasses.replace` a layout for yours.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field

from poise.errors import UsageError
from poise.plans import COMMAND_AXES, GUIDING_MODES, GuidingMode


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
    def is_connected(self) -> bool:
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


# -- Layout ----------------------------------------------------------------------------------------------------------


#: Share of an axis around its middle that counts as let go: springs of worn sticks leave up to a tenth.
DEAD_ZONE = 0.12


@dataclass(frozen=True)
class Axis:
    """An axis of the device; sign -1 where the device counts the other way."""

    index: int
    sign: float = 1.0

    def value(self, reading: Reading, dead_zone: float) -> float:
        """From -1 to 1 without the dead zone d: ``sign(x) (|x| - d) / (1 - d)``, so that it begins at zero."""
        x = self.sign * _value_at(reading.axes, self.index, 0.0)
        size = min(abs(x), 1.0)
        if size <= dead_zone:
            return 0.0
        deflection = (size - dead_zone) / (1.0 - dead_zone)
        return deflection if x > 0.0 else -deflection


@dataclass(frozen=True)
class ButtonPair:
    """Two buttons or keys, or a switch of three positions: one gives -1, the other 1, both or none 0."""

    minus: Hashable
    plus: Hashable

    def value(self, reading: Reading, dead_zone: float) -> float:
        """-1, 0 or 1."""
        return float(self.plus in reading.buttons) - float(self.minus in reading.buttons)


@dataclass(frozen=True)
class Hat:
    """One direction of the hat: 0 is right, 1 is up."""

    index: int
    sign: float = 1.0

    def value(self, reading: Reading, dead_zone: float) -> float:
        """-1, 0 or 1."""
        return self.sign * _value_at(reading.hat, self.index, 0.0)


@dataclass(frozen=True)
class Throttle:
    """A lever or trigger, from 0 to 1; sign -1 where it is to count downwards."""

    index: int
    sign: float = 1.0
    missing: float = 0.0

    def value(self, reading: Reading, dead_zone: float) -> float:
        """From 0 to its sign."""
        return self.sign * min(max(_value_at(reading.throttles, self.index, self.missing), 0.0), 1.0)


InputElement = Axis | ButtonPair | Hat | Throttle


@dataclass(frozen=True)
class InputLayout:
    """How a device is read.

    Args:
        name: of the layout.
        axes: for each axis of a stick (forward, left, up, roll, pitch, yaw) the parts that move it; they are added.
        modes: buttons that choose a guiding mode.
        next_mode, previous_mode: buttons that go on to the next mode of `GUIDING_MODES`, or back, in a cycle.
        lifts: for the left and the right foot the parts that say how high it is lifted, added to `lift`; when neither
            foot is guided the mean of both counts.
        lift: where the sum begins.
        dead_zone: share of an axis around its middle that counts as let go.

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
                raise UsageError(
                    f"layout '{self.name}': a stick has no axis '{name}'; expected {', '.join(COMMAND_AXES)}"
                )
        for mode in self.modes.values():
            if mode not in GUIDING_MODES:
                raise UsageError(
                    f"layout '{self.name}': there is no mode '{mode}'; expected {', '.join(GUIDING_MODES)}"
                )
        if not 0.0 <= self.dead_zone < 1.0:
            raise UsageError(
                f"layout '{self.name}': dead_zone is {self.dead_zone!r}; expected a share from 0 to below 1"
            )

    @property
    def has_only_buttons(self) -> bool:
        """Whether the device has nothing but buttons or keys: then an empty reading says that none is pressed."""
        parts = [part for parts in (*self.axes.values(), *self.lifts) for part in parts]
        return all(isinstance(part, ButtonPair) for part in parts)

    def deflections(self, reading: Reading) -> tuple[float, ...]:
        """The six axes of a stick; sums beyond 1 are the stick's to bring inside."""
        return tuple(
            [
                sum([part.value(reading, self.dead_zone) for part in self.axes.get(name, ())], 0.0)
                for name in COMMAND_AXES
            ]
        )

    def foot_lift(self, reading: Reading, mode: GuidingMode) -> float:
        """How high a stepping foot is lifted, from 0 to 1."""
        left, right = (self.lift + sum([part.value(reading, self.dead_zone) for part in parts]) for parts in self.lifts)
        return {"left foot": left, "right foot": right}.get(mode, 0.5 * (left + right))

    def mode_after(self, pressed: frozenset[Hashable], mode: GuidingMode) -> GuidingMode:
        """The mode after some buttons have just been pressed."""
        steps = len(pressed & set(self.next_mode)) - len(pressed & set(self.previous_mode))
        chosen = [name for button, name in self.modes.items() if button in pressed]
        return chosen[0] if chosen else GUIDING_MODES[(GUIDING_MODES.index(mode) + steps) % len(GUIDING_MODES)]


def _value_at(values: Sequence[float], index: int, missing: float) -> float:
    return values[index] if 0 <= index < len(values) else missing


# -- The layouts that come with Poise --------------------------------------------------------------------------------


#: The joystick of the paper (Saitek AV8R): a main stick that turns about three axes, and a small one on its tip.
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

#: What browsers and game libraries bring almost any gamepad to; triggers are throttles, the D-pad is the hat.
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

#: Keys by `KeyboardEvent.code`, which is where a key is, not what is printed on it.
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

#: By name.
LAYOUTS = {layout.name: layout for layout in (FLIGHT_STICK, GAMEPAD, KEYBOARD)}
