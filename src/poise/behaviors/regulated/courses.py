"""A walk as a course, for a body that stands on both feet."""

from __future__ import annotations

from poise.behaviors.walk.footing import footstep
from poise.behaviors.walk.stature import stature
from poise.plans.pace import Speed, paced
from poise.plans.pattern import Pattern
from poise.plans.route import Route
from poise.plans.style import Style
from poise.robots import State


def walking(start: State, style: Style, steps: float, speed: Speed | None = None) -> Pattern:
    """A walk of so many steps at the pace of a style, from where a body stands.

    >>> Regulated(robot, walking(robot.stance("standing"), STYLES["neutral"], steps=20))
    """
    body = stature(start)
    left, right = (footstep(start, start.robot.foot(side), 0.0) for side in ("left", "right"))
    return Pattern(Route(paced(style, body, speed), steps), left, right, body.height)
