"""The layouts that come with Poise.

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

from poise.devices.layout import Axis, Hat, Layout, Pair, Throttle
from poise.plans.guidance.stick import MODES

#: The joystick of the paper (Saitek AV8R): a main stick that turns about three axes, and a small one on its tip.
FLIGHT_STICK = Layout(
    "flight_stick",
    axes={
        "forward": (Axis(4, -1.0), Hat(1)),
        "left": (Axis(3, -1.0), Hat(0, -1.0)),
        "up": (Pair(minus=4, plus=3),),
        "roll": (Axis(0),),
        "pitch": (Axis(1, -1.0),),
        "yaw": (Axis(2, -1.0),),
    },
    following=(5,),
    preceding=(6,),
    lifts=((Throttle(0, missing=0.5),), (Throttle(1, missing=0.5),)),
    lift=0.0,
)

#: What browsers and game libraries bring almost any gamepad to; triggers are throttles, the D-pad is the hat.
GAMEPAD = Layout(
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
    following=(0,),
    preceding=(8,),
    lifts=((Hat(1, 0.5),), (Hat(1, 0.5),)),
)

#: Keys by `KeyboardEvent.code`, which is where a key is, not what is printed on it.
KEYBOARD = Layout(
    "keyboard",
    axes={
        "forward": (Pair("KeyS", "KeyW"), Pair("ArrowDown", "ArrowUp")),
        "left": (Pair("KeyD", "KeyA"),),
        "up": (Pair("KeyF", "KeyR"),),
        "roll": (Pair("KeyJ", "KeyL"),),
        "pitch": (Pair("KeyK", "KeyI"),),
        "yaw": (Pair("KeyE", "KeyQ"), Pair("ArrowRight", "ArrowLeft")),
    },
    modes={f"Digit{number}": mode for number, mode in enumerate(MODES, start=1)},
    following=("KeyN",),
    preceding=("KeyB",),
    lifts=((Pair("KeyG", "KeyT"),), (Pair("KeyG", "KeyT"),)),
)

#: By name.
LAYOUTS = {layout.name: layout for layout in (FLIGHT_STICK, GAMEPAD, KEYBOARD)}
