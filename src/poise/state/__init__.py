"""State of a robot and quantities derived from it: `State`, `Snapshot`, contacts, and measures of balance."""

from poise.cpu import variant_path

__path__ = variant_path(__path__)

from poise.robots import State
from poise.state.balance import (
    CELL_TIME_CONSTANT,
    capture_point,
    center_of_pressure,
    dcm,
    natural_frequency,
    sole_pressure,
    zmp,
)
from poise.state.contact_forces import Contact, ContactForces, Imu, LoadedPatch, SensorReadings, contact_of
from poise.state.snapshot import CENTER_OF_MASS, DRIFT, DYNAMICS, FRAMES, MOMENTUM, Snapshot, frame_rows

__all__ = [
    "CELL_TIME_CONSTANT",
    "CENTER_OF_MASS",
    "DRIFT",
    "DYNAMICS",
    "FRAMES",
    "MOMENTUM",
    "Contact",
    "ContactForces",
    "Imu",
    "LoadedPatch",
    "SensorReadings",
    "Snapshot",
    "State",
    "capture_point",
    "center_of_pressure",
    "contact_of",
    "dcm",
    "frame_rows",
    "natural_frequency",
    "sole_pressure",
    "zmp",
]
