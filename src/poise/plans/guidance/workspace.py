"""Workspace of a robot: displacement of its navigation points per segment, and their bounds at its end.

All lengths are proportional to dimensions of the robot: its leg (hip to ankle, straight), its soles and its arms. The
factors are choices, each with its reason. The displacement per segment and the bounds of the feet must be consistent:
by equation (4) a step is twice the displacement of the center of mass (CoM), which first leaves the stand-on region, so

    2 (r + d) <= L

with r the half length of the stand-on region of feet abreast, d the largest displacement per segment and L the longest
step; otherwise a robot that discards commands beyond its boundary never steps forwards.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from poise.arrays import Array, Vector
from poise.errors import RobotError
from poise.plans.footsteps import Footstep
from poise.plans.guidance.limb_reach import ANKLE_MARGIN, LegReach, joint_chain, measure_limb
from poise.plans.guidance.navigation_points import HandPoint, NavigationPoints
from poise.robots import Foot, Robot, Side, shape_vertices

#: Smallest flexion of the elbows (rad): a straight elbow is singular.
LEAST_ELBOW_BEND = 0.15


def standing_points(robot: Robot) -> NavigationPoints:
    """Return the navigation points of the standing stance."""
    start = robot.stance("standing")
    feet: dict[Side, Footstep] = {}
    for foot in robot.feet:
        x, y, z = start.pose(foot).act(foot.sole.center).tolist()
        feet[foot.side] = Footstep(foot.side, x, y, 0.0, z)
    center = np.asarray(start.center_of_mass).copy()
    hands = {hand.side: HandPoint(start.pose(hand).translation - center, np.zeros(3)) for hand in robot.hands}
    return NavigationPoints(center, np.zeros(3), feet, hands)


def half_sizes(robot: Robot) -> tuple[complex, complex]:
    """Return half length + i half width (m) of a sole, and of a foot with its collision shapes, about one middle."""
    foot = robot.feet[0]
    half = np.array(foot.sole.half_size)
    outline = np.maximum(half, _outline(robot, foot))
    return complex(*half), complex(*outline)


def _outline(robot: Robot, foot: Foot) -> Array:
    """Return half length and half width of the collision shapes of a foot, about the middle of its sole (m)."""
    try:
        shapes = robot.collision_geometry.geometryObjects
    except RobotError:  # meshes are missing: use the soles alone
        return np.zeros(2)
    joint_from_sole = robot.model.frames[foot.index].placement
    sizes = [np.zeros(2)]
    for shape in shapes:
        if shape.parentJoint == foot.joint:
            points = shape_vertices(shape) @ shape.placement.rotation.T + shape.placement.translation
            local = (points - joint_from_sole.translation) @ joint_from_sole.rotation - foot.sole.center
            sizes.append(np.abs(local[:, :2]).max(axis=0))
    return np.asarray(np.max(sizes, axis=0))


def measure_arm(robot: Robot, joint: int, hand: Array) -> tuple[Array, float, int]:
    """Return the shoulder in the world (m, 3), the longest reach (m), and the number of joints of this arm alone."""
    others = [set(joint_chain(robot, other.joint)) for other in robot.hands if other.joint != joint]
    shared = set().union(*others) if others else set()
    joints = tuple(number for number in joint_chain(robot, joint) if number not in shared)
    reach = measure_limb(robot, joints, hand, LEAST_ELBOW_BEND)
    return reach.socket, reach.longest, len(joints)


# -- Workspace -------------------------------------------------------------------------------------------------------


Range = tuple[float, float]

#: Longest step as a fraction of the leg length: half of it ahead of and half behind the hips lowers them by 1.5 %.
STEP = 0.35
#: The longest step at least reaches from one tread to the next: a sole plus this clearance (m; 6 mm on either side of
#: the edge), but it is no longer than this fraction of the leg length.
TREAD_CLEARANCE, STRIDE = 0.012, 0.45
#: Smallest gap between the feet as a fraction of the leg length: 6 mm on a robot of 58 cm.
GAP = 0.025
#: Smallest and largest lateral distance of the feet as fractions of that when standing (shanks are as thick as feet are
#: wide).
LEAST_WIDTH, LARGEST_WIDTH = 0.7, 1.5
#: Largest lean of the other ankle while the CoM is over one foot (rad): the hips are then near their limits.
LARGEST_ANKLE_LEAN = 0.4
#: Limits of toe-in and toe-out relative to the stance foot (rad): heels and knees stay apart.
TOES: Range = (-0.1, 0.35)
#: Lift of a step as fractions of the leg length: 8 mm to 3 cm on a robot of 58 cm; and largest height of a foot above
#: the other one.
LIFT: Range = (0.03, 0.12)
HIGHEST_FOOT = 0.2
#: Deepest crouch as a fraction of the leg length: ankles and knees of all library robots allow it.
LARGEST_CROUCH = 0.15
#: Scale of the stand-on region, which is the support region shrunk about the middle of the feet [Sugihara2008, fig. 5]:
#: the other half is left for the zero moment point, which accelerates the body.
STAND_ON = 0.5
#: Largest displacements per segment as fractions of the leg length, forward, sideways and up: of feet and of the trunk.
FOOT: Vector = (0.2, 0.1, 0.1)
TRUNK: Vector = (0.12, 0.08, 0.04)
#: Largest rotations per segment (rad): foot yaw; trunk roll, pitch and yaw; hand. Each needs about three segments to
#: reach its bound.
FOOT_TURN, TRUNK_TURN, HAND_TURN = 0.15, (0.05, 0.08, 0.1), 0.15
#: Bounds of trunk roll and pitch (rad): more roll would move the hips by centimeters; leaning forward is most useful.
ROLL, PITCH = 0.12, (-0.12, 0.35)
#: Yaw of the trunk relative to the feet beyond which they step (rad), and its bound (rad).
TURN_AT, TURN = 0.2, 0.3
#: Largest displacement of a hand per segment as a fraction of the arm length; largest distance from the shoulder as a
#: fraction of the longest reach, since a straight elbow is singular; largest rotation of a hand from home (rad).
HAND, ARM, HAND_ATTITUDE = 0.12, 0.92, 0.6
#: For arms that are almost straight at home: allowed distance from the shoulder relative to that at home, and its
#: limit as a fraction of the longest reach.
HOME_ARM_SHARE, LARGEST_ARM_SHARE = 1.03, 0.985
#: Bounds of the hand box: backwards and downwards from home as fractions of the arm length (thighs), and inwards to
#: this fraction of the lateral distance at home (trunk).
HAND_BACK, HAND_DOWN, HAND_INWARD = 0.02, 0.02, 0.9
#: Number of arm joints needed to rotate a hand without moving it.
JOINTS_OF_AN_ATTITUDE = 6


@dataclass(frozen=True, eq=False)
class Workspace:
    """Displacement per segment at full stick, and bounds of every navigation point (m, rad).

    Args:
        leg: length of a straight leg, hip to ankle.
        foot_displacement, foot_turn: displacement of a foot per unit of stick: forward, left, up; yaw.
        trunk_displacement, trunk_turn: displacement of the CoM: forward, left, up; rotation of the trunk: roll, pitch,
            yaw.
        hand_displacement, hand_turn: displacement of a hand along each axis; rotation about each axis.
        longest_step: L, largest distance of a foot ahead of or behind the stance foot.
        width: distance between the middles of the soles when standing.
        widths: bounds of the lateral distance of the feet; the first is for parallel feet, see `least_width`.
        gap: smallest gap between the feet.
        foot_half: half length and half width of a foot around the middle of its sole, as a complex number.
        sole_half: half length and half width of the sole, as a complex number.
        toes: bounds of the yaw relative to the stance foot, positive outwards.
        lift: lift of a step at the lowest and the highest setting.
        highest_foot: largest height of a lifted foot above the stance foot, and largest height difference of feet on
            the ground.
        com_heights: bounds of the height of the CoM above the lower foot.
        roll, pitch: bounds of the trunk attitude.
        largest_trunk_yaw, stepping_yaw: trunk yaw relative to the feet: its bound, and the value beyond which they
            step.
        stand_on: scale of the stand-on region relative to the support region.
        home_hands: hands in the body frame when standing; empty for a robot without hands.
        shoulders: shoulders in the body frame when standing.
        arm_reach: l_max, largest distance of a hand from its shoulder.
        hand_box: by side, lowest and highest corner of the box of a hand in the body frame.
        hand_attitude: largest rotation of a hand from home; zero if the arms have too few joints for it.
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
        """Return the workspace of a robot with two feet, measured in its standing stance.

        >>> workspace = Workspace.of(poise.load_robot("g1"))
        """
        if len(robot.feet) != 2:
            raise RobotError(f"{robot.name} has {len(robot.feet)} feet; guidance needs two")
        legs = legs or LegReach.of(robot)
        start, leg = standing_points(robot), legs.hip_to_ankle
        left, right = start.feet["left"], start.feet["right"]
        sole, outline = half_sizes(robot)
        width = abs(left.place - right.place)
        step = min(max(STEP * leg, 2.0 * sole.real + TREAD_CLEARANCE), STRIDE * leg)
        height = float(start.center[2]) - left.z
        forward = min(TRUNK[0] * leg, 0.5 * step - STAND_ON * sole.real)
        arms = {hand.side: measure_arm(robot, hand.joint, start.hand_position(hand.side)) for hand in robot.hands}
        home_distance = max(
            (_length(start.hand_position(side) - place) for side, (place, _, _) in arms.items()), default=0.0
        )
        longest = min((length for _, length, _ in arms.values()), default=0.0)
        arm = min(max(ARM * longest, HOME_ARM_SHARE * home_distance), LARGEST_ARM_SHARE * longest)
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
        """Return the least lateral distance of a foot at a yaw (rad) relative to the stance foot (m):

            w >= b + b cos|ψ| + a sin|ψ| + gap

        with a and b half length and half width of a foot: a line along the stance foot then separates both feet,
        whatever their positions along it.
        """
        a, b = self.foot_half.real, self.foot_half.imag
        return max(self.widths[0], b + b * math.cos(yaw) + a * abs(math.sin(yaw)) + self.gap)


def _largest_width(legs: LegReach, width: float) -> float:
    """Return the largest lateral distance of the feet for which the CoM can be above one of them (m).

    The hip of the other leg is then at a lateral distance o from the CoM, and its ankle leans inwards by θ:

    w <= o + h tan θ + (distance of the middle of the sole from the ankle).
    """
    left = legs.hips["left"]
    inwards = min(max(-legs.roll_range["left"][0] - ANKLE_MARGIN, 0.0), LARGEST_ANKLE_LEAN)
    h = math.sqrt(max(legs.longest**2 - left[1] ** 2, (0.5 * legs.longest) ** 2))
    widest = float(left[1] - legs.ankles["left"][1]) + h * math.tan(inwards)
    return max(min(widest, LARGEST_WIDTH * width), 1.05 * width)


def _box(side: Side, home: list[float], shoulder: Vector, arm: float) -> tuple[Vector, Vector]:
    """Return the hand box: bounded at thighs and trunk; elsewhere only the arm reach bounds it and pulls the body."""
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
