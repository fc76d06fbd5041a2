"""Where a robot is and what follows from it: `State`, `Snapshot`, and the measures of `poise.state.balance`."""

from poise.robots.state import State
from poise.state.contact import Contact
from poise.state.sensed import ContactForces, Imu, Sensed
from poise.state.snapshot import CENTER_OF_MASS, DRIFT, DYNAMICS, FRAMES, MOMENTUM, Snapshot

__all__ = [
    "CENTER_OF_MASS",
    "DRIFT",
    "DYNAMICS",
    "FRAMES",
    "MOMENTUM",
    "Contact",
    "ContactForces",
    "Imu",
    "Sensed",
    "Snapshot",
    "State",
]
