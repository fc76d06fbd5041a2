"""What an operator says: which point is guided, and where to."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from poise.errors import UsageError, suggestion

GuidingMode = Literal["left foot", "right foot", "trunk", "left hand", "right hand"]
#: The guiding modes: each is named after its guided point.
GUIDING_MODES: tuple[GuidingMode, ...] = get_args(GuidingMode)
#: What the six axes of a stick ask of the guided point, each from -1 to 1.
COMMAND_AXES = ("forward", "left", "up", "roll", "pitch", "yaw")


@dataclass(frozen=True)
class OperatorCommand:
    """The input x of a device, as the guidance sees it: one value for a whole motion segment.

    Args:
        mode: the guided point.
        axes: forward, left, up (position of the guided point), roll, pitch, yaw (its attitude), from -1 to 1; what is
            beyond, or no number, is brought inside: no input can bankrupt the motion.
        lift: how high a stepping foot is lifted, as a share of the most, from 0 to 1 (the throttles).

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
                f"a stick has {len(COMMAND_AXES)} axes ({', '.join(COMMAND_AXES)}); given {len(self.axes)}"
            )
        object.__setattr__(self, "axes", tuple(_clip(value, -1.0) for value in self.axes))
        object.__setattr__(self, "lift", _clip(self.lift, 0.0))

    @property
    def is_zero(self) -> bool:
        """Whether nothing is asked for."""
        return not any(self.axes)


def guiding_mode(name: str) -> GuidingMode:
    """The guiding mode of a name; case, and whether words are joined by blanks, hyphens or underscores, do not matter.

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


#: Other names, among them the paper's own letters.
_MODE_ALIASES: dict[str, GuidingMode] = {
    "lf": "left foot", "rf": "right foot", "lh": "left hand", "rh": "right hand", "b": "trunk",
    "body": "trunk", "com": "trunk", "foot": "left foot", "hand": "left hand",
}  # fmt: skip


def _clip(value: float, low: float) -> float:
    value = float(value)
    return min(max(value, low), 1.0) if math.isfinite(value) else 0.0


def make_command(mode: str, axes: Sequence[float], lift: float = 0.5) -> OperatorCommand:
    """A stick from a name and a list of six numbers, as scripts and messages have them."""
    return OperatorCommand(guiding_mode(mode), tuple(axes), lift)  # type: ignore[arg-type]
