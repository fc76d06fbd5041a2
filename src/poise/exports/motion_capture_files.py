"""Files for animation and motion analysis: skeletons as BVH, joint angles as MOT, markers or joint centers as TRC."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TextIO

import numpy as np
import pinocchio

from poise.arrays import Array
from poise.exports.formats import ExportRequest
from poise.exports.joint_trajectory import SAMPLE_TOLERANCE, Trajectory, reorder_joints
from poise.extras import scipy
from poise.human import OpenSimMotion, Trial, write_motion, write_trc
from poise.recording import Recording
from poise.robots import Robot

# -- BVH: an animated skeleton ----------------------------------------------------------------------------------------


#: Gimbal lock: if cos b is smaller, a and c rotate about the same axis and only their sum or difference is defined; c
#: keeps its previous value.
GIMBAL_LOCK_COSINE = 1e-7


def zxy_angles(R: Array) -> Array:
    """Convert rotation matrices over time (n x k x 3 x 3) to continuous angles (a, b, c) in rad (n x k x 3):

        R = Rz(a) Rx(b) Ry(c)

    Each rotation has two solutions, (a, b, c) and (a + π, π - b, c + π), and multiples of a full turn. The first sample
    takes the smallest angles, each later sample those nearest to the previous one. A hinge that bends beyond 90 degrees
    therefore changes one angle only, where the usual formula would flip all three, and interpolation has no jumps.

    >>> zxy_angles(so3.exp([[2.0, 0.0, 0.0]])[:, None])  # a bend of 115 degrees about x
    array([[[0., 2., 0.]]])
    """
    cosine = np.hypot(R[..., 0, 1], R[..., 1, 1])
    b = np.arctan2(R[..., 2, 1], cosine)
    a, c = np.arctan2(-R[..., 0, 1], R[..., 1, 1]), np.arctan2(-R[..., 2, 0], R[..., 2, 2])
    first, second = np.stack([a, b, c], axis=-1), np.stack([a + np.pi, np.pi - b, c + np.pi], axis=-1)
    sum_or_difference = np.arctan2(R[..., 1, 0], R[..., 0, 0])
    angles, previous = np.empty_like(first), np.zeros(first.shape[1:])
    for i in range(len(R)):
        primary, candidate = (_unwrap_near(triple[i], previous) for triple in (first, second))
        nearer = np.abs(primary - previous).sum(axis=-1) <= np.abs(candidate - previous).sum(axis=-1)
        nearest = np.where(nearer[:, None], primary, candidate)
        locked = cosine[i] < GIMBAL_LOCK_COSINE
        if locked.any():
            sign = np.sign(R[i, :, 2, 1])
            locked_angles = np.stack([sum_or_difference[i] - sign * previous[:, 2], b[i], previous[:, 2]], axis=-1)
            nearest[locked] = _unwrap_near(locked_angles, previous)[locked]
        angles[i] = previous = nearest
    return angles


def _unwrap_near(angles: Array, reference: Array) -> Array:
    """Add full turns to angles so that each is within half a turn of its reference."""
    return angles - 2.0 * np.pi * np.round((angles - reference) / (2.0 * np.pi))


# -- Skeleton --------------------------------------------------------------------------------------------------------


#: Rotation from x forward, y left, z up to the axes of animation software: x left, y up, z forward (to the viewer).
Y_UP = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
#: Length of the last bone of a chain if no frame marks its end, per m of the robot's height.
END_BONE_LENGTH = 0.03


@dataclass(frozen=True)
class Bone:
    """Bone of the skeleton: one moving body of the robot.

    Attributes:
        name: name of its joint, ``"base"`` for the first bone.
        joint: index of the joint in the robot's model.
        parent: index of the parent bone; -1 for the base.
        offset: from the origin of the parent bone to that of this one in the rest pose, y up (m, 3).
        end: from the origin to the end of the bone, for the last bone of a chain, y up (m, 3); None for other bones.
        is_prismatic: whether the bone translates relative to its parent.
    """

    name: str
    joint: int
    parent: int
    offset: Array
    end: Array | None
    is_prismatic: bool


@dataclass(frozen=True, eq=False)
class Skeleton:
    """Bones of a robot, parents before children, in the rest pose: all joints at zero, the robot facing forward.

    With R_i(q) the orientation of body i in the world, R_i0 that in the rest pose and C = `Y_UP`, the orientation of
    bone i is ``G_i = C R_i R_i0ᵀ Cᵀ``, the identity in the rest pose. A BVH file holds ``G_parentᵀ G_i``.
    """

    robot: Robot
    bones: tuple[Bone, ...]
    _rest_rotations: Array

    @classmethod
    def of(cls, robot: Robot) -> Skeleton:
        """Build the skeleton of a robot."""
        model, data = robot.model, robot.model.createData()
        q = np.concatenate([np.zeros(3), robot.rest[3:7], np.zeros(model.nq - 7)])
        pinocchio.framesForwardKinematics(model, data, q)
        order = _depth_first(model)
        bones = []
        for joint in order:
            parent = int(model.parents[joint])
            origin = data.oMi[joint].translation
            offset = Y_UP @ (origin - data.oMi[parent].translation) if parent else np.zeros(3)
            is_last = joint not in list(model.parents)
            name = "base" if parent == 0 else "_".join(model.names[joint].split())
            is_prismatic = parent > 0 and model.joints[joint].shortname().startswith("JointModelP")
            end = Y_UP @ _end_offset(robot, data, joint) if is_last else None
            bones.append(Bone(name, joint, order.index(parent) if parent else -1, offset, end, is_prismatic))
        rest = np.array([data.oMi[bone.joint].rotation for bone in bones])
        return cls(robot, tuple(bones), rest)

    def local_transforms(self, trajectory: Trajectory) -> tuple[Array, Array]:
        """Return position (m) and orientation of every bone in its parent at every sample, with y up.

        For n samples and k bones, n x k x 3 and n x k x 3 x 3.
        """
        model, data = self.robot.model, self.robot.model.createData()
        q, _ = reorder_joints(trajectory, self.robot)
        n, k = len(q), len(self.bones)
        origin, G = np.empty((n, k, 3)), np.empty((n, k, 3, 3))
        for i in range(n):
            pinocchio.forwardKinematics(model, data, q[i])
            for j, bone in enumerate(self.bones):
                pose = data.oMi[bone.joint]
                origin[i, j] = Y_UP @ pose.translation
                G[i, j] = Y_UP @ pose.rotation @ self._rest_rotations[j].T @ Y_UP.T
        position, rotation = origin.copy(), G.copy()
        for j, bone in enumerate(self.bones):
            if bone.parent >= 0:
                parent = G[:, bone.parent].transpose(0, 2, 1)
                rotation[:, j] = parent @ G[:, j]
                position[:, j] = np.einsum("nij,nj->ni", parent, origin[:, j] - origin[:, bone.parent])
        return position, rotation


def _depth_first(model: pinocchio.Model) -> list[int]:
    """Return the indices of all joints in depth-first order, the order of a BVH file."""
    order: list[int] = []
    stack = [1]
    while stack:
        joint = stack.pop()
        order.append(joint)
        stack += [int(child) for child in reversed(list(model.children[joint]))]
    return order


def _end_offset(robot: Robot, data: pinocchio.Data, joint: int) -> Array:
    """Return the end of the last bone of a chain relative to its origin, in the world (m).

    It is the furthest frame of the bone, for example a sole or a palm; without one, the bone continues in the direction
    of its parent by `END_BONE_LENGTH`.
    """
    origin = data.oMi[joint].translation
    frame_offsets = [data.oMf[f.index].translation - origin for f in robot.frames.values() if f.joint == joint]
    longest: Array = max(frame_offsets, key=np.linalg.norm, default=np.zeros(3))
    if np.linalg.norm(longest) > 0.5 * END_BONE_LENGTH * robot.height:
        return longest
    incoming: Array = origin - data.oMi[int(robot.model.parents[joint])].translation
    length = float(np.linalg.norm(incoming))
    return END_BONE_LENGTH * robot.height * (incoming / length if length > 0.0 else np.array([0.0, 0.0, 1.0]))


# -- BVH file --------------------------------------------------------------------------------------------------------


#: Default frame rate (Hz): animation uses 24 to 60.
DEFAULT_RATE = 60.0
ROTATION_CHANNELS = "Zrotation Xrotation Yrotation"
POSITION_CHANNELS = "Xposition Yposition Zposition"


def export_bvh(job: ExportRequest, file: Path) -> None:
    """Write a BVH file: lengths in m, angles in degrees, y up, the robot facing z; see docs/export.md.

    There is one joint per moving body. Every joint has three rotation channels in the order z, x, y (applied to a point
    from the last to the first); the base and prismatic joints have three position channels before these.
    """
    trajectory, skeleton = job.trajectory(DEFAULT_RATE), Skeleton.of(job.robot)
    position, rotation = skeleton.local_transforms(trajectory)
    degrees = np.degrees(zxy_angles(rotation))
    period = 1.0 / (job.rate or DEFAULT_RATE)
    with open(file, "w", encoding="ascii", errors="replace", newline="\n") as stream:
        stream.write("HIERARCHY\n")
        _write_bone(stream, skeleton.bones, 0, "")
        stream.write(f"MOTION\nFrames: {len(degrees)}\nFrame Time: {period:.8f}\n")
        for i, time in enumerate(trajectory.time):
            numbers: list[str] = []
            for j, bone in enumerate(skeleton.bones):
                parts = [*position[i, j], *degrees[i, j]] if _has_position_channels(bone) else degrees[i, j]
                numbers += [f"{number:.6f}" for number in parts]
            stream.write(" ".join(numbers) + "\n")
            job.progress(float(time - trajectory.time[0]))


def _has_position_channels(bone: Bone) -> bool:
    return bone.parent < 0 or bone.is_prismatic


def _write_bone(stream: TextIO, bones: tuple[Bone, ...], number: int, indent: str) -> None:
    bone = bones[number]
    channels = (
        f"6 {POSITION_CHANNELS} {ROTATION_CHANNELS}" if _has_position_channels(bone) else f"3 {ROTATION_CHANNELS}"
    )
    stream.write(f"{indent}{'JOINT' if number else 'ROOT'} {bone.name}\n{indent}{{\n")
    inner = indent + "  "
    stream.write(f"{inner}OFFSET {_format_vector(bone.offset)}\n{inner}CHANNELS {channels}\n")
    for child, candidate in enumerate(bones):
        if candidate.parent == number:
            _write_bone(stream, bones, child, inner)
    if bone.end is not None:
        stream.write(f"{inner}End Site\n{inner}{{\n{inner}  OFFSET {_format_vector(bone.end)}\n{inner}}}\n")
    stream.write(f"{indent}}}\n")


def _format_vector(point: np.ndarray) -> str:
    return " ".join(f"{number:.6f}" for number in point)


# -- MOT: joint angles for OpenSim ------------------------------------------------------------------------------------


#: Columns of the base: position (m) and orientation (degrees), see `export_mot`.
BASE_COLUMNS = ("base_tx", "base_ty", "base_tz", "base_yaw", "base_roll", "base_pitch")


def export_mot(job: ExportRequest, file: Path) -> None:
    """Write a MOT file: time (s), position of the base (m, z up), its orientation and all joint angles (degrees).

    Prismatic joints are in m. The orientation of the base is ``R = Rz(yaw) Rx(roll) Ry(pitch)``, without jumps of full
    turns: yaw is positive to the left, roll to the right, pitch forward. Values that were not measured are nan.
    """
    trajectory = job.trajectory()
    base_angles = zxy_angles(
        scipy.spatial.transform.Rotation.from_quat(trajectory.q[:, 3:7]).as_matrix()[:, np.newaxis]
    )[:, 0]
    scale = [np.degrees(1.0) if unit == "rad" else 1.0 for unit in trajectory.units]
    known = trajectory.known_q
    base = np.where(np.isfinite(known[:, :6]), np.column_stack([trajectory.q[:, :3], np.degrees(base_angles)]), np.nan)
    values = np.column_stack([base, known[:, 7:] * scale])
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


def export_trc(job: ExportRequest, file: Path) -> None:
    """Write a TRC file, in mm with y up, as readers of the format expect; gaps are blank.

    A recording of a motion capture trial is written with its measured markers. Any other recording is written with the
    joint centers of the robot, coincident ones once, and the frames of its feet, hands and head.
    """
    if MARKER_CHANNEL in job.recording and job.recording.samples:
        labels, time, positions = _measured_markers(job)
    else:
        labels, time, positions = _robot_landmarks(job)
    rate = (len(time) - 1) / (time[-1] - time[0]) if len(time) > 1 else job.rate or SINGLE_FRAME_RATE
    name = str(job.recording.provenance.get("trial") or job.recording.provenance.get("robot") or "motion")
    trial = Trial(str(file), rate, time - time[0], labels, positions)
    with TemporaryDirectory(dir=file.parent, prefix=".") as folder:  # the header of the file holds its name
        write_trc(trial, Path(folder) / f"{Path(name).stem}.trc").replace(file)
    job.progress(float(time[-1] - time[0]))


def _measured_markers(job: ExportRequest) -> tuple[tuple[str, ...], Array, Array]:
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


def _robot_landmarks(job: ExportRequest) -> tuple[tuple[str, ...], Array, Array]:
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
