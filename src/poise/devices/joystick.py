"""Operator, who turns readings of a device into sticks and modes, and Joystick, a device plugged into this machine."""

from __future__ import annotations

import os
from collections.abc import Hashable
from importlib import import_module
from typing import Any

from poise.devices.input_layout import FLIGHT_STICK, GAMEPAD, InputLayout, Reading
from poise.devices.virtual_operators import Device
from poise.errors import UsageError
from poise.extras import load
from poise.plans import GuidingMode, OperatorCommand, guiding_mode


class Operator(Device):
    """Turns the readings of a device into sticks, and remembers which mode the buttons have chosen.

    A press switches the mode once, however long it lasts; a button that is already down when the device is plugged in
    again switches nothing. A device that is unplugged, or says NaN, is a centred stick; the mode stays.

    Args:
        layout: what each axis and button means.
        mode: to begin with.

    >>> operator = Operator(KEYBOARD)
    >>> operator.update(Reading(buttons={"KeyW", "Digit1"}))
    Stick(mode='left foot', axes=(1.0, 0.0, 0.0, 0.0, 0.0, 0.0), lift=0.5)
    """

    def __init__(self, layout: InputLayout = GAMEPAD, mode: str = "trunk") -> None:
        if not isinstance(layout, InputLayout):
            raise UsageError(f"an operator needs an InputLayout, e.g. poise.devices.GAMEPAD; given {layout!r}")
        self.layout = layout
        self.mode: GuidingMode = guiding_mode(mode)
        self._pressed: frozenset[Hashable] | None = frozenset()
        self._stick = OperatorCommand(self.mode)

    def update(self, reading: Reading | None) -> OperatorCommand:
        """The stick for a new reading; None, like an empty one, for a device that is unplugged."""
        if reading is None or not (reading.is_connected or self.layout.has_only_buttons):
            self._pressed = None  # what is down when the device comes back was not pressed now
            self._stick = OperatorCommand(self.mode, lift=self._stick.lift)
            return self._stick
        down = frozenset(reading.buttons)
        if self._pressed is not None:
            self.mode = self.layout.mode_after(down - self._pressed, self.mode)
        self._pressed = down
        axes, lift = self.layout.deflections(reading), self.layout.foot_lift(reading, self.mode)
        self._stick = OperatorCommand(self.mode, axes, lift)  # type: ignore[arg-type]
        return self._stick

    def read(self, time: float) -> OperatorCommand:
        """The latest stick, whatever the time."""
        return self._stick


# -- Joystick: a joystick or gamepad that is plugged into this machine -----------------------------------------------


#: Buttons of the standard layout by the number that browsers give them, and what SDL calls them.
_BUTTON_NAMES = {
    0: "A", 1: "B", 2: "X", 3: "Y", 4: "LEFTSHOULDER", 5: "RIGHTSHOULDER",
    8: "BACK", 9: "START", 10: "LEFTSTICK", 11: "RIGHTSTICK",
}  # fmt: skip
_AXIS_NAMES = ("LEFTX", "LEFTY", "RIGHTX", "RIGHTY")
#: What SDL says of an axis at its end.
_AXIS_END = 32767.0


class Joystick(Device):
    """An operator at a device that is plugged in here, read through SDL (pygame-ce) without any window.

    A pad that SDL knows is brought to the standard layout, whatever its maker; anything else is read as it is: the
    first five axes are axes, those after them throttles (FLIGHT_STICK). Read it from the thread that made it. Pulled
    out, it is a centred stick; put back, it works again.

    Args:
        layout: None: `GAMEPAD` for a pad that SDL knows, else `FLIGHT_STICK`.
        index: which, if more than one is plugged in.
        mode: to begin with.

    Raises:
        UsageError: without pygame-ce, or if nothing is plugged in.

    >>> device = Joystick()
    >>> device.name, device.read(0.0)
    """

    def __init__(self, layout: InputLayout | None = None, index: int = 0, mode: str = "trunk") -> None:
        self._pygame, self._owns_pygame = pygame, _ = _load_pygame()
        count = pygame.joystick.get_count()
        if count == 0:
            raise UsageError("no joystick or gamepad is plugged in; plug one in, or give a script or --random")
        if not (isinstance(index, int) and 0 <= index < count):
            raise UsageError(f"there is no joystick {index!r}; {count} plugged in, counted from 0")
        self._index = index
        self._device: Any = None
        self._open()
        self.operator = Operator(layout or (GAMEPAD if self._standard else FLIGHT_STICK), mode)

    @property
    def name(self) -> str:
        """What the device calls itself."""
        return str(self._name)

    def read(self, time: float) -> OperatorCommand:
        """What the device says now, whatever the time."""
        try:
            reading = self._reading()
        except Exception:  # a driver that fails is a device that is gone; the loop goes on
            self._device = reading = None
        return self.operator.update(reading)

    def _open(self) -> None:
        pygame = self._pygame
        controllers = import_module("pygame._sdl2.controller")
        controllers.init()
        self._standard = bool(controllers.is_controller(self._index))
        kind = controllers.Controller if self._standard else pygame.joystick.Joystick
        self._device = kind(self._index)
        self._name = self._device.name if self._standard else self._device.get_name()

    def _reading(self) -> Reading | None:
        pygame = self._pygame
        added, removed = pygame.JOYDEVICEADDED, pygame.JOYDEVICEREMOVED
        kinds = [event.type for event in pygame.event.get([added, removed])]  # this also lets SDL look at the device
        if self._owns_pygame:
            pygame.event.clear()  # of axes and buttons we ask the state; their events would only fill the queue
        if removed in kinds or self._device is None:
            self._device = None
            if pygame.joystick.get_count() <= self._index:
                return None
            self._open()
        return self._gamepad_reading() if self._standard else self._joystick_reading()

    def _gamepad_reading(self) -> Reading | None:
        pygame, pad = self._pygame, self._device
        if not pad.attached():
            return None

        def axis(name: str) -> float:
            return float(pad.get_axis(getattr(pygame, f"CONTROLLER_AXIS_{name}"))) / _AXIS_END

        def down(name: str) -> bool:
            return bool(pad.get_button(getattr(pygame, f"CONTROLLER_BUTTON_{name}")))

        hat = (down("DPAD_RIGHT") - down("DPAD_LEFT"), down("DPAD_UP") - down("DPAD_DOWN"))
        buttons = [number for number, name in _BUTTON_NAMES.items() if down(name)]
        throttles = (axis("TRIGGERLEFT"), axis("TRIGGERRIGHT"))
        return Reading([axis(name) for name in _AXIS_NAMES], buttons, hat, throttles)

    def _joystick_reading(self) -> Reading:
        stick = self._device
        axes = [stick.get_axis(number) for number in range(stick.get_numaxes())]
        buttons = [number for number in range(stick.get_numbuttons()) if stick.get_button(number)]
        hat = stick.get_hat(0) if stick.get_numhats() else (0.0, 0.0)
        # A lever that is pushed away says -1, one that is pulled back 1.
        return Reading(axes[:5], buttons, hat, [0.5 - 0.5 * lever for lever in axes[5:]])


def _load_pygame() -> tuple[Any, bool]:
    """pygame with its joysticks ready; and whether it is ours alone, without a window of the program's."""
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    os.environ.setdefault("SDL_JOYSTICK_ALLOW_BACKGROUND_EVENTS", "1")  # else it is silent without a window in front
    pygame: Any = load("pygame", "_sdl2.controller")
    owns_pygame = not pygame.display.get_init()
    if owns_pygame:
        os.environ.setdefault("SDL_VIDEODRIVER", "dummy")  # events need a screen, but not a real one
        pygame.display.init()
    pygame.joystick.init()
    return pygame, owns_pygame
