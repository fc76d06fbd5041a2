"""Joystick, with a fake pygame library."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from poise.devices import FLIGHT_STICK, GAMEPAD, Joystick
from poise.errors import MissingPackageError, UsageError

AXES = ("LEFTX", "LEFTY", "RIGHTX", "RIGHTY", "TRIGGERLEFT", "TRIGGERRIGHT")
BUTTONS = (
    *("A", "B", "X", "Y", "BACK", "START", "LEFTSTICK", "RIGHTSTICK", "LEFTSHOULDER", "RIGHTSHOULDER"),
    *("DPAD_UP", "DPAD_DOWN", "DPAD_LEFT", "DPAD_RIGHT"),
)


class FakePad:
    """As `pygame._sdl2.controller.Controller`."""

    name = "a pad"

    def __init__(self, library: FakeLibrary) -> None:
        self.library = library

    def attached(self) -> bool:
        return self.library.count > 0

    def get_axis(self, axis: int) -> int:
        return self.library.axes.get(AXES[axis], 0)

    def get_button(self, button: int) -> bool:
        return BUTTONS[button] in self.library.down


class FakeStick:
    """As `pygame.joystick.Joystick`."""

    def __init__(self, library: FakeLibrary) -> None:
        self.library = library

    def get_name(self) -> str:
        return "a stick"

    def get_numaxes(self) -> int:
        return 7

    def get_axis(self, axis: int) -> float:
        return self.library.raw.get(axis, 0.0)

    def get_numbuttons(self) -> int:
        return 12

    def get_button(self, button: int) -> bool:
        return button in self.library.down

    def get_numhats(self) -> int:
        return 1

    def get_hat(self, hat: int) -> tuple[int, int]:
        return (0, 0)


class FakeLibrary(ModuleType):
    """Fake of pygame, with the functions that are used."""

    JOYDEVICEADDED, JOYDEVICEREMOVED = 1, 2

    def __init__(self) -> None:
        super().__init__("pygame")
        self.count, self.known, self.screen = 1, True, False
        self.axes: dict[str, int] = {}
        self.raw: dict[int, float] = {}
        self.down: set[Any] = set()
        self.events: list[int] = []
        self.display = SimpleNamespace(get_init=lambda: self.screen, init=lambda: setattr(self, "screen", True))
        self.joystick = SimpleNamespace(
            init=lambda: None, get_count=lambda: self.count, Joystick=lambda index: FakeStick(self)
        )
        self.event = SimpleNamespace(get=self.poll_events, clear=lambda: None)
        self.controller = ModuleType("pygame._sdl2.controller")
        for name, thing in {
            "init": lambda: None,
            "is_controller": lambda index: self.known,
            "Controller": lambda index: FakePad(self),
        }.items():
            setattr(self.controller, name, thing)
        for number, name in enumerate(AXES):
            setattr(self, f"CONTROLLER_AXIS_{name}", number)
        for number, name in enumerate(BUTTONS):
            setattr(self, f"CONTROLLER_BUTTON_{name}", number)

    def poll_events(self, kinds: list[int]) -> list[SimpleNamespace]:
        assert self.screen, "SDL reports no events before it has a screen"
        events, self.events = self.events, []
        return [SimpleNamespace(type=kind) for kind in events]


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> FakeLibrary:
    library_module = FakeLibrary()
    for name in ("SDL_VIDEODRIVER", "SDL_JOYSTICK_ALLOW_BACKGROUND_EVENTS", "PYGAME_HIDE_SUPPORT_PROMPT"):
        monkeypatch.setenv(name, "")  # restored afterwards
        monkeypatch.delenv(name)
    monkeypatch.setitem(sys.modules, "pygame", library_module)
    monkeypatch.setitem(sys.modules, "pygame._sdl2", ModuleType("pygame._sdl2"))
    monkeypatch.setitem(sys.modules, "pygame._sdl2.controller", library_module.controller)
    return library_module


def test_a_pad_that_is_known_is_read_in_the_standard_layout(library: FakeLibrary) -> None:
    device = Joystick()
    assert device.operator.layout is GAMEPAD
    assert device.name == "a pad"
    library.axes = {"LEFTY": -32768, "RIGHTX": 32767, "TRIGGERRIGHT": 32767}
    library.down = {"LEFTSHOULDER", "DPAD_RIGHT", "DPAD_UP"}
    stick = device.read(0.0)
    assert stick.axes == (1.0, 0.0, 1.0, 1.0, 0.0, -1.0)
    assert (stick.mode, stick.lift) == ("left foot", 1.0)


def test_any_other_device_is_read_as_a_flight_stick(library: FakeLibrary) -> None:
    library.known = False
    device = Joystick(mode="left foot")
    assert device.operator.layout is FLIGHT_STICK
    library.raw, library.down = {0: 1.0, 4: -1.0, 5: -1.0, 6: 1.0}, {3}
    stick = device.read(0.0)
    assert stick.axes == (1.0, 0.0, 1.0, 1.0, 0.0, 0.0)
    assert stick.lift == 1.0


@pytest.mark.parametrize("known", [True, False])
def test_a_device_that_is_pulled_out_is_centered_and_works_again_when_it_is_back(
    library: FakeLibrary, known: bool
) -> None:
    library.known = known
    device = Joystick()
    library.axes, library.raw = {"LEFTY": -32768}, {4: -1.0}
    assert device.read(0.0).axes[0] == 1.0
    library.count, library.events = 0, [library.JOYDEVICEREMOVED]
    assert device.read(0.1).is_zero
    assert device.read(0.2).is_zero
    library.count, library.events = 1, [library.JOYDEVICEADDED]
    assert device.read(0.3).axes[0] == 1.0


def test_a_driver_that_fails_in_the_loop_is_a_centered_stick(
    library: FakeLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    device = Joystick()
    library.axes = {"LEFTY": -32768}
    assert not device.read(0.0).is_zero
    with monkeypatch.context() as broken:
        broken.setattr(FakePad, "get_axis", lambda *_: 1 / 0)
        assert device.read(0.1).is_zero
    assert not device.read(0.2).is_zero


def test_without_a_device_the_error_is_one_line(library: FakeLibrary) -> None:
    with pytest.raises(UsageError, match="there is no joystick 3"):
        Joystick(index=3)
    library.count = 0
    with pytest.raises(UsageError, match="is connected") as caught:
        Joystick()
    assert "\n" not in str(caught.value)


def test_without_the_library_the_error_names_the_package_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pygame", None)
    with pytest.raises(MissingPackageError, match=r"pip install 'poise\[gamepad\]'") as caught:
        Joystick()
    assert "\n" not in str(caught.value)
