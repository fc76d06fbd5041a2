"""Guidance: one guided point follows a stick, all others follow by synergy [Sugihara2008].

    workspace, legs = Workspace.of(robot), LegReach.of(robot)
    goal = guided_goal(points, OperatorCommand("left foot", (1, 0, 0, 0, 0, 0)), workspace, legs)

| file | is |
|---|---|
| `navigation_points`, `operator_command` | what there is, what the operator says, what is to be |
| `workspace`, `limb_reach` | one robot: what a stick does, boundaries, reach |
| `workspace_bounds` | projections onto them; places on the ground |
| `synergy` | the step that the body needs; what follows |
| `guiding_modes` | one function per guiding mode, with the equations of the paper |
"""

from poise.plans.guidance.guiding_modes import GUIDES, guided_goal
from poise.plans.guidance.limb_reach import LegReach
from poise.plans.guidance.navigation_points import Goal, HandPoint, NavigationPoints
from poise.plans.guidance.operator_command import (
    COMMAND_AXES,
    GUIDING_MODES,
    GuidingMode,
    OperatorCommand,
    guiding_mode,
    make_command,
)
from poise.plans.guidance.workspace import Workspace, standing_points
from poise.plans.guidance.workspace_bounds import GroundProjection

__all__ = [
    "COMMAND_AXES",
    "GUIDES",
    "GUIDING_MODES",
    "Goal",
    "GroundProjection",
    "GuidingMode",
    "HandPoint",
    "LegReach",
    "NavigationPoints",
    "OperatorCommand",
    "Workspace",
    "guided_goal",
    "guiding_mode",
    "make_command",
    "standing_points",
]
