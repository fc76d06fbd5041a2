"""Controllers: from a behavior and a state to a command that is always finite."""

from poise.control.command import Command, Errors, Step
from poise.control.kinematic import KinematicController
from poise.control.position import PositionController
from poise.control.torque import TorqueController

__all__ = ["Command", "Errors", "KinematicController", "PositionController", "Step", "TorqueController"]
