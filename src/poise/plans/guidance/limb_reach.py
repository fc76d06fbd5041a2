"""Geometric reach of limbs: distance from hip or shoulder to the end, and the heights of the body that both legs allow.

A limb consists of a socket s (hip, shoulder), a hinge (knee, elbow) and an end e (ankle, hand). The distance from
socket to end depends on the hinge angle only. With the hinge axis a through h, rotated by δ from its current angle,

    e(δ) = h + exp([a] δ) (e - h),    reach(δ) = |e(δ) - s|

Real sockets have several joints whose axes do not meet exactly: s is the point nearest to these axes.

The hips are fixed in the body frame (origin p_B, the center of mass; axes of the upright trunk), the ankles in the
frames of the soles. With the trunk at yaw ψ, and the sole at p_F with yaw φ,

    h = p_B + R(ψ) o,    a = p_F + R(φ) b,    slack = l - |h - a|

where l is the longest reach of the leg. In reality the center of mass (CoM) moves in the trunk as the limbs move, by a
few percent of the leg length: `REACH_RESERVE` accounts for it, and inverse kinematics decides in the end.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pinocchio

from poise.arrays import Array
from poise.plans.footsteps import Footstep
from poise.plans.guidance.navigation_points import NavigationPoints
from poise.robots import Robot, Side, side_sign

#: Number of hinge angles that are evaluated: half a degree apart, so that the error of the reach is below 1e-4 of it.
HINGE_SAMPLES = 721
#: Largest flexion of a hinge from straight (rad): beyond it shank and thigh collide on most robots.
LARGEST_FOLD = 2.0


@dataclass(frozen=True, eq=False)
class LimbReach:
    """Dimensions of a limb in the standing stance (m, in the world).

    Args:
        socket, end: positions in the world.
        length: length of the straight limb, whether or not its hinge can be straight.
        longest, shortest: reach within the range of the hinge.
        joints: joint indices of the model, from the socket outwards.
        hinge: joint index of the hinge.
        upper, lower: distance from socket to hinge, and from hinge to end.
    """

    socket: Array
    end: Array
    length: float
    longest: float
    shortest: float
    joints: tuple[int, ...]
    hinge: int
    upper: float
    lower: float

    def reach_at_ankle_angle(self, angle: float) -> float:
        """Return the reach (m) for an angle θ (rad) at the ankle, between the shank and the line from ankle to hip:

        s cos θ + sqrt(t² - s² sin² θ),    with s and t the lower and the upper part.
        """
        c, s = math.cos(angle), math.sin(angle)
        return self.lower * c + math.sqrt(max(self.upper**2 - (self.lower * s) ** 2, 0.0))


def measure_limb(robot: Robot, joints: Sequence[int], tip: Array | None, bend: float) -> LimbReach:
    """Measure the reach of a limb in the standing stance.

    Args:
        robot: robot with the limb.
        joints: joint indices of the limb from the trunk outwards.
        tip: end in the world (m, 3); None: the point where the axes beyond the hinge meet (the ankle).
        bend: smallest flexion of the hinge from straight (rad).
    """
    axis_lines = joint_axes(robot)
    lines = [axis_lines[joint] for joint in joints]
    end = lines[-1][0] if tip is None else tip
    # The hinge is the joint whose axis is most perpendicular to the limb and which is far from both ends.
    first, span = lines[0][0], end - lines[0][0]
    along = span / np.linalg.norm(span)
    across = [float(np.linalg.norm(np.cross(axis, along))) for _, axis in lines]
    inside = [min(float(np.linalg.norm(place - first)), float(np.linalg.norm(end - place))) for place, _ in lines]
    hinge = int(np.argmax(np.multiply(across, inside)))
    before = lines[:hinge] or lines[:1]
    if tip is None:  # an axis along the leg does not determine where on the leg the hip is
        before = sorted(before, key=lambda line: abs(float(line[1] @ along)))
    # If an arm has more than two joints before the elbow, the first ones move the shoulder itself.
    before = before[:2] if tip is None else before[-2:]
    socket = nearest_point_to_lines(before, near=lines[max(hinge - 1, 0)][0])
    if tip is None and lines[hinge + 1 :]:
        end = nearest_point_to_lines(lines[hinge + 1 :], near=end)
    place, axis = lines[hinge]
    joint = next(joint for joint in robot.joints if joint.index == joints[hinge])
    angle, row = float(robot.stance("standing").q[joint.q]), joint.v - 6
    rotations = np.linspace(-np.pi, np.pi, HINGE_SAMPLES)
    distances = _distances(rotations, place, axis, end, socket)
    straight = float(rotations[distances.argmax()])
    allowed = (rotations + angle >= robot.limits.lower[row]) & (rotations + angle <= robot.limits.upper[row])
    flexion = np.abs(rotations - straight)
    allowed &= (flexion >= bend) & (flexion <= LARGEST_FOLD)
    reaches = distances[allowed] if allowed.any() else distances[HINGE_SAMPLES // 2 : HINGE_SAMPLES // 2 + 1]
    longest, shortest = float(reaches.max()), float(reaches.min())
    upper, lower = (float(np.linalg.norm(place - point)) for point in (socket, end))
    return LimbReach(socket, end, float(distances.max()), longest, shortest, tuple(joints), joints[hinge], upper, lower)


def joint_chain(robot: Robot, joint: int, stop: int = 1) -> tuple[int, ...]:
    """Return the joint indices from the base, or from the joint `stop` (excluded), to `joint` (included)."""
    chain: list[int] = []
    while joint > 1 and joint != stop:
        chain.append(joint)
        joint = int(robot.model.parents[joint])
    return tuple(reversed(chain))


def nearest_point_to_lines(lines: Sequence[tuple[Array, Array]], near: Array) -> Array:
    """Return the point s with the least sum of squared distances to lines (point p, unit direction a).

    It solves sum (I - a aᵀ) s = sum (I - a aᵀ) p; if this is singular, it is the solution nearest to `near`.
    """
    A = sum((np.eye(3) - np.outer(axis, axis) for _, axis in lines), np.zeros((3, 3)))
    b = sum(((np.eye(3) - np.outer(axis, axis)) @ place for place, axis in lines), np.zeros(3))
    return np.asarray(near + np.linalg.pinv(A, rcond=1e-6) @ (b - A @ near))


def joint_axes(robot: Robot) -> dict[int, tuple[Array, Array]]:
    """Return position (m) and unit axis of every actuated joint in the world, standing, by joint index."""
    model = robot.model
    data = model.createData()
    pinocchio.computeJointJacobians(model, data, robot.stance("standing").q)
    axis_lines = {}
    for joint in robot.joints:
        jacobian = pinocchio.getJointJacobian(model, data, joint.index, pinocchio.LOCAL_WORLD_ALIGNED)
        axis_lines[joint.index] = data.oMi[joint.index].translation.copy(), jacobian[3:, joint.v].copy()
    return axis_lines


def _distances(rotations: Array, place: Array, axis: Array, end: Array, socket: Array) -> Array:
    """Return the reach |e(δ) - s| (m) for each rotation δ (rad) of the hinge at `place`, by Rodrigues' formula."""
    arm = end - place
    c, s = np.cos(rotations)[:, None], np.sin(rotations)[:, None]
    rotated_arm = c * arm + s * np.cross(axis, arm) + (1.0 - c) * (axis @ arm) * axis
    return np.asarray(np.linalg.norm(place + rotated_arm - socket, axis=1))


# -- Legs: whether they reach, by geometry alone ---------------------------------------------------------------------


#: Smallest flexion of the knees (rad): a straight knee can neither push nor absorb. 0.2 rad cost 0.5 % of the length.
LEAST_KNEE_BEND = 0.2
#: Fraction of the leg length kept in reserve for an effect that the geometry ignores: the CoM moves in the trunk with
#: the limbs.
REACH_RESERVE = 0.02
#: Margin of an ankle to its limits (rad): one degree, for feedback.
ANKLE_MARGIN = 0.02
#: Larger margin for dorsiflexion (rad): thigh and shank are not exactly equal in length, and the body moves over them.
DORSAL_MARGIN = 0.06


@dataclass(frozen=True, eq=False)
class LegReach:
    """Geometric reach of both legs (m, rad).

    Args:
        hips: positions by side, in the body frame of the standing stance.
        ankles: positions by side, in the frame of the middle of the sole (x to the toes, z up).
        hip_to_ankle: length of a straight leg.
        longest, shortest: limits of the distance between hip and ankle.
        roll_range: by side, largest lean of the leg over a flat foot to the right (negative) and to the left.
        pitch_range: by side, largest lean backwards (negative) and forwards.
    """

    hips: Mapping[Side, Array]
    ankles: Mapping[Side, Array]
    hip_to_ankle: float
    longest: float
    shortest: float
    roll_range: Mapping[Side, tuple[float, float]]
    pitch_range: Mapping[Side, tuple[float, float]]

    @classmethod
    def of(cls, robot: Robot) -> LegReach:
        """Measure the legs of a robot in its standing stance."""
        start = robot.stance("standing")
        hips, ankles = {}, {}
        lengths: list[float] = []
        longest: list[float] = []
        shortest: list[float] = []
        roll: dict[Side, tuple[float, float]] = {}
        pitch: dict[Side, tuple[float, float]] = {}
        for foot in robot.feet:
            leg = measure_limb(robot, joint_chain(robot, foot.joint), None, LEAST_KNEE_BEND)
            world_from_sole = start.pose(foot)
            hips[foot.side] = leg.socket - start.center_of_mass
            ankles[foot.side] = world_from_sole.actInv(leg.end) - foot.sole.center
            ankle_joints = leg.joints[leg.joints.index(leg.hinge) + 1 :]
            roll[foot.side] = _ankle_range(robot, ankle_joints, np.array([1.0, 0.0, 0.0]))
            pitch[foot.side] = _ankle_range(robot, ankle_joints, np.array([0.0, -1.0, 0.0]))
            lengths.append(leg.length)
            longest.append(leg.longest)
            # Flexion of a leg over a flat foot leans the shank forwards, which the range of the ankle limits.
            dorsiflexion = min(pitch[foot.side][1] - ANKLE_MARGIN, 0.5 * math.pi)
            shortest.append(min(max(leg.shortest, leg.reach_at_ankle_angle(dorsiflexion)), leg.longest))
        return cls(hips, ankles, min(lengths), min(longest), max(shortest), roll, pitch)

    def extension_margin(
        self, center: Array, yaw: Array, soles: Array, side: Side, heading: Array | None = None
    ) -> Array:
        """Return the margin of a leg to its longest reach (m, n); negative if it does not reach.

        Args:
            center: p_B (m, n x 3).
            yaw: ψ of the trunk (rad, n).
            soles: p_F, the middle of the sole (m, n x 3).
            side: side of the leg.
            heading: φ, yaw of the foot (rad, n); default: that of the trunk.
        """
        return np.asarray(self.longest - np.linalg.norm(self._ankle_to_hip(center, yaw, soles, side, heading), axis=1))

    def leg_roll(self, center: Array, yaw: Array, soles: Array, side: Side, heading: Array | None = None) -> Array:
        """Return the angle between the line from ankle to hip and the vertical in the frontal plane of the foot.

        In rad (n), positive to the left of the foot; compare with `roll_range`. Arguments as in `extension_margin`.
        """
        _, left, up = self._ankle_to_hip_in_foot(center, yaw, soles, side, heading)
        return np.asarray(np.arctan2(left, up))

    def leg_pitch(self, center: Array, yaw: Array, soles: Array, side: Side, heading: Array | None = None) -> Array:
        """Return the angle of `leg_roll` in the sagittal plane of the foot instead, positive forwards (rad, n).

        The shank leans further forwards than the line from ankle to hip, by half of the knee flexion.
        """
        forward, _, up = self._ankle_to_hip_in_foot(center, yaw, soles, side, heading)
        return np.asarray(np.arctan2(forward, up))

    def highest_com(self, points: NavigationPoints) -> float:
        """Return the highest CoM (m, world) from which both legs reach their soles with `REACH_RESERVE` left:

        z = min over feet of  a_z + sqrt(l² - d²) - o_z,    d the horizontal distance |h - a|.
        """
        return self.com_heights(complex(points.center[0], points.center[1]), float(points.attitude[2]), points.feet)[1]

    def com_heights(self, center: complex, yaw: float, feet: Mapping[Side, Footstep]) -> tuple[float, float]:
        """Return the lowest and highest CoM (m, world) at a horizontal position.

        The lower bound is due to the shortest reach of a leg, the dorsiflexion of its ankle, or the inward lean of its
        ankle; the upper bound is due to the longest reach.

        Args:
            center: horizontal position of the CoM, as x + i y (m).
            yaw: yaw of the trunk (rad).
            feet: feet by side.
        """
        low, high = -math.inf, math.inf
        turn, spare = cmath.exp(1j * yaw), REACH_RESERVE * self.hip_to_ankle
        longest_squared, shortest_squared = (self.longest - spare) ** 2, (self.shortest + spare) ** 2
        for side, foot in feet.items():
            hip, ankle, rise, steepness = self._leg_geometry[side]
            heading = foot.heading
            ankle_to_hip = center + turn * hip - foot.place - heading * ankle
            squared = ankle_to_hip.real * ankle_to_hip.real + ankle_to_hip.imag * ankle_to_hip.imag
            base = foot.z + rise
            high = min(high, base + math.sqrt(max(longest_squared - squared, 0.0)))
            low = max(low, base + math.sqrt(max(shortest_squared - squared, 0.0)))
            in_foot = ankle_to_hip * heading.conjugate()
            low = max(low, base + steepness * in_foot.imag, base + self._least_hip_height(in_foot, side))
        return low, high

    def _least_hip_height(self, ankle_to_hip: complex, side: Side) -> float:
        """Return the least height of the hip above the ankle (m) at which the ankle allows the lean of the shank.

        With links of equal length the shank leans by ``φ + arccos(L / l)``, with φ the lean of the line from ankle to
        hip, L its length and l that of the straight leg. Both terms decrease as the hip rises: bisection finds the
        bound.

        Args:
            ankle_to_hip: horizontal vector from ankle to hip, along + i across the foot (m).
            side: side of the leg.
        """
        limit, distance = self.pitch_range[side][1] - DORSAL_MARGIN, abs(ankle_to_hip)
        low, high = self.shortest, math.sqrt(max(self.longest**2 - distance**2, 0.0))
        if low >= high or self._shank_pitch(ankle_to_hip.real, distance, low) <= limit:
            return 0.0
        for _ in range(10):
            middle = 0.5 * (low + high)
            low, high = (
                (low, middle) if self._shank_pitch(ankle_to_hip.real, distance, middle) <= limit else (middle, high)
            )
        return high

    def _shank_pitch(self, forward: float, distance: float, up: float) -> float:
        """Return the forward lean of the shank (rad) from the position of the hip relative to the ankle.

        Args:
            forward: distance of the hip ahead of the ankle, along the foot (m).
            distance: horizontal distance between both (m).
            up: height of the hip above the ankle (m).
        """
        return math.atan2(forward, up) + math.acos(min(math.hypot(distance, up) / self.hip_to_ankle, 1.0))

    @cached_property
    def _leg_geometry(self) -> dict[Side, tuple[complex, complex, float, float]]:
        """Constants of each leg for `com_heights`, by side.

        - horizontal position of the hip in the body frame, as x + i y (m);
        - horizontal position of the ankle in the frame of the sole, as x + i y (m);
        - height of the CoM above the sole if the hip were at the height of the ankle (m);
        - smallest height of the hip above the ankle per meter that the hip is to the left of it, which the range of the
          ankle roll allows; negative for the left leg.
        """
        constants = {}
        for side, ankle in self.ankles.items():
            inwards = 0 if side == "left" else 1
            angle = min(max(abs(self.roll_range[side][inwards]) - ANKLE_MARGIN, ANKLE_MARGIN), 1.0)
            steepness = -side_sign(side) / math.tan(angle)
            hip = self.hips[side]
            constants[side] = complex(*hip[:2]), complex(*ankle[:2]), float(ankle[2] - hip[2]), steepness
        return constants

    def _ankle_to_hip(self, center: Array, yaw: Array, soles: Array, side: Side, heading: Array | None) -> Array:
        ankle = _rotate_about_z(self.ankles[side], yaw if heading is None else heading)
        return np.asarray(center + _rotate_about_z(self.hips[side], yaw) - soles - ankle)

    def _ankle_to_hip_in_foot(
        self, center: Array, yaw: Array, soles: Array, side: Side, heading: Array | None
    ) -> Array:
        """Return the vector from ankle to hip in the axes of the foot (m, 3 x n)."""
        x, y, z = self._ankle_to_hip(center, yaw, soles, side, heading).T
        turn = np.atleast_1d(yaw if heading is None else heading)
        c, s = np.cos(turn), np.sin(turn)
        return np.stack([c * x + s * y, c * y - s * x, z])


def _rotate_about_z(vector: Array, yaw: Array) -> Array:
    """Return R(ψ) v for each of n rotations about the vertical (n x 3)."""
    c, s = np.cos(np.atleast_1d(yaw)), np.sin(np.atleast_1d(yaw))
    x, y, z = vector
    return np.stack([c * x - s * y, s * x + c * y, np.full_like(c, z)], axis=1)


def _ankle_range(robot: Robot, ankle: tuple[int, ...], axis: Array) -> tuple[float, float]:
    """Return the range of the ankle joint that rotates the foot about an axis (rad); infinite if there is none.

    Over a flat foot it is the range of the lean of the leg.

    Args:
        robot: the robot.
        ankle: joint indices of the ankle.
        axis: unit vector in the world, in the standing stance; the joint with the nearest axis is used.
    """
    axis_lines = joint_axes(robot)
    along = [float(axis_lines[joint][1] @ axis) for joint in ankle]
    best = max(range(len(along)), key=lambda i: abs(along[i]), default=None)
    if best is None or abs(along[best]) < 0.7:  # no joint along this axis: no limit
        return -math.inf, math.inf
    joint = next(joint for joint in robot.joints if joint.index == ankle[best])
    low, high = float(robot.limits.lower[joint.v - 6]), float(robot.limits.upper[joint.v - 6])
    return (low, high) if along[best] > 0.0 else (-high, -low)
