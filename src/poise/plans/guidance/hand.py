"""Hand-guided mode: a hand goes where the stick says and pulls the body along when the arm is not long enough."""

from __future__ import annotations

import cmath
import math

import numpy as np

from poise.plans.guidance.boundary import UNSEEN, hand_inside, turn_inside
from poise.plans.guidance.goal import Goal
from poise.plans.guidance.landing import Ground
from poise.plans.guidance.legs import Legs
from poise.plans.guidance.points import HandPoint, Points
from poise.plans.guidance.stepping import carried
from poise.plans.guidance.stick import Stick
from poise.plans.guidance.synergy import Draft, settled, stayed, turned_back, turned_by
from poise.plans.guidance.trunk import rested
from poise.plans.guidance.workspace import Vector, Workspace
from poise.robots.parts import Side


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
