"""Landing: a foot on the ground, inside its region and within reach; there is always a place.

Known ground moves a foot onto a tread and may so move it out of its region. Then the place is looked for on the way to
the nominal one, beside the stance foot, and at last anywhere in the region: a foot that finds no place to land would
leave the robot on one leg for ever.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from poise.plans.footsteps import Footstep
from poise.plans.guidance.boundary import Feet, beside, foot_inside, mean_yaw, middle, outward, wrapped
from poise.plans.guidance.legs import Legs
from poise.plans.guidance.workspace import Workspace
from poise.robots.parts import Side

#: Puts a footstep on known ground: onto a tread, with its height.
Ground = Callable[[Footstep], Footstep]

#: Shares of the way to the nominal place that are tried.
WAY = (0.0, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0)
#: Then the region on a grid of so many places along and across.
GRID = (13, 5)
#: Ground and region move a foot in turn at most so often.
TURNS = 4
#: A foot may stand outside its region by so much (m, rad): rounding.
ROUNDING = 1e-6


def landed(
    wanted: Footstep, stance: Footstep, workspace: Workspace, legs: Legs, ground: Ground | None
) -> Footstep | None:
    """The foot on the ground nearest to where it is wanted; None only if known ground has no place at all."""
    for foot in _places(foot_inside(wanted, stance, workspace).foot, stance, workspace, ground is not None):
        on = foot.moved(foot.place, stance.z) if ground is None else _grounded(foot, stance, workspace, ground)
        if on is not None and _stands(on, stance, workspace, legs):
            return on
    return None


def aloft(
    wanted: Footstep, stance: Footstep, workspace: Workspace, legs: Legs, ground: Ground | None
) -> Footstep | None:
    """The lifted foot nearest to where it is wanted: within reach of a body above the stance foot, above the ground and
    not too high; None if it cannot be lifted there."""
    kept = foot_inside(wanted, stance, workspace).foot
    nominal = beside(stance, workspace, kept.z)
    lowest = stance.z + workspace.heights[0]
    for share in WAY:
        foot = _between(kept, nominal, share, stance, workspace)
        under = stance.z if ground is None else (_on(ground, foot) or foot).z
        least = under + workspace.lift[0]
        z = min(max(foot.z + share * (least - foot.z), least), stance.z + workspace.high)
        if z < least:  # the ground is too high there
            continue
        foot = foot.moved(foot.place, z)
        feet = _pair(foot, stance)
        low, high = legs.heights(stance.place, mean_yaw(feet), feet)
        if max(lowest, low) <= high:
            return foot
    return None


def _places(foot: Footstep, stance: Footstep, workspace: Workspace, thorough: bool) -> Iterator[Footstep]:
    nominal = beside(stance, workspace, foot.z)
    for share in WAY:
        yield _between(foot, nominal, share, stance, workspace)
    if not thorough:
        return
    sign, (along, across) = outward(foot.side), GRID
    narrow, wide = workspace.widths
    places = [
        stance.place
        + stance.heading
        * complex(workspace.step * (2.0 * i / (along - 1) - 1.0), sign * (narrow + (wide - narrow) * j / (across - 1)))
        for i in range(along)
        for j in range(across)
    ]
    wanted = foot.place
    for place in sorted(places, key=lambda place: abs(place - wanted)):
        for yaw in (foot.yaw, stance.yaw):
            yield Footstep(foot.side, place.real, place.imag, yaw, foot.z)


def _between(a: Footstep, b: Footstep, share: float, stance: Footstep, workspace: Workspace) -> Footstep:
    if share == 0.0:
        return a
    place = a.place + share * (b.place - a.place)
    yaw = a.yaw + share * wrapped(b.yaw - a.yaw)
    return foot_inside(Footstep(a.side, place.real, place.imag, yaw, a.z), stance, workspace).foot


def _grounded(foot: Footstep, stance: Footstep, workspace: Workspace, ground: Ground) -> Footstep | None:
    """On the ground and in its region: projected onto either in turn, as long as that may help."""
    for _ in range(TURNS):
        on = _on(ground, foot)
        if on is None or abs(on.z - stance.z) > workspace.high:
            return None
        kept = foot_inside(on, stance, workspace)
        if kept.moved < ROUNDING and kept.turned < ROUNDING:
            return on
        foot = kept.foot
    return None


def _on(ground: Ground, foot: Footstep) -> Footstep | None:
    """On the ground, if the ground has a finite answer."""
    on = ground(foot)
    return on if all(map(math.isfinite, (on.x, on.y, on.z, on.yaw))) else None


def _stands(foot: Footstep, stance: Footstep, workspace: Workspace, legs: Legs) -> bool:
    """Whether both legs reach from above the middle."""
    feet = _pair(foot, stance)
    low, high = legs.heights(middle(feet), mean_yaw(feet), feet)
    return max(min(foot.z, stance.z) + workspace.heights[0], low) <= high


def _pair(foot: Footstep, stance: Footstep) -> Feet:
    feet: dict[Side, Footstep] = {foot.side: foot, stance.side: stance}
    return feet
