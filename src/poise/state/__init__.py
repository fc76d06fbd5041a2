"""Where a robot is and what follows from it: `State`, `Snapshot`, and the measures of `poise.state.balance`."""

from poise.cpu import variant_path

__path__ = variant_path(__path__)

from poise.robots import State
from poise.state.balance import (
    CELL_FILTER,
    capture_point,
    center_of_pressure,
    divergent_component,
    natural_frequency,
    sole_pressure,
    zmp,
)
from poise.state.contact_forces import Contact, ContactForces, Imu, Sensed, contact_of
from poise.state.snapshot import CENTER_OF_MASS, DRIFT, DYNAMICS, FRAMES, MOMENTUM, Snapshot, frame_rows

__all__ = [
    "CELL_FILTER",
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
    "capture_point",
    "center_of_pressure",
    "contact_of",
    "divergent_component",
    "frame_rows",
    "natural_frequency",
    "sole_pressure",
    "zmp",
]
