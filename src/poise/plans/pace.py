"""Pace: what a style means on a robot of a certain size, in metres and seconds."""

from __future__ import annotations

import math
from dataclasses import dataclass

from poise.plans.divergent import Timing, natural_frequency
from poise.plans.footsteps import Gait
from poise.plans.style import Style

#: The leg (m) for which styles give their durations; others take times as the root of their length, like pendulums.
LEG = 0.8
#: Steps longer than this share of the leg are made quicker instead: a knee that is straight cannot push.
LONGEST = 0.55
#: No step is quicker, s on one foot for a leg of 0.8 m: faster swings throw the body about.
QUICKEST = 0.3


@dataclass(frozen=True)
class Stature:
    """What a plan knows of a body.

    Args:
        leg: length of a leg (m).
        width: between the middles of the feet, standing (m).
        height: of the centre of mass above the ground, standing (m).
        sole: length and width of a sole (m).
    """

    leg: float
    width: float
    height: float
    sole: tuple[float, float]


@dataclass(frozen=True)
class Pace:
    """How a body walks, in metres and seconds.

    Attributes:
        gait: what each step adds.
        timing: its durations (s).
        lift: height of a step (m).
        height: of the centre of mass above the ground (m).
        omega: ω of a pendulum of that height (1/s).
    """

    gait: Gait
    timing: Timing
    lift: float
    height: float
    omega: float


def paced(style: Style, body: Stature, speed: tuple[float, float, float] | None = None) -> Pace:
    """The pace of a style on a body.

    Args:
        speed: (forward m/s, to the left m/s, turning rad/s) instead of the style's own step lengths; where steps
            would become too long for the legs they become quicker.
    """
    slower = math.sqrt(body.leg / LEG)
    timing = Timing(slower * style.single_support, slower * style.double_support)
    height = body.height + style.height * body.leg
    if speed is None:
        gait = Gait(style.step_length * body.leg, style.lateral_step * body.leg, style.turn, body.width)
    else:
        longest = max(abs(speed[0]) / LONGEST, 2.0 * abs(speed[1]) / LONGEST, 1e-9)
        quicker = min(body.leg / (longest * timing.whole), 1.0)
        single = max(quicker * timing.single, min(QUICKEST * slower, timing.single))
        timing = Timing(single, quicker * timing.double)
        gait = Gait.of_speed(speed, timing.whole, body.width)
    return Pace(gait, timing, style.step_height * body.leg, height, natural_frequency(height))
