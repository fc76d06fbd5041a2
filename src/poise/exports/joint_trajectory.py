"""Joint trajectory: base pose and joint angles over time, with resampling and reordering to the joints of a robot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from poise.arrays import Array
from poise.errors import PoiseError
from poise.extras import scipy
from poise.recording import Recording
from poise.robots import Robot, State


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
        """Return the motion of a recording: the true one (``true/q``) if the controller had an estimate, else ``q``."""
        q = "true/q" if "true/q" in recording else "q"
        v = "true/v" if "true/v" in recording else "v"
        if q not in recording or not len(recording):
            raise ExportError("the recording has no motion: no samples of channel 'q'; record a motion first")
        joints = recording.labels[q][7:]
        torque = None
        if "command/torque" in recording:
            indices = [recording.labels["command/torque"].index(name) for name in joints]
            torque = recording["command/torque"][:, indices]
        units = tuple(recording.units[f"{q}/{name}"] for name in joints)
        robot_name = str(recording.provenance.get("robot", ""))
        rates = recording.channels.get(v)
        return cls(
            recording.time, recording[q], joints, units, None if rates is None else rates.values, torque, robot_name
        )

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
            which = np.zeros(len(time), dtype=int)
            parts = [None if values is None else values[which] for values in (self.q, self.v, self.torque)]
        else:
            parts = [_interpolate(time, self.time, values) for values in (self.q, self.v, self.torque)]
            assert parts[0] is not None
            parts[0][:, 3:7] = scipy.spatial.transform.Slerp(
                self.time, scipy.spatial.transform.Rotation.from_quat(self.q[:, 3:7])
            )(time).as_quat()
        assert parts[0] is not None
        return Trajectory(time, parts[0], self.joints, self.units, parts[1], parts[2], self.robot)

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


def _interpolate(time: Array, sample_times: Array, values: Array | None) -> Array | None:
    if values is None:
        return None
    after = np.clip(np.searchsorted(sample_times, time, side="right"), 1, len(sample_times) - 1)
    fraction = ((time - sample_times[after - 1]) / (sample_times[after] - sample_times[after - 1]))[:, None]
    # At the exact time of a sample the neighbour is ignored, so that a NaN in it does not spread.
    preceding, following = values[after - 1], values[after]
    return np.where(
        fraction == 0.0,
        preceding,
        np.where(fraction == 1.0, following, (1.0 - fraction) * preceding + fraction * following),
    )
