"""Dead-man: a stick that nobody holds any more counts for nothing, nor do keys and pads."""

from __future__ import annotations

import math
import time

from poise.studio.hands import Hands

#: A stick of which nothing was heard for so long (s) has been let go of.
SILENCE = 0.5
#: A page of which nothing was heard for so long (s) has gone; pages in the background speak once a second.
ABSENCE = 2.5

Held = tuple[float, float, float]
STILL: Held = (0.0, 0.0, 0.0)


class DeadMan:
    """What a stick asks for, as long as somebody holds it, and whether anybody is there.

    Attributes:
        stopped: whether silence, and not its holder, stopped the stick.
    """

    def __init__(self) -> None:
        self._held, self._heard = STILL, -math.inf
        self._busy, self._told = False, -math.inf
        self._alive = time.monotonic()
        self.stopped = False

    def hold(self, value: object) -> None:
        """The stick is held so; what is no three numbers is a stick that is let go."""
        parts = value if isinstance(value, (list, tuple)) and len(value) == 3 else STILL
        good = all(isinstance(part, (int, float)) and math.isfinite(part) for part in parts)
        forward, left, turn = (min(max(float(part), -1.0), 1.0) for part in (parts if good else STILL))
        self._held, self._heard, self.stopped = (forward, left, turn), time.monotonic(), False
        self.hear()

    def touch(self, hands: Hands) -> None:
        """Somebody holds something, or nothing any more."""
        self._busy, self._told, self.stopped = not hands.rest, time.monotonic(), False
        self.hear()

    @property
    def dropped(self) -> bool:
        """Whether hands that held something fell silent; that is told once."""
        if not self._busy or time.monotonic() - self._told <= SILENCE:
            return False
        self._busy, self.stopped = False, True
        return True

    def hear(self) -> None:
        """Somebody is there."""
        self._alive = time.monotonic()

    @property
    def held(self) -> Held:
        """What counts now."""
        if self._held != STILL and time.monotonic() - self._heard > SILENCE:
            self._held, self.stopped = STILL, True
        return self._held

    @property
    def alone(self) -> bool:
        """Whether nobody watches."""
        return time.monotonic() - self._alive > ABSENCE
