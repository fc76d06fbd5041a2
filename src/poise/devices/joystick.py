"""`Operator`, which converts readings of a device to commands, and `Joystick`, a device connected to this machine."""

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
    """Converts the readings of a device to commands, and stores the guiding mode selected by the buttons.

    A press switches the mode once, independent of its duration; a button that is already pressed when the device is
    reconnected has no effect. A disconnected device, or one that returns NaN, gives zero axes and keeps the mode.

    Args:
        layout: meaning of each axis and button.
        mode: initial guiding mode.

    >>> operator = Operator(KEYBOARD)
    >>> operator.update(Reading(buttons={"KeyW", "Digit1"}))
    OperatorCommand(mode='left foot', axes=(1.0, 0.0, 0.0, 0.0, 0.0, 0.0), lift=0.5)
    """

    def __init__(self, layout: InputLayout = GAMEPAD, mode: str = "trunk") -> None:
        if not isinstance(layout, InputLayout):
            raise UsageError(f"Operator.layout is {layout!r}; expected an InputLayout, e.g. poise.devices.GAMEPAD")
        self.layout = layout
        self.mode: GuidingMode = guiding_mode(mode)
        self._pressed: frozenset[Hashable] | None = frozenset()
        self._stick = OperatorCommand(self.mode)

    def update(self, reading: Reading | None) -> OperatorCommand:
        """Return the command for a new reading; None or an empty reading means a disconnected device."""
        if reading is None or not (reading.is_connected or self.layout.has_only_buttons):
            self._pressed = None  # buttons already pressed on reconnection do not count as new
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
        """Return the latest command, for any time."""
        return self._stick


# -- Joystick --------------------------------------------------------------------------------------------------------


#: Buttons of the standard layout: number in browsers, and name in SDL.
_BUTTON_NAMES = {
    0: "A", 1: "B", 2: "X", 3: "Y", 4: "LEFTSHOULDER", 5: "RIGHTSHOULDER",
    8: "BACK", 9: "START", 10: "LEFTSTICK", 11: "RIGHTSTICK",
}  # fmt: skip
_AXIS_NAMES = ("LEFTX", "LEFTY", "RIGHTX", "RIGHTY")
#: SDL's value of an axis at its end.
_AXIS_END = 32767.0


class Joystick(Device):
    """Joystick or gamepad connected to this machine, read through SDL (pygame-ce) without a window.

    SDL maps the gamepads that it knows to the standard layout. For all other devices the first five axes are axes and
    the following ones are throttles (`FLIGHT_STICK`). Read it from the thread that created it. While it is disconnected
    it gives zero axes; after reconnection it works again.

    Args:
        layout: None: `GAMEPAD` for a gamepad known to SDL, else `FLIGHT_STICK`.
        index: index of the device if there are several, from 0.
        mode: initial guiding mode.

    Raises:
        UsageError: if pygame-ce is not installed, or no device is connected.

    >>> device = Joystick()
    >>> device.name, device.read(0.0)
    """

    def __init__(self, layout: InputLayout | None = None, index: int = 0, mode: str = "trunk") -> None:
        self._pygame, self._owns_pygame = pygame, _ = _load_pygame()
        count = pygame.joystick.get_count()
        if count == 0:
            raise UsageError("no joystick or gamepad is connected; connect one, or use a script or --random")
        if not (isinstance(index, int) and 0 <= index < count):
            raise UsageError(f"there is no joystick {index!r}; expected an index from 0 to {count - 1}")
        self._index = index
        self._device: Any = None
        self._open()
        self.operator = Operator(layout or (GAMEPAD if self._standard else FLIGHT_STICK), mode)

    @property
    def name(self) -> str:
        """Name reported by the device."""
        return str(self._name)

    def read(self, time: float) -> OperatorCommand:
        """Return the current command of the device, for any time."""
        try:
            reading = self._reading()
        except Exception:  # a failing driver counts as a disconnected device; the control loop continues
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
        kinds = [event.type for event in pygame.event.get([added, removed])]  # this also makes SDL poll the device
        if self._owns_pygame:
            pygame.event.clear()  # axes and buttons are polled; their events would only fill the queue
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
        # A lever pushed forward gives -1, one pulled back gives 1.
        return Reading(axes[:5], buttons, hat, [0.5 - 0.5 * lever for lever in axes[5:]])


def _load_pygame() -> tuple[Any, bool]:
    """Return pygame with joysticks initialized, and whether Poise alone uses it (the program has no window)."""
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    os.environ.setdefault("SDL_JOYSTICK_ALLOW_BACKGROUND_EVENTS", "1")  # otherwise no input without a focused window
    pygame: Any = load("pygame", "_sdl2.controller")
    owns_pygame = not pygame.display.get_init()
    if owns_pygame:
        os.environ.setdefault("SDL_VIDEODRIVER", "dummy")  # events need a display; a dummy is enough
        pygame.display.init()
    pygame.joystick.init()
    return pygame, owns_pygame
