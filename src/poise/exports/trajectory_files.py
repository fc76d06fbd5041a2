"""Writers and readers of joint trajectories as CSV and NPZ files."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from poise.arrays import Array
from poise.exports.formats import ExportJob
from poise.exports.joint_trajectory import ExportError, Trajectory
from poise.recording import load_recording

#: Nine significant digits: 1 nm at a distance of 1 m, far below the resolution of any encoder.
NUMBER_FORMAT = "%.9g"
BASE_Q = ("base_x", "base_y", "base_z", "base_qx", "base_qy", "base_qz", "base_qw")
BASE_V = ("base_vx", "base_vy", "base_vz", "base_wx", "base_wy", "base_wz")


def export_csv(job: ExportJob, file: Path) -> None:
    """Write a CSV file: a header ``time [s],q/base_x [m],...``, then one line per sample; unknown torques are nan."""
    trajectory = job.trajectory()
    names, columns = ["time [s]"], [trajectory.time[:, None]]
    for name, values, labels, units in _column_blocks(trajectory):
        names += [
            f"{name}/{label} [{unit}]" if unit else f"{name}/{label}" for label, unit in zip(labels, units, strict=True)
        ]
        columns.append(values)
    with open(file, "w", encoding="utf-8", newline="\n") as stream:
        stream.write(",".join(names) + "\n")
        for time, line in zip(trajectory.time, np.hstack(columns), strict=True):
            stream.write(",".join(NUMBER_FORMAT % number for number in line) + "\n")
            job.progress(float(time - trajectory.time[0]))


def read_csv(path: Path) -> Trajectory:
    """Read a joint trajectory from a CSV file in the layout of `export_csv`.

    Units in the header are optional; without them, time is in s, the base in m and all joints are in rad.

    Raises:
        ExportError: the file is not a joint trajectory.
    """
    try:
        header, _, table_text = path.read_text(encoding="utf-8-sig").partition("\n")
        names = [re.sub(r"\s*\[.*\]$", "", word.strip().strip('"')) for word in header.split(",")]
        if "time" not in names or not any(name.startswith("q/") for name in names):
            raise ExportError(
                f"{path} is not a joint trajectory: no columns 'time' and 'q/...' in its header", str(path)
            )
        rows = [line.split(",") for line in table_text.splitlines() if line.strip()]
        bad_rows = [i for i, row in enumerate(rows) if len(row) != len(names)]
        if bad_rows:
            line, count = bad_rows[0] + 2, len(rows[bad_rows[0]])
            raise ExportError(
                f"{path}: line {line} has {count} columns; expected {len(names)} as in the header", str(path)
            )
        values = np.array(rows, dtype=np.float64).reshape(len(rows), len(names))
    except UnicodeDecodeError:
        raise ExportError(f"{path} is not a text file; pass a .csv written by 'poise export'", str(path)) from None
    except ValueError as error:
        raise ExportError(f"{path} has a cell that is not a number: {error}", str(path)) from None
    found = {name: values[:, i] for i, name in enumerate(names)}
    joints = tuple(name[2:] for name in names if name.startswith("q/") and name[2:] not in BASE_Q)
    units = re.findall(r"q/([^,\[]*?)\s*\[m\]", header)
    return Trajectory(
        found["time"],
        _stack_columns(found, "q", (*BASE_Q, *joints), path),
        joints,
        tuple("m" if joint in units else "rad" for joint in joints),
        _stack_columns(found, "v", (*BASE_V, *joints), path) if any(name.startswith("v/") for name in names) else None,
        _stack_columns(found, "torque", joints, path) if any(name.startswith("torque/") for name in names) else None,
    )


def _column_blocks(trajectory: Trajectory) -> list[tuple[str, Array, tuple[str, ...], tuple[str, ...]]]:
    """Return name, values, column labels and units of q, and of v and torque if known."""
    joints, units = trajectory.joints, trajectory.units
    blocks = [("q", trajectory.q, (*BASE_Q, *joints), ("m", "m", "m", "", "", "", "", *units))]
    if trajectory.v is not None:
        rate_units = (*["m/s"] * 3, *["rad/s"] * 3, *(f"{unit}/s" for unit in units))
        blocks.append(("v", trajectory.v, (*BASE_V, *joints), rate_units))
    if trajectory.torque is not None:
        effort_units = tuple("N" if unit == "m" else "N m" for unit in units)
        blocks.append(("torque", trajectory.torque, joints, effort_units))
    return blocks


def _stack_columns(found: dict[str, Array], name: str, labels: tuple[str, ...], path: Path) -> Array:
    missing = [f"{name}/{label}" for label in labels if f"{name}/{label}" not in found]
    if missing:
        raise ExportError(f"{path} has no column '{missing[0]}'; pass a .csv written by 'poise export'", str(path))
    return np.column_stack([found[f"{name}/{label}"] for label in labels])


# -- NPZ: named numpy arrays -----------------------------------------------------------------------------------------


#: Arrays that every file must have.
REQUIRED_ARRAYS = ("time", "joints", "base_position", "base_quaternion", "positions")


def export_npz(job: ExportJob, file: Path) -> None:
    """Write a NPZ file; docs/export.md describes its arrays. Quaternions are (x, y, z, w)."""
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


def read_npz(path: Path) -> Trajectory:
    """Read a joint trajectory from a NPZ file of `export_npz`, without loss of precision.

    Raises:
        ExportError: the file is not a joint trajectory.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            found = {name: file[name] for name in file.files}
    except (ValueError, EOFError, zipfile.BadZipFile, AttributeError, NotImplementedError):
        raise ExportError(f"{path} is not an array file; pass a .npz written by 'poise export'", str(path)) from None
    missing = [name for name in REQUIRED_ARRAYS if name not in found]
    if missing:
        raise ExportError(f"{path} has no array '{missing[0]}'; pass a .npz written by 'poise export'", str(path))
    joints = tuple(str(name) for name in np.atleast_1d(found["joints"]))
    units = tuple(str(unit) for unit in found["units"]) if "units" in found else ("rad",) * len(joints)
    try:
        q = np.hstack([found[name] for name in ("base_position", "base_quaternion", "positions")]).astype(np.float64)
        v = None
        if "base_velocity" in found and "velocities" in found:
            v = np.hstack([found["base_velocity"], found["velocities"]]).astype(np.float64)
        time, torque = found["time"].astype(np.float64), found.get("torques")
    except ValueError as error:
        raise ExportError(f"{path} has arrays of inconsistent shapes: {error}", str(path)) from None
    return Trajectory(time, q, joints, units, v, torque, str(found.get("robot", "")))


# -- Reading by file suffix ------------------------------------------------------------------------------------------


READERS: dict[str, Callable[[Path], Trajectory]] = {
    ".csv": read_csv,
    ".npz": read_npz,
    ".poise": lambda path: Trajectory.of(load_recording(path)),
}


def read_trajectory(path: str | PathLike[str]) -> Trajectory:
    """Read a joint trajectory from an exported ``.csv`` or ``.npz`` file or from a ``.poise`` recording.

    Raises:
        ExportError: the file cannot be read or is not a joint trajectory.

    >>> read_trajectory("walk.csv").joints
    """
    file_path = Path(path).expanduser()
    if file_path.suffix.lower() not in READERS:
        raise ExportError(f"'{path}' does not end in {', '.join(READERS)}; pass a joint trajectory", str(path))
    if file_path.is_dir():
        raise ExportError(f"'{path}' is a folder; pass a file", str(path))
    if not file_path.exists():
        raise ExportError(f"'{path}' does not exist; pass a joint trajectory ({', '.join(READERS)})", str(path))
    try:
        return READERS[file_path.suffix.lower()](file_path)
    except OSError as error:
        raise ExportError(f"'{path}' cannot be read: {error.strerror or error}", str(path)) from None
    except ExportError as error:
        message = str(error) if str(file_path) in str(error) else f"{file_path}: {error}"
        raise ExportError(message, str(path)) from None
