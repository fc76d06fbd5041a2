"""Guidance: one guided point follows a stick, all others follow by synergy [Sugihara2008].

    workspace, legs = Workspace.of(robot), Legs.of(robot)
    goal = guided(points, Stick("left foot", (1, 0, 0, 0, 0, 0)), workspace, legs)

| file | is |
|---|---|
| `points`, `stick`, `goal` | what there is, what the operator says, what is to be |
| `workspace`, `legs`, `reach`, `measuring` | one robot: what a stick does, boundaries, reach |
| `boundary`, `landing` | projections onto them; places on the ground |
| `foot`, `trunk`, `hand` | one guiding mode each, with the paper's equations |
| `stepping`, `synergy` | the step that the body needs; what follows |
| `guide` | the table of modes |
"""

from poise.plans.guidance.guiding_modes import GUIDES, guided
from poise.plans.guidance.limb_reach import Legs
from poise.plans.guidance.navigation_points import Goal, HandPoint, Points
from poise.plans.guidance.stick import AXES, MODES, Mode, Stick, mode_named, stick_of
from poise.plans.guidance.workspace import Workspace, standing
from poise.plans.guidance.workspace_bounds import Ground

__all__ = [
    "AXES",
    "GUIDES",
    "MODES",
    "Goal",
    "Ground",
    "HandPoint",
    "Legs",
    "Mode",
    "Points",
    "Stick",
    "Workspace",
    "guided",
    "mode_named",
    "standing",
    "stick_of",
]
