"""Input devices of an operator, and programs in their place; each device returns an `OperatorCommand` at a time.

| device | description |
|---|---|
| `Operator` | converts readings of a device through a layout, and stores the guiding mode |
| `Joystick` | joystick or gamepad connected to this machine (needs ``poise[gamepad]``) |
| `Script` | entries of a JSON file, each valid until the next |
| `RandomDevice` | random commands, reproducible by a seed |
| `GoalOperator` | guides a foot, the trunk or a hand to goals, one after the other, by observing the robot |

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
