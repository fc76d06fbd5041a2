"""Positions of anatomical landmarks (where markers are attached) on the mean body.

The positions are fractions of segment lengths, chosen after anatomical drawings. Marker positions of a person are
measured from a trial; these values are only their initial guess, and the marker positions of synthetic trials.
"""

from __future__ import annotations

import numpy as np

from poise.arrays import Array
from poise.robots.human import anthropometry
from poise.robots.human.anthropometry import BodyShape
from poise.robots.human.skeleton import mtp_height
from poise.robots.parts import SIDES, Side, side_sign

LandmarkPosition = tuple[str, Array]


def landmarks(shape: BodyShape) -> dict[str, LandmarkPosition]:
    """Return all landmarks by name: the link that carries it, and its position in that link's frame (m).

    >>> landmarks(BodyShape.of(1.77))["left_asis"]
    ('pelvis', array([...]))
    """
    positions = {**_pelvis(shape), **_trunk(shape)}
    for side in SIDES:
        positions |= _leg(shape, side) | _arm(shape, side) | _joint_centers(shape, side)
    return positions


def _joint_centers(shape: BodyShape, side: Side) -> dict[str, LandmarkPosition]:
    """Return the joint centers, which the skeletons of animation software use instead of skin markers."""
    i, y = SIDES.index(side), side_sign(side)
    shoulder = (shape.shoulder_forward, 0.5 * y * shape.shoulder_width, shape.torso - shape.shoulder_drop)
    positions = {
        "hip_center": ("pelvis", (0.0, 0.5 * y * shape.hip_width, 0.0)),
        "knee_center": (f"{side}_thigh", (0.0, 0.0, -shape.thigh[i])),
        "ankle_center": (f"{side}_shank", (0.0, 0.0, -shape.shank[i])),
        "ball_center": (f"{side}_foot", (shape.foot[i], 0.0, mtp_height(shape, side) - shape.ankle_height[i])),
        "shoulder_center": ("torso", shoulder),
        "elbow_center": (f"{side}_upper_arm", (0.0, 0.0, -shape.upper_arm[i])),
        "wrist_center": (f"{side}_forearm", (0.0, 0.0, -shape.forearm[i])),
    }
    return {f"{side}_{name}": (link, np.array(position)) for name, (link, position) in positions.items()}


def asis_midpoint(shape: BodyShape) -> Array:
    """Return the midpoint of the anterior superior iliac spines, relative to the middle of the hip centers (m)."""
    forward, up, _ = anthropometry.HIP_CENTER_OFFSET[shape.sex]
    return np.array([-forward, 0.0, -up]) * shape.asis_width


def _pelvis(shape: BodyShape) -> dict[str, LandmarkPosition]:
    """Return the landmarks of the pelvis; its four iliac spines are in one plane, horizontal in the zero posture."""
    middle, wide = asis_midpoint(shape), shape.asis_width
    back = middle - np.array([0.66 * wide, 0.0, 0.0])  # the pelvis is two thirds as deep as wide
    out = {
        "sacrum": ("pelvis", back),
        "lumbar_center": ("pelvis", np.array([shape.l5s1_forward, 0.0, shape.l5s1_up])),
    }
    for side in SIDES:
        y = side_sign(side)
        out[f"{side}_asis"] = ("pelvis", middle + np.array([0.0, 0.5 * y * wide, 0.0]))
        out[f"{side}_psis"] = ("pelvis", back + np.array([0.0, 0.19 * y * wide, 0.0]))
    return out


def _trunk(shape: BodyShape) -> dict[str, LandmarkPosition]:
    t, h = shape.torso, shape.head
    positions = {
        "neck_center": ("torso", (0.0, 0.0, t)),
        "c7": ("torso", (-0.13 * t, 0.0, t + 0.01 * t)),
        "t10": ("torso", (-0.22 * t, 0.0, 0.45 * t)),
        "suprasternal": ("torso", (0.16 * t, 0.0, 0.87 * t)),
        "xiphoid": ("torso", (0.24 * t, 0.0, 0.52 * t)),
        "sellion": ("head", (0.36 * h, 0.0, 0.62 * h)),
        "occiput": ("head", (-0.30 * h, 0.0, 0.58 * h)),
        "vertex": ("head", (0.02 * h, 0.0, h)),
    }
    out = {name: (link, np.array(position)) for name, (link, position) in positions.items()}
    for side in SIDES:
        y = side_sign(side)
        out[f"{side}_temple"] = ("head", np.array([0.18 * h, 0.28 * y * h, 0.64 * h]))
        out[f"{side}_front_head"] = ("head", np.array([0.27 * h, 0.22 * y * h, 0.75 * h]))
        out[f"{side}_back_head"] = ("head", np.array([-0.23 * h, 0.20 * y * h, 0.75 * h]))
        shoulder = np.array([shape.shoulder_forward, 0.5 * y * shape.shoulder_width, t - shape.shoulder_drop])
        out[f"{side}_acromion"] = ("torso", shoulder + np.array([-0.02 * t, 0.0, 0.09 * t]))
    return out


def _leg(shape: BodyShape, side: Side) -> dict[str, LandmarkPosition]:
    i, y = SIDES.index(side), side_sign(side)
    thigh, shank, height = shape.thigh[i], shape.shank[i], shape.ankle_height[i]
    ball, toes, wide = shape.foot[i], shape.toes[i], shape.foot_width[i]
    knee, ankle = 0.13 * thigh, 0.09 * shank  # half widths
    # Torsion rotates the ankle's axis outwards; the ankle markers are on the shank.
    lateral = np.array([-y * np.sin(y * shape.tibial_torsion[i]), y * np.cos(shape.tibial_torsion[i]), 0.0])
    top = mtp_height(shape, side) - height
    positions = {
        "greater_trochanter": ("thigh", np.array([0.0, 0.19 * y * thigh, 0.0])),
        "lateral_knee": ("thigh", np.array([0.0, y * knee, -thigh])),
        "medial_knee": ("thigh", np.array([0.0, -y * knee, -thigh])),
        "thigh_side": ("thigh", np.array([0.0, 0.22 * y * thigh, -0.7 * thigh])),
        "shank_side": ("shank", np.array([0.0, 0.0, -0.5 * shank]) + 0.22 * shank * lateral),
        "tibial_tuberosity": ("shank", np.array([0.12 * shank, 0.0, -0.12 * shank])),
        "lateral_ankle": ("shank", np.array([0.0, 0.0, -shank]) + ankle * lateral),
        "medial_ankle": ("shank", np.array([0.0, 0.0, -shank]) - ankle * lateral),
        "heel_back": ("foot", np.array([-shape.heel[i], 0.0, 0.35 * height - height])),
        "first_metatarsal_head": ("foot", np.array([1.03 * ball, -0.5 * y * wide, top])),
        "second_metatarsal_head": ("foot", np.array([1.03 * ball, -0.2 * y * wide, top + 0.25 * height])),
        "fifth_metatarsal_head": ("foot", np.array([0.85 * ball, 0.5 * y * wide, top])),
        "toe_end": ("toes", np.array([toes, -0.15 * y * wide, 0.15 * height])),
    }
    return {f"{side}_{name}": (f"{side}_{link}", position) for name, (link, position) in positions.items()}


def _arm(shape: BodyShape, side: Side) -> dict[str, LandmarkPosition]:
    """Return the landmarks of an arm; in the anatomical posture the thumb and the radius are lateral."""
    i, y = SIDES.index(side), side_sign(side)
    upper, fore, hand, fingers = shape.upper_arm[i], shape.forearm[i], shape.hand[i], shape.fingers[i]
    elbow, wrist = 0.14 * upper, 0.11 * fore  # half widths
    positions = {
        "lateral_elbow": ("upper_arm", (0.0, y * elbow, -upper)),
        "medial_elbow": ("upper_arm", (0.0, -y * elbow, -upper)),
        "radial_wrist": ("forearm", (0.0, y * wrist, -fore)),
        "ulnar_wrist": ("forearm", (0.0, -y * wrist, -fore)),
        "second_knuckle": ("hand", (-0.15 * hand, 0.42 * y * hand, -hand)),
        "fifth_knuckle": ("hand", (-0.15 * hand, -0.42 * y * hand, -0.92 * hand)),
        "middle_fingertip": ("fingers", (0.0, 0.0, -fingers)),
    }
    return {f"{side}_{name}": (f"{side}_{link}", np.array(position)) for name, (link, position) in positions.items()}
