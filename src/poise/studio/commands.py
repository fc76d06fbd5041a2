"""What a page may ask for, and how each wish must look. Anything else stops here."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

#: Slow motion: real time, a half, a quarter, a tenth.
PACES = (1, 0.5, 0.25, 0.1)
#: Longest name of a scene, robot, control, file; the file systems' own limit.
LONGEST = 255
#: Nobody holds so many keys, and no pad has so many buttons.
MANY = 64


def wish(text: str | bytes) -> tuple[str, Any] | str:
    """Name and value of a command of a page, or one line that says why it is none.

    Args:
        text: JSON, `{"do": name, "with": value}`.

    Example:
        >>> wish('{"do": "pace", "with": 0.5}')
        ('pace', 0.5)
        >>> wish('{"do": "stick", "with": [2, 0, 0]}')
        "'stick' cannot be [2, 0, 0]; expected forward, left and turn, each between -1 and 1"
    """
    try:
        given = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return "the page sent something that is not JSON; reload it"
    name = given.get("do") if isinstance(given, dict) else None
    if not isinstance(name, str) or name not in COMMANDS:
        return f"the page asked for {str(name)[:40]!r}; expected one of {', '.join(COMMANDS)}; reload it"
    fits, expected = COMMANDS[name]
    value = given.get("with")
    return (name, value) if fits(value) else f"'{name}' cannot be {str(value)[:60]}; expected {expected}"


def _refuse(constant: str) -> float:
    raise ValueError(constant)


def _number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _name(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= LONGEST


def _nothing(value: object) -> bool:
    return value is None


def _switch(value: object) -> bool:
    return isinstance(value, bool)


def _stick(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 3 and all(_number(part) and abs(part) <= 1 for part in value)


def _hands(value: Any) -> bool:
    if value is None:
        return True
    if not (isinstance(value, dict) and value.keys() == {"keys", "pad", "axes"}):
        return False
    keys, pad, axes = value["keys"], value["pad"], value["axes"]
    return (
        isinstance(keys, list) and len(keys) <= MANY and all(map(_name, keys))
        and isinstance(axes, list) and len(axes) == 6 and all(_number(part) and abs(part) <= 1 for part in axes)
        and (pad is None or _pad(pad))
    )  # fmt: skip


def _pad(value: Any) -> bool:
    if not (isinstance(value, dict) and value.keys() == {"standard", "axes", "buttons"}):
        return False
    lists = value["axes"], value["buttons"]
    return isinstance(value["standard"], bool) and all(
        isinstance(given, list) and len(given) <= MANY and all(map(_number, given)) for given in lists
    )


def _pace(value: object) -> bool:
    return _number(value) and value in PACES


def _control(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and _name(value[0])


def _replay(value: Any) -> bool:
    return value is None or (isinstance(value, dict) and _name(value.get("file")) and _number(value.get("time")))


def _export(value: Any) -> bool:
    return isinstance(value, dict) and _name(value.get("file")) and _name(value.get("format"))


#: Every command: what its value must be, and the same in words.
COMMANDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "alive": (_nothing, "nothing"),
    "stick": (_stick, "forward, left and turn, each between -1 and 1"),
    "hands": (
        _hands,
        "keys, a pad (standard, axes, buttons) or null, and six axes between -1 and 1; or null for nothing",
    ),
    "play": (_switch, "true or false"),
    "pace": (_pace, f"one of {', '.join(map(str, PACES))}"),
    "reset": (_nothing, "nothing"),
    "scene": (_name, "the name of a scene"),
    "robot": (_name, "the name of a robot"),
    "record": (_switch, "true or false"),
    "limb": (_name, "the name of a limb"),
    "control": (_control, "the name of a control and its value"),
    "replay": (_replay, "a file and a time, or null"),
    "export": (_export, "a file and a format"),
}
