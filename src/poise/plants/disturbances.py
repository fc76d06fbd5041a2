"""What happens to a robot from outside: pushes, and loads that its controller does not know of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from poise.errors import UsageError
from poise.plants.errors import PlantError, number, positive, vector
from poise.robots import Frame
from poise.tasks.axes import shown


@dataclass(frozen=True, eq=False)
class Push:
    """A constant force for a while. Its impulse is exactly ``force · duration``, whatever the rate of the simulation.

    Args:
        force: in the world's axes (N, 3).
        duration: s.
        time: when it begins (s), on the clock of the states.
        frame: at whose origin it acts; None: at the center of mass of the base's body.

    >>> Push((100, 0, 0), duration=0.1, time=1.0), Push.parsed("100,0,0,0.1@1.0")
    """

    force: ArrayLike
    duration: float
    time: float
    frame: Frame | None = None

    def __post_init__(self) -> None:
        vector(self.force, 3, "Push.force", "N")
        number(self.duration, "Push.duration", low=0.0, unit="s")
        number(self.time, "Push.time", unit="s")
        if self.frame is not None and not isinstance(self.frame, Frame):
            raise PlantError(f"Push.frame is {shown(self.frame)}; expected e.g. robot.hand('left')", "frame")

    @classmethod
    def parsed(cls, text: str) -> Push:
        """A push as the command line writes it: ``FX,FY,FZ,DURATION@TIME`` in N and s."""
        before, at, after = text.partition("@")
        try:
            numbers = [float(word) for word in (*before.split(","), after)] if at else []
        except ValueError:
            numbers = []
        if len(numbers) != 5 or not np.isfinite(numbers).all() or numbers[3] < 0.0:
            raise UsageError(
                f"'{text}' is not a push; expected FX,FY,FZ,DURATION@TIME in N and s, like 100,0,0,0.1@1.0"
            )
        return cls(numbers[:3], numbers[3], numbers[4])

    def share(self, begin: float, end: float) -> float:
        """How much of the time from begin to end it acts, from 0 to 1."""
        return max(min(end, self.time + self.duration) - max(begin, self.time), 0.0) / (end - begin)


@dataclass(frozen=True, eq=False)
class Load:
    """A weight that a robot carries and its controller does not know of.

    Args:
        frame: what carries it, e.g. ``robot.hand("left")`` or ``robot.chest``.
        mass: kg.
        position: of the load, or of the knot of its string, in that frame (m, 3).
        string: length of the string on which it hangs (m); 0: it is fixed.

    >>> Load(robot.hand("left"), mass=2.0, string=0.3)
    """

    frame: Frame
    mass: float
    position: ArrayLike = (0.0, 0.0, 0.0)
    string: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.frame, Frame):
            raise PlantError(f"Load.frame is {shown(self.frame)}; expected e.g. robot.hand('left')", "frame")
        positive(self.mass, "Load.mass", "kg")
        vector(self.position, 3, "Load.position", "m")
        number(self.string, "Load.string", low=0.0, unit="m")
