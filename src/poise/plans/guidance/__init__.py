"""Guidance: the operator moves one point of the robot, all other points follow by synergy [Sugihara2008].

    workspace, legs = Workspace.of(robot), LegReach.of(robot)
    goal = guided_goal(points, OperatorCommand("left foot", (1, 0, 0, 0, 0, 0)), workspace, legs)

| module | contents |
|---|---|
| `navigation_points`, `operator_command` | points of the robot and their goals; input of the operator |
| `workspace`, `limb_reach` | displacement per segment, boundaries and reach of one robot |
| `workspace_bounds` | projections onto the boundaries; search for places to land |
| `synergy` | choice of a step; height, attitude and hands that follow |
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
