"""Controllers: from a behavior and a state to a command that is always finite."""

from poise.control.command import Command, Errors, Step
from poise.control.hierarchy_controller import RAMP
from poise.control.kinematic_control import KinematicController, PositionController
from poise.control.torque_control import DampedHold, TorqueController

__all__ = [
    "RAMP",
    "Command",
    "DampedHold",
    "Errors",
    "KinematicController",
    "PositionController",
    "Step",
    "TorqueController",
]
