"""Carriage: how a body holds its chest, its gaze and its arms, as angles over time.

Angles are those of the sagittal plane, in degrees, and zero or as they are in the stance "standing". A direction d (3)
is seen in axes that turn with the heading ψ, x forward, y to the left, z up. Notation: R(t) is ``world_from_part``, R_0
the same in the stance, and ``R(t) R_0ᵀ`` therefore how far the part is turned from it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from poise.analysis.tracks import Tracks
from poise.plants.falling import LOWEST, STEEPEST
from poise.robots import Frame, Robot, State
from poise.robots.limbs import limbs
from poise.robots.parts import Side

Array = NDArray[np.float64]


class Landmarks(NamedTuple):
    """Frames that carriage is read from: chest (or base), the shoulders by side, the gaze if there is one."""

    chest: Frame
    shoulders: dict[Side, Frame]
    gaze: Frame | None

    @property
    def frames(self) -> tuple[Frame, ...]:
        """All of them, to be followed with `tracked`."""
        return (self.chest, *self.shoulders.values(), *([] if self.gaze is None else [self.gaze]))


def landmarks(robot: Robot) -> Landmarks:
    """Where carriage is read from: a shoulder is the first joint of an arm.

    >>> tracks = tracked(recording, robot, landmarks(robot).frames)
    """
    arms = {limb.name: limb.joints for limb in limbs(robot)}
    names = {hand.side: arms.get(f"{hand.side} arm", ()) for hand in robot.hands}
    shoulders = {side: robot.frame(joints[0]) for side, joints in names.items() if joints}
    return Landmarks(robot.chest or robot.frame("root_joint"), shoulders, robot.head)


def standing(robot: Robot) -> State:
    """The stance that carriage is measured from: "standing", or the posture at rest of a robot that has none."""
    return robot.stance("standing") if "standing" in robot.stances else State(robot, robot.rest)


def chest_pitch(tracks: Tracks, heading: Array) -> Array:
    """How far the chest leans forward, n, degrees.

    With u = R R_0ᵀ e_z in heading axes, which is vertical in the stance: ``atan2(u_x, u_z)``.
    """
    chest = landmarks(tracks.robot).chest
    up = _rotations(tracks, chest) @ (standing(tracks.robot).pose(chest).rotation.T @ np.array([0.0, 0.0, 1.0]))
    x, _, z = ahead(up, heading).T
    return np.degrees(np.arctan2(x, z))


def gaze_pitch(tracks: Tracks, heading: Array) -> Array:
    """How much further down than in the stance the robot looks, n, degrees; NaN without a gaze.

    With d the direction of the gaze in heading axes: ``atan2(-d_z, d_x)``, less the same in the stance.
    """
    gaze = tracks.robot.head
    if gaze is None:
        return np.full(len(heading), np.nan)
    x, _, z = ahead(_rotations(tracks, gaze) @ np.array(gaze.axis), heading).T
    before = standing(tracks.robot).pose(gaze).rotation @ np.array(gaze.axis)
    turned = np.arctan2(-z, x) - np.arctan2(-before[2], before[0])
    return np.degrees(np.remainder(turned + np.pi, 2.0 * np.pi) - np.pi)


def arm_pitch(tracks: Tracks, side: Side) -> Array:
    """How far forward of the chest's own vertical an arm is, n, degrees; 0 hangs down, 90 points forward.

    With l from the shoulder to the hand and ``l' = R_0 Rᵀ l``, that is l in axes that turn with the chest:
    ``atan2(l'_x, -l'_z)``, unwrapped.
    """
    marks = landmarks(tracks.robot)
    if side not in marks.shoulders:
        return np.full(len(tracks.recording), np.nan)
    hand, shoulder = tracks.parts.index(tracks.robot.hand(side)), tracks.parts.index(marks.shoulders[side])
    line = tracks.positions[:, hand] - tracks.positions[:, shoulder]
    still = standing(tracks.robot).pose(marks.chest).rotation
    own = np.einsum("nji,nj->ni", _rotations(tracks, marks.chest), line) @ still.T
    angle = np.arctan2(own[:, 0], -own[:, 2])
    known = np.isfinite(angle)
    angle[known] = np.unwrap(angle[known])
    return np.degrees(angle)


def standing_arm_pitch(robot: Robot, side: Side) -> float:
    """`arm_pitch` in the stance, degrees; NaN without that arm."""
    marks = landmarks(robot)
    if side not in marks.shoulders:
        return float("nan")
    still = standing(robot)
    line = still.pose(robot.hand(side)).translation - still.pose(marks.shoulders[side]).translation
    return float(np.degrees(np.arctan2(line[0], -line[2])))


def fallen(tracks: Tracks) -> int:
    """The first sample at which the robot has fallen; the number of samples if it never does.

    As in `poise.plants`: its chest is tilted by more than 60 degrees, or its center of mass is lower above the lowest
    foot than half of its height in the stance.
    """
    chest, still = landmarks(tracks.robot).chest, standing(tracks.robot)
    up = (_rotations(tracks, chest) @ still.pose(chest).rotation.T)[:, 2, 2]
    soles = [float(still.pose(foot).translation[2]) for foot in tracks.robot.feet]
    height = float(still.center_of_mass[2]) - min(soles, default=0.0)
    low = tracks.center[:, 2] - tracks.ground < LOWEST * height
    down = np.flatnonzero((up < np.cos(np.radians(STEEPEST))) | low)
    return int(down[0]) if len(down) else len(tracks.recording)


def ahead(vectors: Array, heading: Array) -> Array:
    """World vectors (n, 3) in axes that turn with the heading (n, rad): ``Rz(-ψ) d``."""
    c, s = np.cos(heading), np.sin(heading)
    x, y, z = vectors.T
    return np.stack([c * x + s * y, c * y - s * x, z], axis=1)


def _rotations(tracks: Tracks, frame: Frame) -> Array:
    return tracks.rotations[:, tracks.parts.index(frame)]
