"""MOT: base and joints in degrees over time, as OpenSim and its many readers have it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from poise.exports.euler import zxy_angles
from poise.exports.job import Job
from poise.human.files.motion import Motion, write_motion

#: Columns of the base: where it is (m) and how it is turned (degrees), see `write`.
BASE = ("base_tx", "base_ty", "base_tz", "base_yaw", "base_roll", "base_pitch")


def write(job: Job, file: Path) -> None:
    """Time (s), position of the base (m, z up), its turn, and every joint (degrees; m where it slides).

    The turn of the base is ``R = Rz(yaw) Rx(roll) Ry(pitch)``, without jumps: yaw to the left, roll to the right side,
    pitch forward.
    """
    trajectory = job.trajectory()
    turn = zxy_angles(Rotation.from_quat(trajectory.q[:, 3:7]).as_matrix()[:, np.newaxis])[:, 0]
    scale = [np.degrees(1.0) if unit == "rad" else 1.0 for unit in trajectory.units]
    values = np.column_stack([trajectory.q[:, :3], np.degrees(turn), trajectory.q[:, 7:] * scale])
    names = (*BASE, *("_".join(joint.split()) for joint in trajectory.joints))
    write_motion(Motion(names, trajectory.time, values), file)
    job.progress(trajectory.duration)
