"""Anatomical degrees of freedom of a robot (hip flexion, knee flexion, ...), found from the geometry of its joints.

Robots differ in the names, the order and the signs of their joints, so the anatomical meaning of a joint is derived
from the standing posture. A leg is the chain of joints from the base to a foot. Its knee is the joint with a lateral
axis that is nearest to halfway down; joints above it belong to the hip, joints below it to the ankle. Within each of
these parts, every degree of freedom is assigned to the joint whose axis is best aligned with it.

Axes: x forward, y to the left, z up. Positive directions are those of the human model of Poise: flexion, adduction,
internal rotation, dorsiflexion, inversion; for back and neck extension, bending to the right and rotation to the left.
A small positive rotation about an axis e moves a point at r by ``e x r``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pinocchio

from poise.analysis.body_trajectories import standing_state
from poise.arrays import Array
from poise.extras import scipy
from poise.robots import SIDES, Foot, Joint, Robot, Side

#: Smallest |cosine| between a knee axis and the lateral axis: some robots tilt it by 10 degrees, none by 37.
KNEE_AXIS_COSINE = 0.8
#: Smallest |cosine| between a joint axis and its degree of freedom (60 degrees): the hip of NAO is 45 degrees off.
MIN_ALIGNMENT = 0.5

X, Y, Z = np.eye(3)
#: Degrees of freedom of the right leg: name and axis of a positive rotation. On the left, axes x and z change sign.
HIP = (("hip flexion", -Y), ("hip adduction", X), ("hip rotation", Z))
KNEE = (("knee flexion", Y),)
ANKLE = (("ankle dorsiflexion", -Y), ("ankle inversion", X))
BACK = (("lumbar extension", -Y), ("lumbar bending", X), ("lumbar rotation", Z))
NECK = (("neck extension", -Y), ("neck bending", X), ("neck rotation", Z))
#: All degrees of freedom, legs first, without sides.
DEGREES_OF_FREEDOM = tuple(name for part in (HIP, KNEE, ANKLE, BACK, NECK) for name, _ in part)
#: Degrees of freedom of back and neck, and those of them that change sign when left and right are mirrored.
TRUNK_DEGREES_OF_FREEDOM = tuple(name for part in (BACK, NECK) for name, _ in part)
MIRRORED_DEGREES_OF_FREEDOM = ("lumbar bending", "lumbar rotation", "neck bending", "neck rotation")


class AnatomicalJoint(NamedTuple):
    """A joint that realizes an anatomical degree of freedom, and the sign that converts between the two.

    Attributes:
        degree_of_freedom: for example ``"hip flexion"``.
        side: side of the leg; None for back and neck.
        joint: the joint of the robot.
        sign: 1 or -1; angle, rate and torque of the degree of freedom are those of the joint times this sign.
        alignment: |cosine| of the angle between the joint axis and the anatomical axis, 0.5 to 1.
    """

    degree_of_freedom: str
    side: Side | None
    joint: Joint
    sign: float
    alignment: float


def anatomical_joints(robot: Robot) -> tuple[AnatomicalJoint, ...]:
    """Return the joints that act as human leg, back and neck joints; degrees of freedom without a joint are left out.

    >>> names = {f"{each.side} {each.degree_of_freedom}": each.joint.name for each in anatomical_joints(robot)}
    >>> names["left knee flexion"]
    'left_knee_joint'
    """
    axes = _axes(robot)
    joints: list[AnatomicalJoint] = []
    for foot in robot.feet:
        joints += _leg(robot, foot, axes)
    for end, part in ((None if robot.chest is None else robot.chest.joint, BACK), (_head_joint(robot), NECK)):
        if end is not None:
            used = {each.joint.index for each in joints}
            chain = [joint for joint in _chain(robot, end) if joint.index not in used]
            joints += _assign(chain, axes, part, None)
    return tuple(joints)


def anatomical_leg_length(robot: Robot) -> float:
    """Return the leg length from hip to knee to ankle to sole, m, mean of both legs; it is independent of knee flexion.

    NaN for a robot without legs that flex at hip, knee and ankle.
    """
    data = _standing_data(robot)
    lengths = []
    for foot in robot.feet:
        joint_of = {
            each.degree_of_freedom: each.joint.index for each in anatomical_joints(robot) if each.side == foot.side
        }
        names = ("hip flexion", "knee flexion", "ankle dorsiflexion")
        if not all(name in joint_of for name in names):
            continue
        hip, knee, ankle = (data.oMi[joint_of[name]].translation for name in names)
        sole = data.oMf[foot.index]
        height = float(sole.actInv(ankle)[2])
        lengths.append(float(np.linalg.norm(hip - knee) + np.linalg.norm(knee - ankle)) + height)
    return float(np.mean(lengths)) if lengths else float("nan")


def _leg(robot: Robot, foot: Foot, axes: dict[int, Array]) -> list[AnatomicalJoint]:
    chain = _chain(robot, foot.joint)
    data = _standing_data(robot)
    knee = _knee(chain, axes, [float(data.oMi[joint.index].translation[2]) for joint in chain],
                 float(data.oMf[foot.index].translation[2]))  # fmt: skip
    if knee is None:
        return []
    above, below = chain[:knee], chain[knee + 1 :]
    joints = [*_assign(above, axes, HIP, foot.side), *_assign([chain[knee]], axes, KNEE, foot.side)]
    joints += _assign(below, axes, ANKLE, foot.side)
    if not any(
        each.degree_of_freedom == "hip rotation" for each in joints
    ):  # some robots rotate the leg below the knee
        free = [joint for joint in below if joint not in [each.joint for each in joints]]
        joints += _assign(free, axes, HIP[2:], foot.side)
    return joints


def _knee(chain: Sequence[Joint], axes: dict[int, Array], heights: Sequence[float], sole: float) -> int | None:
    """Return the index of the joint with a lateral axis that is nearest in height to halfway between hip and sole."""
    if not chain:
        return None
    middle = (max(heights) + sole) / 2.0
    lateral = [k for k, joint in enumerate(chain) if abs(axes[joint.index][1]) > KNEE_AXIS_COSINE]
    return min(lateral, key=lambda k: abs(heights[k] - middle), default=None)


def _assign(
    joints: Sequence[Joint], axes: dict[int, Array], part: Sequence[tuple[str, Array]], side: Side | None
) -> list[AnatomicalJoint]:
    """Assign the degrees of freedom of a body part to joints so that the sum of their |cosines| is largest.

    A pair with a |cosine| below `MIN_ALIGNMENT` is left out.
    """
    if not joints:
        return []
    target_axes = np.array([_mirror_axis(axis, side) for _, axis in part])
    cosine = target_axes @ np.array([axes[joint.index] for joint in joints]).T
    # A small penalty makes the joint nearer to the base win if two are equally well aligned.
    preference = np.abs(cosine) - 1e-6 * np.arange(len(joints))
    rows, columns = scipy.optimize.linear_sum_assignment(preference, maximize=True)
    pairs = [(int(i), int(k)) for i, k in zip(rows, columns, strict=True) if abs(cosine[i, k]) >= MIN_ALIGNMENT]
    return [
        AnatomicalJoint(part[i][0], side, joints[k], float(np.sign(cosine[i, k])), float(abs(cosine[i, k])))
        for i, k in pairs
    ]


def _mirror_axis(axis: Array, side: Side | None) -> Array:
    """Mirror a rotation axis for the left side: rotations about x and z change sign, those about y do not."""
    return axis * np.array([-1.0, 1.0, -1.0]) if side == SIDES[0] else axis


def _axes(robot: Robot) -> dict[int, Array]:
    """Return the axis of each joint in the standing posture, in the world frame; zero for prismatic joints."""
    J = pinocchio.computeJointJacobians(robot.model, robot.model.createData(), standing_state(robot).q)
    return {joint.index: np.array(J[3:, joint.v]) for joint in robot.joints}


def _standing_data(robot: Robot) -> pinocchio.Data:
    """Compute the placements of all joints and frames in the standing posture."""
    data = robot.model.createData()
    pinocchio.framesForwardKinematics(robot.model, data, standing_state(robot).q)
    return data


def _head_joint(robot: Robot) -> int | None:
    return None if robot.head is None else robot.head.joint


def _chain(robot: Robot, end: int) -> list[Joint]:
    """Return the joints from the base to the joint `end`, inclusive."""
    by_index = {joint.index: joint for joint in robot.joints}
    chain = []
    while end > 1:  # 0 is the world, 1 the free-flying base
        if end in by_index:
            chain.append(by_index[end])
        end = robot.model.parents[end]
    return chain[::-1]
