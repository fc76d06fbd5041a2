"""Style transition: style and speed of a walk on their way to those that were requested."""

from __future__ import annotations

import math

import numpy as np

from poise.behaviors.walk_tasks import Levels, check_rest, rest_posture
from poise.errors import PoiseError
from poise.plans import STYLES, BodyDimensions, Pace, Speed, Style, paced
from poise.robots import GRAVITY, Robot

#: Speeds nearer than this (m/s, rad/s) are the same.
SAME = 1e-3


class Manner:
    """How a body walks now, and how it is to walk soon.

    Args:
        robot, body: who walks.
        levels: what is dressed in the style.
        style, speed: from the start; a speed of None is the style's own.
        change: seconds in which a change is taken over.

    Attributes:
        wanted: the style that was asked for last; `style` is what has been taken over of it.
        pace: in metres and seconds.
    """

    def __init__(
        self, robot: Robot, body: BodyDimensions, levels: Levels, style: Style | str, speed: Speed | None, change: float
    ) -> None:
        self._robot, self._body, self._levels, self._change = robot, body, levels, change
        self.style = self.wanted = self._from = self._known(style)
        self.speed = self._hurried = checked_speed(speed)
        self._share = 1.0
        self._rest = self._rest_from = self._rest_to = rest_posture(robot, self.style)
        self.pace: Pace = paced(self.style, body, self.speed)
        self._dress()

    def want(self, style: Style | str) -> None:
        """Another style from now on."""
        self._from, self.wanted, self._share = self.style, self._known(style), 0.0
        self._rest_from, self._rest_to = self._rest, rest_posture(self._robot, self.wanted)

    def hurry(self, speed: Speed | None) -> None:
        """Another speed from now on; None: the style's own."""
        self.speed = checked_speed(speed)

    @property
    def asked(self) -> Speed:
        """The speed that is asked for: given, or that of the style (m/s, m/s, rad/s)."""
        return self.speed or speed_of(self.pace)

    @property
    def coming(self) -> Pace:
        """The pace of what is wanted, whatever of it has been taken over."""
        return paced(self.wanted, self._body, self.speed)

    def advance(self, period: float) -> None:
        """One period later."""
        if self._share >= 1.0 and self._hurried == self.speed:
            return
        self._share = min(self._share + period / self._change, 1.0)
        self.style = self._from.mixed(self.wanted, self._share)
        self._rest = (1.0 - self._share) * self._rest_from + self._share * self._rest_to
        self._hurried = self._hurrying(period)
        self.pace = paced(self.style, self._body, self._hurried)
        self._dress()

    def _hurrying(self, period: float) -> Speed | None:
        """The speed of this tick, on the way to the one that is wanted, or to the style's own."""
        if self._hurried is None and self.speed is None:
            return None
        now = np.array(self._hurried or speed_of(self.pace))
        rest = np.array(self.speed or speed_of(paced(self.style, self._body))) - now
        if np.abs(rest).max() < SAME:
            return self.speed
        vx, vy, wz = now + min(period / self._change, 1.0) * rest
        return float(vx), float(vy), float(wz)

    def _dress(self) -> None:
        forward, sideways, _ = speed_of(self.pace)
        froude = (forward**2 + sideways**2) / (GRAVITY * self._body.leg)
        self._levels.dress(self.style, self._rest, froude)

    def _known(self, style: Style | str) -> Style:
        if isinstance(style, str):
            if style not in STYLES:
                raise PoiseError(f"there is no style '{style}'; expected one of {', '.join(STYLES)}, or a Style")
            style = STYLES[style]
        check_rest(self._robot, style)
        return style


def speed_of(pace: Pace) -> Speed:
    """At which a pace goes (m/s, m/s, rad/s)."""
    gait, seconds = pace.gait, pace.timing.whole
    return gait.forward / seconds, gait.sideways / seconds, gait.turn / seconds


def checked_speed(speed: Speed | None) -> Speed | None:
    """The speed, if it is one."""
    if speed is None:
        return None
    try:
        vx, vy, wz = (float(part) for part in speed)
    except (TypeError, ValueError):
        vx = vy = wz = math.nan
    if not (math.isfinite(vx) and math.isfinite(vy) and math.isfinite(wz)):
        raise PoiseError(f"walk: speed is {speed!r}; expected three finite numbers: m/s, m/s, rad/s")
    return vx, vy, wz
