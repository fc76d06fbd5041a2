"""Joint trajectory: base pose and joint angles over time.

It is resampled, reordered to the joints of a robot, and written to and read from CSV and NPZ files.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from poise.arrays import Array, Mask
from poise.errors import PoiseError
from poise.extras import scipy
from poise.human import FIT_BEHAVIOR, TORQUES_BEHAVIOR, bridge_gaps
from poise.recording import Recording, load_recording
from poise.robots import Robot, State

if TYPE_CHECKING:
    from poise.exports.formats import ExportRequest


class ExportError(PoiseError, ValueError):
    """A motion that cannot be exported as requested, or a file without a valid joint trajectory.

    Attributes:
        path: file that caused the error (``""`` if there is none).
    """

    def __init__(self, message: str, path: str = "") -> None:
        super().__init__(message)
        self.path = path


# -- Trajectory ------------------------------------------------------------------------------------------------------


#: Largest deviation of a quaternion from unit length that rounding to a few digits can explain.
UNIT_TOLERANCE = 1e-3
#: Times closer than this fraction of a sampling period are equal: summing periods accumulates errors of this size.
SAMPLE_TOLERANCE = 1e-6


@dataclass(frozen=True, eq=False)
class Trajectory:
    """Base pose and joint angles over time, with n samples of k joints.

    Args:
        time: time of each sample (s), strictly increasing, n.
        q: position of the base in the world (m), its quaternion (x, y, z, w), the joint angles (rad, or m for prismatic
            joints), n x (7 + k).
        joints: names of the joints, k.
        units: units of the joints, ``"rad"`` or ``"m"``, k.
        v: velocity of the base in the base frame (m/s, rad/s), joint velocities, n x (6 + k); None if unknown.
        torque: joint torques (N m, or N for prismatic joints), n x k; None if unknown, NaN for unknown samples.
        robot: name of the robot, if known.
        unknown: mask of the values of q that were not measured, n x (7 + k); they are bridged. None: all are known.

    Raises:
        ExportError: there are no samples, shapes do not match, numbers are not finite, time does not increase, or a
            quaternion is not of unit length.

    >>> Trajectory.of(recording).resample(100.0).q
    """

    time: Array
    q: Array
    joints: tuple[str, ...]
    units: tuple[str, ...]
    v: Array | None = None
    torque: Array | None = None
    robot: str = ""
    unknown: Mask | None = None

    def __post_init__(self) -> None:
        n, k = len(self.time), len(self.joints)
        if not n:
            raise ExportError("trajectory: no samples; record a motion first")
        for name, width in (("q", 7 + k), ("v", 6 + k), ("torque", k)):
            values = getattr(self, name)
            if values is not None and np.shape(values) != (n, width):
                expected = f"{n} samples of {width} numbers for {k} joints"
                raise ExportError(f"trajectory: {name} has shape {np.shape(values)}; expected {expected}")
        for name in ("time", "q"):
            is_bad = ~np.isfinite(getattr(self, name)).reshape(n, -1).all(axis=1)
            if is_bad.any():
                raise ExportError(
                    f"trajectory: {name} is not finite at sample {int(is_bad.argmax())}; truncate it before that sample"
                )
        if (np.diff(self.time) <= 0.0).any():
            at = int((np.diff(self.time) <= 0.0).argmax())
            raise ExportError(
                f"trajectory: time does not increase from sample {at} to {at + 1}; expected seconds in increasing order"
            )
        length = np.linalg.norm(self.q[:, 3:7], axis=1)
        if (np.abs(length - 1.0) > UNIT_TOLERANCE).any():
            at = int(np.abs(length - 1.0).argmax())
            raise ExportError(f"trajectory: the quaternion of sample {at} has length {length[at]:.4g}; expected 1")
        q = np.array(self.q)
        q[:, 3:7] /= length[:, None]
        object.__setattr__(self, "q", q)

    @classmethod
    def of(cls, recording: Recording) -> Trajectory:
        """Return the motion of a recording: ``true/q`` if it was recorded, as q is then an estimate; else ``q``."""
        q = "true/q" if "true/q" in recording else "q"
        v = "true/v" if "true/v" in recording else "v"
        if q not in recording or not recording.samples:
            raise ExportError("the recording has no motion: no samples of channel 'q'; record a motion first")
        joints = recording.labels[q][7:]
        torque = None
        if "command/torque" in recording:
            indices = [recording.labels["command/torque"].index(name) for name in joints]
            torque = recording["command/torque"][:, indices]
        units = tuple(recording.units[f"{q}/{name}"] for name in joints)
        robot_name = str(recording.provenance.get("robot", ""))
        rates = recording.channels.get(v)
        values, unknown = recording[q], None
        if recording.provenance.get("behavior") in (FIT_BEHAVIOR, TORQUES_BEHAVIOR) and np.isnan(values).any():
            unknown = np.isnan(values)
            values = bridge_gaps(recording.time, values, ~unknown)
        v_values = None if rates is None else rates.values
        return cls(recording.time, values, joints, units, v_values, torque, robot_name, unknown)

    @property
    def known_q(self) -> Array:
        """Base pose and joint angles, NaN where they were not measured (n x (7 + k))."""
        return self.q if self.unknown is None else np.where(self.unknown, np.nan, self.q)

    @property
    def duration(self) -> float:
        """Time from the first sample to the last (s)."""
        return float(self.time[-1] - self.time[0])

    @property
    def period(self) -> float:
        """Median time between two samples (s); 0 for a single sample."""
        return float(np.median(np.diff(self.time))) if len(self.time) > 1 else 0.0

    def at(self, time: Array) -> Trajectory:
        """Return the trajectory at other times (s), which are clipped to its time range.

        Interpolation is linear; the orientation of the base is interpolated by slerp.
        """
        time = np.clip(np.asarray(time, dtype=np.float64), self.time[0], self.time[-1])
        if len(self.time) == 1:
            indices = np.zeros(len(time), dtype=int)
            parts = [None if values is None else values[indices] for values in (self.q, self.v, self.torque)]
        else:
            parts = [_interpolate(time, self.time, values) for values in (self.q, self.v, self.torque)]
            assert parts[0] is not None
            parts[0][:, 3:7] = scipy.spatial.transform.Slerp(
                self.time, scipy.spatial.transform.Rotation.from_quat(self.q[:, 3:7])
            )(time).as_quat()
        assert parts[0] is not None
        unknown = None if self.unknown is None else np.isnan(_nearby(time, self.time, self.known_q))
        return Trajectory(time, parts[0], self.joints, self.units, parts[1], parts[2], self.robot, unknown)

    def resample(self, rate: float) -> Trajectory:
        """Return the trajectory at ``rate`` samples per second (Hz), from its first sample on."""
        if not (np.isfinite(rate) and rate > 0.0):
            raise ExportError(f"rate is {rate:g} Hz; expected a positive number")
        count = int(self.duration * rate + SAMPLE_TOLERANCE) + 1
        return self.at(self.time[0] + np.arange(count) / rate)

    def states(self, robot: Robot) -> list[State]:
        """Return the samples as states of a robot with the same joints, without contacts."""
        q, v = reorder_joints(self, robot)
        return [State(robot, q[i], v[i], float(self.time[i])) for i in range(len(self.time))]


def reorder_joints(trajectory: Trajectory, robot: Robot) -> tuple[Array, Array]:
    """Return q and v (zeros if unknown) in the joint order of a robot.

    Raises:
        ExportError: the joints of the trajectory are not those of the robot.
    """
    indices = _joint_indices(trajectory.joints, [joint.name for joint in robot.joints], robot.name)
    n = len(trajectory.time)
    q, v = np.zeros((n, robot.model.nq)), np.zeros((n, robot.model.nv))
    q[:, :7] = trajectory.q[:, :7]
    q[:, [joint.q for joint in robot.joints]] = trajectory.q[:, 7:][:, indices]
    if trajectory.v is not None:
        v[:, :6] = trajectory.v[:, :6]
        v[:, [joint.v for joint in robot.joints]] = trajectory.v[:, 6:][:, indices]
    return q, v


def reorder_torques(trajectory: Trajectory, robot: Robot) -> Array:
    """Return the joint torques (N m, or N) in the joint order of a robot, n x k.

    Raises:
        ExportError: the trajectory has no torques, or its joints are not those of the robot.
    """
    if trajectory.torque is None:
        raise ExportError(
            "the trajectory has no torques; record with torques (--mode torque), or replay without torque feed-forward"
        )
    return trajectory.torque[:, _joint_indices(trajectory.joints, [joint.name for joint in robot.joints], robot.name)]


def _joint_indices(available: Sequence[str], requested: Sequence[str], robot: str) -> list[int]:
    missing = [name for name in requested if name not in available]
    unknown = [name for name in available if name not in requested]
    if missing or unknown:
        problem = f"has no joint '{missing[0]}'" if missing else f"has a joint '{unknown[0]}' that the robot lacks"
        raise ExportError(f"the trajectory does not fit {robot}: it {problem}; pass the robot it was made with")
    return [available.index(name) for name in requested]


def _nearby(time: Array, sample_times: Array, values: Array) -> Array:
    """Interpolate values; NaN if a neighbor is."""
    interpolated = _interpolate(time, sample_times, values) if len(sample_times) > 1 else values[[0] * len(time)]
    assert interpolated is not None
    return interpolated


def _interpolate(time: Array, sample_times: Array, values: Array | None) -> Array | None:
    if values is None:
        return None
    after = np.clip(np.searchsorted(sample_times, time, side="right"), 1, len(sample_times) - 1)
    fraction = ((time - sample_times[after - 1]) / (sample_times[after] - sample_times[after - 1]))[:, None]
    # At the exact time of a sample the neighbor is ignored, so that a NaN in it does not spread.
    preceding, following = values[after - 1], values[after]
    return np.where(
        fraction == 0.0,
        preceding,
        np.where(fraction == 1.0, following, (1.0 - fraction) * preceding + fraction * following),
    )


# -- CSV and NPZ files ------------------------------------------------------------------------------------------------


#: Nine significant digits: 1 nm at a distance of 1 m, far below the resolution of any encoder.
NUMBER_FORMAT = "%.9g"
BASE_Q = ("base_x", "base_y", "base_z", "base_qx", "base_qy", "base_qz", "base_qw")
BASE_V = ("base_vx", "base_vy", "base_vz", "base_wx", "base_wy", "base_wz")


def export_csv(job: ExportRequest, file: Path) -> None:
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
    columns = {name: values[:, i] for i, name in enumerate(names)}
    joints = tuple(name[2:] for name in names if name.startswith("q/") and name[2:] not in BASE_Q)
    units = re.findall(r"q/([^,\[]*?)\s*\[m\]", header)
    return Trajectory(
        columns["time"],
        _stack_columns(columns, "q", (*BASE_Q, *joints), path),
        joints,
        tuple("m" if joint in units else "rad" for joint in joints),
        _stack_columns(columns, "v", (*BASE_V, *joints), path)
        if any(name.startswith("v/") for name in names)
        else None,
        _stack_columns(columns, "torque", joints, path) if any(name.startswith("torque/") for name in names) else None,
    )


def _column_blocks(trajectory: Trajectory) -> list[tuple[str, Array, tuple[str, ...], tuple[str, ...]]]:
    """Return name, values, column labels and units of q, and of v and torque if known."""
    joints, units = trajectory.joints, trajectory.units
    blocks = [("q", trajectory.known_q, (*BASE_Q, *joints), ("m", "m", "m", "", "", "", "", *units))]
    if trajectory.v is not None:
        rate_units = (*["m/s"] * 3, *["rad/s"] * 3, *(f"{unit}/s" for unit in units))
        blocks.append(("v", trajectory.v, (*BASE_V, *joints), rate_units))
    if trajectory.torque is not None:
        effort_units = tuple("N" if unit == "m" else "N m" for unit in units)
        blocks.append(("torque", trajectory.torque, joints, effort_units))
    return blocks


def _stack_columns(columns: dict[str, Array], name: str, labels: tuple[str, ...], path: Path) -> Array:
    missing = [f"{name}/{label}" for label in labels if f"{name}/{label}" not in columns]
    if missing:
        raise ExportError(f"{path} has no column '{missing[0]}'; pass a .csv written by 'poise export'", str(path))
    return np.column_stack([columns[f"{name}/{label}"] for label in labels])


# -- NPZ: named numpy arrays -----------------------------------------------------------------------------------------


#: Arrays that every file must have.
REQUIRED_ARRAYS = ("time", "joints", "base_position", "base_quaternion", "positions")


def export_npz(job: ExportRequest, file: Path) -> None:
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
            arrays = {name: file[name] for name in file.files}
    except (ValueError, EOFError, zipfile.BadZipFile, AttributeError, NotImplementedError):
        raise ExportError(f"{path} is not an array file; pass a .npz written by 'poise export'", str(path)) from None
    missing = [name for name in REQUIRED_ARRAYS if name not in arrays]
    if missing:
        raise ExportError(f"{path} has no array '{missing[0]}'; pass a .npz written by 'poise export'", str(path))
    joints = tuple(str(name) for name in np.atleast_1d(arrays["joints"]))
    units = tuple(str(unit) for unit in arrays["units"]) if "units" in arrays else ("rad",) * len(joints)
    try:
        q = np.hstack([arrays[name] for name in ("base_position", "base_quaternion", "positions")]).astype(np.float64)
        v = None
        if "base_velocity" in arrays and "velocities" in arrays:
            v = np.hstack([arrays["base_velocity"], arrays["velocities"]]).astype(np.float64)
        time, torque = arrays["time"].astype(np.float64), arrays.get("torques")
    except ValueError as error:
        raise ExportError(f"{path} has arrays of inconsistent shapes: {error}", str(path)) from None
    return Trajectory(time, q, joints, units, v, torque, str(arrays.get("robot", "")))


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
