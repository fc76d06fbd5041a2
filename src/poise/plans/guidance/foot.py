"""Foot-guided mode: one foot goes where the stick says, the other stands, the body follows."""

from __future__ import annotations

from poise.plans.footsteps import Footstep, other
from poise.plans.guidance.boundary import UNSEEN, foot_inside, mean_yaw, wrapped
from poise.plans.guidance.goal import Goal
from poise.plans.guidance.landing import Ground, aloft, landed
from poise.plans.guidance.legs import Legs
from poise.plans.guidance.points import Points
from poise.plans.guidance.stick import Stick
from poise.plans.guidance.synergy import Draft, settled
from poise.plans.guidance.workspace import Vector, Workspace
from poise.robots.parts import Side

#: A step on the ground that moves or turns its foot by less (m, rad) is not made.
WORTH = 1e-3


def goal_center_of_one_foot_standing(center: Vector, stance: Vector) -> Vector:
    """Where the centre of mass goes to stand on one foot: above the stance foot, as high as it is.

        ᵈp_B = p_RF + {(p_B - p_RF)ᵀ ĝ} ĝ                                [Sugihara2008, eq. 3, one-foot standing]

    with ĝ the vertical, the left foot guided (m).
    """
    return stance[0], stance[1], stance[2] + (center[2] - stance[2])


def goal_center_of_one_step(center: Vector, foot_goal: Vector, stance: Vector) -> Vector:
    """Where the centre of mass goes with a step: above the middle of both feet, as high above it as above the stance
    foot.

        ᵈp_B = (ᵈp_LF + p_RF) / 2 + {(p_B - p_RF)ᵀ ĝ} ĝ                  [Sugihara2008, eq. 3, one-step]
    """
    return (
        0.5 * (foot_goal[0] + stance[0]),
        0.5 * (foot_goal[1] + stance[1]),
        0.5 * (foot_goal[2] + stance[2]) + (center[2] - stance[2]),
    )


def guided_foot(points: Points, stick: Stick, workspace: Workspace, legs: Legs, ground: Ground | None) -> Goal:
    """The goal of the foot-guided mode."""
    side: Side = "left" if stick.mode.startswith("left") else "right"
    draft = Draft.of(points)
    if points.lifted == other(side):
        _land(draft, other(side), points.feet[other(side)], workspace, legs, ground)
        draft.notes.append(f"{side} foot: it carries the body; the {other(side)} foot lands first")
        return _followed(draft, other(side), workspace, legs)
    forward, left, up, _, _, yaw = stick.axes
    foot, stance, aloft_now = points.feet[side], points.feet[other(side)], points.lifted == side
    at = foot.place + complex(forward * workspace.foot[0], left * workspace.foot[1]) * stance.heading
    z = foot.z + up * workspace.foot[2]
    wanted = Footstep(side, at.real, at.imag, foot.yaw + yaw * workspace.foot_turn, z)
    if forward or left or yaw:
        kept = foot_inside(wanted, stance, workspace)
        draft.beyond(f"{side} foot", kept.moved)
        draft.beyond_by_angle(f"{side} foot yaw", kept.turned if yaw else 0.0)
        wanted = kept.foot
    if up > 0.0 or (aloft_now and up == 0.0):
        if stick.still:
            draft.place = stance.place
            return settled(draft, workspace, legs)
        _lift(draft, wanted, stance, workspace, legs, ground)
    elif aloft_now:
        _land(draft, side, wanted, workspace, legs, ground)
    elif forward or left or yaw:
        _step(draft, foot, wanted, workspace, legs, ground, stick.lift)
    return _followed(draft, side, workspace, legs)


def _followed(draft: Draft, side: Side, workspace: Workspace, legs: Legs) -> Goal:
    """Centre of mass by equation (3), trunk yaw between the feet. The height is that above the middle of the feet that
    stood: on level ground, that above the stance foot."""
    stance, foot = draft.feet[other(side)], draft.feet[side]
    at = (stance.x, stance.y, stance.z)
    center = (draft.place.real, draft.place.imag, stance.z + draft.height)
    if draft.lifted is not None:
        x, y, _ = goal_center_of_one_foot_standing(center, at)
    else:
        x, y, _ = goal_center_of_one_step(center, (foot.x, foot.y, foot.z), at)
    draft.place = complex(x, y)
    draft.turn_to(draft.yaw + wrapped(mean_yaw(draft.feet) - draft.yaw))
    return settled(draft, workspace, legs)


def _lift(
    draft: Draft, wanted: Footstep, stance: Footstep, workspace: Workspace, legs: Legs, ground: Ground | None
) -> None:
    found = aloft(wanted, stance, workspace, legs, ground)
    if found is None:
        draft.notes.append(f"{wanted.side} foot: it cannot be lifted there; it stays where it is")
        return
    if wanted.z - found.z > UNSEEN:
        draft.beyond(f"{wanted.side} foot height", wanted.z - found.z)
    _say_moved(draft, found, wanted)
    if draft.lifted is None or _differ(found, draft.feet[wanted.side]):
        draft.step_to(found, wanted.side, 0.0)


def _land(draft: Draft, side: Side, wanted: Footstep, workspace: Workspace, legs: Legs, ground: Ground | None) -> None:
    found = landed(wanted, draft.feet[other(side)], workspace, legs, ground)
    if found is None:
        draft.notes.append(f"{side} foot: there is no ground within its reach to land on; it stays in the air")
        return
    _say_moved(draft, found, wanted)
    draft.step_to(found, None, 0.0)


def _step(
    draft: Draft,
    foot: Footstep,
    wanted: Footstep,
    workspace: Workspace,
    legs: Legs,
    ground: Ground | None,
    lift: float,
) -> None:
    found = landed(wanted, draft.feet[other(foot.side)], workspace, legs, ground)
    if found is None:
        draft.notes.append(f"{foot.side} foot: there is no ground to step on; it stays where it is")
        return
    _say_moved(draft, found, wanted)
    if _differ(found, foot):
        low, high = workspace.lift
        draft.step_to(found, None, low + lift * (high - low))


def _differ(a: Footstep, b: Footstep) -> bool:
    """Whether it is worth to move a foot from one place to the other."""
    return max(abs(a.place - b.place), abs(a.yaw - b.yaw), abs(a.z - b.z)) >= WORTH


def _say_moved(draft: Draft, found: Footstep, wanted: Footstep) -> None:
    """The boundary has had its say; what moved the foot after that is the ground or the reach of the legs."""
    moved = abs(found.place - wanted.place)
    if moved > WORTH:
        draft.notes.append(f"{found.side} foot: moved by {100.0 * moved:.0f} cm to where it can be")
