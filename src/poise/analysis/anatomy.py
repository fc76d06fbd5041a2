"""Anatomical degrees of freedom: which joint of a body is hip flexion, knee flexion and so on, from its geometry.

Robots name their joints as they like, put them in different orders and turn them either way. What a joint does shows in
a stance: the leg is a chain from the base to a foot, its knee turns about the lateral axis halfway down, what comes
before belongs to the hip and what comes after to the ankle; and of each of these, that joint flexes whose axis is
nearest to lateral, and so on. Axes: x forward, y to the left, z up. Positive is what it is in the human of the library:
flexion, adduction, internal rotation, dorsiflexion, inversion; extension, bending to the right and rotation to the left
of back and neck. A rotation about an axis e by a small positive angle moves what hangs on it by ``e x r``.
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

#: A knee turns about an axis at most this far from lateral (cosine): some robots tilt it by 10 degrees, none by 37.
KNEE_AXIS_COSINE = 0.8
#: A joint has a degree of freedom if its axis is less than 60 degrees from it: the hip of NAO is 45 degrees off.
MIN_ALIGNMENT = 0.5

X, Y, Z = np.eye(3)
#: Degrees of freedom of the right leg: name and axis of a positive rotation; on the left those about x and z turn over.
HIP = (("hip flexion", -Y), ("hip adduction", X), ("hip rotation", Z))
KNEE = (("knee flexion", Y),)
ANKLE = (("ankle dorsiflexion", -Y), ("ankle inversion", X))
BACK = (("lumbar extension", -Y), ("lumbar bending", X), ("lumbar rotation", Z))
NECK = (("neck extension", -Y), ("neck bending", X), ("neck rotation", Z))
#: All degrees of freedom, legs first, without sides.
DEGREES_OF_FREEDOM = tuple(name for part in (HIP, KNEE, ANKLE, BACK, NECK) for name, _ in part)
#: Those of the middle of the body, and those of them that a mirror turns.
TRUNK_DEGREES_OF_FREEDOM = tuple(name for part in (BACK, NECK) for name, _ in part)
MIRRORED_DEGREES_OF_FREEDOM = ("lumbar bending", "lumbar rotation", "neck bending", "neck rotation")


class AnatomicalJoint(NamedTuple):
    """A joint that has an anatomical degree of freedom, and the sign that makes it positive there.

    Attributes:
        degree_of_freedom: such as ``"hip flexion"``.
        side: of the leg, None in the middle of the body.
        joint: which one has it.
        sign: 1 or -1: angle, rate and torque of the degree of freedom are those of the joint times this.
        alignment: cosine between its axis and that of the degree of freedom, 0.5 to 1.
    """

    degree_of_freedom: str
    side: Side | None
    joint: Joint
    sign: float
    alignment: float


def anatomical_joints(robot: Robot) -> tuple[AnatomicalJoint, ...]:
    """The joints of a body that turn as those of human legs, back and neck; what a body lacks is left out.

    >>> own = {f"{each.side} {each.degree_of_freedom}": each.joint.name for each in anatomical_joints(robot)}
    >>> own["left knee flexion"]
    'left_knee_joint'
    """
    axes = _axes(robot)
    found: list[AnatomicalJoint] = []
    for foot in robot.feet:
        found += _leg(robot, foot, axes)
    for end, part in ((None if robot.chest is None else robot.chest.joint, BACK), (_head_joint(robot), NECK)):
        if end is not None:
            used = {each.joint.index for each in found}
            chain = [joint for joint in _chain(robot, end) if joint.index not in used]
            found += _assign(chain, axes, part, None)
    return tuple(found)


def anatomical_leg_length(robot: Robot) -> float:
    """From hip to knee to ankle to the sole, m, the mean of both legs: the same however far the knees are bent.

    NaN for a body without legs that bend at hip, knee and ankle.
    """
    data = _standing_data(robot)
    lengths = []
    for foot in robot.feet:
        own = {each.degree_of_freedom: each.joint.index for each in anatomical_joints(robot) if each.side == foot.side}
        names = ("hip flexion", "knee flexion", "ankle dorsiflexion")
        if not all(name in own for name in names):
            continue
        hip, knee, ankle = (data.oMi[own[name]].translation for name in names)
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
    found = [*_assign(above, axes, HIP, foot.side), *_assign([chain[knee]], axes, KNEE, foot.side)]
    found += _assign(below, axes, ANKLE, foot.side)
    if not any(each.degree_of_freedom == "hip rotation" for each in found):  # some turn the leg at the knee
        free = [joint for joint in below if joint not in [each.joint for each in found]]
        found += _assign(free, axes, HIP[2:], foot.side)
    return found


def _knee(chain: Sequence[Joint], axes: dict[int, Array], heights: Sequence[float], sole: float) -> int | None:
    """Of the joints that turn about the lateral axis, the one nearest to halfway between hip and sole."""
    if not chain:
        return None
    middle = (max(heights) + sole) / 2.0
    lateral = [k for k, joint in enumerate(chain) if abs(axes[joint.index][1]) > KNEE_AXIS_COSINE]
    return min(lateral, key=lambda k: abs(heights[k] - middle), default=None)


def _assign(
    joints: Sequence[Joint], axes: dict[int, Array], part: Sequence[tuple[str, Array]], side: Side | None
) -> list[AnatomicalJoint]:
    """Each degree of freedom of a part for the joint that has it best: the sum of the cosines is the largest."""
    if not joints:
        return []
    target_axes = np.array([_mirrored(axis, side) for _, axis in part])
    cosine = target_axes @ np.array([axes[joint.index] for joint in joints]).T
    # Of two that do it equally well the one nearer to the base counts.
    preference = np.abs(cosine) - 1e-6 * np.arange(len(joints))
    rows, columns = scipy.optimize.linear_sum_assignment(preference, maximize=True)
    pairs = [(int(i), int(k)) for i, k in zip(rows, columns, strict=True) if abs(cosine[i, k]) >= MIN_ALIGNMENT]
    return [
        AnatomicalJoint(part[i][0], side, joints[k], float(np.sign(cosine[i, k])), float(abs(cosine[i, k])))
        for i, k in pairs
    ]


def _mirrored(axis: Array, side: Side | None) -> Array:
    """Rotations about x and z turn over in a mirror, those about y do not."""
    return axis * np.array([-1.0, 1.0, -1.0]) if side == SIDES[0] else axis


def _axes(robot: Robot) -> dict[int, Array]:
    """Direction of each joint's axis in the stance, in the world; sliding joints turn about none."""
    J = pinocchio.computeJointJacobians(robot.model, robot.model.createData(), standing_state(robot).q)
    return {joint.index: np.array(J[3:, joint.v]) for joint in robot.joints}


def _standing_data(robot: Robot) -> pinocchio.Data:
    """All joints and frames placed as in the stance."""
    data = robot.model.createData()
    pinocchio.framesForwardKinematics(robot.model, data, standing_state(robot).q)
    return data


def _head_joint(robot: Robot) -> int | None:
    return None if robot.head is None else robot.head.joint


def _chain(robot: Robot, end: int) -> list[Joint]:
    """The joints from the base to a joint, itself included."""
    by_index = {joint.index: joint for joint in robot.joints}
    chain = []
    while end > 1:  # 0 is the world, 1 the free-flying base
        if end in by_index:
            chain.append(by_index[end])
        end = robot.model.parents[end]
    return chain[::-1]
