"""MCAP export: all channels and link poses of a recording as messages for Foxglove."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio

from poise.exports.formats import ExportRequest
from poise.exports.joint_trajectory import ExportError, Trajectory, reorder_joints
from poise.extras import mcap
from poise.recording import ABSENT_CODE, Channel

Schema = dict[str, Any]


def _object_schema(title: str, **properties: Schema) -> Schema:
    return {"title": title, "type": "object", "properties": properties}


NUMBER: Schema = {"type": "number"}
TEXT: Schema = {"type": "string"}
UNSIGNED: Schema = {"type": "integer", "minimum": 0}
TIME = _object_schema("time", sec=UNSIGNED, nsec={**UNSIGNED, "maximum": 999_999_999})
VECTOR = _object_schema("foxglove.Vector3", x=NUMBER, y=NUMBER, z=NUMBER)
QUATERNION = _object_schema("foxglove.Quaternion", x=NUMBER, y=NUMBER, z=NUMBER, w=NUMBER)
#: Transform from child to parent coordinates (m).
FRAME_TRANSFORM = _object_schema(
    "foxglove.FrameTransform",
    timestamp=TIME,
    parent_frame_id=TEXT,
    child_frame_id=TEXT,
    translation=VECTOR,
    rotation=QUATERNION,
)
FRAME_TRANSFORMS = _object_schema("foxglove.FrameTransforms", transforms={"type": "array", "items": FRAME_TRANSFORM})
#: In rad, rad/s and N m; m, m/s and N for a prismatic joint.
JOINT_STATE = _object_schema("foxglove.JointState", name=TEXT, position=NUMBER, velocity=NUMBER, effort=NUMBER)
JOINT_STATES = _object_schema("foxglove.JointStates", timestamp=TIME, joints={"type": "array", "items": JOINT_STATE})


def channel_schema(channel: Channel) -> Schema:
    """Return the JSON schema of a channel: one property per column, described by its unit; ``value`` if unlabelled."""
    value_schema = TEXT if channel.header.kind == "text" else NUMBER
    labels = channel.labels or ("value",)
    properties = {
        label: {**value_schema, **({"description": unit} if unit else {})}
        for label, unit in zip(labels, channel.units, strict=True)
    }
    return _object_schema(f"poise.{channel.label}", **properties)


# -- MCAP ------------------------------------------------------------------------------------------------------------


#: Largest rate of link poses (Hz), since screens show no more; other messages are written at every sample.
MAX_POSE_RATE = 60.0
#: Parent frame of all link poses.
WORLD_FRAME = "world"


def export_mcap(job: ExportRequest, file: Path) -> None:
    """Write an MCAP file with topics ``/tf`` (poses of all links), ``/joint_states``, and one topic per channel.

    The log time of a message is the time of its sample in the recording. Values that are missing at a sample are left
    out of its message. With a rate (Hz), the samples nearest to equally spaced times at that rate are written, without
    interpolation. Poses are written at most 60 times per second.

    Raises:
        ExportError: the recording begins before 0 s.
    """
    recording, trajectory, robot = job.recording, job.full_trajectory, job.robot
    if trajectory.time[0] < 0.0:
        raise ExportError(f"the recording begins at {trajectory.time[0]:g} s; an MCAP log cannot begin before 0 s")
    ticks = nearest_samples(trajectory, job.rate)
    pose_samples = set(ticks[_decimate(trajectory.time[ticks], MAX_POSE_RATE)].tolist())
    channels = [c for name, c in recording.channels.items() if name != "time"]
    q, v = reorder_joints(trajectory, robot)
    with open(file, "wb") as stream:
        log = mcap.writer.Writer(stream)
        log.start(profile="", library="poise")
        transforms = _register_topic(log, "/tf", "foxglove.FrameTransforms", FRAME_TRANSFORMS)
        joints = _register_topic(log, "/joint_states", "foxglove.JointStates", JOINT_STATES)
        topics = [_register_topic(log, f"/{c.label}", f"poise.{c.label}", channel_schema(c)) for c in channels]
        poses, writers = _LinkPoses(robot), [_ChannelMessages(channel) for channel in channels]
        for i in ticks.tolist():
            nanoseconds = round(1e9 * float(trajectory.time[i]))
            stamp = {"sec": nanoseconds // 10**9, "nsec": nanoseconds % 10**9}
            if i in pose_samples:
                _write_message(log, transforms, nanoseconds, {"transforms": list(poses.at(q[i], stamp))})
            effort = None if trajectory.torque is None else trajectory.torque[i]
            states = _joint_states(
                trajectory.joints, trajectory.q[i, 7:], v[i, 6:] if trajectory.v is not None else None, effort
            )
            _write_message(log, joints, nanoseconds, {"timestamp": stamp, "joints": states})
            for writer, topic in zip(writers, topics, strict=True):
                log.add_message(
                    channel_id=topic, log_time=nanoseconds, publish_time=nanoseconds, data=writer.message(i)
                )
            job.progress(float(trajectory.time[i] - trajectory.time[0]))
        log.add_metadata("poise", {key: str(value) for key, value in recording.provenance.items()})
        log.finish()


def nearest_samples(trajectory: Trajectory, rate: float | None) -> np.ndarray:
    """Return the indices of the samples nearest to equally spaced times at a rate (Hz); all samples without a rate."""
    if rate is None:
        return np.arange(len(trajectory.time))
    ticks = trajectory.resample(rate).time
    after = np.clip(np.searchsorted(trajectory.time, ticks), 1, max(len(trajectory.time) - 1, 1))
    before = trajectory.time[after - 1] + trajectory.time[np.minimum(after, len(trajectory.time) - 1)] > 2.0 * ticks
    return np.unique(np.minimum(np.where(before, after - 1, after), len(trajectory.time) - 1))


def _decimate(time: np.ndarray, rate: float) -> np.ndarray:
    """Return the indices of the first time in each period of a rate (Hz), counted from the first time."""
    ticks = np.floor((time - time[0]) * rate + 1e-6)
    return np.flatnonzero(np.diff(ticks, prepend=-1.0) > 0.0)


class _LinkPoses:
    """Poses of all links of a robot in the world, as Foxglove frame transforms."""

    def __init__(self, robot: Any) -> None:
        self._model, self._data = robot.model, robot.model.createData()
        body = pinocchio.FrameType.BODY
        self._links = [(i, frame.name) for i, frame in enumerate(self._model.frames) if frame.type == body]

    def at(self, q: np.ndarray, stamp: dict[str, int]) -> Iterator[dict[str, Any]]:
        pinocchio.framesForwardKinematics(self._model, self._data, q)
        for index, name in self._links:
            pose = pinocchio.SE3ToXYZQUAT(self._data.oMf[index]).tolist()
            yield {
                "timestamp": stamp,
                "parent_frame_id": WORLD_FRAME,
                "child_frame_id": name,
                "translation": dict(zip("xyz", pose[:3], strict=True)),
                "rotation": dict(zip("xyzw", pose[3:], strict=True)),
            }


def _joint_states(joints: tuple[str, ...], *values: np.ndarray | None) -> list[dict[str, Any]]:
    """Return a `JOINT_STATE` message for each joint; `values` are position, velocity and effort, None if unknown."""
    columns = [None if column is None else column.tolist() for column in values]
    states = []
    for i, name in enumerate(joints):
        state: dict[str, Any] = {"name": name}
        for key, column in zip(("position", "velocity", "effort"), columns, strict=True):
            if column is not None and np.isfinite(column[i]):
                state[key] = column[i]
        states.append(state)
    return states


class _ChannelMessages:
    """Encoder of the samples of a channel as JSON messages, with the labels of its columns (or ``value``) as keys.

    Missing values are left out. Numbers have nine significant digits: more would double the size without use.
    """

    def __init__(self, channel: Channel) -> None:
        self._kind = channel.header.kind
        self._labels = [json.dumps(label) for label in channel.labels or ("value",)]
        self._rows = channel.values.reshape(len(channel), -1)
        absent = self._rows == ABSENT_CODE if self._kind == "code" else np.zeros(self._rows.shape, dtype=bool)
        self._is_present: np.ndarray = np.isfinite(self._rows) if self._kind == "number" else ~absent
        self._is_complete: np.ndarray = np.asarray(self._is_present.all(axis=1))
        number = "%d" if self._kind == "code" else "%.9g"
        self._template = "{" + ",".join(f"{label.replace('%', '%%')}:{number}" for label in self._labels) + "}"

    def message(self, index: int) -> bytes:
        row = self._rows[index]
        if self._kind == "text":
            return f"{{{self._labels[0]}:{json.dumps(row[0])}}}".encode()
        if self._is_complete[index]:
            return (self._template % tuple(row.tolist())).encode()
        present = np.flatnonzero(self._is_present[index]).tolist()
        return ("{" + ",".join(f"{self._labels[k]}:{row[k]:.9g}" for k in present) + "}").encode()


def _register_topic(log: Any, topic: str, name: str, schema: dict[str, Any]) -> int:
    number = log.register_schema(name=name, encoding="jsonschema", data=json.dumps(schema).encode())
    return int(log.register_channel(topic=topic, message_encoding="json", schema_id=number))


def _write_message(log: Any, topic: int, time: int, message: dict[str, Any]) -> None:
    log.add_message(channel_id=topic, log_time=time, publish_time=time, data=json.dumps(message).encode())
