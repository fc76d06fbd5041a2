"""Controllers, which compute a command from a behavior and a state at every tick; commands are always finite."""

from poise.control.command import Command, Controller, ControlStep, TaskErrors
from poise.control.delay_compensation import MAX_DELAY, DelayCompensation
from poise.control.kinematic_control import KinematicController, PositionController
from poise.control.load_estimate import LoadEstimate
from poise.control.torque_control import DampedHold, TorqueController

__all__ = [
    "MAX_DELAY",
    "Command",
    "ControlStep",
    "Controller",
    "DampedHold",
    "DelayCompensation",
    "KinematicController",
    "LoadEstimate",
    "PositionController",
    "TaskErrors",
    "TorqueController",
]
