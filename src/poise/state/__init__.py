"""State of a robot and quantities derived from it.

| name | contents |
|---|---|
| `State` | configuration, velocity, time and contacts of a robot at one instant |
| `Snapshot` | kinematics and dynamics at a state, each quantity computed once, in memory that is reused |
| `Contact`, `ContactForces` | a flat part of the body on a plane of the world; forces at all contacts |
| `SensorReadings`, `Imu` | force sensors, force cells, encoders and inertial measurement unit |
| `zmp`, `center_of_pressure`, `dcm`, `capture_point`, ... | measures of balance, as functions of arrays |

>>> snapshot = Snapshot(robot).at(robot.stance("standing"))
>>> snapshot.center_of_mass, snapshot.jacobian(robot.hand("left")).shape
"""

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
