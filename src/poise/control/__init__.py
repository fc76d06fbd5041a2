"""Controllers: from a behavior and a state to a command that is always finite."""

from poise.control.command import Command, Errors, Step, TaskLabel
from poise.control.kinematic import KinematicController
from poise.control.pose import Posed, solve_pose

__all__ = ["Command", "Errors", "KinematicController", "Posed", "Step", "TaskLabel", "solve_pose"]
