"""The order: `Level`, `Hierarchy`, and `Behavior`, a hierarchy that depends on what is the case.

`solve_pose` turns a hierarchy into the posture that it describes."""

from poise.hierarchy.level import Behavior, Hierarchy, Level
from poise.hierarchy.pose import Posed, solve_pose

__all__ = ["Behavior", "Hierarchy", "Level", "Posed", "solve_pose"]
