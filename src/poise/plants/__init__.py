"""Plants that execute commands: `IdealPlant` (exact integration), `MujocoPlant` (physics simulation), `RemotePlant`."""

from poise.control import Controller
from poise.plants.control_loop import IdealPlant, Plant, control_step, steps
from poise.plants.disturbances import (
    CarriedBox,
    ForceCellFault,
    HardwareFault,
    Load,
    ModelError,
    Push,
    SwappedSoleSensors,
    WeakMotor,
)
from poise.plants.engine.robot_model import servo_gains
from poise.plants.environment import (
    FLOOR_FRICTION,
    STAIRS_DISTANCE,
    EnvironmentObject,
    FlatTerrain,
    Plate,
    RoughTerrain,
    Slope,
    SolidBox,
    Stairs,
    Table,
    Terrain,
    Wall,
    box_pose,
    parse_terrain,
)
from poise.plants.environment_geometry import EnvironmentGeometry, HeldBox
from poise.plants.fall_detection import FALLEN_HEIGHT, FALLEN_TILT
from poise.plants.mujoco_plant import MujocoPlant
from poise.plants.plant_errors import PlantError
from poise.plants.remote.plant_server import PlantServer
from poise.plants.remote.protocol import address_at_host, check_address, open_socket
from poise.plants.remote.remote_plant import RemotePlant
from poise.plants.simulation_setup import PositionServos, Sensors, TorqueMotors
from poise.plants.stairs_and_door import STAIRS_AND_DOOR, StairsAndDoor

__all__ = [
    "FALLEN_HEIGHT",
    "FALLEN_TILT",
    "FLOOR_FRICTION",
    "STAIRS_AND_DOOR",
    "STAIRS_DISTANCE",
    "CarriedBox",
    "Controller",
    "EnvironmentGeometry",
    "EnvironmentObject",
    "FlatTerrain",
    "ForceCellFault",
    "HardwareFault",
    "HeldBox",
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
    "RoughTerrain",
    "Sensors",
    "Slope",
    "SolidBox",
    "Stairs",
    "StairsAndDoor",
    "SwappedSoleSensors",
    "Table",
    "Terrain",
    "TorqueMotors",
    "Wall",
    "WeakMotor",
    "address_at_host",
    "box_pose",
    "check_address",
    "control_step",
    "open_socket",
    "parse_terrain",
    "servo_gains",
    "steps",
]
