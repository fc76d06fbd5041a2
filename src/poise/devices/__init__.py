"""What an operator holds in the hand, or what takes its place: each device becomes a `OperatorCommand` of the guidance.

| device | is |
|---|---|
| `Operator` | a person at a device: takes its readings through a layout, and remembers the mode |
| `Joystick` | an operator at a joystick or gamepad that is plugged in here (needs ``poise[gamepad]``) |
| `Script` | entries of a JSON file, each held until the next |
| `RandomDevice` | any command at any time, reproducible |

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
    ButtonPair,
    Hat,
    InputElement,
    InputLayout,
    Reading,
    Throttle,
)
from poise.devices.joystick import Joystick, Operator
from poise.devices.virtual_operators import (
    Device,
    FootGoal,
    GoalOperator,
    GuidanceGoal,
    HandGoal,
    RandomDevice,
    Script,
    ScriptEntry,
    TrunkGoal,
)

__all__ = [
    "FLIGHT_STICK",
    "GAMEPAD",
    "KEYBOARD",
    "LAYOUTS",
    "Axis",
    "ButtonPair",
    "Device",
    "FootGoal",
    "GoalOperator",
    "GuidanceGoal",
    "HandGoal",
    "Hat",
    "InputElement",
    "InputLayout",
    "Joystick",
    "Operator",
    "RandomDevice",
    "Reading",
    "Script",
    "ScriptEntry",
    "Throttle",
    "TrunkGoal",
]
