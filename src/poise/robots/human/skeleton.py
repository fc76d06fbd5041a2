"""Skeleton of the human: axes, positions, ranges, torque and speed limits of its 36 joints.

Axes and order follow the recommendations of the International Society of Biomechanics [Wu2002, Wu2005]: flexion about
the axis to the right, then ab- or adduction about the axis forward, then rotation about the axis along the segment. The
zero posture is the anatomical one: upright, arms hanging, palms forward. A sign means the same on both sides: flexion,
adduction, internal rotation, dorsiflexion, inversion, pronation and ulnar deviation are positive. For spine and neck,
leaning back, leaning to the right and turning to the left are positive.

With the six degrees of freedom of the pelvis the body has 42. Ranges are physiological plus five to ten degrees, so
that a marker error of a centimeter does not push a joint against its limit in ordinary walking. Torques are of the
order of the largest isometric torques of young adults at 75 kg, and scale with body mass; speeds are those of fast
movements. Torques and speeds are generous choices.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from poise.arrays import Vector
from poise.robots.human.anthropometry import BodyShape
from poise.robots.parts import SIDES, Side, side_sign

#: Flexion moves a segment forward and up, extension moves the trunk back: both are about the axis to the right.
RIGHTWARD: Vector = (0.0, -1.0, 0.0)
LEFTWARD: Vector = (0.0, 1.0, 0.0)
FORWARD: Vector = (1.0, 0.0, 0.0)
UPWARD: Vector = (0.0, 0.0, 1.0)
#: Axis of the subtalar joint of a right foot: 42 degrees up and 9 degrees inwards from the forward axis, the mean
#: values used in leg models since Inman 1976.
SUBTALAR_AXIS: Vector = (0.787, 0.121, 0.605)
#: Body mass to which the torques of the table refer (kg).
REFERENCE_MASS = 75.0


class JointSpec(NamedTuple):
    """Joint of a limb in the tables below: name and child link without side, axis on the right side, range (degrees),
    largest torque (N m) at 75 kg and largest speed (rad/s).
    """

    name: str
    child: str
    axis: Vector
    low: float
    high: float
    torque: float
    speed: float


class JointInstance(NamedTuple):
    """Joint of a body: position (m) and roll, pitch, yaw (rad) in the parent link, axis in the frame of the joint,
    range (rad), largest torque (N m) and largest speed (rad/s).
    """

    name: str
    parent: str
    child: str
    position: Vector
    rotation: Vector
    axis: Vector
    lower: float
    upper: float
    torque: float
    speed: float


LEG_JOINTS = (
    JointSpec("hip_flexion", "hip_fork", RIGHTWARD, -40, 130, 250, 12),
    JointSpec("hip_adduction", "hip_ring", FORWARD, -50, 40, 150, 12),
    JointSpec("hip_rotation", "thigh", UPWARD, -50, 50, 80, 12),
    JointSpec("knee_flexion", "shank", LEFTWARD, -10, 150, 250, 16),
    JointSpec("ankle_dorsiflexion", "ankle", RIGHTWARD, -55, 35, 220, 16),
    JointSpec("ankle_inversion", "foot", SUBTALAR_AXIS, -35, 35, 60, 12),
    JointSpec("toes_extension", "toes", RIGHTWARD, -35, 75, 40, 16),
)
ARM_JOINTS = (
    JointSpec("shoulder_flexion", "shoulder_fork", RIGHTWARD, -65, 180, 100, 16),
    JointSpec("shoulder_adduction", "shoulder_ring", FORWARD, -180, 50, 90, 16),
    JointSpec("shoulder_rotation", "upper_arm", UPWARD, -95, 95, 60, 16),
    JointSpec("elbow_flexion", "elbow", RIGHTWARD, -5, 150, 80, 20),
    JointSpec("forearm_pronation", "forearm", UPWARD, -20, 165, 20, 20),
    JointSpec("wrist_flexion", "wrist", RIGHTWARD, -80, 80, 20, 20),
    JointSpec("wrist_deviation", "hand", FORWARD, -30, 35, 15, 20),
    JointSpec("fingers_flexion", "fingers", RIGHTWARD, -25, 95, 10, 20),
)
BACK_JOINTS = (
    JointSpec("lumbar_extension", "lumbar_fork", RIGHTWARD, -75, 35, 300, 8),
    JointSpec("lumbar_bending", "lumbar_ring", FORWARD, -35, 35, 200, 8),
    JointSpec("lumbar_rotation", "torso", UPWARD, -45, 45, 120, 8),
)
NECK_JOINTS = (
    JointSpec("neck_extension", "neck_fork", RIGHTWARD, -70, 75, 60, 10),
    JointSpec("neck_bending", "neck_ring", FORWARD, -45, 45, 40, 10),
    JointSpec("neck_rotation", "head", UPWARD, -80, 80, 30, 10),
)
#: Links between the axes of a joint with several degrees of freedom; their mass is negligible.
INTERMEDIATE_LINKS = frozenset(
    spec.child
    for spec in (*LEG_JOINTS, *ARM_JOINTS, *BACK_JOINTS, *NECK_JOINTS)
    if spec.child.endswith(("_fork", "_ring", "ankle", "elbow", "wrist"))
)


def human_joints(shape: BodyShape) -> list[JointInstance]:
    """Return all 36 joints of a body, parents before children: left leg, right leg, back, neck, left arm, right arm."""
    joints: list[JointInstance] = []
    for side in SIDES:
        joints += _limb_joints("pelvis", side, LEG_JOINTS, _leg_positions(shape, side), shape)
    lumbar, neck = (shape.l5s1_forward, 0.0, shape.l5s1_up), (0.0, 0.0, shape.torso)
    joints += _limb_joints("pelvis", None, BACK_JOINTS, {"lumbar_fork": lumbar}, shape)
    joints += _limb_joints("torso", None, NECK_JOINTS, {"neck_fork": neck}, shape)
    for side in SIDES:
        joints += _limb_joints("torso", side, ARM_JOINTS, _arm_positions(shape, side), shape)
    return joints


def mtp_height(shape: BodyShape, side: Side) -> float:
    """Return the height of the metatarsophalangeal axis above the sole (m), a quarter of the ankle's height."""
    return 0.25 * shape.ankle_height[SIDES.index(side)]


def _leg_positions(shape: BodyShape, side: Side) -> dict[str, Vector]:
    i = SIDES.index(side)
    ball = (shape.foot[i], 0.0, mtp_height(shape, side) - shape.ankle_height[i])
    return {
        "hip_fork": (0.0, side_sign(side) * shape.hip_width / 2.0, 0.0),
        "shank": (0.0, 0.0, -shape.thigh[i]),
        "ankle": (0.0, 0.0, -shape.shank[i]),
        "toes": ball,
    }


def _arm_positions(shape: BodyShape, side: Side) -> dict[str, Vector]:
    i = SIDES.index(side)
    height = shape.torso - shape.shoulder_drop
    return {
        "shoulder_fork": (shape.shoulder_forward, side_sign(side) * shape.shoulder_width / 2.0, height),
        "elbow": (0.0, 0.0, -shape.upper_arm[i]),
        "wrist": (0.0, 0.0, -shape.forearm[i]),
        "fingers": (0.0, 0.0, -shape.hand[i]),
    }


def _limb_joints(
    root: str, side: Side | None, specs: tuple[JointSpec, ...], positions: dict[str, Vector], shape: BodyShape
) -> Iterator[JointInstance]:
    prefix, parent = (f"{side}_" if side else ""), root
    for spec in specs:
        child = prefix + spec.child
        yield JointInstance(
            prefix + spec.name,
            parent,
            child,
            positions.get(spec.child, (0.0, 0.0, 0.0)),
            _fixed_rotation(spec.child, side, shape),
            _mirrored_axis(spec.axis) if side == "left" else spec.axis,
            math.radians(spec.low),
            math.radians(spec.high),
            spec.torque * shape.mass / REFERENCE_MASS,
            spec.speed,
        )
        parent = child


def _fixed_rotation(child: str, side: Side | None, shape: BodyShape) -> Vector:
    """Return roll, pitch, yaw (rad) due to varus (shank inwards below the knee) and torsion (ankle outwards)."""
    if side is None:
        return (0.0, 0.0, 0.0)
    i, y = SIDES.index(side), side_sign(side)
    return {"shank": (-y * shape.knee_varus[i], 0.0, 0.0), "ankle": (0.0, 0.0, y * shape.tibial_torsion[i])}.get(
        child, (0.0,) * 3
    )


def _mirrored_axis(axis: Vector) -> Vector:
    """Return the axis of the left joint, so that an angle means the same on both sides (e.g. inwards is positive)."""
    x, y, z = axis
    return -x, y, -z
