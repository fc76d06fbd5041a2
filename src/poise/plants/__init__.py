"""The only things that move: `IdealPlant`, which obeys exactly, and `MujocoPlant`, a robot in a physics engine."""

from poise.control import Controller
from poise.plants.control_loop import IdealPlant, Plant, stepped, steps
from poise.plants.disturbances import Breakdown, BrokenCell, Carried, Load, ModelError, Push, SwappedSoles, WeakMotor
from poise.plants.engine.robot_model import servo_gains
from poise.plants.environment import (
    FLOOR_FRICTION,
    STAIRS_AHEAD,
    Box,
    Flat,
    Ground,
    Plate,
    Rough,
    Slope,
    Stairs,
    Table,
    Thing,
    Wall,
    terrain,
)
from poise.plants.mujoco_plant import FALLEN_HEIGHT, FALLEN_TILT, MujocoPlant
from poise.plants.plant_errors import PlantError
from poise.plants.remote.plant_server import PlantServer
from poise.plants.remote.protocol import address_at_host, checked_address
from poise.plants.remote.remote_plant import RemotePlant
from poise.plants.simulation_setup import PositionServos, Sensors, TorqueMotors
from poise.plants.stairs_and_door import STAIRS_AND_DOOR, Stage

__all__ = [
    "FALLEN_HEIGHT",
    "FALLEN_TILT",
    "FLOOR_FRICTION",
    "STAIRS_AHEAD",
    "STAIRS_AND_DOOR",
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
    "PlantServer",
    "Plate",
    "PositionServos",
    "Push",
    "RemotePlant",
    "Rough",
    "Sensors",
    "Slope",
    "Stage",
    "Stairs",
    "SwappedSoles",
    "Table",
    "Thing",
    "TorqueMotors",
    "Wall",
    "WeakMotor",
    "address_at_host",
    "checked_address",
    "servo_gains",
    "stepped",
    "steps",
    "terrain",
]
