"""Legend: which key, stick or button does what, read from the layouts of `poise.devices`."""

from __future__ import annotations

from collections.abc import Hashable

from poise.devices import GAMEPAD
from poise.devices.layout import Axis, Hat, Layout, Pair, Part, Throttle
from poise.plans.guidance import AXES, MODES

#: What the axes of a stick do on the page: to the minus side, to the plus side.
WORDS = {
    "forward": "back, ahead", "left": "right, left", "up": "down, up", "roll": "lean left, right",
    "pitch": "bow back, ahead", "yaw": "turn right, left",
}  # fmt: skip
#: What the guided points do, for people who see this for the first time.
FOOT = "Ahead, back and aside step; up lifts the foot, and it stays in the air until down puts it down."
HAND = "The hand goes where you push; when the arm is at its end, it pulls the body and the feet along."
TRUNK = "The body goes where you push; the robot steps by itself when its feet do not carry it there."
HINTS = {mode: {"foot": FOOT, "hand": HAND}.get(mode.split()[-1], TRUNK) for mode in MODES}
#: What is on a standard pad, by the numbers of the W3C; other devices have numbers only.
STICKS = {0: "left stick", 1: "left stick", 2: "right stick", 3: "right stick"}
BUTTONS = {0: "A", 1: "B", 2: "X", 3: "Y", 4: "left shoulder", 5: "right shoulder", 8: "back"}
TRIGGERS = ("left trigger", "right trigger")
ARROWS = {"ArrowUp": "↑", "ArrowDown": "↓", "ArrowLeft": "←", "ArrowRight": "→"}


def codes(layout: Layout) -> list[str]:
    """All keys of a keyboard's layout."""
    parts = [part for parts in (*layout.axes.values(), *layout.lifts) for part in parts]
    found = {key for part in parts if isinstance(part, Pair) for key in (part.minus, part.plus)}
    return sorted(str(key) for key in {*found, *layout.modes, *layout.following, *layout.preceding})


def legend(layout: Layout) -> list[list[str]]:
    """Rows of what to use and what it does.

    >>> legend(KEYBOARD)[0]
    ['S W, ↓ ↑', 'back, ahead']
    """
    rows = [[_parts(layout.axes[name], layout), WORDS[name]] for name in AXES if name in layout.axes]
    rows.append([_parts(layout.lifts[0], layout), "step lower, higher"])
    rows += [
        [_button(button, layout), mode] for mode in MODES for button, chosen in layout.modes.items() if chosen == mode
    ]
    around = (*layout.preceding, *layout.following)
    rows.append([", ".join(_button(button, layout) for button in around), "previous, next point"])
    joined: dict[str, list[str]] = {}
    for used, does in rows:
        if used:
            joined.setdefault(used, []).append(does)
    return [[used, "; ".join(does)] for used, does in joined.items()]


def _parts(parts: tuple[Part, ...], layout: Layout) -> str:
    found = [_part(part, layout) for part in sorted(parts, key=lambda part: getattr(part, "sign", 0.0))]
    return ", ".join(dict.fromkeys(found))


def _part(part: Part, layout: Layout) -> str:
    standard = layout.name == GAMEPAD.name
    match part:
        case Pair(minus=minus, plus=plus):
            return f"{_button(minus, layout)} {_button(plus, layout)}"
        case Axis(index=index):
            return STICKS.get(index, "") if standard else f"axis {index}"
        case Throttle(index=index):
            return TRIGGERS[index] if standard else f"lever {index}"
        case Hat():
            return "cross"


def _button(button: Hashable, layout: Layout) -> str:
    """As it is printed: KeyW is W on most keyboards."""
    if isinstance(button, str):
        return ARROWS.get(button, button.removeprefix("Key").removeprefix("Digit"))
    named = isinstance(button, int) and layout.name == GAMEPAD.name
    return BUTTONS.get(button, f"button {button}") if named else f"button {button}"  # type: ignore[call-overload]
