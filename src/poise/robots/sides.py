"""Left and right written once: ``{side}`` stands for left/right, ``{s}`` for l/r, ``{S}`` for L/R in a name."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator

from poise.robots.parts import SIDES, Side
from poise.robots.table import Table


def named(pattern: str, side: Side) -> str:
    """The name on one side: ``named("{S}HipYaw", "left") == "LHipYaw"``."""
    return pattern.replace("{side}", side).replace("{s}", side[0]).replace("{S}", side[0].upper())


def is_pattern(name: str) -> bool:
    """Whether a name stands for both sides."""
    return named(name, "left") != name


def twin(name: str, known: Container[str]) -> str | None:
    """The same part on the other side, if it is known: ``left_knee`` of ``right_knee``, ``LKnee`` of ``RKnee``."""
    swap = {"left": "right", "right": "left", "l": "r", "r": "l", "L": "R", "R": "L"}
    for word in (r"left|right", r"^[lr](?=_)", r"^[LR](?=[A-Z])"):
        other = re.sub(word, lambda match: swap[match[0]], name)
        if other != name and other in known:
            return other
    return None


def both_sides(table: Table) -> Iterator[tuple[Side, Table, bool]]:
    """A part given once for both sides, or apart under ``left`` and ``right``: side, table, whether to mirror it.

    What is given once is written for the left: on the right the names change side and the numbers are mirrored.
    """
    if any(side in table.values for side in SIDES):
        yield from ((side, table.table(side), False) for side in SIDES if table.has(side))
        table.done()
    elif table.values:
        for side in SIDES:
            words = {key: named(text, side) if isinstance(text, str) else text for key, text in table.values.items()}
            yield side, Table(words, table.file, table.place), side == "right"


def each_joint(table: Table) -> dict[str, float]:
    """Numbers by joint name; a name for both sides takes one number or the pair [left, right]."""
    joints: dict[str, float] = {}
    for name, value in table.values.items():
        if not is_pattern(name):
            joints[name] = table.number(name)
        elif isinstance(value, (list, tuple)):
            pair = table.numbers(name, "left right")
            joints.update({named(name, side): number for side, number in zip(SIDES, pair, strict=True)})
        else:
            joints.update({named(name, side): table.number(name) for side in SIDES})
    return joints
