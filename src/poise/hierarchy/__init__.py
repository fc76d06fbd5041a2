"""Hierarchies of tasks with strict priorities, behaviors that choose them over time, and inverse kinematics.

- `Level`: tasks of equal priority. `Hierarchy`: constraints and levels, the most important first.
- `Behavior`: returns the hierarchy for each tick; a `Hierarchy` is the constant behavior.
- `ComposedBehavior`: a behavior with further levels among its own, which may change while it runs.
- `solve_pose`: iterates a hierarchy to the posture that meets it.
"""

from poise.hierarchy.composition import ComposedBehavior
from poise.hierarchy.hierarchy import (
    RAMP,
    Behavior,
    BehaviorLike,
    FunctionBehavior,
    Hierarchy,
    Level,
    NamedPhase,
    Transition,
)
from poise.hierarchy.inverse_kinematics import PoseSolution, solve_pose

__all__ = [
    "RAMP",
    "Behavior",
    "BehaviorLike",
    "ComposedBehavior",
    "FunctionBehavior",
    "Hierarchy",
    "Level",
    "NamedPhase",
    "PoseSolution",
    "Transition",
    "solve_pose",
]
