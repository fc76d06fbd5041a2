"""Poise: whole-body motion of humanoid robots as tasks and constraints in strict order of priority.

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

`tasks` hold the goals of a motion, `constraints` its limits, and `solvers` the least-squares solvers that respect the
priorities.

Names are imported at their first use: ``import poise`` alone takes almost no time, and ``import poise.solvers`` needs
only numpy.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = [
    "ACCELERATION",
    "VELOCITY",
    "Behavior",
    "Command",
    "Contact",
    "ControlStep",
    "Hierarchy",
    "IdealPlant",
    "KinematicController",
    "Level",
    "MujocoPlant",
    "PoiseError",
    "PositionController",
    "Push",
    "Reach",
    "Recording",
    "Robot",
    "Snapshot",
    "Stand",
    "State",
    "Style",
    "TorqueController",
    "Walk",
    "__version__",
    "behaviors",
    "constraints",
    "load_recording",
    "load_robot",
    "record",
    "runs",
    "solve_pose",
    "solvers",
    "steps",
    "tasks",
    "view",
]

if TYPE_CHECKING:
    from poise import behaviors, constraints, runs, solvers, tasks
    from poise.behaviors import Reach, Stand, Walk
    from poise.control import Command, ControlStep, KinematicController, PositionController, TorqueController
    from poise.errors import PoiseError
    from poise.hierarchy import Behavior, Hierarchy, Level, solve_pose
    from poise.plans import Style
    from poise.plants import IdealPlant, MujocoPlant, Push, steps
    from poise.recording import Recording, load_recording, record
    from poise.robots import Robot, State, load_robot
    from poise.state import Contact, Snapshot
    from poise.tasks import ACCELERATION, VELOCITY
    from poise.viewer import view

    __version__: str

#: Subpackages, available as ``poise.<subpackage>``, with the names that are also available as ``poise.<name>``.
SUBPACKAGES: dict[str, tuple[str, ...]] = {
    "analysis": (),
    "behaviors": ("Reach", "Stand", "Walk"),
    "campaign": (),
    "constraints": (),
    "control": ("Command", "KinematicController", "PositionController", "ControlStep", "TorqueController"),
    "devices": (),
    "errors": ("PoiseError",),
    "exports": (),
    "extras": (),
    "geometry": (),
    "hierarchy": ("Behavior", "Hierarchy", "Level", "solve_pose"),
    "html": (),
    "human": (),
    "inference": (),
    "plans": ("Style",),
    "plants": ("IdealPlant", "MujocoPlant", "Push", "steps"),
    "recording": ("Recording", "load_recording", "record"),
    "rendering": (),
    "report": (),
    "robots": ("Robot", "State", "load_robot"),
    "runs": (),
    "shield": (),
    "solvers": (),
    "state": ("Contact", "Snapshot"),
    "studio": (),
    "tasks": ("ACCELERATION", "VELOCITY"),
    "viewer": ("view",),
}
_SUBPACKAGE_OF = {name: subpackage for subpackage, names in SUBPACKAGES.items() for name in names}


if not TYPE_CHECKING:  # with this function a type checker would accept any name as an attribute of poise

    def __getattr__(name: str) -> Any:
        if name in SUBPACKAGES:
            value = import_module(f"poise.{name}")
        elif name in _SUBPACKAGE_OF:
            value = getattr(import_module(f"poise.{_SUBPACKAGE_OF[name]}"), name)
        elif name == "__version__":
            value = _version()
        else:
            raise AttributeError(f"module 'poise' has no attribute '{name}'")
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *SUBPACKAGES})


def _version() -> str:
    from importlib import metadata  # imported here: it takes as long as the rest of this module

    try:
        return metadata.version("poise")
    except metadata.PackageNotFoundError:  # imported from a source tree that was never installed
        return "0+source"
