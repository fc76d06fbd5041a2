"""Guiding modes: from the operator's stick to the goal of a segment, for a guided foot, trunk or hand."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable

import numpy as np

from poise.geometry import so3
from poise.plans.footsteps import Footstep
from poise.plans.guidance.limb_reach import Legs
from poise.plans.guidance.navigation_points import Goal, HandPoint, Points
from poise.plans.guidance.stick import Mode, Stick
from poise.plans.guidance.synergy import Draft, carried, discarded, settled, stayed, turned_back, turned_by
from poise.plans.guidance.workspace import Vector, Workspace
from poise.plans.guidance.workspace_bounds import (
    UNSEEN,
    Ground,
    aloft,
    center_inside,
    foot_inside,
    hand_inside,
    landed,
    mean_yaw,
    middle,
    turn_inside,
    value_inside,
)
from poise.robots import Side, other_side

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
    if points.lifted == other_side(side):
        _land(draft, other_side(side), points.feet[other_side(side)], workspace, legs, ground)
        draft.notes.append(f"{side} foot: it carries the body; the {other_side(side)} foot lands first")
        return _followed(draft, other_side(side), workspace, legs)
    forward, left, up, _, _, yaw = stick.axes
    foot, stance, aloft_now = points.feet[side], points.feet[other_side(side)], points.lifted == side
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
    stance, foot = draft.feet[other_side(side)], draft.feet[side]
    at = (stance.x, stance.y, stance.z)
    center = (draft.place.real, draft.place.imag, stance.z + draft.height)
    if draft.lifted is not None:
        x, y, _ = goal_center_of_one_foot_standing(center, at)
    else:
        x, y, _ = goal_center_of_one_step(center, (foot.x, foot.y, foot.z), at)
    draft.place = complex(x, y)
    draft.turn_to(draft.yaw + so3.wrap_angle(mean_yaw(draft.feet) - draft.yaw))
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
    found = landed(wanted, draft.feet[other_side(side)], workspace, legs, ground)
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
    found = landed(wanted, draft.feet[other_side(foot.side)], workspace, legs, ground)
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


# -- Trunk-guided mode -----------------------------------------------------------------------------------------------


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
        return draft.feet[other_side(draft.lifted)].place
    inside = center_inside(draft.place, draft.feet, None, workspace).moved == 0.0
    return draft.place if inside else middle(draft.feet)


# -- Hand-guided mode ------------------------------------------------------------------------------------------------


def distance_from_shoulder(hand_goal: Vector, shoulder: Vector) -> float:
    """l = |ᵈp_LH - p_LS|  [Sugihara2008, eq. 5] (m)."""
    return math.dist(hand_goal, shoulder)


def goal_shoulder(hand_goal: Vector, shoulder: Vector, longest: float) -> Vector:
    """Where the shoulder goes: it stays as long as the arm reaches, and else is pulled by the hand.

    ᵈp_LS = p_LS                                       (l <= l_max)
    ᵈp_LS = p_LS + (l - l_max) / l (ᵈp_LH - p_LS)      (l >  l_max)      [Sugihara2008, eq. 6]
    """
    l = distance_from_shoulder(hand_goal, shoulder)  # noqa: E741 - the paper's letter
    share = (l - longest) / l if l > longest else 0.0
    x, y, z = shoulder
    return x + share * (hand_goal[0] - x), y + share * (hand_goal[1] - y), z + share * (hand_goal[2] - z)


def goal_center_of_traction(center: Vector, shoulder_goal: Vector, shoulder: Vector) -> Vector:
    """Where the centre of mass goes: as far as the shoulder.  ᵈp_B = p_B + (ᵈp_LS - p_LS)  [Sugihara2008, eq. 7]"""
    return added(center, minus(shoulder_goal, shoulder))


def guided_hand(points: Points, stick: Stick, workspace: Workspace, legs: Legs, ground: Ground | None) -> Goal:
    """The goal of the hand-guided mode; the other hand keeps its place in the body frame."""
    side: Side = "left" if stick.mode.startswith("left") else "right"
    if side not in points.hands or side not in workspace.homes:
        return stayed(points, f"{side} hand: this robot has none; nothing moves")
    draft = Draft.of(points)
    forward, left, up = stick.axes[:3]
    draft.hands = {**points.hands, side: _turned(draft, points.hands[side], stick, side, workspace)}
    if not (forward or left or up):
        draft.place = rested(draft, workspace)
        return settled(draft, workspace, legs)
    center = (draft.place.real, draft.place.imag, float(points.center[2]))
    x, y, z = points.hands[side].position.tolist()
    hand = added(center, turned_by(draft.attitude, (x, y, z)))
    moved = workspace.hand * complex(forward, left) * cmath.exp(1j * draft.yaw)
    goal = (hand[0] + moved.real, hand[1] + moved.imag, hand[2] + workspace.hand * up)
    pulled = minus(attracted(goal, center, draft, side, workspace), center)
    draft.hand_goals[side] = goal
    draft.up = pulled[2]
    draft.height += pulled[2]
    across = complex(pulled[0], pulled[1])
    if draft.lifted is None or abs(across) > UNSEEN:
        carried(draft, draft.place + across, workspace, legs, ground, stick.lift)
    else:
        draft.place = rested(draft, workspace)
    return settled(draft, workspace, legs)


def attracted(goal: Vector, center: Vector, draft: Draft, side: Side, workspace: Workspace) -> Vector:
    """The centre of mass attracted by a hand: by equations (5) to (7), and then by as much as the hand is outside its
    box, which bounds it where thighs and trunk are. So whatever stops the hand also pulls the body, and the hand never
    gets stuck before the body moves."""
    shoulder = added(center, turned_by(draft.attitude, workspace.shoulders[side]))
    center = goal_center_of_traction(center, goal_shoulder(goal, shoulder, workspace.arm), shoulder)
    wanted = turned_back(draft.attitude, minus(goal, center))
    kept = hand_inside(wanted, side, workspace)
    if kept.moved < 1e-9:  # rounding
        return center
    return added(center, turned_by(draft.attitude, minus(wanted, kept.place)))


def added(a: Vector, b: Vector) -> Vector:
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


def minus(a: Vector, b: Vector) -> Vector:
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


def _turned(draft: Draft, hand: HandPoint, stick: Stick, side: Side, workspace: Workspace) -> HandPoint:
    """The hand in another attitude, if its arm can do that."""
    if not any(stick.axes[3:]):
        return hand
    if workspace.hand_attitude == 0.0:
        draft.notes.append(f"{side} hand: its arm has too few joints to guide its attitude, which is ignored")
        return hand
    x, y, z = (a + workspace.hand_turn * b for a, b in zip(hand.attitude.tolist(), stick.axes[3:], strict=True))
    kept = turn_inside((x, y, z), workspace)
    draft.beyond_by_angle(f"{side} hand", kept.moved)
    return HandPoint(hand.position, np.array(kept.place))


# -- Guide: from what the operator says to where everything goes -----------------------------------------------------


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
