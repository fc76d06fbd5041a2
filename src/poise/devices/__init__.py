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

from poise.devices.device import Device
from poise.devices.joystick import Joystick
from poise.devices.layout import Axis, Hat, Layout, Pair, Throttle
from poise.devices.layouts import FLIGHT_STICK, GAMEPAD, KEYBOARD, LAYOUTS
from poise.devices.operator import Operator
from poise.devices.random_stick import RandomStick
from poise.devices.reading import Reading
from poise.devices.script import Entry, Script

__all__ = [
    "FLIGHT_STICK",
    "GAMEPAD",
    "KEYBOARD",
    "LAYOUTS",
    "Axis",
    "Device",
    "Entry",
    "Hat",
    "Joystick",
    "Layout",
    "Operator",
    "Pair",
    "RandomStick",
    "Reading",
    "Script",
    "Throttle",
]
