"""Trunk-guided mode: the centre of mass and the attitude of the trunk go where the stick says, the feet follow."""

from __future__ import annotations

import cmath

from poise.plans.footsteps import other
from poise.plans.guidance.boundary import center_inside, middle, value_inside
from poise.plans.guidance.goal import Goal
from poise.plans.guidance.landing import Ground
from poise.plans.guidance.legs import Legs
from poise.plans.guidance.points import Points
from poise.plans.guidance.stepping import carried
from poise.plans.guidance.stick import Stick
from poise.plans.guidance.synergy import Draft, settled
from poise.plans.guidance.workspace import Workspace


def guided_trunk(points: Points, stick: Stick, workspace: Workspace, legs: Legs, ground: Ground | None) -> Goal:
    """The goal of the trunk-guided mode; hands go home."""
    draft = Draft.of(points)
    draft.hands = workspace.homes
    forward, left, up, roll, pitch, yaw = stick.axes
    if not (forward or left or yaw):  # nothing that feet have to do with
        draft.place = rested(draft, workspace)
    draft.up = up * workspace.trunk[2]
    draft.height += draft.up
    turn = workspace.trunk_turn
    rolled = value_inside(draft.attitude[0] + roll * turn[0], workspace.roll)
    pitched = value_inside(draft.attitude[1] + pitch * turn[1], workspace.pitch)
    draft.beyond_by_angle("trunk roll", rolled.moved if roll else 0.0)
    draft.beyond_by_angle("trunk pitch", pitched.moved if pitch else 0.0)
    heading = cmath.exp(1j * draft.yaw)
    draft.attitude = rolled.value, pitched.value, draft.yaw + yaw * turn[2]
    if forward or left or yaw:
        moved = complex(forward * workspace.trunk[0], left * workspace.trunk[1]) * heading
        carried(draft, draft.place + moved, workspace, legs, ground, stick.lift)
    return settled(draft, workspace, legs)


def rested(draft: Draft, workspace: Workspace) -> complex:
    """Where the centre of mass stays: where it is, if it is in the stand-on region; else above the middle."""
    if draft.lifted is not None:
        return draft.feet[other(draft.lifted)].place
    inside = center_inside(draft.place, draft.feet, None, workspace).moved == 0.0
    return draft.place if inside else middle(draft.feet)
