"""What an operator holds in the hand, or what takes its place: each device becomes a `Stick` of the guidance.

| device | is |
|---|---|
| `Operator` | a person at a device: takes its readings through a layout, and remembers the mode |
| `Joystick` | an operator at a joystick or gamepad that is plugged in here (needs ``poise[gamepad]``) |
| `Script` | entries of a JSON file, each held until the next |
| `RandomStick` | any command at any time, reproducible |

Layouts are data: `FLIGHT_STICK` ([Sugihara2008], section IV), `GAMEPAD`, `KEYBOARD`.

>>> device = Script.load("down_the_stairs.json")
>>> stick = device.read(time=1.5)
"""

from poise.devices.input_layout import (
    FLIGHT_STICK,
    GAMEPAD,
    KEYBOARD,
    LAYOUTS,
    Axis,
    Hat,
    Layout,
    Pair,
    Part,
    Reading,
    Throttle,
)
from poise.devices.joystick import Joystick, Operator
from poise.devices.virtual_operators import Device, Entry, Errand, FootTo, HandTo, Pilot, RandomStick, Script, TrunkTo

__all__ = [
    "FLIGHT_STICK",
    "GAMEPAD",
    "KEYBOARD",
    "LAYOUTS",
    "Axis",
    "Device",
    "Entry",
    "Errand",
    "FootTo",
    "HandTo",
    "Hat",
    "Joystick",
    "Layout",
    "Operator",
    "Pair",
    "Part",
    "Pilot",
    "RandomStick",
    "Reading",
    "Script",
    "Throttle",
    "TrunkTo",
]
