"""Synergy: steps, height, attitude and hands that follow the guided point, each within its bounds.

A guiding mode sets the horizontal goals of feet and center of mass (CoM) in a `GoalDraft`. `move_center` adds a step if
the CoM or the yaw of the trunk needs one; `finish_goal` projects height, attitude and hands onto their bounds and
returns the `Goal`.
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


def format_length(meters: float) -> str:
    """Format a length in cm or mm.

    >>> format_length(0.042), format_length(0.0031)
    ('4 cm', '3 mm')
    """
    size = abs(meters)
    if size >= 0.01:
        return f"{100.0 * size:.0f} cm"
    return f"{1000.0 * size:.0f} mm" if size >= 0.001 else "less than 1 mm"


def projection_note(part: str, meters: float) -> str:
    """Return the note that a part was commanded beyond its boundary by a length (m)."""
    return f"{part}: {format_length(meters)} beyond its boundary, projected"


def rotation_note(part: str, radians: float) -> str:
    """Return the note that a part was commanded beyond its boundary by an angle (rad)."""
    return f"{part}: {abs(math.degrees(radians)):.0f} degrees beyond its boundary, projected"


# -- Synergy ---------------------------------------------------------------------------------------------------------


@dataclass
class GoalDraft:
    """Goal under construction; it starts from the current points.

    Args:
        points: current navigation points.
        feet, lifted, step, lift: as in `NavigationPoints` and `Goal`.
        place: horizontal position of the CoM, as x + i y (m).
        height: height of the CoM above the middle of the stance feet (m).
        commanded_rise: commanded change of the height, with its sign (m).
        attitude: roll, pitch and yaw of the trunk (rad).
        hands: hands in the body frame.
        hand_goals: goals of guided hands in the world (m); they take precedence over `hands`.
        notes: deviations from the command.
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
        """Set the yaw of the trunk (rad)."""
        self.attitude = (self.attitude[0], self.attitude[1], yaw)

    def set_step(self, foot: Footstep, lifted: Side | None, lift: float) -> None:
        """Set the goal of the foot that moves, the side that ends in the air (or None), and its lift (m)."""
        self.feet = {side: foot if side == foot.side else old for side, old in self.feet.items()}
        self.lifted, self.step, self.lift = lifted, foot.side, lift

    def note_projection(self, part: str, meters: float) -> None:
        """Note that a part was commanded beyond its boundary (m), if by more than `LEAST_REPORTED`."""
        if meters > LEAST_REPORTED:
            self.projected = True
            self.notes.append(projection_note(part, meters))

    def note_angle_projection(self, part: str, radians: float) -> None:
        """Note that a part was commanded beyond its boundary (rad), if by more than `LEAST_REPORTED`."""
        if abs(radians) > LEAST_REPORTED:
            self.projected = True
            self.notes.append(rotation_note(part, radians))


def stance_height(feet: Feet, lifted: Side | None) -> float:
    """Return the mean height of the feet on the ground (m)."""
    if lifted is None:
        return 0.5 * (feet["left"].z + feet["right"].z)
    return feet[other_side(lifted)].z


def finish_goal(draft: GoalDraft, workspace: Workspace, legs: LegReach) -> Goal:
    """Return the goal of a draft, with height, attitude and hands projected onto their bounds."""
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
    """Return the goal in which nothing moves, with a note."""
    return Goal(points, notes=(note,))


def discard_goal(goal: Goal, points: NavigationPoints) -> Goal:
    """Return the goal in which nothing moves: the paper discards a command beyond a boundary."""
    notes = tuple(note.replace(", projected", ", discarded") for note in goal.notes)
    return replace(Goal(points), notes=notes, projected=True)


def rotate_to_world(attitude: Vector, vector: Vector) -> Vector:
    """Rotate a vector from the axes of the trunk to the world: Rz(yaw) Ry(pitch) Rx(roll) v."""
    (roll, pitch, yaw), (x, y, z) = attitude, vector
    c, s = math.cos(roll), math.sin(roll)
    y, z = c * y - s * z, s * y + c * z
    c, s = math.cos(pitch), math.sin(pitch)
    x, z = c * x + s * z, c * z - s * x
    c, s = math.cos(yaw), math.sin(yaw)
    return c * x - s * y, s * x + c * y, z


def rotate_to_trunk(attitude: Vector, vector: Vector) -> Vector:
    """Rotate a vector from the world to the axes of the trunk; inverse of `rotate_to_world`."""
    (roll, pitch, yaw), (x, y, z) = attitude, vector
    c, s = math.cos(yaw), math.sin(yaw)
    x, y = c * x + s * y, c * y - s * x
    c, s = math.cos(pitch), math.sin(pitch)
    x, z = c * x - s * z, s * x + c * z
    c, s = math.cos(roll), math.sin(roll)
    return x, c * y + s * z, c * z - s * y


def _height(draft: GoalDraft, workspace: Workspace, legs: LegReach) -> float:
    """Return the height of the CoM in the world (m), limited such that no leg is too far extended or folded."""
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
            draft.notes.append(f"trunk: lowered by {format_length(shift)}, because a leg would not reach")
        else:
            draft.notes.append(f"trunk: raised by {format_length(shift)}, because a leg cannot fold further")
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


#: Cost of a yaw error of the feet of one radian, equal to a position error of this fraction of the leg length: the edge
#: of a sole moves by about that when it turns by a radian.
YAW_COST = 0.5
#: Least reduction of the error that justifies a step, as a fraction of the leg length; smaller differences are a tie.
LEAST_IMPROVEMENT = 0.004


class StepCandidate(NamedTuple):
    """Possible step: footstep, distance by which the boundary moved it (m), and error that remains after it (m)."""

    foot: Footstep
    clipped: float
    remaining: float


def goal_foot_of_a_step(center_goal: Vector, center: Vector, stance: Vector) -> Vector:
    """Return the place of the stepping foot that brings the middle of both feet below the goal of the CoM:

        ᵈp_LF = 2 [ᵈp_B - {(p_B - p_RF)ᵀ ĝ} ĝ] - p_RF                    [Sugihara2008, eq. 4]

    with ĝ the vertical. Feet are the middles of their soles, all points in the world (m).
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
    """Move the CoM of a draft to a place (x + i y, m), with a step if the place or the yaw of the trunk needs one.

    After a step the CoM is above the middle of the feet. If no step helps, the place is projected onto the stand-on
    region. If the robot stands on one foot, the lifted foot lands. `lift` is that of the command, from 0 to 1.
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
    """Return the best step, or None if no step helps.

    The foot farther from the goal steps if this halves the error; otherwise the foot that reduces the error more, since
    in a sideways motion the farther foot is blocked by the other. Feet at equal distances step alternately.

    Args:
        points: current navigation points.
        place, shift: desired place of the CoM, and its distance from the current one, as x + i y (m).
        yaw: desired yaw of the trunk (rad).
        leaves_region: whether the place is outside the stand-on region. If not, the step only turns the feet.
        workspace, legs, ground: bounds, leg reach and known ground.
    """
    feet = points.feet
    current_error = _remaining_error(feet, place if leaves_region else None, yaw, workspace)
    threshold = LEAST_IMPROVEMENT * workspace.leg
    distances = {side: abs(foot.place - place) for side, foot in feet.items()}
    first: Side = other_side(points.last_moved)
    if abs(distances["left"] - distances["right"]) > threshold:
        first = max(distances, key=lambda side: distances[side])
    best: StepCandidate | None = None
    for side in (first, other_side(first)):
        step = _step_candidate(feet, side, place, shift, yaw, leaves_region, workspace, legs, ground)
        if step is None:
            continue
        if step.remaining <= max(0.5 * current_error, threshold) and best is None:
            return step
        if step.remaining < current_error - threshold and (best is None or step.remaining < best.remaining - threshold):
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
    else:  # a step to turn: the feet become parallel and side by side again, and move with the body
        heading = Footstep(side, 0.0, 0.0, yaw).heading
        target = stance.place + 1j * side_sign(side) * workspace.width * heading + 2.0 * shift
        x, y = target.real, target.imag
    foot = find_landing(Footstep(side, x, y, yaw, stance.z), stance, workspace, legs, ground)
    if foot is None:
        return None
    clipped = abs(foot.place - complex(x, y)) if leaves_region else 0.0
    new_feet: dict[Side, Footstep] = {side: foot, stance.side: stance}
    return StepCandidate(foot, clipped, _remaining_error(new_feet, place if leaves_region else None, yaw, workspace))


def _remaining_error(feet: Feet, place: complex | None, yaw: float, workspace: Workspace) -> float:
    """Return the cost of the yaw error of the feet plus, if a place is given, the distance of their middle (m)."""
    yaw_cost = YAW_COST * workspace.leg * abs(so3.wrap_angle(yaw - mean_yaw(feet)))
    return yaw_cost if place is None else yaw_cost + abs(middle_of_soles(feet) - place)


def _land(
    draft: GoalDraft, side: Side, shift: complex, workspace: Workspace, legs: LegReach, ground: GroundProjection | None
) -> None:
    """Land the lifted foot near the point below it, moved by twice the shift of the CoM (equation 4)."""
    foot, stance = draft.feet[side], draft.feet[other_side(side)]
    place = foot.place + 2.0 * shift
    landing = find_landing(Footstep(side, place.real, place.imag, draft.yaw, stance.z), stance, workspace, legs, ground)
    if landing is None:
        draft.notes.append(f"{side} foot: there is no ground within its reach to land on; it stays in the air")
        draft.place = stance.place
        return
    draft.set_step(landing, None, 0.0)
    draft.notes.append(f"{side} foot: it lands first, because the motion needs both feet")
    draft.place = middle_of_soles(draft.feet)
