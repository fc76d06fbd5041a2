"""Workspace of a robot: how far its navigation points move per segment, and where they may be at its end.

All lengths follow from the robot: from its leg (hip to ankle, straight), its soles and its arms. The shares are
choices, each with its reason. What the stick does per segment and what bounds the feet belong together: by equation (4)
a step is twice the displacement of the centre of mass, which has left the stand-on region before it, so

    2 (r + d) <= L

with r the half length of the stand-on region of feet abreast, d the largest displacement per segment and L the longest
step; otherwise a robot that discards what is beyond its boundary never makes a step forwards.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from poise.arrays import Array
from poise.errors import RobotError
from poise.plans.footsteps import Footstep
from poise.plans.guidance.limb_reach import ANKLE_MARGIN, LegReach, joint_chain, measure_limb
from poise.plans.guidance.navigation_points import HandPoint, NavigationPoints
from poise.robots import Foot, Robot, Side, shape_vertices

#: Elbows are never straighter than this (rad): straight ones are singular.
LEAST_ELBOW_BEND = 0.15


def standing_points(robot: Robot) -> NavigationPoints:
    """The navigation points in the standing stance."""
    start = robot.stance("standing")
    feet: dict[Side, Footstep] = {}
    for foot in robot.feet:
        x, y, z = start.pose(foot).act(foot.sole.center).tolist()
        feet[foot.side] = Footstep(foot.side, x, y, 0.0, z)
    center = np.asarray(start.center_of_mass).copy()
    hands = {hand.side: HandPoint(start.pose(hand).translation - center, np.zeros(3)) for hand in robot.hands}
    return NavigationPoints(center, np.zeros(3), feet, hands)


def half_sizes(robot: Robot) -> tuple[complex, complex]:
    """Half sizes of a sole, and of the whole foot around the sole's middle: its shapes may be larger."""
    foot = robot.feet[0]
    half = np.array(foot.sole.half_size)
    outline = np.maximum(half, _outline(robot, foot))
    return complex(*half), complex(*outline)


def _outline(robot: Robot, foot: Foot) -> Array:
    try:
        shapes = robot.collision_geometry.geometryObjects
    except RobotError:  # a robot whose meshes are not there still has soles
        return np.zeros(2)
    joint_from_sole = robot.model.frames[foot.index].placement
    found = [np.zeros(2)]
    for shape in shapes:
        if shape.parentJoint == foot.joint:
            points = shape_vertices(shape) @ shape.placement.rotation.T + shape.placement.translation
            local = (points - joint_from_sole.translation) @ joint_from_sole.rotation - foot.sole.center
            found.append(np.abs(local[:, :2]).max(axis=0))
    return np.asarray(np.max(found, axis=0))


def measure_arm(robot: Robot, joint: int, hand: Array) -> tuple[Array, float, int]:
    """Shoulder in the world, longest reach, number of joints that the legs do not share and the other arm neither."""
    others = [set(joint_chain(robot, other.joint)) for other in robot.hands if other.joint != joint]
    shared = set().union(*others) if others else set()
    joints = tuple(number for number in joint_chain(robot, joint) if number not in shared)
    reach = measure_limb(robot, joints, hand, LEAST_ELBOW_BEND)
    return reach.socket, reach.longest, len(joints)


# -- Workspace -------------------------------------------------------------------------------------------------------


Vector = tuple[float, float, float]
Range = tuple[float, float]

#: Longest step, share of the leg: half of it ahead of and half behind the hips costs 1.5 % of their height.
STEP = 0.35
#: It reaches from one tread to the next, a sole and 6 mm on either side of the edge, within this share of the leg.
TREAD_CLEARANCE, STRIDE = 0.012, 0.45
#: Feet keep this far apart, share of the leg: 6 mm on a robot of 58 cm.
GAP = 0.025
#: Feet are no nearer than this share of their distance standing (shanks are as thick as feet are wide), nor wider.
LEAST_WIDTH, LARGEST_WIDTH = 0.7, 1.5
#: While the centre of mass is over one foot the other's ankle leans, by no more than this (rad): hips near their range.
LARGEST_ANKLE_LEAN = 0.4
#: Feet toe in and out relative to each other by no more (rad): heels and knees stay apart.
TOES: Range = (-0.1, 0.35)
#: Lift of a step, shares of the leg: 8 mm to 3 cm on a robot of 58 cm; and the highest foot above the other one.
LIFT: Range = (0.03, 0.12)
HIGHEST_FOOT = 0.2
#: Crouching, share of the leg: ankles and knees of all library robots go so far.
LARGEST_CROUCH = 0.15
#: The stand-on region is the support region, shrunk about the middle of the feet to this share [Sugihara2008, fig. 5]:
#: the other half is left for the pressure to move the body about.
STAND_ON = 0.5
#: Largest displacements per segment, shares of the leg: feet forward, sideways, up; trunk likewise.
FOOT: Vector = (0.2, 0.1, 0.1)
TRUNK: Vector = (0.12, 0.08, 0.04)
#: Attitudes per segment (rad): foot yaw, trunk roll, pitch and yaw, hand: all take some three segments to their bounds.
FOOT_TURN, TRUNK_TURN, HAND_TURN = 0.15, (0.05, 0.08, 0.1), 0.15
#: Trunk attitude (rad): more roll than this moves the hips by centimetres; bending forwards is the useful direction.
ROLL, PITCH = 0.12, (-0.12, 0.35)
#: The feet turn when the trunk differs from their middle by more than the first (rad); the second is the bound.
TURN_AT, TURN = 0.2, 0.3
#: A hand is guided by this share of the arm per segment, and no farther from the shoulder than the second share of the
#: longest arm: a straight elbow is singular. Hands turn from home by no more than the last (rad).
HAND, ARM, HAND_ATTITUDE = 0.12, 0.92, 0.6
#: Arms that hang almost straight at home may be longer by as much as this, and yet keep the second share.
HOME_ARM_SHARE, LARGEST_ARM_SHARE = 1.03, 0.985
#: The hand box: so far back and down from home, shares of the arm (thighs), and inwards up to this share of home's
#: distance from the middle (trunk).
HAND_BACK, HAND_DOWN, HAND_INWARD = 0.02, 0.02, 0.9
#: An arm needs as many joints to turn its hand while it stays in place.
JOINTS_OF_AN_ATTITUDE = 6


@dataclass(frozen=True, eq=False)
class Workspace:
    """What a stick does per segment, and the boundary of every navigation point (m, rad).

    Args:
        leg: hip to ankle, straight.
        foot_displacement, foot_turn: displacement of a foot per unit of stick: forward, left, up; yaw.
        trunk_displacement, trunk_turn: of the centre of mass: forward, left, up; of the trunk: roll, pitch, yaw.
        hand_displacement, hand_turn: of a hand along each axis; about each.
        longest_step: L, the foot is so far ahead of, or behind, the stance foot at most.
        width: between the middles of the soles, standing.
        widths: bounds of that; the first is for parallel feet, see `least_width`.
        gap: feet keep so far apart.
        foot_half: half length and half width of a foot around the middle of its sole, as a complex number.
        sole_half: likewise of what carries weight.
        toes: yaw relative to the stance foot, outwards.
        lift: of a step, at the lowest and the highest setting.
        highest_foot: a lifted foot above the stance foot at most; feet on the ground differ by no more either.
        com_heights: of the centre of mass above the lower foot.
        roll, pitch: of the trunk, lowest and highest.
        largest_trunk_yaw, stepping_yaw: trunk yaw relative to the feet: bound, and beyond which they step.
        stand_on: share of the support region.
        home_hands: hands in the body frame, standing; empty without hands.
        shoulders: likewise.
        arm_reach: l_max, largest distance of a hand from its shoulder.
        hand_box: by side, lowest and highest corner of where a hand may be in the body frame.
        hand_attitude: largest turn of a hand from home; zero if the arms have too few joints to guide it.
    """

    leg: float
    foot_displacement: Vector
    foot_turn: float
    trunk_displacement: Vector
    trunk_turn: Vector
    hand_displacement: float
    hand_turn: float
    longest_step: float
    width: float
    widths: Range
    gap: float
    foot_half: complex
    sole_half: complex
    toes: Range
    lift: Range
    highest_foot: float
    com_heights: Range
    roll: Range
    pitch: Range
    largest_trunk_yaw: float
    stepping_yaw: float
    stand_on: float
    home_hands: Mapping[Side, HandPoint]
    shoulders: Mapping[Side, Vector]
    arm_reach: float
    hand_box: Mapping[Side, tuple[Vector, Vector]]
    hand_attitude: float

    @classmethod
    def of(cls, robot: Robot, legs: LegReach | None = None) -> Workspace:
        """The workspace of a robot with two feet that stands.

        >>> workspace = Workspace.of(poise.load_robot("g1"))
        """
        if len(robot.feet) != 2:
            raise RobotError(f"{robot.name} has {len(robot.feet)} feet; guidance takes a robot with two")
        legs = legs or LegReach.of(robot)
        start, leg = standing_points(robot), legs.hip_to_ankle
        left, right = start.feet["left"], start.feet["right"]
        sole, outline = half_sizes(robot)
        width = abs(left.place - right.place)
        step = min(max(STEP * leg, 2.0 * sole.real + TREAD_CLEARANCE), STRIDE * leg)
        height = float(start.center[2]) - left.z
        forward = min(TRUNK[0] * leg, 0.5 * step - STAND_ON * sole.real)
        arms = {hand.side: measure_arm(robot, hand.joint, start.hand_position(hand.side)) for hand in robot.hands}
        far = max((_length(start.hand_position(side) - place) for side, (place, _, _) in arms.items()), default=0.0)
        longest = min((length for _, length, _ in arms.values()), default=0.0)
        arm = min(max(ARM * longest, HOME_ARM_SHARE * far), LARGEST_ARM_SHARE * longest)
        home = {side: hand.position.tolist() for side, hand in start.hands.items()}
        shoulders = {side: _vector(place - start.center) for side, (place, _, _) in arms.items()}
        joints = min((count for _, _, count in arms.values()), default=0)
        return cls(
            leg=leg,
            foot_displacement=_scaled(FOOT, leg), foot_turn=FOOT_TURN,
            trunk_displacement=(forward, TRUNK[1] * leg, TRUNK[2] * leg), trunk_turn=TRUNK_TURN,
            hand_displacement=HAND * arm, hand_turn=HAND_TURN,
            longest_step=step, width=width,
            widths=(max(2.0 * outline.imag + GAP * leg, LEAST_WIDTH * width), _largest_width(legs, width)),
            gap=GAP * leg,
            foot_half=outline, sole_half=sole, toes=TOES, lift=(LIFT[0] * leg, LIFT[1] * leg),
            highest_foot=HIGHEST_FOOT * leg,
            com_heights=(height - LARGEST_CROUCH * leg, max(legs.highest_com(start) - left.z, height)),
            roll=(-ROLL, ROLL), pitch=PITCH, largest_trunk_yaw=TURN, stepping_yaw=TURN_AT, stand_on=STAND_ON,
            home_hands=start.hands, shoulders=shoulders, arm_reach=arm,
            hand_box={side: _box(side, place, shoulders[side], arm) for side, place in home.items()},
            hand_attitude=HAND_ATTITUDE if joints >= JOINTS_OF_AN_ATTITUDE else 0.0,
        )  # fmt: skip

    def least_width(self, yaw: float) -> float:
        """Least distance sideways of a foot turned by a yaw relative to the stance foot (m):

            w >= b + b cos|ψ| + a sin|ψ| + gap

        a and b half length and half width of a foot: a line along the stance foot then passes between both, wherever
        they are along it.
        """
        a, b = self.foot_half.real, self.foot_half.imag
        return max(self.widths[0], b + b * math.cos(yaw) + a * abs(math.sin(yaw)) + self.gap)


def _largest_width(legs: LegReach, width: float) -> float:
    """With the centre of mass over one foot, the hip of the other leg is o from it and its ankle leans inwards by θ:

    w <= o + h tan θ + (sole's middle from the ankle).
    """
    left = legs.hips["left"]
    inwards = min(max(-legs.roll_range["left"][0] - ANKLE_MARGIN, 0.0), LARGEST_ANKLE_LEAN)
    h = math.sqrt(max(legs.longest**2 - left[1] ** 2, (0.5 * legs.longest) ** 2))
    widest = float(left[1] - legs.ankles["left"][1]) + h * math.tan(inwards)
    return max(min(widest, LARGEST_WIDTH * width), 1.05 * width)


def _box(side: Side, home: list[float], shoulder: Vector, arm: float) -> tuple[Vector, Vector]:
    """Bounded where thighs and trunk are; elsewhere only by the arm, so that it is the arm that pulls the body."""
    x, y, z = home
    low, high = (x - HAND_BACK * arm, z - HAND_DOWN * arm), (shoulder[0] + arm, shoulder[2] + arm)
    inner, outer = HAND_INWARD * y, shoulder[1] + math.copysign(arm, y)
    if side == "right":
        inner, outer = outer, inner
    return (low[0], inner, low[1]), (high[0], outer, high[1])


def _scaled(shares: Vector, length: float) -> Vector:
    return shares[0] * length, shares[1] * length, shares[2] * length


def _length(vector: Array) -> float:
    return float(np.linalg.norm(vector))


def _vector(values: Array) -> Vector:
    x, y, z = values.tolist()
    return x, y, z
