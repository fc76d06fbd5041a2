"""OpenSim export: joint angles as MOT files, markers or joint centers as TRC files."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pinocchio

from poise.arrays import Array
from poise.exports.bvh import zxy_angles
from poise.exports.formats import ExportJob
from poise.exports.joint_trajectory import SAMPLE_TOLERANCE, reorder_joints
from poise.extras import scipy
from poise.human import OpenSimMotion, Trial, write_motion, write_trc
from poise.recording import Recording
from poise.robots import Robot

#: Columns of the base: position (m) and orientation (degrees), see `export_mot`.
BASE_COLUMNS = ("base_tx", "base_ty", "base_tz", "base_yaw", "base_roll", "base_pitch")


def export_mot(job: ExportJob, file: Path) -> None:
    """Write a MOT file: time (s), position of the base (m, z up), its orientation and all joint angles (degrees).

    Prismatic joints are in m. The orientation of the base is ``R = Rz(yaw) Rx(roll) Ry(pitch)``, without jumps of full
    turns: yaw is positive to the left, roll to the right, pitch forward.
    """
    trajectory = job.trajectory()
    base_angles = zxy_angles(
        scipy.spatial.transform.Rotation.from_quat(trajectory.q[:, 3:7]).as_matrix()[:, np.newaxis]
    )[:, 0]
    scale = [np.degrees(1.0) if unit == "rad" else 1.0 for unit in trajectory.units]
    values = np.column_stack([trajectory.q[:, :3], np.degrees(base_angles), trajectory.q[:, 7:] * scale])
    names = (*BASE_COLUMNS, *("_".join(joint.split()) for joint in trajectory.joints))
    write_motion(OpenSimMotion(names, trajectory.time, values), file)
    job.progress(trajectory.duration)


# -- TRC: marker trajectories ----------------------------------------------------------------------------------------


#: Channel with the measured markers of a motion capture trial.
MARKER_CHANNEL = "markers/measured"
#: Joint centers closer than this (m) are merged: the axes of a hip intersect in one point.
COINCIDENT_DISTANCE = 1e-3
#: Frame rate (Hz) in the header of a file with a single frame: the format requires one.
SINGLE_FRAME_RATE = 100.0


def export_trc(job: ExportJob, file: Path) -> None:
    """Write a TRC file, in mm with y up, as readers of the format expect; gaps are blank.

    A recording of a motion capture trial is written with its measured markers. Any other recording is written with the
    joint centers of the robot, coincident ones once, and the frames of its feet, hands and head.
    """
    if MARKER_CHANNEL in job.recording and len(job.recording):
        labels, time, positions = _measured_markers(job)
    else:
        labels, time, positions = _robot_landmarks(job)
    rate = (len(time) - 1) / (time[-1] - time[0]) if len(time) > 1 else job.rate or SINGLE_FRAME_RATE
    name = str(job.recording.provenance.get("trial") or job.recording.provenance.get("robot") or "motion")
    trial = Trial(str(file), rate, time - time[0], labels, positions)
    with TemporaryDirectory(dir=file.parent, prefix=".") as folder:  # the header of the file holds its name
        write_trc(trial, Path(folder) / f"{Path(name).stem}.trc").replace(file)
    job.progress(float(time[-1] - time[0]))


def _measured_markers(job: ExportJob) -> tuple[tuple[str, ...], Array, Array]:
    """Return labels, times (s) and positions (n x markers x 3, m) of the measured markers.

    At another rate positions are interpolated linearly between frames, and gaps stay gaps.
    """
    recording = job.recording
    labels = tuple(word.rpartition(" ")[0] for word in recording.labels[MARKER_CHANNEL][::3])
    frame_times, values = recording.time, np.asarray(recording[MARKER_CHANNEL])
    time = frame_times if job.rate is None else _sample_times(recording, job.rate)
    if len(frame_times) > 1 and job.rate is not None:
        after = np.clip(np.searchsorted(frame_times, time, side="right"), 1, len(frame_times) - 1)
        fraction = ((time - frame_times[after - 1]) / (frame_times[after] - frame_times[after - 1]))[:, np.newaxis]
        interpolated = (1.0 - fraction) * values[after - 1] + fraction * values[after]
        values = np.where(fraction == 0.0, values[after - 1], np.where(fraction == 1.0, values[after], interpolated))
    return labels, time, values.reshape(len(time), len(labels), 3)


def _sample_times(recording: Recording, rate: float) -> Array:
    first, last = float(recording.time[0]), float(recording.time[-1])
    return np.minimum(first + np.arange(int((last - first) * rate + SAMPLE_TOLERANCE) + 1) / rate, last)


def _robot_landmarks(job: ExportJob) -> tuple[tuple[str, ...], Array, Array]:
    """Return labels, times (s) and positions (n x points x 3, m) of joint centers, feet, hands and head of a robot."""
    robot, trajectory = job.robot, job.trajectory()
    if len(trajectory.time) > 2 and float(np.ptp(np.diff(trajectory.time))) > SAMPLE_TOLERANCE * trajectory.period:
        trajectory = trajectory.resample(1.0 / trajectory.period)  # the format requires a constant rate
    centers = joint_centers(robot)
    parts = [part for part in (*robot.feet, *robot.hands, robot.head) if part is not None and part.name not in centers]
    model, data = robot.model, robot.model.createData()
    q, _ = reorder_joints(trajectory, robot)
    points = np.empty((len(q), len(centers) + len(parts), 3))
    for k, configuration in enumerate(q):
        pinocchio.forwardKinematics(model, data, configuration)
        poses = [data.oMi[joint] for joint in centers.values()]
        poses += [pinocchio.updateFramePlacement(model, data, part.index) for part in parts]
        points[k] = [pose.translation for pose in poses]
    labels = ("_".join(word.split()) for word in (*centers, *(part.name for part in parts)))
    return tuple(labels), trajectory.time, points


def joint_centers(robot: Robot) -> dict[str, int]:
    """Return joint indices by name, the base first; of joints with coincident centers only the first."""
    model = robot.model
    centers = {"base": 1}
    for joint in robot.joints:
        is_separate = float(np.linalg.norm(model.jointPlacements[joint.index].translation)) > COINCIDENT_DISTANCE
        is_prismatic = model.joints[joint.index].shortname().startswith("JointModelP")
        if is_separate or is_prismatic:
            centers[joint.name] = joint.index
    return centers
