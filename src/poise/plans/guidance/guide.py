"""Guide: from what the operator says to where everything goes."""

from __future__ import annotations

from collections.abc import Callable

from poise.plans.guidance.foot import guided_foot
from poise.plans.guidance.goal import Goal
from poise.plans.guidance.hand import guided_hand
from poise.plans.guidance.landing import Ground
from poise.plans.guidance.legs import Legs
from poise.plans.guidance.points import Points
from poise.plans.guidance.stick import Mode, Stick
from poise.plans.guidance.synergy import discarded
from poise.plans.guidance.trunk import guided_trunk
from poise.plans.guidance.workspace import Workspace

Guide = Callable[[Points, Stick, Workspace, Legs, Ground | None], Goal]

#: The map of every guiding mode.
GUIDES: dict[Mode, Guide] = {
    "left foot": guided_foot,
    "right foot": guided_foot,
    "trunk": guided_trunk,
    "left hand": guided_hand,
    "right hand": guided_hand,
}


def guided(
    points: Points,
    stick: Stick,
    workspace: Workspace,
    legs: Legs,
    ground: Ground | None = None,
    discard: bool = False,
) -> Goal:
    """The goal of the next motion segment: of the guided point, and of the synergetic points from that.

        ᵈr_G = f_G(x),    ᵈr_S = f_S(ᵈr_G)                               [Sugihara2008, eqs. 1 and 2]

    Args:
        points: where everything is when the segment begins, or the goal of the one before.
        stick: x.
        workspace, legs: of the robot.
        ground: puts a footstep on known ground; flat ground, at the height of the stance foot, if not given.
        discard: the paper's rule: a command beyond a boundary is not done at all, instead of as far as possible.

    >>> goal = guided(standing(robot), Stick("trunk", (1, 0, 0, 0, 0, 0)), Workspace.of(robot), Legs.of(robot))
    """
    goal = GUIDES[stick.mode](points, stick, workspace, legs, ground)
    return discarded(goal, points) if discard and goal.projected else goal
