"""Operator command: the guided point, and its displacement as six stick axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from poise.errors import UsageError, suggestion

GuidingMode = Literal["left foot", "right foot", "trunk", "left hand", "right hand"]
#: The guiding modes: each is named after its guided point.
GUIDING_MODES: tuple[GuidingMode, ...] = get_args(GuidingMode)
#: Motion of the guided point that each of the six stick axes commands, from -1 to 1.
COMMAND_AXES = ("forward", "left", "up", "roll", "pitch", "yaw")


@dataclass(frozen=True)
class OperatorCommand:
    """Input x of an input device, constant for a whole motion segment.

    Args:
        mode: guiding mode, named after the guided point.
        axes: forward, left, up (position of the guided point), roll, pitch, yaw (its attitude), from -1 to 1. Values
            outside are clipped, and values that are not finite become zero, so that every input is safe.
        lift: lift of a stepping foot between its lowest and highest setting, from 0 to 1 (the throttles).

    >>> OperatorCommand("trunk", (1.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    """

    mode: GuidingMode = "trunk"
    axes: tuple[float, float, float, float, float, float] = (0.0,) * 6
    lift: float = 0.5

    def __post_init__(self) -> None:
        if self.mode not in GUIDING_MODES:
            raise UsageError(f"there is no guiding mode '{self.mode}'; expected {', '.join(GUIDING_MODES)}")
        if len(self.axes) != len(COMMAND_AXES):
            raise UsageError(
                f"got {len(self.axes)} stick axes; expected {len(COMMAND_AXES)} ({', '.join(COMMAND_AXES)})"
            )
        object.__setattr__(self, "axes", tuple(_clip(value, -1.0) for value in self.axes))
        object.__setattr__(self, "lift", _clip(self.lift, 0.0))

    @property
    def is_zero(self) -> bool:
        """Whether all axes are zero."""
        return not any(self.axes)


def guiding_mode(name: str) -> GuidingMode:
    """Return the guiding mode of a name; case is ignored, and blanks, hyphens and underscores are equivalent.

    >>> guiding_mode("LEFT_HAND")
    'left hand'
    """
    words = " ".join(str(name).lower().replace("-", " ").replace("_", " ").split())
    for mode in GUIDING_MODES:
        if words in (mode, " ".join(reversed(mode.split())), "".join(mode.split())):
            return mode
    if words in _MODE_ALIASES:
        return _MODE_ALIASES[words]
    raise UsageError(f"there is no guiding mode '{name}'; {suggestion(words, GUIDING_MODES)}")


#: Other names of modes, among them the abbreviations of the paper.
_MODE_ALIASES: dict[str, GuidingMode] = {
    "lf": "left foot", "rf": "right foot", "lh": "left hand", "rh": "right hand", "b": "trunk",
    "body": "trunk", "com": "trunk", "foot": "left foot", "hand": "left hand",
}  # fmt: skip


def _clip(value: float, low: float) -> float:
    value = float(value)
    return min(max(value, low), 1.0) if math.isfinite(value) else 0.0


def make_command(mode: str, axes: Sequence[float], lift: float = 0.5) -> OperatorCommand:
    """Return the command for the name of a mode and six numbers, as scripts and messages contain them."""
    return OperatorCommand(guiding_mode(mode), tuple(axes), lift)  # type: ignore[arg-type]
