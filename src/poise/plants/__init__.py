"""The only things that move: `IdealPlant`, which obeys exactly, and `MujocoPlant`, a robot in a physics engine.

The engine is imported when it is first asked for: it takes a fifth of a second, and not every machine has its graphics.
"""

from typing import TYPE_CHECKING, Any

from poise.plants.actuators import PositionServos, TorqueMotors
from poise.plants.breakdowns import Breakdown, BrokenCell, SwappedSoles, WeakMotor
from poise.plants.carried import Carried
from poise.plants.disturbances import Load, Push
from poise.plants.errors import PlantError
from poise.plants.ground import Flat, Ground, Rough, Slope, Stairs, terrain
from poise.plants.ideal import IdealPlant
from poise.plants.loop import Controller, Plant, steps
from poise.plants.model_error import ModelError
from poise.plants.sensors import Sensors
from poise.plants.things import Box, Plate, Table, Wall

if TYPE_CHECKING:
    from poise.plants.mujoco_plant import MujocoPlant

__all__ = [
    "Box",
    "Breakdown",
    "BrokenCell",
    "Carried",
    "Controller",
    "Flat",
    "Ground",
    "IdealPlant",
    "Load",
    "ModelError",
    "MujocoPlant",
    "Plant",
    "PlantError",
    "Plate",
    "PositionServos",
    "Push",
    "Rough",
    "Sensors",
    "Slope",
    "Stairs",
    "SwappedSoles",
    "Table",
    "TorqueMotors",
    "Wall",
    "WeakMotor",
    "steps",
    "terrain",
]


def __getattr__(name: str) -> Any:
    if name == "MujocoPlant":
        from poise.plants.mujoco_plant import MujocoPlant

        return MujocoPlant
    raise AttributeError(f"module 'poise.plants' has no attribute '{name}'")
