"""Synergy: the steps, height, attitude and hands that follow the guided point, each within its bounds.

A guiding mode says where feet and centre of mass go from above; here the height, the attitude and the hands follow,
each within its boundary, and become a `Goal`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from poise.arrays import Array
from poise.geometry import so3
from poise.plans.footsteps import Footstep
from poise.plans.guidance.limb_reach import LegReach
from poise.plans.guidance.navigation_points import Goal, HandPoint, NavigationPoints
from poise.plans.guidance.workspace import Vector, Workspace
from poise.plans.guidance.workspace_bounds import (
    LEAST_REPORTED,
    Feet,
    GroundProjection,
    find_landing,
    mean_yaw,
    middle_of_soles,
    project_center,
    project_hand,
    project_turn,
    project_value,
    project_yaw,
)
from poise.robots import Side, other_side, side_sign


def format_length(metres: float) -> str:
    """A length as people say it.

    >>> format_length(0.042), format_length(0.0031)
    ('4 cm', '3 mm')
    """
    size = abs(metres)
    if size >= 0.01:
        return f"{100.0 * size:.0f} cm"
    return f"{1000.0 * size:.0f} mm" if size >= 0.001 else "less than 1 mm"


def projection_note(part: str, metres: float) -> str:
    """A part was told to go beyond its boundary by so much."""
    return f"{part}: {format_length(metres)} beyond its boundary, projected"


def rotation_note(part: str, radians: float) -> str:
    """Likewise, of angles."""
    return f"{part}: {abs(math.degrees(radians)):.0f} degrees beyond its boundary, projected"


# -- Synergy ---------------------------------------------------------------------------------------------------------


@dataclass
class GoalDraft:
    """A goal in the making; it begins as the points are.

    Args:
        points: where everything is now.
        feet, lifted, step, lift: as in `NavigationPoints` and `Goal`.
        place: centre of mass from above.
        height: of the centre of mass above the middle of the feet that stand (m).
        commanded_rise: by how much of it was commanded, with its sign (m).
        attitude: roll, pitch and yaw of the trunk (rad).
        hands: in the body frame.
        hand_goals: of hands that are guided, in the world (m); they win over `hands`.
        notes: what was not done as commanded.
        projected: whether the command was beyond a boundary.
    """

    points: NavigationPoints
    feet: Feet
    lifted: Side | None
    place: complex
    height: float
    attitude: Vector
    hands: Mapping[Side, HandPoint]
    commanded_rise: float = 0.0
    step: Side | None = None
    lift: float = 0.0
    hand_goals: dict[Side, Vector] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    projected: bool = False

    @classmethod
    def of(cls, points: NavigationPoints) -> GoalDraft:
        x, y, z = points.center.tolist()
        roll, pitch, yaw = points.attitude.tolist()
        base = stance_height(points.feet, points.lifted)
        return cls(points, points.feet, points.lifted, complex(x, y), z - base, (roll, pitch, yaw), points.hands)

    @property
    def yaw(self) -> float:
        return self.attitude[2]

    def set_yaw(self, yaw: float) -> None:
        """Another trunk yaw."""
        self.attitude = (self.attitude[0], self.attitude[1], yaw)

    def set_step(self, foot: Footstep, lifted: Side | None, lift: float) -> None:
        """A foot that moves."""
        self.feet = {side: foot if side == foot.side else old for side, old in self.feet.items()}
        self.lifted, self.step, self.lift = lifted, foot.side, lift

    def note_projection(self, part: str, metres: float) -> None:
        """A part was commanded beyond its boundary, unless by so little that nobody sees."""
        if metres > LEAST_REPORTED:
            self.projected = True
            self.notes.append(projection_note(part, metres))

    def note_angle_projection(self, part: str, radians: float) -> None:
        """Likewise, of angles."""
        if abs(radians) > LEAST_REPORTED:
            self.projected = True
            self.notes.append(rotation_note(part, radians))


def stance_height(feet: Feet, lifted: Side | None) -> float:
    """Height of the middle of the feet that stand (m)."""
    if lifted is None:
        return 0.5 * (feet["left"].z + feet["right"].z)
    return feet[other_side(lifted)].z


def finish_goal(draft: GoalDraft, workspace: Workspace, legs: LegReach) -> Goal:
    """The goal of a draft, with height, attitude and hands inside their boundaries."""
    projection = project_yaw(draft.yaw, draft.feet, workspace)
    draft.note_angle_projection("trunk yaw", projection.shift)
    roll = project_value(draft.attitude[0], workspace.roll).value
    pitch = project_value(draft.attitude[1], workspace.pitch).value
    draft.attitude = roll, pitch, projection.value
    center = draft.place.real, draft.place.imag, _height(draft, workspace, legs)
    hands = {side: _hand(draft, side, hand, center, workspace) for side, hand in draft.hands.items()}
    points = NavigationPoints(
        center=np.array(center),
        attitude=np.array(draft.attitude),
        feet=draft.feet,
        hands=hands,
        lifted=draft.lifted,
        last_moved=draft.step or draft.points.last_moved,
    )
    return Goal(points, draft.step, draft.lift, tuple(draft.notes), draft.projected)


def unchanged_goal(points: NavigationPoints, note: str) -> Goal:
    """Nothing moves."""
    return Goal(points, notes=(note,))


def discard_goal(goal: Goal, points: NavigationPoints) -> Goal:
    """The paper's rule: what is beyond a boundary is not done at all."""
    notes = tuple(note.replace(", projected", ", discarded") for note in goal.notes)
    return replace(Goal(points), notes=notes, projected=True)


def rotate_to_world(attitude: Vector, vector: Vector) -> Vector:
    """Rz(yaw) Ry(pitch) Rx(roll) v: from the trunk's axes to the world."""
    (roll, pitch, yaw), (x, y, z) = attitude, vector
    c, s = math.cos(roll), math.sin(roll)
    y, z = c * y - s * z, s * y + c * z
    c, s = math.cos(pitch), math.sin(pitch)
    x, z = c * x + s * z, c * z - s * x
    c, s = math.cos(yaw), math.sin(yaw)
    return c * x - s * y, s * x + c * y, z


def rotate_to_trunk(attitude: Vector, vector: Vector) -> Vector:
    """The inverse of `rotate_to_world`: from the world to the trunk's axes."""
    (roll, pitch, yaw), (x, y, z) = attitude, vector
    c, s = math.cos(yaw), math.sin(yaw)
    x, y = c * x + s * y, c * y - s * x
    c, s = math.cos(pitch), math.sin(pitch)
    x, z = c * x - s * z, s * x + c * z
    c, s = math.cos(roll), math.sin(roll)
    return x, c * y + s * z, c * z - s * y


def _height(draft: GoalDraft, workspace: Workspace, legs: LegReach) -> float:
    """Height of the centre of mass in the world: as wanted, but such that both legs reach and none is folded up."""
    target = stance_height(draft.feet, draft.lifted) + draft.height
    lower = min(foot.z for side, foot in draft.feet.items() if side != draft.lifted)
    low, high = legs.com_heights(draft.place, draft.yaw, draft.feet)
    low, high = max(low, lower + workspace.com_heights[0]), min(high, lower + workspace.com_heights[1])
    z = min(max(target, low), high)
    shift = abs(z - target)
    if shift > LEAST_REPORTED:
        if (target - z) * draft.commanded_rise > 0.0:
            draft.note_projection("trunk height", shift)
        elif z < target:
            draft.notes.append(f"trunk: lowered by {format_length(shift)}, so that both legs reach")
        else:
            draft.notes.append(f"trunk: raised by {format_length(shift)}, a leg folds no further")
    return z


def _hand(draft: GoalDraft, side: Side, hand: HandPoint, center: Vector, workspace: Workspace) -> HandPoint:
    goal = draft.hand_goals.get(side)
    if goal is None:
        if hand is workspace.home_hands.get(side):
            return hand
        x, y, z = hand.position.tolist()
    else:
        distances = goal[0] - center[0], goal[1] - center[1], goal[2] - center[2]
        x, y, z = rotate_to_trunk(draft.attitude, distances)
    projection, turn = project_hand((x, y, z), side, workspace), project_turn(_vector(hand.attitude), workspace)
    if goal is not None:
        draft.note_projection(f"{side} hand", projection.shift)
    elif projection.shift == 0.0 and turn.shift == 0.0:
        return hand
    return HandPoint(np.array(projection.place), np.array(turn.place))


def _vector(values: Array) -> Vector:
    x, y, z = values.tolist()
    return x, y, z


# -- Choice of a step ------------------------------------------------------------------------------------------------


#: A radian that the feet are off counts as much as this share of the leg that their middle is off: the edge of a sole
#: that turns by a radian moves by about as much.
YAW_COST = 0.5
#: A step is worth it if it brings the feet nearer by this share of the leg; a tie is anything nearer than that.
LEAST_IMPROVEMENT = 0.004


class StepCandidate(NamedTuple):
    """A foot that steps: where to, by how far the boundary moved it (m), and what is then left to be desired (m)."""

    foot: Footstep
    clipped: float
    remaining: float


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


def move_center(
    draft: GoalDraft, place: complex, workspace: Workspace, legs: LegReach, ground: GroundProjection | None, lift: float
) -> None:
    """Brings the centre of mass of a draft to a place, with a step if that or the yaw of the trunk needs one.

    After a step the centre of mass is above the middle of the feet, wherever these could go. If no step helps, the
    place is projected onto the stand-on region. On one foot it is the lifted one that lands.
    """
    points, shift = draft.points, place - draft.place
    if points.lifted is not None:
        _land(draft, points.lifted, shift, workspace, legs, ground)
        return
    projection = project_center(place, points.feet, None, workspace)
    leaves_region, needs_turn = (
        projection.shift > 0.0,
        abs(so3.wrap_angle(draft.yaw - mean_yaw(points.feet))) > workspace.stepping_yaw,
    )
    step = (
        choose_step(points, place, shift, draft.yaw, leaves_region, workspace, legs, ground)
        if leaves_region or needs_turn
        else None
    )
    if step is None:
        draft.note_projection("trunk", projection.shift)
        draft.place = projection.place
        return
    low, high = workspace.lift
    draft.set_step(step.foot, None, low + lift * (high - low))
    draft.note_projection(f"{step.foot.side} foot", step.clipped)
    draft.place = middle_of_soles(draft.feet)


def choose_step(
    points: NavigationPoints,
    place: complex,
    shift: complex,
    yaw: float,
    leaves_region: bool,
    workspace: Workspace,
    legs: LegReach,
    ground: GroundProjection | None,
) -> StepCandidate | None:
    """The foot that is farther from the goal steps if that does half of what is wanted, else the one that does more:
    sideways the farther one runs into the other. Feet as far as each other take turns. None if no step helps."""
    feet = points.feet
    before = _remaining_error(feet, place if leaves_region else None, yaw, workspace)
    near = LEAST_IMPROVEMENT * workspace.leg
    distances = {side: abs(foot.place - place) for side, foot in feet.items()}
    first: Side = other_side(points.last_moved)
    if abs(distances["left"] - distances["right"]) > near:
        first = max(distances, key=lambda side: distances[side])
    best: StepCandidate | None = None
    for side in (first, other_side(first)):
        step = _step_candidate(feet, side, place, shift, yaw, leaves_region, workspace, legs, ground)
        if step is None:
            continue
        if step.remaining <= max(0.5 * before, near) and best is None:
            return step
        if step.remaining < before - near and (best is None or step.remaining < best.remaining - near):
            best = step
    return best


def _step_candidate(
    feet: Feet,
    side: Side,
    place: complex,
    shift: complex,
    yaw: float,
    leaves_region: bool,
    workspace: Workspace,
    legs: LegReach,
    ground: GroundProjection | None,
) -> StepCandidate | None:
    stance = feet[other_side(side)]
    if leaves_region:
        center = (place.real, place.imag, 0.0)
        x, y, _ = goal_foot_of_a_step(center, center, (stance.x, stance.y, 0.0))
    else:  # a step to turn: the feet become square again, and go where the body goes
        heading = Footstep(side, 0.0, 0.0, yaw).heading
        at = stance.place + 1j * side_sign(side) * workspace.width * heading + 2.0 * shift
        x, y = at.real, at.imag
    foot = find_landing(Footstep(side, x, y, yaw, stance.z), stance, workspace, legs, ground)
    if foot is None:
        return None
    clipped = abs(foot.place - complex(x, y)) if leaves_region else 0.0
    new_feet: dict[Side, Footstep] = {side: foot, stance.side: stance}
    return StepCandidate(foot, clipped, _remaining_error(new_feet, place if leaves_region else None, yaw, workspace))


def _remaining_error(feet: Feet, place: complex | None, yaw: float, workspace: Workspace) -> float:
    """How far the feet are from being along a yaw, and below a place if that is what the step is for (m)."""
    needs_turn = YAW_COST * workspace.leg * abs(so3.wrap_angle(yaw - mean_yaw(feet)))
    return needs_turn if place is None else needs_turn + abs(middle_of_soles(feet) - place)


def _land(
    draft: GoalDraft, side: Side, shift: complex, workspace: Workspace, legs: LegReach, ground: GroundProjection | None
) -> None:
    """The lifted foot lands: by equation (4) as if it stood below where it is, so that it moves by twice as much."""
    foot, stance = draft.feet[side], draft.feet[other_side(side)]
    at = foot.place + 2.0 * shift
    found = find_landing(Footstep(side, at.real, at.imag, draft.yaw, stance.z), stance, workspace, legs, ground)
    if found is None:
        draft.notes.append(f"{side} foot: there is no ground within its reach to land on; it stays in the air")
        draft.place = stance.place
        return
    draft.set_step(found, None, 0.0)
    draft.notes.append(f"{side} foot: it lands first, the body needs both feet to go on")
    draft.place = middle_of_soles(draft.feet)
