"""Layout: what each axis, button and lever of a device means, as data."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

from poise.devices.reading import Reading
from poise.errors import UsageError
from poise.plans.guidance.stick import AXES, MODES, Mode

#: Share of an axis around its middle that counts as let go: springs of worn sticks leave up to a tenth.
DEAD = 0.12


@dataclass(frozen=True)
class Axis:
    """An axis of the device; sign -1 where the device counts the other way."""

    index: int
    sign: float = 1.0

    def value(self, reading: Reading, dead: float) -> float:
        """From -1 to 1 without the dead zone d: ``sign(x) (|x| - d) / (1 - d)``, so that it begins at zero."""
        x = self.sign * _at(reading.axes, self.index, 0.0)
        size = min(abs(x), 1.0)
        if size <= dead:
            return 0.0
        deflection = (size - dead) / (1.0 - dead)
        return deflection if x > 0.0 else -deflection


@dataclass(frozen=True)
class Pair:
    """Two buttons or keys, or a switch of three positions: one gives -1, the other 1, both or none 0."""

    minus: Hashable
    plus: Hashable

    def value(self, reading: Reading, dead: float) -> float:
        """-1, 0 or 1."""
        return float(self.plus in reading.buttons) - float(self.minus in reading.buttons)


@dataclass(frozen=True)
class Hat:
    """One direction of the hat: 0 is right, 1 is up."""

    index: int
    sign: float = 1.0

    def value(self, reading: Reading, dead: float) -> float:
        """-1, 0 or 1."""
        return self.sign * _at(reading.hat, self.index, 0.0)


@dataclass(frozen=True)
class Throttle:
    """A lever or trigger, from 0 to 1; sign -1 where it is to count downwards."""

    index: int
    sign: float = 1.0
    missing: float = 0.0

    def value(self, reading: Reading, dead: float) -> float:
        """From 0 to its sign."""
        return self.sign * min(max(_at(reading.throttles, self.index, self.missing), 0.0), 1.0)


Part = Axis | Pair | Hat | Throttle


@dataclass(frozen=True)
class Layout:
    """How a device is read.

    Args:
        name: of the layout.
        axes: for each axis of a stick (forward, left, up, roll, pitch, yaw) the parts that move it; they are added.
        modes: buttons that choose a guiding mode.
        following, preceding: buttons that go on to the next mode of `MODES`, or back; after the last comes the first.
        lifts: for the left and the right foot the parts that say how high it is lifted, added to `lift`; when neither
            foot is guided the mean of both counts.
        lift: where the sum begins.
        dead: share of an axis around its middle that counts as let go.

    >>> replace(GAMEPAD, dead=0.05)
    """

    name: str
    axes: Mapping[str, tuple[Part, ...]]
    modes: Mapping[Hashable, Mode] = field(default_factory=dict)
    following: tuple[Hashable, ...] = ()
    preceding: tuple[Hashable, ...] = ()
    lifts: tuple[tuple[Part, ...], tuple[Part, ...]] = ((), ())
    lift: float = 0.5
    dead: float = DEAD

    def __post_init__(self) -> None:
        for name in self.axes:
            if name not in AXES:
                raise UsageError(f"layout '{self.name}': a stick has no axis '{name}'; expected {', '.join(AXES)}")
        for mode in self.modes.values():
            if mode not in MODES:
                raise UsageError(f"layout '{self.name}': there is no mode '{mode}'; expected {', '.join(MODES)}")
        if not 0.0 <= self.dead < 1.0:
            raise UsageError(f"layout '{self.name}': dead is {self.dead!r}; expected a share from 0 to below 1")

    @property
    def only_buttons(self) -> bool:
        """Whether the device has nothing but buttons or keys: then an empty reading says that none is pressed."""
        parts = [part for parts in (*self.axes.values(), *self.lifts) for part in parts]
        return all(isinstance(part, Pair) for part in parts)

    def deflections(self, reading: Reading) -> tuple[float, ...]:
        """The six axes of a stick; sums beyond 1 are the stick's to bring inside."""
        return tuple([sum([part.value(reading, self.dead) for part in self.axes.get(name, ())], 0.0) for name in AXES])

    def lifted(self, reading: Reading, mode: Mode) -> float:
        """How high a stepping foot is lifted, from 0 to 1."""
        left, right = (self.lift + sum([part.value(reading, self.dead) for part in parts]) for parts in self.lifts)
        return {"left foot": left, "right foot": right}.get(mode, 0.5 * (left + right))

    def switched(self, pressed: frozenset[Hashable], mode: Mode) -> Mode:
        """The mode after some buttons have just been pressed."""
        steps = len(pressed & set(self.following)) - len(pressed & set(self.preceding))
        chosen = [name for button, name in self.modes.items() if button in pressed]
        return chosen[0] if chosen else MODES[(MODES.index(mode) + steps) % len(MODES)]


def _at(values: Sequence[float], index: int, missing: float) -> float:
    return values[index] if 0 <= index < len(values) else missing
