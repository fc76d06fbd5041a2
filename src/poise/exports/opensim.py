"""OpenSim files: joint angles as MOT, markers or joint centers as TRC."""

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

#: Columns of the base: where it is (m) and how it is turned (degrees), see `write`.
BASE_COLUMNS = ("base_tx", "base_ty", "base_tz", "base_yaw", "base_roll", "base_pitch")


def export_mot(job: ExportJob, file: Path) -> None:
    """Time (s), position of the base (m, z up), its turn, and every joint (degrees; m where it slides).

    The turn of the base is ``R = Rz(yaw) Rx(roll) Ry(pitch)``, without jumps: yaw to the left, roll to the right side,
    pitch forward.
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


# -- TRC: the markers of a person ------------------------------------------------------------------------------------


#: The channel that makes a recording one of a person with markers.
MARKER_CHANNEL = "markers/measured"
#: Joint centers nearer to each other than this (m) are one: the axes of a hip meet in a point.
COINCIDENT_DISTANCE = 1e-3
#: Frames a second that a file of one frame says it has: it must say something.
SINGLE_FRAME_RATE = 100.0


def export_trc(job: ExportJob, file: Path) -> None:
    """In mm with y up, as readers expect; gaps are blank.

    A person who was measured has the markers that were; anybody else the joint centers, each place once, and the frames
    of feet, hands and head.
    """
    if MARKER_CHANNEL in job.recording and len(job.recording):
        labels, time, positions = _measured_markers(job)
    else:
        labels, time, positions = _robot_landmarks(job)
    rate = (len(time) - 1) / (time[-1] - time[0]) if len(time) > 1 else job.rate or SINGLE_FRAME_RATE
    name = str(job.recording.provenance.get("trial") or job.recording.provenance.get("robot") or "motion")
    trial = Trial(str(file), rate, time - time[0], labels, positions)
    with TemporaryDirectory(dir=file.parent, prefix=".") as folder:  # the file itself says how it is called
        write_trc(trial, Path(folder) / f"{Path(name).stem}.trc").replace(file)
    job.progress(float(time[-1] - time[0]))


def _measured_markers(job: ExportJob) -> tuple[tuple[str, ...], Array, Array]:
    """Labels, times and positions of markers; at another rate, on straight lines between frames, and gaps stay gaps."""
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
    """The same for points of a robot."""
    robot, trajectory = job.robot, job.trajectory()
    if len(trajectory.time) > 2 and float(np.ptp(np.diff(trajectory.time))) > SAMPLE_TOLERANCE * trajectory.period:
        trajectory = trajectory.resample(1.0 / trajectory.period)  # a file has one rate
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
    """Joints by name, the base first; of those whose centers are always in one place only the first."""
    model = robot.model
    centers = {"base": 1}
    for joint in robot.joints:
        is_separate = float(np.linalg.norm(model.jointPlacements[joint.index].translation)) > COINCIDENT_DISTANCE
        is_prismatic = model.joints[joint.index].shortname().startswith("JointModelP")
        if is_separate or is_prismatic:
            centers[joint.name] = joint.index
    return centers
