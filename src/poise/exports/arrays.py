"""NPZ: a joint trajectory as named arrays of numpy."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from poise.exports.errors import ExportError
from poise.exports.job import Job
from poise.exports.trajectory import Trajectory

#: Arrays that every file has, and those of which it has both or none.
NEEDED = ("time", "joints", "base_position", "base_quaternion", "positions")


def write(job: Job, file: Path) -> None:
    """The arrays are named and described in docs/export.md; quaternions are (x, y, z, w)."""
    trajectory = job.trajectory()
    arrays: dict[str, Any] = {
        "time": trajectory.time,
        "period": np.float64(trajectory.period),
        "robot": np.array(trajectory.robot),
        "joints": np.array(trajectory.joints, dtype=np.str_),
        "units": np.array(trajectory.units, dtype=np.str_),
        "base_position": trajectory.q[:, :3],
        "base_quaternion": trajectory.q[:, 3:7],
        "positions": trajectory.q[:, 7:],
    }
    if trajectory.v is not None:
        arrays |= {"base_velocity": trajectory.v[:, :6], "velocities": trajectory.v[:, 6:]}
    if trajectory.torque is not None:
        arrays |= {"torques": trajectory.torque}
    with open(file, "wb") as stream:
        np.savez_compressed(stream, allow_pickle=False, **arrays)


def read(path: Path) -> Trajectory:
    """The trajectory in such a file, bit by bit as it was."""
    try:
        with np.load(path, allow_pickle=False) as file:
            found = {name: file[name] for name in file.files}
    except (ValueError, EOFError, zipfile.BadZipFile, AttributeError, NotImplementedError):
        raise ExportError(f"{path} is no file of arrays; give a .npz that 'poise export' wrote", str(path)) from None
    missing = [name for name in NEEDED if name not in found]
    if missing:
        raise ExportError(f"{path} has no array '{missing[0]}'; give a .npz that 'poise export' wrote", str(path))
    joints = tuple(str(name) for name in np.atleast_1d(found["joints"]))
    units = tuple(str(unit) for unit in found["units"]) if "units" in found else ("rad",) * len(joints)
    try:
        q = np.hstack([found[name] for name in ("base_position", "base_quaternion", "positions")]).astype(np.float64)
        v = None
        if "base_velocity" in found and "velocities" in found:
            v = np.hstack([found["base_velocity"], found["velocities"]]).astype(np.float64)
        time, torque = found["time"].astype(np.float64), found.get("torques")
    except ValueError as error:
        raise ExportError(f"{path} holds arrays that do not fit together: {error}", str(path)) from None
    return Trajectory(time, q, joints, units, v, torque, str(found.get("robot", "")))
