"""Synergy: what follows the guided point, and a goal in which everything fits together.

A guiding mode says where feet and centre of mass go from above; here the height, the attitude and the hands follow,
each within its boundary, and become a `Goal`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from poise.plans.footsteps import Footstep
from poise.plans.guidance.boundary import UNSEEN, Feet, hand_inside, turn_inside, value_inside, yaw_inside
from poise.plans.guidance.goal import Goal
from poise.plans.guidance.legs import Legs
from poise.plans.guidance.points import Array, HandPoint, Points
from poise.plans.guidance.words import length, projected, turned
from poise.plans.guidance.workspace import Vector, Workspace
from poise.robots.parts import Side


@dataclass
class Draft:
    """A goal in the making; it begins as the points are.

    Args:
        points: where everything is now.
        feet, lifted, step, lift: as in `Points` and `Goal`.
        place: centre of mass from above.
        height: of the centre of mass above the middle of the feet that stand (m).
        up: by how much of it was commanded, with its sign (m).
        attitude: roll, pitch and yaw of the trunk (rad).
        hands: in the body frame.
        hand_goals: of hands that are guided, in the world (m); they win over `hands`.
        notes: what was not done as commanded.
        projected: whether the command was beyond a boundary.
    """

    points: Points
    feet: Feet
    lifted: Side | None
    place: complex
    height: float
    attitude: Vector
    hands: Mapping[Side, HandPoint]
    up: float = 0.0
    step: Side | None = None
    lift: float = 0.0
    hand_goals: dict[Side, Vector] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    projected: bool = False

    @classmethod
    def of(cls, points: Points) -> Draft:
        x, y, z = points.center.tolist()
        roll, pitch, yaw = points.attitude.tolist()
        base = base_of(points.feet, points.lifted)
        return cls(points, points.feet, points.lifted, complex(x, y), z - base, (roll, pitch, yaw), points.hands)

    @property
    def yaw(self) -> float:
        return self.attitude[2]

    def turn_to(self, yaw: float) -> None:
        """Another trunk yaw."""
        self.attitude = (self.attitude[0], self.attitude[1], yaw)

    def step_to(self, foot: Footstep, lifted: Side | None, lift: float) -> None:
        """A foot that moves."""
        self.feet = {side: foot if side == foot.side else old for side, old in self.feet.items()}
        self.lifted, self.step, self.lift = lifted, foot.side, lift

    def beyond(self, part: str, metres: float) -> None:
        """A part was commanded beyond its boundary, unless by so little that nobody sees."""
        if metres > UNSEEN:
            self.projected = True
            self.notes.append(projected(part, metres))

    def beyond_by_angle(self, part: str, radians: float) -> None:
        """Likewise, of angles."""
        if abs(radians) > UNSEEN:
            self.projected = True
            self.notes.append(turned(part, radians))


def base_of(feet: Feet, lifted: Side | None) -> float:
    """Height of the middle of the feet that stand (m)."""
    if lifted is None:
        return 0.5 * (feet["left"].z + feet["right"].z)
    return feet["right" if lifted == "left" else "left"].z


def settled(draft: Draft, workspace: Workspace, legs: Legs) -> Goal:
    """The goal of a draft, with height, attitude and hands inside their boundaries."""
    kept = yaw_inside(draft.yaw, draft.feet, workspace)
    draft.beyond_by_angle("trunk yaw", kept.moved)
    roll = value_inside(draft.attitude[0], workspace.roll).value
    pitch = value_inside(draft.attitude[1], workspace.pitch).value
    draft.attitude = roll, pitch, kept.value
    center = draft.place.real, draft.place.imag, _height(draft, workspace, legs)
    hands = {side: _hand(draft, side, hand, center, workspace) for side, hand in draft.hands.items()}
    points = Points(
        center=np.array(center),
        attitude=np.array(draft.attitude),
        feet=draft.feet,
        hands=hands,
        lifted=draft.lifted,
        last=draft.step or draft.points.last,
    )
    return Goal(points, draft.step, draft.lift, tuple(draft.notes), draft.projected)


def stayed(points: Points, note: str) -> Goal:
    """Nothing moves."""
    return Goal(points, notes=(note,))


def discarded(goal: Goal, points: Points) -> Goal:
    """The paper's rule: what is beyond a boundary is not done at all."""
    notes = tuple(note.replace(", projected", ", discarded") for note in goal.notes)
    return replace(Goal(points), notes=notes, projected=True)


def turned_by(attitude: Vector, vector: Vector) -> Vector:
    """Rz(yaw) Ry(pitch) Rx(roll) v: from the trunk's axes to the world."""
    (roll, pitch, yaw), (x, y, z) = attitude, vector
    c, s = math.cos(roll), math.sin(roll)
    y, z = c * y - s * z, s * y + c * z
    c, s = math.cos(pitch), math.sin(pitch)
    x, z = c * x + s * z, c * z - s * x
    c, s = math.cos(yaw), math.sin(yaw)
    return c * x - s * y, s * x + c * y, z


def turned_back(attitude: Vector, vector: Vector) -> Vector:
    """The inverse of `turned_by`: from the world to the trunk's axes."""
    (roll, pitch, yaw), (x, y, z) = attitude, vector
    c, s = math.cos(yaw), math.sin(yaw)
    x, y = c * x + s * y, c * y - s * x
    c, s = math.cos(pitch), math.sin(pitch)
    x, z = c * x - s * z, s * x + c * z
    c, s = math.cos(roll), math.sin(roll)
    return x, c * y + s * z, c * z - s * y


def _height(draft: Draft, workspace: Workspace, legs: Legs) -> float:
    """Height of the centre of mass in the world: as wanted, but such that both legs reach and none is folded up."""
    wanted = base_of(draft.feet, draft.lifted) + draft.height
    lower = min(foot.z for side, foot in draft.feet.items() if side != draft.lifted)
    low, high = legs.heights(draft.place, draft.yaw, draft.feet)
    low, high = max(low, lower + workspace.heights[0]), min(high, lower + workspace.heights[1])
    z = min(max(wanted, low), high)
    moved = abs(z - wanted)
    if moved > UNSEEN:
        if (wanted - z) * draft.up > 0.0:
            draft.beyond("trunk height", moved)
        elif z < wanted:
            draft.notes.append(f"trunk: lowered by {length(moved)}, so that both legs reach")
        else:
            draft.notes.append(f"trunk: raised by {length(moved)}, a leg folds no further")
    return z


def _hand(draft: Draft, side: Side, hand: HandPoint, center: Vector, workspace: Workspace) -> HandPoint:
    goal = draft.hand_goals.get(side)
    if goal is None:
        if hand is workspace.homes.get(side):
            return hand
        x, y, z = hand.position.tolist()
    else:
        away = goal[0] - center[0], goal[1] - center[1], goal[2] - center[2]
        x, y, z = turned_back(draft.attitude, away)
    kept, turn = hand_inside((x, y, z), side, workspace), turn_inside(_vector(hand.attitude), workspace)
    if goal is not None:
        draft.beyond(f"{side} hand", kept.moved)
    elif kept.moved == 0.0 and turn.moved == 0.0:
        return hand
    return HandPoint(np.array(kept.place), np.array(turn.place))


def _vector(values: Array) -> Vector:
    x, y, z = values.tolist()
    return x, y, z
