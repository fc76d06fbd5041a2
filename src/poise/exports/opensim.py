"""OpenSim files: joint angles as MOT, markers or joint centers as TRC."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pinocchio

from poise.arrays import Array
from poise.exports.bvh import zxy_angles
from poise.exports.formats import Job
from poise.exports.joint_trajectory import SAME, arranged
from poise.extras import scipy
from poise.human import Motion, Trial, write_motion, write_trc
from poise.recording import Recording
from poise.robots import Robot

#: Columns of the base: where it is (m) and how it is turned (degrees), see `write`.
BASE = ("base_tx", "base_ty", "base_tz", "base_yaw", "base_roll", "base_pitch")


def export_mot(job: Job, file: Path) -> None:
    """Time (s), position of the base (m, z up), its turn, and every joint (degrees; m where it slides).

    The turn of the base is ``R = Rz(yaw) Rx(roll) Ry(pitch)``, without jumps: yaw to the left, roll to the right side,
    pitch forward.
    """
    trajectory = job.trajectory()
    turn = zxy_angles(scipy.spatial.transform.Rotation.from_quat(trajectory.q[:, 3:7]).as_matrix()[:, np.newaxis])[:, 0]
    scale = [np.degrees(1.0) if unit == "rad" else 1.0 for unit in trajectory.units]
    values = np.column_stack([trajectory.q[:, :3], np.degrees(turn), trajectory.q[:, 7:] * scale])
    names = (*BASE, *("_".join(joint.split()) for joint in trajectory.joints))
    write_motion(Motion(names, trajectory.time, values), file)
    job.progress(trajectory.duration)


# -- TRC: the markers of a person ------------------------------------------------------------------------------------


#: The channel that makes a recording one of a person with markers.
MARKERS = "markers/measured"
#: Joint centers nearer to each other than this (m) are one: the axes of a hip meet in a point.
TOGETHER = 1e-3
#: Frames a second that a file of one frame says it has: it must say something.
SINGLE = 100.0


def export_trc(job: Job, file: Path) -> None:
    """In mm with y up, as readers expect; gaps are blank.

    A person who was measured has the markers that were; anybody else the joint centers, each place once, and the frames
    of feet, hands and head.
    """
    if MARKERS in job.recording and len(job.recording):
        labels, time, positions = _measured(job)
    else:
        labels, time, positions = _landmarks(job)
    rate = (len(time) - 1) / (time[-1] - time[0]) if len(time) > 1 else job.rate or SINGLE
    name = str(job.recording.provenance.get("trial") or job.recording.provenance.get("robot") or "motion")
    trial = Trial(str(file), rate, time - time[0], labels, positions)
    with TemporaryDirectory(dir=file.parent, prefix=".") as folder:  # the file itself says how it is called
        write_trc(trial, Path(folder) / f"{Path(name).stem}.trc").replace(file)
    job.progress(float(time[-1] - time[0]))


def _measured(job: Job) -> tuple[tuple[str, ...], Array, Array]:
    """Labels, times and positions of markers; at another rate, on straight lines between frames, and gaps stay gaps."""
    recording = job.recording
    labels = tuple(word.rpartition(" ")[0] for word in recording.labels[MARKERS][::3])
    known, values = recording.time, np.asarray(recording[MARKERS])
    time = known if job.rate is None else _times(recording, job.rate)
    if len(known) > 1 and job.rate is not None:
        after = np.clip(np.searchsorted(known, time, side="right"), 1, len(known) - 1)
        share = ((time - known[after - 1]) / (known[after] - known[after - 1]))[:, np.newaxis]
        between = (1.0 - share) * values[after - 1] + share * values[after]
        values = np.where(share == 0.0, values[after - 1], np.where(share == 1.0, values[after], between))
    return labels, time, values.reshape(len(time), len(labels), 3)


def _times(recording: Recording, rate: float) -> Array:
    first, last = float(recording.time[0]), float(recording.time[-1])
    return np.minimum(first + np.arange(int((last - first) * rate + SAME) + 1) / rate, last)


def _landmarks(job: Job) -> tuple[tuple[str, ...], Array, Array]:
    """The same for points of a robot."""
    robot, trajectory = job.robot, job.trajectory()
    if len(trajectory.time) > 2 and float(np.ptp(np.diff(trajectory.time))) > SAME * trajectory.period:
        trajectory = trajectory.resampled(1.0 / trajectory.period)  # a file has one rate
    centers = joint_centers(robot)
    parts = [part for part in (*robot.feet, *robot.hands, robot.head) if part is not None and part.name not in centers]
    model, data = robot.model, robot.model.createData()
    q, _ = arranged(trajectory, robot)
    points = np.empty((len(q), len(centers) + len(parts), 3))
    for k, each in enumerate(q):
        pinocchio.forwardKinematics(model, data, each)
        places = [data.oMi[joint] for joint in centers.values()]
        places += [pinocchio.updateFramePlacement(model, data, part.index) for part in parts]
        points[k] = [place.translation for place in places]
    labels = ("_".join(word.split()) for word in (*centers, *(part.name for part in parts)))
    return tuple(labels), trajectory.time, points


def joint_centers(robot: Robot) -> dict[str, int]:
    """Joints by name, the base first; of those whose centers are always in one place only the first."""
    model = robot.model
    chosen = {"base": 1}
    for joint in robot.joints:
        moved = float(np.linalg.norm(model.jointPlacements[joint.index].translation)) > TOGETHER
        slides = model.joints[joint.index].shortname().startswith("JointModelP")
        if moved or slides:
            chosen[joint.name] = joint.index
    return chosen
