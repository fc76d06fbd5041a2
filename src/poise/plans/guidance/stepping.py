"""Stepping: whether the body needs a step, which foot makes it, and where to (the robot decides, not the operator)."""

from __future__ import annotations

from typing import NamedTuple

from poise.plans.footsteps import Footstep, other
from poise.plans.guidance.boundary import Feet, center_inside, mean_yaw, middle, outward, wrapped
from poise.plans.guidance.landing import Ground, landed
from poise.plans.guidance.legs import Legs
from poise.plans.guidance.points import Points
from poise.plans.guidance.synergy import Draft
from poise.plans.guidance.workspace import Vector, Workspace
from poise.robots.parts import Side

#: A radian that the feet are off counts as much as this share of the leg that their middle is off: the edge of a sole
#: that turns by a radian moves by about as much.
TURNING = 0.5
#: A step is worth it if it brings the feet nearer by this share of the leg; a tie is anything nearer than that.
WORTH = 0.004


class Step(NamedTuple):
    """A foot that steps: where to, by how far the boundary moved it (m), and what is then left to be desired (m)."""

    foot: Footstep
    clipped: float
    left: float


def goal_foot_of_a_step(center_goal: Vector, center: Vector, stance: Vector) -> Vector:
    """Where a foot steps so that the middle of both feet comes below the goal of the centre of mass:

        ᵈp_LF = 2 [ᵈp_B - {(p_B - p_RF)ᵀ ĝ} ĝ] - p_RF                    [Sugihara2008, eq. 4]

    with ĝ the vertical; all are middles of soles (m).
    """
    height = center[2] - stance[2]
    return (
        2.0 * center_goal[0] - stance[0],
        2.0 * center_goal[1] - stance[1],
        2.0 * (center_goal[2] - height) - stance[2],
    )


def carried(draft: Draft, place: complex, workspace: Workspace, legs: Legs, ground: Ground | None, lift: float) -> None:
    """Brings the centre of mass of a draft to a place, with a step if that or the yaw of the trunk needs one.

    After a step the centre of mass is above the middle of the feet, wherever these could go. If no step helps, the
    place is projected onto the stand-on region. On one foot it is the lifted one that lands.
    """
    points, moved = draft.points, place - draft.place
    if points.lifted is not None:
        _land(draft, points.lifted, moved, workspace, legs, ground)
        return
    kept = center_inside(place, points.feet, None, workspace)
    outside, turning = kept.moved > 0.0, abs(wrapped(draft.yaw - mean_yaw(points.feet))) > workspace.turn_at
    step = chosen(points, place, moved, draft.yaw, outside, workspace, legs, ground) if outside or turning else None
    if step is None:
        draft.beyond("trunk", kept.moved)
        draft.place = kept.place
        return
    low, high = workspace.lift
    draft.step_to(step.foot, None, low + lift * (high - low))
    draft.beyond(f"{step.foot.side} foot", step.clipped)
    draft.place = middle(draft.feet)


def chosen(
    points: Points,
    place: complex,
    moved: complex,
    yaw: float,
    outside: bool,
    workspace: Workspace,
    legs: Legs,
    ground: Ground | None,
) -> Step | None:
    """The foot that is farther from the goal steps if that does half of what is wanted, else the one that does more:
    sideways the farther one runs into the other. Feet as far as each other take turns. None if no step helps."""
    feet = points.feet
    before = _left(feet, place if outside else None, yaw, workspace)
    near = WORTH * workspace.leg
    away = {side: abs(foot.place - place) for side, foot in feet.items()}
    first: Side = other(points.last)
    if abs(away["left"] - away["right"]) > near:
        first = max(away, key=lambda side: away[side])
    best: Step | None = None
    for side in (first, other(first)):
        step = _step(feet, side, place, moved, yaw, outside, workspace, legs, ground)
        if step is None:
            continue
        if step.left <= max(0.5 * before, near) and best is None:
            return step
        if step.left < before - near and (best is None or step.left < best.left - near):
            best = step
    return best


def _step(
    feet: Feet,
    side: Side,
    place: complex,
    moved: complex,
    yaw: float,
    outside: bool,
    workspace: Workspace,
    legs: Legs,
    ground: Ground | None,
) -> Step | None:
    stance = feet[other(side)]
    if outside:
        center = (place.real, place.imag, 0.0)
        x, y, _ = goal_foot_of_a_step(center, center, (stance.x, stance.y, 0.0))
    else:  # a step to turn: the feet become square again, and go where the body goes
        heading = Footstep(side, 0.0, 0.0, yaw).heading
        at = stance.place + 1j * outward(side) * workspace.width * heading + 2.0 * moved
        x, y = at.real, at.imag
    foot = landed(Footstep(side, x, y, yaw, stance.z), stance, workspace, legs, ground)
    if foot is None:
        return None
    clipped = abs(foot.place - complex(x, y)) if outside else 0.0
    stepped: dict[Side, Footstep] = {side: foot, stance.side: stance}
    return Step(foot, clipped, _left(stepped, place if outside else None, yaw, workspace))


def _left(feet: Feet, place: complex | None, yaw: float, workspace: Workspace) -> float:
    """How far the feet are from being along a yaw, and below a place if that is what the step is for (m)."""
    turning = TURNING * workspace.leg * abs(wrapped(yaw - mean_yaw(feet)))
    return turning if place is None else turning + abs(middle(feet) - place)


def _land(draft: Draft, side: Side, moved: complex, workspace: Workspace, legs: Legs, ground: Ground | None) -> None:
    """The lifted foot lands: by equation (4) as if it stood below where it is, so that it moves by twice as much."""
    foot, stance = draft.feet[side], draft.feet[other(side)]
    at = foot.place + 2.0 * moved
    found = landed(Footstep(side, at.real, at.imag, draft.yaw, stance.z), stance, workspace, legs, ground)
    if found is None:
        draft.notes.append(f"{side} foot: there is no ground within its reach to land on; it stays in the air")
        draft.place = stance.place
        return
    draft.step_to(found, None, 0.0)
    draft.notes.append(f"{side} foot: it lands first, the body needs both feet to go on")
    draft.place = middle(draft.feet)
