"""Poise: a motion is a list of things that matter, in order of importance.

>>> robot = poise.load_robot("g1")
>>> start = robot.stance("standing")
>>> hierarchy = poise.Hierarchy(
...     always=[constraints.JointRange(robot), constraints.JointSpeed(robot)],
...     levels=[
...         poise.Level("feet", [tasks.HoldPose(foot, at=start) for foot in robot.feet]),
...         poise.Level("reach", [tasks.Position(robot.hand("left"), target=(0.45, 0.20, 1.10))]),
...     ],
... )
>>> recording = poise.record(poise.KinematicController(hierarchy), poise.IdealPlant(start), seconds=3.0)
>>> print(recording.summary())

`tasks` are what we want, `constraints` what must hold, `solvers` the mathematics that honours the order.
"""

from typing import TYPE_CHECKING, Any

from poise import behaviors, constraints, solvers, tasks
from poise.control import Command, KinematicController, PositionController, Step, TorqueController
from poise.errors import PoiseError
from poise.files import installed_version
from poise.hierarchy import Behavior, Hierarchy, Level, solve_pose
from poise.plants import IdealPlant, steps
from poise.recording import Recording, load_recording, record
from poise.robots import Robot, State, load_robot
from poise.state import Contact, Snapshot
from poise.tasks import ACCELERATION, VELOCITY

__version__ = installed_version()

if TYPE_CHECKING:
    from poise.plants import MujocoPlant

__all__ = [
    "ACCELERATION",
    "VELOCITY",
    "Behavior",
    "Command",
    "Contact",
    "Hierarchy",
    "IdealPlant",
    "KinematicController",
    "Level",
    "MujocoPlant",
    "PoiseError",
    "PositionController",
    "Recording",
    "Robot",
    "Snapshot",
    "State",
    "Step",
    "TorqueController",
    "__version__",
    "behaviors",
    "constraints",
    "load_recording",
    "load_robot",
    "record",
    "solve_pose",
    "solvers",
    "steps",
    "tasks",
]


def __getattr__(name: str) -> Any:
    if name == "MujocoPlant":  # brings a physics engine with it
        from poise.plants import MujocoPlant

        return MujocoPlant
    raise AttributeError(f"module 'poise' has no attribute '{name}'")
