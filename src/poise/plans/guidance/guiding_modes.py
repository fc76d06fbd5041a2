"""Guiding modes: map an operator command to the goal of a motion segment, for a guided foot, trunk or hand.

`guided_goal` is the entry point; `GUIDES` has one function per guiding mode.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable

import numpy as np

from poise.geometry import so3
from poise.plans.footsteps import Footstep
from poise.plans.guidance.limb_reach import LegReach
from poise.plans.guidance.navigation_points import Goal, HandPoint, NavigationPoints
from poise.plans.guidance.operator_command import GuidingMode, OperatorCommand
from poise.plans.guidance.synergy import (
    GoalDraft,
    discard_goal,
    finish_goal,
    move_center,
    rotate_to_trunk,
    rotate_to_world,
    unchanged_goal,
)
from poise.plans.guidance.workspace import Vector, Workspace
from poise.plans.guidance.workspace_bounds import (
    LEAST_REPORTED,
    GroundProjection,
    find_landing,
    find_lifted,
    mean_yaw,
    middle_of_soles,
    project_center,
    project_foot,
    project_hand,
    project_turn,
    project_value,
)
from poise.robots import Side, other_side

#: Smallest displacement or rotation (m, rad) for which a foot steps.
LEAST_STEP = 1e-3


def goal_center_of_one_foot_standing(center: Vector, stance: Vector) -> Vector:
    """Return the goal of the center of mass (CoM) for one-foot standing: above the stance foot, at its current height.

        ᵈp_B = p_RF + {(p_B - p_RF)ᵀ ĝ} ĝ                                [Sugihara2008, eq. 3, one-foot standing]

    with ĝ the vertical and the left foot guided; all points in the world (m).
    """
    return stance[0], stance[1], stance[2] + (center[2] - stance[2])


def goal_center_of_one_step(center: Vector, foot_goal: Vector, stance: Vector) -> Vector:
    """Return the goal of the CoM for a step: above the middle of both feet (m).

        ᵈp_B = (ᵈp_LF + p_RF) / 2 + {(p_B - p_RF)ᵀ ĝ} ĝ                  [Sugihara2008, eq. 3, one-step]

    Its height above that middle is its current height above the stance foot.
    """
    return (
        0.5 * (foot_goal[0] + stance[0]),
        0.5 * (foot_goal[1] + stance[1]),
        0.5 * (foot_goal[2] + stance[2]) + (center[2] - stance[2]),
    )


def guide_foot(
    points: NavigationPoints,
    command: OperatorCommand,
    workspace: Workspace,
    legs: LegReach,
    ground: GroundProjection | None,
) -> Goal:
    """Return the goal of the foot-guided mode."""
    side: Side = "left" if command.mode.startswith("left") else "right"
    draft = GoalDraft.of(points)
    if points.lifted == other_side(side):
        _land(draft, other_side(side), points.feet[other_side(side)], workspace, legs, ground)
        draft.notes.append(f"{side} foot: it is the support foot; the {other_side(side)} foot lands first")
        return _follow_foot(draft, other_side(side), workspace, legs)
    forward, left, up, _, _, yaw = command.axes
    foot, stance, is_lifted = points.feet[side], points.feet[other_side(side)], points.lifted == side
    place = (
        foot.place
        + complex(forward * workspace.foot_displacement[0], left * workspace.foot_displacement[1]) * stance.heading
    )
    z = foot.z + up * workspace.foot_displacement[2]
    target = Footstep(side, place.real, place.imag, foot.yaw + yaw * workspace.foot_turn, z)
    if forward or left or yaw:
        projection = project_foot(target, stance, workspace)
        draft.note_projection(f"{side} foot", projection.shift)
        draft.note_angle_projection(f"{side} foot yaw", projection.rotation if yaw else 0.0)
        target = projection.foot
    if up > 0.0 or (is_lifted and up == 0.0):
        if command.is_zero:
            draft.place = stance.place
            return finish_goal(draft, workspace, legs)
        _lift(draft, target, stance, workspace, legs, ground)
    elif is_lifted:
        _land(draft, side, target, workspace, legs, ground)
    elif forward or left or yaw:
        _step(draft, foot, target, workspace, legs, ground, command.lift)
    return _follow_foot(draft, side, workspace, legs)


def _follow_foot(draft: GoalDraft, side: Side, workspace: Workspace, legs: LegReach) -> Goal:
    """Finish a goal of the foot-guided mode: CoM by equation (3), trunk yaw midway between those of the feet.

    The CoM keeps its height above the mean height of the feet on the ground, which on level ground is that of
    equation (3).
    """
    stance, foot = draft.feet[other_side(side)], draft.feet[side]
    stance_position = (stance.x, stance.y, stance.z)
    center = (draft.place.real, draft.place.imag, stance.z + draft.height)
    if draft.lifted is not None:
        x, y, _ = goal_center_of_one_foot_standing(center, stance_position)
    else:
        x, y, _ = goal_center_of_one_step(center, (foot.x, foot.y, foot.z), stance_position)
    draft.place = complex(x, y)
    draft.set_yaw(draft.yaw + so3.wrap_angle(mean_yaw(draft.feet) - draft.yaw))
    return finish_goal(draft, workspace, legs)


def _lift(
    draft: GoalDraft,
    target: Footstep,
    stance: Footstep,
    workspace: Workspace,
    legs: LegReach,
    ground: GroundProjection | None,
) -> None:
    foot = find_lifted(target, stance, workspace, legs, ground)
    if foot is None:
        draft.notes.append(f"{target.side} foot: it cannot be lifted there; it stays where it is")
        return
    if target.z - foot.z > LEAST_REPORTED:
        draft.note_projection(f"{target.side} foot height", target.z - foot.z)
    _note_shift(draft, foot, target)
    if draft.lifted is None or _differs(foot, draft.feet[target.side]):
        draft.set_step(foot, target.side, 0.0)


def _land(
    draft: GoalDraft,
    side: Side,
    target: Footstep,
    workspace: Workspace,
    legs: LegReach,
    ground: GroundProjection | None,
) -> None:
    landing = find_landing(target, draft.feet[other_side(side)], workspace, legs, ground)
    if landing is None:
        draft.notes.append(f"{side} foot: there is no ground within its reach to land on; it stays in the air")
        return
    _note_shift(draft, landing, target)
    draft.set_step(landing, None, 0.0)


def _step(
    draft: GoalDraft,
    foot: Footstep,
    target: Footstep,
    workspace: Workspace,
    legs: LegReach,
    ground: GroundProjection | None,
    lift: float,
) -> None:
    landing = find_landing(target, draft.feet[other_side(foot.side)], workspace, legs, ground)
    if landing is None:
        draft.notes.append(f"{foot.side} foot: there is no ground to step on; it stays where it is")
        return
    _note_shift(draft, landing, target)
    if _differs(landing, foot):
        low, high = workspace.lift
        draft.set_step(landing, None, low + lift * (high - low))


def _differs(a: Footstep, b: Footstep) -> bool:
    """Return whether two footsteps differ by at least `LEAST_STEP` in place, height or yaw."""
    return max(abs(a.place - b.place), abs(a.yaw - b.yaw), abs(a.z - b.z)) >= LEAST_STEP


def _note_shift(draft: GoalDraft, foot: Footstep, target: Footstep) -> None:
    """Add a note if the ground or the reach of the legs moved the foot away from its target."""
    shift = abs(foot.place - target.place)
    if shift > LEAST_STEP:
        draft.notes.append(f"{foot.side} foot: moved by {100.0 * shift:.0f} cm to a feasible place")


# -- Trunk-guided mode -----------------------------------------------------------------------------------------------


def guide_trunk(
    points: NavigationPoints,
    command: OperatorCommand,
    workspace: Workspace,
    legs: LegReach,
    ground: GroundProjection | None,
) -> Goal:
    """Return the goal of the trunk-guided mode; hands move to their home positions."""
    draft = GoalDraft.of(points)
    draft.hands = workspace.home_hands
    forward, left, up, roll, pitch, yaw = command.axes
    if not (forward or left or yaw):  # no command that may need a step
        draft.place = resting_center(draft, workspace)
    draft.commanded_rise = up * workspace.trunk_displacement[2]
    draft.height += draft.commanded_rise
    turn = workspace.trunk_turn
    roll_projection = project_value(draft.attitude[0] + roll * turn[0], workspace.roll)
    pitch_projection = project_value(draft.attitude[1] + pitch * turn[1], workspace.pitch)
    draft.note_angle_projection("trunk roll", roll_projection.shift if roll else 0.0)
    draft.note_angle_projection("trunk pitch", pitch_projection.shift if pitch else 0.0)
    heading = cmath.exp(1j * draft.yaw)
    draft.attitude = roll_projection.value, pitch_projection.value, draft.yaw + yaw * turn[2]
    if forward or left or yaw:
        shift = complex(forward * workspace.trunk_displacement[0], left * workspace.trunk_displacement[1]) * heading
        move_center(draft, draft.place + shift, workspace, legs, ground, command.lift)
    return finish_goal(draft, workspace, legs)


def resting_center(draft: GoalDraft, workspace: Workspace) -> complex:
    """Return the CoM goal without a horizontal command, as x + i y (m).

    On one foot: above it. Otherwise the current place if it is in the stand-on region, else the middle of the soles.
    """
    if draft.lifted is not None:
        return draft.feet[other_side(draft.lifted)].place
    inside = project_center(draft.place, draft.feet, None, workspace).shift == 0.0
    return draft.place if inside else middle_of_soles(draft.feet)


# -- Hand-guided mode ------------------------------------------------------------------------------------------------


def distance_from_shoulder(hand_goal: Vector, shoulder: Vector) -> float:
    """Return the distance of the hand goal from the shoulder, l = |ᵈp_LH - p_LS|  [Sugihara2008, eq. 5] (m)."""
    return math.dist(hand_goal, shoulder)


def goal_shoulder(hand_goal: Vector, shoulder: Vector, longest: float) -> Vector:
    """Return the goal of the shoulder (m): it stays if the arm reaches the hand goal, else it moves towards the goal.

    ᵈp_LS = p_LS                                       (l <= l_max)
    ᵈp_LS = p_LS + (l - l_max) / l (ᵈp_LH - p_LS)      (l >  l_max)      [Sugihara2008, eq. 6]
    """
    l = distance_from_shoulder(hand_goal, shoulder)  # noqa: E741 - the paper's letter
    share = (l - longest) / l if l > longest else 0.0
    x, y, z = shoulder
    return x + share * (hand_goal[0] - x), y + share * (hand_goal[1] - y), z + share * (hand_goal[2] - z)


def goal_center_of_traction(center: Vector, shoulder_goal: Vector, shoulder: Vector) -> Vector:
    """Return the goal of the CoM, which moves with the shoulder: ᵈp_B = p_B + (ᵈp_LS - p_LS)  [Sugihara2008, eq. 7]."""
    return add(center, subtract(shoulder_goal, shoulder))


def guide_hand(
    points: NavigationPoints,
    command: OperatorCommand,
    workspace: Workspace,
    legs: LegReach,
    ground: GroundProjection | None,
) -> Goal:
    """Return the goal of the hand-guided mode; the other hand keeps its pose in the body frame."""
    side: Side = "left" if command.mode.startswith("left") else "right"
    if side not in points.hands or side not in workspace.home_hands:
        return unchanged_goal(points, f"{side} hand: the robot has none; nothing moves")
    draft = GoalDraft.of(points)
    forward, left, up = command.axes[:3]
    draft.hands = {**points.hands, side: _turn_hand(draft, points.hands[side], command, side, workspace)}
    if not (forward or left or up):
        draft.place = resting_center(draft, workspace)
        return finish_goal(draft, workspace, legs)
    center = (draft.place.real, draft.place.imag, float(points.center[2]))
    x, y, z = points.hands[side].position.tolist()
    hand = add(center, rotate_to_world(draft.attitude, (x, y, z)))
    shift = workspace.hand_displacement * complex(forward, left) * cmath.exp(1j * draft.yaw)
    goal = (hand[0] + shift.real, hand[1] + shift.imag, hand[2] + workspace.hand_displacement * up)
    center_shift = subtract(attracted_center(goal, center, draft, side, workspace), center)
    draft.hand_goals[side] = goal
    draft.commanded_rise = center_shift[2]
    draft.height += center_shift[2]
    horizontal_shift = complex(center_shift[0], center_shift[1])
    if draft.lifted is None or abs(horizontal_shift) > LEAST_REPORTED:
        move_center(draft, draft.place + horizontal_shift, workspace, legs, ground, command.lift)
    else:
        draft.place = resting_center(draft, workspace)
    return finish_goal(draft, workspace, legs)


def attracted_center(goal: Vector, center: Vector, draft: GoalDraft, side: Side, workspace: Workspace) -> Vector:
    """Return the CoM goal (m, world) with which a hand reaches its goal.

    The CoM moves first by equations (5) to (7), then by the distance of the hand goal outside the hand box, which keeps
    hands away from thighs and trunk. A bound that stops the hand therefore moves the body, and the hand does not get
    stuck.

    Args:
        goal, center: hand goal and current CoM in the world (m).
        draft: goal under construction, for the attitude of the trunk.
        side: side of the hand.
        workspace: workspace of the robot.
    """
    shoulder = add(center, rotate_to_world(draft.attitude, workspace.shoulders[side]))
    center = goal_center_of_traction(center, goal_shoulder(goal, shoulder, workspace.arm_reach), shoulder)
    target = rotate_to_trunk(draft.attitude, subtract(goal, center))
    projection = project_hand(target, side, workspace)
    if projection.shift < 1e-9:  # rounding
        return center
    return add(center, rotate_to_world(draft.attitude, subtract(target, projection.place)))


def add(a: Vector, b: Vector) -> Vector:
    """Return the sum of two vectors."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


def subtract(a: Vector, b: Vector) -> Vector:
    """Return the difference of two vectors."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


def _turn_hand(
    draft: GoalDraft, hand: HandPoint, command: OperatorCommand, side: Side, workspace: Workspace
) -> HandPoint:
    """Return the hand with its commanded attitude, if its arm has enough joints."""
    if not any(command.axes[3:]):
        return hand
    if workspace.hand_attitude == 0.0:
        draft.notes.append(f"{side} hand: its arm has too few joints to rotate it; the rotation is ignored")
        return hand
    x, y, z = (a + workspace.hand_turn * b for a, b in zip(hand.attitude.tolist(), command.axes[3:], strict=True))
    projection = project_turn((x, y, z), workspace)
    draft.note_angle_projection(f"{side} hand", projection.shift)
    return HandPoint(hand.position, np.array(projection.place))


# -- Guidance: from the operator command to the goal of all points ---------------------------------------------------


GuidingLaw = Callable[[NavigationPoints, OperatorCommand, Workspace, LegReach, GroundProjection | None], Goal]

#: Function of each guiding mode.
GUIDES: dict[GuidingMode, GuidingLaw] = {
    "left foot": guide_foot,
    "right foot": guide_foot,
    "trunk": guide_trunk,
    "left hand": guide_hand,
    "right hand": guide_hand,
}


def guided_goal(
    points: NavigationPoints,
    command: OperatorCommand,
    workspace: Workspace,
    legs: LegReach,
    ground: GroundProjection | None = None,
    discard: bool = False,
) -> Goal:
    """Return the goal of the next motion segment: of the guided point, and of the synergetic points that follow it.

        ᵈr_G = f_G(x),    ᵈr_S = f_S(ᵈr_G)                               [Sugihara2008, eqs. 1 and 2]

    Args:
        points: navigation points at the start of the segment, or the goal of the segment before.
        command: operator command x.
        workspace, legs: bounds and leg reach of the robot.
        ground: places a footstep on known ground; default: flat ground at the height of the stance foot.
        discard: discard a command beyond a boundary, as the paper does, instead of projecting it onto the boundary.

    >>> forward = OperatorCommand("trunk", (1, 0, 0, 0, 0, 0))
    >>> goal = guided_goal(standing_points(robot), forward, Workspace.of(robot), LegReach.of(robot))
    """
    goal = GUIDES[command.mode](points, command, workspace, legs, ground)
    return discard_goal(goal, points) if discard and goal.projected else goal
