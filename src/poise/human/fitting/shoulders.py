"""The shoulder in a fit: its range, and the choice between the two descriptions of each posture.

The three angles of the shoulder, flexion f, adduction a and rotation r, describe a posture twice: with (f, a, r) and
with (f + 180, -180 - a, r + 180) degrees. They have no range of their own: with the arm raised sideways to the height
of the shoulder, flexion and rotation are about the same axis, and above it they reach any value. A fit therefore does
not bound them, but takes that description in which they are smallest, and compares the direction of the upper arm,
relative to the trunk, with the range of healthy people [Boone1979].

[Boone1979] D. C. Boone, S. P. Azen. *Normal range of motion of joints in male subjects.* Journal of Bone and Joint
Surgery 61-A, 1979: extension 62 ± 10 degrees, horizontal extension 45 ± 6, horizontal flexion 141 ± 6.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio

from poise.arrays import Array, Mask
from poise.robots import SIDES, Robot, Side, side_sign

#: Bounds of the three angles in a fit (rad): more than a turn to either side.
OPEN_RANGE = 1.5 * np.pi
#: Largest dorsiflexion in a fit (rad): with bent knees and the weight of the body people reach 45 degrees, and with
#: deformed feet more; the range of the model is that without load.
DORSIFLEXION = np.radians(55.0)
ANGLES = ("shoulder_flexion", "shoulder_adduction", "shoulder_rotation")
#: Largest angles of the upper arm (rad), mean of [Boone1979] plus two standard deviations: behind the frontal plane
#: from hanging, behind it and across the body in the horizontal plane.
EXTENSION, HORIZONTAL_EXTENSION, HORIZONTAL_FLEXION = np.radians((81.0, 58.0, 153.0))
#: Elevation (rad) from which directions in the horizontal plane count: below it they are hardly determined.
RAISED = np.radians(40.0)
#: Cosine of adduction below which the axes of flexion and rotation are nearly the same.
ALIGNED = 0.4
#: Change between two frames (rad) at which a new part of the motion begins, for example after a gap.
JUMP = 1.0


def with_ranges_of_people(robot: Robot) -> Robot:
    """Return the robot without bounds on the angles of the shoulders, and with ankles that bend as under load."""
    lower, upper = robot.limits.lower.copy(), robot.limits.upper.copy()
    for k, joint in enumerate(robot.joints):
        if joint.name.endswith("ankle_dorsiflexion"):
            upper[k] = DORSIFLEXION
        if joint.name.split("_", 1)[-1] in ANGLES:
            lower[k], upper[k] = -OPEN_RANGE, OPEN_RANGE
    return replace(robot, limits=replace(robot.limits, lower=lower, upper=upper))


def wrap_shoulders(robot: Robot, q: Array) -> Array:
    """Return a configuration (nq) with flexion and rotation of the shoulders within half a turn of zero."""
    columns = [robot.joint(f"{side}_{name}").q for side in SIDES for name in (ANGLES[0], ANGLES[2])]
    out = q.copy()
    out[columns] -= 2.0 * np.pi * np.round(out[columns] / (2.0 * np.pi))
    return out


def aligned_shoulder_axes(robot: Robot, q: Array) -> list[int]:
    """Return the velocity coordinates of flexion and rotation of shoulders whose axes are nearly the same (rates of
    these angles say little about the motion of the arm there).
    """
    aligned = [side for side in SIDES if abs(np.cos(q[robot.joint(f"{side}_{ANGLES[1]}").q])) < ALIGNED]
    return [robot.joint(f"{side}_{name}").v for side in aligned for name in (ANGLES[0], ANGLES[2])]


def smallest_shoulder_angles(robot: Robot, q: Array) -> Array:
    """Return configurations (n x nq) with the same postures and the smallest angles of the shoulders.

    Over each part of the motion without jumps the same description is taken, so that the angles stay continuous.
    """
    out = q.copy()
    for side in SIDES:
        columns = [robot.joint(f"{side}_{name}").q for name in ANGLES]
        angles = np.unwrap(q[:, columns], axis=0)
        jumps = np.flatnonzero((np.abs(np.diff(angles, axis=0)) > JUMP).any(axis=1)) + 1
        out[:, columns] = np.concatenate([_smallest(part) for part in np.split(angles, jumps)])
    return out


def _smallest(angles: Array) -> Array:
    """Return that description of the postures (k x 3, rad) whose mean square is smallest."""
    other = angles * [1.0, -1.0, 1.0] + [np.pi, -np.pi, np.pi]
    candidates = [each - 2.0 * np.pi * np.round(np.mean(each, axis=0) / (2.0 * np.pi)) for each in (angles, other)]
    return min(candidates, key=lambda each: float(np.mean(each**2)))


def beyond_shoulder_range(robot: Robot, q: Array, side: Side) -> Mask:
    """Return the frames (n) in which the upper arm is where healthy people cannot move it."""
    model, data = robot.model, robot.model.createData()
    torso, arm = (robot.frame(name).index for name in ("torso", f"{side}_upper_arm"))
    directions = np.empty((len(q), 3))
    for k, each in enumerate(q):
        pinocchio.framesForwardKinematics(model, data, each)
        directions[k] = -data.oMf[torso].rotation.T @ data.oMf[arm].rotation[:, 2]
    forward, outward, up = directions[:, 0], side_sign(side) * directions[:, 1], directions[:, 2]
    elevation, plane = np.arccos(np.clip(-up, -1.0, 1.0)), np.arctan2(forward, outward)
    raised = (elevation > RAISED) & (elevation < np.pi - RAISED)
    # behind the frontal plane the limit is that of extension in the sagittal plane, less towards the side
    behind = raised & (plane < -HORIZONTAL_EXTENSION) & (plane > -np.pi / 2.0 - HORIZONTAL_EXTENSION)
    across = raised & ((plane > HORIZONTAL_FLEXION) | (plane < -np.pi / 2.0 - HORIZONTAL_EXTENSION))
    return np.asarray((behind & (elevation > EXTENSION)) | across)
