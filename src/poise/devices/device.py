"""Device: whatever says where the guided point is to go."""

from __future__ import annotations

from typing import Protocol

from poise.plans.guidance.stick import Stick


class Device(Protocol):
    """Something that can be asked at any time what the operator wants.

    >>> stick = device.read(time=1.5)
    """

    def read(self, time: float) -> Stick:
        """What is asked for at a time of the motion (s). Always finite; never raises, and never waits."""
        ...
